"""Actuator laws: the elements between a command and a joint force, over any scalar.

An actuator is one law, or several in the order of the signal: ``[Latency(0.002), PositionServo(100, 5), Limit(-50, 50)]``.
Before a servo the signal is a position [rad, m] or a velocity; after it, or without one, it is a joint force [N·m, N].
x and y are the input and output of a law, q and v the position and velocity of its joint, all at the beginning of a step of
dt [s]; a law's memory advances once per step and starts at zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from torsor.errors import ArgumentError
from torsor.model.actuators.parameters import as_number, clip, require, require_fields, require_limit
from torsor.scalar import Scalar, Scalars, exp, is_constant

#: y, and the memory of the next step
Response = tuple[Scalar, list[Scalar]]

#: relative difference up to which a delay is a multiple of dt
MULTIPLE = 1e-9
#: largest delay in steps: each is a number of memory, of every robot, and an input of the kernel of a rollout
STEPS_OF_DELAY = 10_000


@dataclass(frozen=True)
class ActuatorLaw:
    """One law of an actuator: y, memory⁺ = ``respond(x, q, v, memory, *coefficients)``."""

    depends_on_step: ClassVar[bool] = False  #: whether the size of the memory depends on dt
    respond: ClassVar[Callable[..., Response]]  #: a static method over any scalar

    def coefficients(self, dt: float) -> tuple[Any, ...]:
        """The numbers that ``respond`` reads, for steps of dt [s]: by default the fields.  Fields may be arrays."""
        return tuple(vars(self).values())

    def memory_size(self, dt: float) -> int:
        """Numbers of memory, for steps of dt [s]."""
        return 0


@dataclass(frozen=True)
class Gain(ActuatorLaw):
    """y = k x: a gear ratio, a motor constant, another unit."""

    k: Scalar

    def __post_init__(self) -> None:
        require("Gain", "k", self.k, "output per input")

    @staticmethod
    def respond(x: Scalar, q: Scalar, v: Scalar, memory: Scalars, k: Scalar) -> Response:
        return k * x, []


@dataclass(frozen=True)
class Limit(ActuatorLaw):
    """y = min(max(x, lower), upper): limits of a command or, after a servo, of the force; ±inf for none.

    >>> Limit(-50.0, 50.0).respond(70.0, 0.0, 0.0, [], -50.0, 50.0)
    (50.0, [])
    """

    lower: Scalar
    upper: Scalar

    def __post_init__(self) -> None:
        lower, upper = as_number(self.lower), as_number(self.upper)
        for name, value, none in (("lower", lower, -math.inf), ("upper", upper, math.inf)):
            if not (is_constant(value) and value == none):
                require("Limit", name, value, "the signal's unit")
        if is_constant(lower) and is_constant(upper) and lower > upper:
            raise ArgumentError(f"Limit: lower is {lower:g}, above upper, {upper:g}")

    @staticmethod
    def respond(x: Scalar, q: Scalar, v: Scalar, memory: Scalars, lower: Scalar, upper: Scalar) -> Response:
        return clip(x, lower, upper), []


@dataclass(frozen=True)
class RateLimit(ActuatorLaw):
    """y = x, at most rate · dt away from the y of the step before: a limit of |dy/dt| [1/s]; its memory is y."""

    rate: Scalar

    def __post_init__(self) -> None:
        require("RateLimit", "rate", self.rate, "the signal's unit per second", above=0)

    def coefficients(self, dt: float) -> tuple[Any, ...]:
        return (self.rate * dt,)

    def memory_size(self, dt: float) -> int:
        return 1

    @staticmethod
    def respond(x: Scalar, q: Scalar, v: Scalar, memory: Scalars, most: Scalar) -> Response:
        (before,) = memory
        y = clip(x, before - most, before + most)
        return y, [y]


@dataclass(frozen=True)
class Lag(ActuatorLaw):
    """T dy/dt = x − y: a first-order lag of time constant T [s]; its memory is y.

    y⁺ = x + (y − x) e^{−dt/T}, exact for x constant over the step; with ``exact=False`` by Euler's method, 1 − dt/T in place
    of e^{−dt/T}.
    """

    time_constant: Scalar
    exact: bool = True

    def __post_init__(self) -> None:
        require("Lag", "time_constant", self.time_constant, "s", above=0)

    def coefficients(self, dt: float) -> tuple[Any, ...]:
        share = dt / self.time_constant
        return (exp(-share) if self.exact else 1 - share,)

    def memory_size(self, dt: float) -> int:
        return 1

    @staticmethod
    def respond(x: Scalar, q: Scalar, v: Scalar, memory: Scalars, rest: Scalar) -> Response:
        (y,) = memory
        return y, [x + (y - x) * rest]


@dataclass(frozen=True)
class Latency(ActuatorLaw):
    """y(t) = x(t − delay): a dead time [s], a whole number of steps; its memory is the x of these steps, the oldest first."""

    delay: float
    depends_on_step = True

    def __post_init__(self) -> None:
        require("Latency", "delay", self.delay, "s", least=0)
        if not is_constant(as_number(self.delay)):
            raise ArgumentError(f"Latency: delay must be one number of seconds, not {type(self.delay).__name__}")

    def coefficients(self, dt: float) -> tuple[Any, ...]:
        return ()

    def memory_size(self, dt: float) -> int:
        if self.delay > STEPS_OF_DELAY * dt:
            raise ArgumentError(
                f"Latency: delay is {self.delay:g} s, which is {self.delay / dt:.3g} steps of dt = {dt:g} s; at most "
                f"{STEPS_OF_DELAY} are allowed, as each step is a number of the actuator's memory: give a shorter delay, or "
                "a longer dt"
            )
        steps = round(self.delay / dt)
        if abs(self.delay - steps * dt) > MULTIPLE * max(self.delay, dt):
            raise ArgumentError(
                f"Latency: delay is {self.delay:g} s, which is {self.delay / dt:.6g} steps of dt = {dt:g} s; it must be a "
                f"whole number of steps, such as {steps * dt:g} s"
            )
        return steps

    @staticmethod
    def respond(x: Scalar, q: Scalar, v: Scalar, memory: Scalars) -> Response:
        y, *rest = *memory, x
        return y, rest if memory else []


@dataclass(frozen=True)
class PositionServo(ActuatorLaw):
    """y = kp (x − q) − kv v [N·m, N]: x is the position command [rad, m]."""

    kp: Scalar
    kv: Scalar = 0.0

    def __post_init__(self) -> None:
        require_fields(self, {"kp": "N·m/rad or N/m", "kv": "N·m·s/rad or N·s/m"}, least=0)

    @staticmethod
    def respond(x: Scalar, q: Scalar, v: Scalar, memory: Scalars, kp: Scalar, kv: Scalar) -> Response:
        return kp * (x - q) - kv * v, []


@dataclass(frozen=True)
class VelocityServo(ActuatorLaw):
    """y = kv (x − v) [N·m, N]: x is the velocity command [rad/s, m/s]."""

    kv: Scalar

    def __post_init__(self) -> None:
        require("VelocityServo", "kv", self.kv, "N·m·s/rad or N·s/m", least=0)

    @staticmethod
    def respond(x: Scalar, q: Scalar, v: Scalar, memory: Scalars, kv: Scalar) -> Response:
        return kv * (x - v), []


@dataclass(frozen=True)
class PID(ActuatorLaw):
    """y = kp e + s − kd v, ds/dt = ki e, e = x − q [N·m, N]: x is the position command [rad, m]; its memory is s.

    s⁺ = s + ki e dt, with |s| ≤ ``integral_limit`` [N·m, N] against windup.  The derivative acts on the measured velocity, so
    that a jump of the command causes no impulse.
    """

    kp: Scalar
    ki: Scalar
    kd: Scalar = 0.0
    integral_limit: Scalar = field(default=math.inf, kw_only=True)

    def __post_init__(self) -> None:
        require_fields(self, {"kp": "N·m/rad or N/m", "ki": "N·m/(rad·s) or N/(m·s)", "kd": "N·m·s/rad or N·s/m"}, least=0)
        require_limit("PID", "integral_limit", self.integral_limit, "N·m or N")

    def coefficients(self, dt: float) -> tuple[Any, ...]:
        return self.kp, self.ki * dt, self.kd, self.integral_limit

    def memory_size(self, dt: float) -> int:
        return 1

    @staticmethod
    def respond(x: Scalar, q: Scalar, v: Scalar, memory: Scalars, kp: Scalar, ki: Scalar, kd: Scalar, most: Scalar) -> Response:
        (s,) = memory
        e = x - q
        return kp * e + s - kd * v, [clip(s + ki * e, -most, most)]  # ki is times dt


def laws_of(actuator: ActuatorLaw | Sequence[ActuatorLaw]) -> tuple[ActuatorLaw, ...]:
    """The laws of an actuator in the order of the signal; anything else is refused."""
    laws = (actuator,) if isinstance(actuator, ActuatorLaw) else actuator
    if not isinstance(laws, (list, tuple)) or not all(isinstance(law, ActuatorLaw) for law in laws):
        bad = laws if not isinstance(laws, (list, tuple)) else next(x for x in laws if not isinstance(x, ActuatorLaw))
        name = bad.__name__ if isinstance(bad, type) else type(bad).__name__
        known = ", ".join(law.__name__ for law in ActuatorLaw.__subclasses__())
        raise ArgumentError(f"an actuator must be one or a list of {known} (torsor.actuators), not {name}")
    return tuple(laws)
