"""Machines with several terms end to end: instants, motions and gradients against the equation composed by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.composition.methods import slope
from tests.composition.stacks import STACKS
from tests.tolerance import assert_close

#: step [s] and number of steps of the motions
DT, STEPS = 1e-4, 6
#: stacks whose motions take seconds to compile, most of all their gradients
LARGE = ("standing quadruped", "Stewart platform")


def at_night(names):
    """The stacks, with these for the night."""
    return [pytest.param(name, marks=[pytest.mark.night] * (name in names)) for name in STACKS]


stack_of = cache(lambda name: STACKS[name]())


def bristles_and_currents(x):
    """x by name as torsor's array: bristles, then currents."""
    return np.concatenate(list(x.values())) if x else None


def options(stack):
    x = bristles_and_currents(stack.state.x)
    return {} if x is None else {"x": x}


def motion(stack, command=None):
    """The states after each step, by hand."""
    return stack.equation.run(stack.state, lambda s: stack.command if command is None else command, DT, STEPS)


def motion_of_robot(stack, **more):
    q, v = stack.state[:2]
    return stack.robot.rollout(q, v, np.tile(stack.command, (STEPS, 1)), dt=DT, integrator="rk4", **options(stack), **more)


@pytest.mark.parametrize("name", STACKS)
def test_forward_and_inverse_dynamics_of_a_stack_equal_the_equation_by_hand(name):
    """Joint forces are those after the drives; inverse dynamics gives them back where drives are."""
    stack = stack_of(name)
    e, s = stack.equation, stack.state
    tau = e.drives() @ np.linspace(-2.0, 3.0, len(e.driven))
    a = stack.robot.forward_dynamics(*s[:2], tau, **options(stack))
    expected = e.forward(s, tau)
    assert_close(a, expected, relative=1e-9)
    assert_close(stack.robot.inverse_dynamics(*s[:2], a, **options(stack)), e.inverse(s, expected), relative=1e-8)
    joint_forces = stack.robot.joint_forces(stack.command, *s[:2], **options(stack))
    assert_close(joint_forces, e.transmit(s, stack.command), relative=1e-12)


@pytest.mark.parametrize("name", at_night(LARGE))
def test_simulation_and_rollout_of_a_stack_equal_runge_and_kutta_by_hand(name):
    stack = stack_of(name)
    states, rolled = motion(stack), motion_of_robot(stack)
    for k, part in enumerate("qv"):
        assert_close(getattr(rolled, part), [s[k] for s in states], relative=stack.tolerance)
    run = stack.robot.simulate(*stack.state[:2], STEPS * DT, stack.command, dt=DT, **options(stack))
    assert_close(run.q[-1], states[-1].q, relative=stack.tolerance)
    assert_close(run.v[-1], states[-1].v, relative=stack.tolerance)
    if stack.equation.rows:
        assert np.abs(run.residual).max() < 1e-12
        assert rolled.residual[0] < 1e-12


@pytest.mark.parametrize("name", at_night(("cobot", *LARGE)))
def test_gradient_of_a_rollout_of_a_stack_equals_differences_by_hand(name):
    """Of a weighted last velocity, by the commands of all steps."""
    stack, rng = stack_of(name), np.random.default_rng(3)
    run = motion_of_robot(stack, differentiable=True)
    weights, along = np.zeros(run.v.shape), stack.equation.drives() @ rng.normal(size=len(stack.equation.driven))
    weights[-1] = rng.normal(size=stack.equation.nv)
    found = run.gradient(v=weights).controls.sum(axis=0) @ along
    expected = slope(lambda h: weights[-1] @ motion(stack, stack.command + h * along)[-1].v)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.night
def test_thousand_standing_quadrupeds_with_friction_roll_out_with_gradients():
    """Each robot with its own twist of the base and its own commands: a sample against the equation by hand."""
    stack, rng = stack_of("standing quadruped"), np.random.default_rng(4)
    e, s, robot = stack.equation, stack.state, stack.robot
    v = robot.constrained().project_velocity(s.q, np.hstack([rng.normal(scale=0.3, size=(1000, 6)), np.zeros((1000, 12))]))
    u = stack.command * rng.uniform(0.5, 1.5, (1000, 1))
    run = robot.rollout(np.tile(s.q, (1000, 1)), v, np.repeat(u[:, None], STEPS, axis=1), dt=DT, integrator="rk4",
                        differentiable=True)  # fmt: skip
    assert run.q.shape == (1000, STEPS, 19)
    assert run.residual[:, 0].max() < 1e-12
    weights = np.zeros(run.v.shape)
    weights[:, -1] = rng.normal(size=18)
    found = run.gradient(v=weights).controls.sum(axis=1)
    assert found.shape == (1000, 18)
    for k in (0, 999):
        begin = s._replace(v=v[k])
        end = e.run(begin, lambda s, k=k: u[k], DT, STEPS)[-1]
        assert_close(run.q[k, -1], end.q, relative=1e-9)
        assert_close(run.v[k, -1], end.v, relative=1e-9)
        by = slope(lambda h, k=k, begin=begin: weights[k, -1] @ e.run(begin, lambda s: u[k] * (1 + h), DT, STEPS)[-1].v)
        assert found[k] @ u[k] == pytest.approx(by, rel=1e-6)
