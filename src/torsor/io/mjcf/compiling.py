"""From an MJCF file to MuJoCo's compiled model, quietly and with torsor's errors.

MuJoCo reads the file, what it includes and the meshes it names: C code, on files from strangers.  Here the file must be a
regular one of a size that makes sense, and so must every mesh and height field it names; textures are not opened.  What
else a hostile file may do to MuJoCo's parser is MuJoCo's: read such files in a process of their own.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from torsor.errors import ArgumentError, FileError, MissingExtra
from torsor.io.files import LARGEST, is_markup, label, read_bytes

Source = str | os.PathLike[str] | bytes

#: the major version whose models are read: older ones have fields of other names
OLDEST = 4

_ROOT = re.compile(r"<([A-Za-z_][\w:.-]*)")
_PROLOG = re.compile(r"\s*(<\?.*?\?>|<!--.*?-->)", re.DOTALL)
_OTHERS = {"robot": "a URDF; read_urdf reads it", "sdf": "an SDF file", "mujocoinclude": "a part that other MJCF files include"}
_LINE = re.compile(r"\bline (\d+)|Line number=(\d+)")
_ELEMENT = re.compile(r"Element '([^']+)'")
#: MuJoCo's log settings belong to the whole process
_LOCK = Lock()


class Compiled(NamedTuple):
    """A compiled model, what MuJoCo warned of on the way, and where each mesh was moved: its refpos and refquat."""

    model: Any
    warnings: tuple[str, ...]
    file: str
    mesh_frames: dict[str, tuple[Any, Any]]


def mujoco(purpose: str = "reading MJCF") -> Any:
    """The library, or the error that says how to get it."""
    try:
        import mujoco as library
    except ImportError:
        raise MissingExtra("mujoco-core", "mujoco", purpose) from None
    if int(library.__version__.partition(".")[0]) < OLDEST:
        raise MissingExtra(f"mujoco-core >= {OLDEST}.0.1 (there is {library.__version__})", "mujoco", purpose)
    return library


def compiled(source: Source) -> Compiled:
    """The compiled model of a path, of text that starts with ``<``, or of bytes."""
    mj = mujoco()
    text, path = _text(source)
    file = label(path) if path else ""
    _check_root(text, file)
    with quiet(mj) as heard:
        try:
            spec = _parsed(mj, text, path)
            _check_assets(spec, file)
            spec.compiler.LRopt.mode = mj.mjtLRMode.mjLRMODE_NONE  # muscles' length ranges take simulations, for nothing here
            spec.compiler.passthrough = mj.mjtPassthrough.mjPASSTHROUGH_TEXTURES
            model = spec.compile()
        except (ValueError, mj.FatalError) as error:
            raise _translated(str(error), file) from error
    frames = {mesh.name: (tuple(mesh.refpos), tuple(mesh.refquat)) for mesh in spec.meshes}
    return Compiled(model, tuple(dict.fromkeys(heard)), file, frames)


@contextmanager
def quiet(mj: Any) -> Iterator[list[str]]:
    """MuJoCo's warnings as a list: nothing on the console, no MUJOCO_LOG.TXT in the folder one happens to be in.

    Its parser warns through a function one may set, its compiler through Python's warnings.
    """
    heard: list[str] = []

    def listen(message: str) -> None:
        heard.append(" ".join(message.split()))

    with _LOCK, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = mj.get_mju_user_warning()
        mj.set_mju_user_warning(listen)
        try:
            yield heard
        finally:
            mj.set_mju_user_warning(before)
            for warning in caught:
                listen(str(warning.message))


def _text(source: Source) -> tuple[str, Path | None]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _decoded(bytes(source), ""), None
    if isinstance(source, str) and is_markup(source):
        return source.removeprefix("\ufeff"), None
    if isinstance(source, (str, os.PathLike)):
        return _decoded(read_bytes(source), label(source)), Path(source)
    raise ArgumentError(f"source must be a path, XML text or bytes, not {type(source).__name__}")


def _decoded(data: bytes, file: str) -> str:
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"holds bytes that are no UTF-8: {error.reason}", file=file, line=line) from None
    if "\0" in text:
        raise FileError("holds a NUL byte: it is no text", file=file)
    return text


def _check_root(text: str, file: str) -> None:
    """MuJoCo would read a URDF too, and its own way; here each format has its reader."""
    if len(text) > LARGEST:
        raise FileError(f"is larger than {LARGEST >> 20} MB; that is no description of a robot", file=file)
    at = 0
    while (prolog := _PROLOG.match(text, at)) is not None:
        at = prolog.end()
    if text.startswith("<!", (at := at + len(text[at:]) - len(text[at:].lstrip()))):
        raise FileError("declares a DOCTYPE; DTDs and entities are refused, remove it", file=file)
    root = _ROOT.match(text, at)
    if root is None:
        raise FileError("is no XML: a file of MuJoCo starts with <mujoco>", file=file)
    if root[1] != "mujoco":
        line = text.count("\n", 0, root.start()) + 1
        what = _OTHERS.get(root[1], f"its root element is <{root[1]}>")
        raise FileError(f"is not MJCF: {'this is ' if root[1] in _OTHERS else ''}{what}, not <mujoco>", file=file, line=line)


def _parsed(mj: Any, text: str, path: Path | None) -> Any:
    if path is None:
        return mj.MjSpec.from_string(text)
    if path.suffix.lower() == ".xml":
        return mj.MjSpec.from_file(os.fspath(path))
    if "<include" in text:
        raise FileError("includes other files, which MuJoCo finds only from a file named *.xml; rename it", file=label(path))
    spec = mj.MjSpec.from_string(text)
    spec.modelfiledir = os.fspath(path.absolute().parent)
    return spec


def _check_assets(spec: Any, file: str) -> None:
    """A pipe or a device named as a mesh could block or never end; MuJoCo itself says what is missing."""
    for asset in (*spec.meshes, *spec.hfields, *spec.skins):
        if not asset.file:
            continue
        for folder in {spec.modelfiledir, os.path.join(spec.modelfiledir, spec.meshdir or "")}:
            place = os.path.join(folder, asset.file)
            if os.path.exists(place) and (not os.path.isfile(place) or os.path.getsize(place) > LARGEST):
                what = f"names {asset.file!r}, which is no regular file of at most {LARGEST >> 20} MB"
                raise FileError(what, file=file, element="asset")


def _translated(message: str, file: str) -> FileError:
    """MuJoCo's message with its line and element where it gives them."""
    said = " ".join(message.split())
    line = _LINE.search(said)
    element = _ELEMENT.search(said)
    number = int(line[1] or line[2]) if line else 0
    hint = _MASSLESS if "larger than mjMINVAL" in said else ""
    return FileError(f"MuJoCo: {said}{hint}", file=file, line=number or None, element=element[1] if element else "")


_MASSLESS = "; give the body an <inertial> or a geom, or move its joints to the body that has the mass"
