"""Calls of tools, from what the model wrote."""

import json
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from mirza.events import ToolCall
from mirza.llm.base import Tool
from mirza.llm.mlx.tool_calls import tool_format

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"
QWEN = "<tool_call>\\n<function=' + name + '>"
HERMES = '<tool_call>\\n{"name": "{{ tool_call.name }}"'


async def _run(arguments):
    return ""


def tool(**types):
    properties = {name: {"type": kind} for name, kind in types.items()}
    return Tool("set_light", "Sets a light.", _run, {"type": "object", "properties": properties})


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(TINY)


@pytest.fixture(scope="module")
def qwen(tokenizer):
    return tool_format(QWEN, tokenizer)


def written(**arguments):
    lines = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in arguments.items())
    return f"\n<function=set_light>\n{lines}</function>\n"


def test_the_tokens_around_a_call_come_from_the_vocabulary(qwen, tokenizer):
    assert qwen.start == tokenizer.convert_tokens_to_ids("<tool_call>")
    assert qwen.end == tokenizer.convert_tokens_to_ids("</tool_call>")


def test_a_qwen_call_is_a_typed_event(qwen):
    calls = qwen.parse(written(room="kitchen"), [tool(room="string")], new_id=lambda: "1")
    assert calls == [ToolCall("1", "set_light", '{"room": "kitchen"}')]


def test_what_a_tool_says_is_text_stays_text_and_numbers_become_numbers(qwen):
    schema = [tool(room="string", level="integer", on="boolean", share="number", rooms="array")]
    (call,) = qwen.parse(written(room="5", level="5", on="true", share="0.5", rooms='["a", "b"]'), schema)
    assert json.loads(call.arguments) == {"room": "5", "level": 5, "on": True, "share": 0.5, "rooms": ["a", "b"]}


def test_a_call_without_arguments_has_an_empty_object(qwen):
    assert qwen.parse("\n<function=stop>\n</function>\n")[0].arguments == "{}"


def test_arguments_keep_their_script(qwen):
    assert qwen.parse(written(room="客厅"))[0].arguments == '{"room": "客厅"}'


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n",
        "hello",
        "<function=",
        "<function=set_light>",
        '{"name": "set_light"',
        "</function>",
        "<function=></function>",
    ],
)
def test_what_is_no_call_gives_none(qwen, body):
    assert qwen.parse(body, [tool(room="string")]) == []


def test_a_number_that_is_none_gives_no_call_rather_than_a_wrong_one(qwen):
    assert qwen.parse(written(level="very"), [tool(level="integer")]) == []


def test_a_call_cut_off_anywhere_gives_no_error(qwen):
    whole = written(room="kitchen", level="3")
    for cut in range(len(whole)):
        for call in qwen.parse(whole[:cut], [tool(room="string", level="integer")]):
            assert call.name == "set_light"
            assert isinstance(json.loads(call.arguments), dict)


def test_older_qwens_write_json(tokenizer):
    hermes = tool_format(HERMES, tokenizer)
    assert hermes.name == "json_tools"
    (call,) = hermes.parse('\n{"name": "set_light", "arguments": {"room": "kitchen"}}\n')
    assert (call.name, call.arguments) == ("set_light", '{"room": "kitchen"}')
    assert hermes.parse('{"name": "set_light", "arguments": "[1]"}') == []


def test_every_call_has_an_id_of_its_own(qwen):
    assert qwen.parse(written(room="a"))[0].id != qwen.parse(written(room="a"))[0].id


def test_a_model_that_calls_no_tools_has_no_format(tokenizer):
    assert tool_format("{{ messages }}", tokenizer) is None


def test_calls_that_are_not_framed_by_tokens_are_not_followed(tokenizer):
    assert tool_format("[TOOL_CALLS]", tokenizer) is None
