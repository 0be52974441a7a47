"""Fingerprint of a study, which identifies its results in a folder."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from torsor.errors import ArgumentError

#: types that are written directly
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))


def fingerprint(thing: Any) -> str:
    """A digest of functions, their sources, defaults and captured values, of robots and of data.

    Functions and values of the study's own module that it uses count as part of it; those it imports count by name.
    """
    state = hashlib.sha256()
    for part in _parts(thing, _module_of(thing), []):
        data = part.encode("utf-8", "backslashreplace")
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()


def _module_of(thing: Any) -> str:
    """The module a study is written in."""
    while (inner := getattr(thing, "function", None) or getattr(thing, "func", None)) is not None:
        thing = inner
    return getattr(thing, "__module__", "")


def _parts(thing: Any, home: str, inside: list[Any]) -> Iterator[str]:
    yield f"{type(thing).__module__}.{type(thing).__qualname__}"
    if isinstance(thing, PLAIN):
        yield repr(thing)
    elif any(thing is outer for outer in inside):
        yield "itself"
    elif isinstance(thing, (np.ndarray, np.generic)) and thing.dtype.kind != "O":
        yield f"{thing.dtype.str} {thing.shape} {hashlib.sha256(thing.tobytes()).hexdigest()}"
    else:
        for piece in _pieces(thing, home):
            if isinstance(piece, _HashedText):
                yield piece
            else:
                yield from _parts(piece, home, [*inside, thing])


class _HashedText(str):
    """Text that is hashed directly, not split into parts."""


def _pieces(thing: Any, home: str) -> Iterator[Any]:
    """The parts of an object that identify it."""
    if isinstance(thing, (ModuleType, np.ufunc)):
        yield _HashedText(thing.__name__)
    elif isinstance(thing, type):
        yield _HashedText(f"{thing.__module__}.{thing.__qualname__}")
        if thing.__module__ == home:
            yield _source(thing)
    elif isinstance(thing, dict):
        yield from (x for item in thing.items() for x in item)
    elif isinstance(thing, (set, frozenset)):
        yield from sorted(map(fingerprint, thing))
    elif isinstance(thing, (list, tuple)):
        yield from thing
    elif isinstance(thing, FunctionType):
        yield from _function(thing, home)
    elif isinstance(thing, MethodType):
        yield from (thing.__func__, thing.__self__)
    elif isinstance(thing, partial):
        yield from (thing.func, thing.args, thing.keywords)
    elif isinstance(thing, CodeType):
        yield from (thing.co_code, thing.co_consts, thing.co_names)
    elif is_dataclass(thing):
        yield type(thing)
        yield from (getattr(thing, f.name) for f in fields(thing) if f.compare)
    else:
        yield type(thing)
        yield from _parts_of(thing)


def _function(function: FunctionType, home: str) -> Iterator[Any]:
    yield _HashedText(f"{function.__module__}.{function.__qualname__}")
    if function.__module__ != home:
        return  # imported: its name identifies it
    yield _source(function)
    yield from (function.__defaults__, function.__kwdefaults__)
    used = inspect.getclosurevars(function)
    for name, value in sorted({**used.globals, **used.nonlocals}.items()):
        yield _HashedText(name)
        yield value


def _source(thing: Any) -> Any:
    """The source of a function or class; its code object if there is no source, or for lambdas."""
    code = getattr(thing, "__code__", None)
    if code is not None and thing.__name__ == "<lambda>":
        return code
    try:
        return _HashedText(inspect.getsource(thing))
    except (OSError, TypeError):  # typed at a prompt
        return code if code is not None else _HashedText(repr(sorted(vars(thing))))


def _parts_of(thing: Any) -> Iterator[Any]:
    """The parts by which pickle rebuilds it: a name in a module; or a function, its arguments, a state, and items."""
    try:
        reduced = thing.__reduce_ex__(4)
    except Exception as error:
        raise ArgumentError(
            f"the study uses a {type(thing).__name__}, whose changes between two runs cannot be detected ({error}); "
            'give the study a version="1" of your own, and change it when the study changes'
        ) from error
    if isinstance(reduced, str):
        yield _HashedText(f"{thing.__module__}.{reduced}")
    else:
        yield from (x if x is None or not isinstance(x, Iterator) else list(x) for x in reduced)
