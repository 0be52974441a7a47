"""Actuators of MJCF as laws of :mod:`torsor.model.actuators`: from the control to the joint force.

MuJoCo: the control, delayed and within its range, is filtered into an activation; force = gain · activation + bias, within its
range; joint force = gear · force, where length = gear · q.  Here the gear is contained in the gains.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from typing import Any

from torsor.errors import ArgumentError
from torsor.io.mjcf.selection import HINGE, SLIDE, Selection
from torsor.model.actuators.control_laws import (
    PID,
    ActuatorLaw,
    Gain,
    Lag,
    Latency,
    Limit,
    PositionServo,
    RateLimit,
    VelocityServo,
)

#: MuJoCo's mjtTrn, mjtGain, mjtBias, mjtDyn
ON_JOINT, IN_PARENT = 0, 1
FIXED_GAIN, PID_GAIN = 0, 5
NO_BIAS, AFFINE = 0, 1
NO_DYNAMICS, FILTER, EXACT_FILTER, PID_DYNAMICS = 0, 2, 3, 6
#: MuJoCo's mjINPUT_POS: the control is the position setpoint alone
POSITION_INPUT = 1
#: MuJoCo's mjtDisableBit
NO_CLAMP, NO_ACTUATION = 256, 2048

#: why an actuator is not read
ELSEWHERE = "not on a hinge or slider that is read with a coordinate of its own"
SEVERAL = "on a joint with several actuators"
SWITCHED_OFF = "switched off in the file; its limits are the joint's effort limit"
OTHER_LAW = "a law that torsor.actuators does not have; its limits are the joint's effort limit"


def read_laws(chosen: Selection, followers: Container[int]) -> dict[int, tuple[ActuatorLaw, ...]]:
    """By joint: the laws of its actuator, in the order of the signal; other actuators are counted in the report."""
    m, out = chosen.m, dict[int, tuple[ActuatorLaw, ...]]()
    on = [joint_of(m, a) for a in range(m.nactuator)]
    for a, k in enumerate(on):
        if k not in chosen.joints or k in followers:
            why = ELSEWHERE
        elif on.count(k) > 1:
            why = SEVERAL
        elif m.opt.disableflags & NO_ACTUATION or m.opt.disableactuator >> int(m.actuator_group[a]) & 1:
            why = SWITCHED_OFF
        elif (laws := _laws_of(m, a)) is None:
            why = OTHER_LAW
        else:
            out[k] = (*laws, Limit(*map(float, m.jnt_actfrcrange[k]))) if m.jnt_actfrclimited[k] else laws
            if m.actuator_gaintype[a] == PID_GAIN and m.actuator_dynprm[a][0]:
                chosen.notes.note("integral clamped at imax, which MuJoCo exceeds by up to one step", chosen.joints[k])
            continue
        chosen.notes.note_ignored("actuator", why)
    return out


def _laws_of(m: Any, a: int) -> tuple[ActuatorLaw, ...] | None:
    """The laws of an actuator; None if they are others, or have numbers beyond floating point."""
    try:
        return tuple(_laws(m, a)) if _is_known(m, a) else None
    except ArgumentError:
        return None


def joint_of(m: Any, a: int) -> int:
    """The hinge or slider that an actuator drives, or −1."""
    k = int(m.actuator_trnid[a][0])
    return k if m.actuator_trntype[a] in (ON_JOINT, IN_PARENT) and m.jnt_type[k] in (SLIDE, HINGE) else -1


def _is_known(m: Any, a: int) -> bool:
    """Whether the laws below are this actuator's: one control, a fixed gain or PID, a bias that damps and pulls back."""
    gain, bias, dyn = (int(x[a]) for x in (m.actuator_gaintype, m.actuator_biastype, m.actuator_dyntype))
    laws = {FIXED_GAIN: (NO_DYNAMICS, FILTER, EXACT_FILTER), PID_GAIN: (NO_DYNAMICS, PID_DYNAMICS)}
    b0, b1, b2 = (float(x) for x in m.actuator_biasprm[a][:3])
    return bool(
        m.actuator_ctrlnum[a] == 1 and m.actuator_outnum[a] == 1 and m.actuator_plugin[a] < 0
        and dyn in laws.get(gain, ()) and (gain == FIXED_GAIN or m.actuator_ctrlspec[a] == POSITION_INPUT)
        and (bias == NO_BIAS or (bias == AFFINE and b0 == 0 and b1 <= 0 and b2 <= 0))
        and (dyn == NO_DYNAMICS or not (m.actuator_actlimited[a] or m.actuator_actearly[a]))
        and (dyn not in (FILTER, EXACT_FILTER) or m.actuator_dynprm[a][0] > 0)
        and gear_of(m, a) != 0
    )  # fmt: skip


def _laws(m: Any, a: int) -> Iterator[ActuatorLaw]:
    """The laws of an actuator in the order of the signal."""
    gear, dyn, prm = gear_of(m, a), int(m.actuator_dyntype[a]), [float(x) for x in m.actuator_dynprm[a][:2]]
    u = int(m.actuator_ctrladr[a])
    if m.actuator_delay[a] > 0:
        yield Latency(float(m.actuator_delay[a]))
    if m.actuator_ctrllimited[u] and not m.opt.disableflags & NO_CLAMP:
        yield Limit(*map(float, m.actuator_ctrlrange[u]))
    if dyn in (FILTER, EXACT_FILTER):
        yield Lag(prm[0], exact=dyn == EXACT_FILTER)
    if dyn == PID_DYNAMICS and prm[1] > 0:
        yield RateLimit(prm[1])
    yield from _force(m, a, gear)
    if m.actuator_forcelimited[a]:
        yield Limit(*sorted(gear * float(x) for x in m.actuator_forcerange[a]))


def _force(m: Any, a: int, gear: float) -> Iterator[ActuatorLaw]:
    """Gain and bias: τ = gear (k x − kp gear q − kv gear v), and the integral of a PID."""
    pid = m.actuator_gaintype[a] == PID_GAIN
    k, (kp, kv) = float(m.actuator_gainprm[a][0]), (0.0 - float(x) for x in m.actuator_biasprm[a][1:3])
    if m.actuator_biastype[a] == NO_BIAS:
        kp = kv = 0.0
    ki, most = (k, float(m.actuator_dynprm[a][0])) if pid and m.actuator_dyntype[a] == PID_DYNAMICS else (0.0, 0.0)
    square, servo = gear * gear, kp or kv
    before = 1 / gear if pid else k / servo / gear if servo else gear * k
    if before != 1:
        yield Gain(before)
    if ki:
        yield PID(square * kp, square * ki, square * kv, integral_limit=abs(gear) * ki * most if most > 0 else math.inf)
    elif pid or kp:
        yield PositionServo(square * kp, square * kv)
    elif kv:
        yield VelocityServo(square * kv)


def gear_of(m: Any, a: int) -> float:
    return float(m.actuator_gear[m.actuator_outadr[a]][0])
