"""Moonshine tiny: quick English recognition on the CPU, by onnxruntime alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mirza import models
from mirza.audio.base import MIC_RATE, Samples
from mirza.errors import ModelUnsupported
from mirza.models.onnx import Arrays, EngineThread, Session, Stop
from mirza.speech.base import Transcript
from mirza.speech.stt.guard import Guard

MODEL = "moonshine-tiny-en"
START, END = 1, 2
HEADS, HEAD_WIDTH = 8, 36
TOKENS_PER_S = 6.5
"""The most that speech can hold (https://github.com/moonshine-ai/moonshine, README); more is a loop."""
SHORTEST = MIC_RATE
"""Shorter sound is followed by silence: on half a second the model makes words up."""
BUCKET = MIC_RATE // 2


@dataclass(frozen=True, slots=True)
class _Model:
    encoder: Session
    decoder: Session
    pieces: list[bytes]
    guard: Guard


class MoonshineStt:
    """Moonshine tiny-en (MIT, https://github.com/moonshine-ai/moonshine): 0.08 s for 3.5 s of speech on two cores."""

    languages = ("en",)

    def __init__(self, cache_folder: Path | None = None, threads: int = 2) -> None:
        self._cache_folder = cache_folder
        self._threads = threads
        self._thread = EngineThread("stt")
        self._model: _Model | None = None

    async def load(self) -> None:
        """Makes the model ready.

        Raises:
            ModelError: it is not there, or damaged.
        """
        if self._model is None:
            self._model = await self._thread.run(lambda _: self._open())

    def _open(self) -> _Model:
        folder = models.verified_path(MODEL, self._cache_folder)
        return _Model(
            Session(folder / "encoder_model.ort", self._threads),
            Session(folder / "decoder_model_merged.ort", self._threads),
            read_pieces((folder / "tokenizer.bin").read_bytes()),
            Guard(),
        )

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        """What was said, in English. A partial costs as much as a final: it is a whole run, and as good.

        Raises:
            ModelUnsupported: `language` is not English.
        """
        if language not in (None, "en"):
            raise ModelUnsupported(
                f"Moonshine understands English only, not {language}.",
                'Set `stt.engine = "whisper"` for other languages.',
            )
        await self.load()
        model = self._model
        return (
            Transcript("") if model is None else await self._thread.run(lambda stop: _transcribe(model, samples, stop))
        )

    async def unload(self) -> None:
        """Gives the memory back."""
        self._model = None


def _transcribe(model: _Model, samples: Samples, stop: Stop) -> Transcript:
    voiced = model.guard.listen(samples)
    if voiced.voice_s == 0.0:
        return Transcript("", "en", voiced.no_speech)
    texts = [_decode(model, chunk, stop) for chunk in model.guard.chunks(voiced)]
    return Transcript(model.guard.check(" ".join(texts), voiced), "en", voiced.no_speech)


def _decode(model: _Model, samples: Samples, stop: Stop) -> str:
    """Greedy decoding of one chunk. The cache of the sound's keys is made in the first step and stays."""
    length = max(SHORTEST, -(-len(samples) // BUCKET) * BUCKET)
    sound = np.zeros((1, length), np.float32)
    sound[0, : len(samples)] = samples
    mask = np.ones((1, length), np.int64)
    hidden = model.encoder.run({"input_values": sound, "attention_mask": mask}, stop)[0]
    names = model.decoder.inputs
    outputs = [name.replace("present", "past_key_values") for name in model.decoder.outputs[1:]]
    cache: Arrays = {
        name: np.zeros((1, HEADS, hidden.shape[1] if ".encoder." in name else 0, HEAD_WIDTH), np.float32)
        for name in names
        if name.startswith("past")
    }
    tokens = [START]
    for step in range(max(8, int(length / MIC_RATE * TOKENS_PER_S))):
        inputs: Arrays = {
            "input_ids": np.array([tokens[-1:]], np.int64),
            "encoder_hidden_states": hidden,
            "encoder_attention_mask": mask,
            "use_cache_branch": np.array([step > 0]),
            **cache,
        }
        logits, *present = model.decoder.run({name: inputs[name] for name in names}, stop)
        token = int(logits[0, -1].argmax())
        if token == END:
            break
        tokens.append(token)
        for name, value in zip(outputs, present, strict=True):
            if step == 0 or ".encoder." not in name:
                cache[name] = value
    return _text(model.pieces, tokens[1:])


def _text(pieces: list[bytes], tokens: list[int]) -> str:
    joined = b"".join(pieces[token] for token in tokens if token < len(pieces))
    return joined.replace("▁".encode(), b" ").decode("utf-8", "replace").strip()


def read_pieces(content: bytes) -> list[bytes]:
    """The vocabulary: for each token its length in one byte, or two from 128 up, then its bytes."""
    pieces: list[bytes] = []
    at = 0
    while at < len(content):
        length = content[at]
        at += 1
        if length >= 128:
            length = content[at] * 128 + length - 128
            at += 1
        pieces.append(content[at : at + length])
        at += length
    return pieces
