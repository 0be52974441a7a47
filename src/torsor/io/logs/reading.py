"""Logs from files, whole or in pieces."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from torsor.errors import ArgumentError, FileError, require_known
from torsor.io.logs.columns import are_numbered, parse_column
from torsor.io.logs.log import QUANTITIES, Log, concatenate
from torsor.support.digests import DamagedFile
from torsor.support.files import label, open_regular
from torsor.support.parquet import read_parquet
from torsor.support.tables import Table, read_csv, read_npz

if TYPE_CHECKING:
    from torsor.robot import Robot

Source: TypeAlias = str | PathLike[str] | IO[bytes]
ROWS = 65536


def read(
    source: Source,
    robot: Robot | None = None,
    *,
    format: str | None = None,
    topic: str | None = None,
    joints: Sequence[str] | None = None,
) -> Log:
    """The log of a .csv, .parquet, .npz or .mcap file; with a ``robot``, only its columns and in its order.

    Columns are identified by name: ``t`` or ``time`` [s]; ``q[elbow]``, ``elbow.position``, ``/joint_states/elbow/position``;
    numbered ones (``q1, q2, ...``) are in the robot's order.  An NPZ holds arrays t (T,), q (T, n) ....  ``topic`` and
    ``joints`` select from an MCAP file.  A stream needs ``format``: ``"csv"``, ``"parquet"``, ``"npz"``, ``"mcap"``.
    """
    log = concatenate(list(read_chunks(source, format=format, topic=topic, joints=joints)))
    return log if robot is None else in_order(log, robot)


def read_chunks(
    source: Source,
    rows: int = ROWS,
    robot: Robot | None = None,
    *,
    format: str | None = None,
    topic: str | None = None,
    joints: Sequence[str] | None = None,
) -> Iterator[Log]:
    """The same in logs of at most ``rows`` rows, one after another, for files larger than the memory.

    At least one log is returned, empty if the file has no rows.  An NPZ is read whole and returned in pieces.
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ArgumentError(f"rows must be a positive whole number, not {rows!r}")
    chunks, file = FORMATS[_format(source, format)], "" if hasattr(source, "read") else label(source)  # type: ignore[arg-type]
    options = {k: x for k, x in (("topic", topic), ("joints", joints)) if x is not None}
    if options and chunks is not _mcap:
        raise ArgumentError(f"{' and '.join(options)} needs an MCAP file; {file or 'this'} is not one")
    opened: Any = nullcontext(source) if hasattr(source, "read") else open_regular(source)  # type: ignore[arg-type]
    with opened as stream:
        for log in chunks(stream, rows, file, **options):
            yield log if robot is None else in_order(log, robot)


def in_order(log: Log, robot: Robot) -> Log:
    """A log with the robot's columns only, in its order; states that are not finite are an error."""
    from torsor.io.logs.log import coordinates

    states, names = log.states(robot), coordinates(robot)
    ignored = log.unused(robot)
    return Log(*states, names=names, start=log.start, row=log.row, ignored=ignored, source=log.source)


# -- formats -------------------------------------------------------------------------------------------------------------


def _tables(read: Callable[..., Iterator[Table]], stream: IO[bytes], rows: int, file: str) -> Iterator[Log]:
    return (log_of_table(table, file) for table in read(stream, rows, file, _is_log_column))


def _is_log_column(column: str) -> bool:
    """Whether a column is a quantity of a log; others may hold anything, for example labels."""
    return bool(parse_column(column)[0])


def _npz(stream: IO[bytes], rows: int, file: str) -> Iterator[Log]:
    try:
        arrays, meta = read_npz(stream)
    except DamagedFile as error:
        raise DamagedFile(error.reason, file=file) from None
    except (ValueError, OSError) as error:
        # NumPy would load all of the objects
        why = "it contains Python objects, or is not an NPZ file" if "pickle" in str(error) else error
        raise FileError(f"is not a readable NPZ file: {why}", file=file) from error
    ours: dict[str, Any] = {k: x for k, x in arrays.items() if k in ("t", *QUANTITIES)}
    names, start = _metadata(meta, file)
    ignored = tuple(k for k in arrays if k not in ours)
    whole = Log(**ours, names=names, start=start, ignored=ignored, source=file)
    for at in range(0, max(len(whole), 1), rows):
        piece: dict[str, Any] = {k: getattr(whole, k)[at : at + rows] for k in ours}
        yield Log(**piece, names=whole.names, start=start, row=at, ignored=ignored, source=file)


def _mcap(stream: IO[bytes], rows: int, file: str, **options: Any) -> Iterator[Log]:
    from torsor.io.logs.mcap_files import read_mcap

    return read_mcap(stream, rows, file, **options)


#: by the ending of the name, or the word given as ``format``
FORMATS: dict[str, Callable[..., Iterator[Log]]] = {
    "csv": partial(_tables, read_csv), "parquet": partial(_tables, read_parquet), "npz": _npz, "mcap": _mcap,
}  # fmt: skip


def log_of_table(table: Table, file: str = "") -> Log:
    """Columns by their names to a log."""
    names, start = _metadata(table.meta, file)
    found: dict[str, list[tuple[str, np.ndarray]]] = {}
    for column, values in zip(table.names, table.columns, strict=True):
        quantity, name = parse_column(column)
        found.setdefault(quantity, []).append((name, values))
    times = found.pop("t", [])
    if len(times) > 1:
        raise FileError("has two columns of time", file=file)
    own = {k: tuple(name for name, _ in columns) for k, columns in found.items()}
    names = {k: x for k, x in own.items() if k in names or not are_numbered(x)}
    arrays: dict[str, Any] = {k: np.stack([x for _, x in columns], axis=1) for k, columns in found.items()}
    t = times[0][1] if times else None
    return Log(t=t, **arrays, names=names, start=start, row=table.row, ignored=table.ignored_columns, source=file)


def _metadata(meta: dict[str, Any], file: str) -> tuple[dict[str, tuple[str, ...]], int]:
    """(names by quantity, start) from the metadata of a file written by torsor: a log or a simulation."""
    try:
        info = meta.get("info") or {}
        q, v = info.get("configuration"), info.get("coordinates")
        names = meta.get("names") or {k: x for k, x in (("q", q), ("v", v), ("tau", v)) if x}
        return {k: tuple(map(str, x)) for k, x in names.items()}, int(meta.get("start", 0))
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"has invalid metadata: {error}", file=file) from None


def _format(source: Source, format: str | None) -> str:
    word = format
    if word is None:
        if hasattr(source, "read"):
            raise ArgumentError(f"the format of a stream is unknown: give format=, one of {', '.join(FORMATS)}")
        if not isinstance(source, (str, PathLike)):
            raise ArgumentError(f"source must be a path or a stream of bytes, not {type(source).__name__}")
        word = os.path.splitext(os.fspath(source))[1].lower().removeprefix(".")
    require_known("format=", word, FORMATS)
    return word
