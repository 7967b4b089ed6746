"""What a model says about how it is to be run."""

import json
import shutil
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from mirza.errors import ModelDamaged
from mirza.llm.mlx.defaults import SamplingDefaults, sampling_defaults, stop_ids
from mirza.llm.mlx.template import ChatTemplate

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(TINY, tmp_path / "model"))


def generation_config(folder, **content):
    (folder / "generation_config.json").write_text(json.dumps(content))
    return folder


def test_sampling_is_what_the_models_makers_set(copy):
    generation_config(copy, do_sample=True, temperature=0.6, top_p=0.95, top_k=20)
    assert sampling_defaults(copy) == SamplingDefaults(temperature=0.6, top_p=0.95, top_k=20)


def test_without_a_word_from_them_it_is_greedy(copy):
    assert sampling_defaults(copy) == SamplingDefaults()
    generation_config(copy, do_sample=False, temperature=0.6, repetition_penalty=1.05)
    assert sampling_defaults(copy) == SamplingDefaults(repetition_penalty=1.05)


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_damaged_generation_config_is_said_to_be_damaged(copy, content):
    (copy / "generation_config.json").write_text(content)
    with pytest.raises(ModelDamaged, match="generation_config"):
        sampling_defaults(copy)


def test_the_tokens_that_end_an_answer_come_from_every_place(copy):
    tokenizer = AutoTokenizer.from_pretrained(copy)
    template = ChatTemplate(tokenizer)
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    nothing = type("Tokenizer", (), {"added_tokens_decoder": {}, "eos_token_id": None})()
    assert stop_ids(copy, {"eos_token_id": 7}, nothing, template) == {7}
    assert stop_ids(copy, {"eos_token_id": [7, 8]}, nothing, template) == {7, 8}
    assert stop_ids(copy, {"text_config": {"eos_token_id": 9}}, nothing, template) == {9}
    start = tokenizer.convert_tokens_to_ids("<|im_start|>")
    assert stop_ids(copy, {}, tokenizer, template) == {end, start}
    tokenizer.eos_token = None
    assert stop_ids(copy, {}, tokenizer, template) == {end, start}
    generation_config(copy, eos_token_id=[3])
    assert stop_ids(copy, {"eos_token_id": 7}, tokenizer, template) == {3, 7, end, start}


def test_an_answer_of_several_parts_does_not_end_at_the_second(copy):
    tokenizer = AutoTokenizer.from_pretrained(copy)
    tokenizer.chat_template += "{#- <|channel|> -#}"
    ids = stop_ids(copy, {}, tokenizer, ChatTemplate(tokenizer))
    assert tokenizer.convert_tokens_to_ids("<|im_start|>") not in ids
    assert tokenizer.convert_tokens_to_ids("<|im_end|>") in ids


def test_a_model_that_never_ends_is_refused(copy):
    tokenizer = AutoTokenizer.from_pretrained(copy)
    tokenizer.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    nothing = type("Tokenizer", (), {"added_tokens_decoder": {}, "eos_token_id": None})()
    with pytest.raises(ModelDamaged, match="where an answer ends"):
        stop_ids(copy, {}, nothing, ChatTemplate(tokenizer))
