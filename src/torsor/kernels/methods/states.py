"""Methods of Robot: whole states, their energies, and the motion of motors behind springs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation.motor_motion import MotorMotion
from torsor.errors import ArgumentError, require_known
from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import quantity_method
from torsor.kernels.methods.dynamics import StateWithX
from torsor.model.terms.capabilities import refuse
from torsor.model.terms.springs import JointSpring, Spring
from torsor.support.user_arrays import Array, as_array


class WholeStates(CompiledMechanism):
    """States with motors behind springs and first-order states."""

    def state(
        self, q: ArrayLike | None = None, v: ArrayLike | None = None, x: ArrayLike | None = None, *, motors: str = "joints"
    ) -> StateWithX:
        """(q, v, x), the whole state [rad, m; rad/s, m/s]: by default neutral, at rest, and x at its start.

        A q or v of the robot's joints alone is completed.  Modes of beams are 0.  Motors behind springs are with their joints,
        δ = 0, or with ``motors="equilibrium"`` where their springs hold the joints at rest: θ = q + δ(τ).

        >>> import torsor as ts
        >>> robot = ts.robots.two_link().with_springs({"joint2": ts.flexible.SeriesSpring(981.0, rotor_inertia=0.2)})
        >>> robot.state([0.0, 0.5]).q
        array([0. , 0.5, 0.5])
        >>> robot.state([0.0, 0.0], motors="equilibrium").q
        array([0.  , 0.  , 0.01])
        """
        require_known("motors=", motors, ("joints", "equilibrium"))
        at, speed = self._complete("q", q, self.neutral()), self._complete("v", v, np.zeros(self.nv))
        if motors == "equilibrium":
            at = self._motors_in_equilibrium(at)
        return StateWithX(at, speed, self._start_of_x(x))

    def _motors_in_equilibrium(self, q: Array) -> Array:
        """q with the motors where their springs carry the forces that hold the joints at rest."""
        if self._model.has_rows:
            raise ArgumentError(
                f"robot {self.name!r} has loops or constraints, which carry a share of the load, so that no force of a spring "
                "follows from q; give q of all coordinates"
            )
        q, still = self._motors_with_joints(q.copy()), np.zeros(self.nv)
        tau = self.inverse_dynamics(q, still, still)  # type: ignore[attr-defined]
        for term in self._springs_with_motors():
            joint, motor = map(self.joint, term.wound)
            held = tau[..., joint.v_slice.start] + term.law.torque(0.0, 0.0)
            q[..., motor.q_slice.start] = q[..., joint.q_slice.start] + term.law.deflection(held)
        return q

    def _start_of_x(self, x: ArrayLike | None) -> Array:
        """x as given, or where it starts."""
        start = np.array([s for term in self._model.terms for s in term.states(self._model).start], float)
        if x is None:
            return start
        given: Array = as_array("x", x, self.state_names, np.float64)
        if not given.ndim or given.shape[-1] != len(start) or not np.isfinite(given).all():
            raise ArgumentError(f"x must be finite numbers of shape (..., {len(start)}), not {x!r}")
        return given

    def _springs_with_motors(self) -> list[JointSpring]:
        return [term for term in self._model.terms if isinstance(term, JointSpring) and term.motor is not None]

    def energies(self, q: ArrayLike, v: ArrayLike, *, x: ArrayLike | None = None) -> dict[str, Any]:
        """``kinetic``, ``potential``, and the energy that each term of the robot stores, by its name [J].

        ``x`` are the first-order states of its terms, such as bristles, by default at their start.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link().with_springs({"joint2": ts.flexible.Spring(100.0)})
        >>> float(robot.energies([0.0, 0.2], [0.0, 0.0])["joint2 spring"].round(9))
        2.0
        """
        refuse(self._model, "energies")
        extra = {"x": self._start_of_x(x)} if self.state_names else None
        found = self._run("term_energies", (q, v), extra=extra)
        names = ("kinetic", "potential", *(term.name for term in self._model.terms))
        return {name: found[..., k] for k, name in enumerate(names)}

    @quantity_method
    def contact_gap(self, q: ArrayLike, *, time: ArrayLike | None = None, out: Array | None = None) -> Array:
        """φ(q), ``(contacts,)``: the distances of the robot's contact shapes from their surfaces [m], negative inside.

        They are in the order of ``robot.terms`` and of the points of each; ``time`` [s] is that of a base in motion.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link().with_contacts(ts.contacts.point("tip"), ts.contacts.plane((0, 1, 0)), friction=0.5)
        >>> robot.contact_gap([0.5, 0.0]).round(3)
        array([0.959])
        """

    def motor_motion(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, jerk: ArrayLike, snap: ArrayLike) -> MotorMotion:
        """(q, v, a, τ) of joints and motors, from a motion of the joints with its third and fourth derivative (De Luca 1988).

        θ = q + δ(τ_e), with τ_e = M a + h of the joints, and its two rates; τ = τ_e + B θ̈ at the motors.  Each argument is of
        the robot's joints alone, or of all coordinates.  Across a damped spring the deflection is a state: there q is of all
        coordinates, with the motor's position, and the snap is not needed.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link().with_springs(ts.flexible.SeriesSpring(981.0, rotor_inertia=0.2))
        >>> robot.motor_motion(*[[0.0, 0.0]] * 5).q.round(4)
        array([0.  , 0.  , 0.03, 0.01])
        """
        for term in self._springs_with_motors():
            if term.law.has_damping and not isinstance(term.law, Spring):
                raise ArgumentError(f"joint {term.joint!r} has a law with damping, whose rate does not follow from its force")
            if term.law.has_damping and np.shape(q)[-1:] != (self.nq,):
                raise ArgumentError(
                    f"joint {term.joint!r} has a damped spring, so the motor's position does not follow from the motion; "
                    f"give q of all {self.nq} coordinates"
                )
        rates = (self._complete(word, x, np.zeros(self.nv)) for word, x in (("v", v), ("a", a), ("jerk", jerk), ("snap", snap)))
        return MotorMotion(*self._kernels("motion_with_motors")(self._complete("q", q, self.neutral()), *rates))
