"""Tokens in, text out, one token at a time: safe in every script, with nothing held back that is certain.

A token is a piece of bytes, not of text: one emoji may span four tokens, and one token may end inside a character. So
the bytes of each token go through an incremental UTF-8 decoder, which gives every character in the moment it is whole.
mlx-vlm 0.7.10's own detokeniser waits for a token that begins with a space: a Chinese answer came in one piece, last.

Which bytes a token stands for is asked of the tokenizer's decoder by what it does: its kind cannot be read from it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from functools import cache
from typing import Protocol, cast

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "▁"
_BROKEN = "\ufffd"
_LONGEST_CHARACTER = 4
"""Bytes of the longest UTF-8 character, so tokens that can lie between the start of a character and its end."""


class Tokenizer(Protocol):
    """What is used of a transformers tokenizer here."""

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool, clean_up_tokenization_spaces: bool) -> str: ...

    def convert_ids_to_tokens(self, ids: int) -> str | None: ...


class Detokenizer:
    """The text of one stream of tokens: `push` each id, then `flush`.

    Control tokens (those that the tokenizer marks as special) have no text, and neither have ids that the tokenizer
    does not know: a model's embedding is often padded beyond its vocabulary.
    """

    def __init__(self, tokenizer: object) -> None:
        self._spell = _speller(tokenizer)

    def push(self, token_id: int) -> str:
        """The characters that this token makes whole; may be empty."""
        return self._spell.push(token_id)

    def flush(self) -> str:
        """The characters still held back. The start of a character that never ended is no character, and is dropped."""
        return self._spell.flush()


class _Speller(Protocol):
    def push(self, token_id: int) -> str: ...

    def flush(self) -> str: ...


def _speller(tokenizer: object) -> _Speller:
    added = _added_tokens(tokenizer)
    decode = _decoder(tokenizer)
    if decode is None:
        return _DecodeTwice(cast(Tokenizer, tokenizer))
    if decode(["Ã", "©"]) == "é":
        return _Bytes(cast(Tokenizer, tokenizer), added, _byte_level)
    if decode([f"{_SPACE}a", f"{_SPACE}b"]).endswith("a b"):
        with_bytes = decode(["<0xC3>", "<0xA9>"]) == "é"
        strips = not decode([f"{_SPACE}a"]).startswith(" ")
        return _Bytes(cast(Tokenizer, tokenizer), added, _pieces_with_bytes if with_bytes else _pieces, strips)
    return _DecodeTwice(cast(Tokenizer, tokenizer))


class _Bytes:
    """For tokenizers whose tokens each stand for fixed bytes."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        added: dict[int, str],
        spell: _Spelling,
        strip_first_space: bool = False,
    ) -> None:
        self._tokenizer = tokenizer
        self._added = added
        self._spell = spell
        self._strip = strip_first_space
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token_id: int) -> str:
        text = self._utf8.decode(self._bytes(token_id))
        if self._strip and text:
            self._strip = False
            text = text.removeprefix(" ")
        return text

    def _bytes(self, token_id: int) -> bytes:
        if token_id in self._added:
            return self._added[token_id].encode()
        token = self._tokenizer.convert_ids_to_tokens(token_id)
        return b"" if token is None else self._spell(token)

    def flush(self) -> str:
        # The decoder holds bytes only while they may still become a character.
        self._utf8.reset()
        return ""


class _Spelling(Protocol):
    def __call__(self, token: str, /) -> bytes: ...


def _byte_level(token: str) -> bytes:
    alphabet = _byte_alphabet()
    if all(character in alphabet for character in token):
        return bytes(alphabet[character] for character in token)
    return token.encode()


@cache
def _byte_alphabet() -> dict[str, int]:
    """The characters that byte-level tokenizers write bytes with: printable ones as they are, others from U+0100 on.

    Source: `bytes_to_unicode` of openai/gpt-2, src/encoder.py, which all of them keep to.
    """
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + place): byte for place, byte in enumerate(others)}


def _pieces(token: str) -> bytes:
    return token.replace(_SPACE, " ").encode()


def _pieces_with_bytes(token: str) -> bytes:
    if match := _BYTE_TOKEN.fullmatch(token):
        return bytes([int(match[1], 16)])
    return _pieces(token)


class _DecodeTwice:
    """For any other tokenizer: decodes the last tokens with and without the new one, and gives the difference."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._shown: list[int] = []
        """The last tokens whose text is out; they decide on the space before the next."""
        self._held: list[int] = []

    def push(self, token_id: int) -> str:
        self._held.append(token_id)
        text = self._new_text()
        if text.endswith(_BROKEN) and len(self._held) < _LONGEST_CHARACTER:
            return ""
        self._shown, self._held = self._held, []
        return text

    def flush(self) -> str:
        text = self._new_text() if self._held else ""
        self._shown, self._held = [], []
        return text.removesuffix(_BROKEN)

    def _new_text(self) -> str:
        before, after = self._decode(self._shown), self._decode(self._shown + self._held)
        return after[len(before) :] if after.startswith(before) else after

    def _decode(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


# --- what is asked of the tokenizer ----------------------------------------------------------------------------------


class _Decode(Protocol):
    def __call__(self, tokens: Sequence[str], /) -> str: ...


class _Decoder(Protocol):
    decode: _Decode


class _Backend(Protocol):
    decoder: _Decoder | None


class _AddedToken(Protocol):
    content: str
    special: bool


def _decoder(tokenizer: object) -> _Decode | None:
    """The decoder of a tokenizer that runs on the `tokenizers` library; none for one written in Python."""
    backend = cast(_Backend | None, getattr(tokenizer, "backend_tokenizer", None))
    return backend.decoder.decode if backend is not None and backend.decoder is not None else None


def _added_tokens(tokenizer: object) -> dict[int, str]:
    """Tokens that stand for their own text, not for bytes in the tokenizer's alphabet; control tokens for none."""
    table = cast(dict[int, _AddedToken], getattr(tokenizer, "added_tokens_decoder", {}))
    return {token_id: "" if token.special else token.content for token_id, token in table.items()}
