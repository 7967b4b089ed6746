"""What a console shows, from events alone."""

from __future__ import annotations

from mirza.console.script import Asked, Ended, Listening, Note, Said, Script, Shown, Thought, Trouble, Used
from mirza.errors import ServerError
from mirza.events import (
    AnswerEnded,
    AnswerStarted,
    Event,
    Failed,
    Heard,
    Notice,
    PartialHeard,
    SpeechDelta,
    ThinkingDelta,
    ToolCall,
    ToolResult,
    TurnDropped,
    TurnReopened,
)


def shown(*events: Event) -> list[Shown]:
    script = Script()
    return [part for event in events for part in script.push(event)]


def test_a_typed_question_is_answered_below_it():
    assert shown(
        Heard(1, "hello", "en", 0.0, typed=True),
        AnswerStarted(1, 0.0),
        ThinkingDelta("hm"),
        SpeechDelta("Hel"),
        SpeechDelta("lo."),
        AnswerEnded(1, "Hello.", 1.0),
    ) == [Listening(""), Asked("hello", typed=True), Thought("hm"), Said("Hel"), Said("lo."), Ended("Hello.", False)]


def test_an_answer_prepared_early_is_shown_when_its_question_is_over():
    assert shown(
        PartialHeard("what time", 0.5),
        AnswerStarted(1, 1.0),
        SpeechDelta("It is "),
        Heard(1, "what time is it", "en", 1.2),
        SpeechDelta("ten."),
    ) == [
        Listening("what time"),
        Listening(""),
        Asked("what time is it", typed=False),
        Said("It is "),
        Said("ten."),
    ]


def test_an_answer_to_a_question_that_went_on_is_never_shown():
    assert shown(
        AnswerStarted(1, 1.0),
        SpeechDelta("Wrong"),
        TurnReopened(1.1),
        SpeechDelta(" still coming"),
        AnswerStarted(1, 2.0),
        SpeechDelta("Right."),
        Heard(1, "all of it", "en", 2.1),
    ) == [Listening(""), Asked("all of it", typed=False), Said("Right.")]


def test_tools_troubles_notices_and_murmurs():
    call = ToolCall("1", "clock", "{}")
    assert shown(
        Heard(1, "time?", "en", 0.0),
        call,
        ToolResult(call, "ten"),
        Failed(ServerError("The server is gone.", "Start it."), 1.0),
        AnswerEnded(1, "", 1.0, interrupted=True),
        Notice("The microphone is back.", 2.0),
        TurnDropped("a murmur", "mhm", 3.0),
    )[2:] == [
        Used("clock", "{}", result=False),
        Used("clock", "ten", result=True),
        Trouble("The server is gone.", "Start it."),
        Ended("", interrupted=False),
        Note("The microphone is back."),
        Listening(""),
    ]
