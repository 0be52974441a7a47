"""Robots with loops: motions obey them, M, h and g are those of the tree, and what is not written for loops is refused."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor import large, mechanisms, symbolic
from torsor.kernels.quantities import CONSTRAINED
from torsor.simulate import control

#: arguments that some quantities need
WORDS = {name: f"{name}:coupler" for name, row in CONSTRAINED.items() if {"frame", "at"} & set(row.words)}


@pytest.fixture(scope="module")
def bars():
    return mechanisms.four_bar()


@pytest.fixture(scope="module")
def state(bars):
    q = bars.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    return q, bars.constrained().project_velocity(q, [6.0, 0, 0]), np.zeros(3)


@pytest.mark.parametrize("name", [name for name, row in CONSTRAINED.items() if row.under_loops and "_derivatives" not in name])
def test_kernels_that_ignore_loops_are_refused(bars, name):
    with pytest.raises(ts.ArgumentError, match=r"'four_bar' has loops, and " + name) as caught:
        bars.kernel(WORDS.get(name, name))
    assert CONSTRAINED[name].under_loops in str(caught.value)
    assert "robot.without_loops()" in str(caught.value)


@pytest.mark.parametrize(
    "name", [name for name, row in CONSTRAINED.items() if not (row.under_loops or row.follows_terms) and "q" in row.inputs]
)
def test_kernel_of_a_result_of_the_tree_is_recorded(bars, name):
    """The recorded program equals that of the tree, operation by operation."""
    spec = WORDS.get(name, name)
    assert bars.program(spec).operations == bars.without_loops().program(spec).operations


@pytest.mark.parametrize("name", ["mass_matrix", "mass_matrix_inverse", "gravity_force", "bias_force", "velocity_force"])
def test_textbook_quantities_are_those_of_the_tree_and_say_so(bars, state, name):
    given = state[: 1 if name in ("mass_matrix", "mass_matrix_inverse", "gravity_force") else 2]
    assert (getattr(bars, name)(*given) == getattr(bars.without_loops(), name)(*given)).all()
    assert "of the tree" in getattr(type(bars), name).__doc__


def test_dynamics_of_a_robot_with_loops_obey_them(bars, state):
    q, v, _ = state
    tau = np.array([0.5, 0.1, -0.2])
    a, system = bars.forward_dynamics(q, v, tau), bars.constrained()
    np.testing.assert_allclose(system.jacobian(q) @ a, -system.drift(q, v), atol=1e-9)
    driven = bars.with_actuated(["crank"])
    np.testing.assert_allclose(bars.forward_dynamics(q, v, driven.inverse_dynamics(q, v, a)), a, rtol=1e-10)
    with pytest.raises(ts.ArgumentError, match=r"this acceleration violates the constraint 'pin: vx'"):
        bars.inverse_dynamics(q, v, np.zeros(3))


def test_what_the_table_refuses_under_loops_is_listed():
    """Each is one that issue 28 has not reached yet; a row that is removed from this list is progress."""
    refused = {name for name, row in CONSTRAINED.items() if row.under_loops}
    assert refused == {
        "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "hybrid_acceleration", "hybrid_force",
        "motor_torque", "gear_torque", "manipulability", "payload_capacity", "force_torque", "joint_torque_sensor",
        "motion_with_motors",
    }  # fmt: skip


CALLS = {
    "hybrid_dynamics": lambda r, q, v, a: r.hybrid_dynamics(q, v, a, a, ["crank"]),
    "newton_euler_trace": lambda r, q, v, a: r.newton_euler_table(q, v, a),
    "stacked": lambda r, q, v, a: r.stacked_equations(q),
    "symbolic": lambda r, q, v, a: r.symbolic(),
    "centrifugal_and_coriolis": lambda r, q, v, a: symbolic.centrifugal_and_coriolis(r, q, v),
    "operators": lambda r, q, v, a: r.operators(q),
    "innovations": lambda r, q, v, a: r.innovations(q),
    "large": lambda r, q, v, a: large.LargeTree.of(r),
    "torque_ellipsoid": lambda r, q, v, a: r.torque_ellipsoid(q),
    "acceleration_ellipsoid": lambda r, q, v, a: r.acceleration_ellipsoid(q),
    "mass_ellipsoid": lambda r, q, v, a: r.mass_ellipsoid(q, "coupler", ("vx", "vy")),
    "gravity_compensation": lambda r, q, v, a: control.gravity_compensation(r),
    "pd_with_gravity": lambda r, q, v, a: control.pd_with_gravity(r),
    "computed_torque": lambda r, q, v, a: control.computed_torque(r),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_results_that_ignore_loops_are_refused_with_alternatives(bars, state, call):
    with pytest.raises(ts.ArgumentError, match=r"has loops, and .*robot\.constrained\(.*robot\.without_loops"):
        call(bars, *state)


def test_constrained_inverse_dynamics_uses_the_tree(bars, state):
    """Virtual work: the drive's power is the rate of energy, with M a of the mechanism and P by differences."""
    q, v, _ = state
    system = bars.constrained()
    a = system.forward_dynamics(q, v, [0.5, 0, 0]).a
    assert system.inverse_dynamics(q, v, a, actuated=["crank"]) == pytest.approx([0.5, 0, 0], abs=1e-9)
    h = 1e-5
    ahead, back = (bars.integrate(q, v + s * a * h / 2, s * h) for s in (1, -1))
    energy = [bars.kinetic_energy(x, v + s * a * h) + bars.potential_energy(x) for x, s in ((ahead, 1), (back, -1))]
    assert (energy[0] - energy[1]) / (2 * h) == pytest.approx(0.5 * v[0], rel=1e-6)


def test_stewart_legs_carry_equal_shares_of_the_weight():
    stewart = mechanisms.stewart_platform()
    legs, q, rest = [f"leg{k}" for k in range(1, 7)], stewart.neutral(), np.zeros(stewart.nv)
    tau = stewart.constrained().inverse_dynamics(q, rest, rest, actuated=legs)
    carried = np.array([tau[stewart.joint(leg).v_slice][0] for leg in legs])
    assert carried == pytest.approx(carried[0], rel=1e-9)
    h, height = 1e-6, stewart.potential_energy
    for d in stewart.constrained().mobility(q).motions:  # virtual work of every motion: Σ f_leg d_leg = dP
        rise = (height(stewart.integrate(q, d, h)) - height(stewart.integrate(q, d, -h))) / (2 * h)
        assert tau @ d == pytest.approx(rise, abs=1e-6 * np.abs(tau).max() * np.abs(d).max())
