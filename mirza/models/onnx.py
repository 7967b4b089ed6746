"""Running ONNX models on the CPU: sessions whose memory stays flat, and a thread of its own for each engine."""

# onnxruntime 1.32 ships no types: this file is its border.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import onnxruntime as ort
from numpy.typing import NDArray
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile

from mirza.errors import ModelDamaged

Result = TypeVar("Result")
Arrays = dict[str, NDArray[Any]]


class Stop:
    """Tells work on another thread that nobody waits for it any more."""

    def __init__(self) -> None:
        self.options = ort.RunOptions()
        self.options.log_severity_level = 4  # that it was stopped is raised; it need not be printed, too
        self.asked = False

    def set(self) -> None:
        """Stops it: also in the middle of a model's run."""
        self.asked = True
        self.options.terminate = True


class Session:
    """A model on `threads` cores."""

    def __init__(self, file: Path, threads: int) -> None:
        """Loads it.

        Raises:
            ModelDamaged: the file is no model that onnxruntime can read.
        """
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # A memory pattern is kept for each shape seen, and the arena keeps the largest of everything: with utterances
        # of all lengths both grow.
        options.enable_mem_pattern = False
        options.enable_cpu_mem_arena = False
        # Waiting threads would spin, and take the core from the language model.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except (Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile) as error:
            reason = str(error).splitlines()[0]
            raise ModelDamaged(
                f"{file} cannot be read: {reason}", "`mirza models verify` says which model to get again."
            ) from error
        self.inputs: list[str] = [node.name for node in self._session.get_inputs()]
        self.outputs: list[str] = [node.name for node in self._session.get_outputs()]

    def run(self, arrays: Arrays, stop: Stop) -> list[NDArray[Any]]:
        """Its outputs, in order; an error of onnxruntime if it is stopped meanwhile."""
        return cast("list[NDArray[Any]]", self._session.run(None, arrays, stop.options))


class EngineThread:
    """The one thread of an engine. A call that is cancelled stops what runs, so that the next need not wait for it."""

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, work: Callable[[Stop], Result]) -> Result:
        """Runs `work` there, after what was asked before."""
        stop = Stop()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work, stop)
        except asyncio.CancelledError:
            stop.set()
            raise
