"""Actuators of joints as terms: laws between the command and the joint force, with memory that is sampled once a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torsor.errors import ArgumentError, require_known
from torsor.model.actuators.control_laws import ActuatorLaw, laws_of
from torsor.model.terms.term import AtJoint, States, Term
from torsor.scalar import Scalar, Scalars

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.model import Model


@dataclass(frozen=True)
class SignalPath(AtJoint):
    """The laws between the command and the force of one joint, in the order of the signal; x is their memory.

    Behind a spring they act at its motor, ``joint/motor``.  ``dt`` [s] is the step of a law with a delay.
    """

    joint: str
    laws: tuple[ActuatorLaw, ...]
    dt: float | None = None
    kind = "actuator"

    def describe(self, model: Model) -> str:
        return " → ".join(type(law).__name__ for law in self.laws)

    def check(self, model: Model) -> None:
        check_place(model, self.joint, "an actuator")
        for law in self.laws:
            for name, x in vars(law).items():
                if isinstance(x, tuple):  # values of several robots
                    raise ArgumentError(
                        f"{self.name}: {type(law).__name__}: {name} must be one number; rollout(vary={{'actuators': "
                        f"{{{self.joint!r}: [...]}}}}) takes per_robot(values)"
                    )

    def row(self, model: Model) -> str:
        return "actuator with delay" if self._needs_dt else self.kind

    def in_steps(self, dt: float) -> Term:
        if not self._needs_dt:
            return self
        for law in self.laws:
            law.memory_size(dt)  # raises an error if the delay is no number of steps
        return replace(self, dt=dt)

    def states(self, model: Model) -> States:
        n = sum(self._sizes)
        return States(tuple(f"{self.joint} memory{k}" for k in range(n)), (0.0,) * n)

    def transmit(self, at: At, command: Scalars) -> Scalars:
        row = at.model.v_start[body_of(at.model, self.joint)]
        return [*command[:row], self._respond(at, command, at.dt)[0], *command[row + 1 :]]

    def tick(self, begin: At, dt: Scalar) -> list[Scalar]:
        return self._respond(begin, begin.command_of(self), dt)[1]

    def readings(self, at: At) -> Mapping[str, Scalar]:
        return {}

    @property
    def _needs_dt(self) -> bool:
        return self.dt is None and any(law.depends_on_step for law in self.laws)

    @property
    def _sizes(self) -> list[int]:
        """The memory of each law; that of a delay is not known without dt."""
        return [0 if law.depends_on_step and self.dt is None else law.memory_size(self.dt or 1.0) for law in self.laws]

    def _respond(self, at: At, command: Scalars, dt: Scalar) -> tuple[Scalar, list[Scalar]]:
        """The force of the joint, and the memory of the next step."""
        i = body_of(at.model, self.joint)
        y, memory = command[at.model.v_start[i]], at.x_of(self) or self.states(at.model).start
        after, m = list[Scalar](), 0
        for law, size in zip(self.laws, self._sizes, strict=True):
            y, kept = law.respond(y, at.qs[i][0], at.vs[i][0], memory[m : m + size], *law.coefficients(dt))  # type: ignore[arg-type]
            after, m = after + kept, m + size
        return y, after


def signal_paths(actuators: Any) -> list[SignalPath]:
    """The terms of ``{joint: law or laws}``."""
    if not isinstance(actuators, Mapping):
        raise ArgumentError(f"actuators must be a dict from joints to actuators, not {type(actuators).__name__}")
    return [SignalPath(joint, laws_of(laws)) for joint, laws in actuators.items()]


def body_of(model: Model, joint: str) -> int:
    """The body of a joint, on the side of its motor if it has one behind a spring."""
    motor = f"{joint}/motor"
    return model.joint_names.index(motor if motor in model.joint_names else joint)


def check_place(model: Model, joint: str, what: str) -> None:
    """An error unless the joint can have an actuator or a drive: it moves by itself, in one degree of freedom."""
    require_known("moving joint", joint, model.joint_names[1:])
    i = model.joint_names.index(joint)
    if model.coupling[i] is not None:
        raise ArgumentError(f"joint {joint!r} is a mimic joint; give {what} to the joint it follows")
    if model.joint[i].nv != 1:
        raise ArgumentError(f"joint {joint!r} has several degrees of freedom; {what} moves one")
