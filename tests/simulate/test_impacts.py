"""Simultaneous impacts at several stops: one problem for all of them, without gain of energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from torsor.errors import ArgumentError, UnknownName
from torsor.model.joints import Composite, Prismatic, Revolute
from torsor.simulate.limits import Stop, impact_velocities, stop_joints
from torsor.simulate.system import System

PANDA = ts.robots.panda()
SYSTEM = System(PANDA, ())


def random_impact(seed):
    """Some joints of a Panda at their stops: moving into them, resting on them or leaving them."""
    rng = np.random.default_rng(seed)
    q, v = PANDA.random_configuration(rng), rng.normal(size=PANDA.nv)
    rows = rng.choice(7, rng.integers(1, 7), replace=False).tolist()
    v[[r for r in rows if rng.random() < 0.3]] = 0.0
    e = float(rng.choice([0.0, 1.0])) if rng.random() < 0.3 else None
    stops = [
        Stop(PANDA.joints[r], r, r, int(rng.choice([-1, 1])), float(q[r]), rng.uniform() if e is None else e) for r in rows
    ]
    return q, v, stops


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_impact_at_several_stops_has_pushing_impulses_and_gains_no_energy(seed):
    """Impulses act only at stops with impact or contact and point away from them; v⁺ is at least that of Newton's law."""
    q, v, stops = random_impact(seed)
    after = impact_velocities(SYSTEM, stops, q, v)
    M = PANDA.mass_matrix(q)
    impulse = M @ (after - v)
    small = 1e-10 * (1 + np.abs(M @ v).max()) * np.linalg.cond(M) ** 0.5
    assert after @ M @ after <= v @ M @ v * (1 + 1e-12)
    closing = {s.v: s for s in stops if s.side * v[s.v] <= 0}
    for row in range(PANDA.nv):
        if row not in closing:
            assert abs(impulse[row]) < small
            continue
        s = closing[row]
        assert s.side * impulse[row] > -small
        assert s.side * (after[row] + s.restitution * v[row]) >= -1e-12
        if s.side * impulse[row] > small:
            assert after[row] == -s.restitution * v[row]


def test_stop_that_would_have_to_pull_is_released():
    """Two joints hit at once, and the impulse of the first moves the second off its stop faster than its own bounce."""
    found = 0
    for seed in range(300):
        q, v, stops = random_impact(seed)
        after = impact_velocities(SYSTEM, stops, q, v)
        impulse = PANDA.mass_matrix(q) @ (after - v)
        hit = [s for s in stops if s.side * v[s.v] < 0]
        thrown = [s for s in hit if s.side * (after[s.v] + s.restitution * v[s.v]) > 1e-6]
        found += len(thrown)
        for s in thrown:
            assert abs(impulse[s.v]) < 1e-9
    assert found > 10


def test_joint_between_coinciding_stops_does_not_bounce():
    q, v = PANDA.neutral(), np.full(PANDA.nv, 0.3)
    both = [Stop("panda_joint2", 1, 1, side, float(q[1]), 0.9) for side in (1, -1)]
    after = impact_velocities(SYSTEM, both, q, v)
    assert after[1] == 0
    np.testing.assert_allclose(stop_joints(SYSTEM, q, v, [1]), after, atol=1e-14)


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_simultaneous_impacts_of_two_carts_have_both_impulses(integrator):
    """A cart on a cart, e = 1, both at their stops at 1 s: M (v⁺ − v⁻) has both impulses, and the energy is kept."""
    build = ts.Builder("carts").link("ground").link("a", mass=1.0).link("b", mass=2.0)
    build.joint("x", "prismatic", "ground", "a", axis=(1, 0, 0), lower=-1.0, upper=1.0)
    build.joint("y", "prismatic", "a", "b", axis=(1, 0, 0), lower=-1.0, upper=2.0)
    run = build.build().with_stops(1.0).simulate([0, 0], [1.0, 2.0], 1.5, integrator=integrator, dt=7e-3)
    assert [e.name for e in run.events[:2]] == ["x: upper stop", "y: upper stop"]
    np.testing.assert_allclose([e.t for e in run.events[:2]], 1.0, atol=3e-10)
    np.testing.assert_allclose(run.v[-1], [-1.0, -2.0], rtol=1e-9)
    assert abs(run.audit().impacts) < 1e-9


def test_joint_driven_by_a_moving_constraint_strikes_its_stop():
    """The tip follows a plane that moves; the stop's impulse keeps it on the plane."""
    d = ts.robots.two_link().description
    arm = ts.Robot(replace(d, joints=tuple(replace(j, lower=(-2.0,), upper=(2.0,)) if j.kind.nv else j for j in d.joints)))
    q = np.array([-np.pi / 3, 2 * np.pi / 3 - 0.2])
    plane = ts.constraints.point_on_plane("tip", normal=(1, 0, 0), through=tuple(arm.pose(q, "tip")[:3, 3]), name="drive")
    moving = ts.constraints.prescribed(plane, lambda t: [-0.6 * t])
    v = arm.constrained(moving).project_velocity(q, [0.0, 0.0], time=0.0)
    run = arm.with_stops(0.5).with_constraints(moving).simulate(q, v, 0.2, dt=5e-3)
    assert run.events[0].name == "joint2: upper stop"
    assert np.abs(run.residual).max() < 1e-9
    assert np.abs(arm.constrained(moving).slip(run.q, run.v, time=run.t)).max() < 1e-9
    assert run.q[:, 1].max() <= 2.0


@pytest.mark.parametrize(
    "kind", ["cylindrical", Composite([Revolute((0, 0, 1)), Prismatic((0, 0, 1))])], ids=["cylindrical", "composite"]
)
def test_coordinates_of_a_joint_with_several_have_their_own_stops(kind):
    """A body that falls along its axis by h hits the stop at √(2h/g), and again after twice e times that."""
    b = ts.Builder("drop").link("post").link("body", mass=2.0, com=(0, 0, 0), inertia=(1, 1, 1))
    axis = {"axis": (0, 0, 1)} if kind == "cylindrical" else {}
    robot = b.joint("slide", kind, "post", "body", **axis, lower=(-1, -0.5), upper=(1, 0.5)).build()
    run = robot.with_stops(0.5).simulate([0.9, 0.0], [0.0, 0.0], 2.0)
    first = np.sqrt(2 * 0.5 / 9.81)
    assert [e.name for e in run.events[:2]] == ["slide[1]: lower stop"] * 2
    np.testing.assert_allclose([e.t for e in run.events[:3]], [first, 2 * first, 2.5 * first], rtol=1e-9)
    np.testing.assert_allclose(run.q[-1], [0.9, -0.5], atol=1e-9)


def test_joints_without_stops_and_wrong_restitutions_are_refused():
    ball = ts.Builder("ball").link("a").link("b", mass=1.0, inertia=(1, 1, 1)).joint("j", "spherical", "a", "b").build()
    with pytest.raises(UnknownName, match="joint with stops"):
        ball.with_stops({"j": 0.5}).simulate([0, 0, 0, 1], [0, 0, 0], 0.1)
    for wrong in ("all", 1.5, np.nan):  # also where no joint has limits
        with pytest.raises(ArgumentError, match="the restitution must be a number between 0 and 1"):
            ball.with_stops(wrong).simulate([0, 0, 0, 1], [0, 0, 0], 0.1)
