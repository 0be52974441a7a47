"""Standard controllers over any scalar: they run on numbers, and are recorded into a rollout.

Each maker takes a robot and returns a plain function of named arguments.  In a rollout, gains and targets are its parameters;
elsewhere ``functools.partial`` binds them.  A gain is one number or one per degree of freedom.

>>> import torsor as ts
>>> arm = ts.robots.two_link()
>>> [round(float(x), 2) for x in gravity_compensation(arm)(q=[0.0, 0.0])]
[29.43, 9.81]
>>> pd(arm)(q=[0.0, 0.0], v=[0.5, 0.0], target=[1.0, 0.0], kp=10.0, kd=2.0)
[9.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms import rnea
from torsor.algorithms.configuration import difference
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.constrained import inverse_dynamics
from torsor.errors import ArgumentError
from torsor.kernels.one_state import one_state
from torsor.model.description import FLOATING_BASE
from torsor.model.regrouping import with_fewest_parameters
from torsor.model.terms.capabilities import refuse
from torsor.simulate.controller_functions import record_once

if TYPE_CHECKING:
    from torsor.robot import Robot

#: q, v and parameters by name → τ (nv)
Law: TypeAlias = Callable[..., list[Any]]


def gravity_compensation(robot: Robot) -> Law:
    """(q) → g(q): gravity compensation; the robot stays at rest in any configuration (MR 8.10).

    Under loops and other constraints, the forces at the drives that hold the weight of the bodies.
    """
    inverse, rest = _inverse_dynamics(robot), [0] * robot.nv

    @record_once
    def floats(q: Any) -> list[Any]:
        return inverse(list(q), rest, rest)

    return floats


def pd(robot: Robot) -> Law:
    """(q, v, target, kp, kd) → kp (target ⊖ q) − kd v [N·m, N]: a spring and a damper at each joint."""
    model = robot.model

    @record_once
    def spring(q: Any, v: Any, target: Any, kp: Any, kd: Any) -> list[Any]:
        e = difference(model, list(q), list(target))
        return _spring_damper(e, v, kp, kd)

    return spring


def pd_with_gravity(robot: Robot) -> Law:
    """(q, v, target, kp, kd) → kp (target ⊖ q) − kd v + g(q): in equilibrium at the target."""
    spring, gravity = pd(robot), gravity_compensation(robot)

    @record_once
    def pd_and_gravity(q: Any, v: Any, target: Any, kp: Any, kd: Any) -> list[Any]:
        return [s + g for s, g in zip(spring(q, v, target, kp, kd), gravity(q), strict=True)]

    return pd_and_gravity


def computed_torque(robot: Robot) -> Law:
    """(q, v, target, kp, kd, target_velocity, target_acceleration) → M(q) (a_d + kp e + kd ė) + h(q, v), e = target ⊖ q.

    Inverse dynamics of the desired acceleration: the error decays as ë + kd ė + kp e = 0, kp [1/s²], kd [1/s].  Without a
    target velocity and acceleration, both are zero.  Under loops and other constraints, the forces at the drives.
    """
    inverse, tree, nv = _inverse_dynamics(robot), robot.model, robot.nv

    @record_once
    def tracks(
        q: Any, v: Any, target: Any, kp: Any, kd: Any, target_velocity: Any = 0, target_acceleration: Any = 0
    ) -> list[Any]:
        e = difference(tree, list(q), list(target))
        vd, ad = _value_per_dof(target_velocity, nv), _value_per_dof(target_acceleration, nv)
        wanted = _spring_damper(e, [x - y for x, y in zip(v, vd, strict=True)], kp, kd)
        return inverse(list(q), list(v), [a + w for a, w in zip(ad, wanted, strict=True)])

    return tracks


def pd_with_mass_matrix(robot: Robot, target: ArrayLike | None = None, frequency: float = 1.0) -> Callable[..., np.ndarray]:
    """(t, q, v) → M(q) (ω² (target ⊖ q) − 2 ω v) + g(q), ω = 2π frequency [Hz]: critically damped, equal at every joint.

    A control of ``robot.simulate``; frequency 0 is gravity compensation alone.  The target is by default the neutral
    configuration, clipped to the limits.  A floating base is not driven: its rows of τ are zero.  Every other joint is driven,
    so that loops do not change τ.

    >>> import torsor as ts
    >>> arm = ts.robots.two_link()
    >>> pd_with_mass_matrix(arm, frequency=0)(0.0, [0.0, 0.0], [0.0, 0.0])
    array([29.43,  9.81])
    """
    if not isinstance(frequency, (int, float)) or not 0 <= frequency < float("inf"):
        raise ArgumentError(f"frequency must be a number from 0 [Hz], not {frequency!r}")
    (goal,) = one_state(robot, q=robot.clip(robot.neutral()) if target is None else target)
    both, omega, nv = robot.kernel("mass_matrix", "gravity_force"), 2 * np.pi * frequency, robot.nv
    base = robot.joint(FLOATING_BASE).v_slice if robot.description.floats else slice(0, 0)

    def control(t: float, q: Any, v: Any) -> np.ndarray:
        M, g = both(q)
        a = omega**2 * robot.difference(q, goal) - 2 * omega * np.asarray(v) if omega else np.zeros(nv)
        a[base] = 0.0
        a[base] = -np.linalg.solve(M[base, base], M[base] @ a + g[base])
        tau = M @ a + g
        tau[base] = 0.0
        return tau

    return control


def _inverse_dynamics(robot: Robot) -> Callable[..., list[Any]]:
    """(q, v, a) → M a + h of the bodies; with constraints, the forces at the drives that have the same effect."""
    if not robot.model.has_rows:
        return partial(rnea, with_fewest_parameters(robot.model))
    refuse(robot.model, "without time")
    e = EquationOfMotion(robot.model, robot.constrained().independent_rows)
    held = e.with_terms(e.constraints)
    return lambda q, v, a: inverse_dynamics(held, q, v, a)[0]


def _spring_damper(e: list[Any], v: Any, kp: Any, kd: Any) -> list[Any]:
    n = len(e)
    return [p * x - d * y for p, x, d, y in zip(_value_per_dof(kp, n), e, _value_per_dof(kd, n), v, strict=True)]


def _value_per_dof(k: Any, n: int) -> list[Any]:
    """One gain for all degrees of freedom, or one per degree of freedom."""
    return list(k) if hasattr(k, "__len__") else [k] * n
