"""SHA-256 of numbers in files: names, shapes, types and bits, so that a damaged file does not load as other numbers.

The digest covers the numbers that are read, not the bytes of the file: rewriting 1.0 as 1.00 keeps it.  A file without a
digest comes from another program, and loads without this check.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from torsor.errors import FileError
from torsor.support.user_arrays import Array

#: the name of the digest in a file: the first word of a CSV's first line, a key of Parquet's metadata, an entry of an NPZ
MARK = "torsor_digest"
#: how a user removes the digest, by format
REMOVAL = {
    "csv": f"delete its first line (# {MARK} ...)",
    "parquet": f"write it again without the key {MARK} in its metadata",
    "npz": f"delete its entry {MARK}.npy (zip -d)",
}


class DamagedFile(FileError):
    """A file whose numbers do not match the digest that torsor wrote with them."""


def damaged_error(format: str, file: str = "") -> DamagedFile:
    """The error for a file whose digest does not match."""
    return DamagedFile(
        "is damaged, or was changed since torsor wrote it: its numbers do not match its digest; to load it anyway, "
        f"{REMOVAL[format]}",
        file=file,
    )


def digest(parts: Iterable[str | Array]) -> str:
    """Digest of texts and arrays in this order: each with its length, arrays with type and shape.

    >>> digest(["a", "bc"]) == digest(["ab", "c"])
    False
    """
    state = hashlib.sha256()
    for part in parts:
        data = _bytes(part)
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()


def _bytes(part: str | Array) -> bytes:
    if isinstance(part, str):
        return part.encode("utf-8", "surrogatepass")
    return b"%s%r" % (part.dtype.str.encode(), part.shape) + part.tobytes()


def digest_of_arrays(arrays: Mapping[str, Array], meta: Mapping[str, Any]) -> str:
    """Digest of arrays by name, in any order, and of the JSON metadata."""
    return digest([_json(meta), *(part for name in sorted(arrays) for part in (name, arrays[name]))])


class TableDigest:
    """Digest of a table given in pieces of rows, independent of the pieces: names, JSON, and the rows as doubles.

    >>> whole, cut = TableDigest(["a"], {}), TableDigest(["a"], {})
    >>> whole.add([np.array([1.0, 2.0])]), cut.add([np.array([1.0])]), cut.add([np.array([2.0])])
    (None, None, None)
    >>> whole.hex() == cut.hex()
    True
    """

    def __init__(self, names: Sequence[str], meta: Mapping[str, Any] | None = None):
        self._state = hashlib.sha256(_json([list(names), meta or {}]).encode() + b"\0")

    def add(self, columns: Sequence[Array]) -> None:
        if columns:
            rows = np.stack([np.asarray(c, "<f8") for c in columns], axis=1)
            rows[np.isnan(rows)] = np.nan  # text has one NaN, doubles have many
            self._state.update(rows.tobytes())

    def hex(self) -> str:
        return self._state.hexdigest()


def _json(x: Any) -> str:
    """JSON as it comes back from a file: keys in one order, pairs as lists."""
    return json.dumps(json.loads(json.dumps(x)), sort_keys=True)
