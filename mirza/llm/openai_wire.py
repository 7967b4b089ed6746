"""What goes over the wire to an OpenAI-compatible server, and what its refusals mean."""

# The openai package's unions are wider than what is read here; this file is the border.
# pyright: reportUnknownMemberType=false
from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import openai
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice, ChoiceDelta, ChoiceDeltaToolCall

from mirza.errors import ServerError
from mirza.events import ToolCall
from mirza.llm.base import Message, Tool
from mirza.settings import LlmSettings

PLAIN, SWITCH, BUDGET = 0, 1, 2
"""How much of what is not OpenAI's a server understands: nothing, a switch for thinking, a budget in tokens."""


def request(
    model: str, messages: Sequence[Message], tools: Sequence[Tool], llm: LlmSettings, *, thinking: int, dialect: int
) -> dict[str, Any]:
    """The arguments of `chat.completions.create` for one answer with at most `thinking` tokens of thought."""
    arguments: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in messages],
        "max_tokens": llm.max_tokens + thinking,  # servers count thoughts as well
        "stream": True,
        "stream_options": {"include_usage": True},
        "extra_body": _extra(llm, thinking, dialect),
    }
    if tools:
        arguments["tools"] = [tool.schema() for tool in tools]
    for name in ("temperature", "top_p", "seed"):
        if (value := dict(llm)[name]) is not None:
            arguments[name] = value
    for name in ("presence_penalty", "frequency_penalty"):
        if value := dict(llm)[name]:
            arguments[name] = value
    if llm.logit_bias:
        arguments["logit_bias"] = {str(token): bias for token, bias in llm.logit_bias.items()}
    return arguments


def _extra(llm: LlmSettings, thinking: int, dialect: int) -> dict[str, Any]:
    """What is not in OpenAI's API. Samplers that a person has set are sent whatever the dialect: they asked for them.

    Sources: `chat_template_kwargs`, vLLM and SGLang documentation, mlx_lm/server.py 0.32; `thinking_token_budget`,
    vLLM's chat request; `thinking_budget_tokens`, llama.cpp's server; `reasoning_effort` "none", llama.cpp PR 26045.
    """
    extra: dict[str, Any] = {
        name: value for name in ("top_k", "min_p", "repetition_penalty") if (value := dict(llm)[name]) is not None
    }
    if dialect >= SWITCH:
        extra["chat_template_kwargs"] = {"enable_thinking": thinking > 0}
    if dialect >= BUDGET and thinking:
        extra |= {"thinking_token_budget": thinking, "thinking_budget_tokens": thinking}
    elif dialect >= BUDGET:
        extra["reasoning_effort"] = "none"
    return extra


def _message(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        wire["tool_call_id"] = message.tool_call_id
    return wire


def choice_of(chunk: object) -> Choice | None:
    """The one choice in a chunk, or `None` for a chunk without (usage comes in one).

    Raises:
        ServerError: it is no chunk of a chat. The openai package builds its values without checking them.
    """
    if not isinstance(chunk, ChatCompletionChunk) or "choices" not in chunk.model_fields_set:
        raise ServerError("The server sent something that is no part of a chat.", "Is openai.base_url right?")
    choice = chunk.choices[0] if chunk.choices else None
    return choice if choice is not None and "delta" in choice.model_fields_set and choice.delta else None  # pyright: ignore[reportUnnecessaryComparison]


def reasoning(delta: ChoiceDelta) -> str:
    """The thought in a delta: `reasoning_content` (SGLang, llama.cpp) or `reasoning` (Ollama, mlx_lm, vLLM)."""
    extra = delta.model_extra or {}
    thought = extra.get("reasoning_content") or extra.get("reasoning")
    return thought if isinstance(thought, str) else ""


class CallParts:
    """Tool calls, put together from the pieces in which they are streamed."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._ids: dict[int, str] = {}
        self._arguments: dict[int, str] = {}

    def push(self, parts: Sequence[ChoiceDeltaToolCall]) -> None:
        """Takes the next pieces. Some servers leave out the id, or say the name again."""
        for part in parts:
            index = part.index
            self._ids[index] = self._ids.get(index) or part.id or f"call_{index}"
            if part.function is not None:
                self._names[index] = self._names.get(index) or part.function.name or ""
                self._arguments[index] = self._arguments.get(index, "") + (part.function.arguments or "")

    def finished(self) -> list[ToolCall]:
        """The whole calls, in order. One without a name is none."""
        return [
            ToolCall(self._ids[index], name, self._arguments.get(index) or "{}")
            for index, name in sorted(self._names.items())
            if name
        ]


MEANINGS: tuple[tuple[type[openai.APIError], str, str], ...] = (
    (openai.APITimeoutError, "The server at {address} went silent.", "Look at it, or raise openai.timeout_s."),
    (
        openai.APIConnectionError,
        "Nothing answers at {address}, or it broke off.",
        "Start the server, or set openai.base_url to where it is.",
    ),
    (
        openai.AuthenticationError,
        "The server at {address} wants a key, or another one.",
        "Set it: `mirza settings set openai.api_key KEY`.",
    ),
    (openai.PermissionDeniedError, "The server at {address} does not let this key in: {said}", "Set openai.api_key."),
    (
        openai.NotFoundError,
        "The server at {address} does not know the model {model!r}, or is no such server.",
        "Set openai.model to one that it has; openai.base_url usually ends in /v1.",
    ),
    (openai.RateLimitError, "The server at {address} has too much to do: {said}", "Wait a little."),
    (openai.InternalServerError, "The server at {address} failed: {said}", "Look at its log."),
    (openai.APIError, "The server at {address} refused: {said}", "Change what it names."),
)
"""What each failure means, and what to do; the first that fits."""


def understand(error: Exception, address: str, model: str) -> ServerError:
    """What a failure of the openai package means, in words."""
    for kind, what, do in MEANINGS:
        if isinstance(error, kind):
            return ServerError(what.format(address=address, model=model, said=_said(error)), do)
    return ServerError(f"What the server at {address} sent is no chat.", "Is openai.base_url right?")


def _said(error: openai.APIError) -> str:
    """The server's own words, on one line."""
    body = error.body
    text = json.dumps(body) if isinstance(body, dict) and "message" not in body else error.message
    return " ".join(text.split())[:300].rstrip(".") + "."
