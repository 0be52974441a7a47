"""Regressors: joint forces and energies are linear in the inertial parameters, on random trees with every joint type."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given

import torsor as ts
from tests.relations.test_centroidal import with_rotor
from tests.relations.test_trees import Case, seeds
from tests.tolerance import assert_close
from tests.trees import random_tree
from torsor import algorithms as alg
from torsor.algorithms.regressors import inertial_parameters
from torsor.model.part import part_of
from torsor.spatial import Inertia


@given(seed=seeds)
def test_regressors_times_parameters_equal_the_part_of_the_inertias(seed):
    """τ, K and P less those of the same robot without inertias, which has its armatures and spinning rotors alone."""
    c = Case(seed, tree=with_rotor(random_tree(seed)))
    bare = Case(seed, tree=with_rotor(random_tree(seed)))
    bare.m = replace(bare.m, inertia=tuple(Inertia.zero() for _ in bare.m.inertia))
    pi = np.array(inertial_parameters(c.m), float)
    Y = c.at("inverse_dynamics_regressor", None, None, c.a)
    tau = c.at("rnea", None, None, c.a)
    assert_close(Y @ pi, tau - bare.at("rnea", None, None, c.a), scale=np.abs(Y).max() * np.abs(pi).max())
    y, K = c.at("kinetic_energy_regressor"), c.at("kinetic_energy")
    assert_close(y @ pi, K - bare.at("kinetic_energy"), scale=np.abs(y).max() * np.abs(pi).max())
    y, P = c.at("potential_energy_regressor", None, False), c.at("potential_energy", None, False)
    assert_close(y @ pi, P, scale=np.abs(y).max() * np.abs(pi).max())
    Y, part = c.at("center_of_mass_regressor", None, False), part_of(c.m, moving=True)
    moments = np.array(alg.center_of_mass(part, c.q.tolist())) * sum(G.m for G in part.inertia)
    assert_close(Y @ pi, moments, scale=np.abs(Y).max() * np.abs(pi).max())


@given(seed=seeds)
def test_body_regressors_of_all_joints_sum_to_that_of_the_joint_forces(seed):
    """Y_i = J_iᵀ Y_b for the ten columns of joint i."""
    c = Case(seed)
    Y = c.at("inverse_dynamics_regressor", None, None, c.a)
    for k, name in enumerate(c.robot.joints):
        link = c.robot.joint(name).child
        J = c.at("jacobian", None, False, frame=link, expressed_in="body")
        of_body = c.at("body_regressor", None, None, c.a, frame=link)
        size = np.abs(Y).max() + np.abs(J).max() * np.abs(of_body).max()
        assert_close(J.T @ of_body, Y[:, 10 * k : 10 * k + 10], scale=size)


def test_regressor_identifies_the_payload_of_an_arm():
    """Least squares over random motions: the dynamics of the arm with a load that the model does not have."""
    arm, rng = ts.robots.two_link(), np.random.default_rng(0)
    loaded = arm.with_payload("tip", mass=0.7, com=(0.1, 0, 0), inertia=(0, 0, 0.02))
    q, v, a = rng.normal(size=(3, 40, 2))
    Y = arm.inverse_dynamics_regressor(q, v, a).reshape(80, 20)
    found, *_ = np.linalg.lstsq(Y, loaded.inverse_dynamics(q, v, a).ravel(), rcond=None)
    q, v, a = rng.normal(size=(3, 5, 2))
    assert_close(arm.inverse_dynamics_regressor(q, v, a) @ found, loaded.inverse_dynamics(q, v, a), 1e-10)  # least squares
    # of two links in a plane some parameters have no effect, so those found are not those of the arm
    assert not np.allclose(found, loaded.inertial_parameters)
    assert_close(Y @ loaded.inertial_parameters, Y @ found, 1e-10)


def test_center_of_mass_regressor_of_a_robot_without_joints_has_no_columns():
    assert ts.Builder("block").link("block", mass=1.0).build().center_of_mass_regressor([]).shape == (3, 0)
