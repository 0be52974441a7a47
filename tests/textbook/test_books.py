"""Rows of docs/textbook.md that other files do not execute, and the misprints of the books: printed form against right form."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests import trees
from tests.tolerance import assert_close
from torsor.actuators import Drive, Gearbox, Motor
from torsor.algorithms.kinematics import joints, velocities
from torsor.algorithms.rnea import outward
from torsor.compat import modern_robotics as mr
from torsor.robot import Robot
from torsor.spatial import Motion

RNG = np.random.default_rng(27)


# -- MR 8.51, 8.52 -----------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 200))
def test_recursion_of_angular_and_linear_accelerations_equals_the_printed_form(seed):
    """V = Ad(V_λ) + S q̇, V̇ = Ad(V̇_λ) + ad_V(S) q̇ + S q̈ (8.51, 8.52; F&O 3, 4, with the joint's own ḣ), and (ω, α, a)."""
    robot = Robot(trees.random_tree(seed, bodies=5))
    model = robot.model
    q, v, a = (x.tolist() for x in trees.state(robot, seed))
    X, S = joints(model, q)
    V, A = velocities(model, X, S, v), outward(model, q, v, a).A
    qs, vs, rates = model.configuration(q), model.rates(v), model.rates(a)
    dV = [Motion.of([0, 0, 0, *(-x for x in model.gravity)])]  # V̇₀ = (0, −g)
    for i, p in model.outward():
        vJ = S[i] @ vs[i]
        dV.append(X[i] @ dV[p] + V[i].cross(vJ) + S[i] @ rates[i] + model.joint[i].bias(qs[i], vs[i]))  # MR 8.52
        linear = A[i].a - A[i].w.cross(V[i].v)
        assert_close([*A[i].w], [*V[i].w], floor=1)  # MR 8.51
        assert_close([*A[i].alpha, *linear], [*dV[i].w, *dV[i].v], 1e-11, floor=1)


# -- MR 8.5, 8.6, 8.9.1 ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ur5():
    return ts.robots.ur5()


Q6, V6, A6 = np.array([0.3, -1.0, 1.2, 0.4, 0.9, 0.1]), np.array([0.2, -0.4, 0.1, 0.3, -0.2, 0.5]), np.arange(6.0)


def test_mass_matrix_column_by_column_from_inverse_dynamics(ur5):
    """§8.5 and method 1 of Walker & Orin: τ at θ̇ = 0, g = 0 and unit accelerations."""
    still = ur5.with_gravity((0, 0, 0))
    columns = [still.inverse_dynamics(Q6, np.zeros(6), unit) for unit in np.eye(6)]
    assert_close(np.transpose(columns), ur5.mass_matrix(Q6))
    differences = [ur5.inverse_dynamics(Q6, V6, unit) - ur5.inverse_dynamics(Q6, V6, np.zeros(6)) for unit in np.eye(6)]
    assert_close(np.transpose(differences), ur5.mass_matrix(Q6), 1e-11)  # F&O §3.2, with velocities that cancel


def test_euler_integration_equals_the_algorithm_of_section_8_5():
    """θ[k+1] = θ[k] + θ̇[k] δt, θ̇[k+1] = θ̇[k] + θ̈[k] δt; `step`, and the book's ForwardDynamicsTrajectory."""
    arm, dt, n = ts.robots.two_link(), 0.01, 8
    tau = RNG.normal(size=(n, 2))
    theta, rate = np.array([0.3, 0.5]), np.array([0.1, -0.2])
    q, v = theta, rate
    path = [(theta, rate)]
    for torque in tau:
        q, v = arm.step(q, v, torque, dt, integrator="euler")
        theta, rate = theta + rate * dt, rate + arm.forward_dynamics(theta, rate, torque) * dt
        path.append((theta, rate))
        assert_close(np.r_[q, v], np.r_[theta, rate], 1e-13)
    Mlist, Glist, Slist = ts.to_mr(arm, "tip")
    found = mr.ForwardDynamicsTrajectory(
        *path[0], tau, arm.model.gravity, np.zeros((n, 6)), Mlist, Glist, Slist, dt, 1
    )  # fmt: skip
    assert_close(np.hstack(found), [np.r_[p] for p in map(np.hstack, path[:n])], 1e-12)


def test_joint_acceleration_of_a_task_acceleration_equals_mr_8_86(ur5):
    J, rate = ur5.jacobian(Q6, "tool0"), ur5.jacobian_rate(Q6, V6, "tool0")
    V, dV = J @ V6, RNG.normal(size=6)
    inverse = np.linalg.inv(J)
    found = ur5.task("tool0").joint_acceleration(Q6, V6, dV)
    assert_close(found, inverse @ dV - inverse @ rate @ inverse @ V, condition=np.linalg.cond(J))
    assert_close(ur5.task("tool0").constrained_dynamics(Q6, V6, A6, dV).a, found, 1e-10, np.linalg.cond(J))


def test_joint_acceleration_of_a_redundant_robot_has_the_least_norm_in_the_metric_m():
    arm = ts.robots.ur5()
    hand = arm.task("tool0", "linear")
    a = hand.joint_acceleration(Q6, V6, [1.0, 2.0, 3.0])
    assert_close(hand.acceleration(Q6, V6, a), [1.0, 2.0, 3.0], 1e-11)
    null = np.linalg.svd(hand.jacobian(Q6))[2][3:]
    assert_close(null @ arm.mass_matrix(Q6) @ a, np.zeros(3), 1e-11, scale=np.abs(arm.mass_matrix(Q6) @ a).max())


def test_motor_and_gear_formulas_of_section_8_9_1():
    """Over symbols: the formulas between Figures 8.11 and 8.13."""
    k, R, L, I, w, Vmax, tau, V, G, rate = sympy.symbols("k_t R L I w V_max tau V G dI", positive=True)
    motor = Motor(torque_constant=k, resistance=R, inductance=L, max_voltage=Vmax)
    assert motor.torque(I) == k * I
    assert motor.current(tau) == tau / k
    assert motor.heat(I) == I**2 * R
    balance = motor.electrical_power(I, w, current_rate=rate) - (motor.torque(I) * w + motor.heat(I) + L * I * rate)
    assert sympy.expand(balance) == 0  # I V = τ w + I²R + L I dI/dt
    assert sympy.expand(motor.speed(tau, V) - (V / k - R / k**2 * tau)) == 0
    assert sympy.simplify(motor.no_load_speed - Vmax / k) == 0
    assert sympy.simplify(motor.stall_torque - k * Vmax / R) == 0
    gear = Gearbox(G)
    assert gear.output_speed(w) == w / G
    assert sympy.simplify(gear.output_torque(tau, w) - G * tau) == 0


def test_rated_power_and_gear_efficiency_of_section_8_9_1():
    motor = Motor(torque_constant=0.05, resistance=0.5, max_voltage=24, max_current=20, continuous_current=6)
    w_cont = 24 / 0.05 - 0.5 / 0.05**2 * (0.05 * 6)  # on the speed–torque curve at τ_cont
    assert_close(motor.rated.power, 0.05 * 6 * w_cont)
    assert_close(Gearbox(50, 0.8).output_torque(0.2, 1.0), 0.8 * 50 * 0.2)  # τ_gear = η G τ_motor
    assert_close(Drive(motor, Gearbox(2)).no_load_speed, 24 / 0.05 / 2)  # Figure 8.13


# -- ASADA 7.1.1–7.1.10 ------------------------------------------------------------------------------------------

ASADA = {"m1": 2.0, "m2": 3.0, "L1": 0.8, "L2": 1.1, "lc1": 0.35, "lc2": 0.6, "I1": 0.11, "I2": 0.07}


@pytest.fixture(scope="module")
def example_7_1():
    """The arm of Figure 7.1.2 at a state: points, motions of the centroids, coupling forces and moments, in the base frame."""
    arm = ts.robots.two_link(**ASADA)
    q, v, a = RNG.normal(size=(3, 2))
    s = {"arm": arm, "q": q, "v": v, "a": a, "g": np.array([0, -9.81, 0])}
    wrench = arm.reaction_wrenches(q, v, a)
    for i, link in enumerate(("link1", "link2")):
        R, lc = arm.pose(q, link)[:3, :3], ASADA[f"lc{i + 1}"]
        s[f"f{i}"], s[f"N{i}"] = R @ wrench[i, 3:], R @ wrench[i, :3]  # f_{i−1,i}, N_{i−1,i} at joint i
        s[f"r{i}"] = R @ [lc, 0, 0]  # from the joint to the centroid
        s[f"V{i}"] = arm.twist(q, v, link, at=[lc, 0, 0])
        s[f"A{i}"] = arm.acceleration(q, v, a, link, at=[lc, 0, 0])
    s["r01"] = arm.pose(q, "link2")[:3, 3]
    return s


def test_asada_7_1_1_and_7_1_3_balance_of_each_link(example_7_1):
    """7.1.4 and 7.1.5 are these for links 1 and 2."""
    s = example_7_1
    for i in range(2):
        m, I = ASADA[f"m{i + 1}"], np.diag([0, 0, ASADA[f"I{i + 1}"]])
        out, moment_out = (s["f1"], s["N1"]) if i == 0 else (np.zeros(3), np.zeros(3))
        assert_close(s[f"f{i}"] - out + m * s["g"] - m * s[f"A{i}"][3:], np.zeros(3), 1e-12, scale=50)  # 7.1.1
        to_next = s["r01"] - s["r0"]  # from the centroid of link 1 to joint 2
        moment = s[f"N{i}"] - moment_out - np.cross(s[f"r{i}"], s[f"f{i}"]) + np.cross(to_next, -out)
        w, alpha = s[f"V{i}"][:3], s[f"A{i}"][:3]
        assert_close(moment, I @ alpha + np.cross(w, I @ w), 1e-12, scale=50)  # 7.1.3


def test_asada_7_1_6_to_7_1_8_joint_torques_without_coupling_forces(example_7_1):
    s = example_7_1
    tau = s["arm"].inverse_dynamics(s["q"], s["v"], s["a"])
    assert_close([s["N0"][2], s["N1"][2]], tau)  # 7.1.6
    m1, m2, I1, I2 = (ASADA[k] for k in ("m1", "m2", "I1", "I2"))
    weight = [m * (s["g"] - s[f"A{i}"][3:]) for i, m in enumerate((m1, m2))]
    second = tau[1] + np.cross(s["r1"], weight[1])[2] - I2 * s["A1"][2]
    first = tau[0] - tau[1] + np.cross(s["r0"], weight[0])[2] + np.cross(s["r01"], weight[1])[2] - I1 * s["A0"][2]
    assert_close([second, first], [0, 0], 1e-12, scale=50)  # 7.1.7, 7.1.8


def test_asada_7_1_9_and_7_1_10_velocities_of_links_and_centroids(example_7_1):
    s = example_7_1
    (t1, t2), (w1, w2) = s["q"], s["v"]
    assert_close([s["V0"][2], s["V1"][2]], [w1, w1 + w2])  # 7.1.9
    lc1, lc2, l1 = ASADA["lc1"], ASADA["lc2"], ASADA["L1"]
    assert_close(s["V0"][3:5], [-lc1 * w1 * np.sin(t1), lc1 * w1 * np.cos(t1)], floor=1)
    x = -(l1 * np.sin(t1) + lc2 * np.sin(t1 + t2)) * w1 - lc2 * np.sin(t1 + t2) * w2
    y = (l1 * np.cos(t1) + lc2 * np.cos(t1 + t2)) * w1 + lc2 * np.cos(t1 + t2) * w2
    assert_close(s["V1"][3:5], [x, y], floor=1)  # 7.1.10


def test_two_link_with_centroids_and_inertias_has_the_closed_form_7_1_12(example_7_1):
    s, p = example_7_1, ASADA
    c2 = np.cos(s["q"][1])
    H12 = p["m2"] * (p["lc2"] ** 2 + p["L1"] * p["lc2"] * c2) + p["I2"]
    H22 = p["m2"] * p["lc2"] ** 2 + p["I2"]
    H11 = p["m1"] * p["lc1"] ** 2 + p["I1"] + p["m2"] * (p["L1"] ** 2 + p["lc2"] ** 2 + 2 * p["L1"] * p["lc2"] * c2) + p["I2"]
    assert_close(s["arm"].mass_matrix(s["q"]), [[H11, H12], [H12, H22]])


# -- misprints ---------------------------------------------------------------------------------------------------


def test_signs_of_mr_8_74(ur5):
    """The preprint's + contradicts 8.69 and the recursion; the later printing has −."""
    s = ur5.stacked_equations(Q6, V6)

    def rate(sign):
        brackets = s.ad_Av @ (s.W @ s.V) + s.ad_Av @ s.V_base
        return s.L @ (s.A @ A6 + sign * brackets + s.dV_base)

    table = np.concatenate([row.A for row in ur5.newton_euler_table(Q6, V6, A6).rows])
    assert_close(rate(-1), table, 1e-11)
    assert np.abs(rate(+1) - table).max() > 0.1


def test_bracket_of_exercise_8_6a():
    """∂J_i/∂θ_j = ad_{J_j}(J_i) for i > j in space; with the arguments exchanged it has the opposite sign."""
    robot = ts.robots.ur5()
    J, step = robot.jacobian(Q6, "tool0", "space"), 1e-6
    for i, j in ((3, 1), (5, 0)):
        moved = [robot.jacobian(Q6 + sign * step * np.eye(6)[j], "tool0", "space")[:, i] for sign in (1, -1)]
        difference = (moved[0] - moved[1]) / (2 * step)
        assert_close(ts.rigid.lie_bracket(J[:, j], J[:, i]), difference, 1e-8, floor=1)  # central differences
        assert np.abs(ts.rigid.lie_bracket(J[:, i], J[:, j]) - difference).max() > 0.1


def test_signs_of_exercise_8_7(ur5):
    s = ur5.stacked_equations(Q6, V6)
    half = s.A.T @ s.L.T @ s.G @ s.L @ s.ad_Av @ s.W @ s.L @ s.A
    step = 1e-6
    difference = (ur5.mass_matrix(Q6 + step * V6) - ur5.mass_matrix(Q6 - step * V6)) / (2 * step)
    assert_close(-half.T - half, difference, 1e-8)  # central differences
    assert np.abs(half.T + half - difference).max() > 0.1


def test_kinetic_energy_of_the_second_link_below_mr_8_7():
    L1, L2, t1, t2, w1, w2 = sympy.symbols("L1 L2 theta1 theta2 w1 w2", real=True)
    x2 = L1 * sympy.cos(t1) + L2 * sympy.cos(t1 + t2)
    y2 = L1 * sympy.sin(t1) + L2 * sympy.sin(t1 + t2)
    dx, dy = (f.diff(t1) * w1 + f.diff(t2) * w2 for f in (x2, y2))

    def twice(square):
        c2 = sympy.cos(t2)
        return (L1**2 + 2 * L1 * L2 * c2 + L2**2) * w1**2 + 2 * (square + L1 * L2 * c2) * w1 * w2 + L2**2 * w2**2

    assert sympy.simplify(dx**2 + dy**2 - twice(L2**2)) == 0
    assert sympy.simplify(dx**2 + dy**2 - twice(L1**2)) != 0  # as printed


def test_centrifugal_torque_of_asada_7_1_17_has_sin_theta_2():
    """τ_cent = r_{1,c2} × f_cent with f_cent = m₂ θ̇₁² r_{O,C2} (7.1.16), which is −h θ̇₁² (7.1.12-d)."""
    m2, l1, lc2, t1, t2, w1 = sympy.symbols("m2 l1 lc2 theta1 theta2 w1", positive=True)
    from_joint_2 = sympy.Matrix([lc2 * sympy.cos(t1 + t2), lc2 * sympy.sin(t1 + t2), 0])
    from_base = from_joint_2 + sympy.Matrix([l1 * sympy.cos(t1), l1 * sympy.sin(t1), 0])
    torque = from_joint_2.cross(m2 * w1**2 * from_base)[2]
    assert sympy.simplify(torque + m2 * l1 * lc2 * sympy.sin(t2) * w1**2) == 0
    assert sympy.simplify(torque + m2 * l1 * lc2 * w1**2) != 0  # as printed


def test_first_sum_of_asada_7_1_13_begins_at_one():
    """τ₁ of 7.1.11 has the term H₁₁ θ̈₁, which a sum from j = 2 has not."""
    arm = ts.robots.two_link(**ASADA)
    q, a = np.array([0.3, 0.9]), np.array([1.0, 2.0])
    H = arm.mass_matrix(q)
    inertial = arm.inverse_dynamics(q, [0, 0], a) - arm.gravity_force(q)
    assert_close(inertial, [sum(H[i, j] * a[j] for j in range(2)) for i in range(2)])
    assert abs(inertial[0] - H[0, 1] * a[1]) > 0.1
