"""Robots with loops: results that hold only for the tree are refused, all others are those of the tree."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor import large, mechanisms, symbolic
from torsor.kernels.quantities import QUANTITIES
from torsor.simulate import control

#: arguments that some quantities need
WORDS = {name: f"{name}:coupler" for name, row in QUANTITIES.items() if {"frame", "at"} & set(row.words)}


@pytest.fixture(scope="module")
def bars():
    return mechanisms.four_bar()


@pytest.fixture(scope="module")
def state(bars):
    q = bars.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    return q, bars.constrained().project_velocity(q, [6.0, 0, 0]), np.zeros(3)


@pytest.mark.parametrize("name", [name for name, row in QUANTITIES.items() if row.under_loops])
def test_kernels_that_ignore_loops_are_refused(bars, name):
    with pytest.raises(ts.ArgumentError, match=r"'four_bar' has loops, and " + name) as caught:
        bars.kernel(WORDS.get(name, name))
    assert QUANTITIES[name].under_loops in str(caught.value)
    assert "robot.without_loops()" in str(caught.value)


@pytest.mark.parametrize("name", [name for name, row in QUANTITIES.items() if not row.under_loops and "q" in row.inputs])
def test_kernel_of_a_result_that_holds_under_loops_is_recorded(bars, name):
    """The recorded program equals that of the tree, operation by operation."""
    spec = WORDS.get(name, name)
    assert bars.program(spec).operations == bars.without_loops().program(spec).operations


def test_every_joint_force_of_the_table_is_refused_under_loops():
    """Joint forces of the tree are those of the mechanism only for λ = 0; losses of single joints are not affected."""
    refused = {name for name, row in QUANTITIES.items() if row.under_loops}
    forces = {name for name in QUANTITIES if name.endswith(("_force", "_torque", "_dynamics", "_dynamics_derivatives"))}
    others = {
        "mass_matrix_inverse",
        "mass_matrix_solve",
        "reaction_wrenches",
        "joint_torque_sensor",
        "hybrid_acceleration",
        "step",
    }
    others |= {"manipulability", "payload_capacity", "inverse_dynamics_regressor"}
    assert refused == forces - {"damping_force", "friction_force"} | others


CALLS = {
    "inverse_dynamics": lambda r, q, v, a: r.inverse_dynamics(q, v, a),
    "inverse_dynamics with options": lambda r, q, v, a: r.with_damping(True).inverse_dynamics(q, v, a, {"coupler": np.ones(6)}),
    "gravity_force": lambda r, q, v, a: r.gravity_force(q),
    "bias_force": lambda r, q, v, a: r.bias_force(q, v),
    "velocity_force": lambda r, q, v, a: r.velocity_force(q, v),
    "mass_matrix_inverse": lambda r, q, v, a: r.mass_matrix_inverse(q),
    "reaction_wrenches": lambda r, q, v, a: r.reaction_wrenches(q, v, a),
    "hybrid_dynamics": lambda r, q, v, a: r.hybrid_dynamics(q, v, a, a, ["crank"]),
    "explain": lambda r, q, v, a: r.explain(q, v, a),
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
    "task": lambda r, q, v, a: r.task("coupler", ("vx", "vy")).mass_matrix(q),
    "export_python": lambda r, q, v, a: r.export_python("/nonexistent/x.py", "gravity_force"),
    "gravity_compensation": lambda r, q, v, a: control.gravity_compensation(r),
    "pd_with_gravity": lambda r, q, v, a: control.pd_with_gravity(r),
    "computed_torque": lambda r, q, v, a: control.computed_torque(r),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_results_that_ignore_loops_are_refused_with_alternatives(bars, state, call):
    with pytest.raises(ts.ArgumentError, match=r"has loops, and .*robot\.constrained\(.*robot\.without_loops\(\)"):
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
