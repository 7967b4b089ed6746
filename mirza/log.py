"""Logging: loguru to the terminal and into a rotating file, with everything that libraries log routed in.

What people say is personal. It goes into no log unless `log.transcripts` says so: Mirza's own modules log counts and
times, tracebacks show no values of variables, and libraries that would log requests whole are kept quiet.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import FrameType

from loguru import logger

from mirza.errors import StorageError
from mirza.events import Event, Failed, Heard, Notice, StateChanged, TurnDropped, TurnMeasured
from mirza.folders import data_folder
from mirza.settings import LogSettings, PathSettings

ROTATE_BYTES = 2_000_000
KEPT_FILES = 5

LOG_REQUESTS = ("httpcore", "httpx", "httpx2", "openai")
"""Libraries whose debug messages hold the conversation."""

LINE = "{time:YYYY-MM-DD HH:mm:ss.SSS} {level: <7} {name}: {message}"
SHORT_LINE = "<level>{level}</level> {message}"


def set_up(log: LogSettings, paths: PathSettings, *, console: bool = True) -> Path:
    """Starts logging and returns the log file. `console` is off for a full screen, which must not be written over.

    Raises:
        StorageError: the folder for the file cannot be made or written.
    """
    logger.remove()
    if console:
        logger.add(sys.stderr, level=log.console_level, format=SHORT_LINE, backtrace=False, diagnose=False)
    file = data_folder(paths) / "logs" / "mirza.log"
    try:
        logger.add(
            file,
            level=log.level,
            format=LINE,
            rotation=ROTATE_BYTES,
            retention=KEPT_FILES,
            encoding="utf-8",
            backtrace=False,
            diagnose=False,  # it would print the values of variables: transcripts
        )
    except OSError as error:
        raise StorageError(
            f"The log file {file} cannot be written: {error.strerror}.",
            "Make room, or name another folder: `mirza settings set paths.data FOLDER`.",
        ) from error
    _route_standard_logging(log)
    return file


async def log_events(events: AsyncIterator[Event], *, transcripts: bool) -> None:
    """Logs what happens in a conversation, until it closes: one line a turn, and what went wrong."""
    async for event in events:
        log_event(event, transcripts=transcripts)


def log_event(event: Event, *, transcripts: bool) -> None:
    """Logs one event, without what was said unless `transcripts` allows it."""
    match event:
        case Heard(turn=turn, text=text, language=language):
            logger.info("Turn {}: heard {}", turn, repr(text) if transcripts else f"{len(text)} characters, {language}")
        case TurnDropped(reason=reason, text=text):
            logger.info("No turn: {}{}", reason, f": {text!r}" if transcripts else "")
        case TurnMeasured():
            logger.info("Turn {}: {}", event.turn, _measured(event, transcripts=transcripts))
        case StateChanged(state=state):
            logger.debug("Now {}", state)
        case Notice(text=text):
            logger.info("{}", text)
        case Failed(error=error):
            logger.error("{}: {}", type(error).__name__, error)
        case _:
            pass


def _measured(turn: TurnMeasured, *, transcripts: bool) -> str:
    stages = {
        "end of turn": turn.end_of_turn_s,
        "stt": turn.stt_s,
        "first token": turn.first_token_s,
        "first audio": turn.first_audio_s,
        "voice to voice": turn.voice_to_voice_s,
    }
    times = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in stages.items() if seconds is not None)
    llm = turn.llm
    tokens = (
        f"{llm.prefilled_tokens} prefilled, {llm.reused_tokens} reused, {llm.thinking_tokens} thought, "
        f"{llm.speech_tokens} spoken, {llm.tokens_per_s:.1f} tokens/s"
    )
    said = f"; said {turn.said!r}" if transcripts else ""
    return f"{times + '; ' if times else ''}{tokens}{'; interrupted' if turn.interrupted else ''}{said}"


def _route_standard_logging(log: LogSettings) -> None:
    logging.basicConfig(handlers=[_ToLoguru()], level=max(logging.INFO, _number(log.level)), force=True)
    logging.captureWarnings(True)
    for name in LOG_REQUESTS:
        logging.getLogger(name).setLevel(logging.NOTSET if log.transcripts else logging.WARNING)


def _number(level: str) -> int:
    return logger.level(level).no


class _ToLoguru(logging.Handler):
    """Hands a library's message on, as if it had been logged where it was (loguru's documentation has the recipe)."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            level: str | int = logger.level(record.levelname).name
        except ValueError:
            level = record.levelno
        frame: FrameType | None = logging.currentframe()
        depth = 0
        while frame is not None and (depth == 0 or frame.f_code.co_filename == logging.__file__):
            frame, depth = frame.f_back, depth + 1
        logger.opt(depth=depth, exception=record.exc_info).log(level, "{}", record.getMessage())
