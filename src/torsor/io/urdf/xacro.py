"""xacro: a program that writes URDF, run by the library of that name.

Running one runs the code of its author: its expressions are restricted Python (no security boundary), it includes any file
it names that you may read, and it has access to the environment.  So it runs only if the caller requests it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from torsor.errors import ArgumentError, FileError, needs_extra
from torsor.io.shared.packages import folders
from torsor.io.shared.yaml_nodes import unknown_key_message
from torsor.io.urdf.reader import read_urdf
from torsor.model.description import Description
from torsor.support.files import label, read_bytes
from torsor.support.locks import new_lock

#: the library keeps its state in globals
_ONE_AT_A_TIME = new_lock()


def read_xacro(
    path: str | os.PathLike[str],
    *,
    arguments: Mapping[str, Any] | None = None,
    roots: Sequence[str | os.PathLike[str]] = (),
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    **options: Any,
) -> Description:
    """The robot of a xacro file, options as :func:`torsor.io.urdf.read_urdf` has them.

    ``arguments`` are the values of its ``<xacro:arg>``; an unknown name is an error.  ``$(find name)`` is searched in
    ``packages`` (name → folder), in ``roots`` (packages, or folders of packages), above the file, and where ROS looks.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"xacro is read from a file, so source must be a path, not {type(path).__name__}")
    with needs_extra("xacrodoc", "xacro", "running a xacro file"):
        import xacro
        import xacrodoc.packages as finders  # it lets xacro find packages without ROS
    file = label(path)
    read_bytes(path)  # raises an error if the path is not a regular file; the library would not
    given = _RecordedLookups({name: _word(value) for name, value in (arguments or {}).items()})
    found = _Packages(path, roots, packages or {}, finders.PackageFinder)
    errors = io.StringIO()
    with _ONE_AT_A_TIME, redirect_stderr(errors):
        usual, finders._finder = finders._finder, found
        try:
            text = xacro.process_file(os.fsdecode(path), mappings=given, verbosity=0).toxml()
        except FileError:
            raise
        except Exception as error:  # any error of a program: in names, types, XML, included files
            raise FileError(f"xacro cannot run it: {_reason(error)}", file=file) from error
        finally:
            finders._finder = usual
    for name in arguments or {}:
        if name not in given.asked:
            raise FileError(unknown_key_message("argument (<xacro:arg>)", name, sorted(given.asked)), file=file)
    try:
        d = read_urdf(text, **options)
    except FileError as error:
        raise FileError(error.reason, file=f"{file} (as expanded)", line=error.line, element=error.element) from error
    messages = [f"message of xacro: {line.strip()}" for line in errors.getvalue().splitlines() if line.strip()]
    return d.with_note(*messages, f"URDF made by xacro from {file}", source=os.path.abspath(os.fsdecode(path)))


class _RecordedLookups(dict):
    """Arguments that record the names that the file looks up."""

    def __init__(self, values: Mapping[str, str]):
        super().__init__(values)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


class _Packages:
    """Package → folder: as declared, near the file, else as the library finds it."""

    def __init__(self, path: Any, roots: Sequence[Any], packages: Mapping[str, Any], usual: Any):
        self.folder = Path(os.fsdecode(path)).resolve().parent
        self.roots = tuple(Path(root).resolve() for root in roots)
        self.packages, self.usual, self.file = packages, usual, label(path)
        for root in self.roots:
            if not root.is_dir():
                raise FileError("is not a folder, so it cannot contain packages", file=str(root))

    def get_path(self, package: str) -> str:
        if package in self.packages:
            return os.path.abspath(self.packages[package])
        found = next(folders(package, self.folder, self.roots), None)
        if found is not None:
            return str(found)
        try:
            return self.usual().get_path(package)
        except Exception as error:
            reason = f"its package {package!r} is not found; give roots=[...], the package's folder or the one above it"
            raise FileError(reason, file=self.file) from error


def _word(value: Any) -> str:
    """A value spelled as on xacro's command line: true, false, numbers and words."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _reason(error: Exception) -> str:
    inner = getattr(error, "exc", None)
    return inner.reason if isinstance(inner, FileError) else " ".join(str(error).split()) or type(error).__name__
