"""Tables of numbers in files: named columns and JSON metadata, in CSV and NPZ; :mod:`torsor.support.parquet` has Parquet.

Numbers are kept bit for bit in both directions; no pickle.  CSV and Parquet are also read in pieces, for files larger than the
memory.  Files written here carry a digest of their numbers (:mod:`torsor.support.digests`), checked when they are read;
in pieces, after the last one.  :mod:`torsor.simulate.files` and :mod:`torsor.logs` interpret the columns.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from typing import IO, Any, NamedTuple, TypeAlias

import numpy as np

from torsor.errors import FileError
from torsor.support.digests import MARK, TableDigest, damaged_error, digest_of_arrays
from torsor.support.user_arrays import Array

#: largest total size of the arrays of an NPZ, which is read whole [bytes]
UNPACKED = 4 << 30
#: bytes at the end of an NPZ that list its entries, at most
LISTED = 1 << 20
#: the longest line of a CSV [characters]; the JSON of a simulation with 10⁵ events is shorter
LINE = 64 << 20
#: decimals that are too large for a double; infinity is written inf
_OVERFLOWS = re.compile(r"\d[eE]\+?\d{3,}|\d{300}")
#: numbers from which it pays to import pyarrow
MANY = 100_000


class Table(NamedTuple):
    """Columns of equal length by name, and metadata; ``row`` is the number of its first row in the file.

    ``ignored_columns`` names the columns that were not requested: they may hold anything.
    """

    names: list[str]
    columns: list[Array]
    meta: dict[str, Any]
    row: int = 0
    ignored_columns: tuple[str, ...] = ()


def all_columns(name: str) -> bool:
    """The default choice of columns."""
    return True


def parse_metadata(text: str | bytes) -> dict[str, Any]:
    """The JSON metadata of a table; ValueError if it is not a mapping, or nested too deeply."""
    try:
        meta = json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    if not isinstance(meta, dict):
        raise ValueError(f"its JSON is a {type(meta).__name__}, not a mapping")
    return meta


# -- CSV -----------------------------------------------------------------------------------------------------------------


#: a function that appends rows, one array per column
Put: TypeAlias = Callable[[Sequence[Array]], None]


def table_bytes(
    writer: Callable[..., AbstractContextManager[Put]], names: Sequence[str], columns: Sequence[Array], meta: Any = None
) -> bytes:
    """A whole file, by :func:`csv_writer` or :func:`torsor.support.parquet.parquet_writer`."""
    stream = io.BytesIO()
    with writer(stream, names, meta) as put:
        put(columns)
    return stream.getvalue()


@contextmanager
def csv_writer(
    stream: IO[bytes], names: Sequence[str], meta: Mapping[str, Any] | None = None, *, digest: bool = True
) -> Iterator[Put]:
    """The digest, ``# {...}`` if there is JSON metadata, the names, and one line per row.

    The digest is first, so that a truncated file has it; it is filled in last, so the stream must be seekable.
    """
    start, state = stream.tell() if digest else 0, TableDigest(names, meta)
    stream.write(_digest_line("0" * 64) if digest else b"")

    def put(columns: Sequence[Array]) -> None:
        stream.write(csv_rows(columns))
        state.add(columns)

    stream.write(_csv_head(names, meta))
    yield put
    if digest:
        end = stream.tell()
        stream.seek(start)
        stream.write(_digest_line(state.hex()))
        stream.seek(end)


def _digest_line(digest: str) -> bytes:
    return f"# {MARK} {digest}\n".encode()


def _csv_head(names: Sequence[str], meta: Mapping[str, Any] | None) -> bytes:
    text = io.StringIO(newline="")
    text.write("# " + json.dumps(meta) + "\n" if meta else "")
    csv.writer(text, lineterminator="\n").writerow(names)
    return text.getvalue().encode()


def csv_rows(columns: Sequence[Array]) -> bytes:
    """One line per row; each number is the shortest decimal that reads back to the same bits, as Python writes it.

    Where pyarrow is installed and there are many numbers it writes the same bytes, three times as fast.

    >>> csv_rows([np.array([0.0, 0.1]), np.array([1e-5, 1 / 3])])
    b'0.0,1e-05\\n0.1,0.3333333333333333\\n'
    """
    if sum(len(c) for c in columns) >= MANY and all(c.dtype == np.float64 for c in columns):
        with suppress(ImportError):
            return _arrow_rows(columns)
    lines = [",".join(map(repr, row)) for row in zip(*(c.tolist() for c in columns), strict=True)]
    return "".join(f"{line}\n" for line in lines).encode()


def _arrow_rows(columns: Sequence[Array]) -> bytes:
    import pyarrow
    from pyarrow.csv import WriteOptions, write_csv

    stream = io.BytesIO()
    table = pyarrow.table([_words(c) for c in columns], names=[str(n) for n in range(len(columns))])
    write_csv(table, stream, WriteOptions(include_header=False, quoting_style="none"))
    return stream.getvalue()


def _words(column: Array) -> Any:
    """Numbers as text: pyarrow writes digits and notation as Python does, except for whole, small and large numbers."""
    import pyarrow
    from pyarrow import compute

    size = np.abs(column)
    with np.errstate(invalid="ignore"):
        odd = ~((size >= 1e-3) & (size < 1e9) & (column != np.floor(column)))
    words = pyarrow.array(column).cast(pyarrow.string())
    return compute.replace_with_mask(words, odd, pyarrow.array([repr(x) for x in column[odd].tolist()], pyarrow.string()))


def read_csv(stream: IO[bytes], rows: int, file: str = "", wanted: Callable[[str], bool] = all_columns) -> Iterator[Table]:
    """A CSV file in tables of at most ``rows`` rows; at least one table, which may be empty."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        digest, meta, names, line = _head(text, file)
        check = Check("csv", digest, names, meta, file)
        kept = [k for k, name in enumerate(names) if wanted(name)]
        own, other = [names[k] for k in kept], tuple(name for name in names if not wanted(name))
        parsed, some = (kept, list(range(len(kept)))) if digest is None else (list(range(len(names))), kept)  # it is of all
        done = 0
        while True:
            lines = list(islice(_lines(text, line, file), rows))
            if lines or not done:
                values = _values(lines, names, parsed, line, file)
                check.add(list(values.T), last=len(lines) < rows)
                yield Table(own, [values[:, k] for k in some], meta, done, other)
                done += len(values)
                line += len(lines)
            if len(lines) < rows:
                check.add((), last=True)
                return
    except UnicodeDecodeError as error:
        raise FileError(f"is not UTF-8 text: {error.reason}", file=file) from None
    except csv.Error as error:
        raise FileError(f"is not valid CSV: {error}", file=file) from None
    finally:
        with suppress(ValueError):  # the stream is its owner's to close, and may have been
            text.detach()


def _lines(text: io.TextIOWrapper, line: int, file: str) -> Iterator[str]:
    """Lines from here on; a file without line ends would fill the memory, and is refused."""
    while found := text.readline(LINE):
        if len(found) == LINE:
            raise FileError(f"has a line of more than {LINE >> 20} MB", file=file, line=line)
        yield found
        line += 1


class Check:
    """The digest of a file, if it has one, compared with that of its numbers while they are read."""

    def __init__(self, format: str, expected: str | None, names: Sequence[str], meta: Mapping[str, Any], file: str):
        self.format, self.expected, self.file = format, expected, file
        self.state = TableDigest(names, meta)

    def add(self, columns: Sequence[Array], last: bool) -> None:
        if self.expected is not None:
            self.state.add(columns)
            if last and self.state.hex() != self.expected:
                raise damaged_error(self.format, self.file)


def _head(text: io.TextIOWrapper, file: str) -> tuple[str | None, dict[str, Any], list[str], int]:
    """(digest, JSON metadata, names of the columns, the line where the numbers start)."""
    above = _lines(text, 1, file)
    line, digest, meta, first = 1, None, {}, next(above, "")
    if first.startswith(f"# {MARK}"):
        found = re.fullmatch(rf"# {MARK} ([0-9a-f]{{64}})\s*", first)
        if not found:
            raise damaged_error("csv", file)
        line, digest, first = 2, found[1], next(above, "")
    if first.startswith("# {"):
        try:
            meta = parse_metadata(first[2:])
        except ValueError as error:
            raise FileError(f"this line is not valid JSON: {error}", file=file, line=line) from None
        line, first = line + 1, next(above, "")
    names = [name.strip() for name in next(csv.reader([first]), [])]
    if not names:
        raise FileError("is empty; a line with the names of the columns was expected", file=file, line=line)
    if len(names) == 1 and (other := next((x for x in ";\t" if x in names[0]), "")):
        word = {";": "semicolons", "\t": "tabs"}[other]
        raise FileError(f"columns are separated by {word}; use commas, and decimal points", file=file, line=line)
    if all(_is_number(name) for name in names):
        raise FileError(
            "starts with numbers; its first line must name the columns, such as t,q[shoulder],q[elbow]", file=file, line=line
        )
    return digest, meta, names, line + 1


def _values(lines: list[str], names: list[str], kept: list[int], line: int, file: str) -> Array:
    """The numbers of some columns of some lines, the first of which is line ``line`` of the file."""
    width = len(names)
    if not kept or not any(not x.isspace() for x in lines):
        return np.empty((sum(not x.isspace() for x in lines), len(kept)))
    out, some = None, None if len(kept) == width else kept
    try:
        out = np.loadtxt(lines, delimiter=",", comments=None, quotechar='"', ndmin=2, usecols=some)
        whole = out.shape[1] == width if some is None else _have_width(lines, width)
        if whole and not (np.isinf(out).any() and any(map(_OVERFLOWS.search, lines))):
            return out
    except ValueError:
        pass
    for k, cells in enumerate(csv.reader(lines)):  # parse again, to report the error with its line
        if cells and len(cells) != width:
            raise FileError(f"has {len(cells)} cells in this line and {width} columns", file=file, line=line + k)
        for n in kept if cells else ():
            if not _is_number(cells[n]):
                what = "is empty" if not cells[n].strip() else f"contains {cells[n][:40]!r}, which is not a number"
                raise FileError(f"column {names[n][:40]!r} {what}", file=file, line=line + k)
    if out is None or out.shape[1] != len(kept):
        raise FileError("is not a table of numbers", file=file, line=line)
    return out


def _have_width(lines: list[str], width: int) -> bool:
    """Whether every line that is not empty has ``width`` cells."""
    return all(len(cells) in (0, width) for cells in csv.reader(lines))


def _is_number(cell: str) -> bool:
    try:
        value = float(cell)
    except ValueError:
        return False
    return cell.isascii() and "_" not in cell and (math.isfinite(value) or not _OVERFLOWS.search(cell))


# -- NPZ -----------------------------------------------------------------------------------------------------------------


def npz_bytes(arrays: Mapping[str, Array], meta: Mapping[str, Any]) -> bytes:
    """Arrays of any shape by name; ``meta``, the JSON, and the digest are among them as strings."""
    stream = io.BytesIO()
    metadata = {"meta": np.array(json.dumps(meta)), MARK: np.array(digest_of_arrays(arrays, meta))}
    np.savez_compressed(stream, **arrays, **metadata)  # type: ignore[arg-type]
    return stream.getvalue()


def read_npz(stream: IO[bytes]) -> tuple[dict[str, Array], dict[str, Any]]:
    """(arrays, meta); meta is empty if missing.  ValueError if the file is damaged or holds objects; none is created."""
    try:
        with np.load(stream, allow_pickle=False) as stored:
            if not hasattr(stored, "files"):
                raise ValueError("it is a single array, not an NPZ file of named arrays")
            _check_unpacked(stored.zip.infolist())
            arrays = {k: stored[k] for k in stored.files}
        digest, found = arrays.pop(MARK, None), arrays.pop("meta", None)
        meta = {} if found is None else parse_metadata(str(found))
        if (digest is not None or _is_marked(stream)) and str(digest) != digest_of_arrays(arrays, meta):
            raise damaged_error("npz")
        return arrays, meta
    except FileError:
        raise
    except Exception as error:  # of a damaged file: zipfile's own, zlib's, struct's, tokenize's ...
        raise ValueError(str(error)[:300] or type(error).__name__) from error


def _is_marked(stream: IO[bytes]) -> bool:
    """Whether the end of a file, where a zip archive lists its entries, names a digest; a damaged list can hide entries."""
    stream.seek(max(stream.seek(0, io.SEEK_END) - LISTED, 0))
    return f"{MARK}.npy".encode() in stream.read()


def _check_unpacked(entries: Sequence[Any]) -> None:
    """Limit the unpacked size: a megabyte can unpack to a gigabyte.  zipfile reads at most the size in an entry's header."""
    if sum(entry.file_size for entry in entries) > UNPACKED:
        raise ValueError(f"its arrays are more than {UNPACKED >> 30} GB; CSV and Parquet can be read in chunks")
