"""Holds one script with Pipecat: `python -m mirza.bench.peer_pipecat JOB.json`, in an environment that has Pipecat.

Everything but the loop is what Mirza has: Silero and smart-turn (Pipecat brings the same two), our Moonshine and Piper
wrapped as its services, the same language model behind `mlx_lm.server`, and the same room, conductor and recorder.
Written against Pipecat 1.14; its defaults are kept (sentences to the voice, turn strategies, interruptions).
"""

# Pipecat is not installed where types are checked.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    CancelFrame,
    EndFrame,
    Frame,
    InputAudioRawFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
    OutputAudioRawFrame,
    StartFrame,
    TranscriptionFrame,
    UserStartedSpeakingFrame,
    UserStoppedSpeakingFrame,
)
from pipecat.observers.base_observer import BaseObserver, FramePushed
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.settings import STTSettings, TTSSettings
from pipecat.services.stt_service import SegmentedSTTService
from pipecat.services.tts_service import TTSService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.turns.user_start import VADUserTurnStartStrategy
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.utils.time import time_now_iso8601
from pipecat.workers.runner import WorkerRunner

from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.player import Chunk
from mirza.bench.peer_job import Job
from mirza.bench.room import StagedSound
from mirza.bench.take import Said, Take, Turn, load_average, resident_mb
from mirza.speech.stt.moonshine import MoonshineStt
from mirza.speech.tts.piper import PiperTts
from mirza.talk import ANSWER_RATE

DEVICE_S = 0.02
"""The loudspeaker's buffer: Pipecat writes 40 ms at a time, and waits while more than this is still to be played."""
STT_P99_S = 0.35
"""Silence that ends a segment, 0.2 s, and what Moonshine then takes: Pipecat waits as long as it is told here."""
SETTLED_S = 1.5
"""Nothing generated, said or spoken for this long: the answer is over (its voice may lag behind its text)."""


class Microphone(BaseInputTransport):
    """The room, as Pipecat's input."""

    def __init__(self, sound: StagedSound, params: TransportParams) -> None:
        super().__init__(params)
        self._sound = sound
        self._listening: asyncio.Task[None] | None = None
        self.over = asyncio.Event()

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)
        await self._sound.open()
        self._listening = self.create_task(self._listen())

    async def stop(self, frame: EndFrame) -> None:
        await self._end()
        await super().stop(frame)

    async def cancel(self, frame: CancelFrame) -> None:
        await self._end()
        await super().cancel(frame)

    async def _end(self) -> None:
        if self._listening is not None:
            await self.cancel_task(self._listening)
            self._listening = None

    async def _listen(self) -> None:
        async for block in self._sound.blocks():
            frame = InputAudioRawFrame(audio=_pcm(block.samples), sample_rate=MIC_RATE, num_channels=1)
            await self.push_audio_frame(frame)
        self.over.set()


class Loudspeaker(BaseOutputTransport):
    """The room's loudspeaker, as Pipecat's output."""

    def __init__(self, sound: StagedSound, params: TransportParams) -> None:
        super().__init__(params)
        self._player = sound.player

    async def start(self, frame: StartFrame) -> None:
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        samples = _samples(frame.audio)
        if samples.any():
            self._player.put(Chunk(samples, 0))
        else:  # silence between answers keeps time as speech does
            await asyncio.sleep(len(samples) / frame.sample_rate)
        while self._player.queued_s() > DEVICE_S:  # noqa: ASYNC110 - a device that blocks
            await asyncio.sleep(0.004)
        return True


class OurStt(SegmentedSTTService):
    """Mirza's Moonshine."""

    wants_wav_segments = False

    def __init__(self, stt: MoonshineStt) -> None:
        super().__init__(
            sample_rate=MIC_RATE,
            settings=STTSettings(model="moonshine-tiny-en", language=None),
            ttfs_p99_latency=STT_P99_S,
        )
        self._stt = stt

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame, None]:
        heard = await self._stt.transcribe(_samples(audio))
        if heard.text:
            yield TranscriptionFrame(heard.text, "", time_now_iso8601(), None)


class OurTts(TTSService):
    """Mirza's Piper."""

    def __init__(self, tts: PiperTts) -> None:
        super().__init__(
            push_start_frame=True,
            push_stop_frames=True,
            settings=TTSSettings(model="piper-joe", voice="joe", language=None),
        )
        self._tts = tts

    async def run_tts(self, text: str, context_id: str) -> AsyncGenerator[Frame | None, None]:
        async def pcm() -> AsyncIterator[bytes]:
            async for samples in self._tts.synthesize(text):
                yield _pcm(samples)

        async for frame in self._stream_audio_frames_from_iterator(
            pcm(), in_sample_rate=self._tts.rate, context_id=context_id
        ):
            yield frame


class Watcher(BaseObserver):
    """Writes down turns, and knows whether Pipecat is doing anything."""

    def __init__(self, sound: StagedSound, take: Take) -> None:
        super().__init__(observe_every_push=False)
        self._sound, self._take = sound, take
        self._speaking = self._talking = self._writing = False
        self._ended_s: float | None = None
        self._busy_s = 0.0

    def idle(self) -> bool:
        """Whether nothing is said, and nothing is being made."""
        busy = self._speaking or self._talking or self._writing
        return not busy and self._sound.now_s() - self._busy_s > SETTLED_S

    async def on_push_frame(self, data: FramePushed) -> None:
        frame, now_s = data.frame, self._sound.now_s()
        match frame:
            case UserStartedSpeakingFrame() | UserStoppedSpeakingFrame():
                self._talking = isinstance(frame, UserStartedSpeakingFrame)
                self._ended_s = now_s
            case BotStartedSpeakingFrame() | BotStoppedSpeakingFrame():
                self._speaking = isinstance(frame, BotStartedSpeakingFrame)
            case LLMFullResponseStartFrame() | LLMFullResponseEndFrame():
                self._writing = isinstance(frame, LLMFullResponseStartFrame)
            case LLMTextFrame() if self._take.turns and self._take.turns[-1].first_token_s is None:
                self._take.turns[-1].first_token_s = now_s
            case OutputAudioRawFrame() | TranscriptionFrame():
                pass
            case _:
                return
        if not isinstance(frame, OutputAudioRawFrame) or any(frame.audio):
            self._busy_s = now_s

    def user_said(self, text: str) -> None:
        """A turn of the user is over."""
        self._busy_s = self._sound.now_s()
        if text:
            self._take.turns.append(Turn(heard=text, heard_s=self._sound.now_s(), ended_s=self._ended_s))

    def assistant_said(self, text: str, interrupted: bool) -> None:
        """An answer is over."""
        if self._take.turns:
            turn = self._take.turns[-1]
            turn.said, turn.interrupted = f"{turn.said} {text}".strip(), interrupted


async def hold(job: Job) -> Take:
    """Holds the job's script; writes the recording."""
    take = Take(system="pipecat", script=job.script.name, recording=str(job.recording))
    sound = StagedSound(job.script, job.lines())
    watcher = Watcher(sound, take)
    sound.idle = watcher.idle
    stt, tts = MoonshineStt(job.cache), PiperTts("", job.cache)
    await stt.load()
    await tts.load()

    params = TransportParams(
        audio_in_enabled=True,
        audio_in_sample_rate=MIC_RATE,
        audio_out_enabled=True,
        audio_out_sample_rate=ANSWER_RATE,
    )
    microphone, loudspeaker = Microphone(sound, params), Loudspeaker(sound, params)
    llm = OpenAILLMService(
        api_key="none",
        base_url=job.server,
        settings=OpenAILLMService.Settings(
            model=job.model, temperature=0.0, max_tokens=job.max_tokens, system_instruction=job.system
        ),
    )
    context = LLMContext()
    aggregators = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer(), **_strategies(job))
    )
    user, assistant = aggregators.user(), aggregators.assistant()

    @user.event_handler("on_user_turn_stopped")
    async def _(_: Any, __: Any, message: Any) -> None:
        watcher.user_said(message.content or "")

    @assistant.event_handler("on_assistant_turn_stopped")
    async def _(_: Any, message: Any) -> None:
        watcher.assistant_said(message.content, message.interrupted)

    pipeline = Pipeline([microphone, OurStt(stt), user, llm, OurTts(tts), loudspeaker, assistant])
    worker = PipelineWorker(
        pipeline,
        params=PipelineParams(audio_in_sample_rate=MIC_RATE, audio_out_sample_rate=ANSWER_RATE),
        observers=[watcher],
        idle_timeout_secs=None,
    )
    runner = WorkerRunner(handle_sigint=False)

    async def end() -> None:
        await microphone.over.wait()
        take.resident_mb = resident_mb()
        await worker.cancel()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(end())
        await runner.add_workers(worker)
        await runner.run()
    sound.write(job.recording)
    take.place(sound.conductor.placed, sound.conductor.missed)
    take.history = [Said(role=str(m["role"]), content=str(m.get("content", ""))) for m in context.get_messages()]
    take.load = load_average()
    await stt.unload()
    await tts.unload()
    return take


def _strategies(job: Job) -> dict[str, Any]:
    """Turns end by smart-turn, Pipecat's default; or by silence alone."""
    if job.semantic:
        return {}
    return {
        "user_turn_strategies": UserTurnStrategies(
            start=[VADUserTurnStartStrategy()], stop=[SpeechTimeoutUserTurnStopStrategy()]
        )
    }


def _samples(pcm: bytes) -> Samples:
    return (np.frombuffer(pcm, np.int16) / np.float32(32768)).astype(np.float32)


def _pcm(samples: Samples) -> bytes:
    return np.round(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def main() -> int:
    """Reads a job, does it, leaves the take."""
    logger.remove()
    logger.add(sys.stderr, level="WARNING")
    job = Job.model_validate_json(Path(sys.argv[1]).read_bytes())
    take = asyncio.run(hold(job))
    job.take.write_text(take.model_dump_json(indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
