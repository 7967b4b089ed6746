"""`OpenAiLlm`: any OpenAI-compatible server as a language model.

Servers differ most in thinking. Some have a field for thoughts and a budget in tokens, some leave `<think>` in the
text, some do not even open it. Mirza asks one short question at load to find out which it is, sends what the server
understands, and enforces the rest itself: a thought that goes over the budget is cut, and the question is asked again
without thinking, since there is no way to go on from half a thought that every server knows.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from ipaddress import ip_address
from typing import cast
from urllib.parse import urlsplit

import openai
from openai import AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient
from openai.types.chat import ChatCompletionChunk
from pydantic import ValidationError

from mirza.errors import ServerError
from mirza.events import LlmDone, LlmEvent
from mirza.llm.base import BaseLlm, Message, OnProgress, ThinkingBudget, Tool
from mirza.llm.openai_answer import Answer, Part, ThoughtTooLong
from mirza.llm.openai_wire import BUDGET, PLAIN, request, understand
from mirza.llm.tags import TagSplitter
from mirza.settings import LlmSettings, OpenAiSettings

FAILURES = (openai.APIError, json.JSONDecodeError, UnicodeDecodeError, ValidationError)
"""What the openai package raises for a server's mistakes; the last three where a line of the stream is junk."""

PROBE = Message("user", "Say: ready.")
PROBE_TOKENS = 64

SPEED_GUESS = 20.0
"""Tokens a second, until the server's own speed has been seen: turns a budget in seconds into tokens."""


class OpenAiLlm(BaseLlm):
    """A language model behind an OpenAI-compatible server, over one kept client."""

    def __init__(
        self, server: OpenAiSettings, llm: LlmSettings, *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__()
        self.budget = ThinkingBudget.parse(llm.thinking_budget)
        self.model = server.model
        """The model's name there; found at load where the settings leave it open."""
        self._server, self._settings, self._clock = server, llm, clock
        self._client: AsyncOpenAI | None = None
        self._dialect = BUDGET
        self._opened: dict[bool, bool | None] = {False: None, True: None}
        """With thinking off, and on: whether the template opens a thought in the text; `None` until that was seen."""
        self._running = ThinkingBudget()
        self._speed = SPEED_GUESS

    @property
    def name(self) -> str:
        """The model's name there, or where it is as long as that is not known."""
        return self.model or self._server.base_url

    async def load(self, system: str = "", tools: Sequence[Tool] = (), on_progress: OnProgress | None = None) -> None:
        """Reaches the server, finds the model, and asks one short question, which also warms its cache.

        Raises:
            ServerError: it is not there, or refuses.
        """
        report = on_progress or _ignore
        report(f"asking {self._server.base_url} which models it has", 0.0)
        if not self.model:
            self.model = (await self.models())[0]
        report(f"asking {self.model} how it answers", 0.5)
        head = [Message("system", system)] if system else []
        for limit in {0, self._tokens(self.budget)}:
            await self._probe([*head, PROBE], tools, limit)
        report("ready", 1.0)

    async def models(self) -> list[str]:
        """The names of the models that the server has; at least one.

        Raises:
            ServerError: it is not there, refuses, or has none.
        """
        try:
            listed = await self._connected().models.list()
        except FAILURES as error:
            raise understand(error, self._server.base_url, self.model) from error
        if not listed.data:
            raise ServerError(
                f"The server at {self._server.base_url} lists no model.", "Load one, or set openai.model."
            )
        return [model.id for model in listed.data]

    async def unload(self) -> None:
        """Closes the connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def set_budget(self, budget: ThinkingBudget) -> None:
        """Sets the budget; lowered in the middle of a thought, it takes effect at once."""
        super().set_budget(budget)
        self._running = min(self._running, budget, key=self._tokens)

    async def _stream(
        self, messages: Sequence[Message], tools: Sequence[Tool], budget: ThinkingBudget
    ) -> AsyncGenerator[LlmEvent]:
        self._running = budget
        answer = Answer(self._clock, self._settings.max_tokens, lambda: self._tokens(self._running))
        try:
            try:
                async with aclosing(self._ask(messages, tools, self._tokens(budget), answer, self._settings)) as parts:
                    async for part in parts:
                        yield part
            except ThoughtTooLong:
                answer.note(
                    "the server thought beyond the budget: that thought was cut, and it was asked again without"
                )
                async with aclosing(self._ask(messages, tools, 0, answer, self._settings)) as parts:
                    async for part in parts:
                        yield part
        finally:
            self.stats = answer.stats()
            self._speed = self.stats.tokens_per_s or self._speed
        yield LlmDone(answer.reason, self.stats)

    async def _ask(
        self, messages: Sequence[Message], tools: Sequence[Tool], limit: int, answer: Answer, llm: LlmSettings
    ) -> AsyncGenerator[Part]:
        """One request. With a `limit` of 0, thoughts that come all the same are dropped."""
        thinking = limit > 0
        splitter = TagSplitter(opened=self._opened[thinking], tools=bool(tools))
        answer.begin(splitter, thinking=thinking)
        try:
            stream = await self._open_stream(messages, tools, limit, answer, llm)
            try:
                async for chunk in stream:
                    for part in answer.take(chunk):
                        yield part
                    if answer.full:
                        break
                for part in answer.end():
                    yield part
            finally:
                await stream.close()
        except FAILURES as error:
            raise understand(error, self._server.base_url, self.model) from error
        if not answer.finished:
            raise ServerError(f"The server at {self._server.base_url} broke off in mid-answer.", "Look at its log.")
        self._learn(thinking, answer)

    async def _open_stream(
        self, messages: Sequence[Message], tools: Sequence[Tool], limit: int, answer: Answer, llm: LlmSettings
    ) -> AsyncStream[ChatCompletionChunk]:
        """Sends the request; where the server refuses what is not OpenAI's, sends less of it, and remembers that."""
        refusal: openai.APIStatusError | None = None
        for dialect in range(self._dialect, PLAIN - 1, -1):
            arguments = request(self.model, messages, tools, llm, thinking=limit, dialect=dialect)
            try:
                stream = cast(object, await self._connected().chat.completions.create(**arguments))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refusal = refusal or error
                continue
            if dialect < self._dialect:
                answer.note("the server knows no thinking budget; it is enforced from here")
            self._dialect = dialect
            return cast(AsyncStream[ChatCompletionChunk], stream)
        assert refusal is not None
        raise refusal

    def _learn(self, thinking: bool, answer: Answer) -> None:
        """Remembers whether the template opens thoughts in the text, so that nothing is held back next time."""
        if answer.splitter.was_opened:
            self._opened[thinking] = True
        elif self._opened[thinking] is None and not answer.cut:
            self._opened[thinking] = False

    async def _probe(self, messages: Sequence[Message], tools: Sequence[Tool], limit: int) -> None:
        short = self._settings.model_copy(update={"max_tokens": PROBE_TOKENS})
        answer = Answer(self._clock, PROBE_TOKENS, lambda: limit)
        try:
            async with aclosing(self._ask(messages, tools, limit, answer, short)) as parts:
                async for _ in parts:
                    if answer.has_field:  # thoughts have their own field: the text holds none
                        self._opened[limit > 0] = False
                        break
        except ThoughtTooLong:
            pass  # it thinks at length about one word; what it does with tags is seen with the first answer
        self._speed = answer.stats().tokens_per_s or self._speed

    def _connected(self) -> AsyncOpenAI:
        """The kept client. Nothing comes from OpenAI's own environment variables: that key is not ours to send."""
        if self._client is None:
            self._client = AsyncOpenAI(
                base_url=self._server.base_url,
                api_key=self._server.api_key.get_secret_value() or "none",
                organization="",
                project="",
                timeout=self._server.timeout_s,
                max_retries=0,
                # A proxy that the environment names does not reach this machine's own servers.
                http_client=DefaultAsyncHttpxClient(trust_env=not _is_local(self._server.base_url)),
            )
        return self._client

    def _tokens(self, budget: ThinkingBudget) -> int:
        return budget.tokens if budget.seconds is None else round(budget.seconds * self._speed)


def _ignore(what: str, share: float) -> None:
    """For a caller who does not want to know how far loading is."""


def _is_local(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
