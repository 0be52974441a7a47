"""Derivatives of inverse and forward dynamics against dual numbers, central differences, Pinocchio and each other."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests import trees
from tests.model.test_rotors import with_random_rotors
from tests.references.pinocchio_states import ROBOTS, Twin
from tests.tolerance import assert_close
from torsor import algorithms as alg
from torsor.actuators.friction import Coulomb
from torsor.scalar import Dual, rate


def by_duals(function, model, q, *others):
    """The derivatives of function(model, q, ...) by q along v and by the others, column by column over duals."""
    n = model.nv
    blocks = []
    for k in range(1 + len(others)):
        columns = []
        for d in range(n):
            unit = [Dual(0, 1) if j == d else 0 for j in range(n)]
            given = [alg.integrate(model, q, unit, 1) if k == 0 else q]
            given += [[x + e for x, e in zip(o, unit, strict=True)] if k == i else o for i, o in enumerate(others, 1)]
            columns.append([rate(x) for x in function(model, *given)])
        blocks.append(np.array(columns, float).T)
    return blocks


def random_robot(seed: int, rotors: bool = False) -> ts.Robot:
    tree = trees.random_tree(seed, bodies=5)
    return ts.Robot(with_random_rotors(tree, seed) if rotors else tree)


@pytest.mark.parametrize("rotors", [False, True], ids=["plain", "rotors"])
@pytest.mark.parametrize("seed", range(12))
def test_rnea_derivatives_of_random_trees_equal_dual_numbers(seed, rotors):
    """Every joint type, floating bases, mimic joints, armatures, rotors."""
    robot = random_robot(seed, rotors)
    q, v, a = (x.tolist() for x in trees.state(robot, seed))
    expected = by_duals(alg.rnea, robot.model, q, v, a)
    for found, reference in zip(alg.rnea_derivatives(robot.model, q, v, a), expected, strict=True):
        assert_close(found, reference, 1e-13, scale=max(np.abs(x).max() for x in expected))


def test_derivatives_of_inverse_dynamics_agree_with_50_digits():
    mpmath = pytest.importorskip("mpmath")
    robot = random_robot(2)
    q, v, a = (x.tolist() for x in trees.state(robot, 2))
    with mpmath.workdps(50):
        exact = alg.rnea_derivatives(robot.model, *([mpmath.mpf(x) for x in y] for y in (q, v, a)))
        exact = [np.array([[float(x) for x in row] for row in block]) for block in exact]
    for found, reference in zip(robot.inverse_dynamics_derivatives(q, v, a), exact, strict=True):
        assert_close(found, reference, 1e-13, scale=max(np.abs(x).max() for x in exact))


TWINS = [("ur_description/urdf/ur5_robot.urdf", False), ("panda_description/urdf/panda.urdf", False),
         ("solo_description/robots/solo12.urdf", True)]  # fmt: skip


@pytest.mark.parametrize(("file", "floating"), TWINS, ids=["ur5", "panda", "solo12"])
def test_derivatives_of_dynamics_equal_those_of_pinocchio(file, floating):
    robot = ts.load(ROBOTS / file, base="floating" if floating else "fixed", mimic=False)
    t, rng = Twin(robot, ROBOTS / file, floating), np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    place = np.ix_(t.v_index, t.v_index)

    def theirs(function, *state):
        blocks = [np.empty((robot.nv, robot.nv)) for _ in range(3)]
        for block, x in zip(blocks, function(t.model, t.data, t.q(q), *map(t.v, state)), strict=True):
            block[place] = x
        return blocks

    dq, dv, M = theirs(pin.computeRNEADerivatives, v, a)
    found = robot.inverse_dynamics_derivatives(q, v, a)
    assert_close(found.q, dq)
    assert_close(found.v, dv)
    assert_close(found.a, np.triu(M) + np.triu(M, 1).T)
    tau = robot.inverse_dynamics(q, v, a)
    dq, dv, W = theirs(pin.computeABADerivatives, v, tau)
    condition = np.linalg.cond(found.a)
    found = robot.forward_dynamics_derivatives(q, v, tau)
    assert_close(found.q, dq, condition=condition)
    assert_close(found.v, dv, condition=condition)
    assert_close(found.tau, np.triu(W) + np.triu(W, 1).T, condition=condition)


OPTIONS = {
    "damping": {"damped": True},
    "wrench in its frame": {"wrenches": ("frame3",)},
    "wrench in the world": {"wrenches": ("frame3",), "expressed_in": "world"},
    "two wrenches and damping": {"wrenches": ("frame1", "frame4"), "expressed_in": "world", "damped": True},
}
#: the last case has all options; the others, one each, are for the night
CASES = [pytest.param(x, id=name, marks=() if len(x) > 2 else pytest.mark.night) for name, x in OPTIONS.items()]


def differences(function, robot, q, *others, h=1e-6):
    """Central differences along v; they lose half the digits."""

    def value(k, step):
        moved = [x + step if i == k else x for i, x in enumerate(others, 1)]
        return function(robot.integrate(q, step) if k == 0 else q, *moved)

    steps = h * np.eye(robot.nv)
    return [np.array([value(k, e) - value(k, -e) for e in steps]).T / (2 * h) for k in range(1 + len(others))]


@pytest.mark.parametrize("options", CASES)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.night)])
def test_derivatives_with_wrenches_and_losses_equal_differences(seed, options):
    robot = random_robot(seed).with_damping("damped" in options)
    q, v, a = trees.state(robot, seed)
    on = {frame: np.random.default_rng(seed).normal(size=6) for frame in options.get("wrenches", ())}
    given = {k: x for k, x in options.items() if k not in ("wrenches", "damped")}
    tau = robot.inverse_dynamics(q, v, a, on, **given)
    for name, state in (("inverse_dynamics", (q, v, a)), ("forward_dynamics", (q, v, tau))):
        expected = differences(lambda *x: getattr(robot, name)(*x, on, **given), robot, *state)  # noqa: B023
        found = getattr(robot, f"{name}_derivatives")(*state, on, **given)
        for x, y in zip(found, expected, strict=True):
            assert_close(x, y, 1e-7, scale=max(np.abs(e).max() for e in expected))


def test_derivatives_with_a_smooth_friction_law_equal_differences():
    law = Coulomb(0.3).smooth(0.2)
    robot = ts.robots.two_link().with_friction({"joint1": law, "joint2": law})
    q, v, a = np.array([0.3, -0.7]), np.array([0.1, -0.05]), np.array([1.0, 2.0])
    for name, state in (("inverse_dynamics", (q, v, a)), ("forward_dynamics", (q, v, robot.inverse_dynamics(q, v, a)))):
        expected = differences(getattr(robot, name), robot, *state)
        for x, y in zip(getattr(robot, f"{name}_derivatives")(*state), expected, strict=True):
            assert_close(x, y, 1e-7, scale=max(np.abs(e).max() for e in expected))


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.night) for k in (2, 5))])
def test_derivatives_of_forward_and_inverse_dynamics_are_related(seed):
    """∂τ/∂a = M, ∂a/∂τ = M⁻¹, ∂a/∂q = −M⁻¹ ∂τ/∂q."""
    robot = random_robot(seed)
    q, v, a = trees.state(robot, seed)
    d = robot.inverse_dynamics_derivatives(q, v, a)
    f = robot.forward_dynamics_derivatives(q, v, robot.inverse_dynamics(q, v, a))
    M, condition = robot.mass_matrix(q), np.linalg.cond(d.a)
    assert_close(d.a, M)
    assert_close(f.tau @ M, np.eye(robot.nv), condition=condition)
    assert_close(-M @ f.q, d.q, condition=condition)
    assert_close(-M @ f.v, d.v, condition=condition)


def test_derivatives_of_a_batch_have_the_bits_of_single_states_and_fill_out():
    robot, rng = ts.robots.panda(), np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng, 9), rng.normal(size=(9, robot.nv)), rng.normal(size=(9, robot.nv))
    out = tuple(np.empty((9, robot.nv, robot.nv)) for _ in range(3))
    for _ in range(2):  # the first call is by Python, the next ones by machine code
        batch = robot.inverse_dynamics_derivatives(q, v, a, out=out)
        assert (batch.q is out[0], batch.v is out[1], batch.a is out[2]) == (True, True, True)
    for k in range(9):
        for x, y in zip(robot.inverse_dynamics_derivatives(q[k], v[k], a[k]), batch, strict=True):
            assert (x == y[k]).all()


def test_derivatives_of_dynamics_are_exported_to_c(tmp_path):
    robot = ts.robots.two_link()
    files = robot.export_c(tmp_path / "arm", "inverse_dynamics_derivatives", "forward_dynamics_derivatives", fused=True)
    assert all(file.exists() for file in files)


def test_derivatives_of_dynamics_with_loops_equal_differences_of_the_forces():
    """∂a/∂τ and ∂a/∂v of a four-bar; by q the differences would leave the loop."""
    robot, h = ts.mechanisms.four_bar(), 1e-6
    q = robot.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    v, tau = robot.constrained().project_velocity(q, [2.0, 0.0, 0.0]), np.array([0.5, 0.1, -0.2])
    found = robot.forward_dynamics_derivatives(q, v, tau)
    for k, e in enumerate(h * np.eye(3)):
        by_tau = (robot.forward_dynamics(q, v, tau + e) - robot.forward_dynamics(q, v, tau - e)) / (2 * h)
        by_v = (robot.forward_dynamics(q, v + e, tau) - robot.forward_dynamics(q, v - e, tau)) / (2 * h)
        assert_close(found.tau[:, k], by_tau, 1e-7, floor=1)
        assert_close(found.v[:, k], by_v, 1e-7, floor=1)
