"""URDF's <joint>, and the seven types torsor adds to URDF's six."""

from __future__ import annotations

import math
import sys
from typing import Any

from torsor.errors import ModelError
from torsor.io.shared.document import Document, Element
from torsor.io.urdf.links import read_pose
from torsor.model.description import INF, Joint, Mimic
from torsor.model.joints import (
    Continuous,
    Cylindrical,
    EulerAngles,
    Fixed,
    Floating,
    FloatingRPY,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)  # fmt: skip
from torsor.scalar import tidy
from torsor.spatial import Transform, Vec

#: URDF's own, and last torsor's
TYPES: dict[str, type[JointType]] = {
    "fixed": Fixed, "revolute": Revolute, "continuous": Continuous, "prismatic": Prismatic, "floating": Floating,
    "planar": Planar, "helical": Helical, "cylindrical": Cylindrical, "universal": Universal, "spherical": Spherical,
    "translation": Translation, "euler": EulerAngles, "floating_rpy": FloatingRPY,
}  # fmt: skip
#: URDF has no word for infinity and other readers insist on the attributes: the largest double means no limit
UNLIMITED = sys.float_info.max

_AXISLESS = (Fixed, Floating, Spherical, Translation, FloatingRPY)
_WELDED = "a fixed joint does not move"
_CONTROL = "controllers are not part of a rigid-body description"
_IGNORED = {"safety_controller": _CONTROL, "calibration": _CONTROL}


def element_name(name: str, kind: JointType) -> str:
    """The name of <limit> and <dynamics>; with several numbers, of torsor's own, since other readers refuse a list in URDF's.

    >>> element_name("limit", Spherical())
    'limit_each'
    """
    return f"{name}_each" if kind.nv > 1 else name


def is_bounded(kind: JointType) -> bool:
    """Whether URDF requires <limit>: without lower or upper there, that limit is zero."""
    return isinstance(kind, (Revolute, Prismatic, Helical)) and not isinstance(kind, Continuous)


def read_joint(doc: Document, element: Element, follow: bool) -> Joint:
    """A joint; with ``follow`` False its <mimic> is only noted, and it gets its own coordinate."""
    name = doc.text(element, "name")
    known = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}
    kind = _kind(doc, element, name)
    if isinstance(kind, Universal):
        known.add("axis2")
    if kind.nv > 1:
        known |= {element_name("limit", kind), element_name("dynamics", kind)}
    doc.look(element, {"name", "type"}, known, _IGNORED)
    origin = Transform.of_pose(*read_pose(doc, element))
    parent, child = (_end(doc, element, which) for which in ("parent", "child"))
    mimic = _mimic(doc, element, name, kind, follow)
    numbers = _limits(doc, element, name, kind) | _dynamics(doc, element, kind)
    return Joint(name, kind, parent, child, origin, mimic=mimic, **numbers)


def _end(doc: Document, element: Element, which: str) -> str:
    end = doc.only_child(element, which)
    if end is None:
        raise doc.fail(element, f'has no <{which} link="...">')
    doc.look(end, {"link"}, ())
    return doc.text(end, "link")


def _kind(doc: Document, element: Element, name: str) -> JointType:
    word = doc.text(element, "type")
    cls = TYPES.get(word)
    if cls is None:
        raise doc.fail(element, f"type {word!r} is unknown; the types are {', '.join(TYPES)}")
    axis = doc.only_child(element, "axis")
    if cls in _AXISLESS:
        if axis is not None:
            doc.notes.note_ignored("<axis> element", f"a {word} joint has no axis")
        return cls()
    if cls is EulerAngles:
        return _euler(doc, element, axis)
    if axis is not None:
        doc.look(axis, {"xyz", "pitch"} if cls is Helical else {"xyz"}, ())
    if cls is Helical:
        if axis is None:
            raise doc.fail(element, 'is helical and has no <axis xyz="..." pitch="...">, pitch in m/rad')
        return Helical(_unit(doc, axis, name), doc.number(axis, "pitch"))
    if cls is Universal:
        second = doc.only_child(element, "axis2")
        if second is None:
            raise doc.fail(element, 'is universal and has no <axis2 xyz="...">, its second axis')
        doc.look(second, {"xyz"}, ())
        return Universal(_unit(doc, axis, name), _unit(doc, second, name))
    return cls(_unit(doc, axis, name))  # type: ignore[call-arg]


def _euler(doc: Document, element: Element, axis: Element | None) -> EulerAngles:
    """The order of the axes, zyx where the file has none."""
    if axis is None:
        return EulerAngles()
    doc.look(axis, {"order"}, ())
    try:
        return EulerAngles(axis.get("order", "zyx"))
    except ModelError as error:
        raise doc.fail(element, str(error)) from error


def _unit(doc: Document, axis: Element | None, name: str) -> Vec:
    """The unit vector along an axis; URDF's default is (1, 0, 0)."""
    if axis is None:
        doc.notes.note("no <axis>, so about or along (1, 0, 0), the default of URDF", f"joint {name!r}")
        return Vec(1, 0, 0)
    a = doc.numbers(axis, "xyz", 3)
    norm = math.hypot(*a)
    if norm < 1e-9:
        raise doc.fail(axis, f"the axis {a} is zero; give the direction about or along which the joint moves")
    if abs(norm - 1) > 1e-12:
        doc.notes.note("axis scaled to length 1", f"joint {name!r}")
    if abs(norm - 1) > 4e-16:  # within rounding of one it is not changed, so that written axes are read back unchanged
        a = tuple(x / norm for x in a)
    return Vec(*(tidy(x) for x in a))


def _limits(doc: Document, element: Element, name: str, kind: JointType) -> dict[str, Any]:
    limit = _limit_or_dynamics(doc, element, "limit", kind)
    bounded = is_bounded(kind)
    if limit is None:
        if bounded:
            doc.notes.note("no <limit>, so unlimited", f"joint {name!r}")
        return {}
    if isinstance(kind, Fixed):
        doc.notes.note_ignored("<limit> element", _WELDED)
        return {}
    sizes = {"effort": kind.nv, "velocity": kind.nv, "lower": kind.nq, "upper": kind.nq}
    doc.look(limit, sizes, ())
    effort, velocity, lower, upper = (_number_per_coordinate(doc, limit, word, n) for word, n in sizes.items())
    for label, values in (("effort", effort), ("velocity", velocity)):
        if any(x < 0 for x in values):
            raise doc.fail(limit, f"{label} limit {min(values)} is negative")
        if not values and bounded:
            doc.notes.note(f"<limit> without {label}, so {label} is unlimited", f"joint {name!r}")
    if isinstance(kind, Continuous) and (lower or upper):
        doc.notes.note("lower and upper ignored, since a continuous joint has none", f"joint {name!r}")
        lower = upper = ()
    if bounded:
        for label, values in (("lower", lower), ("upper", upper)):
            if not values:
                doc.notes.note(f"<limit> without {label}, so {label} is 0, the default of URDF", f"joint {name!r}")
        lower, upper = lower or (0.0,), upper or (0.0,)
    if any(low > high for low, high in zip(lower, upper, strict=False)):
        doc.tolerate(limit, "lower limit above upper limit, so the two are exchanged", f"joint {name!r}")
        lower, upper = tuple(map(min, lower, upper)), tuple(map(max, lower, upper))
    found = {"lower": lower, "upper": upper, "effort_limit": effort, "velocity_limit": velocity}
    none = {"lower": -INF}
    return {label: () if all(x == none.get(label, INF) for x in row) else row for label, row in found.items()}


def _limit_or_dynamics(doc: Document, element: Element, name: str, kind: JointType) -> Element | None:
    """The <limit> or <dynamics> of a joint: torsor's own element if there is one."""
    own = doc.only_child(element, element_name(name, kind))
    return doc.only_child(element, name) if own is None else own


def _number_per_coordinate(doc: Document, element: Element, attribute: str, count: int) -> tuple[float, ...]:
    """One number for every coordinate or degree of freedom, or ``()``; the largest double is infinity."""
    if element.get(attribute) is None:
        return ()
    values = doc.numbers(element, attribute, None)
    if len(values) == 1 < count:
        why = f"it has one number, but such a joint needs {count}, and URDF does not define the meaning of one"
        doc.notes.note_ignored(f'<{doc.tag(element)} {attribute}="..."> attribute', why)
        return ()
    if len(values) != count:
        raise doc.fail(element, f"{attribute} needs {count} number{'s' * (count > 1)}, {len(values)} given")
    return tuple(math.copysign(INF, x) if abs(x) == UNLIMITED else x for x in values)


def _dynamics(doc: Document, element: Element, kind: JointType) -> dict[str, Any]:
    """Damping and friction, and torsor's armature: the inertia of a rotor, reflected to the joint."""
    dynamics = _limit_or_dynamics(doc, element, "dynamics", kind)
    if dynamics is None:
        return {}
    if isinstance(kind, Fixed):
        doc.notes.note_ignored("<dynamics> element", _WELDED)
        return {}
    labels = ("damping", "friction", "armature")
    doc.look(dynamics, labels, ())
    found = {label: _number_per_coordinate(doc, dynamics, label, kind.nv) for label in labels}
    for label, values in found.items():
        if any(not 0 <= x < INF for x in values):
            raise doc.fail(dynamics, f"{label} must be finite and not negative, not {dynamics.get(label)!r}")
    return found


def _mimic(doc: Document, element: Element, name: str, kind: JointType, follow: bool) -> Mimic | None:
    mimic = doc.only_child(element, "mimic")
    if mimic is None:
        return None
    doc.look(mimic, {"joint", "multiplier", "offset", "polynomial"}, ())
    linear = doc.number(mimic, "offset", "0"), doc.number(mimic, "multiplier", "1")
    curve = doc.numbers(mimic, "polynomial", None) if "polynomial" in mimic.attrib else linear
    found = Mimic.of_polynomial(doc.text(mimic, "joint"), curve)
    if isinstance(kind, Fixed):  # left over where a mimic joint was locked, as in Talos
        doc.notes.note_ignored("<mimic> element", _WELDED)
        return None
    if not follow:
        doc.notes.note("<mimic> ignored (mimic=False), joint is independent", f"joint {name!r}")
        return None
    return found
