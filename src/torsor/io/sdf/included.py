"""Files that an SDF file includes, checked before Drake opens them: in declared folders only, no downloads.

Drake finds included models by itself, and downloads some; so every <include> is followed here first, with the rules
of :mod:`torsor.io.shared.places`.  Meshes are not opened: the plant that is built has no geometry.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from torsor.errors import FileError
from torsor.io.shared.document import Document, Source, parse
from torsor.io.shared.places import Places

#: how a model that is included may end
SUFFIXES = frozenset((".sdf", ".world", ".urdf"))
DEEPEST = 50


def check_includes(source: Source, roots: Sequence[str | os.PathLike[str]] = ()) -> None:
    """Refuse a file that is not well-formed XML, or that includes one outside its package and ``roots``.

    >>> check_includes("<sdf><include><uri>https://host/model.sdf</uri></include></sdf>")
    Traceback (most recent call last):
    ...
    torsor.errors.FileError: <string>:1: <uri>: models of https:// are not downloaded
    """
    seen: set[str] = set()
    todo: list[tuple[Source, int]] = [(source, 0)]
    while todo:
        at, depth = todo.pop()
        document = parse(at, deep=True)
        for path in _included_files(document, roots):
            if depth >= DEEPEST:
                raise FileError(f"is inside {DEEPEST} files that include each other", file=document.file)
            if path not in seen and not path.endswith(".urdf"):
                todo.append((path, depth + 1))
            seen.add(path)


def _included_files(document: Document, roots: Sequence[str | os.PathLike[str]]) -> list[str]:
    """The files a document includes, each in a declared folder."""
    out = []
    for element in document.root.iter():
        if document.tag(element) != "include":
            continue
        for child in element:
            uri = (child.text or "").strip()
            if document.tag(child) != "uri" or not uri:
                continue
            scheme = uri.partition("://")[0] if "://" in uri else "file"
            if scheme not in ("file", "model", "package"):
                raise document.fail(child, f"models of {scheme}:// are not downloaded")
            try:
                out.append(_find(uri, Places(document.file, roots)))
            except FileError as error:
                raise document.fail(child, f"includes {uri!r}: {error.reason}; give roots=[...]") from error
    return out


def _find(uri: str, places: Places) -> str:
    """The file of a URI; a folder's is its model.sdf."""
    ending = os.path.splitext(uri)[1].lower()
    return os.fspath(places.find(uri if ending in SUFFIXES else f"{uri.rstrip('/')}/model.sdf", SUFFIXES))
