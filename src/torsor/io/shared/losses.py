"""Data that a format cannot express: one table, for the comments in files, ``torsor convert`` and the warning of ``save``.

Data that is kept has no entry.  Other problems (missing meshes, duplicate names) are reported by the writer;
data that a reader omitted is in ``robot.report``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from torsor.io.shared.notes import short_list
from torsor.model.description import EARTH, WORLD, Description, Joint
from torsor.model.forces import GravityCompensation
from torsor.model.joints import (
    Composite,
    Continuous,
    Cylindrical,
    EulerAngles,
    Fixed,
    Floating,
    FloatingRPY,
    Helical,
    Planar,
    Revolute,
    Spherical,
    Translation,
    Universal,
)  # fmt: skip
from torsor.model.splitting import is_composite
from torsor.model.terms.springs import Spring, SpringTerm
from torsor.model.terms.term import Term

LEFT_OUT = "left out"
#: loops that MuJoCo has constraints for
LOOP_JOINTS_IN_MUJOCO = (Fixed, Spherical, Revolute)


class Feature(NamedTuple):
    """A kind of data, the names of the elements that have it, and its treatment by each format."""

    what: str
    who: Callable[[Description], Iterable[str]]
    fate: Mapping[str, str]


def losses(d: Description, format: str) -> list[str]:
    """One line for each kind of data that the format ("urdf", "mjcf", "mr") loses or changes.

    >>> from torsor import robots
    >>> losses(robots.description("scara"), "urdf")[1:]
    ['frames, written as massless links: tip']
    """
    rows = ((what, fate[format], list(who(d))) for what, who, fate in FEATURES if format in fate)
    return left_out(d, format) + [f"{what}, {fate}: {short_list(names)}" for what, fate, names in rows if names]


def left_out(d: Description, format: str) -> list[str]:
    """One line each for terms and friction laws without which the written robot moves differently."""
    if format == "mr" or not (d.terms or any(any(j.laws) for j in d.joints)):
        return []
    from torsor.io.shared.own_element import is_saved, terms_left_out  # most robots have neither

    several = {"urdf": is_composite, "mjcf": is_several_in_mujoco}[format]
    terms = [f"{name} ({why})" for name, why in terms_left_out(d, several).items()]
    lawful = [j for j in d.joints if any(j.laws)]
    laws = [j.name for j in lawful if not is_saved(j.laws) or (format == "mjcf" and several(j))]
    return [f"{what}, {LEFT_OUT}: {short_list(names)}" for what, names in (("terms", terms), ("friction laws", laws)) if names]


def joints(having: Callable[[Joint], object]) -> Callable[[Description], list[str]]:
    """The names of the joints of which that is true."""
    return lambda d: [j.name for j in d.joints if having(j)]


def kinds(*types: type) -> Callable[[Description], list[str]]:
    return joints(lambda j: type(j.kind) in types)


def named(part: str) -> Callable[[Description], list[str]]:
    """The names of a part of the description."""
    return lambda d: [x.name for x in getattr(d, part)]


def _root_with_base(base: str) -> Callable[[Description], list[str]]:
    return lambda d: [d.root] * (d.base == base)


def _gravity(d: Description) -> list[str]:
    words = (f"{x:g}" if isinstance(x, float) else str(x) for x in d.gravity)
    return [] if d.gravity == EARTH else [f"({', '.join(words)}) m/s2"]


def _fluid(d: Description) -> list[str]:
    return [at for at, element in d.forces if not isinstance(element, GravityCompensation)]


def _loops(held: bool) -> Callable[[Description], list[str]]:
    return lambda d: [f"{x.name} ({x.kind.name})" for x in d.loops if isinstance(x.kind, LOOP_JOINTS_IN_MUJOCO) == held]


def _shapes(*words: str) -> Callable[[Description], list[str]]:
    return lambda d: [f"{g.role} of {x.name}" for x in d.links for g in x.geometry if not words or g.shape in words]


def _has_quaternion(j: Joint) -> bool:
    """Whether a joint's coordinates hold a quaternion, which MuJoCo bounds by no range."""
    return isinstance(j.kind, (Spherical, Floating))


def _is_bounded(j: Joint) -> bool:
    return any(map(math.isfinite, (*j.lower, *j.upper)))


def _has_one_limit(j: Joint) -> bool:
    ends = zip(j.lower or (-math.inf,) * j.kind.nq, j.upper or (math.inf,) * j.kind.nq, strict=True)
    return not _has_quaternion(j) and any(math.isfinite(low) != math.isfinite(high) for low, high in ends)


def _is_locked(j: Joint) -> bool:
    """Whether a limit leaves a joint no range of motion."""
    return not _has_quaternion(j) and bool(j.lower and j.upper) and any(a >= b for a, b in zip(j.lower, j.upper, strict=True))


def _each_dof(j: Joint) -> bool:
    """Whether a planar or floating joint has numbers for each degree of freedom, for which URDF has no place."""
    numbers = (*j.lower, *j.upper, *j.effort_limit, *j.velocity_limit)
    return isinstance(j.kind, (Planar, Floating)) and (any(map(math.isfinite, numbers)) or any((*j.damping, *j.friction)))


def _is_tilted(j: Joint) -> bool:
    return isinstance(j.kind, Planar) and tuple(j.kind.normal) != (0, 0, 1)


def _effort(j: Joint) -> bool:
    return any(map(math.isfinite, j.effort_limit))


def _has_no_motor(j: Joint) -> bool:
    """Whether an effort limit has no MuJoCo motor: on spherical, floating and mimic joints, and if it is zero."""
    return _effort(j) and (_has_quaternion(j) or j.mimic is not None or 0 in j.effort_limit)


def is_other_actuator(j: Joint) -> bool:
    """Whether a joint has an actuator that MuJoCo does not have."""
    from torsor.io.mjcf.law_words import actuator_words  # a package that imports this module

    return bool(j.actuator) and actuator_words(f"joint {j.name!r}", j.actuator) is None


def _other_sensors(d: Description) -> list[str]:
    from torsor.io.mjcf.sensors import can_be_written  # a package that imports this module

    return [name for name, s in d.sensors if not can_be_written(d, s)]


def _sensors_without_frame(d: Description) -> list[str]:
    return [name for name, s in d.sensors if s.reads != "joint" and all(s.at != f.name for f in d.frames)]


def _imperfect_sensors(d: Description) -> list[str]:
    return [name for name, s in d.sensors if not s.is_exact]


def _floating_inside_tree(d: Description) -> list[str]:
    """Floating joints elsewhere than on the world, where MuJoCo has no free ones."""
    free = d.base == "fixed" and d.root == WORLD
    return [j.name for j in d.joints if isinstance(j.kind, Floating) and not (free and j.parent == WORLD)]


def is_spring_of_mujoco(term: Term) -> bool:
    """Whether MuJoCo has this spring: linear, and not between a motor and its link."""
    if not isinstance(term, SpringTerm) or not isinstance(law := term.law, Spring):
        return False
    return not getattr(term, "motor", None) and not (law.preload and (not law.stiffness or isinstance(law.rest, tuple)))


def is_several_in_mujoco(j: Joint) -> bool:
    """Whether a joint is written as several in MJCF."""
    return type(j.kind) in (Cylindrical, Universal, Planar, *_ANGLES) or is_composite(j)


_ANGLES = (Translation, EulerAngles, FloatingRPY)
_AS_TORSOR_ELEMENTS = "written as torsor's own elements, which other readers ignore"
_AS_MOTORS = "written as motors, and as torsor's own elements, which other readers ignore"
_BOTH = dict.fromkeys(("urdf", "mjcf"), _AS_TORSOR_ELEMENTS)
_AS_SEVERAL_JOINTS = "written as several hinges, slides and balls, with their names"
_PARTS = "written as their parts in a row, with massless links between, name_1, name_2, ..."
_ROTOR = "written as armature and mass, which other readers have, and as torsor's own elements, which they ignore"
_LOOPS = "written to the side-file and as torsor's own elements, which other readers ignore"
#: in the order in which they are reported
FEATURES = (
    Feature("names of robot, links and joints", lambda d: [d.name], {"mr": LEFT_OUT}),
    Feature("free base", _root_with_base("floating"), {"urdf": _AS_TORSOR_ELEMENTS}),
    Feature("free base with roll, pitch and yaw", _root_with_base("floating_rpy"), _BOTH),
    Feature("gravity", _gravity, {"urdf": _AS_TORSOR_ELEMENTS, "mr": "give it when loading"}),
    Feature("loops", lambda d: [f"{x.name} ({x.kind.name})" for x in d.loops], {"urdf": _LOOPS}),
    Feature("loops", _loops(True), {"mjcf": "held by springs"}),
    Feature("loops MuJoCo has no constraint for", _loops(False), {"mjcf": _AS_TORSOR_ELEMENTS}),
    Feature("mimic joints", joints(lambda j: j.mimic), {"mjcf": "tied by springs"}),
    Feature(
        "mimic joints that follow by a polynomial",
        joints(lambda j: j.mimic and j.mimic.higher),
        {"urdf": _AS_TORSOR_ELEMENTS},
    ),
    Feature("rotors", named("rotors"), {"urdf": _ROTOR, "mjcf": _ROTOR, "mr": "mass without their spin"}),
    Feature("terms", named("terms"), _BOTH | {"mr": LEFT_OUT}),
    Feature("friction laws", joints(lambda j: any(j.laws)), _BOTH | {"mr": LEFT_OUT}),
    Feature("force elements", lambda d: [at for at, _ in d.forces], {"urdf": _AS_TORSOR_ELEMENTS, "mr": LEFT_OUT}),
    Feature("buoyancy and drag", _fluid, {"mjcf": _AS_TORSOR_ELEMENTS}),
    Feature("sensors", lambda d: [name for name, _ in d.sensors], {"urdf": _AS_TORSOR_ELEMENTS, "mr": LEFT_OUT}),
    Feature("sensors that MuJoCo does not have", _other_sensors, {"mjcf": _AS_TORSOR_ELEMENTS}),
    Feature("sensors of links and joints", _sensors_without_frame, {"mjcf": "written at sites, which are read as frames"}),
    Feature("delay, noise and resolution of sensors", _imperfect_sensors, {"mjcf": _AS_TORSOR_ELEMENTS}),
    Feature("actuators", joints(lambda j: j.actuator), {"urdf": _AS_TORSOR_ELEMENTS, "mr": LEFT_OUT}),
    Feature("actuators that MuJoCo does not have", joints(is_other_actuator), {"mjcf": _AS_MOTORS}),
    Feature("limits, damping and friction of each degree of freedom", joints(_each_dof), {"urdf": _AS_TORSOR_ELEMENTS}),
    Feature("planar joints with a normal other than z", joints(_is_tilted), {"urdf": "which Pinocchio reads as z"}),
    Feature("armature", joints(lambda j: any(j.armature)), {"urdf": _AS_TORSOR_ELEMENTS, "mr": LEFT_OUT}),
    Feature("damping", joints(lambda j: any(j.damping)), {"mr": LEFT_OUT}),
    Feature("friction", joints(lambda j: any(j.friction)), {"mr": LEFT_OUT}),
    Feature("limits", joints(_is_bounded), {"mr": LEFT_OUT}),
    Feature("limits of balls and free bodies", joints(lambda j: _has_quaternion(j) and _is_bounded(j)), {"mjcf": LEFT_OUT}),
    Feature("limits with one open end", joints(_has_one_limit), {"mjcf": "closed at 1e10"}),
    Feature("limits with lower = upper", joints(_is_locked), {"mjcf": LEFT_OUT}),
    Feature("named configurations", named("configurations"), {"urdf": _AS_TORSOR_ELEMENTS, "mr": LEFT_OUT}),
    Feature("velocity limits", joints(lambda j: any(map(math.isfinite, j.velocity_limit))), {"mjcf": LEFT_OUT, "mr": LEFT_OUT}),
    Feature("effort limits", joints(_effort), {"mr": LEFT_OUT}),
    Feature("effort limits of joints without a motor", joints(_has_no_motor), {"mjcf": LEFT_OUT}),
    Feature("joint types", kinds(Helical, Cylindrical, Universal, Spherical, *_ANGLES), {"urdf": _AS_TORSOR_ELEMENTS}),
    Feature("joint types", kinds(Helical, Cylindrical, Universal, Planar, *_ANGLES), {"mjcf": _AS_SEVERAL_JOINTS}),
    Feature("composite joints", kinds(Composite), dict.fromkeys(("urdf", "mjcf"), _PARTS)),
    Feature("floating joints whose parent is not the world", _floating_inside_tree, {"mjcf": _AS_SEVERAL_JOINTS}),
    Feature("continuous joints", kinds(Continuous), {"mjcf": "written as hinges without a range"}),
    Feature("fixed joints", kinds(Fixed), {"mjcf": "written as bodies in bodies, without their names"}),
    Feature("frames", named("frames"), {"urdf": "written as massless links", "mr": "left out except the tip"}),
    Feature("ellipsoids", _shapes("ellipsoid"), {"urdf": LEFT_OUT}),
    Feature("shapes", _shapes(), {"mr": LEFT_OUT}),
    Feature("shapes of the world", lambda d: [g.name or g.shape for g in d.ground], {"urdf": LEFT_OUT, "mr": LEFT_OUT}),
)  # fmt: skip
