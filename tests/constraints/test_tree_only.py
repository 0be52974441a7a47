"""Robots with loops: motions obey them, M, h and g are those of the tree, and what is not written for loops is refused."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import torsor as ts
from torsor import large, mechanisms, symbolic
from torsor.kernels.quantities import CONSTRAINED
from torsor.model.terms.capabilities import TABLE
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


@pytest.mark.parametrize("name", [name for name, row in CONSTRAINED.items() if row.capability in TABLE["constraint"]])
def test_kernels_that_ignore_loops_are_refused_with_the_reason_of_the_table(bars, name):
    with pytest.raises(ts.ArgumentError, match=r"^pin of robot 'four_bar' does not have ") as caught:
        bars.kernel(WORDS.get(name, name))
    assert TABLE["constraint"][CONSTRAINED[name].capability] in str(caught.value)
    assert "robot.without_terms('pin')" in str(caught.value)


@pytest.mark.parametrize(
    "name", [name for name, row in CONSTRAINED.items() if not (row.capability or row.follows_terms) and "q" in row.inputs]
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
    refused = {name for name, row in CONSTRAINED.items() if row.capability}
    assert refused == {
        "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "hybrid_acceleration", "hybrid_force",
        "motor_torque", "gear_torque", "manipulability", "payload_capacity", "force_torque", "joint_torque_sensor",
        "motion_with_motors",
    }  # fmt: skip


CALLS = {
    "hybrid_dynamics": lambda r, q, v, a: r.hybrid_dynamics(q, v, a, a, ["crank"]),
    "large": lambda r, q, v, a: large.LargeTree.of(r),
    "lagrange": lambda r, q, v, a: symbolic.lagrange_of(r),
    "kane": lambda r, q, v, a: symbolic.kane_of(r),
    "copy": lambda r, q, v, a: ts.to_pinocchio(r),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_that_ignore_loops_are_refused_with_alternatives(bars, state, name):
    with pytest.raises(ts.ArgumentError, match=r"pin of robot 'four_bar' does not have .*: .*robot\.without_terms\('pin'\)"):
        CALLS[name](bars, *state)


def numbers(x):
    """The arrays of a result, one after the other."""
    parts = [getattr(x, f.name) for f in fields(x)] if is_dataclass(x) else x
    arrays = [p for p in parts if isinstance(p, np.ndarray)] if isinstance(parts, (list, tuple)) else [parts]
    return np.concatenate([np.ravel(p) for p in arrays])


OF_THE_TREE = {
    "newton_euler_table": lambda r, q, v, a: r.newton_euler_table(q, v, a).tau,
    "stacked_equations": lambda r, q, v, a: r.stacked_equations(q, v, a),
    "operators": lambda r, q, v, a: r.operators(q, v).M.toarray(),
    "innovations": lambda r, q, v, a: r.innovations(q).half_times(v),
    "torque_ellipsoid": lambda r, q, v, a: r.torque_ellipsoid(q).matrix,
    "acceleration_ellipsoid": lambda r, q, v, a: r.acceleration_ellipsoid(q).matrix,
    "centrifugal_and_coriolis": lambda r, q, v, a: symbolic.centrifugal_and_coriolis(r, q, v),
    "three_index_symbols": lambda r, q, v, a: symbolic.three_index_symbols(r, q),
    "passivity_matrix": lambda r, q, v, a: symbolic.passivity_matrix(r, q, v),
}


@pytest.mark.parametrize("name", OF_THE_TREE)
def test_forms_of_the_textbook_are_those_of_the_tree(bars, state, name):
    with_loop, tree = (numbers(OF_THE_TREE[name](r, *state)) for r in (bars, bars.without_loops()))
    assert (with_loop == tree).all()


def test_ellipsoid_of_m_says_that_it_is_of_the_tree(bars, state):
    assert "of the tree" in str(bars.torque_ellipsoid(state[0]))
    assert "of the tree" not in str(bars.without_loops().torque_ellipsoid(state[0]))


def test_effective_mass_of_a_closed_robot_obeys_its_loops(bars, state):
    """Λ⁻¹ = J M⁻¹(1 − Aᵀ(A M⁻¹Aᵀ)⁻¹A M⁻¹) Jᵀ: accelerations from rest, without gravity, under a force at the frame."""
    q = state[0]
    tip = bars.acceleration_ellipsoid(q, "coupler", ("vx", "vy"))
    A, J = bars.constrained().jacobian(q)[list(bars.constrained().independent_rows)], bars.jacobian(q, "coupler")[3:5]
    M = bars.mass_matrix(q)
    saddle = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    force = np.vstack([J.T, np.zeros((len(A), 2))])
    np.testing.assert_allclose(tip.matrix, J @ np.linalg.solve(saddle, force)[:3], rtol=0, atol=1e-10)
    assert "cannot move" in tip.report  # along one direction: the four-bar has one degree of freedom


def test_velocity_ellipsoid_of_a_closed_robot_has_the_velocities_that_the_loop_allows(bars, state):
    q, v, _ = state
    found = bars.velocity_ellipsoid(q, "coupler", ("vx", "vy"))
    V = bars.jacobian(q, "coupler")[3:5] @ (v / np.linalg.norm(v))
    assert found.lengths == pytest.approx([np.linalg.norm(V), 0], abs=1e-12)
    assert abs(found.axes[:, 0] @ V) == pytest.approx(np.linalg.norm(V))


def test_gravity_compensation_of_a_closed_robot_holds_it_with_its_drives(bars, state):
    q, rest = state[0], np.zeros(3)
    for drives in (["crank"], ["rocker"], ["crank", "rocker"]):
        robot = bars.with_actuated(drives)
        tau = np.array(control.gravity_compensation(robot)(q=q), float)
        assert [name for name, x in zip(bars.joints, tau, strict=True) if x] == drives
        np.testing.assert_allclose(robot.forward_dynamics(q, rest, tau), 0, atol=1e-9)


def test_computed_torque_of_a_closed_robot_gives_the_acceleration(bars, state):
    q, v, _ = state
    a = bars.forward_dynamics(q, v, [0.7, 0, 0])
    robot = bars.with_actuated(["crank"])
    law = control.computed_torque(robot)
    tau = law(q=q, v=v, target=q, kp=0.0, kd=0.0, target_velocity=v, target_acceleration=a)
    np.testing.assert_allclose(np.array(tau, float), [0.7, 0, 0], atol=1e-9)
    hold = ts.Controller(control.pd_with_gravity(robot), parameters={"target": q, "kp": 1.0, "kd": 0.1})
    run = robot.rollout(q, v, dt=1e-3, steps=3, controller=hold)
    assert np.isfinite(run.q).all()


def test_controllers_without_time_refuse_rows_that_depend_on_it():
    plane = ts.constraints.point_on_plane("tip", normal=(0, 1, 0))
    driven = ts.robots.two_link().with_constraints(ts.constraints.prescribed(plane, lambda t: [0.1 * t]))
    for law in (control.gravity_compensation, control.computed_torque):
        with pytest.raises(
            ts.ArgumentError, match="does not have a result that does not depend on time: its rows depend on it"
        ):
            law(driven)


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
