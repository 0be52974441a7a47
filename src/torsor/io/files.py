"""Files in and out: whole, regular, and on the way out all or nothing."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from torsor.errors import ArgumentError, FileError

#: no description of a robot is larger than this [bytes]; what is would only fill the memory
LARGEST = 256 * 2**20


def label(path: str | os.PathLike[str]) -> str:
    """A path as shown in errors: printable, and short even if someone passes a whole document as a path."""
    text = os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
    text = text.replace("\0", "\\0").replace("\n", "\\n")
    return text if len(text) <= 300 else text[:300] + "..."


def is_markup(source: object) -> bool:
    """Whether a source is XML itself and no path to it: text that starts with ``<``; blank text is no path either.

    >>> is_markup("<robot/>"), is_markup("robot.urdf")
    (True, False)
    """
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n")[:1] in ("<", "")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The contents of a regular file.  A pipe or a device could block or never end, and is refused."""
    name = label(path)
    try:
        info = os.stat(path)
        if stat.S_ISDIR(info.st_mode):
            raise FileError("is a directory; give the file inside it", file=name)
        if not stat.S_ISREG(info.st_mode):
            raise FileError("is not a regular file; read it and pass its contents as bytes", file=name)
        with open(path, "rb") as stream:
            # nothing is read of a file too large, nor all of one that grows meanwhile
            data = stream.read(LARGEST + 1) if info.st_size <= LARGEST else None
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", file=name) from error
    except ValueError as error:  # a NUL in the path, a lone surrogate
        raise FileError(f"is no path: {error}", file=name) from error
    if data is None or len(data) > LARGEST:
        raise FileError(f"is larger than {LARGEST >> 20} MB; that is no description of a robot", file=name)
    return data


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8, all or nothing."""
    try:
        data = text.encode("utf-8")
    except ValueError as error:  # a lone surrogate
        raise FileError(f"cannot be written: {error}", file=label(path)) from error
    write_bytes(path, data)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write so that the path holds either what it held or all of the data, whatever happens on the way."""
    with replacing(path) as stream:
        stream.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream whose bytes become the file when the block ends well; an error leaves the path as it was.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/out.txt") as stream:
    ...         _ = stream.write(b"all of it")
    ...     print(pathlib.Path(f"{folder}/out.txt").read_text())
    all of it
    """
    target = _target(path)
    temporary = f"{target}.{secrets.token_hex(6)}.tmp"
    try:
        # mode 0666 under the umask: what open() would give, which tempfile's private 0600 is not
        with open(os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), "w+b") as stream:
            if os.path.exists(target):
                os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror or error}", file=label(path)) from error
    finally:
        with suppress(OSError):  # it is gone if all went well
            os.unlink(temporary)


def _target(path: str | os.PathLike[str]) -> str:
    """The file to replace.  A symbolic link stays one: the file it leads to is replaced."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path must be a path, not {type(path).__name__}")
    try:
        target = os.fsdecode(os.path.realpath(path))
        taken = os.path.lexists(target) and not os.path.isfile(target)
    except ValueError as error:  # a NUL in the path, a lone surrogate
        raise FileError(f"cannot be written: {error}", file=label(path)) from error
    if taken:
        raise FileError("is a directory or a device, and is not replaced by a file", file=label(path))
    return target
