"""Notes of a result that is outside limits of position, velocity or effort."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts


def slider(**limits) -> ts.Robot:
    """A body of 1 kg on a rail along x, without gravity."""
    b = ts.Builder("slider")
    b.link("rail")
    b.link("body", mass=1.0, inertia=np.eye(3))
    b.joint("slide", "prismatic", "rail", "body", axis=(1, 0, 0), **limits)
    return b.build().with_gravity((0, 0, 0))


def test_note_names_joint_excess_and_first_time():
    """x = v t + ½ F t², v = v₀ + F t: the limits are passed at known times."""
    robot = slider(lower=-0.25, upper=0.25, velocity_limit=1.5, effort_limit=0.5)
    run = robot.simulate([0.0], [1.0], 1.0, [1.0])
    assert run.notes == (
        "outside position limits: slide by up to 1.25 m from t = 0.225 s",  # t + t²/2 = 1/4: t = 0.2247 s
        "outside velocity limits: slide by up to 0.5 m/s from t = 0.501 s",
        "outside effort limits: slide by up to 0.5 N from t = 0 s",
    )
    assert repr(run).endswith("; outside position limits; outside velocity limits; outside effort limits>")


def test_motion_at_its_limits_has_no_note():
    robot = slider(lower=-0.25, upper=0.25, velocity_limit=1.0, effort_limit=0.0)
    for e in (0.0, 0.5, 1.0):
        assert robot.with_stops(e).simulate([0.0], [1.0], 1.0).notes == ()  # the stops hold it inside


def test_notes_are_saved_with_the_result(tmp_path):
    run = slider(velocity_limit=0.5).simulate([0.0], [1.0], 0.01)
    run.save(tmp_path / "run.csv")
    assert ts.simulate.load_result(tmp_path / "run.csv").notes == run.notes != ()


def test_stopped_simulation_has_the_note_in_its_result():
    with pytest.raises(ts.simulate.SimulationStopped) as stop:
        slider(velocity_limit=2.0).simulate([0.0], [1.0], 99.0, [1e307], dt=1.0)
    assert stop.value.result.notes[0].startswith("outside velocity limits: slide by up to ")


def test_mimic_joint_outside_its_own_limits_is_named():
    b = ts.Builder("gripper")
    b.link("palm")
    b.link("left", mass=1.0, inertia=np.eye(3))
    b.link("right", mass=1.0, inertia=np.eye(3))
    b.joint("lead", "revolute", "palm", "left", axis=(0, 0, 1))
    b.joint("follow", "prismatic", "palm", "right", axis=(1, 0, 0), mimic=("lead", 0.5, 0.0), upper=0.2)
    run = b.build().with_gravity((0, 0, 0)).simulate([0.0], [1.0], 1.0)
    assert run.notes == ("outside position limits: follow by up to 0.3 m from t = 0.401 s",)


def test_quaternions_have_no_limits():
    body = ts.robots.quadruped()
    q = body.neutral()
    q[3:7] *= 3.0
    assert body.simulate(q, np.zeros(body.nv), 0.002).notes == ()


def test_pd_with_mass_matrix_moves_a_slider_as_a_critically_damped_oscillator():
    """x(t) = 1 − (1 + ω t) exp(−ω t), whatever the mass."""
    run = slider().simulate([0.0], [0.0], 1.0, ts.simulate.pd_with_mass_matrix(slider(), [1.0], frequency=0.5))
    w = np.pi * run.t
    np.testing.assert_allclose(run.q[:, 0], 1 - (1 + w) * np.exp(-w), rtol=0, atol=1e-11)  # rk4 at 1 ms
    for wrong in (-1.0, np.nan, np.inf, "fast"):
        with pytest.raises(ts.ArgumentError, match="frequency must be"):
            ts.simulate.pd_with_mass_matrix(slider(), frequency=wrong)
