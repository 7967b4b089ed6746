"""A conversation and its place on the disk: what is kept when, and what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from mirza.console.session import Session
from mirza.errors import MirzaError, ModelDamaged, ModelNotFound, StorageError
from mirza.events import AnswerEnded, Event, Failed, Heard, Notice, State, TurnMeasured
from mirza.history import History
from mirza.llm.base import OnProgress, ThinkingBudget, Tool
from mirza.llm.scripted import ScriptedLlm
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree
from mirza.storage import open_store
from tests.console.scenes import session_in


def on_disk(folder: Path, conversation: int = 1) -> list[str]:
    with open_store(folder / "conversations.sqlite")[0] as store:
        return [message.content for message in store.messages(conversation)]


async def test_a_turn_is_shown_and_on_disk_when_say_returns(tmp_path: Path):
    shown: list[Event] = []
    async with session_in(tmp_path, ["Fine."]) as session:
        session.listen(shown.append)
        await session.say("how are you?")
        assert on_disk(tmp_path) == ["how are you?", "Fine."]
        kinds = [type(event) for event in shown]
        assert kinds.index(Heard) < kinds.index(AnswerEnded) < kinds.index(TurnMeasured)


async def test_a_question_is_on_disk_before_its_answer_and_each_sentence_before_the_next(tmp_path: Path):
    async with session_in(tmp_path, ["One is here. Two comes. Three"], token_s=0.05) as session:
        saying = asyncio.create_task(session.say("count"))
        seen: list[list[str]] = []
        while not saying.done():
            await asyncio.sleep(0.01)
            if session.number is not None and (now := on_disk(tmp_path)) and now not in seen:
                seen.append(now)
        await saying
    assert seen[0] == ["count"]
    assert ["count", "One is here. "] in seen
    assert seen[-1] == ["count", "One is here. Two comes. Three"]


async def test_an_interrupted_answer_is_kept_as_it_was_heard(tmp_path: Path):
    async with session_in(tmp_path, ["word " * 500], token_s=0.005) as session:
        saying = asyncio.create_task(session.say("talk"))
        await asyncio.sleep(0.2)
        await session.interrupt()
        await saying
        assert on_disk(tmp_path) == [message.content for message in session.messages]
    assert 0 < len(on_disk(tmp_path)[1]) < 2500


async def test_a_conversation_is_resumed_with_its_settings(tmp_path: Path):
    async with session_in(tmp_path) as session:
        await session.say("first")
        await session.set_thinking(ThinkingBudget(99))
    resumed = session_in(tmp_path)
    await resumed.resume()
    async with resumed as session:
        assert [message.content for message in session.messages] == ["first", "You said: first"]
        assert session.conversation.parts.llm.budget == ThinkingBudget(99)
        await session.say("second")
    assert on_disk(tmp_path) == ["first", "You said: first", "second", "You said: second"]


@pytest.mark.parametrize("number", [None, 7])
async def test_there_is_nothing_to_resume(tmp_path: Path, number: int | None):
    with pytest.raises(StorageError):
        await session_in(tmp_path).resume(number)


async def test_nothing_is_written_where_nothing_is_to_be_kept(tmp_path: Path):
    async with session_in(tmp_path, conversation={"save": False}) as session:
        await session.say("a secret")
    assert not (tmp_path / "conversations.sqlite").exists()


async def test_a_disk_that_takes_no_more_is_said_once_and_the_talk_goes_on(tmp_path: Path):
    shown: list[Event] = []
    session = session_in(tmp_path)
    session.listen(shown.append)
    async with session:
        await session.say("kept")
        database = session.kept.recorder().store._database
        pages = database.execute("PRAGMA page_count").fetchone()[0]
        database.execute(f"PRAGMA max_page_count = {pages}")
        await session.say("x" * 20_000)
        await session.say("y" * 20_000)
        troubles = [event.error.what for event in shown if isinstance(event, Failed)]
        assert len(troubles) == 1
        assert "disk is full" in troubles[0]
        database.execute("PRAGMA max_page_count = 1000000")
        await session.say("more")
        assert [event.text for event in shown if isinstance(event, Notice)] == ["The conversation is kept again."]
    assert len(on_disk(tmp_path)) == 8


async def test_a_damaged_file_is_said_and_the_talk_goes_on(tmp_path: Path):
    (tmp_path / "conversations.sqlite").write_bytes(b"rubbish" * 5000)
    shown: list[Event] = []
    session = session_in(tmp_path)
    session.listen(shown.append)
    async with session:
        await session.say("hello")
    notices = [event.text for event in shown if isinstance(event, Notice)]
    assert len(notices) == 1
    assert "put aside" in notices[0]
    assert on_disk(tmp_path)[0] == "hello"


async def test_half_a_surrogate_pair_is_said_and_kept_as_a_replacement(tmp_path: Path):
    async with session_in(tmp_path) as session:
        await session.say("a\ud800b")
    assert on_disk(tmp_path)[0] == "a\ufffdb"


class Damaged(ScriptedLlm):
    async def load(self, system: str = "", tools: Sequence[Tool] = (), on_progress: OnProgress | None = None) -> None:
        raise ModelDamaged("The model is damaged.", "Pull it again.")


def models(folder: Path) -> Session:
    """A session with two models; a third is not there, and a fourth cannot be loaded."""

    def build(tree: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        if tree.llm.model == "missing":
            raise ModelNotFound("There is no model missing.", "Pull it.")
        kind = Damaged if tree.llm.model == "damaged" else ScriptedLlm
        llm = kind([f"I am {tree.llm.model}."] * 3, name=tree.llm.model)
        return Conversation(Parts(llm=llm), tree, history, on_progress)

    return Session(SettingsTree.model_validate({"llm": {"model": "one"}}), build, folder / "conversations.sqlite")


async def test_another_model_goes_on_with_the_same_conversation(tmp_path: Path):
    async with models(tmp_path) as session:
        await session.say("who?")
        await session.set_thinking(ThinkingBudget(7))
        await session.set_model("two")
        await session.say("and now?")
        assert [message.content for message in session.messages] == ["who?", "I am one.", "and now?", "I am two."]
        assert session.thinking == ThinkingBudget(7)
        assert session.model == "two"
    assert len(on_disk(tmp_path)) == 4


@pytest.mark.parametrize(("engine", "section"), [("mlx", "llm"), ("openai", "openai"), ("parrot", "llm")])
async def test_a_model_is_changed_where_its_engine_reads_it_and_comes_back_with_that_engine_only(
    tmp_path: Path, engine: str, section: str
):
    names: list[str] = []

    def build(tree: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        names.append(getattr(tree, section).model)
        return Conversation(Parts(llm=ScriptedLlm()), tree, history, on_progress)

    def session(engine: str) -> Session:
        return Session(SettingsTree.model_validate({"llm": {"engine": engine}}), build, tmp_path / "c.sqlite")

    async with session(engine) as first:
        await first.say("hello")
        await first.set_model("another")
    for again in (engine, "scripted"):
        resumed = session(again)
        await resumed.resume()
        async with resumed:
            pass
    before = getattr(SettingsTree(), section).model
    assert names == [before, "another", "another", before]


async def test_what_is_said_while_another_model_loads_is_answered_by_it(tmp_path: Path):
    go, loading = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedLlm):
        async def load(self, system: str = "", tools: Sequence[Tool] = (), on_progress: OnProgress | None = None):
            loading.set()
            await go.wait()

    def build(tree: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        kind = Slow if tree.llm.model == "slow" else ScriptedLlm
        return Conversation(Parts(llm=kind(name=tree.llm.model)), tree, history, on_progress)

    async with Session(SettingsTree(), build, tmp_path / "conversations.sqlite") as session:
        await session.say("one")
        changing = asyncio.create_task(session.set_model("slow"))
        await loading.wait()
        saying = asyncio.create_task(session.say("two"))
        await asyncio.sleep(0.02)
        assert session.state is State.LOADING
        go.set()
        await asyncio.gather(changing, saying)
        assert [turn.model for turn in session.turns] == ["auto", "slow"]
        assert session.messages[-1].content == "You said: two"


async def test_a_model_that_does_not_exist_is_refused_before_the_present_one_is_given_up(tmp_path: Path):
    async with models(tmp_path) as session:
        present = session.conversation
        with pytest.raises(MirzaError, match="no model missing"):
            await session.set_model("missing")
        assert session.conversation is present


async def test_a_turn_says_which_model_answered(tmp_path: Path):
    async with models(tmp_path) as session:
        await session.say("who?")
        await session.set_model("two")
        await session.say("and now?")
        assert [turn.model for turn in session.turns] == ["one", "two"]


async def test_a_model_that_cannot_be_loaded_leaves_the_one_before(tmp_path: Path):
    async with models(tmp_path) as session:
        await session.say("who?")
        with pytest.raises(MirzaError, match="is damaged"):
            await session.set_model("damaged")
        await session.say("still there?")
        assert session.messages[-1].content == "I am one."
        assert session.model == "one"
