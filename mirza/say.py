"""`mirza say`: speaks a text as an answer would be spoken, or shows the pieces that the voice would get."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from mirza.errors import AudioError, MirzaError
from mirza.speech.text import Piece, SpeechText

if TYPE_CHECKING:
    from mirza.audio.base import Samples
    from mirza.settings import SettingsTree
    from mirza.speech.base import Tts

READ_CHARS = 4096
LOOK_S = 0.02
"""So often it is looked how much is left to play."""
AHEAD_S = 2.0
"""No more sound than this waits for the loudspeaker."""
AFTER_S = 0.3
"""What left the queue is still in the device for so long."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza say` takes."""
    parser.add_argument(
        "text", nargs="*", help="what to say, after -- if it begins with a dash; without it, standard input is read"
    )
    parser.add_argument("--lang", metavar="CODE", help="the text's language, e.g. fr (default: stt.language)")
    parser.add_argument("--spoken", action="store_true", help="print what the voice would get, one piece a line")
    parser.add_argument("--json", action="store_true", help="print written and spoken form, one JSON object a piece")
    parser.add_argument(
        "--output", metavar="FILE", help="write a WAV file instead of playing it; what is printed is not played either"
    )


def run(args: argparse.Namespace) -> int:
    """Says or prints the text; returns the exit status."""
    from mirza.settings_sources import settings_of

    overrides = {"stt.language": args.lang} if args.lang else None
    settings = settings_of(args, overrides).tree
    language = settings.stt.language if settings.stt.language != "auto" else "en"
    show = args.json or args.spoken
    pieces = _pieces(_text(args.text), language, as_json=args.json, show=show)
    output = Path(args.output) if args.output else None
    if show and output is None:
        for _ in pieces:
            pass
        return 0
    if output is not None and not output.absolute().parent.is_dir():
        raise AudioError(f"There is no folder {output.absolute().parent}.", "Make it, or name another with --output.")
    return asyncio.run(_speak(settings, pieces, language, output))


def _text(words: list[str]) -> Iterator[str]:
    """The text: from the command line, or from standard input as it arrives."""
    if words and words != ["-"]:
        yield " ".join(words)
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise MirzaError("There is no text to say.", 'Write it: mirza say "Good morning", or pipe it in.')
    while chunk := sys.stdin.readline(READ_CHARS):
        yield chunk


def _pieces(text: Iterator[str], language: str, *, as_json: bool, show: bool) -> Iterator[Piece]:
    """The pieces, each shown as soon as it is certain."""
    speech = SpeechText(language)

    def shown(pieces: list[Piece]) -> list[Piece]:
        for piece in pieces if show else ():
            print(_object(piece) if as_json else " ".join(piece.spoken.split()), flush=True)
        return pieces

    for delta in text:
        yield from shown(speech.push(delta))
    yield from shown(speech.flush())


def _object(piece: Piece) -> str:
    fields = {"written": piece.written, "spoken": piece.spoken, "start": piece.start, "end": piece.end}
    return json.dumps(fields, ensure_ascii=False)


# --- aloud -----------------------------------------------------------------------------------------------------------


async def _speak(settings: SettingsTree, pieces: Iterator[Piece], language: str, output: Path | None) -> int:
    from mirza.build import make_tts

    settings.stt.language = language
    tts = make_tts(settings)
    await tts.load()
    try:
        sound = _synthesize(tts, pieces, language, settings.tts.voice)
        if output is not None:
            await _write(output, tts, sound)
        else:
            await _play(settings, tts, sound)
    finally:
        await tts.unload()
    return 0


async def _synthesize(tts: Tts, pieces: Iterator[Piece], language: str, voice: str) -> AsyncIterator[Samples]:
    """The sound of the pieces, one after the other."""
    for piece in pieces:
        async with aclosing(tts.synthesize(piece.spoken, language=language, voice=voice)) as stream:
            async for samples in stream:
                yield samples


async def _write(output: Path, tts: Tts, sound: AsyncIterator[Samples]) -> None:
    import numpy as np
    import soundfile  # pyright: ignore[reportMissingTypeStubs]

    chunks = [samples async for samples in sound]
    samples = np.concatenate(chunks) if chunks else np.zeros(0, np.float32)
    try:
        soundfile.write(output, samples, tts.rate, subtype="PCM_16", format="WAV")  # pyright: ignore[reportUnknownMemberType]
    except (OSError, soundfile.LibsndfileError) as error:
        raise AudioError(
            f"{output} could not be written ({error}).", "Choose a folder that you may write to."
        ) from error


async def _play(settings: SettingsTree, tts: Tts, sound: AsyncIterator[Samples]) -> None:
    """Plays on the settings' loudspeaker, and returns when the last sample has left it."""
    import numpy as np
    from numpy.typing import NDArray

    from mirza.audio.player import Chunk, Player
    from mirza.audio.portaudio import Moment, SoundDevicePortAudio, choose
    from mirza.audio.resample import Resampler

    portaudio = SoundDevicePortAudio()
    device = choose(portaudio.devices(), settings.audio.output, output=True)
    player = Player(device.rate)
    player.volume = settings.audio.volume

    def render(frames: NDArray[np.float32], moment: Moment) -> None:
        frames[:] = player.pull(len(frames))[:, None]

    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def gone() -> None:
        loop.call_soon_threadsafe(ended.set)

    stream = portaudio.open_output(device, render, gone)
    try:
        resampler = Resampler(tts.rate, stream.rate)
        async for samples in sound:
            player.put(Chunk(resampler.push(samples), 0))
            while player.queued_s() > AHEAD_S and not ended.is_set():  # noqa: ASYNC110 - the queue empties in a callback
                await asyncio.sleep(LOOK_S)
        player.put(Chunk(resampler.flush(), 0))
        while not player.idle() and not ended.is_set():  # noqa: ASYNC110
            await asyncio.sleep(LOOK_S)
        if ended.is_set():
            raise AudioError(
                "The loudspeaker is gone.", "Plug it in again, or choose another: `mirza doctor` lists them."
            )
        await asyncio.sleep(AFTER_S)
    finally:
        stream.close()
