"""Text leaves token by token, whole in every script."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from mirza.llm.mlx.detokenizer import Detokenizer

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"
BROKEN = "\ufffd"

SCRIPTS = [
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "नमस्ते, आप कैसे हैं?",
    "你好！今天天气很好。",
    "こんにちは、今日はいい天気ですね。",
    "👩‍👩‍👧 and 👨🏽‍🚀 and 🇫🇷, e\u0301 as well",
    "مرحبا بالعالم",
    "Comment ça va ? Très bien\u202f!",
]


@pytest.fixture(scope="module")
def qwen():
    return AutoTokenizer.from_pretrained(TINY)


def sentencepiece_like(strips_first_space=True):
    """As Llama 2's (first space stripped) and Gemma's (not): pieces with `▁`, and bytes for what has no piece."""
    words = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "▁a", "▁ab", "é", "世"]
    vocabulary = {word: place for place, word in enumerate(words)}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True, unk_token="<unk>"))
    strip = [decoders.Strip(" ", 1, 0)] if strips_first_space else []
    backend.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *strip])
    return PreTrainedTokenizerFast(tokenizer_object=backend)


def wordpiece():
    words = ["[UNK]", "hello", "##s", "world", "good"]
    backend = Tokenizer(models.WordPiece({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="[UNK]")


def pieces(tokenizer, ids):
    detokenizer = Detokenizer(tokenizer)
    return [*(detokenizer.push(token_id) for token_id in ids), detokenizer.flush()]


def decoded(tokenizer, ids):
    return tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("text", SCRIPTS)
def test_every_script_arrives_whole_though_its_characters_span_tokens(qwen, text):
    ids = qwen.encode(text, add_special_tokens=False)
    assert "".join(pieces(qwen, ids)) == decoded(qwen, ids)
    assert BROKEN not in "".join(pieces(qwen, ids))


def test_a_character_leaves_with_the_token_that_completes_it_not_at_the_end(qwen):
    ids = qwen.encode("我喜欢音乐", add_special_tokens=False)
    assert [piece for piece in pieces(qwen, ids) if piece] == list("我喜欢音乐")
    ids = qwen.encode("Done, the kitchen lights are on.", add_special_tokens=False)
    assert all(pieces(qwen, ids)[:-1])


def test_a_stream_that_ends_inside_a_character_ends_before_it(qwen):
    ids = qwen.encode("Oui 👩", add_special_tokens=False)
    for cut in range(1, 4):
        text = "".join(pieces(qwen, ids[:-cut]))
        assert text == "Oui "


def test_bytes_that_are_no_utf8_are_marked_and_the_rest_goes_on(qwen):
    start_of_emoji = qwen.encode("👩", add_special_tokens=False)[:1]
    ids = start_of_emoji + qwen.encode("ok é", add_special_tokens=False)
    assert "".join(pieces(qwen, ids)) == BROKEN + "ok é"


def test_control_tokens_have_no_text_and_the_tags_of_thoughts_and_tools_have(qwen):
    ids = qwen.encode("a<think>b</think><|im_end|>", add_special_tokens=False)
    assert "".join(pieces(qwen, ids)) == "a<think>b</think>"


def test_an_id_beyond_the_vocabulary_is_silent(qwen):
    assert pieces(qwen, [len(qwen) + 7, 10**6]) == ["", "", ""]


@given(ids=st.lists(st.integers(0, 493), max_size=40))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_model_says_the_pieces_are_the_decoded_whole(qwen, ids):
    ours, theirs = "".join(pieces(qwen, ids)), decoded(qwen, ids)
    # A character cut off at the very end is U+FFFD there, and nothing here.
    assert ours == theirs or ours + BROKEN == theirs


@pytest.mark.parametrize("strips", [True, False])
@pytest.mark.parametrize("text", ["ab a", "é世", "👩‍👩‍👧", "a 世 👩 é"])
def test_sentencepiece_like_tokenizers_with_bytes_for_rare_characters(strips, text):
    tokenizer = sentencepiece_like(strips)
    ids = [
        token_id
        for word in ("▁" + text.replace(" ", "▁"))
        for token_id in (
            [tokenizer.convert_tokens_to_ids(word)]
            if tokenizer.convert_tokens_to_ids(word)
            else [tokenizer.convert_tokens_to_ids(f"<0x{byte:02X}>") for byte in word.encode()]
        )
    ]
    assert "".join(pieces(tokenizer, ids)) == decoded(tokenizer, ids) == ("" if strips else " ") + text


def test_sentencepiece_bytes_cut_off_at_the_end_leave_what_was_whole():
    tokenizer = sentencepiece_like()
    ids = tokenizer.convert_tokens_to_ids(["▁a", "<0xE4>", "<0xB8>"])
    assert "".join(pieces(tokenizer, ids)) == "a"


def test_any_other_tokenizer_is_decoded_as_it_decodes_itself():
    tokenizer = wordpiece()
    ids = tokenizer.convert_tokens_to_ids(["hello", "##s", "good", "world"])
    assert pieces(tokenizer, ids) == ["hello", "s", " good", " world", ""]
