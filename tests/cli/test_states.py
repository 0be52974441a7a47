"""torque, accel, mass, pose, jacobian: what the library computes, from flags, CSV, Parquet, NPZ and stdin alike."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import torsor as ts
from torsor import logs

ROBOT = ts.robots.two_link()
RNG = np.random.default_rng(0)
N = 150
T = np.arange(N) / 100
Q, V, A, TAU = RNG.uniform(-1, 1, (4, N, 2))
NAMES = dict.fromkeys(("q", "v", "a", "tau"), ("joint1", "joint2"))
LOG = logs.Log(t=T, q=Q, v=V, a=A, tau=TAU, names=NAMES)
FILES = ("states.csv", "states.parquet", "states.npz", "-")

#: command and its words → the name of the result, and the library's own
JOBS = {
    "torque": ((), "tau", lambda: ROBOT.inverse_dynamics(Q, V, A)),
    "accel": ((), "a", lambda: ROBOT.forward_dynamics(Q, V, TAU)),
    "mass": ((), "M", lambda: ROBOT.mass_matrix(Q)),
    "jacobian": (("--in", "body"), "J", lambda: ROBOT.jacobian(Q, "tip", "body")),
}


def table(text: str) -> tuple[list[str], np.ndarray]:
    head, *rows = csv.reader(io.StringIO(text))
    return head, np.array(rows, dtype=float)


@pytest.fixture
def files(torsor):
    for name in FILES[:3]:
        LOG.write(name)
    with open("states.csv") as stream:
        return stream.read()


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("command", JOBS)
def test_a_table_gives_what_the_library_gives_to_the_bit(torsor, files, command, file):
    words, name, library = JOBS[command]
    ended = torsor(command, "two_link", file, *words, stdin=files if file == "-" else "")
    assert (ended.code, ended.err) == (0, "")
    head, rows = table(ended.out)
    assert head[0] == "t"
    assert all(x.startswith(f"{name}[") for x in head[1:])
    np.testing.assert_array_equal(rows[:, 0], T)
    np.testing.assert_array_equal(rows[:, 1:], library().reshape(N, -1))


@pytest.mark.parametrize("command", JOBS)
def test_results_are_the_same_in_every_kind_of_file(torsor, files, command):
    words, name, library = JOBS[command]
    for ending in ("csv", "json", "parquet", "npz"):
        assert torsor(command, "two_link", "states.csv", *words, "--out", f"out.{ending}").code == 0
    import json

    import pyarrow.parquet as parquet

    expected = library()
    np.testing.assert_array_equal(np.load("out.npz")[name], expected)
    with open("out.json") as stream:
        document = json.load(stream)
    assert document["coordinates"] == ["joint1", "joint2"]
    np.testing.assert_array_equal([row[name] for row in document["rows"]], expected)
    with open("out.csv") as stream:
        head, rows = table(stream.read())
    stored = parquet.read_table("out.parquet")
    assert stored.column_names == head
    np.testing.assert_array_equal(np.stack([np.array(c) for c in stored.columns], axis=1), rows)
    np.testing.assert_array_equal(rows[:, 1:], expected.reshape(N, -1))


def test_pose_is_position_and_quaternion(torsor, files):
    head, rows = table(torsor("pose", "two_link", "states.csv").out)
    assert head == ["t", *(f"tip[{p}]" for p in ("x", "y", "z", "qx", "qy", "qz", "qw"))]
    q1, q12 = Q[:, 0], Q.sum(axis=1)
    np.testing.assert_allclose(rows[:, 1], np.cos(q1) + np.cos(q12), atol=1e-14)  # the arm lies in a plane: by hand
    np.testing.assert_allclose(rows[:, 2], np.sin(q1) + np.sin(q12), atol=1e-14)
    np.testing.assert_allclose(rows[:, 6], np.sin(q12 / 2), atol=1e-14)
    np.testing.assert_allclose(rows[:, 7], np.cos(q12 / 2), atol=1e-14)


def test_a_file_longer_than_a_block_is_computed_row_by_row(torsor, monkeypatch, files):
    from torsor.cli import jobs

    monkeypatch.setattr(jobs, "HELD", 1)  # 64 rows at a time
    _, rows = table(torsor("torque", "two_link", "states.csv").out)
    np.testing.assert_array_equal(rows[:, 1:], ROBOT.inverse_dynamics(Q, V, A))
    document = torsor("torque", "two_link", "states.npz", "--json").json
    assert len(document["rows"]) == N


# -- one state, from flags ---------------------------------------------------------------------------------------


def test_flags_give_one_state(torsor):
    document = torsor("torque", "two_link", "--q", "0.1,0.2", "--v", "1 2", "--a", "3", "--json").json
    assert document["tau"] == ROBOT.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 3.0]).tolist()
    assert document["robot"] == "two_link"
    assert document["coordinates"] == ["joint1", "joint2"]
    assert document["a"] == [3.0, 3.0]


def test_flags_by_name_leave_the_rest_where_it_is(torsor):
    document = torsor("accel", "ur5", "--q", "elbow_joint=1.5", "--tau", "elbow_joint=-2,wrist_1_joint=3", "--json").json
    assert document["q"] == [0, 0, 1.5, 0, 0, 0]
    robot = ts.robots.ur5()
    assert document["a"] == robot.forward_dynamics([0, 0, 1.5, 0, 0, 0], [0.0] * 6, [0, 0, -2, 3, 0, 0]).tolist()


def test_without_a_state_the_zero_configuration_is_taken_and_said(torsor):
    ended = torsor("torque", "two_link")
    assert ended.out.startswith("At the zero configuration, at rest; --q, --v, --a would say otherwise.\n")
    assert "joint1   0   0   0   29.43" in ended.out


def test_wrenches_act_on_the_robot(torsor):
    words = ("--wrench", "tip=0,0,1,2,3,0", "--wrench", "link1=0,0,-1,0,0,0")
    document = torsor("torque", "two_link", *words, "--json").json
    wrenches = {"tip": [0, 0, 1, 2, 3, 0], "link1": [0, 0, -1, 0, 0, 0]}
    assert document["tau"] == ROBOT.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], wrenches).tolist()


def test_damping_counts_when_asked(torsor):
    robot = ts.robots.puma560()
    document = torsor("torque", "puma560", "--v", "1", "--damping", "--json").json
    assert document["tau"] == robot.inverse_dynamics([0.0] * 6, [1.0] * 6, [0.0] * 6, damping=True).tolist()


def test_a_flag_holds_what_the_file_does_not_have(torsor):
    table_of_q = "q1,q2\n0.1,0.2\n0.3,0.4\n"
    _, rows = table(torsor("torque", "two_link", "-", "--v", "1", "--a", "0", stdin=table_of_q).out)
    q = np.array([[0.1, 0.2], [0.3, 0.4]])
    np.testing.assert_array_equal(rows, ROBOT.inverse_dynamics(q, np.ones((2, 2)), np.zeros((2, 2))))


def test_one_state_goes_to_a_file_too(torsor):
    torsor("mass", "two_link", "--out", "m.npz")
    np.testing.assert_array_equal(np.load("m.npz")["M"], ROBOT.mass_matrix([[0.0, 0.0]]))


def test_a_table_without_rows_gives_one_without_rows(torsor):
    ended = torsor("mass", "two_link", "-", stdin="q1,q2\n")
    assert ended.code == 0
    assert ended.out.splitlines() == ["M[joint1][joint1],M[joint1][joint2],M[joint2][joint1],M[joint2][joint2]"]


def test_a_robot_comes_from_stdin(torsor):
    ts.save_urdf(ts.robots.ur5(), "arm.urdf")
    with open("arm.urdf") as stream:
        text = stream.read()
    piped, named = torsor("mass", "-", "--json", stdin=text), torsor("mass", "arm.urdf", "--json")
    assert piped.json == named.json


def test_the_words_of_a_robot_change_it(torsor):
    moon = torsor("torque", "two_link", "--gravity", "0,-1.62,0", "--json").json
    assert moon["tau"] == ROBOT.with_gravity([0, -1.62, 0]).gravity_force([0.0, 0.0]).tolist()
    assert len(torsor("mass", "ur5", "--base", "floating", "--json").json["coordinates"]) == 12
    assert len(torsor("mass", "panda", "--no-mimic", "--json").json["coordinates"]) == 9


def test_names_may_have_commas_and_equal_signs(torsor):
    base, joints = ts.robots.two_link(), ("a,b=1", "c=2")
    ts.save_urdf(base, "plain.urdf")
    with open("plain.urdf") as stream, open("odd.urdf", "w") as odd:
        text = stream.read()
        for old, new in zip(base.joints, joints, strict=True):
            text = text.replace(f'"{old}"', f'"{new}"')
        odd.write(text)
    assert torsor("mass", "odd.urdf", "--q", "a,b=1=0.5, c=2=-1", "--json").json["q"] == [0.5, -1.0]
    assert torsor("mass", "odd.urdf", "--q", "c=2=-1", "--json").json["q"] == [0.0, -1.0]


def test_what_rounding_leaves_of_a_zero_is_shown_as_one(torsor):
    flags = ("panda", "--q", "0,0,0,-1.5,0,1.5,0,0")
    exact = torsor("torque", *flags, "--json").json["tau"]
    assert 0 < abs(exact[0]) < 1e-16
    rows = dict(line.split(maxsplit=1) for line in torsor("torque", *flags).out.splitlines()[2:])
    assert rows["panda_joint1"].split()[-1] == "0"
    assert float(rows["panda_joint2"].split()[-1]) == pytest.approx(exact[1], rel=1e-4)
    assert "e-" not in torsor("explain", *flags, "--joint", "panda_joint1").out
