"""What small phrases mean to a conversation: "mhm" is no interruption, "stop" wants no answer, "and" is no end.

Lists, not a model: they are short, every entry can be argued about, and a language is added by adding its line.
Start values for assent and for stopping follow what users of other assistants reported (livekit/agents #4039, PR 6599).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum, auto

from mirza.llm.base import DEFAULT_THINKING_TOKENS, ThinkingBudget

# fmt: off
_ASSENT = {
    "en": "mhm mm mmm mm-hmm mmhmm mhmm hmm hm uh-huh uhhuh uh um ah oh yeah yep yes yup ok okay right sure i see got it "
          "wow nice cool really true exactly go on haha hahaha ha heh",
    "fr": "mhm mm hum hmm euh ah oh oui ouais d'accord ok okay voilà bien sûr je vois c'est vrai ah bon bon "
          "super génial exactement tout à fait haha hahaha ha",
    "de": "mhm mm hm hmm äh ähm ah oh ja jaja genau ok okay klar stimmt ach so gut haha hahaha",
    "es": "mhm mm hm hmm eh ah oh sí si ya vale claro ok okay bueno exacto de acuerdo jaja jajaja",
    "zh": "嗯 嗯嗯 哦 啊 对 对对 好 好的 是 是的 行 哈哈 哈哈哈",
    "ja": "うん うんうん はい ええ へえ そう そうですね なるほど ああ はは ハハ",
}
_STOP = {
    "en": "stop|stop it|stop please|please stop|stop talking|be quiet|quiet|shut up|enough|that's enough|silence|cancel|"
          "never mind|nevermind|hush|okay stop|ok stop|that's fine|thanks that's enough|mirza stop|wait|hold on|wait wait|"
          "wait stop|no stop|stop stop",
    "fr": "stop|arrête|arrête toi|arrêtez|tais toi|taisez vous|ça suffit|silence|chut|annule|laisse tomber|c'est bon|"
          "ok stop|stop merci|mirza stop|assez|attends|attendez|attends attends|non stop|une seconde",
    "de": "stopp|stop|warte|moment|halt|hör auf|ruhe|sei still|genug|das reicht|schluss|abbrechen|schon gut",
    "es": "para|stop|espera|un momento|basta|detente|cállate|silencio|alto|ya está|cancela|déjalo",
    "zh": "停|等等|等一下|停下|停止|别说了|够了|安静|闭嘴|取消|算了",
    "ja": "止めて|待って|ちょっと待って|やめて|ストップ|静かに|もういい|黙って|キャンセル",
}
_UNFINISHED = {  # words that cannot end a sentence; "turn it on" and "I think so" end well, so such words are not here
    "en": "and or but because if while whether unless although the a an of my your our their these those i we they he "
          "she it's i'm um uh to than into",
    "fr": "et ou mais donc car parce que qu' si lorsque le la les l' un une des du de d' à au aux mon ma mes ton ta tes "
          "son sa ses notre votre ce cet cette ces je tu euh comme",
    "de": "und oder aber weil wenn dass der die das ein eine einen von ich wir mein dein als äh",
    "es": "y o pero porque si que el la los las un una unos unas de del a al en con por mi tu su eh",
    "zh": "和 但是 因为 所以 如果 的 跟 或者 然后",
    "ja": "と が は を に で の も から けど それで でも",
}
_THINK = {
    "more": {
        "en": r"think (?:about (?:it|this|that) )?(?:harder|more|longer|deeply|properly|carefully|hard)"
              r"|take your time|think (?:it|this) (?:through|over)",
        "fr": r"réfléchis(?:sez)?(?: bien| plus| davantage| longuement)|prends(?: bien)? ton temps|prenez votre temps"
              r"|pense(?:z)?(?: bien| plus)",
        "de": r"denk(?:e)? (?:gut|gründlich|länger|genau) (?:darüber )?nach|lass dir zeit|überleg(?:e)? (?:gut|genau)",
        "es": r"piénsalo (?:bien|más)|piensa (?:bien|más)|tómate tu tiempo",
        "zh": r"(?:好好|仔细|认真)(?:地)?(?:想想|想一想|思考|考虑)(?:一下)?|慢慢想",
        "ja": r"(?:よく|じっくり|ゆっくり|もっと)考えて(?:ください)?",
    },
    "less": {
        "en": r"just answer|answer (?:quickly|right away|directly)|(?:don't|do not|no need to|stop) think(?:ing)?"
              r"(?: about it| so (?:long|much|hard))?|be quick|quick answer",
        "fr": r"réponds(?: juste| simplement| vite| directement| tout de suite)|ne réfléchis pas|sans réfléchir"
              r"|arrête de réfléchir|réponse rapide",
        "de": r"antworte (?:einfach|schnell|direkt|sofort)|denk nicht nach|ohne nachzudenken",
        "es": r"(?:solo|simplemente) responde|responde (?:ya|rápido|directamente)|no (?:lo )?pienses(?: tanto)?",
        "zh": r"直接回答|快点回答|别想了|不用想",
        "ja": r"(?:すぐ|早く)答えて(?:ください)?|考えなくていい",
    },
}
_FILLER = re.compile(
    r"\b(?:please|mirza|now|then|okay|ok|and|can you|could you|s'il te plaît|s'il vous plaît|bitte|por favor|about it|this time)\b"
    r"|请|ください", re.I)
# fmt: on


class Meaning(Enum):
    """What something said over the assistant's voice comes to."""

    NOTHING = auto()
    """No words, or none yet."""
    ASSENT = auto()
    """"Mhm", laughter: the assistant is being listened to."""
    STOP = auto()
    """"Stop": fall silent, and give no answer to that."""
    SPEECH = auto()
    """Anything else: the user wants the floor."""


def plain(text: str) -> str:
    """`text` in lower case, without punctuation, apostrophes made straight, spaces single."""
    text = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    return " ".join(re.sub(r"[^\w\s'\-]|_", " ", text).split())


_BEFORE_A_CALL = re.compile("^(?:the|a|uh|um|oh|no|euh|äh|eh) ")
"""What a word that is called out begins with, or is misheard to begin with: "The stop." was "Stop!"."""

_SOUNDS_LIKE = {"weight": "wait", "wade": "wait"}
"""Calls as recognisers write them, for want of a sentence around them: "Wait, wait." was "Wade weight." in some talks."""


def meaning(text: str, language: str = "en") -> Meaning:
    """What `text`, heard over the assistant's own voice, comes to."""
    said = plain(text)
    if not re.search(r"\w", said):
        return Meaning.NOTHING
    called = _BEFORE_A_CALL.sub("", said.replace("-", " "))
    if " ".join(_SOUNDS_LIKE.get(word, word) for word in called.split()) in _phrases(_STOP, language):
        return Meaning.STOP
    return Meaning.ASSENT if _all_assent(said, language) else Meaning.SPEECH


def _phrases(table: dict[str, str], language: str) -> set[str]:
    return set(f"{table.get(language, '')}|{table['en']}".split("|"))


def _all_assent(said: str, language: str) -> bool:
    """Whether `said` consists of nothing but words of assent; laughter and hums in any spelling count."""
    known = set(f"{_ASSENT.get(language, '')} {_ASSENT['en']}".split())
    if len(said.split()) > 4:
        return False
    return all(word in known or re.fullmatch(r"(?:[hmn]+|(?:ha|he|hi|ja)+h?|a+h+|o+h+)", word) for word in said.split())


def unfinished(text: str, language: str = "en") -> bool:
    """Whether `text` cannot be the end of a sentence: it breaks off after a word that needs another."""
    if text.rstrip().endswith(("...", "…", ",", "-", ":")):
        return True
    words = plain(text).split()
    if not words:
        return False
    open_words = set(_UNFINISHED.get(language, _UNFINISHED["en"]).split())
    if language in {"zh", "ja"}:
        return text.rstrip("。？！ ").endswith(tuple(open_words))
    asked = text.rstrip().endswith(("?", "!"))
    return words[-1] in open_words and not asked


@dataclass(frozen=True, slots=True)
class ThinkingRequest:
    """A spoken wish about thinking. `rest` is what else was said: the question, or nothing."""

    budget: ThinkingBudget
    rest: str


def thinking_request(text: str, language: str, now: ThinkingBudget) -> ThinkingRequest | None:
    """The wish to think more ("think about it properly") or less ("just answer") in `text`, if there is one.

    More is twice the budget there was, at least `DEFAULT_THINKING_TOKENS`; less is off.
    """
    for wish in ("more", "less"):
        for code in dict.fromkeys((language, "en")):
            pattern = _THINK[wish].get(code)
            match = re.search(rf"(?<!\w)(?:{pattern})(?!\w)", text.replace("’", "'"), re.I) if pattern else None
            if match is None or not _opens_a_clause(text[: match.start()]):
                continue
            more = ThinkingBudget(max(DEFAULT_THINKING_TOKENS, 2 * now.tokens))
            rest = f"{text[: match.start()]} {text[match.end() :].lstrip(' ,.:;!')}"
            return ThinkingRequest(more if wish == "more" else ThinkingBudget(0), _strip(rest))
    return None


def _opens_a_clause(before: str) -> bool:
    """Whether what follows `before` begins a clause: "I think more people ..." asks for nothing."""
    before = _FILLER.sub(" ", before).rstrip()
    return not before or before[-1] in ".,;:!?。，！？"


def _strip(rest: str) -> str:
    """`rest` without the politeness around a request; empty if nothing of substance is left."""
    if not re.search(r"\w", _FILLER.sub(" ", rest)):
        return ""
    return re.sub(r"^[\s,.:;!?]+|[\s,:;]+$", "", re.sub(r"\s+", " ", rest))
