"""Addresses, said short: what a person would say to be understood, not every character."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker

_URL = re.compile(
    r"(?:https?://|ftp://|www\.)[^\s<>\"'“”«»\u3000-\uffef]*[^\s<>\"'“”«»\u3000-\uffef.,;:!?)\]}*]", re.IGNORECASE
)
_EMAIL = re.compile(r"(?:mailto:)?([\w+%-]+(?:\.[\w+%-]+)*)@([\w-]+(?:\.[\w-]+)+)", re.ASCII)
_HANDLE = re.compile(r"@([A-Za-z_]\w*)")
_TOP = (
    "com|org|net|io|ai|dev|app|edu|gov|info|co|uk|fr|de|es|it|eu|ch|at|be|ca|us|cn|jp|in|me|tv|js|py|ts|txt|md|html|css|"
    "json|xml|csv|pdf|png|jpg|zip|exe|toml|yaml|yml|sh|rs|go|rb|java|cpp|doc|docx|xlsx|mp3|mp4|gov|mx|br|ru|nl|pl"
)
EXTENSIONS = "docx?|xlsx?|pptx?|pdf|txt|csv|md|html?|css|json|xml|ya?ml|png|jpe?g|gif|zip|rar|exe|py|js|ts|java|cpp|mp[34]|mov|wav|apk"
"""Of files whose names are in other letters: 报告.docx."""
_DOMAIN = re.compile(
    rf"[A-Za-z0-9_][\w-]*(?:\.[A-Za-z0-9_][\w-]*)*\.(?:{_TOP})(?:\.[a-z]{{2}})?(?![\w@])(?:/[\w./%#?=&~+-]*[\w/])?",
    re.ASCII,
)
_PATH = re.compile(
    r"(?<![\w/%.)])(?:~|\.{1,2})?(?:/[\w.@-]*[\w@-])+/?|(?<=[\u3040-\u30ff\u3400-\u9fff])(?:~|\.{1,2})(?:/[A-Za-z\d_.@-]*[A-Za-z\d_@-])+/?"
)
_HIDDEN = re.compile(r"(?<![\w.])\.((?:[a-z]|[A-Z]{2})[\w-]*(?:\.[A-Za-z][\w-]*)*)", re.ASCII)
"""`.env`, `.NET`"""
_MEMBER = re.compile(r"[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+(?:\(\))?|[A-Za-z_]\w*(?:\.[A-Za-z_]\w{2,})+(?:\(\))?", re.ASCII)


def rules(speaker: Speaker) -> list[Rule]:
    """Web and e-mail addresses, file names, dotted names."""
    words = speaker.words

    def host(name: str) -> str:
        labels = [label for label in name.split(".") if label]
        return f" {words.dot} ".join(spell(speaker, label) for label in labels)

    def url(match: re.Match[str]) -> str:
        address = re.sub(r"^(?:\w+://)?(?:[^/@]*@)?(?:www\.)?", "", match.group(), flags=re.IGNORECASE)
        parts = re.match(r"([^/?#:]+)(?::\d+)?(/[\w.%-]+)?(.*)", address)
        if parts is None:
            return ""
        said = host(parts[1])
        path = parts[2]
        if path and not parts[3].strip("/") and len(path) <= 20 and not re.search(r"[%\d]{3}", path):
            said += f" {words.slash} " + host(path[1:])
        return said

    def email(match: re.Match[str]) -> str:
        return f"{host(match[1])} {words.at} {host(match[2])}"

    def handle(match: re.Match[str]) -> str:
        return f"{words.at} {spell(speaker, match[1])}"

    def domain(match: re.Match[str]) -> str:
        name, _, path = match.group().partition("/")
        short = path.strip("/")
        said = host(name)
        if short and "/" not in short and len(short) <= 20:
            said += f" {words.slash} " + host(short)
        return said

    def path(match: re.Match[str]) -> str:
        names = [name for name in match.group().strip("~/").split("/") if name.strip(".")]
        said = [f"{words.dot} {host(name)}" if name.startswith(".") else host(name) for name in names]
        return f" {words.slash} ".join(said)

    def member(match: re.Match[str]) -> str | None:
        if re.fullmatch(r"(?:[A-Za-z]\.)*[A-Za-z]", match.group()):
            return None
        if f"{match.group()}." in speaker.language.abbreviations:
            return None
        return host(match.group().removesuffix("()"))

    def local(match: re.Match[str]) -> str:
        port = speaker.number(match[1]) if match[1] else ""
        folders = [host(part) for part in (match[2] or "").split("/") if part]
        return f" {words.slash} ".join([speaker.join("localhost", port), *folders])

    return [
        Rule("a", re.compile(r"localhost(?::(\d{2,5}))?(/[\w./-]*\w/?)?(?:\?[\w=&]*)?"), local, first="l"),
        Rule("a", _URL, url, first="hHfFwW"),
        Rule("a0$", _EMAIL, email, then=r"[\w.+%-]*(?:@|\Z)", first=r"\w+%\-"),
        Rule("$", re.compile(r"@[\^~](?=\d)"), lambda _: words.at, first="@"),
        Rule("$", _HIDDEN, lambda match: f"{words.dot} {host(match[1])}", first="."),
        Rule("$", _HANDLE, handle, first="@"),
        Rule("$", _PATH, path, first="~./"),
        Rule("a0", _DOMAIN, domain, then=r"[\w.-]*(?:\.[a-z]|\Z)", first="A-Za-z_"),
        Rule("a", _MEMBER, member, first="A-Za-z_"),
    ]


def spell(speaker: Speaker, label: str) -> str:
    """A label of an address: its words, its digits as numbers."""
    parts = re.findall(r"\d+|[^\W\d_]+|[-+]", label)
    said: list[str] = []
    for part in parts:
        if part.isdecimal():
            said.append(speaker.number(part) if speaker.language.spaced else speaker.numbers.digits(part))
        elif part == "-":
            said.append(speaker.words.dash)
        elif part == "+":
            said.append(speaker.words.plus)
        else:
            said.append("".join(char for char in part if char.isalpha()))  # `²` counts as a word's character
    return " ".join(said)
