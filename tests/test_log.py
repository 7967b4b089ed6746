"""The log: where it goes, how it rotates, and above all what never gets into it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from loguru import logger

from mirza.errors import NoDevice, StorageError
from mirza.events import Failed, Heard, LlmStats, Notice, State, StateChanged, TurnDropped, TurnMeasured
from mirza.log import ROTATE_BYTES, log_event, log_events, set_up
from mirza.settings import LogSettings, PathSettings

SECRET = "my bank is the one on Elm Street"

PRIVATE = [
    Heard(1, SECRET, "en", 1.0),
    TurnMeasured(1, heard=SECRET, said=SECRET, stt_s=0.1, llm=LlmStats(speech_tokens=7)),
    TurnDropped("echo", SECRET, 2.0),
]


@pytest.fixture(autouse=True)
def logging_put_back() -> Iterator[None]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:], root.level = before
    logger.remove()


@pytest.fixture
def log(tmp_path: Path):
    """Starts logging into a folder of the test's own; returns what reads the file."""

    def start(**settings: object):
        file = set_up(LogSettings.model_validate(settings), PathSettings(data=tmp_path), console=False)
        return lambda: file.read_text(encoding="utf-8")

    return start


def test_what_happened_goes_into_the_file_and_what_was_said_does_not(log):
    read = log(level="TRACE")
    for event in PRIVATE:
        log_event(event, transcripts=False)

    text = read()
    assert "Elm" not in text
    assert "stt 0.100 s" in text
    assert "7 spoken" in text
    assert f"{len(SECRET)} characters" in text


def test_where_the_setting_allows_it_what_was_said_is_logged(log):
    read = log(transcripts=True)
    for event in PRIVATE:
        log_event(event, transcripts=True)

    assert read().count(SECRET) == 3


def test_a_traceback_shows_no_values_of_variables(log):
    read = log()

    def fail(said: str) -> None:
        raise ValueError("it broke")

    try:
        fail(SECRET)
    except ValueError:
        logger.exception("A task failed")

    assert "it broke" in read()
    assert "Elm" not in read()


@pytest.mark.parametrize("library", ["openai._base_client", "httpx", "httpx2", "httpcore.http11"])
def test_a_library_that_logs_requests_whole_is_kept_quiet(log, library):
    read = log(level="TRACE")

    logging.getLogger(library).debug("Request options: %s", SECRET)
    logging.getLogger(library).info("Request options: %s", SECRET)
    logging.getLogger(library).warning("The certificate has expired")

    assert "Elm" not in read()
    assert "The certificate has expired" in read()


def test_what_libraries_log_and_warn_of_is_in_the_same_file_from_where_it_was_said(log):
    read = log()

    logging.getLogger("some.library").info("it took %d steps", 7)
    warnings.warn("this goes away soon", DeprecationWarning, stacklevel=1)

    assert "test_log: it took 7 steps" in read()
    assert "this goes away soon" in read()


def test_a_message_with_braces_is_no_template(log):
    read = log()

    logging.getLogger("some.library").info('{"a": {b}}')

    assert '{"a": {b}}' in read()


def test_the_level_is_kept(log):
    read = log(level="WARNING")

    logger.info("small")
    logger.warning("large")
    log_event(StateChanged(State.LISTENING, 0.0), transcripts=False)

    assert "small" not in read()
    assert "large" in read()


def test_errors_and_notices_are_logged_in_their_own_words(log):
    read = log()

    log_event(Failed(NoDevice("The microphone is gone.", "Plug it in."), 1.0), transcripts=False)
    log_event(Notice("It is back.", 2.0), transcripts=False)

    assert "NoDevice: The microphone is gone. Plug it in." in read()
    assert "It is back." in read()


async def test_a_conversation_is_logged_until_it_closes(log):
    read = log()

    async def events():
        for event in PRIVATE:
            yield event

    await log_events(events(), transcripts=False)

    assert read().count("\n") == len(PRIVATE)


def test_the_file_rotates_and_old_ones_go(log, tmp_path):
    log()

    for _ in range(30):
        logger.info("x" * (ROTATE_BYTES // 3))

    assert 2 <= len(list((tmp_path / "logs").iterdir())) <= 6


def test_the_terminal_gets_only_what_matters(tmp_path, capsys):
    set_up(LogSettings(), PathSettings(data=tmp_path))

    logger.info("small")
    logger.warning("large")

    out, err = capsys.readouterr()
    assert out == ""
    assert "small" not in err
    assert "large" in err


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "logs").write_text("a file where the folder should be")

    with pytest.raises(StorageError, match=r"paths\.data"):
        set_up(LogSettings(), PathSettings(data=tmp_path), console=False)
