"""Moonshine tiny: quick English recognition on the CPU, by onnxruntime alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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
SURE = -0.75
"""Mean log probability of a token below which words are guesses. Of the talks' 59 recordings of up to 5 s, laughter got
-0.83, a second of noise or two -0.4 and -1.1, and speech from beginning to end -0.5 or more."""
NEAR = 4
"""Tokens among which a draft that went wrong is looked for again."""
CLEAR = 1.0
"""A choice is clear if its logit is ahead of the second by so much. Of 120 recordings with what was understood 0.2 and
0.5 s before their end, 3 came out otherwise at 0, and none from 0.5 to 4. The decoder ran 299 times at 0, 374 at 1, 813
at 4, and 1,078 without drafts."""


class Runs(Protocol):
    """A model that can be run: `mirza.models.onnx.Session`."""

    inputs: list[str]
    outputs: list[str]

    def run(self, arrays: Arrays, stop: Stop) -> list[NDArray[Any]]:
        """Its outputs, in order."""
        ...


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
        self._drafts: list[list[int]] = []
        """What was understood last, chunk by chunk."""
        self._began = np.zeros(0, np.float32)
        """How the sound began in which that was understood."""

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
        """What was said, in English. A partial is a whole run, and as good as a final.

        Raises:
            ModelUnsupported: `language` is not English.
        """
        if language not in (None, "en"):
            raise ModelUnsupported(
                f"Moonshine understands English only, not {language}.",
                'Set `stt.engine = "whisper"` for other languages.',
            )
        await self.load()
        return await self._thread.run(lambda stop: self._transcribe(samples, stop))

    def _transcribe(self, samples: Samples, stop: Stop) -> Transcript:
        model = self._model
        if model is None:
            return Transcript("")
        voiced = model.guard.listen(samples)
        if voiced.voice_s == 0.0:
            return Transcript("", "en", voiced.no_speech)
        chunks = model.guard.chunks(voiced)
        began = samples[:SHORTEST]
        goes_on = np.array_equal(began[: len(self._began)], self._began)
        drafts = self._drafts[: len(chunks)] if goes_on else []
        drafts += [list[int]()] * (len(chunks) - len(drafts))
        heard = [
            decode(model.encoder, model.decoder, chunk, draft, stop)
            for chunk, draft in zip(chunks, drafts, strict=True)
        ]
        self._drafts, self._began = [one.tokens for one in heard], began.copy()
        text = model.guard.check(" ".join(text_of(model.pieces, one.tokens) for one in heard), voiced)
        return Transcript(text, "en", voiced.no_speech, sure=any(one.mean_logprob >= SURE for one in heard))

    async def unload(self) -> None:
        """Gives the memory back."""
        self._model = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one chunk of sound was understood as."""

    tokens: list[int]
    mean_logprob: float
    """Of these tokens and of the end behind them; 0 is certain."""


def decode(encoder: Runs, decoder: Runs, samples: Samples, draft: Sequence[int], stop: Stop) -> Decoded:
    """The tokens of one chunk, greedily; `draft` is what was understood of its beginning, or of half of it.

    All of a draft is looked at in one run, and what the model says itself stays (Leviathan et al., "Fast Inference from
    Transformers via Speculative Decoding", 2023). Weights are in 8 bits, so numbers change a little with how many
    tokens are looked at; a choice that is not clear is made again, alone.
    """
    length = max(SHORTEST, -(-len(samples) // BUCKET) * BUCKET)
    sound = np.zeros((1, length), np.float32)
    sound[0, : len(samples)] = samples
    mask = np.ones((1, length), np.int64)
    hidden = encoder.run({"input_values": sound, "attention_mask": mask}, stop)[0]
    names = decoder.inputs
    outputs = [name.replace("present", "past_key_values") for name in decoder.outputs[1:]]
    cache: Arrays = {
        name: np.zeros((1, HEADS, hidden.shape[1] if ".encoder." in name else 0, HEAD_WIDTH), np.float32)
        for name in names
        if name.startswith("past")
    }
    most = max(8, int(length / MIC_RATE * TOKENS_PER_S))
    tokens, ahead = [START], [*draft[:most]]
    begun = alone = False
    logprobs: list[float] = []
    while len(tokens) <= most and END not in tokens:
        guess = [] if alone else ahead
        inputs: Arrays = {
            "input_ids": np.array([[tokens[-1], *guess]], np.int64),
            "encoder_hidden_states": hidden,
            "encoder_attention_mask": mask,
            "use_cache_branch": np.array([begun]),
            **cache,
        }
        logits, *present = decoder.run({name: inputs[name] for name in names}, stop)
        picked: list[int] = logits[0].argmax(-1).tolist()
        clear = _lead(logits[0]) >= CLEAR if guess else [True]
        right = next((at for at, token in enumerate(guess) if picked[at] != token or not clear[at]), len(guess))
        unclear = not clear[right]
        known = len(tokens) + right - unclear
        for name, value in zip(outputs, present, strict=True):
            if ".encoder." not in name:
                cache[name] = value[:, :, :known]
            elif not begun:  # the sound's keys are made in the first run and stay
                cache[name] = value
        taken = right + (not unclear)
        tokens += picked[:taken]
        logprobs += _best_logprobs(logits[0][:taken])
        ahead = ahead[right:] if unclear else _behind(ahead[right:], picked[right], trusted=alone or right > 0)
        begun, alone = known > 0, unclear
    return Decoded([token for token in tokens[1 : most + 1] if token != END], float(np.mean(logprobs)))


def _best_logprobs(logits: NDArray[np.float32]) -> list[float]:
    """The log probability of the best of each row of `(n, vocabulary)`."""
    below = logits - logits.max(axis=-1, keepdims=True)
    return (-np.log(np.exp(below).sum(axis=-1))).tolist()


def _lead(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """By how much the best of `(n, vocabulary)` is ahead of the second best, `(n,)`."""
    best = np.partition(logits, -2, axis=-1)
    return best[:, -1] - best[:, -2]


def _behind(draft: list[int], token: int, *, trusted: bool) -> list[int]:
    """What a draft goes on with where `token` came: behind the same token, if it is near, else behind the first, if the
    draft was right before."""
    if token in draft[:NEAR]:
        return draft[draft.index(token) + 1 :]
    return draft[1:] if trusted else []


def text_of(pieces: list[bytes], tokens: list[int]) -> str:
    """What tokens say."""
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
