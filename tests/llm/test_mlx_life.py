"""From load to unload: restarts, snapshots, overflow, other models, and memory that stays flat."""

import asyncio
import gc
import json
import shutil

import mlx.core as mx
import pytest

from mirza.errors import ModelDamaged, ModelError, ModelUnsupported, SettingsError
from mirza.events import DoneReason
from mirza.llm.base import Message, ThinkingBudget
from mirza.mlx_thread import MlxThread, Priority
from tests.llm.mlx_scenes import SYSTEM, TINY, ask, assert_exact, cold, ledger, said, tiny, user

LONG_SYSTEM = SYSTEM + " Be brief, be kind, and count well." * 11


@pytest.fixture(scope="module")
def thread():
    thread = MlxThread()
    yield thread
    thread.close()


async def loaded(thread, system=SYSTEM, **settings):
    llm = tiny(thread, **settings)
    await llm.load(system)
    return llm


async def test_after_a_restart_the_system_prompt_is_not_fed_again(thread, tmp_path):
    one = await loaded(thread, LONG_SYSTEM, snapshot_dir=tmp_path)
    assert one._engine.session.fed_tokens > 256
    other = await loaded(thread, LONG_SYSTEM, snapshot_dir=tmp_path)
    assert other._engine.session.fed_tokens == 0
    answer = await ask(other, [Message("system", LONG_SYSTEM), user("Count to 5.")], 3)
    await assert_exact(other, answer, 3)
    assert other.stats.prefilled_tokens < 20


@pytest.mark.parametrize("damage", ["flipped bit", "cut short", "another model"])
async def test_a_snapshot_that_is_not_right_is_rebuilt_and_never_wrong(thread, tmp_path, damage):
    messages = [Message("system", LONG_SYSTEM), user("Count to 5.")]
    one = await loaded(thread, LONG_SYSTEM, snapshot_dir=tmp_path)
    want = await ask(one, messages, 3)
    [file] = tmp_path.glob("*.snapshot")
    content = bytearray(file.read_bytes())
    model = TINY
    match damage:
        case "flipped bit":
            content[-len(content) // 3] ^= 4
        case "cut short":
            del content[-100:]
        case _:
            model = tmp_path / "model"
            shutil.copytree(TINY, model)
            config = json.loads((model / "config.json").read_text())
            (model / "config.json").write_text(json.dumps({**config, "note": "another one"}))
    file.write_bytes(content)
    other = await loaded(thread, LONG_SYSTEM, snapshot_dir=tmp_path, model=model)
    assert other._engine.session.fed_tokens > 256
    assert (await ask(other, messages, 3)).ids == want.ids


async def test_a_conversation_goes_on_after_a_restart_where_it_stopped(thread, tmp_path):
    one = await loaded(thread, LONG_SYSTEM, snapshot_dir=tmp_path)
    messages = [Message("system", LONG_SYSTEM)]
    for question in ("Count to 5.", "Turn on the kitchen lights, please.", "Turn off the bedroom lights, please."):
        messages.append(user(question))
        messages.append(said((await ask(one, messages, 4)).speech))
    await one.save_conversation("talk 1")
    before = ledger(one)[:]

    other = await loaded(thread, LONG_SYSTEM, snapshot_dir=tmp_path)
    assert not await other.load_conversation("talk 2")
    assert await other.load_conversation("talk 1")
    messages.append(user("Count to 3."))
    answer = await ask(other, messages, 2)
    assert other.stats.reused_tokens == len(before) and ledger(other)[: len(before)] == before
    await assert_exact(other, answer, 2)


async def test_answers_that_were_damaged_on_disk_are_not_used(thread, tmp_path):
    one = await loaded(thread, snapshot_dir=tmp_path)
    await ask(one, [user("Count to 5.")], 4)
    await one.save_conversation("talk")
    [file] = tmp_path.glob("*.answers")
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    assert not await one.load_conversation("talk")


@pytest.mark.parametrize("mtp", ["off", "on"])
async def test_when_the_context_is_full_the_oldest_exchanges_leave_whole(thread, mtp):
    llm = await loaded(thread, context_tokens=256, max_tokens=24, mtp=mtp)
    messages = [Message("system", SYSTEM)]
    dropped = []
    for turn in range(12):
        messages.append(user(f"Count to {turn % 7 + 2}."))
        answer = await ask(llm, messages, 2)
        await assert_exact(llm, answer, 2)
        assert answer.done.reason in {DoneReason.STOP, DoneReason.LENGTH} and len(ledger(llm)) <= 257
        dropped.append(llm.stats.dropped_messages)
        messages.append(said(answer.speech))
        if turn % 2:
            await llm.settle()
    prompt = llm._engine._tokenizer.decode(ledger(llm))
    assert prompt.startswith(f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n")
    assert dropped == sorted(dropped) and dropped[-1] >= 6
    assert len(set(dropped)) < len(dropped) / 2, "what left stays away for several turns"


async def test_a_message_longer_than_the_context_is_refused_and_the_next_is_answered(thread):
    llm = await loaded(thread, context_tokens=256)
    with pytest.raises(ModelUnsupported, match="too long"):
        await ask(llm, [user("word " * 400)])
    answer = await ask(llm, [user("Count to 3.")])
    await assert_exact(llm, answer)


async def test_unloading_gives_the_memory_back_and_loading_works_again(thread):
    async def active():
        return await thread.call(mx.get_active_memory)

    gc.collect()
    before = await active()
    llm = await loaded(thread, mtp="on")
    answer = await ask(llm, [user("Count to 5.")], 3)
    assert await active() > before + 3_000_000
    await llm.unload()
    gc.collect()
    assert await active() < before + 100_000
    await llm.load(SYSTEM)
    assert (await ask(llm, [user("Count to 5.")], 3)).ids == answer.ids


async def test_another_model_can_be_taken_while_mirza_runs(thread, llama):
    llm = await loaded(thread, max_tokens=8)
    await ask(llm, [user("Count to 5.")])
    await llm.unload()
    llm.model = str(llama)
    await llm.load(SYSTEM)
    answer = await ask(llm, [user("Count to 5.")])
    await assert_exact(llm, answer)
    assert not llm._engine.target.shows_hidden


async def test_a_failure_of_mlx_is_an_error_that_helps_and_the_next_answer_is_right(thread, monkeypatch):
    llm = await loaded(thread)
    want = (await ask(llm, [user("Count to 5.")], 3)).ids
    target = llm._engine.target
    calls = 0
    forward = type(target).forward

    def fails(self, *arguments, **options):
        nonlocal calls
        calls += 1
        if calls == 4:
            raise RuntimeError("[malloc] Unable to allocate")
        return forward(self, *arguments, **options)

    with monkeypatch.context() as broken:
        broken.setattr(type(target), "forward", fails)
        with pytest.raises(ModelError, match="Unable to allocate"):
            await ask(llm, [user("Count to 5.")], 3)
    assert (await ask(llm, [user("Count to 5.")], 3)).ids == want


async def test_what_does_not_fit_the_model_is_refused_at_load(thread, tmp_path):
    with pytest.raises(SettingsError, match="logit_bias"):
        await loaded(thread, logit_bias={99999: 1.0})
    other = tmp_path / "wide"
    shutil.copytree(TINY, other)
    weights = mx.load(str(TINY / "model.safetensors"))
    config = json.loads((TINY / "config.json").read_text())
    config["text_config"]["hidden_size"] = 256
    mtp = {name: array for name, array in weights.items() if name.startswith("mtp.")}
    for name in ("mtp.norm.weight", "mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight"):
        mtp[name] = mx.ones(256)
    (other / "config.json").write_text(json.dumps(config))
    mx.save_safetensors(str(other / "model.safetensors"), mtp, {"format": "mlx"})
    with pytest.raises((ModelUnsupported, ModelDamaged)):
        await loaded(thread, drafter=str(other), mtp="on")


async def test_memory_is_flat_over_many_turns(thread):
    llm = await loaded(thread, context_tokens=256, max_tokens=12, mtp="on")
    gc.collect()
    messages, sizes = [], []
    for turn in range(24):
        messages.append(user(f"Count to {turn % 5 + 2}."))
        answer = await ask(llm, messages, 0, at_most=3 if turn % 3 == 0 else None)
        await llm.rewind(answer.speech)
        if answer.speech:
            messages.append(said(answer.speech))
        sizes.append(await thread.call(mx.get_active_memory))
    assert max(sizes[16:]) <= max(sizes[:16]) * 1.05  # the context was full at the 12th
    assert len(llm._engine.session.marks) <= 8


async def test_work_ahead_that_an_answer_overtakes_does_not_touch_its_cache(thread):
    llm = await loaded(thread, prefill_step=16)
    messages = [Message("system", LONG_SYSTEM), user("Count to 20.")]
    fed = llm._engine.session.fed_tokens
    ahead = asyncio.create_task(llm.prefill([Message("system", LONG_SYSTEM), user("Turn on the " * 30)]))
    async with asyncio.timeout(60):
        while llm._engine.session.fed_tokens < fed + 48:  # it is in the middle of its work
            await thread.call(lambda: None, priority=Priority.VOICE)
    answer = await ask(llm, messages, 9)
    await ahead
    await assert_exact(llm, answer, 9)
    async with asyncio.timeout(60):
        messages[0] = Message("system", SYSTEM)
        stream = llm.stream(messages, thinking=ThinkingBudget(60))
        await anext(stream)
        await llm.prefill([user("Something else entirely, " * 20)])
        rest = [event async for event in stream]
    assert rest[-1].reason is DoneReason.STOP
    prompt = ledger(llm)[: llm.stats.prompt_tokens]
    got = ledger(llm)[llm.stats.prompt_tokens :]
    assert len(got) > 32
    assert got == (await cold(llm, prompt, 60, count=len(got)))


async def test_a_penalty_and_a_seed_give_the_same_tokens_with_and_without_mtp(thread):
    for settings in (
        {"presence_penalty": 1.0, "repetition_penalty": 1.2, "frequency_penalty": 0.2},
        {"temperature": 0.9, "top_p": 0.95, "top_k": 20, "seed": 7},
        {"temperature": 1.2, "min_p": 0.05, "seed": 8, "logit_bias": {300: 2.0}, "presence_penalty": 0.5},
    ):
        answers = []
        for mtp in ("off", "on"):
            llm = await loaded(thread, mtp=mtp, **settings)
            answer = await ask(llm, [user("Count to 20.")], 6)
            answers.append((answer.thought, answer.speech))
        assert answers[0] == answers[1]


async def test_a_quantised_cache_answers(thread):
    llm = await loaded(thread, kv_bits=8, mtp="on")
    messages = [user("Turn on the kitchen lights, please.")]
    answer = await ask(llm, messages)
    assert answer.speech == (await ask(await loaded(thread), messages)).speech
    messages += [said(answer.speech), user("Count to 3.")]
    await llm.settle()
    assert (await ask(llm, messages, 2)).done.reason is DoneReason.STOP


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A Llama of random weights with the tiny model's tokenizer: plain keys and values, nothing recurrent, no MTP."""
    from mlx.utils import tree_flatten
    from mlx_lm.models import llama as architecture

    folder = tmp_path_factory.mktemp("llama")
    for file in TINY.iterdir():
        if file.suffix != ".safetensors":
            shutil.copy(file, folder)
    config = {
        "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128,
        "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "vocab_size": 494,
        "tie_word_embeddings": True, "eos_token_id": 482, "rope_theta": 10000.0, "max_position_embeddings": 2048,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    mx.random.seed(3)
    model = architecture.Model(architecture.ModelArgs.from_dict(config))
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(model.parameters())), {"format": "mlx"})
    return folder


async def test_a_plain_text_model_runs_on_the_same_engine(thread, llama):
    llm = await loaded(thread, model=llama, max_tokens=12)
    messages = [Message("system", SYSTEM)]
    for question in ("Hello.", "Who are you?", "Count."):
        messages.append(user(question))
        answer = await ask(llm, messages, 2)
        await assert_exact(llm, answer, 2)
        messages.append(said(answer.speech))
        await llm.rewind(answer.speech[: len(answer.speech) // 2].strip())
        messages[-1] = said(answer.speech[: len(answer.speech) // 2].strip())
        if not messages[-1].content:
            messages.pop()
    assert llm.stats.reused_tokens > 0 and not llm._engine.session.marks


async def test_a_plain_model_reads_a_question_in_one_pass_and_its_head_the_last_token_only(thread, llama):
    llm = await loaded(thread, model=llama, max_tokens=1)
    messages = [Message("system", SYSTEM), user("Hello.")]
    messages.append(said((await ask(llm, messages)).speech))
    await llm.settle()
    target = llm._engine.target
    passes, heads = [], []
    forward, logits = target.forward, target.logits
    target.forward = lambda ids, *rest, **keep: passes.append(ids.size) or forward(ids, *rest, **keep)
    target.logits = lambda hidden: heads.append(hidden.shape[1]) or logits(hidden)

    await ask(llm, [*messages, user("Yes?")])
    assert passes[0] == llm.stats.prefilled_tokens > 1
    assert set(heads) == {1}


async def test_what_a_plain_model_cannot_do_is_refused_or_said(thread, llama):
    with pytest.raises(ModelUnsupported, match="multi-token prediction"):
        await loaded(thread, model=llama, mtp="on")
    llm = await loaded(thread, model=llama, mtp="auto", max_tokens=4)
    await ask(llm, [user("Hello.")])
    assert any(note.startswith("mtp off") for note in llm.stats.notes)


async def test_work_ahead_is_done_when_it_says_so_and_not_when_somebody_waits(thread):
    llm = await loaded(thread)
    await ask(llm, [user("Count to 5.")], 3)
    await llm.settle()

    def work_left():
        before = mx.get_active_memory()
        mx.eval([layer.state for layer in llm._engine.session.cache])
        return mx.get_active_memory() - before

    assert await thread.call(work_left) <= 0
