"""The recursion as a table: MR 8.50–8.54 with the book's own functions, and on trees against torsor's twists and forces."""

import modern_robotics as mr
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.errors import UnknownName
from torsor.look.explain import newton_euler_table
from torsor.robot import Robot

seeds = st.integers(0, 10**6)
WRENCHES = {"frame3": [1.0, -2.0, 3.0, -4.0, 5.0, 6.0], "link2": [0.5, 0.0, 0.0, 0.0, 0.0, -1.0]}


def test_newton_euler_table_equals_the_recursion_of_mr_8_50_to_8_54():
    """MR 8.50–8.54 with the book's own functions, frames at the centres of mass; from_mr's links are the book's {i}."""
    rng = np.random.default_rng(5)
    Mlist = [mr.MatrixExp6(mr.VecTose3(rng.normal(size=6))) for _ in range(4)]
    screws = rng.normal(size=(3, 6))
    screws[:, :3] /= np.linalg.norm(screws[:, :3], axis=1)[:, None]
    screws[:, 3:] -= np.sum(screws[:, :3] * screws[:, 3:], axis=1)[:, None] * screws[:, :3]
    Glist = [np.diag([0.02, 0.03, 0.04, 1.0, 1.0, 1.0]) * (i + 1) for i in range(3)]
    g, theta, rate, acc, Ftip = np.array([0, 0, -9.8]), *rng.normal(size=(3, 3)), rng.normal(size=6)
    robot = ts.from_mr(Mlist, Glist, screws.T, gravity=g)
    trace = newton_euler_table(robot, theta, rate, acc, {"end_effector": -Ftip})
    Mi, V, dV = np.eye(4), np.zeros(6), np.array([0, 0, 0, *-g])
    twists, rates, A, T = [], [], [], []
    for i in range(3):
        Mi = Mi @ Mlist[i]
        A.append(mr.Adjoint(mr.TransInv(Mi)) @ screws[i])
        T.append(mr.MatrixExp6(mr.VecTose3(-A[i] * theta[i])) @ mr.TransInv(Mlist[i]))  # 8.50
        V = mr.Adjoint(T[i]) @ V + A[i] * rate[i]  # 8.51
        dV = mr.Adjoint(T[i]) @ dV + mr.ad(V) @ A[i] * rate[i] + A[i] * acc[i]  # 8.52
        twists.append(V)
        rates.append(dV)
    F, Tnext = Ftip, mr.TransInv(Mlist[3])
    for i in reversed(range(3)):
        F = mr.Adjoint(Tnext).T @ F + Glist[i] @ rates[i] - mr.ad(twists[i]).T @ Glist[i] @ twists[i]  # 8.53
        Tnext = T[i]
        row = trace.rows[i]
        for ours, book in ((row.T, T[i]), (row.V, twists[i]), (row.A, rates[i]), (row.F, F), (row.tau, [F @ A[i]])):  # 8.54
            assert_close(ours, book, 1e-10, floor=1)
    assert_close(trace.tau, mr.InverseDynamics(theta, rate, acc, g, Ftip, Mlist, Glist, screws.T), 1e-10, floor=1)


@given(seed=seeds)
def test_newton_euler_table_of_trees_equals_twists_accelerations_and_inverse_dynamics(seed):
    """The rows have the twists and accelerations of the links; τ is inverse dynamics."""
    robot = Robot(random_tree(seed))
    q, v, a = state(robot, seed)
    trace = newton_euler_table(robot, q, v, a, WRENCHES)
    m, args = robot.model, (q.tolist(), v.tolist())
    assert_close(trace.tau, alg.rnea(m, *args, a.tolist(), WRENCHES), 1e-11, floor=1)
    for row in trace.rows:
        assert_close(row.V, alg.twist(m, *args, row.link, "body"), 1e-11, floor=1)
        pose = np.array(alg.pose(m, q.tolist(), row.link), float)
        felt = np.concatenate([np.zeros(3), -pose[:3, :3].T @ robot.gravity])
        assert_close(row.A - felt, alg.acceleration(m, *args, a.tolist(), row.link, "body"), 1e-10, floor=1)
        above = np.eye(4) if row.parent == 0 else np.array(alg.pose(m, q.tolist(), trace.rows[row.parent - 1].link), float)
        assert_close(pose @ row.T, above, 1e-11, floor=1)
    heavy = newton_euler_table(robot, q, v, a, WRENCHES, at="com")
    for row, other in zip(heavy.rows, trace.rows, strict=True):
        assert_close(row.F @ row.V, other.F @ other.V, 1e-10, floor=1)  # power does not depend on the reference point
        assert_close(row.tau, other.tau, floor=1)
    assert_close(heavy.tau, trace.tau, floor=1)


def test_newton_euler_table_at_the_centre_of_mass_at_rest_has_only_weights():
    """At rest, the wrench of each body at its centre of mass is its weight, without moment."""
    robot = ts.robots.two_link()
    last = newton_euler_table(robot, [0.0, 0.0], [0, 0], [0, 0], at="com").rows[1]
    assert_close(last.F, [0, 0, 0, 0, 9.81, 0], floor=1)
    assert_close(last.T[:3, 3], [-1, 0, 0], floor=1)


def test_newton_euler_table_text_has_the_letters_of_either_notation():
    robot = (
        ts.Builder("geared")
        .link("base")
        .link("link1", mass=2.0, com=(0.35, 0, 0), inertia=(0, 0, 0.11))
        .link("link2", mass=3.0, com=(0.6, 0, 0), inertia=(0, 0, 0.07))
        .joint("joint1", "revolute", "base", "link1")
        .joint("joint2", "revolute", "link1", "link2", xyz=(0.8, 0, 0), armature=0.2)
        .build()
    )
    trace = newton_euler_table(robot, [0.0, 0.5], [1.0, 2.0], [0.3, 0.4])
    assert str(trace) == trace.table("MR")
    for letters, words in (
        ("MR", ("T_2,1", "V_2", "V̇_2", "F_2", "τ_2")),
        ("Featherstone", ("X_2,1", "v_2", "a_2", "f_2", "τ_2")),
    ):
        table = trace.table(letters)
        assert all(word in table for word in words)
        assert "body 2: joint2, link2, on body 1" in table
        assert "τ_2  rotor" in table
        assert "τ_1  rotor" not in table
    row = next(line for line in trace.table().splitlines() if "V̇_2" in line)
    assert_close([float(x) for x in row.split()[-6:]], trace.rows[1].A, 1e-3, floor=1)
    with pytest.raises(UnknownName, match="must be one of Featherstone, MR"):
        trace.table("Craig")
    with pytest.raises(UnknownName, match="must be one of com, link"):
        newton_euler_table(robot, [0, 0], [0, 0], [0, 0], at="tip")
