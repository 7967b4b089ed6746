"""What people write to one another in Chinese and Japanese: faces of brackets, pictures, tags, names behind an @."""

from __future__ import annotations

import re

from mirza.speech.text.places import CJK
from mirza.speech.text.say.base import SPACE, Rule, Speaker

_SIGNS = r"\^´`｀￣≧≦▽∀ω∇□°•д;；∂◕ᴗ⌒ー"
_ARMS_BEFORE = "mヽヾ٩╮ᕕo＼┐ε"
_FACE = re.compile(
    rf"[{_ARMS_BEFORE}]?[(（](?:づ?[￣^゜]3[￣^゜]|(?=[^()（）]{{0,9}}[{_SIGNS}]|[TQ]_?[TQ]|[-=]_[-=]|[oOΘ]_[oOΘ]|>[_.]?<)"
    rf"[{_SIGNS}\s<>_\-=+.,·・:'\"*~〜～oOTQuUДノﾉシツ皿益ロ口з｡。!！?？و╯︵̀́]{{2,14}})[)）][mづ❤/ﾉノو╭╯ゞ゛ｂ┌︵┻━ーε~～;；]*"
)
"""`(*´∀｀*)`, `(づ￣3￣)づ`, `m(_ _)m`"""
_HATS = re.compile(r"\^_?[\^;ー]+;?")
_FIRST_OF_PICTURES = "\U0001f000-\U0001faff\u2600-\u2604\u2607-\u2669\u266d-\u2775\u2794-\u27bf⭐"
_PICTURES = re.compile(f"[{_FIRST_OF_PICTURES}][\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d ]*")
_TAGGED = re.compile(rf"#([{CJK}A-Za-z_]+)(?:#|(?={SPACE})|\Z)")
"""`#旅行#` is how a tag is written in China, `#旅行 ` elsewhere."""
_OPENED = re.compile(r"#(?=[^\s#]{1,20}#)(?!\d+[,，])")
_CLOSED = re.compile(rf"(?<=[{CJK}\d])#")
_HANDLE = re.compile(rf"(?:(?<=[\s#])|(?<!.))@([{CJK}]{{1,12}})(?={SPACE})|(?<=[\s#])@()(?=[{CJK}])")


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.spaced:
        return []
    pause, hashtag, at = speaker.words.pause, speaker.words.hashtag, speaker.words.at

    def face(match: re.Match[str]) -> str:
        """Where a picture stands, a clause has ended."""
        return pause if re.search(r"\w", match.string[match.end() :]) else ""

    def tagged(match: re.Match[str]) -> str:
        return f"{pause}{hashtag}{match[1].replace('_', ' ')}{pause}"

    def closed(match: re.Match[str]) -> str | None:
        return pause if match.string.count("#", 0, match.start()) % 2 else None

    def handle(match: re.Match[str]) -> str:
        return pause + at + (match[1] + pause if match[1] else "")

    return [
        Rule("$a", _FACE, face, first=f"(（{_ARMS_BEFORE}"),
        Rule("$", _PICTURES, face, first=_FIRST_OF_PICTURES),
        Rule("$", re.compile("】"), face, first="】"),
        Rule("$", _HATS, face, first=r"\^"),
        Rule("$", _CLOSED, closed, first="#"),
        Rule("$", _TAGGED, tagged, first="#"),
        Rule("$", _OPENED, lambda _: pause + hashtag, first="#"),
        Rule("$", _HANDLE, handle, first="@"),
    ]
