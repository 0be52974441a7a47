"""Other quantities of robots with rotors are correct or refused: tasks, loops, explanations, traces, closed forms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import torsor as ts
from tests.model.test_rotors import ROUND, chain, pair, run, state, with_rotors_as_links
from tests.tolerance import assert_close
from torsor.algorithms import crba
from torsor.algorithms.innovations import CoupledInnovations, TreeInnovations, innovations
from torsor.algorithms.task_space import modified_crba
from torsor.errors import ArgumentError, ModelError, ModelWarning
from torsor.large import LargeTree
from torsor.symbolic import kane_of, lagrange_of


def robot_with_distant_rotor() -> ts.Robot:
    """A robot with one rotor that is not mounted on the parent link."""
    return chain(4).with_rotors({"joint4": {**ROUND, "link": "link1", "rpy": (0.3, 0.2, 0.1)}})


@pytest.mark.parametrize("seed", range(6))
def test_modified_composite_bodies_give_the_mass_matrix_with_rotors(seed):
    robot, bodies = pair(seed)
    q, _, _ = state(robot, seed)
    assert_close(modified_crba(robot.model, "frame5", q.tolist()), run(bodies, "crba", q), floor=1)


@pytest.mark.parametrize("robot", [chain(4), robot_with_distant_rotor()], ids=["parent", "far"])
def test_task_and_innovations_with_rotors_equal_dense_algebra(robot):
    bodies = ts.Robot(with_rotors_as_links(robot.description))
    q, v, a = state(robot, 3)
    tau, M = bodies.inverse_dynamics(q, v, a), bodies.mass_matrix(q)
    small = 1e-14 * np.linalg.cond(M)
    J = robot.jacobian(q, "link4")[3:]
    assert_close(robot.task("link4", "linear").inverse_mass_matrix(q), J @ np.linalg.solve(M, J.T), small, floor=1)
    assert_close(robot.innovations(q).solve(tau), np.linalg.solve(M, tau), small, floor=1)
    kind = TreeInnovations if robot.model.local else CoupledInnovations
    assert isinstance(innovations(robot.model, q.tolist()), kind)


def test_articulated_method_refuses_a_rotor_before_the_parent():
    with pytest.raises(ArgumentError, match="rotors mounted further in than the parent"):
        robot_with_distant_rotor().task("link4", "linear").inverse_mass_matrix([0.1, 0.2, 0.3, 0.4], method="articulated")


@pytest.mark.parametrize("robot", [chain(4), robot_with_distant_rotor()], ids=["parent", "far"])
def test_explanations_and_traces_sum_to_the_joint_force(robot):
    q, v, a = state(robot, 4)
    tau = robot.inverse_dynamics(q, v, a)
    assert_close(robot.explain(q, v, a).tau, tau, floor=1)
    assert_close(robot.newton_euler_table(q, v, a).tau, tau, floor=1)


def test_lagrange_of_a_robot_includes_its_rotors():
    robot = ts.robots.two_link().with_rotors({"joint2": {**ROUND, "xyz": (1, 0, 0)}})
    form = lagrange_of(robot, simplify=False)
    M = form.M.subs(dict(zip(form.q, (0.3, 0.7), strict=True)))
    assert_close(np.array(M, float), robot.mass_matrix([0.3, 0.7]), floor=1)


def test_functions_without_rotor_support_refuse_rotors():
    robot = chain(2)
    for call in (
        lambda: robot.stacked_equations([0.1, 0.2]),
        lambda: robot.operators([0.1, 0.2]),
        lambda: LargeTree.of(robot),
        lambda: kane_of(robot),
    ):
        with pytest.raises(ModelError, match=r"^rotor1 of robot .* does not have .*; robot\.rotors_as_armature\(\)"):
            call()
    with pytest.warns(ModelWarning, match="leave out the rotors .* joint1, joint2"):
        ts.to_mr(robot)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot.rotors_as_armature().operators([0.1, 0.2])


def test_symbols_in_a_rotor_are_refused_by_kernels():
    sp = pytest.importorskip("sympy")
    J = sp.Symbol("J")
    robot = ts.robots.two_link().with_rotors({"joint2": {"inertia": (J / 2, J / 2, J), "ratio": 3}})
    with pytest.raises(ArgumentError, match="symbols where a kernel needs numbers"):
        robot.mass_matrix([0.1, 0.2])
    spin = ts.robots.two_link().with_rotors({"joint1": {"inertia": (J / 2, J / 2, J), "ratio": 3}})  # on the ground: only in M
    with pytest.raises(ArgumentError, match="symbols where a kernel needs numbers"):
        spin.mass_matrix([0.1, 0.2])
    assert sp.diff(crba(spin.model, [0.1, 0.2])[0][0], J) == pytest.approx(9)


def test_text_of_a_robot_lists_its_rotors():
    shown = str(ts.robots.two_link().with_rotors({"joint2": ROUND}))
    assert "2.1 kg" in shown.splitlines()[0]
    assert shown.splitlines()[-1] == "rotor: joint2_rotor on link1  (joint2 × 50)  0.1 kg"
