"""Formulas: `\\( … \\)`, `$ … $` and the commands between them, as the characters that they stand for."""

from __future__ import annotations

import re

from mirza.speech.text.source import Source

_COMMAND = re.compile(r"\\[A-Za-z]{1,20}")
_DEEP = r"(?:[^{}\n]|\{[^{}\n]{0,40}\}){0,80}"
_INNER = rf"(?:[^{{}}\n]|\{{{_DEEP}\}}){{0,80}}"
"""What is in braces, with braces in them, and in those."""
_DEEP_BEGUN = rf"{_DEEP}(?:\{{[^{{}}\n]{{0,40}})?"
_INNER_BEGUN = rf"{_INNER}(?:\{{{_DEEP_BEGUN})?"
_FRACTION = re.compile(rf"\\[dt]?frac\s{{0,4}}\{{({_INNER})\}}\s{{0,4}}\{{({_INNER})\}}")
_FRACTION_BEGUN = re.compile(
    rf"\\[dt]?frac\s{{0,4}}(?:\{{{_INNER_BEGUN}|\{{{_INNER}\}}\s{{0,4}}(?:\{{{_INNER_BEGUN})?)?\Z"
)
_FRACTION_CHARS = 240
"""A longer one is not waited for."""
_BRACED = re.compile(r"\\[a-z]{4,12}\{([^{}\n]{0,80})\}")
_BRACED_BEGUN = re.compile(r"\\[a-z]{4,12}(?:\{[^{}\n]{0,80})?\Z")
_BEGINS = r"(?=[^\s\d$]|\d{1,4}[a-z]?\s?[\\^_=+])"
"""What a formula begins with: `$5` is a price, `$5x +` none."""
_DOLLARS = re.compile(rf"\${_BEGINS}[^$\n]{{0,80}}(?<=[^\s$])\$(?!\d)")
_DOLLARS_BEGUN = re.compile(rf"\$(?:{_BEGINS}[^$\n]{{0,80}}|\d{{1,4}}[a-z]?\s?)?\$?\Z")
_DOLLARS_CHARS = 83

_DERIVATIVE = re.compile(r"[d∂] ?[a-zθ](?:²|\^2)?")
_SYMBOLS = {
    "times": "×", "cdot": "⋅", "div": "÷", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠",
    "approx": "≈", "sim": "≈", "infty": "∞", "sqrt": "√", "degree": "°", "circ": "°", "to": "→", "rightarrow": "→", "mapsto": "→", "leftarrow": "←", "rightleftharpoons": "⇌", "iff": "⇔", "implies": "⇒",
    "Rightarrow": "→", "sum": "∑", "prod": "∏", "int": "∫", "percent": "%", "ldots": "⋯", "dots": "⋯", "cdots": "⋯", "vdots": "⋯",
    "in": "∈", "notin": "∉", "angle": "∠", "triangle": "△", "perp": "⊥", "parallel": "∥", "because": "∵", "therefore": "∴",
    "cup": "∪", "cap": "∩", "subset": "⊂", "subseteq": "⊆", "forall": "∀", "exists": "∃",
    "emptyset": "∅", "land": "∧", "wedge": "∧", "lor": "∨", "vee": "∨", "lnot": "¬", "neg": "¬", "oplus": "⊕", "otimes": "⊗", "supset": "⊃", "supseteq": "⊇", "ll": "≪", "gg": "≫", "hbar": "ℏ", "mid": "|", "ast": "×", "simeq": "≈", "cong": "≅", "uparrow": "↑", "psi": "ψ", "Psi": "Ψ", "chi": "χ", "eta": "η", "zeta": "ζ", "kappa": "κ", "nu": "ν", "xi": "ξ", "Gamma": "Γ", "Lambda": "Λ", "Phi": "Φ", "Theta": "Θ", "Pi": "Π", "varphi": "φ", "varepsilon": "ε", "setminus": "−", "partial": "∂", "nabla": "∇", "propto": "∝", "equiv": "≡", "mp": "±", "prime": "′",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "theta": "θ", "lambda": "λ",
    "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "tau": "τ", "phi": "φ", "omega": "ω", "Omega": "Ω",
}  # fmt: skip
_ACCENTS = {"bar": "\u0304", "overline": "\u0304", "hat": "\u0302", "vec": "\u20d7", "dot": "\u0307", "tilde": "\u0303"}
"""What is over a letter, which is written behind it."""
_ACCENTED = re.compile(r"\\(bar|overline|hat|vec|dot|tilde)\s?\{?([A-Za-z])\}?")
_ACCENTED_BEGUN = re.compile(r"\\(?:bar|overline|hat|vec|dot|tilde)\s?\{?[A-Za-z]?\Z")
_CHOICE = re.compile(r"\\[dt]?binom\s?\{([^{}\n]{1,40})\}\s?\{([^{}\n]{1,40})\}")
_CHOICE_BEGUN = re.compile(r"\\[dt]?binom\s?(?:\{[^{}\n]{0,40}(?:\}\s?(?:\{[^{}\n]{0,40})?)?)?\Z")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[a-z]{1,12}\*?\}(?:\{[clr|]{1,8}\})?")
_ENVIRONMENT_BEGUN = re.compile(r"\\(?:begin|end)(?:\{[a-z]{0,12}\*?)?\Z")
_HIGHER_ROOT, _HIGHER_ROOT_BEGUN = re.compile(r"\\sqrt\[([34])\]"), re.compile(r"\\sqrt(?:\[[34]?)?\Z")
_LAYOUT = frozenset(
    "left right text mathrm mathbf mathit textbf textit quad qquad displaystyle limits boxed begin end frac operatorname "
    "big Big bigl bigr label tag hline nonumber".split()
)
_NUMBERS = {"N": "ℕ", "Z": "ℤ", "Q": "ℚ", "R": "ℝ", "C": "ℂ"}
_WRAPPERS = frozenset("mathbb mathcal text mathrm mathbf mathit textbf textit boxed operatorname sqrt".split())


def read_command(source: Source, *, within: bool) -> bool:
    """Takes a command like `\\times` or `\\frac{1}{2}`; the word of one that is not known stays.

    `within` says that it stands at the end of a word: `2\\pi`, or in a path, which has no commands.
    """
    if within:
        return _read_within(source)
    fraction = source.match(_FRACTION)
    if fraction and fraction.end() - source.at <= _FRACTION_CHARS:
        source.silent(fraction.end() - source.at, clean=_ratio(fraction))
        return True
    if choice := source.match(_CHOICE):
        source.silent(choice.end() - source.at, clean=f"C({_shown(choice[1])}, {_shown(choice[2])})")
        return True
    if layout := source.match(_ENVIRONMENT):
        source.silent(layout.end() - source.at)
        return True
    if root := source.match(_HIGHER_ROOT):
        source.silent(root.end() - source.at, clean="∛" if root[1] == "3" else "∜")
        return True
    if (source.match(_ENVIRONMENT_BEGUN) or source.match(_HIGHER_ROOT_BEGUN)) and not source.final:
        return False
    accented = source.match(_ACCENTED)
    if accented and (source.final or accented.end() < len(source.text)):
        gap = " " if source.before.isalnum() else ""
        source.silent(accented.end() - source.at, clean=gap + accented[2] + _ACCENTS[accented[1]])
        return True
    if (source.match(_CHOICE_BEGUN) or source.match(_ACCENTED_BEGUN) or accented) and not source.final:
        return False
    command = source.match(_COMMAND)
    assert command is not None
    shown = len(source.text) - source.at
    open_end = shown == len(command.group()) <= 20
    begun = shown < _FRACTION_CHARS and source.match(_FRACTION_BEGUN) is not None
    if (open_end or begun) and not source.final:
        return False
    name = command.group()[1:]
    if name in _WRAPPERS and not source.final and source.match(_BRACED_BEGUN):
        return False
    braced = source.match(_BRACED) if name in _WRAPPERS else None
    if braced:
        root = "√" if name == "sqrt" else ""
        inner = _NUMBERS.get(braced[1], braced[1]) if name == "mathbb" else _shown(braced[1])
        inner = inner.lstrip() if source.before.isspace() else inner
        source.silent(braced.end() - source.at, clean=root + inner)
    elif name in _SYMBOLS:
        source.silent(len(name) + 1, clean=_SYMBOLS[name])
    elif name in _LAYOUT:
        source.silent(len(name) + 1)
    else:
        source.silent(1)
        source.plain(len(name))
    return True


def _read_within(source: Source) -> bool:
    """Takes the sign that a command right after a word stands for, or the stroke of a path."""
    command = source.match(_COMMAND)
    assert command is not None
    if command.end() == len(source.text) and len(command.group()) <= 20 and not source.final:
        return False
    name = command.group()[1:]
    following = source.text[command.end() : command.end() + 1]
    if name in ("frac", "dfrac", "tfrac", *_ACCENTS) or (name == "sqrt" and following == "{"):
        return read_command(source, within=False)
    if name in _SYMBOLS and following not in ("\\", "/", ".", "_", "-") and not following.isdigit():
        source.silent(len(name) + 1, clean=_SYMBOLS[name])
    else:
        source.plain(1)
    return True


def _ratio(fraction: re.Match[str]) -> str:
    top, bottom = _shown(fraction[1].strip()), _shown(fraction[2].strip())
    return (
        f"{top}/{bottom}"
        if (top.isdigit() and bottom.isdigit()) or _DERIVATIVE.fullmatch(bottom)
        else f"{top} ÷ {bottom}"
    )


def _shown(formula: str) -> str:
    """A part of a formula with its commands as the characters that they stand for."""
    if "\\" not in formula:
        return formula
    formula = _FRACTION.sub(_ratio, formula)
    formula = _BRACED.sub(lambda part: ("√" if part.group().startswith("\\sqrt") else "") + part[1], formula)
    formula = _CHOICE.sub(lambda part: f"C({part[1]}, {part[2]})", formula)
    formula = _ACCENTED.sub(lambda part: part[2] + _ACCENTS[part[1]], formula)
    return _COMMAND.sub(lambda command: _symbol(command.group()[1:]), formula)


def _symbol(name: str) -> str:
    return _SYMBOLS.get(name, "" if name in _LAYOUT else name)


def read_dollar(source: Source) -> bool:
    """Takes a dollar sign: of a price as it is, around a formula silently."""
    if any(start == source.at for start, _ in source.closers):
        source.closers = [closer for closer in source.closers if closer[0] != source.at]
        source.silent(1)
        return True
    if not source.more(1) and not source.final:
        return False
    if source.char(1) == "$":
        source.silent(2, opens=True)
        return True
    if source.match(_DOLLARS):
        end = source.text.index("$", source.at + 1)
        if end + 1 == len(source.text) and not source.final:
            return False
        source.closers.append((end, end + 1))
        source.silent(1, opens=True)
        return True
    if source.match(_DOLLARS_BEGUN) and not source.final and len(source.text) - source.at < _DOLLARS_CHARS:
        return False
    source.plain(1)
    return True
