"""Formulas of chemistry, told from codes by their symbols: in `C6H12O6` twelve is a number."""

from __future__ import annotations

import re

ELEMENTS = frozenset(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru "
    "Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Nd Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr "
    "Ra Ac Th Pa U Np Pu Am".split()
)
_PART = re.compile(r"([A-Z][a-z]?)(\d{0,2})(?!\d)")


def is_formula(written: str) -> bool:
    """Whether `written` has nothing but elements, two or more, and how many of each."""
    parts = _PART.findall(written)
    known = len(parts) > 1 and all(symbol in ELEMENTS and not count.startswith("0") for symbol, count in parts)
    return known and "".join(symbol + count for symbol, count in parts) == written
