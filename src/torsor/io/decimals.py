"""Numbers as a robot file may spell them: plain decimals, and nothing that some other reader would take differently."""

from __future__ import annotations

import math
import re

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPACE = re.compile(r"[ \t\r\n]+")


def parse_numbers(text: str) -> tuple[float, ...]:
    """The finite numbers of an attribute, separated by XML white space.

    Python's own float() also takes ``nan``, ``inf``, ``1_5`` and other alphabets' digits, C's strtod stops at the comma of
    ``1,5`` and calls it 1, and both turn 1e400 into infinity.  None of that belongs in a model: ValueError says which word
    is no number and why.
    """
    return tuple(_number(word) for word in _SPACE.split(text.strip(" \t\r\n")) if word)


def _number(word: str) -> float:
    shown = repr(word if len(word) <= 60 else word[:60] + "...")
    if _DECIMAL.fullmatch(word) is None:
        raise ValueError(f"{shown} is not a number{_hint(word)}")
    value = float(word)
    if math.isinf(value):
        raise ValueError(f"{shown} is too large for a double")
    return value


def _hint(word: str) -> str:
    if "$" in word:
        return ": it is a xacro expression; run xacro first (xacro robot.urdf.xacro > robot.urdf)"
    if word.lower().strip("+-") in ("inf", "infinity"):
        return ": infinity has no place in a file; for no limit, leave it out"
    if "," in word:
        return ": write a decimal point, and blanks between numbers"
    return ": write a plain decimal such as 1.5 or 2e-3"
