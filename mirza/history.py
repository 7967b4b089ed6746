"""What was said and heard: the messages of a conversation, as the model will see them again."""

from __future__ import annotations

from collections.abc import Iterable

from mirza.llm.base import Message, ToolCall

LOST_ANSWER = "Interrupted by the user before the tool answered."


class History:
    """The messages after the system prompt. An assistant message holds what was heard of the answer, and no more."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages: list[Message] = list(messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def with_system(self, system: str) -> list[Message]:
        """The messages with the system prompt in front, if there is one."""
        head = [Message("system", system)] if system else []
        return [*head, *self._messages]

    def add_user(self, text: str) -> None:
        self._messages.append(Message("user", text))

    def add_answer(self, heard: str) -> None:
        """Remembers what was heard of an answer; an answer of which nothing was heard was none."""
        if heard.strip():
            self._messages.append(Message("assistant", heard))

    def add_tool_exchange(self, said: str, answers: Iterable[tuple[ToolCall, str]]) -> None:
        """Remembers tool calls with their answers. Each call has one, or the conversation could not go on."""
        pairs = list(answers)
        self._messages.append(Message("assistant", said, tool_calls=tuple(call for call, _ in pairs)))
        self._messages.extend(Message("tool", content, tool_call_id=call.id) for call, content in pairs)

    def undo(self) -> str | None:
        """Takes the last user message and all that followed back; returns its text, or `None` where there is none."""
        for index in range(len(self._messages) - 1, -1, -1):
            if self._messages[index].role == "user":
                text = self._messages[index].content
                del self._messages[index:]
                return text
        return None

    def clear(self) -> None:
        self._messages.clear()
