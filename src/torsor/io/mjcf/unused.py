"""Unsupported parts of a model: forces that affect the motion give a warning, others are counted in the report."""

from __future__ import annotations

from collections.abc import Iterable

from torsor.io.mjcf.control_laws import ON_JOINT
from torsor.io.mjcf.selection import HINGE, SLIDE, Selection
from torsor.io.mjcf.springs import NO_DAMPERS, Springs
from torsor.io.shared.notes import short_list
from torsor.model.terms.tendons import FixedTendon, SpringBetween

#: MuJoCo's mjtDisableBit
NO_GRAVITY = 128


def forces_left_out(chosen: Selection, springs: Springs) -> list[str]:
    """The forces MuJoCo would add to M q̈ + h = τ that torsor does not, in words."""
    m = chosen.m
    joints = chosen.joints
    damped = not m.opt.disableflags & NO_DAMPERS
    dampers = (k for k in joints if damped and any(m.dof_dampingpoly[m.jnt_dofadr[k]]))
    found = [
        _count_and_names("joint springs (stiffness)", springs.joints),
        _count_and_names("damping beyond b v", (joints[k] for k in dampers)),
        _count_and_names("rotor armature of actuators", _geared_actuators(chosen)),
        _count_and_names("tendon springs, dampers or armature", springs.tendons),
        "forces of a fluid (density, viscosity)" if m.opt.density or m.opt.viscosity else "",
        "elastic bodies (flex)" if m.nflex else "",
    ]
    return [line for line in found if line]


def constraints_left_out(chosen: Selection) -> list[str]:
    """The constraints that MuJoCo would hold and torsor does not, in words."""
    return [f"{what}: {short_list(names)}" for what, names in chosen.not_held.items()]


def _count_and_names(what: str, names: Iterable[str]) -> str:
    found = list(names)
    return f"{what}: {short_list(found)}" if found else ""


def _geared_actuators(chosen: Selection) -> Iterable[str]:
    """Actuators with armature or damping of their own that are not the actuator of a hinge or a slider."""
    m = chosen.m
    for a in range(m.nactuator):
        k = int(m.actuator_trnid[a][0])
        plain = m.actuator_trntype[a] == ON_JOINT and m.jnt_type[k] in (SLIDE, HINGE) and m.jnt_actuatorid[k] == a
        if not plain and (m.actuator_armature[a] or m.actuator_damping[a]):
            yield f"actuator {a}"


def count_unused(chosen: Selection, springs: Springs) -> None:
    """Count the elements that do not act as forces, with the reason."""
    m, notes = chosen.m, chosen.notes
    for count, what, why in (
        (m.ntendon - sum(isinstance(t, (FixedTendon, SpringBetween)) for t in springs.terms), "tendon", "not a spring"),
        (m.nplugin, "plugin", "plugins are specific to MuJoCo"),
        (m.npair, "contact pair", "the method with_contacts adds it"),
        (m.nexclude - len(chosen.excluded), "contact exclusion", "links do not touch each other"),
        (m.nmocap, "mocap motion", "the body stays at its pose in the file"),
        (m.ncam, "camera", "appearance is not kept"),
        (m.nlight, "light", "appearance is not kept"),
        (m.nskin, "skin", "appearance is not kept"),
    ):
        for _ in range(int(count)):
            notes.note_ignored(what, why)
