"""Where outcomes are kept: in memory, or in a folder with a file a point, each written whole or not at all."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Protocol

import numpy as np

from torsor.errors import FileError
from torsor.io.files import label, read_bytes, write_bytes, write_text
from torsor.sweeps.record import Record, decode


class Store(Protocol):
    """Records by key."""

    def get(self, key: str) -> Record | None: ...
    def put(self, key: str, record: Record) -> None: ...


class Memory:
    """Records of this process."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def get(self, key: str) -> Record | None:
        return self._records.get(key)

    def put(self, key: str, record: Record) -> None:
        self._records[key] = record


class Folder:
    """``<folder>/ab/abcdef….json`` for each point, and an ``.npz`` beside it where there are arrays.  Nothing is pickled.

    The JSON comes last: where it is, the result is whole.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot be made a folder: {error.strerror or error}", file=label(folder)) from error

    def _path(self, key: str, ending: str) -> Path:
        return self.folder / key[:2] / f"{key}.{ending}"

    def get(self, key: str) -> Record | None:
        path = self._path(key, "json")
        if not path.exists():
            return None
        try:
            record = Record(read_bytes(path).decode(), _arrays(self._path(key, "npz")))
            decode(record)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile) as error:
            raise FileError(
                f"is no result of a sweep ({error}); delete it, and its point is computed again", file=label(path)
            ) from error
        return record

    def put(self, key: str, record: Record) -> None:
        path = self._path(key, "json")
        path.parent.mkdir(exist_ok=True)
        if record.arrays:
            stream = io.BytesIO()
            np.savez(stream, *record.arrays, allow_pickle=False)
            write_bytes(self._path(key, "npz"), stream.getvalue())
        write_text(path, record.text)


def _arrays(path: Path) -> list[np.ndarray]:
    if not path.exists():
        return []
    with np.load(path, allow_pickle=False) as found:
        return [found[f"arr_{k}"] for k in range(len(found.files))]
