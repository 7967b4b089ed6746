"""Every engine says which model answers, by the name that a person knows."""

from __future__ import annotations

import pytest

from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.llm.openai import OpenAiLlm
from mirza.llm.scripted import ScriptedLlm
from mirza.mlx_thread import MlxThread
from mirza.settings import LlmSettings, OpenAiSettings


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("/home/me/.cache/mirza/models/smollm2-135m", "smollm2-135m"),
        ("/home/me/.cache/mirza/models/Qwen--Qwen3.5-4B", "Qwen/Qwen3.5-4B"),
        ("Qwen/Qwen3.5-4B", "Qwen/Qwen3.5-4B"),
        ("./mine", "mine"),
        ("~/models/mine/", "mine"),
    ],
)
def test_a_local_model_is_named_as_the_catalogue_or_the_hub_names_it(model: str, name: str):
    assert MlxQwenLlm(model, LlmSettings(), thread=MlxThread()).name == name


def test_a_server_is_named_by_its_model_and_until_that_is_known_by_its_address():
    assert OpenAiLlm(OpenAiSettings(model="qwen"), LlmSettings()).name == "qwen"
    assert OpenAiLlm(OpenAiSettings(base_url="http://box:1/v1"), LlmSettings()).name == "http://box:1/v1"


def test_a_script_has_the_name_it_is_given():
    assert (ScriptedLlm().name, ScriptedLlm(name="two").name) == ("scripted", "two")
