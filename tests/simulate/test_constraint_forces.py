"""Forces of constraints in a simulation, and notes on surfaces that would have to pull."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from torsor import constraints

MASS, G, LIFT = 2.0, 9.81, 100.0


def body():
    """A free body whose frame ``foot`` is at its centre of mass."""
    build = ts.Builder("body").link("world").link("foot", mass=MASS, inertia=(0.1, 0.1, 0.1))
    return build.joint("free", "floating", "world", "foot").build()


def lifted(*held, gravity=(0, 0, -G), integrator="rk4", **options):
    """The body at rest under a force upwards in the world that grows by LIFT per second."""
    robot = body().with_gravity(gravity)
    up = {"foot": lambda t, q, v: np.array([0, 0, 0, 0, 0, LIFT * t])}
    v = np.zeros(robot.nv)
    return robot.with_constraints(*held).simulate(
        robot.neutral(), v, 0.4, wrenches=up, dt=1e-2, integrator=integrator, **options
    )


@pytest.mark.parametrize("integrator", ["rk4", "midpoint", "dop853"])
def test_foot_held_at_a_point_pulls_once_the_lift_exceeds_the_weight(integrator):
    """λ = (0, 0, m g − F(t)): upwards, against gravity, until F = m g at 0.1962 s."""
    run = lifted(constraints.point_at("foot", name="left"), integrator=integrator)
    assert run.info["rows"] == ["left: along (1, 0, 0)", "left: along (0, 1, 0)", "left: along (0, 0, 1)"]
    expected = np.zeros((len(run.t), 3))
    expected[:, 2] = MASS * G - LIFT * run.t
    assert_close(run.multipliers, expected)
    first = run.t[run.t > MASS * G / LIFT][0]
    force = MASS * G - LIFT * first
    assert run.notes == (
        f"constraint 'left' pulls at t = {first:.4g} s for the first time ({force:.3g} N along the normal): "
        "a foot on the ground would lift off",
    )
    assert run.notes[0].partition(": a foot")[0] in repr(run)


@pytest.mark.parametrize(
    ("held", "pulls"),
    [
        (constraints.point_on_plane("foot", (0, 0, 1), name="x"), True),
        (constraints.point_on_plane("foot", (0, 0, -1), name="x"), True),  # a ceiling would have to pull from the start
        (constraints.point_at("foot", normal=(0, 0, -1), name="x"), True),
        (constraints.point_at("foot", normal=(1, 0, 0), name="x"), False),
        (constraints.rolling("foot", 0.1, through=(0, 0, -0.1), name="x"), True),
        (constraints.prescribed(constraints.point_at("foot", name="x"), lambda t: [0.0 * t, 0.0 * t, 0.0 * t]), True),
        (constraints.point_on_line("foot", (1, 0, 0), name="x"), False),  # a ring on a bar has no side
        (constraints.fixed_pose("foot", name="x"), False),
    ],
    ids=["floor", "ceiling", "point below", "point at a wall", "ball", "prescribed", "line", "weld"],
)
def test_constraints_with_a_surface_have_a_note_when_they_pull(held, pulls):
    run = lifted(held)
    assert [note.split("pulls")[0] for note in run.notes] == ["constraint 'x' "] * pulls
    assert np.isfinite(run.multipliers).all()
    assert run.multipliers.shape == (len(run.t), held.size)


def test_point_without_gravity_or_in_another_link_has_no_side():
    assert lifted(constraints.point_at("foot", name="x"), gravity=(0, 0, 0)).notes == ()
    assert constraints.point_at("foot", relative_to="hand").pushing_side((0, 0, -G)) is None
    assert constraints.point_at("foot", relative_to="hand", normal=(0, 2, 0)).pushing_side((0, 0, -G)) == [0, 1, 0]
    assert constraints.point_at("foot").pushing_side((0, -3, -4)) == pytest.approx([0, 0.6, 0.8])


def test_multipliers_include_losses_wrenches_and_stops():
    """Two sliders on a slope x + z = const: 5 ẍ = 2 g − 3 ẋ and λ/√2 = 2 (g − ẍ) until z rests on its stop, then λ = 0."""
    build = ts.Builder("slide").link("ground").link("a", mass=1.0).link("b", mass=2.0)
    build.joint("x", "prismatic", "ground", "a", axis=(1, 0, 0), lower=-5.0, upper=5.0, damping=3.0)
    build.joint("z", "prismatic", "a", "b", axis=(0, 0, 1), lower=-1.0, upper=1.0)
    slope = constraints.point_on_plane("b", (1, 0, 1), name="slope")
    run = (
        build.build().with_damping(True).with_stops(0.0).with_constraints(slope).simulate([0.0, 0.0], [0.0, 0.0], 1.5, dt=5e-3)
    )
    sliding, resting = run.t < 0.6, run.t > 1.0
    a = 2 * G / 5 * np.exp(-0.6 * run.t)
    np.testing.assert_allclose(run.multipliers[sliding, 0], (2 * np.sqrt(2) * (G - a))[sliding], rtol=1e-9)
    assert run.q[-1, 1] == -1.0
    assert np.abs(run.v[resting]).max() < 1e-15
    assert np.abs(run.multipliers[resting]).max() < 1e-12  # the stop carries the weight, and x is free


def test_multipliers_are_saved_and_loaded(tmp_path):
    run = lifted(constraints.point_at("foot", name="left"))
    for ending in ("npz", "csv"):
        run.save(tmp_path / f"run.{ending}")
        again = ts.simulate.load_result(tmp_path / f"run.{ending}")
        np.testing.assert_array_equal(again.multipliers, run.multipliers)
        assert again.notes == run.notes
    assert "multipliers[left: along (0, 0, 1)]" in (tmp_path / "run.csv").read_text()


def test_robot_without_constraints_has_no_multipliers():
    arm = ts.robots.two_link()
    assert arm.simulate([0, 0], [0, 0], 0.01).multipliers.shape == (11, 0)
