"""torque, accel, mass, pose, jacobian: results of the library, from options, CSV, Parquet, NPZ and stdin."""

from __future__ import annotations

import csv
import io
from pathlib import Path

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

#: command and its options → name of the result, and the function of the library
JOBS = {
    "torque": ((), "tau", lambda: ROBOT.inverse_dynamics(Q, V, A)),  # and the residual, since the table has tau
    "accel": ((), "a", lambda: ROBOT.forward_dynamics(Q, V, TAU)),
    "mass": ((), "M", lambda: ROBOT.mass_matrix(Q)),
    "jacobian": (("--in", "body"), "J", lambda: ROBOT.jacobian(Q, "tip", "body")),
}


def table(text: str) -> tuple[list[str], np.ndarray]:
    head, *rows = csv.reader(line for line in io.StringIO(text) if not line.startswith("# torsor_digest "))
    return head, np.array(rows, dtype=float)


@pytest.fixture
def files(torsor):
    for name in FILES[:3]:
        LOG.write(name)
    with open("states.csv") as stream:
        return stream.read()


@pytest.mark.parametrize("command", ["torque", "accel", "mass", "pose", "jacobian", "explain"])
def test_a_named_configuration_is_a_q(torsor, command):
    more = ("--json", *(("--frame", "panda_hand") if command == "jacobian" else ()))
    by_name = torsor(command, "panda", "--q", "ready", *more)
    q = ",".join(map(repr, ts.robots.panda().configuration("ready").tolist()))
    by_numbers = torsor(command, "panda", f"--q={q}", *more)
    assert (by_name.code, by_name.err) == (0, "")
    assert by_name.json == by_numbers.json


def test_named_configurations_of_a_file_and_its_srdf(torsor):
    robot = ts.robots.ur5().with_configuration("low", {"elbow_joint": 1.0})
    ts.save(robot, "arm.urdf")
    ts.save_srdf(robot, "arm.srdf")
    ts.save(robot, "arm.mjcf")
    found = [torsor("info", *words, "--samples", 1, "--json") for words in (("arm.urdf", "--srdf", "auto"), ("arm.mjcf",))]
    assert [ended.json["configurations"] for ended in found] == [
        {name: robot.configuration(name).tolist() for name in robot.configurations}
    ] * 2
    assert "configurations" in torsor("info", "arm.mjcf", "--samples", 1).out
    start = torsor("simulate", "arm.urdf", "--srdf", "arm.srdf", "--q", "low", "--seconds", 0.01, "--json").json["start"]["q"]
    assert start == robot.configuration("low").tolist()
    aim = ("--control", "pd", "--target", "low", "--seconds", 0.01)
    assert torsor("simulate", "arm.urdf", "--srdf", "auto", "--q", "low", *aim).code == 0


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("command", JOBS)
def test_table_results_equal_the_library_bit_for_bit(torsor, files, command, file):
    words, name, library = JOBS[command]
    ended = torsor(command, "two_link", file, *words, stdin=files if file == "-" else "")
    assert ended.code == 0
    assert ended.err.count("\n") == (command == "torque")
    head, rows = table(ended.out)
    assert head[0] == "t"
    assert all(x.startswith((f"{name}[", "residual[")) for x in head[1:])
    np.testing.assert_array_equal(rows[:, 0], T)
    np.testing.assert_array_equal(rows[:, 1:], _with_residual(command, library()))


@pytest.mark.parametrize("command", JOBS)
def test_results_are_the_same_in_every_file_format(torsor, files, command):
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
    np.testing.assert_array_equal(rows[:, 1:], _with_residual(command, expected))


def _with_residual(command: str, result: np.ndarray) -> np.ndarray:
    rows = result.reshape(N, -1)
    return np.hstack([rows, TAU - rows]) if command == "torque" else rows


def test_pose_prints_position_and_quaternion(torsor, files):
    head, rows = table(torsor("pose", "two_link", "states.csv").out)
    assert head == ["t", *(f"tip[{p}]" for p in ("x", "y", "z", "qx", "qy", "qz", "qw"))]
    q1, q12 = Q[:, 0], Q.sum(axis=1)
    np.testing.assert_allclose(rows[:, 1], np.cos(q1) + np.cos(q12), atol=1e-14)  # planar arm, computed by hand
    np.testing.assert_allclose(rows[:, 2], np.sin(q1) + np.sin(q12), atol=1e-14)
    np.testing.assert_allclose(rows[:, 6], np.sin(q12 / 2), atol=1e-14)
    np.testing.assert_allclose(rows[:, 7], np.cos(q12 / 2), atol=1e-14)


def test_file_longer_than_a_block_gives_every_row(torsor, monkeypatch, files):
    from torsor.cli import rows as reading

    monkeypatch.setattr(reading, "NUMBERS_IN_MEMORY", 1)  # 64 rows at a time
    _, rows = table(torsor("torque", "two_link", "states.csv").out)
    np.testing.assert_array_equal(rows[:, 1:3], ROBOT.inverse_dynamics(Q, V, A))
    document = torsor("torque", "two_link", "states.npz", "--json").json
    assert len(document["rows"]) == N


# -- one state, by options ---------------------------------------------------------------------------------------


def test_options_q_v_and_a_give_one_state(torsor):
    document = torsor("torque", "two_link", "--q", "0.1,0.2", "--v", "1 2", "--a", "3", "--json").json
    assert document["tau"] == ROBOT.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 3.0]).tolist()
    assert document["robot"] == "two_link"
    assert document["coordinates"] == ["joint1", "joint2"]
    assert document["a"] == [3.0, 3.0]


def test_options_by_joint_name_leave_other_joints_at_zero(torsor):
    document = torsor("accel", "ur5", "--q", "elbow_joint=1.5", "--tau", "elbow_joint=-2,wrist_1_joint=3", "--json").json
    assert document["q"] == [0, 0, 1.5, 0, 0, 0]
    robot = ts.robots.ur5()
    assert document["a"] == robot.forward_dynamics([0, 0, 1.5, 0, 0, 0], [0.0] * 6, [0, 0, -2, 3, 0, 0]).tolist()


def test_default_state_is_zero_and_noted(torsor):
    ended = torsor("torque", "two_link")
    assert ended.out.startswith("At the zero configuration, at rest; --q, --v, --a to change it.\n")
    assert "joint1   0   0   0   29.43" in ended.out


def test_wrench_option_acts_on_the_robot(torsor):
    words = ("--wrench", "tip=0,0,1,2,3,0", "--wrench", "link1=0,0,-1,0,0,0")
    document = torsor("torque", "two_link", *words, "--json").json
    wrenches = {"tip": [0, 0, 1, 2, 3, 0], "link1": [0, 0, -1, 0, 0, 0]}
    assert document["tau"] == ROBOT.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], wrenches).tolist()


def test_damping_option_includes_damping(torsor):
    robot = ts.robots.puma560()
    document = torsor("torque", "puma560", "--v", "1", "--damping", "--json").json
    assert document["tau"] == robot.with_damping(True).inverse_dynamics([0.0] * 6, [1.0] * 6, [0.0] * 6).tolist()


def test_options_supply_missing_columns(torsor):
    table_of_q = "q1,q2\n0.1,0.2\n0.3,0.4\n"
    _, rows = table(torsor("torque", "two_link", "-", "--v", "1", "--a", "0", stdin=table_of_q).out)
    q = np.array([[0.1, 0.2], [0.3, 0.4]])
    np.testing.assert_array_equal(rows, ROBOT.inverse_dynamics(q, np.ones((2, 2)), np.zeros((2, 2))))


def test_out_option_writes_one_state_to_a_file(torsor):
    torsor("mass", "two_link", "--out", "m.npz")
    np.testing.assert_array_equal(np.load("m.npz")["M"], ROBOT.mass_matrix([[0.0, 0.0]]))


def test_table_without_rows_gives_a_table_without_rows(torsor):
    ended = torsor("mass", "two_link", "-", stdin="q1,q2\n")
    assert ended.code == 0
    assert ended.out.splitlines() == ["M[joint1][joint1],M[joint1][joint2],M[joint2][joint1],M[joint2][joint2]"]


def test_robot_can_be_read_from_stdin(torsor):
    ts.save_urdf(ts.robots.ur5(), "arm.urdf")
    with open("arm.urdf") as stream:
        text = stream.read()
    piped, named = torsor("mass", "-", "--json", stdin=text), torsor("mass", "arm.urdf", "--json")
    assert piped.json == named.json


def test_reading_options_change_the_robot(torsor):
    moon = torsor("torque", "two_link", "--gravity", "0,-1.62,0", "--json").json
    assert moon["tau"] == ROBOT.with_gravity([0, -1.62, 0]).gravity_force([0.0, 0.0]).tolist()
    assert len(torsor("mass", "ur5", "--base", "floating", "--json").json["coordinates"]) == 12
    assert len(torsor("mass", "panda", "--no-mimic", "--json").json["coordinates"]) == 9


def test_joint_names_in_options_may_have_commas_and_equal_signs(torsor):
    base, joints = ts.robots.two_link().with_gravity((0, 0, -9.81)), ("a,b=1", "c=2")
    ts.save_urdf(base, "plain.urdf")
    with open("plain.urdf") as stream, open("odd.urdf", "w") as odd:
        text = stream.read()
        for old, new in zip(base.joints, joints, strict=True):
            text = text.replace(f'"{old}"', f'"{new}"')
        odd.write(text)
    assert torsor("mass", "odd.urdf", "--q", "a,b=1=0.5, c=2=-1", "--json").json["q"] == [0.5, -1.0]
    assert torsor("mass", "odd.urdf", "--q", "c=2=-1", "--json").json["q"] == [0.0, -1.0]


def test_rounding_errors_are_printed_as_zero(torsor):
    flags = ("panda", "--q", "0,0,0,-1.5,0,1.5,0,0")
    exact = torsor("torque", *flags, "--json").json["tau"]
    assert 0 < abs(exact[0]) < 1e-16
    rows = dict(line.split(maxsplit=1) for line in torsor("torque", *flags).out.splitlines()[2:])
    assert rows["panda_joint1"].split()[-1] == "0"
    assert float(rows["panda_joint2"].split()[-1]) == pytest.approx(exact[1], rel=1e-4)
    assert "e-" not in torsor("explain", *flags, "--joint", "panda_joint1").out


# -- unusual tables and robots ------------------------------------------------------------------------------------------

#: content of the invalid row of a table → the error message
ROWS = {
    "1e200,0,0": "the result is not finite although every number given is: the numbers overflow",
    "nan,0,0": "",
    "0,0,-inf": "",
}


@pytest.mark.parametrize("file", ["states.csv", "states.parquet", "states.npz", "-"])
@pytest.mark.parametrize("row", ROWS)
def test_invalid_row_error_names_file_and_row(torsor, monkeypatch, row, file):
    from torsor.cli import rows as reading

    monkeypatch.setattr(reading, "NUMBERS_IN_MEMORY", 1)  # 64 rows at a time: the invalid row is in the second block
    speed = np.zeros((100, 3))
    speed[76] = [float(x) for x in row.split(",")]
    log = logs.Log(t=T[:100], v=speed[:, :2], a=np.zeros((100, 2)), tau=speed[:, 1:], names=NAMES)
    log.write("states.csv" if file == "-" else file)
    text = Path("states.csv").read_text() if file == "-" else ""
    command = "accel" if row.startswith("0") else "torque"
    ended = torsor(command, "two_link", file, "--q", 0, "--out", "out.csv", stdin=text)
    assert ended.code == 1
    place = "<stdin>" if file == "-" else file
    if ROWS[row]:
        assert ended.err == f"torsor: {place}: row 77 (t = 0.76 s): {ROWS[row]}\n"
    else:
        assert ended.err.startswith(f"torsor: {place}: ")
        assert ended.err.endswith(" in row 77 (t = 0.76 s)\n")
    assert "batch index" not in ended.err


def test_error_of_the_library_names_the_row(torsor, monkeypatch):
    """An error in the third and fourth row: the message names the third."""
    monkeypatch.setattr(ts.Robot, "forward_dynamics", _refuse_beyond(0.5))
    ended = torsor("accel", "two_link", "-", "--v", 0, "--tau", 0, stdin="q1,q2\n0,0\n0.1,0\n0.7,0\n0.8,0\n")
    assert ended.err == "torsor: <stdin>: row 3: 0.7 is too far\n"


def _refuse_beyond(limit):
    right = ts.Robot.forward_dynamics

    def computed(robot, q, *rest, **options):
        if np.max(q) > limit:
            raise ts.errors.SingularError(f"{np.max(q):g} is too far")
        return right(robot, q, *rest, **options)

    return computed


@pytest.mark.parametrize("words", [("-",), ()])
def test_out_option_reports_file_and_number_of_rows(torsor, words):
    rows = 3 if words else 1
    words = ("mass", "two_link", *words, "--out", "m.npz")
    table_of_q = "q1,q2\n0,1\n2,3\n4,5\n"
    assert torsor(*words, stdin=table_of_q).out == f"wrote m.npz: {rows} row{'s' * bool(rows - 1)}\n"
    document = torsor(*words, "--json", stdin=table_of_q).json
    assert document == {"robot": "two_link", "coordinates": ["joint1", "joint2"], "file": "m.npz", "rows": rows}
    assert len(np.load("m.npz")["M"]) == rows


ONE = (
    "<robot name='one'><link name='only'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>\
</inertial></link></robot>"
)
#: command → its output for a robot of one link
STILL = {
    "mass -": "Robot 'one' has no moving joint.\n",
    "torque -": "Robot 'one' has no moving joint.\n",
    "accel -": "Robot 'one' has no moving joint.\n",
    "explain -": "Robot 'one' has no moving joint.\n",
    "jacobian -": "Robot 'one' has no moving joint.\n",
    "jacobian - --base floating": "At the zero configuration; --q to change it.\n\nJ    floating_base[0]",
    "pose - --frame only": "Robot 'one' has no moving joint.\n\nframe   x   y   z   qx   qy   qz   qw\n",
    "info -": "one: 1 link, 0 moving joints, nq = 0, nv = 0, 1 kg, fixed base\nonly  1 kg\n\ntotal mass  1 kg\n",
}


@pytest.mark.parametrize("words", STILL)
def test_commands_print_results_for_a_robot_without_moving_joints(torsor, words):
    ended = torsor(*words.split(), stdin=ONE)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(STILL[words])


def test_commands_that_need_moving_joints_or_a_tip_give_errors(torsor):
    with open("one.urdf", "w") as stream:
        stream.write(ONE)
    assert torsor("mass", "one.urdf", "-", stdin="q1\n0\n").err == (
        "torsor: robot 'one' has no moving joint; nothing can be read from -\n"
    )
    assert torsor("simulate", "one.urdf").err == (
        "torsor: robot 'one' has no moving joint, so there is nothing to simulate; try --base floating\n"
    )
    assert torsor("jacobian", "bricard").err.startswith("torsor: --frame is needed: robot 'bricard' has no tip (world, ground,")
    assert torsor("mass", "-", "-").err == "torsor: ROBOT and STATES cannot both come from stdin\n"


def test_degrees_and_open_loops_give_warnings(torsor):
    ended = torsor("mass", "ur5", "--q", "90", "--json")
    assert ended.json["q"] == [90] * 6
    assert ended.err == (
        "torsor: warning: q of 'shoulder_pan_joint' is 90 rad, and its limits are -6.28319 and 6.28319: are these degrees?\n"
    )
    table_of_q = "q1,q2,q3\n0,0,0\n0.5,0.5,0.5\n0.6,0.5,0.5\n"
    ended = torsor("accel", "four_bar", "-", "--v", "0", "--tau", "0", stdin=table_of_q)
    assert ended.err.startswith("torsor: warning: <stdin>: row 2: q violates loop closure by 0.595 (m, rad)")
    assert ended.err.count("\n") == 1
    assert torsor("accel", "four_bar").err == ""
    assert torsor("mass", "panda", "--q", "3").err == ""  # slightly beyond a limit: no warning


def test_mechanism_starts_near_the_given_configuration(torsor):
    bars = ts.mechanisms.four_bar()
    words = ("simulate", "four_bar", "--seconds", 0.01, "--json")
    start = torsor(*words, "--q", "crank=0.5", "--v", "crank=1").json["start"]
    assert start["q"][0] == pytest.approx(0.5, abs=1e-12)  # assembling the loop may round
    np.testing.assert_allclose(bars.constrained().residual(start["q"]), 0, atol=1e-12)
    np.testing.assert_allclose(bars.constrained().jacobian(start["q"]) @ start["v"], 0, atol=1e-12)
    assert not any(torsor(*words, "--control", "gravity").json["start"]["v"])


def test_topic_option_selects_a_topic_of_an_mcap_file(torsor):
    pytest.importorskip("mcap")
    logs.Log(t=T, q=Q, v=V, names=NAMES).write("states.mcap")
    LOG.write("states.csv")
    _, rows = table(torsor("mass", "two_link", "states.mcap", "--topic", "/joint_states").out)
    np.testing.assert_array_equal(rows[:, 1:], ROBOT.mass_matrix(Q).reshape(N, -1))
    ended = torsor("mass", "two_link", "states.mcap", "--topic", "/arm")
    assert ended.err == "torsor: states.mcap: has no joint states on topic '/arm'; it has them on /joint_states\n"
    ended = torsor("mass", "two_link", "states.csv", "--topic", "/arm")
    assert ended.err == "torsor: --topic needs an MCAP file; states.csv is not one\n"
    assert torsor("mass", "two_link", "--topic", "/arm").code == 2


def test_numbers_in_place_of_a_file_give_a_hint(torsor):
    assert torsor("mass", "two_link", "0.1,0.2").err == "torsor: 0.1,0.2 is not a file of states; did you mean --q 0.1,0.2?\n"


@pytest.mark.parametrize("width", [50, 80, 130, 200])
def test_wide_matrix_is_printed_completely_in_a_narrow_terminal(torsor, monkeypatch, width):
    """Blocks of columns below each other; long names are replaced by numbers unless they fit."""
    from torsor.cli import out

    monkeypatch.setattr(out, "WIDE", width)
    shown = torsor("mass", "ur5", "--q", "0.5").out
    assert max(map(len, shown.splitlines())) <= width
    numbered = width < 130
    pieces = [[line.split()[1 + numbered :] for line in piece.splitlines()[2:]] for piece in shown.split("\n\n")]
    M = ts.robots.ur5().mass_matrix(np.full(6, 0.5))
    np.testing.assert_allclose(np.hstack([np.array(piece, dtype=float) for piece in pieces]), M, rtol=1e-4, atol=1e-12)
    shown = torsor("jacobian", "ur5", "--frame", "tool0").out
    assert ("Columns: 1 shoulder_pan_joint, 2" in " ".join(shown.split())) is numbered


@pytest.mark.parametrize("width", [50, 80, 130])
def test_poses_are_printed_completely_in_a_narrow_terminal(torsor, monkeypatch, width):
    """Every piece of the table names the frames, and no number is cut."""
    from torsor.cli import out

    monkeypatch.setattr(out, "WIDE", width)
    shown = torsor("pose", "ur5", "--q", "0.5").out
    assert max(map(len, shown.splitlines())) <= width
    robot, cells = ts.robots.ur5(), {}
    for piece in shown.split("\n\n"):
        for line in piece.splitlines()[2:]:
            name, *numbers = line.split()
            cells.setdefault(name, []).extend(map(float, numbers))
    assert cells.keys() == set(robot.frames)
    place = robot.pose(np.full(6, 0.5), "tool0")[:3, 3]
    np.testing.assert_allclose(cells["tool0"][:3], place, rtol=1e-4)
    assert {len(numbers) for numbers in cells.values()} == {7}


@pytest.mark.parametrize("name", ["panda", "humanoid"])
def test_tree_of_info_fits_a_narrow_terminal(torsor, monkeypatch, name):
    from torsor.cli import out

    monkeypatch.setattr(out, "WIDE", 80)
    shown = torsor("info", name).out.partition("Joints [")[0]
    assert max(map(len, shown.splitlines())) <= 80
    robot = getattr(ts.robots, name)()
    assert all(joint in shown for joint in robot.joints if joint != "floating_base")


def test_torque_of_a_saved_simulation_differentiates_its_velocities(torsor):
    """run.save writes no accelerations; the residual beside tau is small only with the right ones."""
    robot = ts.robots.two_link()
    run = robot.simulate([0.1, 0.2], [0.0, 0.0], 0.5, [3.0, -1.0])
    run.save("rec.csv")
    ended = torsor("torque", "two_link", "rec.csv")
    assert ended.code == 0
    head, *rows = ended.out.splitlines()
    assert head == "t,tau[joint1],tau[joint2],residual[joint1],residual[joint2]"
    values = np.array([row.split(",") for row in rows], float)
    np.testing.assert_allclose(values[:, 1:3], run.tau, atol=1e-3)  # at the ends; the rms is smaller
    np.testing.assert_allclose(values[:, 1:3] + values[:, 3:], run.tau, atol=1e-12)
    note, residual = ended.err.splitlines()
    assert note.startswith("torsor: note: rec.csv: has no a; it is the derivative of v by a zero-phase filter, cutoff joint1 ")
    assert residual.startswith("torsor: note: rec.csv: rms of the residual, tau of the table − computed, by joint: joint1 ")
    document = torsor("torque", "two_link", "rec.csv", "--cutoff", 30, "--json").json
    assert document["cutoff"] == [30.0, 30.0]
    assert list(document["rows"][0]) == ["t", "tau", "residual"]
    assert torsor("torque", "two_link", "rec.csv", "--cutoff", 1e4).err == (
        "torsor: --cutoff must be above 0 and at most 500 Hz, half the sampling rate, not 10000.0\n"
    )
    assert torsor("torque", "two_link", "--cutoff", 5).err.startswith("torsor: --cutoff needs a table of states")


def test_cutoff_needs_a_table_without_accelerations(torsor):
    Path("states.csv").write_text("t,q1,q2,v1,v2,a1,a2\n0,0,0,0,0,0,0\n")
    assert torsor("torque", "two_link", "states.csv", "--cutoff", 5).err == (
        "torsor: --cutoff needs a table with t and without a, which is then differentiated\n"
    )
    assert torsor("torque", "two_link", "states.csv").out.splitlines()[0] == "t,tau[joint1],tau[joint2]"


def test_blocks_of_a_differentiated_table_are_those_of_the_whole(torsor, monkeypatch):
    ts.robots.two_link().simulate([0.1, 0.2], [0.0, 0.0], 0.5).save("rec.csv")
    whole = torsor("torque", "two_link", "rec.csv").out
    monkeypatch.setattr("torsor.cli.rows.NUMBERS_IN_MEMORY", 700)
    assert torsor("torque", "two_link", "rec.csv").out == whole
