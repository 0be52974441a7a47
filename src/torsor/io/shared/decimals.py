"""Numbers in robot files: plain decimals only, which all readers interpret alike."""

from __future__ import annotations

import math
import re
import sys

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
#: a decimal with an exponent of −300 or below, not part of a name
_TINY = re.compile(r"(?<![\w.])[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE]-0*(?:[3-9][0-9]{2}|[1-9][0-9]{3,})(?![\w.])")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]+")


def parse_numbers(text: str) -> tuple[float, ...]:
    """The finite numbers of an attribute, separated by XML white space.

    Python's own float() also takes ``nan``, ``inf``, ``1_5`` and other alphabets' digits, C's strtod stops at the comma of
    ``1,5`` and calls it 1, and both turn 1e400 into infinity.  All of these are refused: ValueError names the word
    and the reason.
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


def notes_on_tiny_numbers(text: str) -> tuple[str, ...]:
    """Lines for ``robot.report``: decimals of a file that a double holds as 0 or with fewer than 16 digits.

    >>> notes_on_tiny_numbers('<mass value="1e-400"/>')
    ('line 1: 1e-400 is below the smallest double, 4.9e-324, and is read as 0',)
    """
    return tuple(f"line {line}: {what}" for line, what in tiny_numbers(text))


def tiny_numbers(text: str) -> list[tuple[int, str]]:
    """(line, sentence) of each such decimal; those in XML comments are not numbers of the file."""
    if _TINY.search(text) is None:
        return []
    bare = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    notes = []
    for match in _TINY.finditer(bare):
        word, value = match[0], abs(float(match[0]))
        if value >= sys.float_info.min or not re.search("[1-9]", word.lower().partition("e")[0]):
            continue
        line, shown = bare.count("\n", 0, match.start()) + 1, word if len(word) <= 60 else word[:60] + "..."
        fate = f"is below {sys.float_info.min:.2g} and is read with fewer digits, as {value!r}"
        if value == 0:
            fate = f"is below the smallest double, {math.ulp(0.0):.2g}, and is read as 0"
        notes.append((line, f"{shown} {fate}"))
    return notes


def _hint(word: str) -> str:
    if "$" in word:
        return ": it is a xacro expression; run xacro first (xacro robot.urdf.xacro > robot.urdf)"
    if word.lower().strip("+-") in ("inf", "infinity"):
        return ": infinity is not allowed; for no limit, omit it"
    if "," in word:
        return ": write a decimal point, and blanks between numbers"
    return ": write a plain decimal such as 1.5 or 2e-3"
