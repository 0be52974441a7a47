"""Tables of numbers in Parquet files; JSON metadata and digest are among the file's key-value metadata.

pyarrow decodes the pages.  It allocates the size that the header of a page announces before it reads the page, so sizes are
checked first: two gigabytes announced by a damaged byte are refused.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np

from torsor.errors import FileError, needs_extra
from torsor.support import thrift
from torsor.support.digests import MARK, TableDigest, damaged_error
from torsor.support.tables import Array, Check, Put, Table, all_columns, parse_metadata

#: the key of the JSON
KEY = b"torsor"
#: largest number of values, and of bytes, unpacked from one byte of a file; zstd reaches half of it with zeros
RATIO = 1 << 16
#: number of bytes read for a page's header; the second number is used if the header is longer
HEADERS = (1 << 10, 1 << 20)


@contextmanager
def parquet_writer(stream: IO[bytes], names: Sequence[str], meta: Mapping[str, Any] | None = None) -> Iterator[Put]:
    """A function that appends rows, as one row group each."""
    pa, parquet = pyarrow()
    schema = pa.schema([(name, pa.float64()) for name in names], {KEY: json.dumps(meta)} if meta else None)
    state = TableDigest(names, meta)
    with parquet.ParquetWriter(stream, schema) as file:

        def put(columns: Sequence[Array]) -> None:
            file.write_table(pa.table([pa.array(c, pa.float64()) for c in columns], schema=schema))
            state.add(columns)

        yield put
        file.add_key_value_metadata({MARK: state.hex()})


def read_parquet(stream: IO[bytes], rows: int, file: str = "", wanted: Callable[[str], bool] = all_columns) -> Iterator[Table]:
    """A Parquet file in tables of at most ``rows`` rows; at least one table, which may be empty."""
    pa, parquet = pyarrow()
    try:
        size, footer = _size_and_footer(stream)
        reader = parquet.ParquetFile(stream)
        names, metadata = reader.schema_arrow.names, reader.metadata.metadata or {}
        digest, meta = metadata.get(MARK.encode()), parse_metadata(metadata.get(KEY, b"{}"))
        if digest is None and MARK.encode() in footer:  # one damaged byte of the footer can hide all key-value metadata
            raise damaged_error("parquet", file)
        own, other = [name for name in names if wanted(name)], tuple(name for name in names if not wanted(name))
        parsed = own if digest is None else names
        if len(set(parsed)) < len(parsed):
            raise ValueError("two of its columns have the same name")
        _check_sizes(footer, parsed, stream, size)
        check = Check("parquet", digest and digest.decode("ascii", "replace"), names, meta, file)
        done = 0
        for batch in reader.iter_batches(rows, columns=parsed):
            columns = [_floats(batch[name], name, done, file) for name in parsed]
            check.add(columns, last=False)
            yield Table(own, [x for name, x in zip(parsed, columns, strict=True) if wanted(name)], meta, done, other)
            done += batch.num_rows
        check.add((), last=True)
        if not done:
            yield Table(own, [np.empty(0) for _ in own], meta, 0, other)
    except FileError:
        raise
    except MemoryError as error:
        raise FileError("needs more memory than is available; it may be damaged", file=file) from error
    except (pa.ArrowException, OSError, EOFError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]  # the last four: required fields missing in the footer
        raise FileError(f"is not a readable Parquet file: {why}", file=file) from error


def _size_and_footer(stream: IO[bytes]) -> tuple[int, bytes]:
    """(size of the file, its footer, which describes the rest)."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - 8, 0))
    length = min(int.from_bytes(stream.read(4), "little"), size)
    stream.seek(max(size - 8 - length, 0))
    footer = stream.read(length)
    stream.seek(0)
    return size, footer


def _floats(column: Any, name: str, row: int, file: str) -> Array:
    if column.null_count:
        raise FileError(f"column {name!r} is empty (null) in row {row + column.is_null().index(True).as_py() + 1}", file=file)
    try:
        return np.asarray(column, dtype=np.float64)
    except (ValueError, TypeError):
        raise FileError(f"column {name!r} holds {column.type}, not numbers", file=file) from None


def pyarrow() -> tuple[Any, Any]:
    """(pyarrow, pyarrow.parquet), or which extra brings them."""
    with needs_extra("pyarrow", "tables", "Parquet files"):
        import pyarrow
        import pyarrow.parquet
    return pyarrow, pyarrow.parquet


# -- sizes that a file announces ----------------------------------------------------------------------------------------
# Parquet's numbers of the fields: parquet.thrift of the format's specification


def _check_sizes(footer: bytes, names: Sequence[str], stream: IO[bytes], size: int) -> None:
    """ValueError where the rows or pages of these columns are far larger than the bytes of the file can hold."""
    described, _ = thrift.struct(footer)
    if not 0 <= described[3] * len(names) <= RATIO * size:
        raise ValueError(f"it declares {described[3]} rows of {len(names)} columns in {size} bytes")
    wanted = {name.encode() for name in names}
    for chunk in (column[3] for group in described[4] for column in group[1]):
        if chunk[3][0] in wanted:
            at = min(chunk[k] for k in (9, 11) if k in chunk)  # data pages, dictionary page
            _check_pages(stream, at, at + chunk[7], size)
    stream.seek(0)


def _check_pages(stream: IO[bytes], at: int, end: int, size: int) -> None:
    if not 0 <= at <= end <= size:
        raise ValueError(f"a column is at bytes {at} to {end} of {size}")
    while at < end:
        header, length = _page_header(stream, at)
        unpacked, packed = header[2], header[3]
        at += length + packed
        if packed < 0 or at > end or not 0 <= unpacked <= RATIO * (length + packed):
            raise ValueError(f"a page declares {unpacked} bytes in {packed}")


def _page_header(stream: IO[bytes], at: int) -> tuple[dict[int, Any], int]:
    with suppress(EOFError):
        stream.seek(at)
        return thrift.struct(stream.read(HEADERS[0]))
    stream.seek(at)
    return thrift.struct(stream.read(HEADERS[1]))
