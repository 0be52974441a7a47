"""Shapes as geoms without mass, meshes as assets by their path."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from lxml import etree
from lxml.etree import _Element as Element

from torsor.errors import FileError
from torsor.io.mjcf.attribute_values import pose_attributes
from torsor.io.mjcf.geoms import MULTIPLES, PLANE
from torsor.io.shared.places import Places
from torsor.io.shared.xml_text import numbers
from torsor.model.description import WORLD, Description, Geometry
from torsor.model.touching import Touching
from torsor.support.files import open_regular, target_of
from torsor.support.text import unused_name

#: MuJoCo refuses sizes that are not larger (mjMINVAL) [m]
_SMALLEST = 1e-15
#: the meshes MuJoCo reads
_READABLE = (".stl", ".obj", ".msh")


class Assets:
    """The meshes of a document: found and named once; omitted ones are reported."""

    def __init__(self, source: str, target: str | os.PathLike[str] | None, roots: Sequence[str | os.PathLike[str]]):
        self.source, self.roots = source, roots
        self.target = Path(target_of(target)).parent if target is not None else None
        self.element = etree.Element("asset")
        self.left_out: dict[str, str] = {}
        self._named: dict[tuple[str, tuple[float, ...], str], str] = {}
        self._taken: set[str] = set()

    def mesh(self, who: str, g: Geometry) -> str:
        """The name of a mesh's asset; empty if MuJoCo could not open it."""
        key = g.uri, tuple(g.scale), g.source
        if key in self._named:
            return self._named[key]
        try:
            path = self._find(g.uri, g.source or self.source)
        except FileError as error:
            self.left_out[g.uri] = error.reason
            return ""
        name = self._named[key] = unused_name(path.stem, self._taken)
        scale = {} if key[1] == (1.0, 1.0, 1.0) else {"scale": numbers(who, g.scale)}
        where = os.path.relpath(path, self.target) if self.target is not None else str(path)
        # a shell's inertia exists for open meshes too; it has no effect, since the geoms have no mass
        etree.SubElement(self.element, "mesh", name=name, file=where, inertia="shell", **scale)
        return name

    def _find(self, uri: str, source: str) -> Path:
        """The file of a mesh, or FileError with the reason why MuJoCo could not open it."""
        if uri.startswith("torsor://"):
            raise FileError("bundled meshes are not separate files; torsor.save writes them")
        path = Places(source, self.roots).find(uri)
        if path.suffix.lower() not in _READABLE:
            raise FileError(f"MuJoCo reads {', '.join(_READABLE)}")
        if path.suffix.lower() == ".stl" and not _binary(path):
            raise FileError("MuJoCo reads STL in its binary form only")
        return path


def _binary(path: Path) -> bool:
    """Whether an STL file is as long as the number of triangles in its binary header requires."""
    with open_regular(path) as stream:
        head, size = stream.read(84), os.fstat(stream.fileno()).st_size
    return len(head) == 84 and size == 84 + 50 * int.from_bytes(head[80:], "little")


def written_ground(d: Description) -> list[Geometry]:
    """The shapes of the world that are not those of a link of that name; none beside a root that is welded to the world."""
    if any(link.name == WORLD for link in d.links):
        return [g for g in d.ground if g.shape == PLANE]
    return [g for g in d.ground if g.shape in (PLANE, *MULTIPLES)] if d.floats else []


def geom(who: str, g: Geometry, assets: Assets, taken: set[str]) -> Element | None:
    """A shape of class ``visual`` or ``collision``, which the document's defaults explain."""
    if g.shape in MULTIPLES and min(g.size) <= _SMALLEST:
        assets.left_out[f"{g.role} {g.shape} of {who}"] = "MuJoCo needs positive sizes"
        return None
    out = etree.Element("geom", {"class": g.role})
    if g.name:
        out.set("name", unused_name(g.name, taken))
    if g.shape == "mesh":
        name = assets.mesh(who, g)
        if not name:
            return None
        out.set("type", "mesh")
        out.set("mesh", name)
    elif g.shape == PLANE:
        out.set("type", PLANE)
        out.set("size", "0 0 1")  # infinite
    elif g.shape in MULTIPLES and g.role in ("visual", "collision"):
        out.set("type", g.shape)
        out.set("size", numbers(who, (x / n for n, x in zip(MULTIPLES[g.shape], g.size, strict=True))))
    else:
        assets.left_out[f"{g.role} {g.shape} of {who}"] = "MJCF does not have this shape"
        return None
    out.attrib.update(pose_attributes(who, g.origin))
    if g.touching is not None:
        words = {"contype": g.touching.contype, "conaffinity": g.touching.conaffinity, "priority": g.touching.priority}
        out.attrib.update({word: str(x) for word, x in words.items() if x != getattr(Touching(), word)})
        if g.touching.friction != Touching().friction:
            out.set("friction", numbers(who, [g.touching.friction]))
    if g.color is not None:
        out.set("rgba", numbers(who, g.color))
    return out
