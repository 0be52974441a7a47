"""A point and its outcome as text and arrays, to send between processes and to save on disk.

Numbers are exact: Python writes a float with enough digits to read it back bit for bit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from torsor.errors import ArgumentError
from torsor.support import digests

ADVICE = "numbers, strings, None, arrays, and dicts, lists or tuples of these can be saved"


class Record(NamedTuple):
    """JSON, and the arrays it refers to by number."""

    text: str
    arrays: list[np.ndarray]


def encode(value: Any, where: str = "value") -> Record:
    """The record of a value, or an error that names the part that cannot be saved.

    >>> encode({"gain": 2.5, "path": (1, np.zeros(3))}).text
    '{"gain":2.5,"path":{"$tuple":[1,{"$array":0}]}}'
    """
    arrays: list[np.ndarray] = []
    tree = _tree(value, where, arrays)
    return Record(json.dumps(tree, separators=(",", ":"), ensure_ascii=False, allow_nan=False), arrays)


def decode(record: Record) -> Any:
    """The value of a record, with the same types."""
    return _value(json.loads(record.text), record.arrays)


def digest(*parts: str | Record) -> str:
    """A digest of all of these together, the same in every process."""
    records = (Record(part, []) if isinstance(part, str) else part for part in parts)
    return digests.digest(chain.from_iterable([record.text, *record.arrays] for record in records))[:32]


def _tree(value: Any, where: str, arrays: list[np.ndarray]) -> Any:
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind not in "biufcUSmM":
            raise ArgumentError(f"{where} is an array of {array.dtype}, which cannot be saved; {ADVICE}")
        arrays.append(array)
        return {"$array" if isinstance(value, np.ndarray) else "$scalar": len(arrays) - 1}
    if isinstance(value, Mapping):
        if not all(isinstance(k, str) for k in value):
            raise ArgumentError(f"{where} has keys that are not strings: {list(value)[:5]}")
        items = {k: _tree(v, f"{where}[{k!r}]", arrays) for k, v in value.items()}
        return {"$dict": items} if any(k.startswith("$") for k in items) else items
    if isinstance(value, (list, tuple)):
        entries = [_tree(v, f"{where}[{k}]", arrays) for k, v in enumerate(value)]
        return entries if isinstance(value, list) else {"$tuple": entries}
    raise ArgumentError(f"{where} is a {type(value).__name__}, which cannot be saved; {ADVICE}")


def _value(tree: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(tree, list):
        return [_value(t, arrays) for t in tree]
    if not isinstance(tree, dict):
        return tree
    if not any(k.startswith("$") for k in tree):
        return _dict(tree, arrays)
    ((kind, held),) = tree.items()  # a mark stands alone, or the text is damaged
    return _MARKED[kind](held, arrays)


def _dict(tree: dict[str, Any], arrays: list[np.ndarray]) -> dict[str, Any]:
    return {k: _value(t, arrays) for k, t in tree.items()}


#: values that JSON cannot express
_MARKED: dict[str, Any] = {
    "$float": lambda held, arrays: float(held),
    "$array": lambda held, arrays: arrays[held],
    "$scalar": lambda held, arrays: arrays[held][()],
    "$tuple": lambda held, arrays: tuple(_value(t, arrays) for t in held),
    "$dict": _dict,
}
