"""d integrate and d difference, the Jacobians of q ⊕ v dt and q1 ⊖ q0 by tangent vectors: differences, relations, Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests import trees
from tests.references.test_configurations_pinocchio import MODELS, twin
from tests.tolerance import assert_close
from torsor.joints import (
    Composite,
    Continuous,
    Cylindrical,
    EulerAngles,
    Floating,
    FloatingRPY,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)  # fmt: skip
from torsor.spatial import Vec

X, Y, Z = Vec(1, 0, 0), Vec(0, 1, 0), Vec(0, 0, 1)
JOINTS = {
    "revolute": Revolute(Z), "continuous": Continuous(X), "prismatic": Prismatic(Y), "helical": Helical(Z, 0.1),
    "cylindrical": Cylindrical(X), "universal": Universal(X, Y), "planar": Planar(Z), "translation": Translation(),
    "spherical": Spherical(), "euler angles": EulerAngles("zyx"), "floating": Floating(), "floating rpy": FloatingRPY(),
    "composite": Composite([Prismatic(X), Spherical()]), "cam": trees.Cam(), "knee": trees.KNEE, "saddle": trees.SADDLE,
}  # fmt: skip
#: types with coordinates of their own on a manifold; the others add them
FAST = ("planar", "spherical", "floating", "composite")


def columns(function, n, h=1e-6):
    """The central differences of function(δ) by each of n entries."""
    return np.array([(function(h * e) - function(-h * e)) / (2 * h) for e in np.eye(n)]).T


def check(robot, seed=0):
    rng = np.random.default_rng(seed)
    q, q1 = robot.random_configuration(rng), robot.random_configuration(rng)
    v, dt, n = rng.normal(size=robot.nv), 0.7, robot.nv
    after = robot.integrate(q, v, dt)
    by_q, by_v, by_dt = robot.derivative("integrate", by=("q", "v", "dt"))(q, v, dt)
    step = robot.integrate
    close = {"relative": 1e-8, "floor": 1}  # central differences
    assert_close(by_q, columns(lambda d: robot.difference(after, step(step(q, d), v, dt)), n), **close)
    assert_close(by_v, columns(lambda d: robot.difference(after, step(q, v + d, dt)), n), **close)
    assert_close(by_dt, columns(lambda d: robot.difference(after, step(q, v, dt + d[0])), 1)[:, 0], **close)
    near = step(q, 0.3 * v)  # away from the cut of the logarithm
    for other in (near, q):
        d0, d1 = robot.derivative("difference", by=("q0", "q1"))(q, other)
        assert_close(d0, columns(lambda d: robot.difference(step(q, d), other), n), **close)  # noqa: B023
        assert_close(d1, columns(lambda d: robot.difference(q, step(other, d)), n), **close)  # noqa: B023
    assert_close(d1, np.eye(n), floor=1)  # at q1 = q0
    assert_close(d0, -np.eye(n), floor=1)
    found = robot.difference(q, q1)
    if np.linalg.norm(found) < 3:  # (q ⊕ v) ⊖ q = v
        d1 = robot.derivative("difference", by="q1")(q, q1)
        assert_close(d1 @ robot.derivative("integrate", by="v")(q, found, 1.0), np.eye(n), 1e-10, floor=1)


@pytest.mark.parametrize("kind", [x if x in FAST else pytest.param(x, marks=pytest.mark.night) for x in JOINTS])
def test_derivatives_of_integrate_and_difference_of_a_joint_equal_differences(kind):
    check(ts.Builder("r").link("base").link("a", mass=1).joint("j", JOINTS[kind], "base", "a").build())


@pytest.mark.night
@pytest.mark.parametrize("seed", range(6))
def test_derivatives_of_integrate_and_difference_of_random_trees_equal_differences(seed):
    """Mimic joints, custom joints and joints of several degrees of freedom beside each other."""
    check(ts.Robot(trees.random_tree(seed, bodies=5)), seed)


def test_derivatives_of_integrate_and_difference_of_a_reversed_joint_equal_differences():
    body = {"mass": 1, "inertia": (1, 2, 2)}
    arm = ts.Builder("r").link("base", **body).link("a", **body).joint("j", "spherical", "base", "a").build()
    check(arm.rebase("a"))


@pytest.mark.night
@pytest.mark.parametrize(("path", "floating"), MODELS)
def test_derivatives_of_integrate_and_difference_are_pinocchios(path, floating):
    t, rng = twin(path, floating), np.random.default_rng(1)
    robot = t.robot
    q0, q1, v = robot.random_configuration(rng), robot.random_configuration(rng), rng.normal(size=robot.nv)
    ours = robot.derivative("integrate", by=("q", "v"))(q0, v, 1.0)
    theirs = pin.dIntegrate(t.model, t.q(q0), t.v(v))
    for x, y in zip(ours, theirs, strict=True):
        assert_close(x[np.ix_(t.v_index, t.v_index)], y)
    ours = robot.derivative("difference", by=("q0", "q1"))(q0, q1)
    theirs = pin.dDifference(t.model, t.q(q0), t.q(q1))
    for x, y in zip(ours, theirs, strict=True):
        assert_close(x[np.ix_(t.v_index, t.v_index)], y, 1e-10)  # Pinocchio's logarithm loses digits at large angles
