"""Arguments that are gone: an error that names the call that replaced them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from torsor.errors import ArgumentError
from torsor.kernels.options import signature_with_options

T = TypeVar("T", bound=Callable[..., Any])

#: arguments of earlier versions → what to write now
REPLACED = {
    "friction": "the friction laws of a robot always act; robot.without_terms('friction') leaves them out",
    "stabilization": "robot.with_constraints(stabilization=...) says how a robot stays on its loops and constraints",
    "damping": "robot.with_damping(True) has the damping of its joints, in every method",
    "actuators": "robot.with_actuators({joint: [...]}) has them; controls are then commands",
    "actuator_memory": "the memory of actuators is in x= (robot.state_names), of simulate, rollout and gradient",
    "drives": "robot.with_drives({joint: Drive}, command='torque' or 'voltage') has them",
    "command": "robot.with_drives({joint: Drive}, command='torque' or 'voltage') says it",
    "springs": "robot.with_springs({joint: SeriesSpring(...)}) is a robot with its motors as joints",
    "motors": "q and v have the motors behind springs; robot.state(q, v) completes those of the joints alone",
    "limits": "robot.with_stops(restitution), or with_stops({joint: restitution}), has hard stops at the limits of its joints",
    "constraints": "robot.with_constraints(*constraints) has them, in every method",
    "active": "robot.without_terms(name) leaves a constraint out",
    "parameters": "controller=ts.Controller(function, parameters={...}) has them",
    "memory": "controller=ts.Controller(function, memory=...) has it; x= has the memory of actuators",
    "expressed_in": "wrenches=ts.WorldAxes({frame: F}) has wrenches in world axes",
    "tolerance": "integrator=ts.Adaptive('dop853', tolerance=1e-8) has it",
    "max_steps": "integrator=ts.Adaptive('dop853', max_steps=10_000) has it",
}


def name_replacements(thing: T) -> T:
    """The function, or class with all its public methods, that names the new call when it is given an argument of old.

    The signature stays the same, with shared options one by one (:mod:`torsor.kernels.options`).  A call costs nothing more
    before it fails.
    """
    if isinstance(thing, type):
        for name, method in list(vars(thing).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(thing, name, name_replacements(method))
        return thing

    signature = signature_with_options(thing)

    @wraps(thing)
    def call(*values: Any, **options: Any) -> Any:
        try:
            if signature and (unknown := [name for name in options if name not in signature.parameters]):
                raise TypeError(f"{thing.__qualname__}() got an unexpected keyword argument {unknown[0]!r}")
            return thing(*values, **options)
        except TypeError:
            for word in sorted(REPLACED.keys() & options.keys() - inspect.signature(call).parameters.keys()):
                raise ArgumentError(f"{thing.__name__} has no argument {word!r} any more: {REPLACED[word]}") from None
            raise

    if signature is not None:
        call.__signature__ = signature  # type: ignore[attr-defined]  # as inspect reads it
    return cast("T", call)
