"""ik, and --degrees of pose and simulate: results evaluated by the library, tables of targets, wrong input."""

from __future__ import annotations

import csv
import webbrowser
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor.cli.option_values import angle_units

UR5 = ts.robots.ur5()
#: a pose that a UR5 reaches, from above
XYZ, RPY = (0.4, 0.1, 0.3), (180.0, 0.0, 30.0)
T = ts.rigid.pose(ts.rigid.from_rpy(np.radians(RPY)), XYZ)
POSE = ("ur5", "--frame", "tool0", "--xyz", "0.4,0.1,0.3", "--rpy", "180,0,30", "--degrees")
#: rounding of 1e-6 m and rad, the tolerance of the solver
MET = 2e-6


def reached(q, robot=UR5, frame="tool0"):
    return robot.pose(np.asarray(q), frame)


# -- one target --------------------------------------------------------------------------------------------------


def test_ik_solution_in_degrees_brings_the_frame_to_the_pose(torsor):
    ended = torsor("ik", *POSE, "--json")
    found = ended.json
    assert (ended.code, ended.err, found["success"], found["angles"]) == (0, "", True, "deg")
    np.testing.assert_allclose(reached(np.radians(found["q"])), T, atol=MET)
    assert found["message"].startswith("found in ")
    assert list(found) == [
        "robot", "frame", "configuration", "angles", "q", "success", "position_error", "angle_error", "attempts", "at_limit",
        "message", "notes",
    ]  # fmt: skip


def test_ik_prints_the_solution_of_the_library_with_units_and_limits(torsor):
    ended, q = torsor("ik", *POSE), UR5.inverse_kinematics(T, "tool0").q
    head, title, names, _, *rows = (line for line in ended.out.splitlines() if line)
    assert head.startswith("tool0: found in ")
    assert title == "Configuration [deg, m]"
    assert names.split() == ["coordinate", "q", "lower", "upper"]
    values = {name: list(map(float, numbers)) for name, *numbers in map(str.split, rows)}
    np.testing.assert_allclose([values[name][0] for name in UR5.joints], np.degrees(q), rtol=1e-4)
    assert values["elbow_joint"][1:] == [-180.0, 180.0]


def test_ik_of_radians_prints_radians(torsor):
    words = ("--xyz", "0.4,0.1,0.3", "--rpy", ",".join(map(repr, np.radians(RPY).tolist())))
    ended = torsor("ik", "ur5", "--frame", "tool0", *words, "--json")
    assert "angles" not in ended.json
    np.testing.assert_allclose(reached(ended.json["q"]), T, atol=MET)


def test_ik_without_rpy_or_xyz_leaves_orientation_or_position_free(torsor):
    at = torsor("ik", "ur5", "--frame", "tool0", "--xyz", "0.4,0.1,0.3", "--json").json["q"]
    np.testing.assert_allclose(reached(at)[:3, 3], XYZ, atol=MET)
    turned = torsor("ik", "ur5", "--frame", "tool0", "--rpy", "180,0,30", "--degrees", "--json").json["q"]
    np.testing.assert_allclose(reached(np.radians(turned))[:3, :3], T[:3, :3], atol=MET)


def test_ik_all_lists_distinct_solutions_with_the_nearest_to_the_guess_first(torsor):
    guess = np.degrees(UR5.inverse_kinematics(T, "tool0").q)
    words = (*POSE, "--all", "--q0", ",".join(map(repr, guess.tolist())))
    found = torsor("ik", *words, "--json").json
    assert len(found["q"]) == len(found["success"]) == len(found["at_limit"]) == 8  # shoulder, elbow, wrist
    np.testing.assert_allclose(found["q"][0], guess, atol=1e-4)
    for q in found["q"]:
        np.testing.assert_allclose(reached(np.radians(q)), T, atol=MET)
    shown = torsor("ik", *words).out
    assert shown.startswith("tool0: 8 solutions found in ")
    assert "Configuration [deg, m], the nearest to the guess first:" in shown


def test_ik_of_a_distant_target_prints_the_closest_configuration_with_exit_code_1(torsor):
    words = ("ik", "ur5", "--frame", "tool0", "--xyz", "3,0,0", "--attempts", "3")
    ended = torsor(*words)
    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith("tool0: not found in 3 attempts; closest 2.")
    found = torsor(*words, "--json").json
    assert found["success"] is False
    assert found["position_error"] == pytest.approx(np.linalg.norm(reached(found["q"])[:3, 3] - (3, 0, 0)), rel=1e-9)
    assert torsor(*words, "--all", "--json").json["success"] == [False]


def test_ik_moves_only_the_given_joints_and_starts_at_the_guess(torsor):
    words = ("ik", "two_link", "--xyz", "1,1,0", "--joints", "joint2", "--json")
    np.testing.assert_allclose(torsor(*words).json["q"], [0.0, np.pi / 2], atol=MET)
    ended = torsor(*words, "--q0", "joint1=90", "--degrees")  # a circle about (0, 1), which (1, 1) is on
    np.testing.assert_allclose(ended.json["q"], [90.0, -90.0], atol=1e-4)


def test_ik_marks_joints_at_their_limits_and_may_ignore_limits(torsor):
    ts.save(ts.robots.two_link().with_limits("joint2", lower=0.0, upper=1.0), "arm.urdf")
    words = ("ik", "arm.urdf", "--frame", "tip", "--xyz", "0.5,0.5,0", "--attempts", "2")
    ended = torsor(*words)
    assert ended.code == 1
    assert next(line for line in ended.out.splitlines() if line.startswith("joint2")).endswith("at limit")
    assert torsor(*words, "--json").json["at_limit"] == ["joint2"]
    assert torsor(*words, "--no-limits").code == 0
    ended = torsor(*words, "--q0", "5")
    assert "--q0 is outside its limits; the nearest configuration within them was used." in ended.out.splitlines()


def test_ik_warns_about_degrees_without_the_option(torsor):
    ended = torsor("ik", "ur5", "--frame", "tool0", "--rpy", "180,0,0", "--json")
    assert ended.code == 0
    assert ended.err == (
        "torsor: warning: an angle of roll, pitch, yaw is 180 rad: are these degrees? --degrees reads them as such\n"
    )


def test_ik_open_shows_the_solution_in_the_viewer(torsor, monkeypatch):
    viewer, shown, opened = pytest.importorskip("torsor.look.viewer.viewer"), [], []
    monkeypatch.setattr(viewer.Viewer, "wait", lambda self: shown.append(self.session.q))
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    ended = torsor("ik", "two_link", "--xyz", "1,1,0", "--open", "--json")
    assert (ended.code, opened) == (0, [ended.json["url"]])
    np.testing.assert_array_equal(shown[0], ended.json["q"])


# -- tables of targets -------------------------------------------------------------------------------------------


def rows_of(path):
    with open(path) as stream:
        head, *rows = csv.reader(line for line in stream if not line.startswith("#"))
    return head, np.array(rows, float)


def test_ik_of_a_table_solves_each_row_as_alone(torsor):
    Q = UR5.random_configuration(np.random.default_rng(0), 5)
    places = UR5.pose(Q, "tool0")
    angles = np.degrees(ts.rigid.to_rpy(places[:, :3, :3]))
    lines = [",".join(map(repr, [*p, *a])) for p, a in zip(places[:, :3, 3].tolist(), angles.tolist(), strict=True)]
    Path("targets.csv").write_text("\n".join(["x,y,z,roll,pitch,yaw", *lines]))
    ended = torsor("ik", "ur5", "targets.csv", "--frame", "tool0", "--degrees", "--out", "joints.csv")
    assert ended == (0, "wrote joints.csv: 5 rows\n", "")
    head, rows = rows_of("joints.csv")
    assert head == [*(f"deg[{name}]" for name in UR5.joints), "success", "position_error", "angle_error", "attempts"]
    np.testing.assert_allclose(reached(np.radians(rows[:, :6])), places, atol=MET)
    assert rows[:, 6].tolist() == [1.0] * 5
    words = ("--xyz", ",".join(map(repr, places[3, :3, 3].tolist())), "--rpy", ",".join(map(repr, angles[3].tolist())))
    alone = torsor("ik", "ur5", "--frame", "tool0", *words, "--degrees", "--json").json
    np.testing.assert_allclose(rows[3, :6], alone["q"], rtol=1e-12)
    refused = torsor("mass", "ur5", "joints.csv")  # degrees are not taken for radians
    assert refused.code == 1
    assert "has none of t, q, v, a, tau" in refused.err


def test_poses_written_by_pose_are_targets_and_its_joints_are_states(torsor):
    Q = UR5.random_configuration(np.random.default_rng(1), 3)
    ts.logs.Log(t=np.arange(3.0), q=Q, names={"q": UR5.joints}).write("states.csv")
    assert torsor("pose", "ur5", "states.csv", "--frame", "tool0", "--frame", "base_link", "--out", "poses.csv").code == 0
    assert torsor("ik", "ur5", "poses.csv", "--frame", "tool0", "--out", "joints.csv").code == 0
    assert torsor("pose", "ur5", "joints.csv", "--frame", "tool0", "--out", "again.csv").code == 0
    given, again = rows_of("poses.csv")[1][:, :8], rows_of("again.csv")[1]
    np.testing.assert_allclose(again, given, atol=MET)  # quaternions with w ≥ 0


def test_ik_of_a_table_names_the_rows_that_are_not_found(torsor):
    table = "x,y,z\n1,1,0\n3,0,0\n0,1,0\n0,0,5\n"
    ended = torsor("ik", "two_link", "-", "--attempts", "2", stdin=table)
    assert ended.code == 1
    assert ended.err == "torsor: <stdin>: 2 of 4 targets not found in 2 attempts, rows 2, 4; q is the closest\n"
    assert [line.split(",")[2] for line in ended.out.splitlines()] == ["success", "1", "0", "1", "0"]
    document = torsor("ik", "two_link", "-", "--attempts", "2", "--json", stdin=table).json
    assert [row["success"] for row in document["rows"]] == [1, 0, 1, 0]


def test_ik_of_a_table_longer_than_a_block_gives_the_same_rows(torsor, monkeypatch):
    p = UR5.pose(UR5.random_configuration(np.random.default_rng(2), 70), "tool0")[:, :3, 3]
    Path("targets.csv").write_text("t,x,y,z\n" + "".join(f"{k},{x!r},{y!r},{z!r}\n" for k, (x, y, z) in enumerate(p.tolist())))
    words = ("ik", "ur5", "targets.csv", "--frame", "tool0")
    whole = torsor(*words)
    assert (whole.code, whole.out.count("\n")) == (0, 71)
    monkeypatch.setattr("torsor.cli.target_table.NUMBERS_IN_MEMORY", 1)  # 64 rows at a time
    assert torsor(*words).out == whole.out


#: contents of a table of targets for two_link → the error message
TABLES = {
    "": "<stdin>:1: is empty; a line with the names of the columns was expected",
    "x,y\n1,1\n": "<stdin>: has x, y and no z",
    "x,y,z,roll\n1,1,0,0\n": "<stdin>: has roll and no pitch, yaw",
    "a,b\n1,1\n": "<stdin>: has no targets; name its columns x, y, z [m], and roll, pitch, yaw or qx, qy, qz, qw",
    "x,y,z,x\n1,1,0,1\n": "<stdin>: has x twice",
    "roll,pitch,yaw,qx,qy,qz,qw\n": "<stdin>: has roll, pitch, yaw and a quaternion; omit one of them",
    "x,y,z\n1,1,0\n1,nan,0\n": "<stdin>: row 2: position: finite numbers expected, not nan",
    "x,y,z\n1,1,0\n1,1,0\n1e99,1,0\n": "<stdin>: row 3: a target is farther away than 1e+09 m; lengths are in metres",
    "qx,qy,qz,qw\n0,0,0,0\n": "<stdin>: row 1: q: a quaternion of zeros (or NaN) is not a rotation",
    "x,y,z\n1,1\n": "<stdin>:2: has 2 cells in this line and 3 columns",
}


@pytest.mark.parametrize("table", TABLES)
def test_ik_of_an_invalid_table_names_file_and_row(torsor, table):
    ended = torsor("ik", "two_link", "-", "--out", "joints.csv", stdin=table)
    assert (ended.code, ended.out, ended.err) == (1, "", f"torsor: {TABLES[table]}\n")
    assert not Path("joints.csv").exists()


def test_ik_of_a_table_without_rows_gives_a_table_without_rows(torsor):
    ended = torsor("ik", "two_link", "-", stdin="x,y,z\n")
    assert ended == (0, "q[joint1],q[joint2],success,position_error,angle_error,attempts\n", "")


@pytest.mark.parametrize("ending", ["json", "parquet", "npz"])
def test_ik_writes_one_target_in_every_format(torsor, ending):
    ended = torsor("ik", "two_link", "--xyz", "1,1,0", "--out", f"q.{ending}")
    assert (ended.code, ended.err) == (0, "")
    assert f"wrote q.{ending}" in ended.out.splitlines()
    assert Path(f"q.{ending}").stat().st_size > 0


#: words after ``torsor ik`` → the error message
WRONG = {
    "two_link": "give a target: --xyz, --rpy or both, or a table of targets after the robot",
    "two_link targets.csv --xyz 1,1,0": "the targets are given twice: by --xyz and by targets.csv; omit one",
    "two_link targets.csv --rpy 0,0,0": "the targets are given twice: by --rpy and by targets.csv; omit one",
    "two_link targets.csv --all": "--all takes one target: --xyz, --rpy, and no table",
    "two_link targets.csv --open": "--open takes one target: --xyz, --rpy, and no table",
    "two_link targets.csv": "there is no file targets.csv",
    "two_link targets.npz": "targets.npz: targets are read from .csv or from - (CSV on stdin)",
    "two_link 1,1,0": "1,1,0 is not a file of targets; did you mean --xyz 1,1,0?",
    "two_link --xyz 1,1": "--xyz takes 3 numbers, 2 given",
    "two_link --xyz 1,1,nan": "--xyz: every number must be finite, not nan",
    "two_link --xyz 1,1,1e99": "a target is farther away than 1e+09 m; lengths are in metres",
    "two_link --rpy 0,0,up": "--rpy: 'up' is not a number",
    "two_link --xyz 1,1,0 --frame hand": "there is no frame or link named 'hand'; valid names: base, link1, link2, tip, world",
    "two_link --xyz 1,1,0 --frame base": "no joint of robot 'two_link' moves base",
    "two_link --xyz 1,1,0 --joints knee": "there is no moving joint named 'knee'; valid names: joint1, joint2",
    "two_link --xyz 1,1,0 --q0 1,2,3": "--q0 takes 2 numbers, 3 given: joint1, joint2",
    "two_link --xyz 1,1,0 --out q.txt": "--out q.txt: the extension must be one of .csv, .json, .parquet, .npz",
    "ur5 --xyz 1,1,0": "--frame is needed: robot 'ur5' has 2 tips (ee_link, tool0)",
    "- -": "ROBOT and TARGETS cannot both come from stdin",
}


@pytest.mark.parametrize("words", WRONG)
def test_ik_refuses_wrong_words_in_one_line(torsor, words):
    ended = torsor("ik", *words.split())
    assert (ended.code, ended.out, ended.err) == (2, "", f"torsor: {WRONG[words]}\n")


# -- degrees of other commands -----------------------------------------------------------------------------------


def test_pose_in_degrees_reads_joints_and_prints_roll_pitch_yaw(torsor):
    q = np.array([10.0, -60.0, 80.0, 20.0, 40.0, 5.0])
    words = ("pose", "ur5", "--q", ",".join(map(str, q)), "--degrees", "--frame", "tool0")
    document = torsor(*words, "--json").json
    np.testing.assert_allclose(document["q"], q, rtol=1e-14)
    assert document["angles"] == "deg"
    T = reached(np.radians(q))
    np.testing.assert_allclose(document["tool0"][:3], T[:3, 3], rtol=1e-12)
    np.testing.assert_allclose(ts.rigid.from_rpy(np.radians(document["tool0"][3:])), T[:3, :3], atol=1e-14)
    assert torsor(*words).out.split()[:10] == ["frame", "x", "y", "z", "roll", "[deg]", "pitch", "[deg]", "yaw", "[deg]"]


def test_pose_in_degrees_keeps_metres_and_named_configurations(torsor):
    robot = ts.robots.rp_arm()
    document = torsor("pose", "rp_arm", "--q", "joint1=90,joint2=0.5", "--degrees", "--json").json
    np.testing.assert_allclose(
        document[robot.frames[-1]][:3], robot.pose([np.pi / 2, 0.5], robot.frames[-1])[:3, 3], atol=1e-15
    )
    named = torsor("pose", "panda", "--q", "ready", "--degrees", "--json").json["q"]
    np.testing.assert_allclose(np.radians(named[:7]), ts.robots.panda().configuration("ready")[:7], rtol=1e-14)


@pytest.mark.parametrize("words", [("states.csv",), ("--out", "poses.csv")])
def test_pose_in_degrees_refuses_tables(torsor, words):
    ended = torsor("pose", "two_link", *words, "--degrees")
    assert (ended.code, ended.err) == (
        2, "torsor: --degrees is for one state that is printed; tables of states are in rad, and poses have quaternions\n"
    )  # fmt: skip


def test_simulate_in_degrees_starts_from_the_same_state_as_in_radians(torsor):
    words, aim = ("simulate", "rp_arm", "--seconds", 0.05, "--json", "--control", "pd"), np.pi / 6
    degrees = torsor(*words, "--q", "30,0.5", "--v", "90,0.1", "--target", "joint1=30", "--degrees").json
    radians = torsor(*words, "--q", f"{aim!r},0.5", "--v", f"{np.pi / 2!r},0.1", "--target", f"joint1={aim!r}").json
    assert degrees["angles"] == "deg"
    assert "angles" not in radians
    np.testing.assert_allclose(degrees["start"]["q"], [30.0, 0.5], rtol=1e-14)
    for x in ("q", "v"):
        np.testing.assert_allclose(np.array(degrees["end"][x]) * [np.pi / 180, 1.0], radians["end"][x], rtol=1e-12)
    assert "simulate([0.5235987755982988, 0.5], [1.5707963267948966, 0.1]" in degrees["call"]


def test_simulate_in_degrees_prints_the_unit(torsor):
    shown = torsor("simulate", "rp_arm", "--seconds", 0.05, "--q", "30,0.5", "--degrees").out
    assert "Configuration [deg, m]" in shown
    assert next(line for line in shown.splitlines() if line.startswith("joint1")).split()[1] == "30"


def test_unit_of_angles_is_a_degree_for_rotations_only():
    robot = ts.robots.rp_arm().with_base("floating")
    units = angle_units(robot, True)
    degree = np.pi / 180
    np.testing.assert_array_equal(units["q"], [*[1.0] * 7, degree, 1.0])  # position and quaternion of the base
    np.testing.assert_array_equal(units["v"], [*[degree] * 3, *[1.0] * 3, degree, 1.0])
    assert (angle_units(robot, False)["q"] == 1.0).all()
