"""Logs: columns by name in the order of the robot, every format bit for bit, reading in pieces, errors with their place."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import torsor as ts
from torsor import logs
from torsor.errors import ArgumentError, FileError, MissingExtra, UnknownName
from torsor.io.logs.columns import are_numbered, parse_column
from torsor.io.logs.log import coordinates
from torsor.support import tables

ENDINGS = ("csv", "parquet", "npz", "mcap")


@pytest.fixture(scope="module")
def arm():
    return ts.robots.ur5()


def random_log(robot, rows=50, a=False, seed=0) -> logs.Log:
    rng = np.random.default_rng(seed)
    columns = {k: rng.normal(size=(rows, robot.nv)) for k in ("q", "v", "tau", *(["a"] if a else []))}
    return logs.Log(t=np.arange(rows) * 1e-3, **columns, names=coordinates(robot), start=1_700_000_000_123_456_789)


def same(x: logs.Log, y: logs.Log) -> None:
    assert (x.quantities, dict(x.names), x.start) == (y.quantities, dict(y.names), y.start)
    for k in ("t", *x.quantities):
        np.testing.assert_array_equal(getattr(x, k), getattr(y, k))


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_is_read_back_bit_for_bit(tmp_path, arm, ending):
    log = random_log(arm)
    log.write(tmp_path / f"run.{ending}")
    again = logs.read(tmp_path / f"run.{ending}")
    if ending == "mcap":  # MCAP stores whole nanoseconds
        np.testing.assert_allclose(again.t, log.t, rtol=0, atol=1e-15)
        again = logs.Log(log.t, again.q, again.v, None, again.tau, again.names, again.start)
    same(again, log)
    assert [p.name for p in tmp_path.iterdir()] == [f"run.{ending}"]


def test_csv_keeps_every_bit_of_any_number_and_is_the_same_with_pyarrow(monkeypatch):
    bits = np.random.default_rng(1).integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    scales = 10.0 ** np.arange(-9, 18, 0.01)  # includes the changes of notation
    odd = [0.0, -0.0, 1.0, 1e-3, 1e9, 1e-5, 1e15, 1e16, 5e-324, 1.7976931348623157e308, np.inf, -np.inf]
    x = np.concatenate([odd, bits[np.isfinite(bits)], scales, -scales / 3, np.rint(scales)])
    columns = [x, x[::-1]]  # the second array is not contiguous
    written = []
    for many in (0, 10**9):
        monkeypatch.setattr(tables, "MANY", many)
        written.append(tables.table_bytes(tables.csv_writer, ["a", "b"], columns))
    assert written[0] == written[1]
    (table,) = tables.read_csv(io.BytesIO(written[0]), rows=10**6)
    for back, column in zip(table.columns, columns, strict=True):
        np.testing.assert_array_equal(np.ascontiguousarray(back).view(np.uint64), np.ascontiguousarray(column).view(np.uint64))


@pytest.mark.parametrize("ending", ENDINGS)
def test_log_written_and_read_in_pieces_equals_the_whole_log(tmp_path, arm, ending):
    log = random_log(arm)
    with logs.Writer(tmp_path / f"run.{ending}") as out:  # written in two pieces, read in eight
        for part in (slice(0, 20), slice(20, 50)):
            out.append(logs.Log(log.t[part], log.q[part], log.v[part], None, log.tau[part], log.names, log.start))
    pieces = list(logs.read_chunks(tmp_path / f"run.{ending}", rows=7))
    assert [len(p) for p in pieces] == [7] * 7 + [1]
    assert [p.row for p in pieces] == list(range(0, 50, 7))
    np.testing.assert_array_equal(np.concatenate([p.q for p in pieces]), log.q)
    np.testing.assert_allclose(np.concatenate([p.t for p in pieces]), log.t, rtol=0, atol=1e-15)


def test_log_states_are_in_the_joint_order_of_the_robot(tmp_path, arm):
    """Columns in another order, with extra joints, are returned in the order of the robot; inverse dynamics agree."""
    log = random_log(arm, a=True)
    shuffled = [4, 0, 5, 1, 3, 2]
    names = tuple(arm.joints[k] for k in shuffled)
    wide = {k: np.hstack([getattr(log, k)[:, shuffled], np.full((50, 1), np.nan)]) for k in log.quantities}
    logs.Log(t=log.t, **wide, names=dict.fromkeys(wide, (*names, "gripper"))).write(tmp_path / "run.csv")
    read = logs.read(tmp_path / "run.csv")
    t, q, v, a, tau = read.states(arm)
    for k, x in (("t", t), ("q", q), ("v", v), ("a", a), ("tau", tau)):
        np.testing.assert_array_equal(x, getattr(log, k))
    np.testing.assert_array_equal(arm.inverse_dynamics(q, v, a), arm.inverse_dynamics(log.q, log.v, log.a))
    assert read.unused(arm) == ("q[gripper]", "v[gripper]", "a[gripper]", "tau[gripper]")
    ordered = logs.read(tmp_path / "run.csv", arm)
    assert ordered.names["q"] == arm.joints
    np.testing.assert_array_equal(ordered.tau, log.tau)


def test_saved_simulation_is_read_as_a_log(tmp_path):
    robot = ts.robots.quadruped()
    run = robot.simulate(robot.neutral(), np.zeros(robot.nv), 0.01)
    for ending in ("csv", "npz", "parquet"):
        run.save(tmp_path / f"run.{ending}")
        states = logs.read(tmp_path / f"run.{ending}").states(robot, needs=("q", "v", "tau"))
        np.testing.assert_array_equal(states.q, run.q)
        np.testing.assert_array_equal(states.v, run.v)
        np.testing.assert_array_equal(states.tau, run.tau)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("t", ("t", "")), ("time", ("t", "")), ("q[elbow]", ("q", "elbow")), ("q[base[3]]", ("q", "base[3]")),
        ("position.elbow", ("q", "elbow")), ("elbow.effort", ("tau", "elbow")), ("q_elbow", ("q", "elbow")),
        ("/joint_states/elbow_joint/velocity", ("v", "elbow_joint")), ("qdd3", ("a", "3")), ("tau_1", ("tau", "1")),
        ("voltage", ("", "voltage")), ("quality", ("", "quality")), ("", ("", "")),
    ],
)  # fmt: skip
def test_usual_column_names_are_recognised(column, expected):
    assert parse_column(column) == expected


def test_numbered_columns_are_assigned_by_number(arm):
    head = ",".join(["time", *(f"q{k}" for k in range(1, 7))])
    log = logs.read(io.BytesIO(f"{head}\n0.5,1,2,3,4,5,6\n".encode()), format="csv")
    np.testing.assert_array_equal(log.states(arm).q, [[1, 2, 3, 4, 5, 6]])
    assert log.t.tolist() == [0.5]
    with pytest.raises(FileError, match="6 columns without names, and the robot 2 coordinates"):
        log.states(ts.robots.two_link())
    assert not are_numbered(("1", "3"))


def test_npz_of_plain_arrays_is_read_as_a_log(tmp_path, arm):
    np.savez(tmp_path / "run.npz", q=np.ones((4, 6)), v=np.zeros((4, 6)), voltage=np.zeros(4))
    log = logs.read(tmp_path / "run.npz")
    assert log.states(arm).q.shape == (4, 6)
    assert (log.t, log.ignored) == (None, ("voltage",))


def check_refusal(text: str, match: str, **options):
    with pytest.raises(FileError, match=match) as caught:
        logs.read(io.BytesIO(text.encode()), format="csv", **options)
    return caught.value


def test_invalid_csv_errors_name_line_and_column():
    assert check_refusal("t,q[a]\n0,1\n0,x\n", "column 'q.a.' contains 'x', which is not a number").line == 3
    assert check_refusal("t,q[a]\n0,1\n0,1,2\n", "3 cells in this line and 2 columns").line == 3
    assert check_refusal('# {"start": 5}\nt,q[a]\n0,1\n\n0,\n', "column 'q.a.' is empty").line == 5
    check_refusal("t,q[a]\n0,1_0\n", "'1_0', which is not a number")
    check_refusal("0,1\n2,3\n", "must name the columns")
    check_refusal("", "empty")
    check_refusal("# {\nt\n", "not valid JSON")
    check_refusal('# {"names": 5}\nt\n0\n', "has invalid metadata")
    check_refusal("t,q[a]\n0,1\r2\n", "CSV|cells in this line")
    check_refusal("t,q[a],q[a]\n0,1,2\n", "joint 'a' twice")
    check_refusal("t,time\n0,1\n", "two columns of time")
    check_refusal("voltage\n1\n", "none of t, q, v, a, tau")
    with pytest.raises(FileError, match="UTF-8"):
        logs.read(io.BytesIO(b"t,q[\xff]\n"), format="csv")


def test_log_states_refuses_missing_joints_and_nan(arm):
    names = dict.fromkeys(("q", "v"), arm.joints)
    q = np.zeros((5, 6))
    q[3, 2] = np.nan
    with pytest.raises(FileError, match=r"q of 'elbow_joint' is nan in row 4 \(t = 0.3 s\)"):
        logs.Log(t=np.arange(5) / 10, q=q, names=names).states(arm)
    q[:, 2] = np.nan
    with pytest.raises(FileError, match="every row"):
        logs.Log(q=q, names=names).states(arm)
    with pytest.raises(FileError, match="has no q of 'wrist_3_joint'; it has 'shoulder_pan_joint'"):
        logs.Log(q=q[:, :5], names={"q": arm.joints[:5]}).states(arm)
    with pytest.raises(FileError, match="has no tau; it has q"):
        logs.Log(q=q, names=names).states(arm, needs=("tau",))


def test_log_refuses_arrays_that_do_not_form_one_table():
    with pytest.raises(FileError, match="differ in length"):
        logs.Log(t=[0.0], q=[[1.0], [2.0]])
    with pytest.raises(FileError, match="shape"):
        logs.Log(q=[1.0, 2.0])
    with pytest.raises(FileError, match="2 columns and 1 names"):
        logs.Log(q=[[1.0, 2.0]], names={"q": ("a",)})


def test_read_log_refuses_other_files_formats_and_options(tmp_path):
    for ending in ("parquet", "npz", "mcap"):
        (tmp_path / f"x.{ending}").write_bytes(b"nothing of the kind")
        with pytest.raises(FileError, match="read"):
            logs.read(tmp_path / f"x.{ending}")
    with pytest.raises(FileError, match="No such file"):
        logs.read(tmp_path / "absent.csv")
    with pytest.raises(UnknownName, match="parquet"):
        logs.read(tmp_path / "run.bag")
    with pytest.raises(UnknownName, match="parquet"):
        logs.Writer(tmp_path / "run.mat")
    with pytest.raises(ArgumentError, match="format="):
        logs.read(io.BytesIO(b"t\n0\n"))
    with pytest.raises(ArgumentError, match="MCAP"):
        logs.read(io.BytesIO(b"t\n0\n"), format="csv", topic="/x")
    with pytest.raises(ArgumentError, match="rows"):
        next(logs.read_chunks(tmp_path / "absent.csv", rows=0))
    np.savez(tmp_path / "evil.npz", q=np.array([print], dtype=object))
    with pytest.raises(FileError, match="NPZ"):
        logs.read(tmp_path / "evil.npz")


def test_damaged_npz_is_refused_or_read_correctly(tmp_path):
    """Any wrong byte gives a torsor error or the same numbers."""
    whole = tmp_path / "whole.npz"
    np.savez(whole, t=np.arange(3.0), q=np.ones((3, 2)))
    data = whole.read_bytes()
    rng, loaded = np.random.default_rng(0), 0
    for at in rng.integers(0, len(data), size=60):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        try:
            log = logs.read(io.BytesIO(bytes(damaged)), format="npz")
        except FileError:
            continue
        assert log.t is None or log.t.tolist() == [0.0, 1.0, 2.0]  # a damaged name is an unknown column
        assert log.q is None or log.q.tolist() == [[1.0, 1.0]] * 3
        loaded += 1
    assert 0 < loaded < 60


def test_unknown_columns_are_ignored():
    text = 't,label,q[a],note\n0,start,1,"a, b"\n\n1,,2,\n'
    log = logs.read(io.BytesIO(text.encode()), format="csv")
    assert (log.t.tolist(), log.q.tolist(), log.ignored) == ([0.0, 1.0], [[1.0], [2.0]], ("label", "note"))
    with pytest.raises(FileError, match="3 cells in this line and 4 columns"):
        logs.read(io.BytesIO(b"t,label,q[a],note\n0,x,1,y\n0,x,1\n"), format="csv")
    with pytest.raises(FileError, match=r"column 'q\[a\]' contains 'x', which is not a number"):
        logs.read(io.BytesIO(b"t,label,q[a]\n0,x,x\n"), format="csv")


def test_parquet_with_nulls_or_text_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({"t": [0.0, 1.0, 2.0], "q[a]": [0.0, 1.0, None]}), tmp_path / "holes.parquet")
    with pytest.raises(FileError, match=r"'q\[a\]' is empty \(null\) in row 3"):
        logs.read(tmp_path / "holes.parquet")
    parquet.write_table(pa.table({"t": [0, 1], "q[a]": ["x", "y"]}), tmp_path / "words.parquet")
    with pytest.raises(FileError, match="not numbers"):
        logs.read(tmp_path / "words.parquet")
    parquet.write_table(pa.table({"q[a]": [1.0, 2.0], "label": ["x", None]}), tmp_path / "label.parquet")
    log = logs.read(tmp_path / "label.parquet")  # the label is not needed
    assert (log.q.tolist(), log.ignored) == ([[1.0], [2.0]], ("label",))
    parquet.write_table(pa.table({"t": [0, 1], "q[a]": [1, 2]}), tmp_path / "whole.parquet")  # integers are accepted
    assert logs.read(tmp_path / "whole.parquet").q.tolist() == [[1.0], [2.0]]


def write_pieces(path, *pieces):
    with logs.Writer(path) as out:
        for piece in pieces:
            out.append(piece)


def test_error_while_writing_a_log_leaves_the_old_file(tmp_path, arm):
    for ending in ENDINGS:
        path = tmp_path / f"run.{ending}"
        path.write_text("old")
        with pytest.raises(ArgumentError, match="other columns"):
            write_pieces(path, random_log(arm), logs.Log(q=[[1.0]], names={"q": ("a",)}))
        assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == len(ENDINGS)


def test_log_format_without_its_library_names_the_extra(tmp_path, arm, monkeypatch):
    for library, ending, extra in (("pyarrow", "parquet", "tables"), ("mcap.writer", "mcap", "logs")):
        monkeypatch.setitem(__import__("sys").modules, library, None)
        with pytest.raises(MissingExtra, match=rf"\.\[{extra}\]"):
            random_log(arm).write(tmp_path / f"run.{ending}")
    assert not list(tmp_path.iterdir())


def test_npz_with_objects_is_refused_without_naming_allow_pickle(tmp_path):
    (tmp_path / "objects.npz").write_bytes(b"not a zip, so NumPy takes it for a pickle")
    with pytest.raises(FileError, match="contains Python objects, or is not an NPZ file") as refused:
        logs.read(tmp_path / "objects.npz")
    assert "allow_pickle" not in str(refused.value)


@pytest.mark.parametrize(("mark", "word"), [(";", "semicolons"), ("\t", "tabs")])
def test_csv_with_other_separators_is_refused_by_name(mark, word):
    check_refusal(f"t{mark}q[a]\n0{mark}1\n", f"columns are separated by {word}")


@pytest.mark.parametrize("digest", [False, True])
def test_columns_of_a_wide_csv_are_not_searched_one_by_one(digest):
    """40,000 columns took 7 s: one search per column.  Calls of list.index are counted."""
    names, searches = [f"q[{k}.]" for k in range(300)], 0
    stream = io.BytesIO()
    with tables.csv_writer(stream, names, digest=digest) as put:
        put([np.full(2, float(k)) for k in range(300)])
    stream.seek(0)

    def count(frame, event, called):
        nonlocal searches
        searches += event == "c_call" and called.__name__ == "index"

    sys.setprofile(count)
    try:
        log = logs.read(stream, format="csv")
    finally:
        sys.setprofile(None)
    assert searches < 30  # operator.index of a few shapes
    np.testing.assert_array_equal(log.q[0], np.arange(300.0))


class CountingName(str):
    """A name that counts how often it is compared."""

    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        CountingName.comparisons += 1
        return str.__eq__(self, other)


def test_columns_in_order_need_few_comparisons(arm, monkeypatch):
    names = [CountingName(f"joint{k}") for k in range(400)]
    wanted = dict.fromkeys(("q", "v", "a", "tau"), tuple(map(str, reversed(names))))
    monkeypatch.setattr("torsor.io.logs.log.coordinates", lambda robot: wanted)
    log = logs.Log(q=np.arange(400.0)[None], names={"q": names})
    CountingName.comparisons = 0
    assert log.states(arm).q.tolist() == [np.arange(400.0)[::-1].tolist()]
    assert log.unused(arm) == ()
    assert CountingName.comparisons < 10 * len(names)  # of 400² for a search per name
