"""Scenes with the real engine on a small trained Qwen 3.5, in float32: whatever is reused, as a cold run."""

import asyncio
from contextlib import aclosing

import pytest

from mirza.errors import ModelError, ModelUnsupported
from mirza.events import DoneReason, ThinkingDelta
from mirza.llm.base import Message, ThinkingBudget
from mirza.mlx_thread import MlxThread
from tests.llm.mlx_scenes import QUESTIONS, SYSTEM, ask, assert_exact, ledger, said, tiny, user


@pytest.fixture(scope="module")
def thread():
    thread = MlxThread()
    yield thread
    thread.close()


@pytest.fixture(scope="module", params=["off", "on"])
def shared(request, thread):
    """One loaded model for all scenes of this file, with and without MTP."""
    llm = tiny(thread, mtp=request.param, max_tokens=48)
    asyncio.run(llm.load(SYSTEM))
    return llm


@pytest.fixture
async def llm(shared):
    await shared.clear_cache()
    shared._engine.memory.answers.clear()
    return shared


async def test_a_conversation_is_exact_and_each_turn_feeds_only_what_is_new(llm):
    messages = [Message("system", SYSTEM)]
    settled = 0
    for question, budget in QUESTIONS:
        messages.append(user(question))
        answer = await ask(llm, messages, budget)
        await assert_exact(llm, answer, budget)
        if settled:
            assert llm.stats.reused_tokens == settled
            around = len(llm._engine.template.tail(budget > 0)) + 2  # the end of the question's turn
            assert llm.stats.prefilled_tokens == len(llm._engine.template.encode(question)) + around
        messages.append(said(answer.speech))
        await llm.settle()
        settled = len(ledger(llm))


async def test_after_settling_the_ledger_is_what_the_template_renders_without_the_thought(llm):
    messages = [Message("system", SYSTEM), user("Turn on the kitchen lights, please.")]
    answer = await ask(llm, messages, 100)
    assert answer.thought and answer.speech
    await llm.settle()
    template = llm._engine.template
    messages += [said(answer.speech), user("Count to 3.")]
    rendered = template.prompt(messages, kept=llm._engine.memory.kept(messages))
    assert rendered[: len(ledger(llm))] == ledger(llm)
    assert template.thought.start not in ledger(llm)


async def test_without_settling_the_next_turn_is_exact_all_the_same(llm):
    messages = [Message("system", SYSTEM)]
    for question, budget in QUESTIONS:
        messages.append(user(question))
        answer = await ask(llm, messages, budget)
        await assert_exact(llm, answer, budget)
        messages.append(said(answer.speech))


@pytest.mark.parametrize("budget", [0, 1, 2, 5, 9])
async def test_a_budget_of_n_tokens_is_exactly_n(llm, budget):
    answer = await ask(llm, [user("Count to 20.")], budget)
    assert llm.stats.thinking_tokens == budget
    assert bool(answer.thought) == (budget > 0)
    assert "</think>" not in answer.speech and answer.speech.strip()
    if budget:
        thought = llm._engine.template.thought
        closing = [*thought.close, *thought.gap]
        assert answer.ids[budget : budget + len(closing)] == closing


async def test_a_budget_that_is_not_used_up_changes_nothing(llm):
    question = [user("Turn off the bedroom lights, please.")]
    one = await ask(llm, question, 100)
    await llm.clear_cache()
    other = await ask(llm, question, 1000)
    assert one.ids == other.ids and one.thought == other.thought


async def test_a_budget_lowered_in_the_middle_of_a_thought_ends_it_within_a_step(llm):
    question = [user("Count to 20.")]
    async with aclosing(llm.stream(question, thinking=ThinkingBudget(1000))) as stream:
        async for event in stream:
            if isinstance(event, ThinkingDelta):
                llm.set_budget(ThinkingBudget(0))
                break
        rest = [event async for event in stream]
    assert 1 <= llm.stats.thinking_tokens <= 1 + 40  # what was on its way to this slow reader
    assert llm.stats.speech_tokens > 0 and rest


async def test_a_budget_in_seconds_becomes_tokens_by_the_measured_speed(llm):
    llm._engine.tokens_per_s = 10.0
    answer_budget = ThinkingBudget(seconds=0.5)
    async with aclosing(llm.stream([user("Count to 20.")], thinking=answer_budget)) as stream:
        async for _ in stream:
            pass
    assert llm.stats.thinking_tokens == 5


@pytest.mark.parametrize("events", [1, 2, 3, 5, 8])
async def test_an_interruption_at_any_token_leaves_a_history_of_what_was_heard(llm, events):
    messages = [Message("system", SYSTEM), user("Turn on the living room lights, please.")]
    answer = await ask(llm, messages, at_most=events)
    heard = answer.speech[: max(1, len(answer.speech) - 2)].rstrip()
    await llm.rewind(heard)
    messages += [said(heard), user("Count to 4.")]
    settled = len(ledger(llm))
    again = await ask(llm, messages, 3)
    assert llm.stats.reused_tokens == settled
    await assert_exact(llm, again, 3)
    tokenizer = llm._engine._tokenizer
    assert f"assistant\n{heard}<|im_end|>" in tokenizer.decode(ledger(llm))


async def test_an_interruption_before_the_first_token_leaves_nothing_of_the_answer(llm):
    messages = [Message("system", SYSTEM), user("Turn on the living room lights, please.")]
    stream = llm.stream(messages)
    task = asyncio.create_task(anext(stream))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await stream.aclose()
    await llm.rewind("")
    answer = await ask(llm, [*messages, user("Count to 4.")], 2)
    await assert_exact(llm, answer, 2)
    assert len(llm._engine.memory.answers) == 1  # this one


async def test_an_interruption_before_the_first_token_leaves_the_answer_before_it_alone(llm):
    messages = [Message("system", SYSTEM), user("Count to 3.")]
    first = await ask(llm, messages)
    messages += [said(first.speech), user("Count to 4.")]
    task = asyncio.create_task(anext(llm.stream(messages)))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    await llm.rewind("")
    assert [answer.text for answer in llm._engine.memory.answers] == [first.speech]


async def test_an_interruption_inside_the_thought_keeps_no_thought(llm):
    messages = [Message("system", SYSTEM), user("Count to 20.")]
    answer = await ask(llm, messages, 100, at_most=4)
    assert answer.thought and not answer.speech
    await llm.rewind("")
    again = await ask(llm, [*messages, user("Count to 3.")], 2)
    await assert_exact(llm, again, 2)
    assert llm._engine.template.thought.start not in ledger(llm)[: llm.stats.prompt_tokens - 2]


async def test_what_the_user_is_still_saying_is_fed_while_they_talk(llm):
    messages = [Message("system", SYSTEM), user("Count to 3.")]
    messages.append(said((await ask(llm, messages)).speech))
    await llm.settle()
    for partial in ("Turn", "Turn on the", "Turn on the kitchen lights, pl"):
        await llm.prefill([*messages, user(partial)])
    final = [*messages, user("Turn on the kitchen lights, please.")]
    answer = await ask(llm, final, 4)
    await assert_exact(llm, answer, 4)
    fed_ahead = llm._engine.template.unfinished([*messages, user("Turn on the kitchen lights, pl")])
    assert llm.stats.reused_tokens >= len(fed_ahead) - 1


async def test_a_transcript_that_is_revised_is_exact_too(llm):
    messages = [Message("system", SYSTEM), user("Count to 3.")]
    messages.append(said((await ask(llm, messages)).speech))
    for partial in ("Turn on the kitchen", "Turn of", "Turn off the", "Tell", ""):
        await llm.prefill([*messages, user(partial)])
    answer = await ask(llm, [*messages, user("Turn off the bedroom lights, please.")], 4)
    await assert_exact(llm, answer, 4)


async def test_prefill_that_is_cancelled_leaves_the_model_right(llm):
    messages = [Message("system", SYSTEM + " Be brief." * 20), user("Count to 7.")]
    task = asyncio.create_task(llm.prefill(messages))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    answer = await ask(llm, messages, 2)
    await assert_exact(llm, answer, 2)


async def test_two_answers_of_the_same_words_keep_the_tokens_of_their_own(llm):
    messages = [Message("system", SYSTEM)]
    for _ in range(3):
        messages.append(user("Count to 3."))
        answer = await ask(llm, messages)
        messages.append(said(answer.speech))
        await llm.settle()
    answer = await ask(llm, [*messages, user("Count to 4.")], 3)
    await assert_exact(llm, answer, 3)


async def test_max_tokens_counts_the_answer_and_not_the_thought(llm):
    limits = llm._engine._limits
    llm._engine._limits = type(limits)(3, limits.context_tokens, limits.prefill_step)
    try:
        answer = await ask(llm, [user("Turn on the kitchen lights, please.")], 5)
    finally:
        llm._engine._limits = limits
    assert answer.done.reason is DoneReason.LENGTH
    assert (llm.stats.thinking_tokens, llm.stats.speech_tokens) == (5, 3)


async def test_mtp_drafts_and_says_what_it_did(llm):
    await ask(llm, [user("Count to 20.")], 30)
    drafting = llm.settings.mtp == "on"
    assert (llm.stats.drafted_tokens > 0) == drafting
    assert llm.stats.accepted_tokens <= llm.stats.drafted_tokens
    if drafting:
        assert llm.stats.accepted_tokens > 5


async def test_a_user_who_says_a_control_token_does_not_end_the_turn(llm):
    answer = await ask(llm, [user("What does <|im_end|> or <think> mean?")], 0)
    await assert_exact(llm, answer, 0)
    stop = llm._engine._tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert ledger(llm)[: llm.stats.prompt_tokens].count(stop) == 1


async def test_a_model_that_is_not_loaded_says_so(thread):
    with pytest.raises(ModelError, match="not loaded"):
        await ask(tiny(thread), [user("Hello")])


async def test_mtp_that_is_demanded_and_cannot_be_is_refused_with_the_reason(thread, tmp_path):
    from mirza.errors import ModelNotFound

    with pytest.raises(ModelNotFound):
        await tiny(thread, drafter=str(tmp_path / "none"), mtp="on").load()
    with pytest.raises(ModelUnsupported, match="too long"):
        llm = tiny(thread, context_tokens=256)
        await llm.load()
        await ask(llm, [user("word " * 400)])
