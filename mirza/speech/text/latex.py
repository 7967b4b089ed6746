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
    "times": "×", "cdot": "×", "div": "÷", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠",
    "approx": "≈", "sim": "≈", "infty": "∞", "sqrt": "√", "degree": "°", "circ": "°", "to": "→", "rightarrow": "→",
    "Rightarrow": "→", "sum": "∑", "prod": "∏", "int": "∫", "percent": "%", "ldots": "…", "dots": "…", "cdots": "…",
    "in": "∈", "notin": "∉", "angle": "∠", "triangle": "△", "perp": "⊥", "parallel": "∥", "because": "∵", "therefore": "∴",
    "cup": "∪", "cap": "∩", "subset": "⊂", "subseteq": "⊆", "forall": "∀", "exists": "∃",
    "emptyset": "∅", "partial": "∂", "nabla": "∇", "propto": "∝", "equiv": "≡", "mp": "±", "prime": "′",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "theta": "θ", "lambda": "λ",
    "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "Sigma": "Σ", "tau": "τ", "phi": "φ", "omega": "ω", "Omega": "Ω",
}  # fmt: skip
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
    if name in ("frac", "dfrac", "tfrac") or (name == "sqrt" and following == "{"):
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
