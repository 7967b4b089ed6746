"""The commands of both consoles: what they do to a conversation, and what a wrong one is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mirza.console.commands import COMMANDS, Reply, completions, execute, parse
from mirza.errors import MirzaError
from mirza.llm.base import ThinkingBudget
from tests.console.scenes import session_in


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/help", ("help", "")),
        ("/THINK  1.5s ", ("think", "1.5s")),
        ("/save A title\n", ("save", "A title")),
        (" /help", None),
        ("/usr/bin/env is a program?", None),
        ("/", None),
        ("//", None),
        ("what is /help?", None),
    ],
)
def test_a_line_is_a_command_if_it_begins_with_a_slash_and_a_word(line: str, command: tuple[str, str] | None):
    assert parse(line) == command


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("/re", ["/reset", "/retry"]),
        ("/thi", ["/think "]),
        ("/think 1", ["/think 128", "/think 1024"]),
        ("/zzz", []),
        ("hello", []),
    ],
)
def test_completion(line: str, lines: list[str]):
    assert completions(line) == lines


async def told(folder: Path, *lines: str, say: str = "hello") -> str:
    """What the last of `lines` is answered, after something was said."""
    reply = Reply()
    async with session_in(folder) as session:
        if say:
            await session.say(say)
        for line in lines:
            command = parse(line)
            assert command is not None
            try:
                reply = await execute(session, *command)
            except MirzaError as error:
                reply = Reply(str(error))
            if reply.say:
                await session.say(reply.say)
    return reply.text


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("/rest", "There is no /rest. Did you mean /reset?"),
        ("/ex", "There is no /ex. Did you mean /export or /exit?"),
        ("/xylophone", "There is no /xylophone. /help lists the commands."),
        ("/undo everything", "/undo takes nothing after it. Type /undo alone."),
        ("/load", "/load needs NUMBER. /help lists the commands."),
        ("/load nine", "'nine' is no conversation's number. /sessions lists them."),
        ("/load 99", "There is no conversation 99. `/sessions` lists those there are."),
        ("/think lots", "'lots' is no thinking budget. Give a number of tokens, seconds like 1.5s, or off."),
        ("/think -5", "'-5' is no thinking budget. Give a number of tokens, seconds like 1.5s, or off."),
        ("/mute", "There is no microphone in this conversation. Start with `mirza chat --sound` for one."),
        ("/export notes.txt", "notes.txt ends in neither .md nor .json. Give it one of these endings."),
    ],
)
async def test_a_wrong_command_is_told_what_to_do(tmp_path: Path, line: str, answer: str):
    assert await told(tmp_path, line) == answer


@pytest.mark.parametrize("line", ["/retry", "/undo", "/save", "/export"])
async def test_commands_that_need_something_said_say_so(tmp_path: Path, line: str):
    assert await told(tmp_path, line, say="") != ""


async def test_help_names_every_command(tmp_path: Path):
    text = await told(tmp_path, "/help")
    assert all(f"/{command.name} " in text or f"/{command.name}\n" in text for command in COMMANDS)


@pytest.mark.parametrize(
    ("argument", "budget"),
    [
        ("256", ThinkingBudget(256)),
        ("off", ThinkingBudget(0)),
        ("on", ThinkingBudget(512)),
        ("1.5s", ThinkingBudget(seconds=1.5)),
    ],
)
async def test_think_changes_the_running_engine(tmp_path: Path, argument: str, budget: ThinkingBudget):
    async with session_in(tmp_path) as session:
        await execute(session, "think", argument)
        assert session.conversation.parts.llm.budget == budget
        assert session.thinking == budget


async def test_undo_takes_back_here_and_on_disk(tmp_path: Path):
    async with session_in(tmp_path) as session:
        await session.say("one")
        await session.say("two")
        assert (await execute(session, "undo", "")).text == "Taken back: two"
    assert await told(tmp_path, "/load 1", say="") == "Conversation 1: 2 messages."


async def test_retry_asks_again_and_replaces_the_answer(tmp_path: Path):
    async with session_in(tmp_path, ["First.", "Second."]) as session:
        await session.say("question")
        reply = await execute(session, "retry", "")
        await session.say(reply.say)
        assert [message.content for message in session.messages] == ["question", "Second."]


async def test_reset_begins_anew_and_the_old_one_stays(tmp_path: Path):
    text = await told(tmp_path, "/reset", "/sessions")
    assert text.endswith("hello")
    async with session_in(tmp_path) as session:
        await session.say("before")
        await execute(session, "reset", "")
        assert session.messages == ()
        await session.say("after")
        assert session.number == 3


async def test_sessions_lists_and_searches(tmp_path: Path):
    async with session_in(tmp_path) as session:
        await session.say("about the weather in Paris")
        await execute(session, "save", "Weather")
        await execute(session, "reset", "")
        await session.say("about trains")
        listed = (await execute(session, "sessions", "")).text.splitlines()
        assert [line.split()[0] for line in listed] == ["2", "1"]
        assert listed[1].endswith("Weather")
        assert "Paris" in (await execute(session, "sessions", "paris")).text
        assert (await execute(session, "sessions", "zebra")).text == "Nothing with 'zebra' was said."


async def test_load_brings_messages_and_thinking_back(tmp_path: Path):
    async with session_in(tmp_path) as session:
        await execute(session, "think", "64")
        await session.say("remember me")
        await execute(session, "reset", "")
        await execute(session, "think", "off")
        await execute(session, "load", "1")
        assert [message.content for message in session.messages] == ["remember me", "You said: remember me"]
        assert session.thinking == ThinkingBudget(64)
        await session.say("and on")
        assert session.number == 1
        asked = session.conversation.parts.llm.asked[-1]  # type: ignore[attr-defined]
        assert [message.content for message in asked][1:] == ["remember me", "You said: remember me", "and on"]


async def test_delete_forgets_the_present_conversation_too(tmp_path: Path):
    async with session_in(tmp_path) as session:
        await session.say("a secret")
        await execute(session, "delete", "1")
        assert session.messages == ()
        assert (await execute(session, "sessions", "")).text == "No conversation is kept yet."
    assert b"a secret" not in (tmp_path / "conversations.sqlite").read_bytes()


async def test_export_writes_both_forms_and_overwrites_nothing(tmp_path: Path):
    async with session_in(tmp_path, ["```\ncode\n``` and é 天"]) as session:
        await session.say("show me")
        for name in ("talk.md", "talk.json"):
            assert str(tmp_path / name) in (await execute(session, "export", str(tmp_path / name))).text
        with pytest.raises(MirzaError, match="is there already"):
            await execute(session, "export", str(tmp_path / "talk.md"))
        with pytest.raises(MirzaError, match="cannot be written"):
            await execute(session, "export", str(tmp_path / "nowhere" / "talk.md"))
    assert (tmp_path / "talk.md").read_text("utf-8").startswith("# show me\n\n**You**\n\nshow me\n\n**Mirza**\n\n```")
    rows = json.loads((tmp_path / "talk.json").read_text("utf-8"))["messages"]
    assert rows == [{"role": "user", "content": "show me"}, {"role": "assistant", "content": "```\ncode\n``` and é 天"}]


async def test_save_keeps_a_conversation_that_was_not_to_be_kept(tmp_path: Path):
    async with session_in(tmp_path, conversation={"save": False}) as session:
        await session.say("hello")
        assert not (tmp_path / "conversations.sqlite").exists()
        assert (await execute(session, "save", "A title")).text == "Kept as conversation 1, A title."
        await session.say("more")
    assert "A title" in await told(tmp_path, "/sessions", say="")


async def test_stats_tells_of_the_last_turn(tmp_path: Path):
    text = await told(tmp_path, "/stats")
    assert "3 said" in text
    assert "1 turns" in text
