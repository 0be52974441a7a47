"""Keyframes: named configurations in MuJoCo's order of joints, quaternions as (w, x, y, z)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lxml import etree
from lxml.etree import _Element as Element

from torsor.io.mjcf.body_elements import Body, screw_pitch
from torsor.io.mjcf.selection import BALL, FREE, Selection, has_world_losses, name_of
from torsor.io.shared.xml_text import numbers
from torsor.model.description import FLOATING_BASE, Description, Joint, Mimic
from torsor.model.joints import Floating
from torsor.model.named_configurations import Configuration, base_coordinates, joint_coordinates
from torsor.spatial import Transform
from torsor.spatial.recovery import quaternion_of
from torsor.support.text import unused_name

#: MuJoCo's mjtObj of a keyframe
KEY = 24
#: a mimic joint's number in a keyframe that differs by more from its leader's gives a note [rad, m]
MIMIC_TOLERANCE = 1e-6
#: numbers of a keyframe that are not a configuration
_OTHERS = ("qvel", "act", "ctrl")


# -- reading -------------------------------------------------------------------------------------------------------------


def read_keyframes(chosen: Selection, mimics: Mapping[int, Mimic]) -> tuple[Configuration, ...]:
    """The qpos of every keyframe, by joint; velocities, activations and controls are noted as ignored."""
    m, out, taken = chosen.m, [], set[str]()
    for key in range(m.nkey):
        given = name_of(m, KEY, key)
        name = unused_name(given or f"key{key}", taken)
        if name != given:
            chosen.notes.note("keyframe without a name of its own, named", name)
        for word in _OTHERS:
            if any(getattr(m, f"key_{word}")[key]):
                chosen.notes.note(f"keyframe's {word} ignored, only its qpos is a configuration", name)
        values = dict(_joint_values(chosen, m.key_qpos[key]))
        for k, mimic in mimics.items():
            mine, leader = values.pop(chosen.joints[k]), _qpos(chosen, key, mimic.joint)
            if abs(mine[0] - mimic.at(leader)) > MIMIC_TOLERANCE:
                chosen.notes.note(f"keyframe {name!r} has mimic joints elsewhere than their leaders put them", chosen.joints[k])
        out.append(Configuration(name, tuple(values.items())))
    return tuple(out)


def _joint_values(chosen: Selection, qpos: Any) -> Iterable[tuple[str, tuple[float, ...]]]:
    m = chosen.m
    for k, name in chosen.joints.items():
        at, kind = int(m.jnt_qposadr[k]), int(m.jnt_type[k])
        x = tuple(float(a) for a in qpos[at : at + {FREE: 7, BALL: 4}.get(kind, 1)])
        if kind == BALL:
            yield name, _w_last(x)
        elif kind != FREE:
            yield name, x
        elif chosen.floating is not None and m.jnt_bodyid[k] == chosen.floating:
            yield FLOATING_BASE, (*x[:3], *_w_last(x[3:]))
        elif has_world_losses(m, k):  # three sliders and a ball
            yield from ((slider, (a,)) for slider, a in zip(chosen.sliders[k], x, strict=False))
            yield name, _w_last(x[3:])
        else:
            yield name, (*x[:3], *_w_last(x[3:]))


def _w_last(wxyz: tuple[float, ...]) -> tuple[float, ...]:
    """(w, x, y, z) as (x, y, z, w)."""
    return *wxyz[1:], wxyz[0]


def _qpos(chosen: Selection, key: int, joint: str) -> float:
    """The number of a joint with one coordinate."""
    k = next(k for k, name in chosen.joints.items() if name == joint)
    return float(chosen.m.key_qpos[key][chosen.m.jnt_qposadr[k]])


# -- writing -------------------------------------------------------------------------------------------------------------


def keyframes(d: Description, bodies: list[Body]) -> Element:
    """<key> elements with the qpos of the bodies written, in MuJoCo's order: depth first, as in the file."""
    out = etree.Element("keyframe")
    joints = {j.name: j for j in d.joints}
    for c in d.configurations:
        given = dict(c.values)
        who, qpos = f"configuration {c.name!r}", list[float]()
        if d.floats:
            base = Floating()
            qpos += _w_first(base_coordinates(base, given.get(FLOATING_BASE, tuple(base.neutral()))), 3)
        for body in bodies:
            for step in body.steps:
                q = joint_coordinates(step.joint, joints, given)
                if step.piece.type == "free":
                    qpos += _w_first(_in_world(step.joint, q), 3)
                elif step.piece.type == "ball":
                    qpos += _w_first(q[-4:], 0)
                elif step.joint.kind.name == "floating":
                    qpos.append(q[step.piece.freedoms[0] - 3])  # v has the rotation first, q the position
                elif step.piece.freedoms[0] >= step.joint.kind.nq:
                    qpos.append(q[0] * screw_pitch(step.joint))  # the advance of a helical joint
                else:
                    qpos.append(q[step.piece.freedoms[0]])
        if qpos:  # a robot without coordinates has none to write
            etree.SubElement(out, "key", name=c.name, qpos=numbers(who, qpos))
    return out


def _in_world(j: Joint, q: tuple[float, ...]) -> tuple[float, ...]:
    """The pose of a free body in the world, where a floating joint's q is its pose in the joint frame."""
    if j.origin == Transform.identity():
        return q
    R, p = (j.kind.transform(q) @ j.origin).pose
    return tuple(float(x) for x in (*p, *quaternion_of(R)))


def _w_first(q: tuple[float, ...], at: int) -> list[float]:
    """q with the quaternion (x, y, z, w) at its end as (w, x, y, z)."""
    return [*q[:at], q[-1], *q[at:-1]]
