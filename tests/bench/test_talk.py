"""Scripted talks: who speaks when, and what is read off the recording. With doubles, in virtual time."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirza import cli
from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.files import Recording
from mirza.bench.askers import cough, noise, sound_name, telephone
from mirza.bench.conductor import Conductor
from mirza.bench.judge import judge
from mirza.bench.measure import outcomes, spans
from mirza.bench.patient import Busy, patient_llm, run_patiently
from mirza.bench.reader import Reader
from mirza.bench.room import StagedSound
from mirza.bench.script import TALKS, Line, Means, Script, read_scripts
from mirza.bench.stereo import read_stereo
from mirza.bench.take import PlacedLine, Take, Turn
from mirza.bench.talk import settings_for
from mirza.bench.talk_report import in_words, summed_up
from mirza.bench.theatre import Notes
from mirza.bench.turn_table import spoken_turns
from mirza.bench.words import errors, plain_words, word_error_rate
from mirza.errors import BadRecording, MirzaError
from mirza.llm.base import Message, collect
from mirza.llm.scripted import ScriptedLlm
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree
from mirza.testing import LoudnessVad, ScriptedEndOfTurn, ToneStt, ToneTts, run_virtual, said, silence, speech

STORY = "Once upon a time. There was a king. He had a son. The son had a horse."


def script(*lines: Line, **more: object) -> Script:
    return Script.model_validate({"name": "test", "lines": lines, **more})


def held(
    wanted: Script,
    tmp_path: Path,
    *,
    replies: list[str] | None = None,
    stt: ToneStt | None = None,
    complete: tuple[float, ...] = (0.95,),
) -> tuple[Take, Recording]:
    """A scripted talk with doubles: the take, and the recording as it is read back from its file."""
    return run_virtual(_hold(wanted, tmp_path / "take.wav", replies or ["Fine."], stt, complete))


async def _hold(
    wanted: Script, file: Path, replies: list[str], stt: ToneStt | None, complete: tuple[float, ...]
) -> tuple[Take, Recording]:
    sound = StagedSound(wanted, [cough() if line.sound else said(line.text) for line in wanted.lines])
    take = Take(system="mirza", script=wanted.name, recording=str(file))
    llm = ScriptedLlm(replies, token_s=0.05, first_token_s=0.1)
    parts = Parts(llm, sound, LoudnessVad(), ScriptedEndOfTurn(complete), stt or ToneStt(), ToneTts())
    conversation = Conversation(parts, SettingsTree())
    sound.idle = conversation.idle
    events, notes = conversation.watch(), Notes(take)

    async def watch() -> None:
        async for event in events:
            notes.note(event, conversation.now_s())

    watching = asyncio.create_task(watch())
    async with conversation:
        await conversation.finished()
    await watching
    sound.write(file)
    take.place(sound.conductor.placed, sound.conductor.missed)
    take.underruns = sound.player.underruns
    return take, read_stereo(file)


# --- a whole talk ----------------------------------------------------------------------------------------------------


def test_an_answer_is_timed_from_the_last_sample_of_the_question_to_its_own_first(tmp_path: Path):
    wanted = script(Line(text="what time is it?"))
    take, recording = held(wanted, tmp_path)

    (outcome,) = outcomes(wanted, take, recording.loudspeaker, recording.rate)
    voice = np.flatnonzero(np.abs(recording.microphone) > 0.01)[-1] / recording.rate
    answer = np.flatnonzero(np.abs(recording.loudspeaker) > 0.01)[0] / recording.rate
    assert outcome.voice_to_voice_s == pytest.approx(answer - voice, abs=0.005)
    assert take.placed[0].voice_end_s == pytest.approx(voice, abs=0.002)


async def test_a_talk_as_it_should_be_has_no_faults(tmp_path: Path):
    wanted = script(
        Line(text="what time is it?"),
        Line(text="and now?", after_answer=1.0),
        within_s=2.0,
    )
    take, recording = await asyncio.to_thread(held, wanted, tmp_path, replies=["It is late.", "Later."])

    verdict = await judge(wanted, take, recording.loudspeaker, recording.rate, None)
    assert verdict.faults == []
    assert (verdict.turns_heard, verdict.turns_expected) == (2, 2)
    assert verdict.heard_wer == 0
    assert len(verdict.end_of_turn_s) == len(verdict.first_token_s) == 2


async def test_an_interruption_is_timed_to_silence_and_its_own_answer(tmp_path: Path):
    wanted = script(
        Line(text="tell me a story"),
        Line(text="what about Spain?", means=Means.INTERRUPTION, into_answer=1.2),
        silent_within_s=0.2,
    )
    take, recording = await asyncio.to_thread(held, wanted, tmp_path, replies=[STORY, "Spain is nice."])

    verdict = await judge(wanted, take, recording.loudspeaker, recording.rate, None)
    assert verdict.faults == []
    silence_s, duck_s = verdict.outcomes[1].silence_s, verdict.outcomes[1].duck_s
    assert silence_s is not None
    assert duck_s is not None
    assert 0 < silence_s <= 0.2
    assert duck_s <= silence_s
    assert verdict.outcomes[1].voice_to_voice_s is not None


async def test_a_stop_that_does_not_stop_is_missed(tmp_path: Path):
    wanted = script(Line(text="tell me a story"), Line(text="stop", means=Means.STOP, into_answer=1.0))
    take, recording = await asyncio.to_thread(held, wanted, tmp_path, replies=[STORY * 3], stt=Deaf())

    verdict = await judge(wanted, take, recording.loudspeaker, recording.rate, None)
    assert verdict.count("missed") == 1
    assert "'stop' did not interrupt" in verdict.faults


class Deaf(ToneStt):
    """Understands nothing of what is said over the assistant."""

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False):
        heard = await super().transcribe(samples, language=language, partial=partial)
        return heard if "story" in heard.text else type(heard)("", "en")


@pytest.mark.parametrize("line", [Line(text="mhm", means=Means.NOTHING), Line(sound="cough", means=Means.NOTHING)])
async def test_assent_and_a_cough_stop_nothing(tmp_path: Path, line: Line):
    wanted = script(Line(text="tell me a story"), line.model_copy(update={"into_answer": 1.2}))
    take, recording = await asyncio.to_thread(held, wanted, tmp_path, replies=[STORY * 2])

    verdict = await judge(wanted, take, recording.loudspeaker, recording.rate, None)
    assert verdict.count("false_stop") == 0
    assert verdict.turns_heard == 1


async def test_a_turn_cut_off_in_its_pause_is_seen_on_the_recording(tmp_path: Path):
    wanted = script(Line(text="tell me about", means=Means.PART), Line(text="the king", pause=3.5))
    take, recording = await asyncio.to_thread(held, wanted, tmp_path, replies=["Well.", "Well well."])

    verdict = await judge(wanted, take, recording.loudspeaker, recording.rate, None)
    assert verdict.count("cut_off") == 1
    assert verdict.turns_heard == 2
    assert any(fault.startswith("2 turns instead of 1") for fault in verdict.faults)


async def test_a_pause_that_is_waited_for_is_no_cut_off(tmp_path: Path):
    wanted = script(Line(text="tell me about", means=Means.PART), Line(text="the king", pause=0.9))
    take, recording = await asyncio.to_thread(held, wanted, tmp_path, complete=(0.1, 0.9))

    verdict = await judge(wanted, take, recording.loudspeaker, recording.rate, None)
    assert verdict.faults == []
    assert verdict.heard == ["tell me about the king"]


def test_a_script_with_a_noisy_room_ends_all_the_same(tmp_path: Path):
    take, recording = held(script(Line(text="what time is it?"), noise_db=-50), tmp_path)

    assert len(take.turns) == 1
    quiet = recording.microphone[: round(0.4 * recording.rate)]
    assert np.sqrt(np.mean(quiet**2)) == pytest.approx(10 ** (-50 / 20), rel=0.5)


# --- who speaks when -------------------------------------------------------------------------------------------------


def conducted(wanted: Script, loudspeaker: Samples, *, idle: bool = True) -> Conductor:
    """A conductor who has heard this loudspeaker to its end."""
    conductor = Conductor(wanted, [said(line.text) for line in wanted.lines])
    for first in range(0, len(loudspeaker), 512):
        conductor.hear(loudspeaker[first : first + 512], (first + 512) / MIC_RATE, idle=idle)
    return conductor


def test_a_line_is_said_as_long_after_the_first_sound_of_the_answer_as_the_script_wants():
    wanted = script(Line(text="tell me"), Line(text="stop", means=Means.STOP, into_answer=1.5))
    conductor = conducted(wanted, np.concatenate([silence(2), speech(4)]))
    assert conductor.placed[1].at_s == pytest.approx(2 + 1.5, abs=0.01)


def test_a_pause_is_counted_from_the_last_audible_sample_of_the_line_before():
    wanted = script(Line(text="tell me", means=Means.PART), Line(text="more", pause=0.75))
    conductor = conducted(wanted, silence(4))
    assert conductor.placed[1].at_s == pytest.approx(conductor.placed[0].voice_end_s + 0.75, abs=1e-4)


def test_the_silence_between_two_sentences_of_an_answer_is_not_its_end():
    wanted = script(Line(text="tell me"), Line(text="thanks", after_answer=0.5))
    answer = np.concatenate([silence(2), speech(1), silence(3), speech(1)])
    assert len(conducted(wanted, answer, idle=False).placed) == 1
    assert len(conducted(wanted, answer).placed) == 2


def test_an_answer_too_short_to_be_interrupted_is_said_so():
    wanted = script(Line(text="tell me"), Line(text="stop", means=Means.STOP, into_answer=3))
    conductor = conducted(wanted, np.concatenate([silence(2), speech(0.5), silence(6)]))
    assert conductor.missed == [1]


def test_nobody_waits_for_ever_for_an_answer_that_does_not_come():
    wanted = script(Line(text="tell me"), Line(text="hello", after_answer=0.5))
    conductor = conducted(wanted, silence(60))
    assert len(conductor.placed) == 2
    assert conductor.over(idle=True)


# --- what is read off a recording ------------------------------------------------------------------------------------


def test_the_loudspeaker_is_heard_in_stretches_and_short_pauses_are_part_of_them():
    sound = np.concatenate([silence(1), speech(1), silence(0.2), speech(1), silence(0.5), speech(0.5)])
    assert [(round(span.start_s, 1), round(span.end_s, 1)) for span in spans(sound, MIC_RATE)] == [(1, 3.2), (3.7, 4.2)]
    assert spans(silence(1), MIC_RATE) == []


def test_ducking_is_the_moment_from_which_on_the_voice_stays_at_half_its_level():
    loud, low = speech(2), 0.3 * speech(0.5)
    wanted = script(Line(text="a"), Line(text="b", means=Means.STOP, into_answer=1))
    take = Take(system="x", script="test")
    take.placed = [
        PlacedLine(line=0, at_s=0, voice_start_s=0, voice_end_s=0.5),
        PlacedLine(line=1, at_s=2.9, voice_start_s=2.9, voice_end_s=3.2),
    ]
    sound = np.concatenate([silence(1), loud, low, silence(2)])
    outcome = outcomes(wanted, take, sound, MIC_RATE)[1]
    assert outcome.duck_s == pytest.approx(0.1, abs=0.02)
    assert outcome.silence_s == pytest.approx(0.6, abs=0.01)


def test_a_wrong_file_is_no_recording_of_a_talk(tmp_path: Path):
    (tmp_path / "noise.wav").write_bytes(b"nothing")
    with pytest.raises(BadRecording, match="cannot be read"):
        read_stereo(tmp_path / "noise.wav")


# --- words -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), st.lists(st.sampled_from("abcd"), max_size=8))
def test_word_errors_are_those_of_the_library_that_everyone_uses(expected: list[str], got: list[str]):
    rate = jiwer.wer(" ".join(expected), " ".join(got)) if got else 1.0
    assert errors(expected, got) / len(expected) == pytest.approx(rate)


def test_numbers_case_and_punctuation_are_no_word_errors():
    assert word_error_rate("It costs 25 dollars, Anna.", "it costs twenty-five dollars anna") == 0
    assert plain_words("Don't!") == ["don't"]
    assert word_error_rate("", "") == 0


# --- scripts ---------------------------------------------------------------------------------------------------------


def test_every_script_of_the_repository_is_one_and_its_lines_have_recordings():
    scripts = read_scripts(TALKS) + read_scripts(TALKS, ["echo-half-hour"])
    assert {one.group for one in scripts} >= {
        "question",
        "pause",
        "interruption",
        "assent",
        "echo",
        "condition",
        "prefill",
    }
    for one in scripts:
        assert settings_for(one, SettingsTree()).llm.temperature == 0
        assert one.compare_with in {"", *(other.name for other in scripts)}
        for line in one.lines:
            assert line.sound == "cough" or (TALKS / "sounds" / f"{sound_name(line)}.flac").exists(), line.text


def test_a_folder_without_scripts_and_a_wrong_script_are_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "talk", "--talks", str(tmp_path / "none")]) == 1
    assert "no folder of scripted conversations" in capsys.readouterr().err
    with pytest.raises(MirzaError, match="no scripted conversation"):
        read_scripts(tmp_path)
    (tmp_path / "one.yaml").write_text("lines: [{text: a, at: 1, pause: 2}]")
    with pytest.raises(MirzaError, match=r"one.yaml is no script: lines.0.*one of at"):
        read_scripts(tmp_path)
    (tmp_path / "one.yaml").write_text("lines: [{text: a, means: part}]")
    with pytest.raises(MirzaError, match="rest of the question is missing"):
        read_scripts(tmp_path)
    (tmp_path / "one.yaml").write_text("lines: [")
    with pytest.raises(MirzaError, match="cannot be read as YAML"):
        read_scripts(tmp_path)


def test_a_script_may_only_be_asked_for_by_a_name_that_there_is(tmp_path: Path):
    (tmp_path / "one.yaml").write_text("lines: [{text: a}]")
    assert [one.name for one in read_scripts(tmp_path, ["one"])] == ["one"]
    with pytest.raises(MirzaError, match="There are: one, talk"):
        read_scripts(tmp_path, ["two"])


def test_a_talk_that_is_repeated_waits_for_its_last_answer_before_it_begins_again(tmp_path: Path):
    (tmp_path / "one.yaml").write_text("repeat: 3\nlines: [{text: a, after_answer: 1}, {text: b, after_answer: 2}]")
    (one,) = read_scripts(tmp_path)
    assert [(line.text, line.after_answer) for line in one.lines] == [
        ("a", None), ("b", 2), ("a", 1), ("b", 2), ("a", 1), ("b", 2)
    ]  # fmt: skip
    assert len(one.questions) == 6
    (tmp_path / "one.yaml").write_text("repeat: 3\nlines: [{text: a}]")
    with pytest.raises(MirzaError, match="begins with a line that has after_answer"):
        read_scripts(tmp_path)


def test_a_long_talk_is_held_only_where_it_is_asked_for(tmp_path: Path):
    (tmp_path / "long.yaml").write_text("only_by_name: true\ngroup: hours\nlines: [{text: a}]")
    (tmp_path / "short.yaml").write_text("lines: [{text: a}]")
    assert [one.name for one in read_scripts(tmp_path)] == ["short"]
    assert [one.name for one in read_scripts(tmp_path, ["hours"])] == ["long"]


def test_a_script_reads_out_the_paragraphs_of_a_text_beside_it(tmp_path: Path):
    (tmp_path / "one.yaml").write_text("reads: story.txt\nlines: [{text: a}]")
    with pytest.raises(MirzaError, match=r"story.txt, which a script reads out, cannot be read"):
        read_scripts(tmp_path)
    (tmp_path / "story.txt").write_text("There was\na king.\n\n\n\nHe had a son.\n")
    assert read_scripts(tmp_path)[0].answers == ("There was a king.", "He had a son.")


async def test_every_question_gets_the_next_text_whatever_was_begun_and_thrown_away():
    reader = Reader(("A king.", "A son."))
    asked = [Message("user", "tell me")]
    for messages, text in (
        (asked, "A king."),
        (asked, "A king."),
        ([*asked, *asked], "A son."),
        (asked * 3, "A king."),
    ):
        assert await collect(reader.stream(messages)) == ("", text)


def test_a_script_cannot_set_what_does_not_exist():
    with pytest.raises(MirzaError, match=r"'test' cannot set conversation.prefil"):
        settings_for(script(Line(text="a"), settings={"conversation.prefil": False}), SettingsTree())


def test_parts_of_a_question_belong_together_and_their_pause_is_as_long_as_in_the_talk():
    wanted = script(Line(text="tell me about", means=Means.PART), Line(text="the king", pause=0.9))
    (turn,) = spoken_turns(wanted, [said(line.text) for line in wanted.lines])
    conductor = conducted(wanted, silence(4))
    assert turn.paused
    assert turn.voice_end_s == pytest.approx(conductor.placed[1].voice_end_s, abs=0.001)


def test_askers_sound_as_scripts_want_them():
    assert np.abs(cough()).max() > 0
    level = np.sqrt(np.mean(noise(1.0, -40, 0) ** 2))
    assert level == pytest.approx(0.01, rel=0.01)
    tone = np.sin(2 * np.pi * 100 * np.arange(MIC_RATE) / MIC_RATE).astype(np.float32)
    assert np.abs(telephone(tone)).max() < 0.01


# --- nobody spoke ----------------------------------------------------------------------------------------------------


def a_take(*turns: Turn, lowered_s: tuple[float, ...] = ()) -> Take:
    """A question from 0.5 to 1 s and one from 9 to 10 s."""
    take = Take(system="mirza", script="test", turns=list(turns), lowered_s=list(lowered_s))
    take.placed = [
        PlacedLine(line=0, at_s=0.5, voice_start_s=0.5, voice_end_s=1.0),
        PlacedLine(line=1, at_s=9.0, voice_start_s=9.0, voice_end_s=10.0),
    ]
    return take


TWO = script(Line(text="a"), Line(text="b", after_answer=1.0), room={"gain_db": -6, "delay_s": 0.1})
FIRST, SECOND = Turn(heard="a", heard_s=1.5, answered_s=7.0), Turn(heard="b", heard_s=10.5, answered_s=14.0)


async def judged(take: Take):
    return await judge(TWO, take, np.concatenate([silence(2), speech(5), silence(4), speech(3)]), MIC_RATE, None)


async def test_a_talk_in_which_only_people_speak_has_no_faults():
    verdict = await judged(a_take(FIRST, SECOND, lowered_s=(9.1,)))
    assert (verdict.faults, verdict.self_heard, verdict.false_signs) == ([], 0, 0)
    assert verdict.talked_s == pytest.approx(14.0)
    assert verdict.spoken_s == pytest.approx(8.0, abs=0.1)


async def test_an_answer_cut_short_while_nobody_spoke_was_stopped_by_the_assistant_itself():
    verdict = await judged(a_take(FIRST.model_copy(update={"interrupted": True}), SECOND))
    assert verdict.count("false_stop") == 1
    assert verdict.faults == ["nobody stopped the answer to 'a'"]


async def test_an_answer_that_the_next_line_stopped_was_not_stopped_by_nobody():
    take = a_take(FIRST.model_copy(update={"interrupted": True, "answered_s": 9.3}), SECOND)
    assert (await judged(take)).count("false_stop") == 0


async def test_a_turn_that_nobody_spoke_counts_although_another_was_missed():
    verdict = await judged(a_take(FIRST, Turn(heard="once upon a time", heard_s=4.0, answered_s=8.0)))
    assert verdict.turns_heard == verdict.turns_expected
    assert verdict.self_heard == 1


async def test_a_voice_that_is_lowered_while_nobody_speaks_saw_a_false_sign():
    assert (await judged(a_take(FIRST, SECOND, lowered_s=(2.5, 9.2, 10.2)))).false_signs == 1


# --- without the waiting ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("work_takes_time", [False, True])
def test_an_hour_in_which_nothing_works_passes_at_once(work_takes_time: bool):
    async def sleep(_: Busy) -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    assert run_patiently(sleep, work_takes_time=work_takes_time) == pytest.approx(3600)


@pytest.mark.parametrize("work_takes_time", [False, True])
def test_while_a_model_works_time_stands_still_or_passes_as_it_does_for_everybody(work_takes_time: bool):
    done = threading.Event()

    async def work(_: Busy) -> tuple[float, bool]:
        loop = asyncio.get_running_loop()
        hour = asyncio.create_task(asyncio.sleep(3600))
        loop.call_later(0.01 if work_takes_time else 0.0, done.set)
        await loop.run_in_executor(None, done.wait)
        return loop.time(), hour.done()

    passed_s, hour_is_over = run_patiently(work, work_takes_time=work_takes_time)
    assert not hour_is_over
    assert passed_s >= 0.01 if work_takes_time else passed_s == 0


def test_a_peer_is_not_held_without_the_waiting(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "talk", "--full-speed", "--peer", "pipecat", "--only", "quiet"]) == 1
    assert "A peer is held in real time only." in capsys.readouterr().err


def test_time_cannot_be_left_out_where_nobody_sees_the_model_work():
    settings = SettingsTree.model_validate({"llm": {"engine": "openai"}})
    with pytest.raises(MirzaError, match="Nobody sees whether the engine 'openai' works"):
        patient_llm(Busy(), settings)


# --- the report ------------------------------------------------------------------------------------------------------


async def test_a_peer_stands_beside_mirza_file_by_file():
    wanted = script(Line(text="what time is it?"))
    loudspeaker = {"mirza": np.concatenate([silence(2), speech(1), silence(1)])}
    loudspeaker["pipecat"] = np.concatenate([silence(3), speech(1)])
    verdicts = []
    for system, sound in loudspeaker.items():
        take = Take(system=system, script="test", turns=[Turn(heard="what time is it", heard_s=1.2, ended_s=1.1)])
        take.placed = [PlacedLine(line=0, at_s=0.5, voice_start_s=0.5, voice_end_s=1.0)]
        verdicts.append(await judge(wanted, take, sound, MIC_RATE, None))
    report = summed_up([wanted], verdicts)

    (line,) = report.file_by_file
    assert (round(line.mirza_s, 2), round(line.peer_s, 2)) == (1.0, 2.0)
    assert line.ratio == pytest.approx(0.5, abs=0.01)
    assert "mirza / peer: median 0.50" in in_words(report)
    assert {metric.name for metric in report.metrics} >= {"mirza.voice_to_voice", "pipecat.voice_to_voice"}
