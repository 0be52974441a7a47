"""Reading and writing files: whole, regular files only, written atomically."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from torsor.errors import ArgumentError, FileError

#: models and meshes of the robots that come with torsor
DATA = Path(__file__).parents[1] / "robot" / "library" / "data"

#: largest robot description that is read [bytes]; a larger file would only fill the memory
LARGEST = 256 * 2**20


def label(path: str | os.PathLike[str]) -> str:
    """A path as shown in errors: printable, and short even if a whole document is passed as a path."""
    text = os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
    text = text.replace("\0", "\\0").replace("\n", "\\n")
    return text if len(text) <= 300 else text[:300] + "..."


def is_markup(source: object) -> bool:
    """Whether a source is XML text and not a path: text that starts with ``<``, or blank text.

    >>> is_markup("<robot/>"), is_markup("robot.urdf")
    (True, False)
    """
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("<", "")


def open_regular(path: str | os.PathLike[str], largest: int | None = None) -> IO[bytes]:
    """A regular file, open for reading; every file that a user names is opened here.

    A pipe or a device could block or never end, and is refused.  The path is looked at before it is opened, because opening
    some devices has effects, and the open file again, because another may have taken its place.  A file of more than
    ``largest`` bytes is refused.
    """
    name = label(path)
    try:
        _check_regular(os.stat(path), name)
        stream = open(path, "rb", opener=_open_nonblocking)  # noqa: SIM115
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", file=name) from error
    except ValueError as error:  # a NUL in the path, a lone surrogate
        raise FileError(f"is not a valid path: {error}", file=name) from error
    try:
        info = os.fstat(stream.fileno())
        _check_regular(info, name)
        if largest is not None and info.st_size > largest:
            raise _too_large(largest, name)
    except FileError:
        stream.close()
        raise
    return stream


def read_bytes(path: str | os.PathLike[str], largest: int = LARGEST) -> bytes:
    """The contents of a regular file (:func:`open_regular`) of at most ``largest`` bytes."""
    with open_regular(path, largest) as stream:
        try:
            size = os.fstat(stream.fileno()).st_size
            data = stream.read(size + 1)  # Python reserves all requested bytes, so do not request LARGEST
            if len(data) > size:  # it grows meanwhile; not all of it is read
                data += stream.read(largest + 1 - len(data))
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror or error}", file=label(path)) from error
    if len(data) > largest:
        raise _too_large(largest, label(path))
    return data


def read_stream(stream: IO[bytes], largest: int = LARGEST, file: str = "") -> bytes:
    """All of a stream that may never end, such as stdin, if it is at most ``largest`` bytes."""
    pieces, size = [], 0
    while piece := stream.read(1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > largest:
            raise _too_large(largest, file)
    return b"".join(pieces)


def _open_nonblocking(path: str, flags: int) -> int:
    """Open without blocking: opening a pipe would otherwise wait for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def _check_regular(info: os.stat_result, name: str) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise FileError("is a directory; give the file inside it", file=name)
    if not stat.S_ISREG(info.st_mode):
        raise FileError("is not a regular file; read it and pass its contents as bytes", file=name)


def _too_large(largest: int, name: str) -> FileError:
    return FileError(f"is larger than the limit of {largest >> 20} MB for such a file", file=name)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 atomically."""
    with replace_file(path) as stream:
        stream.write(text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write atomically: the path holds either its old content or all of the data, even after an interruption."""
    with replace_file(path) as stream:
        stream.write(data)


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream whose bytes become the file when the block succeeds; after an error the path is unchanged.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replace_file(f"{folder}/out.txt") as stream:
    ...         _ = stream.write(b"all of it")
    ...     print(pathlib.Path(f"{folder}/out.txt").read_text())
    all of it
    """
    target = target_of(path)
    temporary = f"{target}.{secrets.token_hex(6)}.tmp"
    try:
        # mode 0666 under the umask: as with open(); tempfile would use the private mode 0600
        with open(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), "w+b") as stream:
            if os.path.exists(target):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except UnicodeEncodeError as error:
        near = error.object[max(error.start - 20, 0) : error.end + 20]
        raise FileError(
            f"cannot be written: {error.object[error.start]!r} in {near!r} is half of a character and has no UTF-8 form; "
            "rename it", file=label(path),
        ) from error  # fmt: skip
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", file=label(path)) from error
    finally:
        with suppress(OSError):  # it is gone if all went well
            os.unlink(temporary)


def target_of(path: str | os.PathLike[str]) -> str:
    """The file to replace.  A symbolic link stays one: the file it leads to is replaced."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path must be a path, not {type(path).__name__}")
    try:
        target = os.fsdecode(os.path.realpath(path))
        taken = os.path.lexists(target) and not os.path.isfile(target)
    except ValueError as error:  # a NUL in the path, a lone surrogate
        raise FileError(f"cannot be written: {error}", file=label(path)) from error
    if taken:
        raise FileError("is a directory or a device and cannot be replaced by a file", file=label(path))
    return target
