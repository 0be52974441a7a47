"""URDF's <link>: inertia, and the shapes to draw and collide."""

from __future__ import annotations

from torsor.io.shared.document import Document, Element
from torsor.io.urdf.looks import Palette, color_of
from torsor.model.description import Geometry, Link
from torsor.scalar import tidy
from torsor.spatial import Inertia, Mat, Quaternion, Sym, Transform, Vec, from_rpy
from torsor.spatial.vector import IDENTITY, ZERO

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
    return Link(
        name,
        Inertia.zero() if inertial is None else _inertia(doc, inertial),
        tuple(g for part in parts if part is not inertial for g in _geometry(doc, part, palette)),
    )


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
        return Mat(*(Vec(*(tidy(x) for x in row)) for row in q.normalized.matrix)), p
    angles = doc.numbers(origin, "rpy", 3, "0 0 0")
    return (from_rpy(*angles) if any(angles) else IDENTITY), p


def _inertia(doc: Document, element: Element) -> Inertia:
    """Mass, centre of mass and the inertia about it in the axes of <origin>, transformed to the link's frame."""
    doc.look(element, (), {"origin", "mass", "inertia"})
    mass, matrix = doc.only_child(element, "mass"), doc.only_child(element, "inertia")
    if mass is None or matrix is None:
        lacking = "<mass>" if mass is None else "<inertia>"
        raise doc.fail(element, f"has no {lacking}; a massless link has no <inertial> at all")
    doc.look(mass, {"value"}, ())
    doc.look(matrix, set(_ENTRIES), ())
    m = doc.number(mass, "value")
    if m < 0:
        raise doc.fail(mass, f"mass {m} kg is negative")
    R, c = read_pose(doc, element)
    I = Sym(*(doc.number(matrix, entry) for entry in _ENTRIES))
    if R != IDENTITY:  # R I Rᵀ in full: Sym.rotated saves operations with the trace, at the cost of digits of a small moment
        I = Sym.of(R @ I.rows @ R.T)
    G = Inertia.of(tidy(m, 0), c, I)
    return Inertia(G.m, Vec(*(tidy(x, 0) for x in G.h)), Sym(*(tidy(x, 0) for x in G.I)))


_ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def _geometry(doc: Document, element: Element, palette: Palette) -> list[Geometry]:
    """A <visual> or <collision>: one shape, or none if torsor does not support its kind (noted)."""
    doc.look(element, {"name"}, {"origin", "geometry", "material"}, _IGNORED)
    holder = doc.only_child(element, "geometry")
    if holder is None or not len(holder):
        raise doc.fail(element, "has no shape; a <geometry> holds a mesh, box, cylinder, sphere or capsule")
    shapes = doc.look(holder, (), {*_SHAPES, "mesh"})
    if len(shapes) > 1:
        raise doc.fail(shapes[1], f"is the second shape of one <geometry>; give each its own <{doc.tag(element)}>")
    R, p = read_pose(doc, element)
    place = {
        "origin": Transform.of_pose(R, p), "name": element.get("name", ""), "role": doc.tag(element),
        "color": color_of(doc, element, palette),
    }  # fmt: skip
    return [_shape(doc, shape, place) for shape in shapes]


def _shape(doc: Document, element: Element, place: dict) -> Geometry:
    kind = doc.tag(element)
    if kind == "mesh":
        doc.look(element, {"filename", "scale"}, ())
        x, y, z = doc.numbers(element, "scale", 3, "1 1 1")
        return Geometry(shape=kind, uri=doc.text(element, "filename"), scale=(x, y, z), **place)
    doc.look(element, {attribute for attribute, _ in _SHAPES[kind]}, ())
    size = tuple(x for attribute, count in _SHAPES[kind] for x in doc.numbers(element, attribute, count))
    if min(size) < 0:
        raise doc.fail(element, f"a size is negative: {size}")
    return Geometry(shape=kind, size=size, **place)
