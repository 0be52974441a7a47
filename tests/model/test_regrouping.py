"""Regrouping of inertia to parent links: the same joint-space results with fewer parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.trees import random_tree, state
from torsor import algorithms as alg
from torsor.algorithms.equation import EquationOfMotion
from torsor.kernels.quantities import QUANTITIES
from torsor.model.regrouping import with_fewest_parameters
from torsor.robot import Robot
from torsor.spatial.vector import flat

#: quantities that solve with M, with rounding errors multiplied by cond(M)
SOLVED = ("forward_dynamics", "mass_matrix_solve", "hybrid_acceleration", "hybrid_force")


def subjects(row, *models):
    """The first arguments of a row's function: models, or their equations of motion."""
    return map(EquationOfMotion, models) if row.follows_terms else models


@given(seed=st.integers(0, 10**6))
def test_regrouping_does_not_change_joint_space_quantities(seed):
    robot = Robot(random_tree(seed))
    full, lean = robot.model, with_fewest_parameters(robot.model)
    q, v, a = (x.tolist() for x in state(robot, seed))
    given_state = {"q": q, "v": v, "a": a, "tau": a, "u": a, "y": a}
    for name, row in QUANTITIES.items():
        if not row.joint_space or row.outputs or name in ("christoffel_symbols", *SOLVED, "mass_matrix_inverse"):
            continue
        x, y = (np.array(row.function(m, *(given_state[k] for k in row.inputs)), float) for m in subjects(row, full, lean))
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-12 * max(np.abs(x).max(initial=0), 1), err_msg=name)
    M = np.array(alg.crba(full, q))
    given_state["prescribed"] = [float(k % 2) for k in range(robot.nv)]
    for name in SOLVED:
        row = QUANTITIES[name]
        x, y = (np.array(row.function(m, *(given_state[k] for k in row.inputs)), float) for m in subjects(row, full, lean))
        limit = max(1e-12, 1e-14 * np.linalg.cond(M)) * max(np.abs(x).max(initial=0), 1)
        np.testing.assert_allclose(y, x, rtol=0, atol=limit, err_msg=name)


@pytest.mark.parametrize("name", ["ur5", "panda", "quadruped", "humanoid", "puma560"])
def test_regrouping_leaves_fewer_nonzero_parameters(name):
    model = getattr(ts.robots, name)().model

    def parameters(m):
        return sum(1 for x in flat(m.inertia[1:]) if x != 0)

    assert parameters(with_fewest_parameters(model)) < parameters(model)


def test_regrouping_does_not_change_links_center_of_mass_and_energy():
    """Only kernels use regrouped inertias; quantities of single links use those of the description."""
    robot = ts.robots.ur5()
    q = robot.random_configuration(0)
    com = np.array(alg.center_of_mass(robot.model, q.tolist()))
    np.testing.assert_allclose(robot.center_of_mass(q), com, rtol=1e-13)
    assert robot.link("wrist_3_link").mass == pytest.approx(0.1879)
    energy = alg.potential_energy(robot.model, q.tolist())
    assert robot.potential_energy(q) == pytest.approx(energy, rel=1e-13)
