"""A language model behind HTTP, as peers of the whole loop want it: `mlx_lm.server` on a free port of loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from pathlib import Path

from mirza.errors import ServerError

START_S = 120.0
_LAUNCH = "from mirza.blas import ensure_fast_blas; ensure_fast_blas()\nfrom mlx_lm.server import main\nmain()"
"""With the same fast BLAS that Mirza loads: the comparison is of the loops, not of the matrix products."""


@contextlib.contextmanager
def mlx_lm_server(model: Path, log: Path) -> Generator[str]:
    """Serves the model of a folder; its address, up to `/v1`. What the server says goes to the file `log`.

    Raises:
        ServerError: it did not start.
    """
    port = _free_port()
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, "--model", str(model), "--port", str(port), "--host", "127.0.0.1"],
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            stdout=output,
            stderr=output,
        )
        try:
            address = f"http://127.0.0.1:{port}/v1"
            _wait(server, address, log)
            yield address
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback is behind no proxy
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if server.poll() is not None:
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise ServerError(f"mlx_lm.server ended at once: {' '.join(last)}", f"All it said is in {log}.")
        with contextlib.suppress(OSError), direct.open(f"{address}/models", timeout=2.0):
            return
        time.sleep(0.2)
    raise ServerError(f"mlx_lm.server did not start within {START_S:g} s.", f"What it said is in {log}.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
