"""Search for mesh files: only in allowed folders, and only files with mesh extensions.

A description may be untrusted, and the files it names are read and shown in a browser.  So ``../../secret.key`` is refused, and
a mesh is looked for only below

* the folders given as ``roots``,
* the package of the description: the nearest folder above it that has a ``package.xml`` or ``model.config``, else the
  folder above its own (``robot/urdf/robot.urdf`` names ``../meshes/link.stl``),
* for ``package://name/...`` the folder of that name: above the description, beside one above it if it is a package by its
  manifest, in ``roots``, in ``$ROS_PACKAGE_PATH`` and ``share`` of ``$AMENT_PREFIX_PATH``.

A home folder, ``/etc`` and similar folders are never packages.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from torsor.errors import ArgumentError, FileError
from torsor.io.shared.packages import ros_folders

#: extensions of mesh files; other files are never opened
SUFFIXES = frozenset((".stl", ".dae", ".obj", ".ply", ".off", ".glb", ".gltf", ".3mf"))
_MANIFESTS = ("package.xml", "model.config")
_NAMED = ("package", "model")
#: the reason of an error about a file in an allowed folder
MISSING = "there is no such file"


class Places:
    """The declared folders of one description.

    >>> Places().find("package://robot/link.stl")
    Traceback (most recent call last):
    ...
    torsor.errors.FileError: package://robot/link.stl: no folder named 'robot' is known; add its parent folder as a mesh root
    """

    def __init__(self, source: str = "", roots: Sequence[str | os.PathLike[str]] = ()):
        self.roots = tuple(Path(root).resolve() for root in roots)
        self.folder = Path(source).resolve().parent if source else None
        for root in self.roots:
            if not root.is_dir():
                raise FileError("is not a folder, so it cannot be a mesh root", file=str(root))

    def of(self, source: str) -> Places:
        """The folders of a shape: those of the file it came from, where that is another one than the description's."""
        return Places(source, self.roots) if source else self

    def find(self, uri: str, suffixes: Collection[str] = SUFFIXES) -> Path:
        """The file of a URI, with one of these endings, or :class:`FileError` with the reason."""
        try:
            return _check_suffix(uri, self._find(uri), suffixes)
        except (OSError, ValueError) as error:  # a name no file can have: too long, a zero byte, a loop of links
            if isinstance(error, FileError):
                raise
            raise FileError(f"is not a valid file name ({error.__class__.__name__})", file=uri[:200]) from None

    def _find(self, uri: str) -> Path:
        parts = urlsplit(uri) if "://" in uri else None
        if parts is None:
            return self._find_below_roots(uri, uri.replace("\\", "/"))
        if parts.scheme == "file":
            return self._find_below_roots(uri, unquote(parts.path))
        if parts.scheme in _NAMED:
            package, _, path = unquote(parts.netloc + parts.path).lstrip("/").partition("/")  # some write package:///name/...
            return self._find_in_package(uri, package, path.lstrip("/"))
        raise FileError(f"meshes of {parts.scheme}:// are not downloaded; use package://, model://, file:// or paths", file=uri)

    @property
    def home(self) -> Path | None:
        """The package of the description."""
        if self.folder is None:
            return None
        for above in (self.folder, *self.folder.parents):
            if _is_package(above):
                return above
        return self.folder.parent if _may_be_searched(self.folder.parent) else self.folder

    def _find_below_roots(self, uri: str, path: str) -> Path:
        """A plain path: relative to the description or to a root, and after resolution below one of them."""
        allowed = [*((self.home,) if self.home else ()), *self.roots]
        starts = [*((self.folder,) if self.folder else ()), *self.roots]
        found = [(start / path).resolve() for start in starts]
        for file in found:
            if file.is_file() and any(file.is_relative_to(root) for root in allowed):
                return file
        if any(file.exists() for file in found):
            raise FileError("is outside the allowed folders; add its folder as a mesh root", file=uri)
        raise FileError(MISSING if starts else "a relative path needs a mesh root", file=uri)

    def _find_in_package(self, uri: str, package: str, path: str) -> Path:
        if Path(package).name != package or "\\" in package or not package.strip("."):
            raise FileError(f"{package!r} is not a valid package name", file=uri)
        folders = list(dict.fromkeys(self._folders(package)))
        for folder in folders:
            file = (folder / path).resolve()
            if file.is_file():
                if not file.is_relative_to(folder):
                    raise FileError(f"lies outside its package {package!r}", file=uri)
                return file
        if not folders:
            raise FileError(f"no folder named {package!r} is known; add its parent folder as a mesh root", file=uri)
        raise FileError(f"is not in {', '.join(map(str, folders[:3]))}", file=uri)

    def _folders(self, package: str) -> Iterator[Path]:
        above = (self.folder, *self.folder.parents) if self.folder else ()
        declared = [folder for folder in self.roots if folder.name == package]
        declared += [folder / package for folder in (*self.roots, *ros_folders())]
        near = [folder for folder in above if folder.name == package and _may_be_searched(folder)]
        near += [folder / package for folder in above if _is_package(folder / package)]
        yield from (folder.resolve() for folder in (*declared, *near) if folder.is_dir())


def _is_package(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _MANIFESTS)


def _may_be_searched(folder: Path) -> bool:
    """Whether a folder is not a home, a parent of homes, or at the root of the disk: those are too large to be allowed."""
    return len(folder.parts) > 2 and not Path.home().is_relative_to(folder)


def _check_suffix(uri: str, file: Path, suffixes: Collection[str]) -> Path:
    if file.suffix.lower() not in suffixes:
        what = "mesh file; mesh file names" if suffixes is SUFFIXES else "file of this kind; the names"
        raise FileError(f"is not a {what} end in {', '.join(sorted(suffixes))}", file=uri)
    return file


def side_file(path: Any, word: str, ending: str) -> str:
    """The file beside ``robot.urdf`` that an argument ``word=True`` means: ``robot`` with another ending."""
    if not isinstance(path, (str, os.PathLike)) or str(path).lstrip().startswith("<"):
        raise ArgumentError(
            f"{word}=True means the file beside the URDF, but this robot was not read from a file: give {word}=path"
        )
    return os.path.splitext(os.fsdecode(path))[0] + ending
