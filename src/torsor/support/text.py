"""Numbers and tables in plain text."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from torsor.errors import printable

#: columns of text a table may take before it is continued below
WIDTH = 120


def short(x: Any) -> str:
    """A number in four digits, a symbol unchanged."""
    return f"{x:.4g}" if isinstance(x, (int, float)) else str(x)


def as_float(x: Any) -> Any:
    """A number as a float, a symbol unchanged."""
    return float(x) if isinstance(x, (int, float)) else x


def numbers(rows: Any) -> np.ndarray:
    """An array of floats, or of objects if it contains symbols."""
    array = np.array(rows, dtype=object)
    return array.astype(float) if all(isinstance(x, (int, float)) for x in array.flat) else array


def unused_name(name: str, taken: set[str]) -> str:
    """The name with underscores appended until it is not in ``taken``, to which it is added."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def count(n: int, thing: str) -> str:
    """A number with its noun, in the plural if needed.

    >>> count(1, "joint"), count(2, "joint")
    ('1 joint', '2 joints')
    """
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def one_of(words: Iterable[str]) -> str:
    """The allowed words of an error message.

    >>> one_of(["fixed", "floating", "floating_rpy"])
    "'fixed', 'floating' or 'floating_rpy'"
    """
    *rest, last = map(repr, words)
    return f"{', '.join(rest)} or {last}"


def vector(values: Sequence[float] | np.ndarray, most: int = 8) -> str:
    """Numbers in four digits, the first of many; those of the size of rounding errors as 0.

    >>> vector([1.0, 2.34567]), vector(range(20), 3), vector([float("inf"), 2.0])
    ('(1, 2.346)', '(0, 1, 2, … 20)', '(inf, 2)')
    """
    small = 1e-13 * max((abs(float(x)) for x in values if math.isfinite(x)), default=0.0)
    shown = [f"{float(x) if abs(float(x)) > small else 0:.4g}" for x in values[:most]]
    return f"({', '.join(shown)}{f', … {len(values)}' if len(values) > most else ''})"


def width(text: str) -> int:
    """Width of a text in characters: dots above letters have no width.

    >>> width("V̇")
    1
    """
    return sum(not unicodedata.combining(c) for c in text)


def pad_right(text: str, n: int) -> str:
    """Padded on the right to n places."""
    return text + " " * (n - width(text))


def pad_left(text: str, n: int) -> str:
    """Padded on the left to n places."""
    return " " * (n - width(text)) + text


def column_blocks(sizes: Sequence[int], first: int, gap: int, most: int) -> Iterator[tuple[int, int, int]]:
    """(start, end, width) of the blocks in which columns of these sizes fit beside the first column in ``most`` places.

    >>> list(column_blocks([5, 5, 5], 4, 2, 20))
    [(0, 2, 18), (2, 3, 11)]
    """
    start = 0
    while start < len(sizes):
        end, taken = start, first
        while end < len(sizes) and (end == start or taken + gap + sizes[end] <= most):
            taken += gap + sizes[end]
            end += 1
        yield start, end, taken
        start = end


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], *, total: bool = False) -> str:
    """Names on the left, numbers aligned on the right; ``total`` rules off the last row; wide tables continue below.

    >>> print(columns(["", "a", "b"], [["first", "1", "20"], ["sum", "3", "4"]], total=True))
           a   b
    first  1  20
    ------------
    sum    3   4
    """
    head, rows = [*map(printable, head)], [[*map(printable, row)] for row in rows]
    name = max(width(row[0]) for row in [head, *rows])
    sizes = [max(width(row[k]) for row in [head, *rows]) for k in range(1, len(head))]
    blocks = []
    for k, end, taken in column_blocks(sizes, name, 2, WIDTH):
        lines = []
        for row in [head, *rows]:
            cells = [pad_left(row[1 + c], sizes[c]) for c in range(k, end)]
            lines.append("  ".join([pad_right(row[0], name), *cells]).rstrip())
        if total:
            lines.insert(-1, "-" * taken)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
