"""Digests: equal digests mean equal programs, in this process and in later ones.

A program depends on the model, on the spec and on torsor's own source.  All three are read by value.  A user's
code (a joint type, a friction law, a constraint, a controller) is not covered, so values that contain it have no digest.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from torsor.model import Model

#: folders whose code is never recorded: readers, writers, pages, checks and commands
NOT_RECORDED = frozenset({"checks", "cli", "io", "look"})
#: attribute of a model that caches its digest
_MODEL = "_digest"


class _UserCode(Exception):
    """A value contains code that is not torsor's."""


def digest(*values: Any) -> str | None:
    """A digest of values made of numbers, names and torsor's own classes; None if they contain anything else."""
    words: list[str] = []
    try:
        for value in values:
            _collect(value, words)
    except _UserCode:
        return None
    return _sha256(words)


def _sha256(words: list[str]) -> str:
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()


@cache
def source_digest() -> str:
    """A digest of torsor's source, as far as a recording may run it."""
    root = str(Path(__file__).parents[1])
    content = hashlib.sha256()
    for folder, inner, files in os.walk(root):
        inner[:] = sorted(name for name in inner if name != "__pycache__" and (folder != root or name not in NOT_RECORDED))
        for name in sorted(files):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    content.update(f"{folder.removeprefix(root)}/{name}\0".encode() + file.read() + b"\0")
    return content.hexdigest()


def _collect(x: Any, words: list[str]) -> None:
    """Append the value as words; types count, since the integers 0 and 1 are structure, and 0.0 and 1.0 are numbers."""
    kind = type(x)
    if kind is float or kind is int or kind is str or kind is bool or x is None:
        words.append(repr(x))
    elif kind is tuple or kind is list:
        words.append(f"{kind.__name__} {len(x)}")
        for item in x:
            _collect(item, words)
    elif kind is dict:
        words.append(f"dict {len(x)}")
        for key, value in x.items():
            _collect(key, words)
            _collect(value, words)
    elif kind is frozenset:
        _collect(sorted(x), words)
    elif kind is np.ndarray and x.dtype != object:
        words.append(f"array {x.dtype.str} {x.shape} {x.tobytes().hex()}")
    elif isinstance(x, type):
        words.append(_name_in_torsor(x))
    elif kind is FunctionType:
        words.append(_name_in_torsor(x))
        for cell in x.__closure__ or ():
            _collect(cell.cell_contents, words)
        if "<" in x.__qualname__:  # a lambda, or a function made in another: its name may have several
            _collect_code(x.__code__, words)
            _collect([x.__defaults__, x.__kwdefaults__], words)
    elif kind is partial:
        _collect([x.func, x.args, x.keywords], words)
    elif kind is Model:
        words.append(_model_digest(x))
    else:
        _collect_object(x, words)


def _model_digest(model: Model) -> str:
    """The digest of a model, computed once because models are frozen: robot, task, constraints and rollouts share it."""
    known = vars(model)
    if _MODEL not in known:
        words: list[str] = []
        _collect_object(model, words)
        known[_MODEL] = _sha256(words)
    return known[_MODEL]


def _collect_object(x: Any, words: list[str]) -> None:
    """Append an instance of a class of torsor: its class, and its fields or attributes."""
    words.append(_name_in_torsor(type(x)))
    if isinstance(x, Enum):
        words.append(x.name)
    elif isinstance(x, tuple):
        for item in x:
            _collect(item, words)
    elif is_dataclass(x):
        for field in fields(x):
            if field.compare:  # the name of a user's function, which equal ones need not share
                _collect(getattr(x, field.name), words)
    else:
        slots = (name for c in type(x).__mro__ for name in getattr(c, "__slots__", ()))
        for name in sorted({*getattr(x, "__dict__", ()), *slots}):
            words.append(name)
            _collect(getattr(x, name), words)


def _collect_code(code: CodeType, words: list[str]) -> None:
    """Append the bytecode of a function, its names and constants."""
    words += [code.co_code.hex(), *code.co_names]
    for x in code.co_consts:
        if isinstance(x, CodeType):
            _collect_code(x, words)
        else:
            words.append(repr(x))


def _name_in_torsor(x: Any) -> str:
    """The full name of a class or function, if its code is torsor's."""
    if not (x.__module__ or "").startswith("torsor."):  # None for functions made by exec without a module name
        raise _UserCode
    return f"{x.__module__}.{x.__qualname__}"
