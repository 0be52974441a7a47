"""torsor trajectory: the motion, peaks and findings of the library; files; joints that are not given."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.io import logs

READY = ("trajectory", "panda", "--from", "ready", "--to", "0,0,0,-1.5,0,1.5,0")


def test_trajectory_prints_peaks_and_leaves_joints_that_are_not_given(torsor):
    ended = torsor(*READY)
    assert ended.code == 0
    assert "--to has 7 of 8 numbers: panda_finger_joint1 not moved." in ended.out
    assert f"panda: {torsor(*READY, '--json').json['duration']:.4g} s, trapezoid" in ended.out
    assert "Accelerations that reach the velocity limits in 0.5 s" in ended.out
    document = torsor(*READY, "--json").json
    arm = ts.robots.panda()
    goal = np.array([0, 0, 0, -1.5, 0, 1.5, 0, 0])
    own = ts.trajectories.point_to_point(arm, arm.configuration("ready"), goal, acceleration=2 * arm.velocity_limit)
    assert document["duration"] == own.duration
    assert [x["value"] for x in document["peaks"]] == [x.value for x in own.check().peaks]
    assert document["passed"]


@pytest.mark.parametrize("profile", ["s-curve", "quintic", "cubic"])
def test_first_line_is_the_python_call_of_the_same_motion(torsor, profile):
    ended = torsor("trajectory", "ur5", "--to", "0.5,-1,1,0,0,0", "--profile", profile, "--duration", 3, "--out", "m.npz")
    made = {}
    exec(ended.out.splitlines()[0], made)
    read = logs.read("m.npz")
    assert np.array_equal(read.q, made["motion"].sample(0.01).q)
    assert read.t[-1] == pytest.approx(3.0, rel=1e-9)  # the speed between is found to rounding


def test_trajectory_says_which_limit_breaks_first(torsor):
    ended = torsor("trajectory", "rp_arm", "--to", "0.5,9", "--duration", 2, "--profile", "quintic")
    assert ended.code == 0
    robot = ts.robots.rp_arm()
    own = ts.trajectories.point_to_point(robot, robot.clip(robot.neutral()), [0.5, 9], "quintic", duration=2.0)
    assert str(own.check().first) in ended.out


def test_torsor_torque_reads_the_motion_and_a_page_replays_it(torsor):
    torsor(*READY, "--out", "motion.csv", "--dt", 0.05, "--replay", "motion.html", "--plot", "motion.svg")
    assert torsor("torque", "panda", "motion.csv", "--out", "tau.npz").code == 0
    arm, read = ts.robots.panda(), logs.read("motion.csv").states(ts.robots.panda())
    with np.load("tau.npz") as found:
        assert np.allclose(found["tau"], arm.inverse_dynamics(read.q, read.v, read.a), rtol=1e-12, atol=1e-12)
    with open("motion.html", encoding="utf-8") as page:
        assert page.read(15) == "<!doctype html>"


def test_trajectory_errors_name_options(torsor):
    for words, message in (
        (("two_link", "--to", "1,1"), "the profile 'trapezoid' needs a limit: --acceleration"),
        (("ur5", "--to", "1", "--duration", "0.1"), "--duration 0.1 s is too short"),
        (("ur5", "--to", "1", "--duration", "0"), "--duration 0.0 must be a positive number"),
        (("ur5", "--to", "1,2,3,4,5,6,7"), "--to takes 6 numbers, 7 given"),
        (("ur5", "--to", "0"), "q0 and q1 are the same configuration"),
        (("ur5", "--to", "1", "--out", "a.doc"), "--out a.doc: the extension must be one of"),
    ):
        ended = torsor("trajectory", *words)
        assert ended.code != 0
        assert message in ended.err
