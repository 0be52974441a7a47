"""URDF's <link>: inertia, and the shapes to draw and collide."""

from __future__ import annotations

from torsor.errors import FileError
from torsor.io.shared.document import TWICE, Document, Element
from torsor.io.shared.poses import snap_rotation
from torsor.io.urdf.looks import Palette, color_of
from torsor.model.description import Geometry, Link
from torsor.scalar import tidy
from torsor.spatial import Inertia, Mat, Quaternion, Sym, Transform, Vec, from_rpy
from torsor.spatial.vector import IDENTITY, ZERO
from torsor.support.text import count

_CONTACT = "contact is not part of a rigid-body description"
_IGNORED = {
    "contact": _CONTACT, "surface": _CONTACT, "collision_checking": _CONTACT, "self_filter": _CONTACT,
    "verbose": "appearance is not kept",
}  # fmt: skip
#: shape → the attributes that give its size, each with its number of values
_SHAPES = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
}


def read_link(doc: Document, element: Element, palette: Palette) -> Link:
    name = doc.text(element, "name")
    parts = doc.look(element, {"name"}, {"inertial", "visual", "collision"}, _IGNORED)
    inertial = doc.only_child(element, "inertial")
    shapes = [part for part in parts if doc.tag(part) != "inertial"]
    inertia = Inertia.zero() if inertial is None else _inertia(doc, inertial)
    return Link(name, inertia, tuple(g for part in shapes for g in _readable_geometry(doc, part, palette)))


def read_pose(doc: Document, element: Element) -> tuple[Mat, Vec]:
    """(R, p) of an element's <origin>: xyz [m], then rpy [rad] or, as of URDF 1.2, quat_xyzw."""
    origin = doc.only_child(element, "origin")
    if origin is None:
        return IDENTITY, ZERO
    doc.look(origin, {"xyz", "rpy", "quat_xyzw"}, ())
    p = Vec(*(tidy(x, 0) for x in doc.numbers(origin, "xyz", 3, "0 0 0")))
    if origin.get("quat_xyzw") is not None:
        if origin.get("rpy") is not None:
            raise doc.fail(origin, "has both rpy and quat_xyzw; give one")
        q = Quaternion(*doc.numbers(origin, "quat_xyzw", 4))
        if abs(sum(x * x for x in q) - 1) > 1e-5:
            raise doc.fail(origin, f"quat_xyzw is not a unit quaternion: {tuple(q)}")
        return snap_rotation(q.normalized.matrix), p
    angles = doc.numbers(origin, "rpy", 3, "0 0 0")
    return (from_rpy(*angles) if any(angles) else IDENTITY), p


def _inertia(doc: Document, element: Element) -> Inertia:
    """Mass, centre of mass and the inertia about it in the axes of <origin>, transformed to the link's frame.

    Where numbers are missing, the result is that of urdfdom and Pinocchio: a point mass without the whole <inertia>, no mass
    without <mass>.
    """
    doc.look(element, (), {"origin", "mass", "inertia"})
    mass, matrix = doc.only_child(element, "mass"), doc.only_child(element, "inertia")
    R, c = read_pose(doc, element)
    if mass is None or "value" not in mass.attrib:
        sentence = "<inertial> without the value of <mass> ignored, so the link is massless"
        doc.tolerate(element, sentence, doc.owner(element), INCOMPLETE)
        return Inertia.zero()
    doc.look(mass, {"value"}, ())
    m = doc.number(mass, "value")
    if m < 0:
        raise doc.fail(mass, f"mass {m} kg is negative")
    given = {} if matrix is None else {entry: doc.number(matrix, entry) for entry in ENTRIES if entry in matrix.attrib}
    if matrix is not None:
        doc.look(matrix, set(ENTRIES), ())
    missing = [entry for entry in ENTRIES if entry not in given]
    if missing:
        what = "<inertia>" if matrix is None else ", ".join(missing)
        sentence = f"<inertial> without {what}, so the inertia about the centre of mass is zero"
        doc.tolerate(element, sentence, doc.owner(element), INCOMPLETE)
    I = Sym.zero() if missing else Sym(*(given[entry] for entry in ENTRIES))
    if R != IDENTITY:  # R I Rᵀ in full: Sym.rotated saves operations with the trace, at the cost of digits of a small moment
        I = Sym.of(R @ I.rows @ R.T)
    G = Inertia.of(tidy(m, 0), c, I)
    return Inertia(G.m, Vec(*(tidy(x, 0) for x in G.h)), Sym(*(tidy(x, 0) for x in G.I)))


ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
#: findings of ``torsor check`` about defects that are tolerated
INCOMPLETE, UNREADABLE, SCALE = "inertial-incomplete", "shape-unreadable", "mesh-scale-numbers"


def _readable_geometry(doc: Document, element: Element, palette: Palette) -> list[Geometry]:
    """The shape of a <visual> or <collision>; none if it cannot be read, since the tree does not depend on it."""
    try:
        return _geometry(doc, element, palette)
    except FileError as error:
        owner = doc.owner(element)
        doc.tolerate(element, f"shape omitted ({error.reason.removeprefix(f'{owner}: ')})", owner, UNREADABLE)
        return []


def _geometry(doc: Document, element: Element, palette: Palette) -> list[Geometry]:
    """A <visual> or <collision>: one shape, or none if torsor does not support its kind (noted)."""
    doc.look(element, {"name"}, {"origin", "geometry", "material"}, _IGNORED)
    holder = doc.only_child(element, "geometry")
    if holder is None or not len(holder):
        raise doc.fail(element, "has no shape; a <geometry> holds a mesh, box, cylinder, sphere or capsule")
    shapes = doc.look(holder, (), {*_SHAPES, "mesh"})
    for other in shapes[1:]:
        doc.tolerate(other, f"second shape of one <{doc.tag(element)}> ignored", doc.owner(other), TWICE)
    R, p = read_pose(doc, element)
    place = {
        "origin": Transform.of_pose(R, p), "name": element.get("name", ""), "role": doc.tag(element),
        "color": color_of(doc, element, palette),
    }  # fmt: skip
    return [_shape(doc, shape, place) for shape in shapes[:1]]


def _shape(doc: Document, element: Element, place: dict) -> Geometry:
    kind = doc.tag(element)
    if kind == "mesh":
        doc.look(element, {"filename", "scale"}, ())
        return Geometry(shape=kind, uri=doc.text(element, "filename"), scale=_scale(doc, element), **place)
    doc.look(element, {attribute for attribute, _ in _SHAPES[kind]}, ())
    size = tuple(x for attribute, n in _SHAPES[kind] for x in doc.numbers(element, attribute, n))
    if min(size) < 0:
        raise doc.fail(element, f"a size is negative: {size}")
    return Geometry(shape=kind, size=size, **place)


def _scale(doc: Document, mesh: Element) -> tuple[float, float, float]:
    """The three factors of a mesh; one number is for all axes and a fourth one is ignored, as in PyBullet."""
    given = doc.numbers(mesh, "scale", None, "1 1 1")
    if len(given) not in (1, 3, 4):
        raise doc.fail(mesh, f"scale needs 3 numbers, {len(given)} given: {mesh.get('scale')!r}")
    x, y, z = (given * 3)[:3]
    if len(given) != 3:
        sentence = f"scale of a mesh has {count(len(given), 'number')}, not 3, so it is {x:g} {y:g} {z:g}"
        doc.tolerate(mesh, sentence, doc.owner(mesh), SCALE)
    return x, y, z
