"""What the engine leans on in mlx 0.32, mlx-vlm 0.7.10 and mlx-lm 0.32. One fails after an upgrade? Look here first.

The benches hold the other half: what upstream cannot do, and Mirza does instead.
"""

from importlib.metadata import version

import mlx.core as mx
import pytest
from mlx_vlm.speculative.cache_state import start_speculative_cache

from mirza.llm.mlx.loading import load_drafter, load_model, load_tokenizer
from mirza.llm.mlx.target import Target, arrays_of, is_growing, is_recurrent, meta_of, restore
from tests.llm.mlx_scenes import TINY

TEXT = "<|im_start|>user\nCount to 12.<|im_end|>\n<|im_start|>assistant\n<think>\n1 2 3 4 5 6 7"
IDS = load_tokenizer(TINY).encode(TEXT, add_special_tokens=False)
"""Like what it was trained on: rounding in float32 moves a logit by 5e-6 there, and by 3e-4 in nonsense."""


@pytest.fixture(scope="module")
def model():
    return load_model(TINY, float32=True).model


@pytest.fixture
def target(model):
    target = Target(model)
    target._sequential = 0  # plain forwards: what is tested here is upstream's
    return target


def stepwise(target, ids):
    cache = target.new_cache()
    rows = [target.forward(mx.array([token]), cache, place, keep=1).logits for place, token in enumerate(ids)]
    return mx.concatenate(rows), cache


def near(one, other):
    return bool(mx.abs(one - other).max().item() < 1e-3)


def test_the_version_is_the_pinned_one():
    assert version("mlx-vlm") == "0.7.10"


def test_a_qwen_cache_is_recurrent_states_and_keys_and_values(target):
    cache = target.new_cache()
    assert [is_recurrent(layer) for layer in cache] == [True, True, True, False]
    assert [is_growing(layer) for layer in cache] == [False, False, False, True]


def test_chunks_with_explicit_positions_are_one_pass(target):
    whole = target.forward(mx.array(IDS), target.new_cache(), 0, keep=len(IDS)).logits
    cache = target.new_cache()
    parts = [target.forward(mx.array(IDS[:9]), cache, 0, keep=9).logits]
    parts.append(target.forward(mx.array(IDS[9:]), cache, 9, keep=len(IDS) - 9).logits)
    assert near(whole, mx.concatenate(parts)) and near(whole, stepwise(target, IDS)[0])


def test_the_hidden_states_are_those_that_the_head_reads(target):
    forward = target.forward(mx.array(IDS), target.new_cache(), 0, keep=len(IDS))
    assert forward.hidden.shape[1] == len(IDS)
    assert near(target.logits(forward.hidden)[0], forward.logits)


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_a_transaction_keeps_exactly_what_is_committed(target, kept):
    cache = stepwise(target, IDS[:10])[1]
    with start_speculative_cache(cache, 5) as transaction:
        block = target.forward(mx.array(IDS[10:15]), cache, 10, keep=5).logits
        transaction.commit(kept)
    want, clean = stepwise(target, IDS[: 10 + kept])
    assert near(block[:kept], want[10:])
    for layer, other in zip(cache, clean, strict=True):
        mine, theirs = arrays_of(layer), arrays_of(other)
        assert mine.keys() == theirs.keys() and all(near(mine[name], theirs[name]) for name in mine)


def test_a_transaction_that_is_left_without_a_commit_is_undone(target):
    cache = stepwise(target, IDS[:10])[1]
    with pytest.raises(KeyError), start_speculative_cache(cache, 3):
        target.forward(mx.array(IDS[10:13]), cache, 10, keep=3)
        raise KeyError
    assert near(target.forward(mx.array(IDS[10:11]), cache, 10, keep=1).logits, stepwise(target, IDS[:11])[0][-1:])


def test_states_kept_by_reference_lead_back_though_the_model_went_on(target):
    cache = stepwise(target, IDS[:10])[1]
    kept = [list(layer.cache) for layer in cache[:3]]
    target.forward(mx.array(IDS[10:]), cache, 10, keep=1)
    cache[3].trim(len(IDS) - 10)
    for layer, states in zip(cache[:3], kept, strict=True):
        layer.cache = list(states)
    assert cache[3].offset == 10
    assert near(target.forward(mx.array(IDS[10:11]), cache, 10, keep=1).logits, stepwise(target, IDS[:11])[0][-1:])


def test_a_state_that_is_put_into_a_new_cache_goes_on_as_before(target):
    cache = stepwise(target, IDS[:10])[1]
    other = target.new_cache()
    for old, new in zip(cache, other, strict=True):
        restore(new, arrays_of(old), meta_of(old))
    assert near(
        target.forward(mx.array(IDS[10:]), other, 10, keep=1).logits,
        target.forward(mx.array(IDS[10:]), cache, 10, keep=1).logits,
    )


def test_the_head_has_the_parts_that_are_called_and_shares_the_rest(target):
    head = load_drafter(TINY, float32=True)
    names = {name for name in ("fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm", "layers") if name in head}
    assert names == {"fc", "pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm", "layers"}
    assert not any("embed_tokens" in name or "lm_head" in name for name, _ in leaves(head))


def test_the_drafts_are_those_of_upstreams_own_loop(target):
    """Their loop and ours, from the last token of a prompt: the same first draft."""
    from mirza.llm.mlx.speculation import Drafter

    head = load_drafter(TINY, float32=True)
    forward = target.forward(mx.array(IDS), target.new_cache(), 0, keep=1)
    token = int(mx.argmax(forward.logits[-1]).item())
    ours = Drafter(head, target)
    ours.begin()
    ours.observe([token], forward.hidden[:, -1:], len(IDS) - 1)
    mine = int(mx.argmax(ours._logits).item())
    head.reset(target.model)
    head.set_shared_kv({}, len(IDS), position=len(IDS) - 1, kv_valid_len=len(IDS))
    theirs = head.draft_block(token, forward.hidden[:, -1:], None, 2, lambda logits: mx.argmax(logits, axis=-1))
    assert int(theirs.reshape(-1)[0].item()) == mine


def test_mlx_can_be_told_how_much_to_keep():
    for name in ("set_cache_limit", "set_wired_limit", "clear_cache", "clear_streams", "device_info"):
        assert callable(getattr(mx, name))


def test_mlx_lm_reads_the_same_checkpoint_to_the_same_logits(target):
    from mlx_lm.utils import load_model as load

    other, _ = load(TINY)
    other.set_dtype(mx.float32)
    assert near(other(mx.array([IDS]))[0, -1:], target.forward(mx.array(IDS), target.new_cache(), 0, keep=1).logits)


def leaves(module):
    from mlx.utils import tree_flatten

    return tree_flatten(module.parameters())
