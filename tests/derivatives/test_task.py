"""derivative, jvp and vjp of task quantities: central differences, adjointness, relations, errors."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from torsor.actuators.friction import Coulomb
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.mechanics.task.quantities import QUANTITIES

NAMES = [name for name in QUANTITIES if not name.endswith("_of_given_mass")]
#: one quantity of each kind; the others are for the night
FAST = ("jacobian", "forward_dynamics", "inverse_dynamics", "mass_matrix")


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


def as_tuple(x):
    return x if isinstance(x, tuple) else (x,)


def check(task, name, **options):
    robot, rng, h = task.robot, np.random.default_rng(1), 1e-6
    kernel, along, back = task.kernel(name), task.jvp(name, **options), task.vjp(name, **options)
    state = [robot.random_configuration(rng) if a.name == "q" else rng.normal(size=a.shape) for a in kernel.inputs]
    steps = [rng.normal(size=a.shape) for a in along.inputs[len(state) :]]
    results = len(kernel.outputs) - len(QUANTITIES[name].checks)

    def moved(s):
        rows = zip(kernel.inputs, state, steps, strict=True)
        return as_tuple(kernel(*(robot.integrate(x, s * d) if a.name == "q" else x + s * d for a, x, d in rows)))[:results]

    found = as_tuple(along(*state, *steps))
    for x, up, down in zip(found, moved(h), moved(-h), strict=True):
        assert_close(x, (up - down) / (2 * h), 1e-6, floor=1)  # central differences lose half the digits
    weights = [rng.normal(size=np.shape(x)) for x in found]
    terms = [np.sum(w * x) for w, x in zip(weights, found, strict=True)]
    others = [np.sum(g * d) for g, d in zip(as_tuple(back(*state, *weights)), steps, strict=True)]
    condition = np.linalg.cond(robot.mass_matrix(state[0])) * np.linalg.cond(task.inverse_mass_matrix(state[0]))
    assert_close(sum(terms), sum(others), condition=condition, scale=max(1, *np.abs(terms), *np.abs(others)))


@pytest.mark.parametrize("name", [x if x in FAST else pytest.param(x, marks=pytest.mark.night) for x in NAMES])
@without_machine_code
def test_derivatives_of_task_quantities_equal_differences_and_are_adjoint(arm, name):
    check(arm.task("tip", ("vx", "vy")), name)


@pytest.mark.night
@pytest.mark.parametrize("name", NAMES)
@without_machine_code
def test_derivatives_of_task_quantities_of_an_industrial_arm_equal_differences_and_are_adjoint(name):
    check(ts.robots.ur5().task("tool0", "linear"), name)


@pytest.mark.night
@pytest.mark.parametrize("seed", [3, 5, 8])
@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "velocity", "jacobian_rate"])
def test_derivatives_of_task_quantities_of_random_trees_equal_differences(seed, name):
    """Floating bases, ball joints, mimic joints."""
    robot = ts.Robot(trees.random_tree(seed, bodies=5, base="floating"))
    check(robot.task(["frame2", ("frame4", ("vx", "wz"), "body")], "linear"), name)


def test_derivative_of_forward_dynamics_by_joint_forces_is_the_jacobian_over_the_mass_matrix():
    robot = ts.robots.two_link()
    task, (q, v, tau) = robot.task("tip", ("vx", "vy")), np.random.default_rng(0).normal(size=(3, 2))
    slope = task.derivative("forward_dynamics", by="tau")(q, v, tau)
    assert_close(slope, task.jacobian(q) @ robot.mass_matrix_inverse(q))
    force, tau = task.derivative("inverse_dynamics", by="acceleration")(q, v, tau)
    assert_close(force, task.mass_matrix(q))
    assert_close(tau, task.jacobian(q).T @ task.mass_matrix(q))


def test_derivative_with_damped_mass_exists_at_singular_configurations(arm):
    task, h = arm.task("tip", ("vx", "vy"), singular="damped"), 1e-6
    q, v, V = np.array([0.4, 0.0]), np.array([0.2, -0.3]), np.array([1.0, 2.0])
    kernel = task.derivative("inverse_dynamics", by="q")
    for x, y in zip(kernel(q, v, V), zip(*_slopes(task, q, v, V, h), strict=True), strict=True):
        assert_close(x, np.array(y).T, 1e-6)  # central differences


def _slopes(task, q, v, V, h):
    pairs = [[task.inverse_dynamics(q + s * e, v, V) for s in (h, -h)] for e in np.eye(2)]
    return [[(x - y) / (2 * h) for x, y in zip(up, down, strict=True)] for up, down in pairs]


def test_derivatives_of_a_batch_have_the_bits_of_single_states_and_fill_out(arm):
    q, v, V = np.random.default_rng(0).normal(size=(3, 5, 2))
    kernel = arm.task("tip", ("vx", "vy")).derivative("bias_force", by=("q", "v"))
    batch = kernel(q, v)
    out = tuple(np.empty_like(x) for x in batch)
    assert kernel(q, v, out=out) is out
    for k in range(5):
        for x, y, z in zip(kernel(q[k], v[k]), batch, out, strict=True):
            assert (x == y[k]).all()
            assert (x == z[k]).all()


def test_derivative_where_the_task_mass_does_not_exist_is_refused(arm):
    task = arm.task("tip", ("vx", "vy"))
    for kernel, more in ((task.derivative("gravity_force", by="q"), ()), (task.vjp("gravity_force"), ([1, 0],))):
        with pytest.raises(SingularError, match=r"cannot accelerate along vx at tip at batch index \(1,\): Λ does not exist"):
            kernel([[0.3, 0.5], [0.0, 0.0]], *more)
    assert np.isfinite(task.derivative("inverse_mass_matrix", by="q")([0.0, 0.0])).all()


def test_wrong_names_treatments_and_friction_laws_are_refused(arm):
    task = arm.task("tip", ("vx", "vy"))
    with pytest.raises(UnknownName, match="task quantity"):
        task.vjp("report")
    with pytest.raises(UnknownName, match="task quantity"):
        task.vjp("mass_matrix_of_given_mass")
    with pytest.raises(UnknownName, match="input of"):
        task.derivative("gravity_force", by="v")
    with pytest.raises(ArgumentError, match='singular="truncated" and has no derivative'):
        arm.task("tip", ("vx", "vy"), singular="truncated").derivative("mass_matrix", by="q")
    rough = arm.with_friction({"joint1": Coulomb(0.3)})
    with pytest.raises(ArgumentError, match=r"joint1 friction of robot .* jumps at v = 0"):
        rough.task("tip", ("vx", "vy")).jvp("inverse_dynamics")
    rough.without_terms("friction").task("tip", ("vx", "vy")).jvp("inverse_dynamics")


def test_smooth_friction_laws_count_in_derivatives_of_forward_dynamics(arm):
    law, h = Coulomb(0.3).smooth(0.5), 1e-6
    task = arm.with_friction({"joint1": law, "joint2": law}).task("tip", ("vx", "vy"))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2))
    slope = task.derivative("forward_dynamics", by="v")(q, v, tau)
    columns = [
        (task.forward_dynamics(q, v + h * e, tau=tau) - task.forward_dynamics(q, v - h * e, tau=tau)) / (2 * h)
        for e in np.eye(2)
    ]
    assert_close(slope, np.array(columns).T, 1e-7)  # central differences
