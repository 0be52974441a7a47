"""Coordinates of the columns of a table: ``q[elbow]``, ``elbow.position``, ``/joint_states/elbow/velocity``, ``q1``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from torsor.errors import FileError

#: column names in use for each quantity; the first one is written by torsor
COLUMN_NAMES = {
    "q": ("q", "position", "positions", "pos"),
    "v": ("v", "qd", "dq", "velocity", "velocities", "vel"),
    "a": ("a", "qdd", "ddq", "acceleration", "accelerations", "acc"),
    "tau": ("tau", "effort", "efforts", "torque", "torques"),
}
TIMES = ("t", "time")

_QUANTITY = {word: quantity for quantity, words in COLUMN_NAMES.items() for word in words}
_WORD = "|".join(sorted(_QUANTITY, key=len, reverse=True))
_SHAPES = tuple(
    re.compile(shape)
    for shape in (
        rf"(?P<word>{_WORD})\[(?P<name>.+)\]",  # q[elbow], q[base[3]], q[0]
        rf"(?P<word>{_WORD})_?(?P<name>[0-9]+)",  # q1, q_1
        r"(?P<word>q|v|a|tau)_(?P<name>.+)",  # q_elbow
        rf"(?P<word>{_WORD})[./:](?P<name>.+)",  # position.elbow, q/elbow
        rf"(?:.*[./])?(?P<name>[^./]+)[./](?P<word>{_WORD})",  # elbow.position, /joint_states/elbow/position
    )
)


def parse_column(column: str) -> tuple[str, str]:
    """(quantity, name) of a column; the quantity is "t", "q", "v", "a", "tau" or "" for none of these.

    >>> parse_column("q[elbow]"), parse_column("/joint_states/elbow/velocity"), parse_column("time"), parse_column("voltage")
    (('q', 'elbow'), ('v', 'elbow'), ('t', ''), ('', 'voltage'))
    """
    if column in TIMES:
        return "t", ""
    for shape in _SHAPES:
        match = shape.fullmatch(column)
        if match:
            return _QUANTITY[match["word"]], match["name"]
    return "", column


def are_numbered(names: Sequence[str]) -> bool:
    """Whether the names are numbers, counted from 0 or 1: then the columns are in the robot's order."""
    if not names or not all(re.fullmatch("[0-9]+", name) for name in names):
        return False
    numbers = [int(name) for name in names]
    return numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(names)))


def refuse_duplicates(quantity: str, names: Iterable[str], file: str = "") -> None:
    """An error where a joint has two columns for one quantity."""
    for name, n in Counter(names).items():
        if n > 1:
            raise FileError(f"has {quantity} of joint {name!r} twice", file=file)
