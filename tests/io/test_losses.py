"""Losses of file formats: every change of a robot with all features, written and read back, is listed."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mjcf.test_random_trees import expressible_in_mjcf
from tests.trees import random_tree
from torsor.errors import ModelError
from torsor.io.formats import FORMATS
from torsor.io.loops_file import with_loops, write_loops
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.io.shared.losses import FEATURES, left_out, losses
from torsor.io.shared.notes import short_list
from torsor.io.urdf import read_urdf
from torsor.io.urdf.writer import write_urdf
from torsor.model.actuators import Gain, Latency, Limit, PositionServo
from torsor.model.description import Description, Geometry, Joint, Link, Loop, Mimic, NamedFrame
from torsor.model.forces import Buoyancy, GravityCompensation
from torsor.model.friction import Coulomb
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
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from torsor.model.named_configurations import Configuration
from torsor.model.rotor import Rotor
from torsor.model.sensor import Sensor
from torsor.model.terms.springs import Spring
from torsor.model.terms.tendons import SpringBetween
from torsor.model.terms.term import Term
from torsor.spatial import Inertia, Sym, Transform, Vec
from torsor.spatial.vector import IDENTITY, ZERO, flat

X, Y, Z = Vec(1, 0, 0), Vec(0, 1, 0), Vec(0, 0, 1)
BODY = Inertia.of(1.0, Vec(0.1, 0, 0), Sym(1.0, 0, 0, 1.0, 0, 1.0))
SPUN = Inertia.of(0.1, ZERO, Sym(0.01, 0, 0, 0.01, 0, 0.02))
SHAPES = (
    Geometry("visual", "box", (1.0, 2.0, 3.0), name="case", color=(1.0, 0.0, 0.0, 1.0)),
    Geometry("collision", "ellipsoid", (1.0, 2.0, 3.0), name="egg"),
    Geometry("visual", "sphere", (0.5,), name="case"),
)


GROUND = (Geometry("collision", "plane", name="floor"),)


class OwnLaw(Coulomb):
    """A law of the user, which a file cannot contain."""


@dataclass(frozen=True)
class OwnTerm(Term):
    """A term of the user, which a file cannot contain."""

    name: str = "own term"


#: joint name → (joint type, other fields); each joint is attached to the base and has its own child link
JOINTS = {
    "bare": (Revolute(Z), {}),
    "limited": (Revolute(Z), {"lower": (-1.0,), "upper": (2.0,), "velocity_limit": (3.0,), "effort_limit": (4.0,)}),
    "lossy": (Prismatic(X), {"armature": (0.1,), "damping": (0.2,), "friction": (0.3,)}),
    "lawful": (Revolute(Y), {"laws": (Coulomb(1.0),)}),
    "private": (Revolute(Y), {"laws": (OwnLaw(1.0),)}),
    "servo": (Revolute(Y), {"actuator": (PositionServo(9.0, 2.0), Limit(-4.0, 4.0)), "effort_limit": (4.0,)}),
    "late": (Revolute(Y), {"actuator": (Latency(0.01), Gain(2.0))}),
    "half": (Prismatic(Z), {"lower": (-1.0,), "upper": (math.inf,)}),
    "shut": (Revolute(X), {"lower": (0.5,), "upper": (0.5,)}),
    "idle": (Revolute(X), {"effort_limit": (0.0,)}),
    "geared": (Revolute(Z), {}),
    "endless": (Continuous(Z), {}),
    "follower": (Revolute(Z), {"mimic": Mimic("bare", -2.0, 0.1)}),
    "cam": (Revolute(Z), {"mimic": Mimic("bare", -2.0, 0.1, (0.3,))}),
    "screw": (Helical(Z, 0.1), {}),
    "tube": (Cylindrical(Z), {}),
    "cross": (Universal(X, Y), {}),
    "ball": (Spherical(), {"lower": (-1.0,) * 4, "upper": (1.0,) * 4, "effort_limit": (1.0,) * 3}),
    "table": (Planar(Y), {"damping": (0.1, 0.2, 0.3)}),
    "flying": (Floating(), {}),
    "welded": (Fixed(), {}),
    "composed": (Composite([Prismatic(X), Universal(X, Y)]), {"damping": (0.1, 0.2, 0.3)}),
    "slid": (Translation(), {}),
    "gimbal": (EulerAngles("xyz"), {"lower": (-1.0, -2.0, -3.0), "upper": (1.0, 2.0, 3.0)}),
    "craft": (FloatingRPY(), {}),
}


def robot_with_joints(*names: str) -> Description:
    """A robot with these joints of JOINTS, by default all of them."""
    chosen = {k: JOINTS[k] for k in names or JOINTS}
    links = (Link("base", BODY, SHAPES), *(Link(f"{k}_link", BODY) for k in chosen))
    joints = tuple(Joint(k, kind, "base", f"{k}_link", **more) for k, (kind, more) in chosen.items())
    ends = [link.name for link in links if link.name != "base"]
    loops = tuple(
        Loop(f"{kind.name}_loop", kind, ends[0], ends[n % len(ends)])
        for n, kind in enumerate((Fixed(), Spherical(), Revolute(Z), Prismatic(X)), start=1)
        if len(ends) > 4
    )
    rotors = (Rotor("rotor", "geared", "base", SPUN, 50),) if "geared" in chosen else ()
    frames = (NamedFrame("tip", links[-1].name, Transform(IDENTITY, Vec(0, 0, 1))),)
    named = (Configuration("up", ((next(iter(chosen)), joints[0].kind.neutral()),)),) if joints[0].mimic is None else ()
    forces = (("base", GravityCompensation(0.5)), ("tip", Buoyancy(0.1)))
    spring = SpringBetween("tip", "base", Spring(3.0), name="rope")
    terms = (spring, SpringBetween("tip", "base", lambda length, rate: -length, name="odd spring"), OwnTerm()) if joints else ()
    more = {"loops": loops, "rotors": rotors, "configurations": named, "forces": forces, "terms": terms}
    more["sensors"] = (
        ("imu", Sensor("gyroscope", "tip", delay=0.01)), ("turn", Sensor("gyroscope", "base")),
        ("behind", Sensor("joint_torque", next(iter(chosen)))),
    )  # fmt: skip
    return Description("all", links, joints, frames, base="floating", gravity=Vec(0.0, 0.0, -1.62), ground=GROUND, **more)


@pytest.mark.parametrize("format", ["urdf", "mjcf", "mr"])
def test_all_losses_of_a_robot_with_every_feature_are_listed(format):
    told = losses(robot_with_joints(), format)
    for what, who, fate in FEATURES:
        names = list(who(robot_with_joints()))
        if "free base" in what and not names:
            assert list(who(replace(robot_with_joints(), base="floating_rpy")))
            continue
        assert names, what  # the robot has all of them
        line = f"{what}, {fate.get(format)}: {short_list(names)}"
        assert (line in told) == (format in fate)


def test_terms_and_laws_that_no_file_contains_come_first():
    d = robot_with_joints()
    own = ["terms, left out: own term (OwnTerm is not torsor's own, so that a file cannot contain it)"]
    own.append("friction laws, left out: private")
    assert losses(d, "urdf")[:2] == losses(d, "mjcf")[:2] == left_out(d, "urdf") == own
    assert left_out(d, "mr") == []


@pytest.mark.parametrize("format", ["urdf", "mjcf"])
def test_losses_are_written_as_comments(format):
    d = robot_with_joints()
    text = {"urdf": write_urdf, "mjcf": write_mjcf}[format](d)
    for line in losses(d, format):
        assert f"<!-- {line} -->" in text
    if format == "mjcf":
        assert "<!-- renamed, since the name is in use: shape case -->" in text


def test_every_format_with_a_writer_has_a_list_of_losses():
    assert {f.name for f in FORMATS if f.write} <= {format for _, _, fate in FEATURES for format in fate}


# -- changes, found by comparing both robots -----------------------------------------------------------------------------

#: field of a joint → possible first words of the line that reports its change
TELLS = {
    "kind": ("joint types", "continuous joints", "floating joints", "composite joints"),
    "lower": ("limits",), "upper": ("limits",), "velocity_limit": ("velocity limits",), "effort_limit": ("effort limits",),
    "armature": ("armature", "rotors"), "damping": ("damping",), "friction": ("friction",), "laws": ("friction laws",),
    "actuator": ("actuators",),
    "mimic": ("mimic joints",), "": ("joint types", "fixed joints", "floating joints", "composite joints"),
}  # fmt: skip


def changes(a: Description, b: Description) -> list[tuple[tuple[str, ...], str]]:
    """(possible first words of the line that reports it, name) of every difference between two robots."""
    out = [(("free base",), a.root)] if a.base != b.base else []
    out += [(("gravity",), "gravity")] if a.gravity != b.gravity else []
    theirs = {j.name: j for j in b.joints}
    for j in a.joints:
        twin = theirs.get(j.name)
        fields = [f for f in TELLS if f and not same(getattr(j, f), getattr(twin, f))] if twin else [""]
        if twin and not any(j.damping) and not any(twin.damping):  # URDF: zero damping beside an armature
            fields = [f for f in fields if f != "damping"]
        fields = [f for f in fields if f != "actuator" or j.actuator]  # a motor of an effort limit is read as an actuator
        fields = ["kind"] if "kind" in fields else fields  # with another joint type, the other fields differ too
        out += [(TELLS[f], "rotor" if f == "armature" and a.rotors else j.name) for f in fields]
    loops = {x.name: type(x.kind) for x in b.loops}
    out += [(("loops",), x.name) for x in a.loops if loops.get(x.name) is not type(x.kind)]
    out += [(("rotors",), x.name) for x in a.rotors if x not in b.rotors]
    frames = {f.name for f in b.frames}
    out += [(("frames",), f.name) for f in a.frames if f.name not in frames]
    links = {x.name: x for x in b.links}
    for x in a.links:
        kept = {(g.shape, g.role, g.name) for g in links[x.name].geometry}
        gone = [g for g in x.geometry if (g.shape, g.role, g.name) not in kept]
        out += [(("ellipsoids", "renamed", "left out"), x.name if g.shape == "ellipsoid" else g.name) for g in gone]
        if not np.allclose([*flat(x.inertia)], [*flat(links[x.name].inertia)], rtol=1e-9, atol=1e-12):
            out.append((("rotors", "inertias"), "rotor"))
    return out


def same(a: object, b: object) -> bool:
    """Whether two fields of joints are equal; an infinite limit counts as no limit."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        a, b = ([x for x in xs if not isinstance(x, float) or math.isfinite(x)] for xs in (a, b))
        return len(a) == len(b) and all(
            x == (pytest.approx(y, rel=1e-12) if isinstance(y, float) else y) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, Mimic) and isinstance(b, Mimic):
        return a.joint == b.joint and (a.multiplier, a.offset) == pytest.approx((b.multiplier, b.offset))
    return type(a) is type(b)


def unreported_changes(d: Description, back: Description, text: str) -> list[tuple[tuple[str, ...], str]]:
    from lxml import etree

    lines = [" ".join(c.text.split()) for c in etree.fromstring(text.encode()).iter(etree.Comment)]
    return [
        (words, name) for words, name in changes(d, back) if not any(line.startswith(words) and name in line for line in lines)
    ]


FEW = [("bare", "limited", "lossy", "lawful", "private", "half"), ("servo", "late"),
       ("shut", "idle", "geared", "endless", "bare", "follower"), ("screw", "tube", "cross", "ball", "table"),
       ("flying", "welded", "bare"),
       ("composed", "slid", "gimbal", "craft")]  # fmt: skip


@pytest.mark.parametrize("names", FEW)
def test_every_change_by_urdf_is_listed(names):
    d = robot_with_joints(*names)
    text = write_urdf(d)
    back = read_urdf(text)
    assert unreported_changes(d, back, text) == []
    assert [x.name for x in with_loops(replace(back, loops=()), write_loops(d)).loops] == [x.name for x in d.loops]


@pytest.mark.parametrize("names", FEW)
def test_every_change_by_mjcf_is_listed(names):
    d = robot_with_joints(*names)
    text = write_mjcf(d)
    assert unreported_changes(d, read_mjcf(text, mimic=True, terms=["spring"]), text) == []


@settings(max_examples=200 if os.environ.get("TORSOR_NIGHT") else 6)
@given(st.integers(0, 10**6))
def test_every_change_of_random_trees_is_listed(seed):
    d = expressible_in_mjcf(random_tree(seed, bodies=1 + seed % 6))
    try:
        text = write_mjcf(d)
    except ModelError:
        return
    assert unreported_changes(d, read_mjcf(text), text) == []
    text = write_urdf(replace(d, frames=()))
    assert unreported_changes(replace(d, frames=()), read_urdf(text), text) == []
