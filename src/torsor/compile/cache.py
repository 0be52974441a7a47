"""Compiled code on disk, so that the second process starts at once.

A file is a digest and object code.  Its name is the hash of everything the code depends on, the digest covers name and
content, and a file is loaded only after it has been checked.  Disk errors cost time, but do not affect results.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import warnings
from pathlib import Path

from torsor.compile.llvm.native import llvm_lock
from torsor.errors import CacheWarning

MAGIC = b"torsor1\n"
DIGEST = 32
#: files kept; the least recently written go first
CAPACITY = 10_000
#: number of leading hexadecimal zeros in a name at which a store also prunes the folder: one store in 16, since listing is slow
PRUNING = 1
#: of a file [bytes]; the largest program that is compiled takes a tenth of it
LARGEST = 256 << 20

#: a symbolic link is not followed, a pipe without a writer does not block
_FLAGS = os.O_RDONLY
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)

_warned: set[str] = set()


def directory() -> Path | None:
    """The folder of compiled code: $TORSOR_CACHE, else the user's cache folder; None if $TORSOR_CACHE is "off"."""
    chosen = os.environ.get("TORSOR_CACHE")
    if chosen is not None:
        return None if chosen.strip().lower() in ("", "off", "0") else Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    if base:
        return Path(base) / "torsor"
    try:
        return Path.home() / ".cache" / "torsor"
    except RuntimeError:
        return None


def key(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def load(name: str) -> bytes | None:
    """The object code kept under a key, if there is any and it is whole."""
    folder = _own_folder()
    if folder is None:
        return None
    path = folder / f"{name}.o"
    try:
        data = _read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once(f"{path} is not loaded ({error.strerror}); the kernel is compiled anew")
        return None
    head = len(MAGIC) + DIGEST
    image = data[head:]
    if data[: len(MAGIC)] != MAGIC or data[len(MAGIC) : head] != _digest(name, image):
        with contextlib.suppress(OSError):
            path.unlink()
        _warn_once(f"{path} is damaged; it was removed and the kernel is compiled anew")
        return None
    return image


def store(name: str, image: bytes) -> None:
    """Store object code: written to a temporary file, then renamed, so that a reader never opens a partial file."""
    folder = _own_folder(create=True)
    if folder is None:
        return
    with llvm_lock:
        import tempfile  # slow to import, and needed only when something new was compiled

    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")  # mode 0600
        with os.fdopen(handle, "wb") as file:
            file.write(MAGIC + _digest(name, image) + image)
        os.replace(temporary, folder / f"{name}.o")
        temporary = None
        if name[:PRUNING] == "0" * PRUNING:
            _prune(folder)
    except OSError as error:
        _warn_once(f"nothing could be written to {folder} ({error.strerror})")
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _read(path: Path) -> bytes:
    """The contents of a regular file that the user owns and only the user can write; otherwise OSError with the reason.

    It is opened once, and the open file checked: a file planted while others could write to the folder has another owner, and
    opening a pipe does not wait for a writer.
    """
    with open(os.open(path, _FLAGS), "rb") as file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        if hasattr(os, "geteuid") and (info.st_uid != os.geteuid() or info.st_mode & 0o022):
            raise OSError(errno.EPERM, "it belongs to another user, or others can write it")
        if info.st_size > LARGEST:
            raise OSError(errno.EFBIG, f"larger than {LARGEST >> 20} MB")
        return file.read(info.st_size)


def _digest(name: str, image: bytes) -> bytes:
    content = hashlib.sha256(name.encode())
    content.update(image)
    return content.digest()


def _own_folder(create: bool = False) -> Path | None:
    """The cache folder, if only this user can write to it: code is loaded from it."""
    folder = directory()
    if folder is None:
        return None
    try:
        if create:
            folder.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
        info = folder.lstat()
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once(f"{folder} cannot be used ({error.strerror})")
        return None
    shared = hasattr(os, "geteuid")
    faults = {
        "is not a folder (a symbolic link is not followed)": not stat.S_ISDIR(info.st_mode),
        "belongs to another user, so no code is loaded from it": shared and info.st_uid != os.geteuid(),
        f"can be written by others, so no code is loaded from it; try: chmod 700 {folder}": shared and info.st_mode & 0o022,
    }
    for fault in filter(faults.get, faults):
        _warn_once(f"{folder} {fault}")
        return None
    return folder


def _prune(folder: Path) -> None:
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.name.endswith(".o")]
    if len(names) > CAPACITY:
        for path in sorted((folder / name for name in names), key=_write_time)[: len(names) - CAPACITY * 3 // 4]:
            with contextlib.suppress(OSError):
                path.unlink()


def _write_time(path: Path) -> float:
    """Modification time of a file; 0 if another process has removed it meanwhile."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _warn_once(what: str) -> None:
    """One warning per cause and process; the kernel is then compiled in memory."""
    if what not in _warned:
        _warned.add(what)
        warnings.warn(f"torsor's kernel cache: {what}", CacheWarning, stacklevel=2)
