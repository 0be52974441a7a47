"""Bundled meshes as files beside a robot file, which other programs can open: ``torsor://`` names are torsor's own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from torsor.errors import FileError
from torsor.look.scene.archive import SCHEME, bundled_mesh
from torsor.look.scene.triangles import Color, Triangles
from torsor.model.description import Description, Geometry, Link
from torsor.support.files import label, target_of, write_text

#: characters of a mesh's name that are kept in the name of its file
_PLAIN = re.compile(r"[^\w.-]")


def without_meshes(d: Description) -> Description:
    """The robot without meshes; its other shapes stay."""
    return replace(d, links=tuple(replace(x, geometry=tuple(g for g in x.geometry if g.shape != "mesh")) for x in d.links))


class MeshFiles:
    """The meshes of one robot file ``robot.urdf`` in the folder ``robot_meshes`` beside it, as Wavefront OBJ [m].

    A mesh in several colours is one file per colour, since most programs give a mesh one colour.  Existing files of the same
    names are replaced, others are left.
    """

    def __init__(self, path: str | os.PathLike[str]):
        target = Path(target_of(path))
        self.folder = target.with_name(f"{target.stem}_meshes")
        self.texts: dict[str, str] = {}  # by the name of the file
        self.created: list[Path] = []  # by write(), without those replaced
        self._parts: dict[tuple[str, Color | None], list[tuple[str, Color]]] = {}

    def with_mesh_paths(self, d: Description) -> Description:
        """The robot with the paths of these files, relative to the robot file, in place of bundled meshes."""
        return replace(d, links=tuple(self._link(link) for link in d.links))

    def write(self) -> list[Path]:
        """Write the files; their paths."""
        paths = [self.folder / name for name in self.texts]
        if not paths:
            return []
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"the folder cannot be made: {error.strerror or error}", file=label(self.folder)) from error
        for path, text in zip(paths, self.texts.values(), strict=True):
            self.created += [] if path.exists() else [path]
            write_text(path, text)
        return paths

    def remove(self) -> None:
        """Undo :meth:`write`: remove new files, and the folder if it is empty then."""
        for path in self.created:
            path.unlink(missing_ok=True)
        if self.folder.is_dir() and not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _link(self, link: Link) -> Link:
        return replace(link, geometry=tuple(part for g in link.geometry for part in self._geometry(g)))

    def _geometry(self, g: Geometry) -> Iterator[Geometry]:
        if g.shape != "mesh" or not g.uri.startswith(SCHEME):
            yield g
            return
        try:
            parts = self._files(g.uri, g.color)
        except FileError:  # not one of torsor's
            yield g
            return
        for k, (name, color) in enumerate(parts, start=1):
            called = g.name if len(parts) == 1 or not g.name else f"{g.name}_{k}"
            yield replace(g, uri=f"{self.folder.name}/{name}", color=color, name=called)

    def _files(self, uri: str, color: Color | None) -> list[tuple[str, Color]]:
        """The file and colour of each part; with a colour given, the whole mesh is one part."""
        if (uri, color) not in self._parts:
            surfaces = bundled_mesh(uri)
            stem = _PLAIN.sub("_", uri.removeprefix(SCHEME).replace("/", "_"))
            groups = [surfaces] if color is not None or len(surfaces) == 1 else [[s] for s in surfaces]
            found = []
            for k, group in enumerate(groups, start=1):
                name = f"{stem}.obj" if len(groups) == 1 else f"{stem}_{k}.obj"
                self.texts[name] = wavefront(group)
                found.append((name, group[0].color if color is None else color))
            self._parts[uri, color] = found
        return self._parts[uri, color]


def wavefront(surfaces: list[Triangles]) -> str:
    """The surfaces as one OBJ file: corners [m] and triangles."""
    lines, start = ["# written by torsor"], 1
    for s in surfaces:
        lines += [f"v {x:.7g} {y:.7g} {z:.7g}" for x, y, z in s.vertices.tolist()]
        lines += [f"f {a} {b} {c}" for a, b, c in (s.faces.astype(int) + start).tolist()]
        start += len(s.vertices)
    return "\n".join(lines) + "\n"
