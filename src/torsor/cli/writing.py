"""Results, written a block of rows at a time: CSV or JSON to stdout; CSV, JSON, Parquet or NPZ to a file, whole or not."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from torsor.cli.out import json_text, to_json_values
from torsor.errors import FileError, printable
from torsor.support import parquet, tables
from torsor.support.files import replace_file
from torsor.support.user_arrays import Array


class Column(NamedTuple):
    """One result: its name, and the names of its entries for files with one column per entry."""

    name: str
    entries: list[str]


#: the results of some rows, each (n, ...)
Block: TypeAlias = dict[str, Array]
PutBlock: TypeAlias = Callable[[Block], None]


@contextmanager
def block_writer(path: str | None, as_json: bool, columns: Sequence[Column], about: dict[str, Any]) -> Iterator[PutBlock]:
    """A function that writes one block per call.  Without a path it writes to stdout."""
    if path is None:
        with _stdout() as stream, (_json if as_json else partial(_csv, digest=False))(stream, columns, about) as put:
            yield put
        return
    with replace_file(path) as stream, WRITERS[os.path.splitext(path)[1].lower()](stream, columns, about) as put:
        yield put


@contextmanager
def _stdout() -> Iterator[IO[bytes]]:
    """Standard output as a stream of bytes; errors in writing to it are not reported as errors of the input file."""
    try:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", file="<stdout>") from error


def _flat(block: Block, columns: Sequence[Column]) -> list[Array]:
    """One column per entry."""
    return [x for c in columns for x in block[c.name].reshape(-1, len(c.entries)).T]


def _names(columns: Sequence[Column]) -> list[str]:
    return [entry for c in columns for entry in c.entries]


@contextmanager
def _csv(stream: IO[bytes], columns: Sequence[Column], about: dict[str, Any], *, digest: bool = True) -> Iterator[PutBlock]:
    """A digest is written above the rows of a file; printed tables have none, since it depends on all rows."""
    names = _names(columns)
    with tables.csv_writer(stream, [*map(printable, names)] if stream.isatty() else names, digest=digest) as put:
        yield lambda block: put(_flat(block, columns))


@contextmanager
def _json(stream: IO[bytes], columns: Sequence[Column], about: dict[str, Any]) -> Iterator[PutBlock]:
    """``{"robot": ..., "rows": [{"tau": [...]}, ...]}``, one line per row."""
    count = 0

    def put(block: Block) -> None:
        nonlocal count
        values = {c.name: to_json_values(block[c.name]) for c in columns}
        for row in zip(*values.values(), strict=True):
            text = json.dumps(dict(zip(values, row, strict=True)))
            stream.write(f"{',' if count else ''}\n  {text}".encode())
            count += 1

    stream.write((json_text(about)[:-1] + ', "rows": [').encode())
    yield put
    stream.write(b"\n]}\n")


@contextmanager
def _parquet(stream: IO[bytes], columns: Sequence[Column], about: dict[str, Any]) -> Iterator[PutBlock]:
    with parquet.parquet_writer(stream, _names(columns)) as put:
        yield lambda block: put(_flat(block, columns))


@contextmanager
def _npz(stream: IO[bytes], columns: Sequence[Column], about: dict[str, Any]) -> Iterator[PutBlock]:
    """Held in memory until the end: an NPZ stores the lengths of its arrays first."""
    blocks: list[Block] = []
    yield blocks.append
    arrays = {c.name: np.concatenate([b[c.name] for b in blocks]) for c in columns}
    stream.write(tables.npz_bytes(arrays, to_json_values(about)))


WRITERS = {".csv": _csv, ".json": _json, ".parquet": _parquet, ".npz": _npz}
