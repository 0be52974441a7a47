"""From an MJCF file to MuJoCo's compiled model, quietly and with torsor's errors.

MuJoCo is C code, and the file may be untrusted.  So torsor reads the files (:mod:`torsor.io.mjcf.model_files`), well-formed
ones in declared folders and of sizes that make sense, and MuJoCo gets them in memory.  Other attacks on MuJoCo's
compiler are not prevented: read untrusted files in a separate process.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from torsor.errors import FileError, MissingExtra, needs_extra
from torsor.io.mjcf.model_files import Place, read_model_files
from torsor.io.shared.decimals import tiny_numbers
from torsor.io.shared.document import OWN, Source
from torsor.support.files import is_markup, label
from torsor.support.locks import new_lock

#: the major version whose models are read: older ones have fields of other names
OLDEST = 4

#: line numbers in MuJoCo's messages: after the element or the object concerned
_LINE = re.compile(r",? *(?:\bline (\d+)|Line number=(\d+))")
#: the element in MuJoCo's messages: <x> or its name
_ELEMENT = re.compile(r" Element (?:name )?'[^']*'(?:, id \d+)?")
_NAME = re.compile(r"Element name '([^']*)'")
#: the start of torsor's own element
_OWN = f'<text name="{OWN}"'
#: MuJoCo's log settings belong to the whole process
_LOCK = new_lock()


class CompiledModel(NamedTuple):
    """A compiled model, MuJoCo's warnings, and the transform applied to each mesh: its refpos and refquat."""

    model: Any
    warnings: tuple[str, ...]
    file: str
    mesh_frames: dict[str, tuple[Any, Any]]
    notes_on_tiny_numbers: tuple[str, ...] = ()  # notes on numbers that a double cannot hold
    defects: tuple[tuple[str, FileError], ...] = ()  # as ModelFiles has them
    own_line: int | None = None  # of torsor's own element


def mujoco(purpose: str = "reading MJCF") -> Any:
    """The library, or an error with the command to install it."""
    with needs_extra("mujoco-core", "mujoco", purpose):
        import mujoco as library
    if int(library.__version__.partition(".")[0]) < OLDEST:
        raise MissingExtra(f"mujoco-core >= {OLDEST}.0.1 (installed is {library.__version__})", "mujoco", purpose)
    return library


def compile_model(source: Source, roots: Sequence[str | os.PathLike[str]] = ()) -> CompiledModel:
    """The compiled model of a path, of text that starts with ``<``, or of bytes; ``roots`` are folders to find its files in."""
    mj = mujoco()
    read = read_model_files(source, roots)
    file = "" if isinstance(source, bytes) or is_markup(source) else label(source)
    with capture_warnings(mj) as heard:
        try:
            spec = mj.MjSpec.from_string(read.text, include=read.models, assets=read.assets)
            spec.compiler.LRopt.mode = mj.mjtLRMode.mjLRMODE_NONE  # length ranges of muscles need simulations; not used here
            spec.compiler.passthrough = mj.mjtPassthrough.mjPASSTHROUGH_TEXTURES
            model = spec.compile()
        except Exception as error:  # ValueError as a rule; other C++ exceptions are a RuntimeError or MuJoCo's own
            raise _translate_message(str(error), file, read.places) from error
    frames = {mesh.name: (tuple(mesh.refpos), tuple(mesh.refquat)) for mesh in spec.meshes}
    tiny = [(read.places[line - 1], what) for line, what in tiny_numbers(read.text)]
    notes = tuple(f"{at.file or 'text'}, line {at.line}: <{at.tag}>: {what}" for at, what in tiny)
    own = next((at.line for row, at in zip(read.text.split("\n"), read.places, strict=False) if row.startswith(_OWN)), None)
    return CompiledModel(model, tuple(dict.fromkeys(heard)), file, frames, notes, read.defects, own)


@contextmanager
def capture_warnings(mj: Any) -> Iterator[list[str]]:
    """MuJoCo's warnings as a list: no output on the console, no MUJOCO_LOG.TXT in the current folder.

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


def _translate_message(message: str, file: str, places: Sequence[Place]) -> FileError:
    """MuJoCo's message, with the file, line and element it is about."""
    plain = " ".join(message.split())
    lines = [int(a or b) for a, b in _LINE.findall(plain)]
    names = "".join(f" (named {name!r})" for name in _NAME.findall(plain) if name)
    hint = _MASSLESS if "larger than mjMINVAL" in plain else ""
    reason = f"MuJoCo: {_ELEMENT.sub('', _LINE.sub('', plain))}{names}{hint}"
    if lines and 0 < lines[-1] <= len(places):
        place = places[lines[-1] - 1]
        return FileError(reason, file=place.file, line=place.line, element=place.tag)
    return FileError(reason, file=file)


_MASSLESS = "; give the body an <inertial> or a geom, or move its joints to the body that has the mass"
