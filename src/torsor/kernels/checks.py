"""Checks before a kernel is made or called: numeric constants and valid configurations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.errors import ArgumentError, UnknownName
from torsor.kernels.axes import Spread
from torsor.model import Model
from torsor.support.user_arrays import as_array

#: axes in which wrenches may be given: the axes of their frame, or world axes
AXES = ("body", "world")


@dataclass(frozen=True)
class WorldAxes:
    """``wrenches=WorldAxes({frame: F})``: wrenches (moment, force) in world axes, each at the origin of its frame.

    Every method with ``wrenches=`` takes it, and F in all forms that it has in the frame's own axes; in methods of states it is
    the same as ``expressed_in="world"``.

    >>> import torsor as ts
    >>> arm, F = ts.robots.two_link(), [0.0, 0.0, 0.0, 0.0, 9.81, 0.0]
    >>> held = arm.inverse_dynamics([0.3, 0.5], [0.0, 0.0], [0.0, 0.0], WorldAxes({"tip": F}))
    >>> bool(np.allclose(held, arm.gravity_force([0.3, 0.5]) - arm.jacobian([0.3, 0.5], "tip").T @ F))
    True
    """

    wrenches: Mapping[str, Any]


def check_axes(expressed_in: Any) -> None:
    """Refuse unknown axes of wrenches."""
    if expressed_in not in AXES:
        raise UnknownName("expressed_in=", expressed_in, AXES)


def check_configuration(model: Model, label: str, q: list[float]) -> None:
    """Refuse invalid configurations, such as a zero quaternion."""
    for i in model.own_joints:
        start, joint = model.q_start[i], model.joint[i]
        if why := joint.fault(q[start : start + joint.nq]):
            place = f"{label}[{start}:{start + joint.nq}]"
            raise ArgumentError(f"{place} is not a valid configuration of joint {model.joint_names[i]!r}: {why}")


def check_step_length(dt: Any) -> None:
    """An error unless dt is a positive number [s]."""
    if not isinstance(dt, (int, float, np.integer, np.floating)) or isinstance(dt, bool) or not 0 < dt < math.inf:
        raise ArgumentError(f"dt must be a positive number of seconds, not {dt!r}")


def check_wrenches(model: Model, wrenches: Any) -> Mapping[str, Any]:
    """Wrenches as users give them, a dict by frame or None; unknown frames are errors."""
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ArgumentError(f'wrenches must be a dict such as {{"{list(model.frames)[-1]}": F}}, not {type(wrenches).__name__}')
    for frame in wrenches or {}:
        model.frame(frame)
    return wrenches or {}


def with_their_axes(wrenches: Any, expressed_in: str = "body") -> tuple[Any, str]:
    """Wrenches by frame, and the axes that they are in."""
    check_axes(expressed_in)
    return (wrenches.wrenches, "world") if isinstance(wrenches, WorldAxes) else (wrenches, expressed_in)


def wrenches_at(model: Model, wrenches: Any, time: Any = None) -> dict[str, Any]:
    """The wrenches of states as arrays: an array, one per robot, or a function of t [s] at ``time``."""
    return {frame: _at_time(f"wrenches[{frame!r}]", F, time) for frame, F in check_wrenches(model, wrenches).items()}


def _at_time(name: str, F: Any, time: Any) -> Any:
    if isinstance(F, Spread):
        if F.steps:
            raise ArgumentError(f"{name} is given per step, for rollouts; a method of states takes arrays and functions of t")
        return F.values
    if not callable(F):
        return F
    if time is None:
        raise ArgumentError(f"{name} is a function of t, so time= is needed")
    times = as_array("time", time)
    try:
        rows = np.array([F(t) for t in times.ravel().tolist()], float)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{name} must be a function of t that returns a moment and a force, six numbers: {error}"
        ) from error
    if rows.shape[1:] != (6,):
        raise ArgumentError(f"{name} returned an array of shape {rows.shape[1:]}; it must return a moment and a force, (6,)")
    return rows.reshape(*times.shape, 6)
