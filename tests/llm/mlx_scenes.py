"""What scenes with the real engine share: the tiny Qwen 3.5 on an MLX thread, and the cold run to compare it with."""

from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from mirza.events import LlmDone, SpeechDelta, ThinkingDelta, ToolCall
from mirza.llm.base import Message, ThinkingBudget
from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.settings import LlmSettings

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"
SYSTEM = "You are Mirza, a voice assistant."


@dataclass
class Answer:
    thought: str
    speech: str
    calls: list
    done: LlmDone
    ids: list
    """What was decoded, as the ledger has it."""


def tiny(thread, *, model=TINY, snapshot_dir=None, **settings):
    settings = {"temperature": 0.0, "mtp": "off", **settings}
    return MlxQwenLlm(str(model), LlmSettings(**settings), thread=thread, snapshot_dir=snapshot_dir)


def ledger(llm):
    return llm._engine.session.ids


async def ask(llm, messages, budget=0, tools=(), at_most=None):
    """Streams an answer; stops it after `at_most` events."""
    events = []
    async with aclosing(llm.stream(messages, thinking=ThinkingBudget(budget), tools=tools)) as stream:
        while at_most is None or len(events) < at_most:
            event = await anext(stream, None)
            if event is None:
                break
            events.append(event)
    return Answer(
        thought="".join(event.text for event in events if isinstance(event, ThinkingDelta)),
        speech="".join(event.text for event in events if isinstance(event, SpeechDelta)),
        calls=[event for event in events if isinstance(event, ToolCall)],
        done=events[-1] if events else None,
        ids=ledger(llm)[llm.stats.prompt_tokens :],
    )


async def cold(llm, prompt, budget=0, count=32):
    """The ids that a new cache gives for these tokens, fed at once and decoded one by one."""
    from mirza.llm.mlx.decoding import decode_plain
    from mirza.llm.mlx.sampler import TurnSampler
    from mirza.llm.mlx.session import Session

    engine = llm._engine

    def run():
        session = Session(engine.target, 4096)
        feeding = session.feed(prompt, keep=1)
        try:
            while True:
                next(feeding)
        except StopIteration as end:
            forward = end.value
        tail = engine.template.tail(budget > 0)
        calls = engine._tool_format
        sampler = TurnSampler(
            engine._sampling,
            engine.target.vocabulary,
            thought=engine.template.thought,
            tool_call=calls.start if calls else None,
            thinking=engine.template.thought_open(tail),
            budget=budget,
        )
        tokens = []
        for token in decode_plain(session, sampler, forward):
            tokens.append(token)
            if token in engine.stops or len(tokens) == count:
                return tokens

    return await llm._thread.call(run)


async def assert_exact(llm, answer, budget=0):
    """What was decoded warm is what a cold run over the same tokens decodes."""
    prompt = ledger(llm)[: llm.stats.prompt_tokens]
    want = await cold(llm, prompt, budget, count=max(1, len(answer.ids)))
    assert answer.ids == want[: len(answer.ids)]
    assert len(want) - len(answer.ids) <= 1  # under MTP the last token is not in the cache yet


def user(text):
    return Message("user", text)


def said(text, calls=()):
    return Message("assistant", text, tuple(calls))


QUESTIONS = [
    ("Turn on the kitchen lights, please.", 100),
    ("Count to 9.", 5),
    ("Éteins la lumière : salon.", 0),
    ("你好，世界。", 3),
]
