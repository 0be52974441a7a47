"""Logs to files, whole or in pieces; a file appears when all of it is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from os import PathLike
from typing import IO, Any

import numpy as np

from torsor.errors import ArgumentError, require_known
from torsor.io.logs.log import Log, concatenate
from torsor.support import parquet, tables
from torsor.support.files import replace_file


class Writer:
    """Appends logs to a .csv, .parquet, .npz or .mcap file, which appears when the block ends without an error.

    >>> import tempfile, torsor.logs
    >>> piece = Log(t=[0.0], q=[[0.5]], names={"q": ("elbow",)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Writer(f"{folder}/out.csv") as out:
    ...         out.append(piece)
    ...     torsor.logs.read(f"{folder}/out.csv")
    <Log: 1 rows, 0 s, q of 1 coordinates>
    """

    def __init__(self, path: str | PathLike[str]):
        self.path = path
        ending = os.path.splitext(os.fspath(path))[1].lower().removeprefix(".")
        require_known("format of logs", ending, FORMATS)
        self._start, self._stack = FORMATS[ending], ExitStack()
        self._append: Callable[[Log], None] | None = None
        self._shape: Any = None

    def __enter__(self) -> Writer:
        stream = self._stack.enter_context(replace_file(self.path))
        try:
            self._append, finish = self._start(stream, self._stack)
        except BaseException as error:
            self._stack.__exit__(type(error), error, error.__traceback__)
            raise
        self._stack.push(lambda kind, *_: finish() if kind is None else None)
        return self

    def append(self, log: Log) -> None:
        """The next rows; every piece has the same columns."""
        if self._append is None:
            raise ArgumentError("a Writer is used in a with block: with Writer(path) as out: out.append(log)")
        shape = (log.t is None, log.quantities, tuple(getattr(log, k).shape[1] for k in log.quantities), dict(log.names))
        if self._shape is not None and shape != self._shape:
            raise ArgumentError("this piece has other columns than the first one; all must be the same")
        self._shape = shape
        self._append(log)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._stack.__exit__(kind, error, trace)


def flat(log: Log) -> tuple[list[str], list[np.ndarray], dict[str, Any]]:
    """(names, columns, metadata) of a log as a table."""
    names: list[str] = [] if log.t is None else ["t"]
    columns: list[np.ndarray] = [] if log.t is None else [log.t]
    for k in log.quantities:
        x = getattr(log, k)
        own = log.names.get(k)
        names += [f"{k}{n}" for n in range(x.shape[1])] if own is None else [f"{k}[{name}]" for name in own]
        columns += list(x.T)
    return names, columns, {"start": log.start} if log.start else {}


def _table(writer: Callable[..., Any], stream: IO[bytes], stack: ExitStack) -> tuple[Callable, Callable]:
    """A table that starts with the first log."""
    opened: list[tables.Put] = []

    def append(log: Log) -> None:
        names, columns, meta = flat(log)
        if not opened:
            opened.append(stack.enter_context(writer(stream, names, meta)))
        opened[0](columns)

    return append, lambda: None


def _parquet(stream: IO[bytes], stack: ExitStack) -> tuple[Callable, Callable]:
    parquet.pyarrow()  # its absence is an error before anything is computed
    return _table(parquet.parquet_writer, stream, stack)


def _npz(stream: IO[bytes], _: ExitStack) -> tuple[Callable, Callable]:
    pieces: list[Log] = []

    def finish() -> None:
        log = concatenate(pieces)
        arrays = {k: getattr(log, k) for k in ("t", *log.quantities) if getattr(log, k) is not None}
        stream.write(tables.npz_bytes(arrays, {"names": dict(log.names), "start": log.start}))

    return pieces.append, finish


def _mcap(stream: IO[bytes], _: ExitStack) -> tuple[Callable, Callable]:
    from torsor.io.logs.mcap_files import writer

    return writer(stream)


#: by extension: a function (open file, stack of contexts to close before it) → (append a log, finish)
FORMATS: dict[str, Callable[[IO[bytes], ExitStack], tuple[Callable, Callable]]] = {
    "csv": partial(_table, tables.csv_writer), "parquet": _parquet, "npz": _npz, "mcap": _mcap,
}  # fmt: skip
