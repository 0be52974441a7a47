"""Joint data from actuators: control laws, effort limit, armature and damping of the rotor at the joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torsor.io.mjcf.control_laws import FIXED_GAIN, IN_PARENT, NO_BIAS, NO_DYNAMICS, ON_JOINT, gear_of
from torsor.io.mjcf.selection import HINGE, SLIDE, Selection
from torsor.model.actuators import ActuatorLaw


@dataclass
class Drives:
    """By joint: effort limit [N·m, N], armature [kg·m², kg] and damping that its actuator adds, gear² times its own; laws.

    ``driven`` are the joints that have an actuator.
    """

    driven: set[int] = field(default_factory=set)
    effort: dict[int, float] = field(default_factory=dict)
    armature: dict[int, float] = field(default_factory=dict)
    damping: dict[int, float] = field(default_factory=dict)
    laws: dict[int, tuple[ActuatorLaw, ...]] = field(default_factory=dict)


def read_drives(chosen: Selection) -> Drives:
    """The actuators of the joints that are read, without their laws, which depend on the mimic joints."""
    m, out = chosen.m, Drives()
    on: dict[int, list[int]] = {}
    for a in range(m.nactuator):
        k = int(m.actuator_trnid[a][0])
        if m.actuator_trntype[a] in (ON_JOINT, IN_PARENT) and m.jnt_type[k] in (SLIDE, HINGE):
            on.setdefault(k, []).append(a)
    out.driven = set(on)
    for k, name in chosen.joints.items():
        if m.jnt_type[k] not in (SLIDE, HINGE):
            continue
        limits = [_largest(chosen, name, m.jnt_actfrcrange[k])] if m.jnt_actfrclimited[k] else []
        if len(on.get(k, [])) == 1:
            (a,) = on[k]
            limits += [limit for limit in (_strength(chosen, name, a),) if limit is not None]
        elif k in on:
            chosen.notes.note("several actuators, so none of their limits is an effort limit", f"joint {name!r}")
        if limits:
            out.effort[k] = min(limits)
        a = int(m.jnt_actuatorid[k])
        if a >= 0:
            gear = gear_of(m, a)
            out.armature[k] = float(m.actuator_armature[a]) * gear * gear
            out.damping[k] = float(m.actuator_damping[a]) * gear * gear
    return out


def _strength(chosen: Selection, name: str, a: int) -> float | None:
    """The largest joint force of an actuator: gear times its force range, or a plain motor's gain times its control range."""
    m = chosen.m
    gear = abs(gear_of(m, a))
    if m.actuator_forcelimited[a]:
        return gear * _largest(chosen, name, m.actuator_forcerange[a])
    plain = (m.actuator_gaintype[a], m.actuator_biastype[a], m.actuator_dyntype[a]) == (FIXED_GAIN, NO_BIAS, NO_DYNAMICS)
    u = int(m.actuator_ctrladr[a])
    if plain and m.actuator_ctrlnum[a] == 1 and m.actuator_ctrllimited[u]:
        return gear * abs(float(m.actuator_gainprm[a][0])) * _largest(chosen, name, m.actuator_ctrlrange[u])
    return None


def _largest(chosen: Selection, name: str, bounds: Any) -> float:
    low, high = (abs(float(x)) for x in bounds)
    if abs(low - high) > 1e-9 * max(low, high):
        chosen.notes.note("force range with unequal ends, so the larger one is the effort limit", f"joint {name!r}")
    return max(low, high)
