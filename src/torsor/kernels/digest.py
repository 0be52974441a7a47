"""Digests: equal ones mean equal programs, in this process and the next.

A program depends on the model, on the spec and on torsor's own source.  All three are read by value.  What a user wrote (a
joint type, a friction law, a constraint, a controller) is code that no digest covers, so what contains it has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

#: folders whose code is never recorded: readers, writers, pages, checks and commands
APART = frozenset(
    {
        "bridges",
        "certify",
        "cli",
        "data",
        "doctor",
        "io",
        "logs",
        "notebook",
        "replay",
        "scene",
        "sweeps",
        "understanding",
        "viewer",
    }
)


class _UserCode(Exception):
    """A value contains code that is not torsor's."""


def digest(*values: Any) -> str | None:
    """A digest of values made of numbers, names and torsor's own classes; None if they contain anything else."""
    try:
        text = "\0".join(part for value in values for part in _parts(value))
    except _UserCode:
        return None
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def source_digest() -> str:
    """A digest of torsor's source, as far as a recording may run it."""
    root = Path(__file__).parents[1]
    content = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if name.parts[0] not in APART:
            content.update(str(name).encode() + b"\0" + path.read_bytes() + b"\0")
    return content.hexdigest()


def _parts(x: Any) -> Iterator[str]:
    """The value as words: types count, since the integers 0 and 1 are structure, and 0.0 and 1.0 are numbers."""
    kind = type(x)
    if kind is float:
        yield x.hex()
    elif x is None or kind in (int, bool, str):
        yield f"{kind.__name__} {x}"
    elif kind in (tuple, list, frozenset):
        yield f"{kind.__name__} {len(x)}"
        for item in sorted(x) if kind is frozenset else x:
            yield from _parts(item)
    elif kind is dict:
        yield f"dict {len(x)}"
        for key, value in x.items():
            yield from _parts(key)
            yield from _parts(value)
    elif isinstance(x, np.ndarray) and kind is np.ndarray and x.dtype != object:
        yield f"array {x.dtype.str} {x.shape} {x.tobytes().hex()}"
    elif kind in (type, FunctionType) or isinstance(x, type):
        yield _own(x)
    elif isinstance(x, BuiltinFunctionType):
        raise _UserCode
    else:
        yield from _object(x)


def _object(x: Any) -> Iterator[str]:
    """An instance of a class of torsor: its class, and what it consists of."""
    yield _own(type(x))
    if isinstance(x, Enum):
        yield x.name
    elif isinstance(x, tuple):
        yield from _parts(tuple(x))
    elif is_dataclass(x):
        for field in fields(x):
            yield from _parts(getattr(x, field.name))
    else:
        names = sorted({*getattr(x, "__dict__", ()), *(n for c in type(x).__mro__ for n in getattr(c, "__slots__", ()))})
        for name in names:
            yield name
            yield from _parts(getattr(x, name))


def _own(x: Any) -> str:
    """The full name of a class or of a function at the top of a module, if torsor has it."""
    inside = "<" in x.__qualname__ or getattr(x, "__closure__", None)
    if inside or not x.__module__.startswith("torsor."):
        raise _UserCode
    return f"{x.__module__}.{x.__qualname__}"
