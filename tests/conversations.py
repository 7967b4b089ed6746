"""Whole turns, sound to sound: what was said into the room, what came out of the loudspeaker, what was remembered.

Every model is a double of fixed timing and time is virtual, so that each scene is the same each time. What the
loudspeaker played is read off the recording, not asked of the code under test.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pytest

from mirza.audio.base import BLOCK, MIC_RATE, Samples
from mirza.audio.echo import EchoCanceller, make_echo_canceller
from mirza.audio.files import RecordedSound
from mirza.audio.room import Room
from mirza.errors import ServerError
from mirza.events import (
    AnswerEnded,
    AnswerStarted,
    CuePlayed,
    Ducked,
    Event,
    Failed,
    Heard,
    Interrupted,
    PartialHeard,
    Resumed,
    Speaking,
    State,
    StateChanged,
    ThinkingBudgetChanged,
    ThinkingDelta,
    ToolCall,
    ToolResult,
    TurnDropped,
    TurnMeasured,
    TurnReopened,
)
from mirza.llm.base import Message, Tool
from mirza.llm.scripted import ScriptedLlm
from mirza.pipeline import Conversation
from mirza.settings import LlmSettings, SettingsTree, TurnSettings
from mirza.testing import Interject, Talk, ToneStt, ToneTts, converse, recognise, said, silence, speech

BLOCK_S = BLOCK / MIC_RATE
STORY = "Once upon a time. There was a king. He had a son."


def during(words: str, sound: Samples, *, after_s: float = 0.4) -> Interject:
    """Somebody makes `sound`, `after_s` after the piece with these `words` has become audible; once."""
    made: list[float] = []

    def interject(event: Event, room: RecordedSound) -> None:
        if isinstance(event, Speaking) and words in event.text and not made:
            made.append(event.at_s)
            room.say(sound, event.at_s + after_s)

    return interject


def roles(talk: Talk) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in talk.history]


# --- one turn --------------------------------------------------------------------------------------------------------


def test_a_question_is_heard_answered_and_remembered():
    talk = converse(said("What time is it?"), silence(3), replies=["It is late. Good night!"])

    assert talk.heard == ["What time is it?"]
    assert talk.audible == "It is late. Good night!"
    assert roles(talk) == [("user", "What time is it?"), ("assistant", "It is late. Good night!")]


def test_the_stages_of_a_turn_add_up_to_what_the_recording_shows():
    talk = converse(said("What time is it?"), silence(3), replies=["It is late."])

    (turn,) = talk.of(TurnMeasured)
    stages = [turn.end_of_turn_s, turn.stt_s, turn.first_token_s, turn.first_audio_s]
    assert sum(stage for stage in stages if stage is not None) == pytest.approx(turn.voice_to_voice_s)
    voice_end_s = np.flatnonzero(np.abs(talk.recording.microphone) > 0.05)[-1] / talk.recording.rate
    audible_s = np.flatnonzero(np.abs(talk.recording.loudspeaker) > 0.05)[0] / talk.recording.rate
    assert turn.voice_to_voice_s == pytest.approx(audible_s - voice_end_s, abs=2 * BLOCK_S)


def test_the_same_conversation_twice_is_the_same_to_the_last_event():
    def talk() -> Talk:
        return converse(said("Tell me a story"), silence(4), replies=[STORY], interject=during("king", said("mhm")))

    first, second = talk(), talk()
    assert first.events == second.events
    assert np.array_equal(first.recording.loudspeaker, second.recording.loudspeaker)


def test_silence_noise_and_a_hum_without_words_are_no_turn():
    noise = np.random.default_rng(0).normal(0, 0.003, 3 * MIC_RATE).astype(np.float32)

    assert not converse(silence(3)).events[2:-1]
    assert not converse(noise).of(Heard)
    talk = converse(speech(1), silence(2))
    assert [event.reason for event in talk.of(TurnDropped)] == ["no words"]
    assert talk.of(StateChanged)[-2].state is State.LISTENING


def test_what_is_being_said_is_shown_and_fed_to_the_model_while_the_user_talks():
    llm = Prefilled(["Done."])
    talk = converse(said("please turn on the light in the kitchen now"), silence(2), llm=llm)

    partials = [event.text for event in talk.of(PartialHeard)]
    assert len(partials) >= 2
    assert all("please turn on the light in the kitchen now".startswith(partial) for partial in partials)
    assert llm.prefilled
    assert all(text in "please turn on the light in the kitchen now" for text in llm.prefilled)


def test_gaps_between_words_put_off_nothing():
    words = ["please", "turn", "on", "the", "light", "in", "the", "kitchen", "now"]
    sound = [part for word in words for part in (said(word), silence(0.12))]
    talk = converse(*sound, silence(2), llm=Prefilled(["Done."]))
    assert talk.heard == [" ".join(words)]
    assert len(talk.of(PartialHeard)) >= 3


class Prefilled(ScriptedLlm):
    """Remembers what it was fed ahead of time."""

    def __init__(self, replies: list[str]) -> None:
        super().__init__(replies)
        self.prefilled: list[str] = []

    async def prefill(self, messages: Any, tools: Any = ()) -> None:
        self.prefilled.append(messages[-1].content)


def test_the_first_sound_comes_before_the_model_has_finished():
    llm = ScriptedLlm(["One two three. " + "More words come now. " * 20], token_s=0.1)
    talk = converse(said("count for me please"), silence(40), llm=llm)

    kinds = [type(event) for event in talk.events]
    (turn,) = talk.of(TurnMeasured)
    assert kinds.index(Speaking) < len(kinds) - 1 - kinds[::-1].index(Speaking)
    assert turn.voice_to_voice_s is not None
    assert turn.voice_to_voice_s < 2


def test_the_model_tidies_up_while_the_voice_plays_and_not_before():
    sounds: list[float] = []
    settled: list[list[float]] = []

    class Voice(ToneTts):
        async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
            async for samples in super().synthesize(text, language=language, voice=voice):
                yield samples
                sounds.append(len(samples))

    class Tidy(ScriptedLlm):
        async def settle(self) -> None:
            settled.append(list(sounds))

    converse(said("hello there"), silence(6), llm=Tidy(["Hello to you too."]), tts=Voice())
    converse(said("hello there"), silence(3), llm=Tidy(["\N{THUMBS UP SIGN}"]), tts=Voice())
    spoken, nothing_to_say = settled
    assert spoken
    assert nothing_to_say == sounds


# --- pauses ----------------------------------------------------------------------------------------------------------


def test_a_pause_inside_a_sentence_does_not_end_the_turn():
    talk = converse(
        said("tell me about"),
        silence(0.9),
        said("the king"),
        silence(3),
        replies=["Fine.", "Fine."],
        complete=[0.1, 0.9],
    )
    assert talk.heard == ["tell me about the king"]
    assert talk.audible == "Fine."


def test_a_sentence_that_breaks_off_is_waited_for_even_when_it_sounds_finished():
    talk = converse(said("I want to go and"), silence(1.2), said("see it"), silence(3), replies=["Fine."])
    assert talk.heard == ["I want to go and see it"]


def test_a_finished_sentence_is_answered_sooner_than_an_unfinished_one():
    finished = converse(said("It is over"), silence(4), replies=["Yes."], complete=[0.98])
    unsure = converse(said("It is over"), silence(4), replies=["Yes."], complete=[0.3])
    waits = [talk.of(TurnMeasured)[0].end_of_turn_s or 0.0 for talk in (finished, unsure)]
    assert waits[0] < 0.5
    assert 0.8 < waits[1] <= 2.1


def test_a_turn_that_sounds_unfinished_for_ever_is_answered_all_the_same():
    talk = converse(said("so I was thinking and"), silence(5), replies=["Go on."], complete=[0.0])
    assert talk.audible == "Go on."


def test_a_user_who_goes_on_before_the_answer_is_heard_reopens_the_turn():
    llm = ScriptedLlm(["Wrong.", "Right."], first_token_s=1.0)
    talk = converse(said("tell me a story"), silence(0.7), said("about a king"), silence(4), llm=llm)

    assert talk.of(TurnReopened)
    assert talk.heard[-1] == "tell me a story about a king"
    assert talk.audible == "Right."
    assert roles(talk) == [("user", "tell me a story about a king"), ("assistant", "Right.")]


@pytest.mark.parametrize("gap_s", [0.25, 0.35, 0.5, 0.7])
def test_a_cough_between_question_and_answer_does_not_lose_the_answer(gap_s: float):
    llm = ScriptedLlm(["Fine.", "Fine."], first_token_s=0.5)
    talk = converse(said("how are you today?"), silence(gap_s), speech(0.12), silence(4), llm=llm)
    assert talk.audible == "Fine."
    assert roles(talk) == [("user", "how are you today?"), ("assistant", "Fine.")]


def test_a_slow_recogniser_does_not_mix_up_two_turns():
    talk = converse(
        said("first question here?"),
        silence(3),
        said("second question here?"),
        silence(4),
        replies=["One.", "Two."],
        stt=ToneStt(seconds=0.9),
    )
    assert talk.heard == ["first question here?", "second question here?"]
    assert talk.audible == "One. Two."


def test_a_turn_that_never_stops_is_answered():
    settings = SettingsTree(turns=TurnSettings(max_turn_s=3))
    talk = converse(said("word " * 40), silence(4), replies=["Stop."], settings=settings)
    assert talk.heard
    assert talk.of(StateChanged)[-2].state is State.LISTENING


# --- interruptions ---------------------------------------------------------------------------------------------------


def test_speaking_over_mirza_stops_it_and_only_what_was_heard_is_remembered():
    talk = converse(
        said("tell me a story"),
        silence(2),
        replies=[STORY, "All right."],
        interject=during("There was a king", said("what about Spain?")),
    )
    (interrupted,) = talk.of(Interrupted)
    assert interrupted.heard == "Once upon a time. There was"
    assert talk.audible == "Once upon a time. There was All right."
    assert roles(talk) == [
        ("user", "tell me a story"),
        ("assistant", "Once upon a time. There was"),
        ("user", "what about Spain?"),
        ("assistant", "All right."),
    ]


def test_the_voice_is_lowered_within_a_block_of_the_first_sign_and_silent_within_a_fifth_of_a_second():
    talk = converse(
        said("tell me a story"),
        silence(2),
        replies=[STORY, "All right."],
        interject=during("There was a king", said("what about Spain?"), after_s=0.41),
    )
    began_s = talk.of(Speaking)[1].at_s + 0.41
    (ducked,) = talk.of(Ducked)
    assert ducked.at_s - began_s <= 2 * BLOCK_S  # the block in which it began, and that it was heard
    assert talk.loud(began_s + 0.2, began_s + 1.0) == 0.0


def test_once_an_interruption_is_confirmed_there_is_silence_within_one_block():
    for after_s in np.arange(0.1, 0.9, 0.1):
        talk = converse(
            said("tell me a story"),
            silence(2),
            replies=[STORY, "All right."],
            interject=during("There was a king", said("what about Spain?"), after_s=float(after_s)),
        )
        (interrupted,) = talk.of(Interrupted)
        assert talk.loud(interrupted.at_s + BLOCK_S, interrupted.at_s + 0.5) == 0.0


@pytest.mark.parametrize("sound", [said("mhm", word_s=0.3), said("okay"), said("haha haha"), speech(0.4)])
def test_assent_laughter_and_noise_do_not_stop_it_and_the_sentence_goes_on(sound: Samples):
    talk = converse(said("tell me a story"), silence(2), replies=[STORY], interject=during("There was a king", sound))

    assert talk.of(Resumed)
    assert not talk.of(Interrupted)
    assert talk.audible == STORY
    assert talk.heard == ["tell me a story"]


@pytest.mark.parametrize("word", ["stop", "Stop!", "wait", "arrête"])
def test_stop_stops_it_and_gets_no_answer(word: str):
    stt = ToneStt(language="fr" if word == "arrête" else "en")
    settings = SettingsTree()
    settings.stt.language = "auto"
    talk = converse(
        said("tell me a story"),
        silence(2),
        replies=[STORY, "Never."],
        stt=stt,
        settings=settings,
        interject=during("There was a king", said(word, word_s=0.35)),
    )
    assert talk.audible == "Once upon a time. There was"
    assert talk.heard == ["tell me a story"]
    assert talk.history[-1] == Message("assistant", "Once upon a time. There was")
    assert talk.of(StateChanged)[-2].state is State.LISTENING


def test_an_interruption_before_the_first_sound_leaves_no_empty_answer():
    llm = ScriptedLlm(["Slow.", "Quick."], first_token_s=3.0)
    talk = converse(said("tell me a story"), silence(2.9), said("what about Spain?"), silence(6), llm=llm)

    assert roles(talk)[:2] == [("user", "tell me a story"), ("user", "what about Spain?")]
    assert all(content for _, content in roles(talk))


def test_an_interruption_in_the_last_word_keeps_the_whole_answer():
    talk = converse(
        said("say it please"),
        silence(2),
        replies=["Done now.", "Yes."],
        interject=during("Done now", said("really are you sure?"), after_s=0.25),
    )
    assert talk.of(Interrupted)[0].heard == "Done now."


def test_words_of_a_cancelled_answer_never_come_up_in_the_next():
    talk = converse(
        said("tell me a story"),
        silence(2),
        replies=[STORY * 5, "Madrid is nice."],
        interject=during("There was a king", said("what about Spain?")),
    )
    interrupted = talk.of(Interrupted)[0]
    assert talk.audible_from(interrupted.at_s + 0.05) == "Madrid is nice."


def test_with_barge_in_off_the_answer_is_spoken_to_its_end():
    settings = SettingsTree(turns=TurnSettings(barge_in=False))
    talk = converse(
        said("tell me a story"),
        silence(2),
        replies=[STORY],
        settings=settings,
        interject=during("There was a king", said("what about Spain?")),
    )
    assert talk.audible == STORY


KINGS = "Once upon a time there was a king. He had a big house, he had two old dogs, and he had a son."


BREAD = "It takes twenty minutes to bake a good loaf of bread."


def pieces(token_s: float, answer: str = KINGS) -> list[str]:
    """What is spoken one after the other by a model that takes `token_s` a word; a word is heard for 0.25 s."""
    talk = converse(said("tell me a story"), silence(3), llm=ScriptedLlm([answer], token_s=token_s, first_token_s=0.1))
    assert talk.audible == answer
    return [event.text.strip() for event in talk.of(Speaking)]


def test_a_model_that_is_slower_than_the_voice_is_heard_clause_by_clause():
    assert pieces(0.3) == [
        "Once upon a time there was a king.",
        "He had a big house,",
        "he had two old dogs,",
        "and he had a son.",
    ]


def test_a_first_sentence_that_comes_slowly_is_heard_from_its_first_phrase_on():
    assert pieces(0.12, BREAD) == ["It takes twenty minutes", "to bake a good loaf of bread."]


def test_one_that_comes_quickly_is_heard_whole():
    assert pieces(0.02, BREAD) == [BREAD]


def test_one_that_is_quicker_is_heard_sentence_by_sentence():
    assert pieces(0.05) == [
        "Once upon a time there was a king.",
        "He had a big house, he had two old dogs, and he had a son.",
    ]


# --- its own voice ---------------------------------------------------------------------------------------------------


ECHOES = [(-20.0, 0.02), (-20.0, 0.3), (-12.0, 0.08), (-6.0, 0.02), (-6.0, 0.3)]


@pytest.mark.parametrize("canceller", [make_echo_canceller, lambda: EchoCanceller(None)], ids=["speex", "guard alone"])
@pytest.mark.parametrize(("gain_db", "delay_s"), ECHOES)
def test_its_own_voice_in_the_room_is_no_user(gain_db: float, delay_s: float, canceller: Callable[[], EchoCanceller]):
    long_story = STORY + " The son was very tall. He liked to read. The end of this story is near."
    talk = converse(
        said("tell me a story"), silence(3), replies=[long_story], room=Room(gain_db, delay_s), echo=canceller()
    )
    assert talk.heard == ["tell me a story"]
    assert not talk.of(Interrupted)
    assert [word for word, _ in groupby(talk.audible.split())] == long_story.split()


def test_a_user_may_repeat_what_was_said():
    talk = converse(
        said("what is the capital?"),
        silence(3.5),
        said("the capital is Paris?"),
        silence(3),
        replies=["The capital is Paris.", "Yes."],
    )
    assert talk.heard == ["what is the capital?", "the capital is Paris?"]


# --- thinking --------------------------------------------------------------------------------------------------------


def test_thoughts_are_never_spoken_and_never_remembered():
    llm = ScriptedLlm(["The answer."], thought="secret thought " * 10, token_s=0.01)
    settings = SettingsTree(llm=LlmSettings(thinking_budget="8"))
    talk = converse(said("why is it so?"), silence(3), llm=llm, settings=settings)

    assert len(talk.of(ThinkingDelta)) == 8
    assert talk.audible == "The answer."
    assert talk.history[-1].content == "The answer."


def test_a_spoken_request_changes_the_budget():
    talk = converse(
        said("Think carefully: why is it so?"),
        silence(3),
        said("Just answer: what is it?"),
        silence(3),
        replies=["Because.", "That."],
    )
    assert [event.budget for event in talk.of(ThinkingBudgetChanged)] == ["512 tokens", "off"]


def test_just_answer_into_a_long_thought_ends_the_thought_and_not_the_answer():
    llm = ScriptedLlm(["Forty two."], thought="hmm " * 200, token_s=0.1)
    settings = SettingsTree(llm=LlmSettings(thinking_budget="200"))
    settings.conversation.cue_after_s = 0
    talk = converse(
        said("what is the answer?"), silence(4), said("just answer"), silence(4), llm=llm, settings=settings
    )

    assert len(talk.of(ThinkingDelta)) < 80
    assert talk.audible == "Forty two."
    assert roles(talk) == [("user", "what is the answer?"), ("assistant", "Forty two.")]


def test_a_long_thought_is_announced_and_the_cue_is_never_the_same_twice_running():
    llm = ScriptedLlm(["One.", "Two.", "Three."], thought="hmm " * 30, token_s=0.1)
    settings = SettingsTree(llm=LlmSettings(thinking_budget="30"))
    talk = converse(
        said("first question?"),
        silence(8),
        said("second question?"),
        silence(8),
        said("third question?"),
        silence(8),
        llm=llm,
        settings=settings,
    )
    cues = [event.text for event in talk.of(CuePlayed)]
    assert len(cues) >= 2
    assert all(one != two for one, two in pairwise(cues))
    assert all(cue not in message.content for cue in cues for message in talk.history)


# --- tools -----------------------------------------------------------------------------------------------------------


async def light(arguments: dict[str, Any]) -> str:
    return f"{arguments['room']} is lit"


async def slow(arguments: dict[str, Any]) -> str:
    await asyncio.sleep(60)
    return "never"


CALL = ToolCall("1", "light", '{"room": "kitchen"}')


def test_a_tool_is_called_and_its_json_is_never_spoken():
    talk = converse(
        said("light the kitchen please"),
        silence(3),
        replies=[("One moment. ", CALL), "It is lit."],
        tools=[Tool("light", "Lights a room", light)],
    )
    assert [result.content for result in talk.of(ToolResult)] == ["kitchen is lit"]
    assert talk.audible == "One moment. It is lit."
    assert [message.role for message in talk.history] == ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize("arguments", ['{"city": "Par', "[]", "{}", '{"room": '])
def test_a_tool_called_wrongly_answers_with_what_was_wrong(arguments: str):
    talk = converse(
        said("light the kitchen please"),
        silence(3),
        replies=[ToolCall("1", "light", arguments), "Sorry."],
        tools=[Tool("light", "Lights a room", light)],
    )
    assert talk.of(ToolResult)[0].failed
    assert talk.audible == "Sorry."


def test_an_interrupted_tool_call_has_an_answer_in_the_history():
    call = ToolCall("7", "slow", "{}")
    talk = converse(
        said("do the slow thing"),
        silence(2),
        replies=[("Wait for it. ", call), "What?"],
        tools=[Tool("slow", "Never ends", slow)],
        interject=during("Wait for it", said("stop", word_s=0.4), after_s=1.5),
    )
    calls = [call.id for message in talk.history for call in message.tool_calls]
    answers = [message.tool_call_id for message in talk.history if message.role == "tool"]
    assert calls == answers == ["7"]
    assert talk.of(StateChanged)[-2].state is State.LISTENING


# --- other ways in ---------------------------------------------------------------------------------------------------


def test_typing_in_the_middle_of_a_spoken_conversation_is_the_same_conversation():
    async def type_something(conversation: Conversation) -> None:
        await conversation.pass_time(5)
        await conversation.say("and what do you think?")

    talk = converse(
        said("what time is it?"),
        silence(10),
        said("are you sure?"),
        silence(3),
        replies=["It is late.", "I think so.", "Yes."],
        drive=type_something,
    )
    assert talk.heard == ["what time is it?", "and what do you think?", "are you sure?"]
    assert talk.audible == "It is late. I think so. Yes."
    assert [typed.typed for typed in talk.of(Heard)] == [False, True, False]


def test_typing_over_the_voice_interrupts_it():
    async def type_something(conversation: Conversation) -> None:
        await conversation.pass_time(3.1)
        await conversation.say("what about Spain?")

    talk = converse(said("tell me a story"), silence(3), replies=[STORY, "All right."], drive=type_something)
    assert roles(talk)[1] == ("assistant", "Once upon a time. There was")
    assert talk.audible == "Once upon a time. There was All right."


@pytest.mark.parametrize("typed_s", [0.5, 1.0, 1.5, 2.0, 2.3, 2.5, 2.6, 2.7, 2.8, 2.9, 3.0])
def test_typing_while_somebody_speaks_loses_neither_question(typed_s: float):
    async def type_something(conversation: Conversation) -> None:
        await conversation.pass_time(typed_s)
        await conversation.say("what about Spain?")

    question = "please turn on the light in the kitchen now"
    talk = converse(silence(0.2), said(question), silence(9), replies=["One.", "Two.", "Three."], drive=type_something)
    assert not talk.of(Failed)
    assert sorted(talk.heard) == sorted(["what about Spain?", question])
    assert [role for role in roles(talk) if role[0] == "user"] == [("user", text) for text in talk.heard]
    assert roles(talk)[-1][0] == "assistant"
    assert talk.audible.endswith(roles(talk)[-1][1])
    assert talk.of(StateChanged)[-2].state is State.LISTENING


def test_a_question_that_is_stopped_before_its_answer_begins_is_over():
    async def stop_at_once(conversation: Conversation) -> None:
        asking = asyncio.create_task(conversation.say("what about Spain?"))
        await asyncio.sleep(0)
        await conversation.interrupt()
        await asking
        assert conversation.state is State.LISTENING

    talk = converse(silence(2), replies=[STORY], drive=stop_at_once)
    assert [ended.interrupted for ended in talk.of(AnswerEnded)] == [True]


def test_taking_back_while_typing_leaves_questions_and_answers_in_pairs():
    async def type_and_take_back(conversation: Conversation) -> None:
        await conversation.pass_time(3.5)  # in the middle of the first answer
        asking = asyncio.create_task(conversation.say("what about Spain?"))
        await asyncio.sleep(0)
        await conversation.undo()
        await asking

    talk = converse(said("tell me a story"), silence(9), replies=[STORY, "All right."], drive=type_and_take_back)
    assert [role for role, _ in roles(talk)] in ([], ["user", "assistant"])
    assert not talk.of(Failed)


def test_a_noise_that_is_no_turn_leaves_the_answer_to_what_was_typed_alone():
    async def type_something(conversation: Conversation) -> None:
        await conversation.pass_time(1.0)
        await conversation.say("tell me a story")

    talk = converse(speech(1.2), silence(12), replies=[STORY], drive=type_something)
    assert [event.reason for event in talk.of(TurnDropped)] == ["no words"]
    assert talk.audible == STORY
    assert [change.state for change in talk.of(StateChanged)][-3:-1] == [State.SPEAKING, State.LISTENING]


def test_a_muted_microphone_hears_nothing():
    async def mute(conversation: Conversation) -> None:
        conversation.set_muted(True)
        await conversation.pass_time(3)
        conversation.set_muted(False)

    talk = converse(said("do not hear this"), silence(3), said("hear this please"), silence(3), drive=mute)
    assert talk.heard == ["hear this please"]


def test_push_to_talk_listens_only_while_the_key_is_held():
    async def press(conversation: Conversation) -> None:
        await conversation.pass_time(2.0)
        conversation.set_talking(True)
        await conversation.pass_time(1.6)
        conversation.set_talking(False)

    settings = SettingsTree(turns=TurnSettings(push_to_talk=True))
    talk = converse(
        said("not for you"),
        silence(1.5),
        said("but this is for you"),
        silence(3),
        replies=["Yes."],
        settings=settings,
        drive=press,
    )
    assert talk.heard == ["but this is for you"]
    assert talk.audible == "Yes."


class ToneWakeWord:
    """Hears one word of the doubles' language."""

    def __init__(self, word: str) -> None:
        self._word, self._recent = word, silence(0)

    def heard(self, samples: Samples) -> bool:
        self._recent = np.concatenate([self._recent, samples])[-MIC_RATE // 2 :]
        found = any(word == self._word for word, _ in recognise(self._recent))
        if found:
            self._recent = silence(0)
        return found


def test_with_a_wake_word_it_listens_only_when_called_and_for_a_while_after():
    talk = converse(
        said("nobody asked you"),
        silence(3),
        said("mirza"),
        silence(0.2),
        said("what time is it?"),
        silence(4),
        said("are you sure?"),
        silence(14),
        said("this is private"),
        silence(3),
        replies=["It is late.", "Yes."],
        wake_word=ToneWakeWord("mirza"),
    )
    assert [heard.removeprefix("mirza ") for heard in talk.heard] == ["what time is it?", "are you sure?"]


def test_escape_stops_the_answer_and_keeps_what_was_heard():
    async def escape(conversation: Conversation) -> None:
        await conversation.pass_time(3.1)
        await conversation.interrupt()

    talk = converse(said("tell me a story"), silence(3), replies=[STORY], drive=escape)
    assert talk.audible == "Once upon a time. There was"
    assert talk.history[-1].content == talk.audible


def test_a_question_that_is_stopped_while_the_model_tidies_up_leaves_no_state_behind():
    class Slow(ScriptedLlm):
        async def rewind(self, heard: str) -> None:
            await asyncio.sleep(3)

    async def stop_twice(conversation: Conversation) -> None:
        await conversation.pass_time(3.1)
        conversation._answers.interrupt()  # as a voice does, which does not wait for the tidying up
        asking = asyncio.create_task(conversation.say("what about Spain?"))
        await conversation.pass_time(0.5)
        await conversation.interrupt()
        await asking

    llm = Slow([STORY, "Never."], token_s=0.05)
    talk = converse(said("tell me a story"), silence(8), llm=llm, drive=stop_twice)
    assert [ended.interrupted for ended in talk.of(AnswerEnded)] == [True, True]
    assert roles(talk)[-1] == ("user", "what about Spain?")
    assert talk.of(StateChanged)[-2].state is State.LISTENING


def test_retry_undo_and_reset():
    async def change(conversation: Conversation) -> None:
        await conversation.say("one?")
        await conversation.retry()
        await conversation.say("two?")
        assert await conversation.undo() == "two?"

    talk = converse(silence(1), replies=["First.", "Better.", "Second."], drive=change)
    assert roles(talk) == [("user", "one?"), ("assistant", "Better.")]


def test_the_voice_follows_the_language_that_was_heard():
    class Spoken(ToneTts):
        async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
            languages.append(language)
            async for samples in super().synthesize(text, language=language, voice=voice):
                yield samples

    languages: list[str] = []
    settings = SettingsTree()
    settings.stt.language = "auto"
    converse(
        said("Quelle heure est-il ?"),
        silence(3),
        replies=["Il est tard."],
        stt=ToneStt(language="fr"),
        tts=Spoken(),
        settings=settings,
    )
    assert languages == ["fr"]


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", ["😀", "```", "...", "", "**"])
def test_an_answer_with_nothing_to_say_ends_the_turn(reply: str):
    talk = converse(said("say nothing please"), silence(2), said("and now?"), silence(3), replies=[reply, "Now."])
    assert talk.audible == "Now."


def test_a_model_that_fails_is_said_so_and_the_conversation_goes_on():
    gone = ServerError("The server is gone.", "Start it again.")
    talk = converse(
        said("first question?"),
        silence(3),
        said("second question?"),
        silence(3),
        replies=[gone, gone, "Here I am."],
    )
    assert [str(event.error) for event in talk.of(Failed)] == ["The server is gone. Start it again."]
    assert talk.audible == "Here I am."


def test_a_model_that_fails_ahead_of_time_only_is_asked_again():
    gone = ServerError("The server is gone.", "Start it again.")
    talk = converse(said("first question?"), silence(3), replies=[gone, "Here I am."])
    assert not talk.of(Failed)
    assert talk.audible == "Here I am."


def test_a_judge_that_fails_is_told_and_the_question_answered_when_its_time_is_up():
    talk = converse(
        said("hello there"),
        silence(4),
        said("hello again"),
        silence(4),
        replies=["Hi.", "Hi again."],
        complete=(ServerError("The judge is gone.", "Start it again."), 0.95),
    )
    assert [str(event.error) for event in talk.of(Failed)] == ["The judge is gone. Start it again."]
    assert talk.answers == ["Hi.", "Hi again."]
    assert talk.audible == "Hi. Hi again."


def test_a_recogniser_that_fails_is_said_so_and_the_conversation_goes_on():
    class Flaky(ToneStt):
        async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Any:
            heard = await super().transcribe(samples, language=language, partial=partial)
            if "first" in heard.text:
                raise ServerError("The recogniser is gone.")
            return heard

    talk = converse(
        said("first question?"), silence(3), said("second question?"), silence(3), replies=["Here."], stt=Flaky()
    )
    assert talk.of(Failed)
    assert talk.audible == "Here."


# --- many, at random -------------------------------------------------------------------------------------------------


def _random_talk(seed: int) -> tuple[Talk, list[str]]:
    """Half a minute of a conversation in which people speak and type whenever they like."""
    rng = random.Random(seed)
    questions = [f"question number {rng.randrange(100)} is this?" for _ in range(rng.randrange(1, 4))]
    # Each word in one answer only, so that what was played can be told apart.
    replies = [f"Soo{k} begin{k} answer{k}. It{k} goes{k} onn{k}. Andd{k} itt{k} end{k}." for k in "bdfgklmnp"]
    sounds: list[Samples] = []
    for question in questions:
        sounds += [said(question), silence(rng.uniform(0.1, 5.0))]
    extra = [said("stop", word_s=0.35), said("mhm"), speech(rng.uniform(0.05, 0.6)), said("what about that one?")]
    made = 0

    def interject(event: Event, room: RecordedSound) -> None:
        nonlocal made
        if isinstance(event, (AnswerStarted, Speaking, Heard, Resumed)) and rng.random() < 0.4 and made < 4:
            made += 1
            room.say(rng.choice(extra), room.now_s() + rng.uniform(0.0, 1.5))

    typed = [rng.uniform(0.2, 4.0) for _ in range(rng.randrange(3))] if seed % 2 else []

    async def type_something(conversation: Conversation) -> None:
        for pause_s in typed:
            await conversation.pass_time(pause_s)
            await conversation.say("what about something typed?")

    llm = ScriptedLlm(replies, token_s=rng.choice([0.01, 0.05, 0.2]), first_token_s=rng.choice([0.05, 0.3, 1.5]))
    talk = converse(
        *sounds,
        silence(1),
        llm=llm,
        complete=[rng.random() for _ in range(20)],
        interject=interject,
        stt=ToneStt(seconds=rng.uniform(0.02, 0.5)),
        tts=ToneTts(seconds=rng.uniform(0.02, 0.6)),
        drive=type_something,
    )
    assert talk.heard.count("what about something typed?") == len(typed), seed
    return talk, replies


@pytest.mark.parametrize("batch", range(10))
def test_whenever_people_speak_it_ends_in_a_right_state_with_a_right_history(batch: int):
    for seed in range(batch * 20, batch * 20 + 20):
        talk, replies = _random_talk(seed)

        assert not talk.of(Failed), seed
        assert talk.of(StateChanged)[-2].state is State.LISTENING, seed
        answers = [message.content for message in talk.history if message.role == "assistant"]
        assert all(answer and any(reply.startswith(answer) for reply in replies) for answer in answers), seed
        _assert_played_is_remembered(talk, answers, seed)


def _assert_played_is_remembered(talk: Talk, answers: list[str], seed: int) -> None:
    """What the history holds is what the loudspeaker played, give or take the word in which an answer was cut."""
    played = [word for word, _ in groupby(talk.audible.split())]  # a word held in its middle is played in two parts
    kept = " ".join(answers).split()
    cuts = len(talk.of(Interrupted)) + len(talk.of(TurnReopened))
    assert [word for word in kept if word not in played] == [] or cuts, seed
    assert abs(len(kept) - len(played)) <= cuts, (seed, played, kept)
