"""Stores of outcomes: in memory, or in a folder with one file per point, each written completely or not at all."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Protocol

import numpy as np

from torsor.errors import FileError
from torsor.simulate.studies.record import Record, decode, digest
from torsor.support.files import label, read_bytes, write_bytes, write_text
from torsor.support.tables import UNPACKED, read_npz


class Store(Protocol):
    """Records by key."""

    def get(self, key: str, /) -> Record | None: ...
    def put(self, key: str, record: Record) -> None: ...


class Memory(dict[str, Record]):
    """Records of this process."""

    def put(self, key: str, record: Record) -> None:
        self[key] = record


class Folder:
    """``<folder>/ab/abcdef….json`` for each point, and an ``.npz`` beside it if there are arrays.  Pickle is not used.

    The JSON is written last: if it exists, the result is complete.  It ends with a digest of itself, the arrays and the key,
    which is checked when it is read; a file without one is older than the digests.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot create this folder: {error.strerror or error}", file=label(folder)) from error

    def _path(self, key: str, ending: str) -> Path:
        return self.folder / key[:2] / f"{key}.{ending}"

    def get(self, key: str) -> Record | None:
        path = self._path(key, "json")
        if not path.exists():
            return None
        try:
            record = _check_record(key, read_bytes(path, UNPACKED).decode(), _arrays(self._path(key, "npz")))
            decode(record)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, OSError) as error:
            raise FileError(
                f"is not a result of a sweep ({error}); delete it to compute its point again", file=label(path)
            ) from error
        return record

    def put(self, key: str, record: Record) -> None:
        path = self._path(key, "json")
        path.parent.mkdir(exist_ok=True)
        if record.arrays:
            stream = io.BytesIO()
            np.savez(stream, *record.arrays, allow_pickle=False)
            write_bytes(self._path(key, "npz"), stream.getvalue())
        write_text(path, f'{{"$record":{record.text},"$digest":"{digest(key, record)}"}}')


#: the text of a file; no value has a dict with two such keys, so damage to one of them shows
_FILE = re.compile(r'\{"\$record":(.*),"\$digest":"([0-9a-f]{32})"\}\n?', re.DOTALL)


def _check_record(key: str, text: str, arrays: list[np.ndarray]) -> Record:
    found = _FILE.fullmatch(text)
    record = Record(found[1] if found else text, arrays)
    if found and found[2] != digest(key, record):
        raise ValueError("it is damaged or was changed: its numbers do not match its digest")
    return record


def _arrays(path: Path) -> list[np.ndarray]:
    if not path.exists():
        return []
    found, _ = read_npz(io.BytesIO(read_bytes(path, UNPACKED)))
    return [found[f"arr_{k}"] for k in range(len(found))]
