"""Joint data from actuators: control laws, effort limit, armature and damping of the rotor at the joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torsor.io.mjcf.control_laws import FIXED_GAIN, NO_BIAS, NO_DYNAMICS, gear_of, joint_of
from torsor.io.mjcf.selection import HINGE, SLIDE, Selection
from torsor.model.actuators import ActuatorLaw


@dataclass
class Drive:
    """The actuator of a joint, if it is ``driven``: effort limit [N·m, N], the armature [kg·m², kg] and damping that it adds,
    gear² times its own, and its laws.
    """

    driven: bool
    effort: tuple[float, ...] = ()
    armature: float = 0.0
    damping: float = 0.0
    laws: tuple[ActuatorLaw, ...] = ()


def read_drives(chosen: Selection) -> dict[int, Drive]:
    """By hinge or slider: its actuators, without their laws, which depend on the mimic joints."""
    m, out = chosen.m, dict[int, Drive]()
    on: dict[int, list[int]] = {}
    for a in range(m.nactuator):
        on.setdefault(joint_of(m, a), []).append(a)
    for k, name in chosen.joints.items():
        if m.jnt_type[k] not in (SLIDE, HINGE):
            continue
        limits = [_largest(chosen, name, m.jnt_actfrcrange[k])] if m.jnt_actfrclimited[k] else []
        if len(on.get(k, [])) == 1:
            limits += _strength(chosen, name, *on[k])
        elif k in on:
            chosen.notes.note("several actuators, so none of their limits is an effort limit", f"joint {name!r}")
        out[k] = drive = Drive(k in on, (min(limits),) if limits else ())
        a = int(m.jnt_actuatorid[k])
        if a >= 0:
            gear = gear_of(m, a)
            drive.armature, drive.damping = (float(x[a]) * gear * gear for x in (m.actuator_armature, m.actuator_damping))
    return out


def _strength(chosen: Selection, name: str, a: int) -> Iterator[float]:
    """The largest joint force of an actuator: gear times its force range, or a plain motor's gain times its control range."""
    m = chosen.m
    gear = abs(gear_of(m, a))
    plain = (m.actuator_gaintype[a], m.actuator_biastype[a], m.actuator_dyntype[a]) == (FIXED_GAIN, NO_BIAS, NO_DYNAMICS)
    u = int(m.actuator_ctrladr[a])
    if m.actuator_forcelimited[a]:
        yield gear * _largest(chosen, name, m.actuator_forcerange[a])
    elif plain and m.actuator_ctrlnum[a] == 1 and m.actuator_ctrllimited[u]:
        yield gear * abs(float(m.actuator_gainprm[a][0])) * _largest(chosen, name, m.actuator_ctrlrange[u])


def _largest(chosen: Selection, name: str, bounds: Any) -> float:
    low, high = (abs(float(x)) for x in bounds)
    if abs(low - high) > 1e-9 * max(low, high):
        chosen.notes.note("force range with unequal ends, so the larger one is the effort limit", f"joint {name!r}")
    return max(low, high)
