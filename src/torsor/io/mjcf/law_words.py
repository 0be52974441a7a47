"""Actuator laws as elements of MJCF: the inverse of :mod:`torsor.io.mjcf.control_laws`, with gear 1 except for a PID."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from torsor.io.shared.xml_text import numbers
from torsor.model.actuators.control_laws import (
    PID,
    ActuatorLaw,
    Gain,
    Lag,
    Limit,
    PositionServo,
    RateLimit,
    VelocityServo,
)

#: an element and its attributes
Words = tuple[str, dict[str, str]]


def actuator_words(who: str, laws: Sequence[ActuatorLaw]) -> Words | None:
    """The element that MuJoCo has for these laws; None if it has none, or needs the time step for it (a latency)."""
    rest = list(laws)
    range_, lag, slew, gain = (_take(rest, kind) for kind in (Limit, Lag, RateLimit, Gain))
    servo = _take(rest, (PositionServo, VelocityServo, PID))
    force = _take(rest, Limit), _take(rest, Limit)
    k = 1.0 if gain is None else gain.k
    ends = [_ends(limits) for limits in ((range_,), force)]
    pid = isinstance(servo, PID) or slew is not None
    if rest or None in ends or (pid and (lag is not None or k == 0 or not isinstance(servo, (PID, PositionServo)))):
        return None
    out: dict[str, Any] = {"ctrlrange": ends[0], "forcerange": ends[1]}
    if pid:
        return "pid", {"input": "pos", **_words(who, out | _pid(servo, slew, 1 / k))}
    if lag is not None:
        out |= {"dynprm": lag.time_constant}
    kinds = {"dyntype": "filterexact" if lag.exact else "filter"} if lag is not None else {}
    if servo is not None:
        kinds |= {"biastype": "affine"}
        kp, k = (servo.kp, k * servo.kp) if isinstance(servo, PositionServo) else (0.0, k * servo.kv)
        out |= {"biasprm": (0.0, 0.0 - kp, 0.0 - servo.kv)}
    if not kinds and k == 1:
        return "motor", _words(who, out)
    return "general", {**kinds, **_words(who, out | {"gainprm": k})}


def _pid(servo: Any, slew: Any, gear: float) -> dict[str, Any]:
    """The attributes of a PID whose position command has a gain of 1/gear."""
    square = gear * gear
    out = {"gear": gear, "kp": servo.kp / square}
    out |= {"slewmax": slew.rate} if slew is not None else {}
    if isinstance(servo, PositionServo):
        return out | {"kv": servo.kv / square}
    out |= {"kv": servo.kd / square, "ki": servo.ki / square}
    limited = servo.ki > 0 and math.isfinite(servo.integral_limit)
    return out | ({"imax": servo.integral_limit * abs(gear) / servo.ki} if limited else {})


def _take(rest: list[Any], kind: Any) -> Any:
    """The next law, if it is of this kind."""
    return rest.pop(0) if rest and isinstance(rest[0], kind) else None


def _ends(limits: tuple[Any, ...]) -> tuple[float, ...] | None:
    """Both ends of limits one after the other, () without limits; None if MuJoCo has no such range."""
    given = [x for x in limits if x is not None]
    if not given:
        return ()
    low, high = max(x.lower for x in given), min(x.upper for x in given)
    return (low, high) if -math.inf < low < high < math.inf else None


def _words(who: str, values: dict[str, Any]) -> dict[str, str]:
    given = {word: x if isinstance(x, tuple) else (x,) for word, x in values.items()}
    return {word: numbers(who, x) for word, x in given.items() if x}
