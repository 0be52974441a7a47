"""Constraints between joints and bodies, and their drives: <equality> and <actuator>."""

from __future__ import annotations

import math

from lxml import etree
from lxml.etree import _Element as Element

from torsor.errors import ModelError
from torsor.io.mjcf.body_elements import Body, names_of_pieces, screw_pitch
from torsor.io.mjcf.law_words import actuator_words
from torsor.io.shared.losses import LOOP_JOINTS_IN_MUJOCO
from torsor.io.shared.xml_text import numbers
from torsor.model.description import Description, Loop
from torsor.model.joints import Fixed, Revolute
from torsor.spatial import Transform
from torsor.spatial.vector import IDENTITY

#: distance between the two connects on the axis that replace a hinge [m]
CONNECT_DISTANCE = 0.1

#: (element, name, frame on the parent, frame on the child)
LoopElement = tuple[str, str, Transform, Transform]


def loop_elements(loop: Loop) -> list[LoopElement]:
    """One weld, or one or two connects, equivalent to a loop; empty if MuJoCo has no such constraint."""
    if not isinstance(loop.kind, LOOP_JOINTS_IN_MUJOCO):
        return []
    word = "weld" if isinstance(loop.kind, Fixed) else "connect"
    out = [(word, loop.name, loop.origin, loop.child_origin)]
    if isinstance(loop.kind, Revolute):
        further = Transform(IDENTITY, loop.kind.axis * CONNECT_DISTANCE)
        out.append((word, f"{loop.name}_axis", further @ loop.origin, further @ loop.child_origin))
    return out


def equalities(d: Description, ends: dict[str, tuple[str, str, str]]) -> Element:
    """Loops between sites, and mimics: y = offset + multiplier x + … by ``polycoef``."""
    out = etree.Element("equality")
    for name, (word, parent, child) in ends.items():
        etree.SubElement(out, word, name=name, site1=parent, site2=child)
    for j in d.joints:
        who = f"joint {j.name!r}"
        if j.mimic is not None:
            if len(j.mimic.coefficients) > 5:
                raise ModelError(f"{who} follows by a polynomial of degree {len(j.mimic.higher) + 1}; MJCF has at most 4")
            coefficients = numbers(who, (*j.mimic.coefficients, 0, 0, 0)[:5])
            etree.SubElement(out, "joint", name=f"{j.name}_mimic", joint1=j.name, joint2=j.mimic.joint, polycoef=coefficients)
        if screw_pitch(j) is not None:
            pitch = numbers(who, (0, screw_pitch(j), 0, 0, 0))
            etree.SubElement(out, "joint", name=f"{j.name}_screw", joint1=f"{j.name}_advance", joint2=j.name, polycoef=pitch)
    return out


def motors(bodies: list[Body]) -> Element:
    """An actuator for every hinge and slider that is free to move.

    It is the joint's own, if MuJoCo has one like it; otherwise a motor, its control the joint force within the effort limit.
    """
    out = etree.Element("actuator")
    for body in bodies:
        for step, name in names_of_pieces(body):
            j, (k, *more) = step.joint, step.piece.freedoms
            if more or j.mimic is not None or k >= j.kind.nv or j.kind.name == "floating":
                continue
            if words := actuator_words(f"joint {j.name!r}", j.actuator) if j.actuator else None:
                etree.SubElement(out, words[0], name=name, joint=name, **words[1])
                continue
            effort = j.effort_limit[k] if j.effort_limit else math.inf
            if effort > 0:
                limit = {"ctrlrange": numbers(f"joint {j.name!r}", (-effort, effort))} if math.isfinite(effort) else {}
                etree.SubElement(out, "motor", name=name, joint=name, **limit)
    return out
