"""A real terminal, for tests: a tmux pane with a shell in it, typed into and looked at."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

CHAT = Path(__file__).with_name("scripted_chat.py")
PROJECT = CHAT.parents[2]
PATIENCE_S = 60.0


class Terminal:
    """One pane. What a test waits for must come within `PATIENCE_S`; nothing else is timed."""

    def __init__(
        self, folder: Path, *, columns: int = 80, lines: int = 24, environment: Mapping[str, str] | None = None
    ):
        self.socket = folder / "tmux"
        self.data = folder / "data"
        variables = {
            "MIRZA_PATHS__DATA": str(self.data),
            "PS1": "$ ",
            "PYTHONPATH": str(PROJECT),
            **(environment or {}),
        }
        pairs = [word for name, value in variables.items() for word in ("-e", f"{name}={value}")]
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines), *pairs, "sh")
        self.tmux("set", "-g", "window-size", "manual")
        self.wait_for(lambda text: "$" in text or "#" in text)

    def tmux(self, *arguments: str, text: str | None = None) -> str:
        # A test may itself run inside tmux, or without UTF-8.
        environment = {name: value for name, value in os.environ.items() if name not in {"TMUX", "NO_COLOR"}}
        environment["LC_ALL"] = "C.UTF-8"
        command = ["tmux", "-u", "-S", str(self.socket), *arguments]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, env=environment)
        return done.stdout

    def run(self, *arguments: str, before: str = "") -> None:
        """Types `mirza chat` with these arguments; then the shell tells the exit status and the terminal's mode."""
        chat = shlex.join([sys.executable, str(CHAT), *arguments])
        modes = "stty -a | tr ' ' '\\n' | grep -xE -- '-?(echo|icanon|isig);?' | xargs"
        self.type(f"clear; {before} {chat}; echo status=$?; {modes}")
        self.press("Enter")

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def say(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def paste(self, text: str) -> None:
        """Pastes as a terminal does: in brackets, if the program asked for them."""
        self.tmux("load-buffer", "-", text=text)
        self.tmux("paste-buffer", "-p", "-d")

    def resize(self, columns: int, lines: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def signal(self, name: str) -> None:
        """Sends a signal to the chat, from outside."""
        shell = self.tmux("display", "-p", "#{pane_pid}").strip()
        subprocess.run(["pkill", f"-{name}", "-P", shell], check=True)

    def screen(self) -> str:
        """What is on the screen, lines that were wrapped joined again."""
        return self.tmux("capture-pane", "-p", "-J")

    def all(self) -> str:
        """The screen and what has scrolled off it."""
        return self.tmux("capture-pane", "-p", "-J", "-S", "-")

    def wait_for(self, what: str | Callable[[str], object], *, scrolled: bool = False) -> str:
        """Returns the screen once it holds `what` (a pattern), or fits it."""
        fits = what if callable(what) else re.compile(re.escape(what)).search
        give_up = time.monotonic() + PATIENCE_S
        while True:
            screen = self.all() if scrolled else self.screen()
            if fits(screen):
                return screen
            ended = isinstance(what, str) and re.search(r"^status=\d", screen, re.MULTILINE)
            assert not ended and time.monotonic() < give_up, f"waited in vain for {what!r}; the screen is\n{screen}"
            time.sleep(0.05)

    def left(self, status: int = 0) -> str:
        """Waits for the end of the chat and checks that it left the terminal as it was; returns the screen."""
        screen = self.wait_for(re.compile(r"^status=\d+\n.*echo", re.MULTILINE).search, scrolled=True)
        ended = re.search(r"^status=(\d+)\n(.*)$", screen, re.MULTILINE)
        assert ended is not None
        assert int(ended[1]) == status, screen
        assert ended[2].split() == ["isig", "icanon", "echo"], f"the terminal was left in {ended[2]}"
        return screen

    def close(self) -> None:
        self.tmux("kill-server")
