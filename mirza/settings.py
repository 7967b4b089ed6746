"""Everything that can be changed, typed.

Flags win over `MIRZA_*` environment variables, these over the user's file, that over `config/*.toml`, that over the
defaults below. Every field has a default that works, a unit, and one line on when to change it; `config/mirza.toml` and
`docs/settings.md` are made from this file, and a test compares them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from mirza.errors import SettingsError
from mirza.llm.base import ThinkingBudget


def _budget(value: object) -> object:
    """Lets a file say `256` and `false` where the tree has text, and refuses what is no budget."""
    text = "off" if value is False else "on" if value is True else str(value)
    try:
        ThinkingBudget.parse(text)
    except SettingsError as error:
        raise ValueError(str(error)) from error
    return text


Unit = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0, le=120)]
Name = Annotated[str, Field(min_length=1)]
Folder = Annotated[Path, AfterValidator(Path.expanduser)]
Budget = Annotated[
    str,
    BeforeValidator(_budget),
    Field(json_schema_extra={"takes": "a number of tokens, seconds like 1.5s, or off"}),
]
Language = Annotated[
    str,
    Field(pattern=r"^(auto|[a-z]{2,3})$", json_schema_extra={"takes": "a language code like en or fr, or auto"}),
]
Address = Annotated[
    str,
    Field(pattern=r"^https?://\S+$", json_schema_extra={"takes": "an address that begins with http:// or https://"}),
]

SYSTEM_PROMPT = (
    "You are Mirza, a friendly voice assistant. Answer in one or two short sentences, in plain words, "
    "without lists, in the language of the user."
)


class Section(BaseModel):
    """A group of settings: unknown names are errors."""

    model_config = ConfigDict(
        extra="forbid",
        validate_assignment=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class LlmSettings(Section):
    """The language model."""

    engine: Name = "mlx"
    """`mlx`, `openai`, `scripted`, or the name of an engine that a package adds. Change it to use a server."""
    model: Name = "auto"
    """A catalogue name, a hub repository, or a folder. `auto` takes what fits this machine and can be had."""
    system: str = SYSTEM_PROMPT
    """The system prompt. Change it to give Mirza another character."""
    thinking_budget: Budget = "off"
    """`off`, a number of tokens, or seconds like `1.5s`. Raise it for hard questions. Can change while Mirza runs."""
    max_tokens: int = Field(default=512, ge=1, le=32768)
    """Tokens of an answer at most, thoughts not counted. Lower it if answers ramble."""
    context_tokens: int = Field(default=8192, ge=256, le=262144)
    """Tokens of conversation that the model sees; older exchanges leave. Raise it for long talks, if memory allows."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Randomness; 0 is greedy. Unset: the model's own."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus sampling. Unset: the model's own."""
    top_k: int | None = Field(default=None, ge=0)
    """Sample among this many tokens; 0 is all. Unset: the model's own."""
    min_p: float | None = Field(default=None, ge=0, le=1)
    """Drop tokens less likely than this share of the best. Unset: the model's own."""
    repetition_penalty: float | None = Field(default=None, gt=0, le=2)
    """Above 1 makes repeating less likely. Raise it if a small model loops."""
    presence_penalty: float = Field(default=0.0, ge=-2, le=2)
    """Above 0 makes words that were said once less likely."""
    frequency_penalty: float = Field(default=0.0, ge=-2, le=2)
    """Above 0 makes words less likely each time they are said."""
    logit_bias: dict[int, float] = Field(default_factory=dict)
    """Token id to a number added to its logit. For makers."""
    seed: int | None = None
    """Set it to get the same sampled answers again."""
    mtp: Literal["auto", "on", "off"] = "auto"
    """Multi-token prediction. `auto` measures at load and uses it where it pays."""
    drafter: str = ""
    """A repository or folder of an MTP drafter. Empty: the model's own head, or none."""
    draft_depth: int = Field(default=3, ge=1, le=8)
    """Tokens drafted at most in one round."""
    prefill_step: int = Field(default=2048, ge=16, le=16384)
    """Tokens fed to the model at once; on a CPU 256 at most. Lower it if interruptions in long prompts come late."""
    kv_bits: Literal[0, 4, 8] = 0
    """Bits of the key-value cache; 0 is full. Not exact: saves memory in very long conversations."""
    snapshots: bool = True
    """Keep the model's state of the system prompt and of conversations on disk, so that the next start is warm."""
    snapshots_max_gb: float = Field(default=2.0, ge=0, le=1000)
    """Disk for snapshots, in GB; the oldest leave."""
    cache_limit_gb: float = Field(default=1.0, ge=0, le=64)
    """MLX keeps at most this much freed memory for reuse, in GB."""
    trust_remote_code: bool = False
    """Run Python code that comes with a model. Only for models whose code you have read."""


class OpenAiSettings(Section):
    """An OpenAI-compatible server, for `llm.engine = "openai"`."""

    base_url: Address = "http://localhost:8000/v1"
    """Where the server is. The conversation is sent there: on another machine, it leaves this one."""
    api_key: SecretStr = SecretStr("")
    """Sent as a bearer token, if the server wants one."""
    model: str = ""
    """The model's name there. Empty: the first that the server lists."""
    timeout_s: float = Field(default=30.0, gt=0, le=600)
    """Seconds without a byte after which the server counts as gone."""


class SttSettings(Section):
    """Speech recognition."""

    engine: Name = "auto"
    """`moonshine` (English, quick), `whisper` (many languages), `mlx-audio` (Apple silicon), or an added one."""
    model: str = ""
    """The engine's model. Empty: its default."""
    language: Language = "en"
    """ISO 639-1 code of what you speak, or `auto` to find out."""

    @property
    def spoken(self) -> str | None:
        """The language that is spoken, where it is known."""
        return None if self.language == "auto" else self.language


class TtsSettings(Section):
    """Speech synthesis."""

    engine: Name = "auto"
    """`piper` (English, quick), `kokoro` (English, French and more), `espeak`, `mlx-audio`, or an added one."""
    model: str = ""
    """The engine's model. Empty: its default."""
    voice: str = ""
    """The voice. Empty: the language's default. Can change while Mirza runs."""
    speed: float = Field(default=1.0, ge=0.5, le=2.0)
    """How fast it speaks."""


class TurnSettings(Section):
    """Turn taking: when a turn begins and ends, and what an interruption is."""

    voice_threshold: Unit = 0.5
    """Probability above which sound is voice. Raise it in a noisy room."""
    start_s: Seconds = 0.2
    """Voice this long begins a turn. Raise it if coughs wake Mirza."""
    stop_s: Seconds = 0.2
    """Silence this long makes Mirza ask whether the turn is over."""
    max_wait_s: Seconds = 2.0
    """Silence this long ends a turn, however unfinished it sounds. Lower it if Mirza waits too long."""
    complete_threshold: Unit = 0.5
    """Probability above which a turn counts as finished."""
    preroll_s: Seconds = 0.4
    """Sound kept from before voice was noticed, so that no first syllable is lost."""
    max_turn_s: Seconds = 60.0
    """A turn longer than this is answered."""
    barge_in: bool = True
    """Whether speaking over Mirza interrupts it."""
    confirm_s: Seconds = 0.35
    """Voice this long over Mirza's own is looked at as an interruption."""
    duck_gain: Unit = 0.3
    """Volume while a possible interruption is looked at, 0 to 1."""
    push_to_talk: bool = False
    """Listen only while the key is held."""


class AudioSettings(Section):
    """Devices."""

    input: str = ""
    """Microphone: a part of its name, or its number. Empty: the system's default. `mirza doctor` lists them."""
    output: str = ""
    """Loudspeaker: a part of its name, or its number. Empty: the system's default."""
    volume: Unit = 1.0
    """Loudness of Mirza's voice, 0 to 1. Can change while Mirza runs."""
    echo_cancel: Literal["auto", "on", "off"] = "auto"
    """Remove Mirza's own voice from the microphone. `off` saves a little work with headphones."""
    wake_word: str = ""
    """Listen for this word first: `hey_jarvis`, `okay_nabu`, `alexa`, `hey_mycroft`. Empty: always listening."""


class ConversationSettings(Section):
    """What Mirza remembers, and how it behaves while it thinks."""

    save: bool = True
    """Keep conversations on this disk."""
    cue_after_s: Seconds = 0.7
    """When thinking is expected to take longer than this, a short cue says so. 0 is never."""
    speculate: bool = True
    """Begin the answer at the probable end of a turn, and throw it away if the turn goes on."""
    prefill: bool = True
    """Feed what is understood so far to the model while the user talks."""


class ConsoleSettings(Section):
    """The full-screen console."""

    theme: str = ""
    """Its colours, as the command palette (Ctrl-P) names them: it keeps your choice here. Empty: the terminal's own."""


class LogSettings(Section):
    """Logging."""

    level: Literal["TRACE", "DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """What goes into the log file."""
    console_level: Literal["TRACE", "DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    """What goes to the terminal."""
    transcripts: bool = False
    """Write what is said into the log. It is personal: leave it off unless you hunt a fault."""


class PathSettings(Section):
    """Mirza's folders. It writes nowhere else."""

    data: Folder | None = None
    """Conversations and logs. Unset: the system's place for an application's data."""
    cache: Folder | None = None
    """Models and snapshots. Unset: the system's place for caches."""


class SettingsTree(Section):
    """All settings."""

    llm: LlmSettings = Field(default_factory=LlmSettings)
    openai: OpenAiSettings = Field(default_factory=OpenAiSettings)
    stt: SttSettings = Field(default_factory=SttSettings)
    tts: TtsSettings = Field(default_factory=TtsSettings)
    turns: TurnSettings = Field(default_factory=TurnSettings)
    audio: AudioSettings = Field(default_factory=AudioSettings)
    conversation: ConversationSettings = Field(default_factory=ConversationSettings)
    console: ConsoleSettings = Field(default_factory=ConsoleSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    paths: PathSettings = Field(default_factory=PathSettings)
