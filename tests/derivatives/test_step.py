"""Derivatives of one step in time: matrices of accelerations and of q ⊕ w, against forward mode through every operation."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests import trees
from tests.tolerance import assert_close
from torsor.kernels.derivatives import Space, explicit, units, ways_to_differentiate
from torsor.model.joints import Prismatic, Revolute, Spherical
from torsor.spatial import Vec

#: a mimic joint among them, and a quaternion
KINDS = (Revolute(Vec(0, 0, 1)), Spherical(), Revolute(Vec(0, 1, 0)), Prismatic(Vec(1, 0, 0)))
ROBOTS = {
    "fixed": lambda: ts.Robot(trees.random_tree(2, bodies=3, base="fixed")),
    "floating": lambda: ts.Robot(trees.random_tree(5, bodies=3, base="floating", couplings=False)),
    "mimic and ball joints": lambda: ts.Robot(trees.random_tree(3, bodies=6, base="floating", kinds=KINDS)),
    "arm": ts.robots.panda,
}
OPTIONS = {
    "plain": {},
    "wrench in its frame": {"wrenches": ("frame2",)},
    "wrench in the world, damping": {"wrenches": ("frame2",), "expressed_in": "world", "damped": True},
}
#: the last case has all options; the others are for the night
CASES = [pytest.param(x, id=name, marks=() if len(x) > 2 else pytest.mark.night) for name, x in OPTIONS.items()]


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]()


def inputs_and_spaces(robot, spec):
    """Numbers for all inputs laid end to end, and the spaces of q, v, τ, dt and wrenches."""
    rng, x, spaces = np.random.default_rng(4), [], []
    for a in robot.kernels.inputs(spec):
        model = robot.kernels.model if a.name == "q" else None
        spaces.append(Space(a, len(x), (robot.nv,) if model else a.shape, model))
        x += (
            [0.03]
            if a.name == "dt"
            else robot.random_configuration(rng).tolist()
            if model
            else rng.normal(size=a.size).tolist()
        )
    return x, spaces


def rates_by_direction(derivative, x, spaces):
    """One column per direction of all inputs."""
    return np.transpose(derivative.push([s.push(x, unit) for s in spaces for unit in units(s.size)]))


def test_a_test_robot_has_a_mimic_and_a_ball_joint():
    robot = ROBOTS["mimic and ball joints"]()
    assert not robot.model.local
    assert any(isinstance(joint, Spherical) for joint in robot.model.joint)


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit", pytest.param("rk4", marks=pytest.mark.night)])
@pytest.mark.parametrize("options", CASES)
def test_derivative_of_a_step_equals_forward_mode(robot, integrator, options):
    options, robot = dict(options), robot.with_damping(True) if "damped" in options else robot
    options.pop("damped", None)
    if "frame2" not in robot.frames and "wrenches" in options:
        options["wrenches"] = (robot.frames[-1],)
    spec = robot.spec(f"step:{integrator}", **options)
    x, spaces = inputs_and_spaces(robot, spec)
    expected = rates_by_direction(explicit(robot.kernels, spec).at(x), x, spaces)
    condition = np.linalg.cond(robot.mass_matrix(x[: robot.nq]))
    for way in ways_to_differentiate(robot.kernels, spec):
        by_matrix = way.at(x)
        assert_close(rates_by_direction(by_matrix, x, spaces), expected, condition=condition)
        columns = [by_matrix.push([s.push(x, unit)])[0] for s in spaces for unit in units(s.size)]  # one by one: no matrix
        assert_close(np.transpose(columns), expected, condition=condition)
        rows = [[s.pull(x, by_matrix.pull(w)) for s in spaces] for w in units(2 * robot.nv)]
        assert_close([np.concatenate(row) for row in rows], expected, condition=condition)


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit"])
@pytest.mark.parametrize("make", [
    pytest.param(ROBOTS["floating"], id="tree"), pytest.param(ts.robots.quadruped, id="quadruped", marks=pytest.mark.night),
])  # fmt: skip
def test_derivative_of_a_step_of_a_batch_has_the_bits_of_single_states_and_fills_out(make, integrator):
    robot, rng, dt = make(), np.random.default_rng(0), 0.01
    q, v, tau = robot.random_configuration(rng, 9), rng.normal(size=(9, robot.nv)), rng.normal(size=(9, robot.nv))
    kernel = robot.derivative(f"step:{integrator}", by=("q", "v", "tau"))
    out = tuple(np.empty((9, robot.nv, robot.nv)) for _ in range(6))
    batch = kernel(q, v, tau, dt, out=out)
    assert all(x is y for x, y in zip(batch, out, strict=True))
    for k in (0, 8):
        for x, y in zip(kernel(q[k], v[k], tau[k], dt), batch, strict=True):
            assert (x == y[k]).all()
    (qq, qv, qt, vq, vv, vt), by = batch, robot.forward_dynamics_derivatives(q, v, tau)
    condition = np.linalg.cond(robot.mass_matrix(q)).max()
    for found, expected in ((vq, dt * by.q), (vv, np.eye(robot.nv) + dt * by.v), (vt, dt * by.tau)):
        assert_close(found, expected, condition=condition)
    A, B = robot.linearize(q, v, tau, dt=dt, integrator=integrator)
    assert (np.block([[qq, qv], [vq, vv]]) == A).all()
    assert (np.concatenate([qt, vt], axis=-2) == B).all()


@pytest.mark.parametrize("name", ["step", "step:euler", "forward_dynamics"])
def test_derivative_of_a_step_of_a_humanoid_is_about_as_long_as_that_of_its_acceleration(name):
    """It was 2.5 times as long, and took up to 16 s to compile."""
    robot = ts.robots.humanoid()
    accelerations = robot.kernel("forward_dynamics_derivatives").program.operations
    assert robot.derivative(name, by=("q", "v", "tau")).program.operations < 1.3 * accelerations
