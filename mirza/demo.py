"""`mirza demo`: a conversation with no model and no microphone, so that anyone can see in seconds what Mirza does.

Everything but the models is real: the pipeline, turn taking, interruption and history. The models are the doubles that
the tests use, and time is virtual.
"""

from __future__ import annotations

import argparse

from mirza.talk import JsonReport, TextReport

QUESTION = "Tell me about the moon please"
ANSWER = "The moon goes around the earth. It takes a month. It has no air at all. Nobody lives there yet."
FOLLOW_UP = "Why has it no air?"
THOUGHT = "Small bodies have weak gravity so that gases escape into space over time and nothing holds them back. "
SECOND = "It is too small to hold air."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza demo` takes."""
    parser.add_argument("--json", action="store_true", help="one object a turn on standard output, and nothing else")


def run(args: argparse.Namespace) -> int:
    """Plays the scene and returns the exit status."""
    from mirza.audio.files import RecordedSound
    from mirza.events import Event, Speaking
    from mirza.llm.scripted import ScriptedLlm
    from mirza.settings import SettingsTree
    from mirza.testing import converse, said, silence

    report = JsonReport() if args.json else TextReport()
    if not args.json:
        print("A scene with doubles in place of the models. Somebody asks, says mhm, interrupts, and is answered.")
    remarks = {"It takes": said("mhm"), "It has": said(FOLLOW_UP)}

    def interject(event: Event, room: RecordedSound) -> None:
        report.event(event)
        if isinstance(event, Speaking):
            for words in [words for words in remarks if event.text.startswith(words)]:
                room.say(remarks.pop(words), event.at_s + 0.3)

    settings = SettingsTree()
    settings.llm.thinking_budget = "20"
    llm = ScriptedLlm([ANSWER, SECOND], thought=THOUGHT, token_s=0.03, first_token_s=0.1)
    talk = converse(said(QUESTION), silence(2), llm=llm, settings=settings, interject=interject)
    if not args.json:
        print("\nWhat Mirza will remember:")
        for message in talk.history:
            print(f"  {message.role:9}  {message.content}")
        print("\nNow the real thing: `make talk`.")
    return 0
