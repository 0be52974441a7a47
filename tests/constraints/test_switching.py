"""Constraints on and off: one kernel for all patterns, each result as with the active constraints alone."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor import constraints as C
from torsor.errors import ArgumentError, SingularError, UnknownName

FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")


@pytest.fixture(scope="module")
def gait():
    """A quadruped with four point feet; the contacts are on the ground at its neutral configuration."""
    robot = ts.robots.quadruped()
    q = robot.neutral()
    q[7:] = np.tile([0.1, 0.8, -1.6], 4) if robot.nv == 18 else q[7:]
    contacts = [C.point_at(foot, robot.pose(q, foot)[:3, 3], name=foot) for foot in FEET]
    return robot, contacts, robot.constrained(*contacts), q


def states(robot, q, count, seed=0):
    rng = np.random.default_rng(seed)
    v, tau = rng.normal(size=(count, robot.nv)), rng.normal(scale=5, size=(count, robot.nv))
    return robot.integrate(q, rng.normal(scale=0.1, size=(count, robot.nv)), 1.0), v, tau


PATTERNS = np.array(list(itertools.product((0, 1), repeat=4)))


@pytest.mark.parametrize("method", ["auto", "direct", "multipliers"])
def test_switched_constraints_equal_the_active_ones_alone(gait, method):
    """All patterns as one batch, each state its own; one kernel, whatever the pattern."""
    robot, contacts, _, q = gait
    held = ts.Robot(robot.description).constrained(*contacts)  # a new robot, which shares no kernels with other tests
    Q, v, tau = states(robot, q, len(PATTERNS))
    before = len(held.solver.kernels._kernels)
    a, lam = held.forward_dynamics(Q, v, tau, method=method, active=PATTERNS)
    for k, pattern in enumerate(PATTERNS):
        one = held.forward_dynamics(Q[k], v[k], tau[k], method=method, active=pattern.astype(bool).tolist())
        np.testing.assert_allclose(one.a, a[k], rtol=1e-13, atol=1e-12)
    assert len(held.solver.kernels._kernels) == before + 1, "a gait is compiled once"
    assert not held.parts
    for k, pattern in enumerate(PATTERNS):
        on = np.repeat(pattern, 3) > 0
        assert not lam[k][~on].any()
        if k % 5 and not os.environ.get("TORSOR_NIGHT"):  # the fast suite compiles few of them alone
            continue
        alone = robot.constrained(*(c for c, s in zip(contacts, pattern, strict=True) if s)) if pattern.any() else None
        if alone is None:
            assert_close(a[k], robot.forward_dynamics(Q[k], v[k], tau[k]))
            continue
        expected = alone.forward_dynamics(Q[k], v[k], tau[k])
        assert_close(a[k], expected.a)
        assert_close(lam[k][on], expected.multipliers)


def test_null_space_takes_switched_constraints(gait):
    robot, _, held, q = gait
    Q, v, tau = states(robot, q, 4)
    flags = PATTERNS[[3, 5, 0, 15]]
    found, expected = (held.forward_dynamics(Q, v, tau, method=m, active=flags) for m in ("null_space", "auto"))
    assert_close(found.a, expected.a, 1e-11)
    assert_close(found.multipliers, expected.multipliers, 1e-10)
    single = held.forward_dynamics(Q[0], v[0], tau[0], method="null_space", active=flags[0])
    assert_close(single.a, found.a[0])


def test_switches_by_name_and_over_a_batch(gait):
    robot, _, held, q = gait
    Q, v, tau = states(robot, q, 3)
    by_name = held.forward_dynamics(Q, v, tau, active={"FL_FOOT": False, "HR_FOOT": [True, False, True]})
    in_order = held.forward_dynamics(Q, v, tau, active=[[0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1]])
    np.testing.assert_array_equal(by_name.a, in_order.a)
    spread = held.forward_dynamics(Q[0], v[0], tau[0], active=PATTERNS)  # one state, every pattern
    assert spread.a.shape == (16, robot.nv)


def test_impact_projection_reactions_and_inverse_dynamics_of_active_constraints(gait):
    robot, contacts, held, q = gait
    Q, v, tau = states(robot, q, 1)
    Q, v, tau, pattern = Q[0], v[0], tau[0], [True, False, True, False]
    alone, on = robot.constrained(contacts[0], contacts[2]), np.repeat(pattern, 3)
    hit, expected = held.impact(Q, v, 0.5, active=pattern), alone.impact(Q, v, 0.5)
    assert_close(hit.v, expected.v)
    assert_close(hit.impulses[on], expected.impulses)
    assert not hit.impulses[~on].any()
    assert_close(held.project_velocity(Q, v, active=pattern), alone.project_velocity(Q, v))
    ours, theirs = held.reactions(Q, v, tau, active=pattern), alone.reactions(Q, v, tau)
    for name, wrench in theirs.items():
        assert_close(ours[name], wrench, scale=100)
    assert not ours["FR_FOOT"].any()
    a, lam = held.forward_dynamics(Q, v, tau, active=pattern)
    assert_close(held.inverse_dynamics(Q, v, a, multipliers=lam, active=pattern), tau, 1e-10)
    passive = robot.with_gravity((0, 0, 0))
    still = np.zeros(robot.nv)
    stance, pair = passive.constrained(*contacts), passive.constrained(contacts[0], contacts[2])
    legs = [name for name in robot.joints if name != "floating_base"]
    push = np.concatenate([np.zeros(6), tau[6:]])  # the base has no drive, so it moves as the legs push it
    a = stance.forward_dynamics(Q, still, push, active=pattern).a
    driven = stance.inverse_dynamics(Q, still, a, actuated=legs, active=pattern)
    assert_close(driven, pair.inverse_dynamics(Q, still, a, actuated=legs), 1e-9)
    with pytest.raises(ArgumentError, match="violates the constraint"):
        held.inverse_dynamics(Q, v, held.forward_dynamics(Q, v, tau, active=pattern).a, multipliers=lam)


def test_kernel_with_flags_is_the_one_of_the_method(gait):
    robot, _, held, q = gait
    Q, v, tau = states(robot, q, 5)
    flags = PATTERNS[[1, 2, 4, 8, 15]]
    kernel = held.kernel(switched=True)
    assert [a.name for a in kernel.inputs] == ["q", "v", "tau", "active"]
    a, _, doubt = kernel(Q, v, tau, flags)
    assert (doubt < 1).all()
    np.testing.assert_array_equal(a, held.forward_dynamics(Q, v, tau, active=flags).a)


def test_stabilization_wrenches_and_time_go_with_switches():
    robot = ts.robots.two_link()
    moving = C.prescribed(C.point_on_plane("tip", normal=(0, 1, 0), name="drive"), lambda t: [0.1 * t * t])
    wall = C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0), name="wall")
    held = robot.constrained(moving, wall)
    q, v, tau, W = [-0.9, 2.0], [0.3, -0.2], [1.0, 2.0], {"tip": [0, 0, 1, 2, 3, 0]}
    options = {"time": 0.7, "stabilization": (5.0, 5.0), "wrenches": W}
    for method in ("auto", "null_space"):
        found = held.forward_dynamics(q, v, tau, active=[True, False], method=method, **options)
        assert_close(found.a, robot.constrained(moving).forward_dynamics(q, v, tau, **options).a)
        del options["time"]
        alone = robot.constrained(wall).forward_dynamics(q, v, tau, **options)
        options["time"] = 0.7
        assert_close(held.forward_dynamics(q, v, tau, active=[False, True], method=method, **options).a, alone.a)


def test_loops_can_be_opened():
    """The loops of a robot are the first constraints; open, they leave the spanning tree."""
    robot = ts.mechanisms.four_bar()
    held = robot.constrained()
    q = robot.assemble()
    v, tau = np.zeros(robot.nv), np.ones(robot.nv)
    opened = held.forward_dynamics(q, v, tau, active=[False] * len(held.constraints))
    assert_close(opened.a, robot.without_loops().forward_dynamics(q, v, tau))
    for method in ("auto", "null_space"):
        closed = held.forward_dynamics(q, v, tau, active=[True] * len(held.constraints), method=method)
        assert_close(closed.a, held.forward_dynamics(q, v, tau).a, 1e-10)
    loop = robot.loops[0]
    with pytest.raises(ArgumentError, match="not active in every state"):
        held.forward_dynamics(q, v, tau, loop_forces={loop: [1.0]}, active={loop: False})


def test_redundant_and_alternative_constraints_are_solved_by_pattern():
    """Rows that depend on one another only when both are active, and footholds that exclude each other."""
    robot = ts.robots.two_link()
    here = C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0), name="here")
    twice = C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0), name="twice")
    there = C.point_on_plane("tip", normal=(1, 0, 0), through=(0.5, 0, 0), name="there")
    held = robot.constrained(here, twice, there)
    q, v, tau = [-np.pi / 3, 2 * np.pi / 3], [1.0, 0.0], [0.3, 0.2]
    alone = robot.constrained(here).forward_dynamics(q, v, tau)
    for pattern in ([1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]):
        for method in ("auto", "direct", "null_space"):
            a, lam = held.forward_dynamics(q, v, tau, active=pattern, method=method)
            assert_close(a, alone.a)
            assert lam.sum() == pytest.approx(alone.multipliers[0], rel=1e-12)
            assert not lam[np.array(pattern) == 0].any()
    batch = held.forward_dynamics(np.tile(q, (3, 1)), np.tile(v, (3, 1)), tau, active=[[1, 0, 0], [1, 1, 0], [0, 0, 0]])
    assert_close(batch.a[:2], np.tile(alone.a, (2, 1)))


def test_singular_state_of_a_pattern_is_named_by_its_place_in_the_batch():
    robot = ts.robots.two_link()
    held = robot.constrained(
        C.point_on_plane("tip", normal=(1, 0, 0), through=(2, 0, 0), name="x"),
        C.point_on_plane("tip", normal=(0, 1, 0), through=(0, 0, 0), name="y"),
    )
    q = np.array([[-0.9, 2.0], [0.0, 0.0]])
    with pytest.raises(SingularError, match=r"state \[1\] of the batch"):
        held.forward_dynamics(q, np.zeros((2, 2)), [1.0, 2.0], active=[[1, 1], [1, 1]])


def test_flags_are_checked(gait):
    robot, _, held, q = gait
    v, tau = np.zeros((2, robot.nv))
    for active, match in (
        ([True], r"expected \(\.\.\., 4\)"),
        (True, r"expected \(\.\.\., 4\)"),
        ([0.5, 1, 1, 1], r"True \(1\) or False \(0\)"),
        ([np.nan, 1, 1, 1], r"True \(1\) or False \(0\)"),
        (["on", 1, 1, 1], "True or False"),
        ({"FL_FOOT": 2}, r"True \(1\)"),
        ({"FL_FOOT": [1, 0], "FR_FOOT": [1, 0, 1]}, "broadcast"),
    ):
        with pytest.raises(ArgumentError, match=match):
            held.forward_dynamics(q, v, tau, active=active)
    with pytest.raises(UnknownName, match="FL_FOOT"):
        held.forward_dynamics(q, v, tau, active={"FL": True})
    with pytest.raises(UnknownName, match="method"):
        held.forward_dynamics(q, v, tau, active=[1, 1, 1, 1], method="newton")
    with pytest.raises(UnknownName, match="null_space"):
        held.kernel("null_space", switched=True)


def test_projectors_of_active_constraints_equal_those_of_them_alone(gait):
    robot, contacts, _, q = gait
    held = robot.constrained(*contacts)
    Q, _, _ = states(robot, q, len(PATTERNS))
    P, inverse = held.acceleration_projector(Q, active=PATTERNS), held.inverse_effective_mass(Q, active=PATTERNS)
    assert not held.parts, "rows of all constraints serve every pattern"
    whole = held.inverse_effective_mass(Q)
    for k in (0, 6):
        alone = robot.constrained(*(c for c, s in zip(contacts, PATTERNS[k], strict=True) if s)) if k else None
        assert_close(P[k], np.eye(robot.nv) if alone is None else alone.acceleration_projector(Q[k]), 1e-11)
        assert_close(held.projector(Q[k], active=PATTERNS[k]), P[k].T, 1e-11)
        on = np.repeat(PATTERNS[k], 3) > 0
        assert_close(inverse[k][np.ix_(on, on)], whole[k][np.ix_(on, on)], floor=1)
        assert not inverse[k][~on].any()
        assert not inverse[k][:, ~on].any()
    spread = held.acceleration_projector(Q[3], active=PATTERNS)
    assert_close(spread[3], P[3], 1e-11)


def test_projector_of_redundant_active_rows_is_that_of_their_rank():
    """Two planes that are one: dependent where both are active."""
    robot = ts.robots.two_link()
    planes = [C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0), name=name) for name in ("one", "other")]
    held, q = robot.constrained(*planes), [0.3, 0.9]
    for flags in ([1, 1], [1, 0], [0, 1]):
        assert_close(held.projector(q, active=flags), robot.constrained(planes[0]).projector(q), 1e-11)
    assert_close(held.projector(q, active=[0, 0]), np.eye(2))


def test_mobility_of_active_constraints_is_that_of_them_alone(gait):
    robot, contacts, held, q = gait
    found = held.mobility(q, active={"FL_FOOT": False, "HR_FOOT": False})
    alone = robot.constrained(*contacts[1:3]).mobility(q)
    assert (found.rows, found.rank, found.freedom) == (alone.rows, alone.rank, alone.freedom) == (6, 6, 12)
    with pytest.raises(ArgumentError, match="one pattern at a time"):
        held.mobility(q, active=PATTERNS)
    bars = ts.mechanisms.four_bar()
    assert bars.constrained().mobility(active=[False]).freedom == bars.nv


def test_simulation_without_a_constraint_is_that_under_the_others_alone():
    robot = ts.robots.two_link()
    q = [-np.pi / 3, 2 * np.pi / 3]
    wall = C.point_on_plane("tip", normal=(1, 0, 0), through=tuple(robot.pose(q, "tip")[:3, 3]), name="wall")
    floor = C.point_on_plane("tip", normal=(0, 1, 0), through=tuple(robot.pose(q, "tip")[:3, 3]), name="floor")
    both = robot.with_constraints(wall, floor)
    alone = robot.with_constraints(wall).simulate(q, [0, 0], 0.05)
    assert_close(both.without_terms("floor").simulate(q, [0, 0], 0.05).q[-1], alone.q[-1], 1e-10)
    free = both.without_terms("constraint").simulate(q, [0, 0], 0.05)
    assert_close(free.q[-1], robot.simulate(q, [0, 0], 0.05).q[-1], 1e-10)
    with pytest.raises(ArgumentError, match=r"no argument 'active' any more: robot\.without_terms"):
        both.simulate(q, [0, 0], 0.05, active={"floor": False})
