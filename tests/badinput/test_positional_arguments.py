"""Arguments whose order is easy to confuse are keyword-only, so a swap is an error and not a wrong result."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.actuators import PID, Drive, Gearbox, Motor, load_acceleration
from torsor.algorithms.friction import friction_force
from torsor.flexible import Beam, SeriesSpring, Spring, SpringLaw
from torsor.mechanics.operators import operators
from torsor.model.actuators import sizing
from torsor.model.friction import Coulomb, LuGre
from torsor.simulate.stiction import dry_friction
from torsor.symbolic import point_force

TWO = np.zeros(2)
MOTOR = Motor(torque_constant=0.05, resistance=0.5)
CALLS = {
    "an inertia for a second efficiency": lambda: Gearbox(50, 0.8, 0.7),
    "a filter time for a limit of the integral": lambda: PID(100.0, 20.0, 5.0, 0.01),
    "q, v for v, load": lambda: ts.robots.two_link().friction_force(TWO, TWO),
    "q, v for v, load of the algorithm": lambda: friction_force(ts.robots.two_link().model, TWO, TWO),
    "q, v for v, load of stiction": lambda: dry_friction(ts.robots.two_link().model, TWO, TWO),
    "v, load for z, v of LuGre": lambda: Coulomb(1.0).force(0.1, 5.0),
    "v, load of LuGre": lambda: LuGre(Coulomb(1.0), 1e4).force(0.1, 5.0, 1.0),
    "tau for a task force": lambda: ts.robots.two_link().task("tip", ("vx", "vy")).forward_dynamics(TWO, TWO, TWO),
    "a null torque": lambda: ts.robots.two_link().task("tip", ("vx", "vy")).inverse_dynamics(TWO, TWO, TWO, TWO),
    "a for tau": lambda: operators(ts.robots.two_link(), TWO, TWO, TWO),
    "a for tau of a robot": lambda: ts.robots.two_link().operators(TWO, TWO, TWO),
    "multipliers for wrenches": lambda: ts.robots.two_link().constrained().inverse_dynamics(TWO, TWO, TWO, None, TWO),
    "a rest angle of a spring": lambda: Spring(100.0, 1.0, 0.1),
    "torques for speeds": lambda: sizing.size_motor(Drive(MOTOR), np.ones(3), np.ones(3), 0.1),
    "an inertia for a torque": lambda: load_acceleration(10, 1.0, 0.5, 0.005),
    "an acceleration of a drive": lambda: Drive(MOTOR).motor_torque(1.0, 2.0, 3.0),
    "a rate of current": lambda: MOTOR.voltage(1.0, 2.0, 3.0),
    "a rotor of a spring": lambda: SeriesSpring(100.0, 1.0, 0.1),
    "an inverse for a stored energy": lambda: SpringLaw(lambda d, rate: d, lambda t: t),
    "numbers of a beam": lambda: Beam(1.0, 0.5, 20.0, 20.0, 5.0, 0.1),
    "a terminal event for a direction": lambda: ts.simulate.Event(lambda t, q, v: q[0], True),
    "a point for a normal": lambda: ts.constraints.point_on_plane("tip", (1, 0, 0), (0, 0, 1)),
    "a point for a direction": lambda: ts.constraints.point_on_line("tip", (1, 0, 0), (0, 0, 1)),
    "angles for a place": lambda: ts.constraints.fixed_pose("tip", (0, 0, 1), (0, 0, 0)),
    "an offset of a coupling": lambda: ts.constraints.coupling("joint1", "joint2", 2.0, 0.1),
    "a force for a point": lambda: point_force(ts.robots.two_link(), TWO, "tip", (0, 0, 1), (0, 0, 1)),
    "a diagonal for a centre of mass": lambda: ts.Builder("r").link("a", 1.0, (1, 2, 3)),
    "an inertia after a centre of mass": lambda: ts.rigid.from_com(1.0, (0, 0, 0), (1, 2, 3)),
    "angles of a frame": lambda: ts.Builder("r").link("a").frame("f", "a", (0, 0, 0), (0, 0, 1)),
    "a centre of mass of a payload": lambda: ts.robots.two_link().with_payload("tip", 1.0, (0, 0, 1)),
    "lengths of a linkage": lambda: ts.mechanisms.four_bar(1.0, 0.4, 0.9, 0.8),
    "lengths of a Delta robot": lambda: ts.mechanisms.delta_robot(0.2, 0.3, 0.7, 0.08),
    "masses and lengths of an arm": lambda: ts.robots.two_link(1.0, 1.0, 0.5, 0.5),
    "masses and inertias of a Furuta pendulum": lambda: ts.robots.furuta(1.0, 1.0, 0.5, 0.5, 0.1, 0.1),
    "a tool of a DH table": lambda: ts.from_dh([{"a": 1.0, "mass": 1.0}], "standard", "arm", (0, 0, -9.81), (0, 0, 0.1)),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_positional_argument_whose_meaning_is_unclear_is_refused(call):
    with pytest.raises(TypeError, match="positional"):
        call()
