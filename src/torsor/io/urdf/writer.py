"""Writing URDF that is read back as the same robot, to the last digit or the last but one.

Inertias go out about the centre of mass in the link's axes, numbers as the shortest decimals that give the same double.
Comments at the top list features that URDF cannot express (:mod:`torsor.io.shared.losses`):

* A :class:`NamedFrame` becomes a massless link on a fixed joint (``<name>_joint``): read back, it is a link of that name.
* A rotor's mass is written as part of the link it is mounted on, and G² J as its joint's armature.  Ellipsoids are omitted.
* Terms, friction laws, rotors, force elements, sensors, actuators, named configurations, base and gravity are in torsor's own
  element <torsor> (:mod:`torsor.io.shared.own_element`); so are loops, and in a side-file too (:mod:`torsor.io.loops_file`).
* A composite joint is written as its parts, with massless links between.
* Types, attributes and lists of numbers that torsor adds to URDF are listed in :mod:`torsor.io.urdf.reader`; a joint by
  functions and a joint type of your own cannot be written and are refused.
* No limit is left out, or, where other readers insist on one, written as the largest double.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable

from lxml import etree
from lxml.etree import _Element as Element

from torsor.errors import ModelError
from torsor.io.shared.document import OWN
from torsor.io.shared.losses import losses
from torsor.io.shared.notes import as_comment
from torsor.io.shared.own_element import own_text, parts_of, terms_left_out, with_numbers_of_laws
from torsor.io.shared.xml_text import DECLARATION, numbers, write_xml
from torsor.io.urdf.joints import TYPES, UNLIMITED, element_name, is_bounded
from torsor.model.attachments import rotors_as_armature
from torsor.model.description import Description, Geometry, Joint, Link
from torsor.model.joints import Continuous, EulerAngles, Fixed, Helical, Universal
from torsor.model.splitting import is_composite, split_composites
from torsor.spatial import Inertia, Sym, Transform, Vec, to_rpy
from torsor.spatial.vector import IDENTITY, ZERO
from torsor.support.text import unused_name

#: shapes of other formats: a comment at the top lists them
UNSUPPORTED_SHAPES = ("ellipsoid",)
_SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",)}


def write_urdf(description: Description, path: str | os.PathLike[str] | None = None) -> str:
    """The URDF text of a description; with a path, also written there, atomically."""
    whole = split_composites(description)
    d, borrowed = with_numbers_of_laws(rotors_as_armature(whole))
    left_out = terms_left_out(description, is_composite)
    parts = parts_of(whole, {"terms": lambda t: t.name not in left_out, "velocity_limit": lambda x: False})
    parts |= {"frames": tuple(f.name for f in d.frames), "borrowed": (*borrowed, *_zero_damping(d))}
    text = own_text(parts, "\n")
    return write_xml(lambda: _robot(d, losses(description, "urdf"), text), d.name, path, DECLARATION)


def _zero_damping(d: Description) -> list[tuple[str, tuple[str, ...]]]:
    """Joints with an armature alone: urdfdom, so also ROS and Pinocchio, refuses <dynamics> without damping or friction."""
    return [(j.name, ("damping",)) for j in d.joints if j.armature and not (j.damping or j.friction)]


def _robot(d: Description, comments: Iterable[str], own: str) -> Element:
    robot = etree.Element("robot", name=d.name)
    robot.extend(etree.Comment(as_comment(line)) for line in comments)
    for link in d.links:
        robot.append(_link(link))
    for j in d.joints:
        robot.append(_joint(j))
    taken = {j.name for j in d.joints}
    for frame in d.frames:
        robot.append(etree.Element("link", name=frame.name))
        name = unused_name(f"{frame.name}_joint", taken)
        robot.append(_joint(Joint(name, Fixed(), frame.link, frame.name, frame.origin)))
    if own:
        etree.SubElement(robot, OWN).text = own
    return robot


# -- links ---------------------------------------------------------------------------------------------------------------


def _link(link: Link) -> Element:
    out = etree.Element("link", name=link.name)
    if link.inertia != Inertia.zero():
        out.append(_inertial(f"link {link.name!r}", link.inertia))
    for g in link.geometry:
        if g.shape not in UNSUPPORTED_SHAPES:
            out.append(_geometry(f"link {link.name!r}", g))
    return out


def _inertial(who: str, G: Inertia) -> Element:
    numbers(who, (G.m, *G.h, *G.I))  # refuses entries that are not numbers, before the division
    if G.m == 0 and any(G.h):
        raise ModelError(f"{who}: it has a first moment of mass and no mass, which URDF cannot express")
    c = Vec(*(x / G.m for x in G.h)) if G.m else ZERO
    steiner = Inertia.of(G.m, c, Sym.zero()).I  # as the reader will add it, so that it cancels to the last digit
    out = etree.Element("inertial")
    out.append(etree.Element("origin", xyz=numbers(who, c), rpy="0 0 0"))
    out.append(etree.Element("mass", value=numbers(who, (G.m,))))
    entries = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), G.I - steiner, strict=True)
    out.append(etree.Element("inertia", {name: numbers(who, (x,)) for name, x in entries}))
    return out


def _geometry(who: str, g: Geometry) -> Element:
    if g.role not in ("visual", "collision") or (g.shape != "mesh" and g.shape not in _SIZES):
        raise ModelError(f"{who}: URDF has no {g.role} of shape {g.shape!r}; it has {', '.join(_SIZES)} and mesh")
    out = etree.Element(g.role, {"name": g.name} if g.name else {})
    _add_origin(who, out, g.origin)
    holder = etree.SubElement(out, "geometry")
    if g.color is not None:
        look = etree.SubElement(out, "material", name="")
        etree.SubElement(look, "color", rgba=numbers(who, g.color))
    if g.shape == "mesh":
        scale = {} if tuple(g.scale) == (1.0, 1.0, 1.0) else {"scale": numbers(who, g.scale)}
        etree.SubElement(holder, "mesh", filename=g.uri, **scale)
        return out
    names = _SIZES[g.shape]
    parts = [g.size] if len(names) == 1 else [(x,) for x in g.size]
    sizes = {name: numbers(who, part) for name, part in zip(names, parts, strict=True)}
    etree.SubElement(holder, g.shape, sizes)
    return out


# -- joints --------------------------------------------------------------------------------------------------------------


def _joint(j: Joint) -> Element:
    who, kind = f"joint {j.name!r}", j.kind
    if TYPES.get(kind.name) is not type(kind):
        raise ModelError(f"{who}: URDF cannot express {type(kind).__name__}, only {', '.join(TYPES)}")
    out = etree.Element("joint", name=j.name, type=kind.name)
    _add_origin(who, out, j.origin)
    etree.SubElement(out, "parent", link=j.parent)
    etree.SubElement(out, "child", link=j.child)
    axis = getattr(kind, "axis", None) or getattr(kind, "normal", None)
    if axis is not None:
        pitch = {"pitch": numbers(who, (kind.pitch,))} if isinstance(kind, Helical) else {}
        etree.SubElement(out, "axis", xyz=numbers(who, axis), **pitch)
    if isinstance(kind, EulerAngles):
        etree.SubElement(out, "axis", order=kind.order)
    if isinstance(kind, Universal):
        etree.SubElement(out, "axis2", xyz=numbers(who, kind.second_axis))
    _add_limit(who, out, j)
    dynamics = {"damping": j.damping, "friction": j.friction, "armature": j.armature}
    if any(dynamics.values()):
        if not (j.damping or j.friction):  # see _zero_damping
            dynamics["damping"] = (0.0,) * kind.nv
        etree.SubElement(out, element_name("dynamics", kind), {name: numbers(who, x) for name, x in dynamics.items() if x})
    if j.mimic is not None:
        mimic = {"multiplier": numbers(who, (j.mimic.multiplier,)), "offset": numbers(who, (j.mimic.offset,))}
        if j.mimic.higher:
            mimic["polynomial"] = numbers(who, j.mimic.coefficients)
        etree.SubElement(out, "mimic", {"joint": j.mimic.joint, **mimic})
    return out


def _add_limit(who: str, out: Element, j: Joint) -> None:
    """URDF requires <limit> on revolute and prismatic joints, with effort and velocity; elsewhere an empty one is omitted."""
    given = {"lower": j.lower, "upper": j.upper, "effort": j.effort_limit, "velocity": j.velocity_limit}
    if not is_bounded(j.kind) and not any(math.isfinite(x) for row in given.values() for x in row):
        return
    if isinstance(j.kind, Continuous) and any(math.isfinite(x) for x in (*j.lower, *j.upper)):
        raise ModelError(f"{who}: URDF gives a continuous joint no lower and upper limit; make it revolute")
    if isinstance(j.kind, Continuous):
        del given["lower"], given["upper"]
    sign, size = {"lower": -1}, {"lower": j.kind.nq, "upper": j.kind.nq}
    limits = {}
    for label, values in given.items():
        unlimited = (sign.get(label, 1) * math.inf,) * size.get(label, j.kind.nv)
        limits[label] = numbers(who, [x if math.isfinite(x) else math.copysign(UNLIMITED, x) for x in values or unlimited])
    etree.SubElement(out, element_name("limit", j.kind), limits)


# -- poses ---------------------------------------------------------------------------------------------------------------


def _add_origin(who: str, parent: Element, X: Transform) -> None:
    R, p = X.pose
    if R == IDENTITY and p == ZERO:
        return
    numbers(who, (x for row in R for x in row))
    etree.SubElement(parent, "origin", xyz=numbers(who, p), rpy=numbers(who, to_rpy(R)))
