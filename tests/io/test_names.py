"""Names with control characters are printed escaped, names that UTF-8 cannot encode are refused; no name is changed."""

from __future__ import annotations

import io
import json
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor import logs
from torsor.errors import FileError, ModelError, ModelWarning, TorsorError, printable
from torsor.simulate.studies.record import encode
from torsor.simulate.studies.store import Folder

#: ESC, the one-character CSI, right-to-left override, isolates, line and paragraph separators, DEL, zero width, tag, newline
OBEYED = [
    "\x1b[2J",
    "\x9b2J",
    "\u202e",
    "\u2066",
    "\u2028",
    "\u2029",
    "\x7f",
    "\x85",
    "\u200b",
    "\ufeff",
    "\U000e0041",
    "\n",
    "\r",
]


def robot(odd: str, *, loops: bool = False) -> ts.Robot:
    """A four-bar, open or closed, with ``odd`` in every name."""
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    made = ts.Builder(f"r{odd}").link(f"g{odd}").link(f"c{odd}", **bar).link(f"d{odd}", **bar).link(f"e{odd}", **bar)
    made = made.joint(f"A{odd}", "revolute", f"g{odd}", f"c{odd}").joint(
        f"B{odd}", "revolute", f"c{odd}", f"d{odd}", xyz=(1, 0, 0)
    )
    made = made.joint(f"D{odd}", "revolute", f"g{odd}", f"e{odd}", xyz=(1, 0, 0))
    made = made.frame(f"tip{odd}", f"d{odd}")
    return (
        made.loop(f"C{odd}", "revolute", f"d{odd}", f"e{odd}", xyz=(1, 0, 0), child_xyz=(1, 0, 0)) if loops else made
    ).build()


def texts(odd: str) -> dict[str, str]:
    """All texts that contain names, except those of the command line."""
    arm, closed, zero = robot(odd), robot(odd, loops=True), np.zeros(3)
    task = arm.task(f"tip{odd}")
    return {
        "tree": str(arm),
        "tree with a loop": str(closed),
        "repr": repr(arm),
        "check": str(ts.check(arm)),
        "explain": str(arm.explain(zero, zero, zero)),
        "trace": str(arm.newton_euler_table(zero, zero, zero)),
        "task": repr(task),
        "task report": str(task.report([0.1, 0.2, 0.3])),
        "mobility": str(closed.constrained().mobility([0.0, 0.0, 0.0])),
        "simulation": repr(arm.simulate(zero, zero, 0.002)),
    }


@pytest.mark.parametrize("odd", OBEYED, ids=ascii)
def test_printable_escapes_control_characters_and_nothing_else(odd):
    assert printable(f"a{odd}b").isprintable()
    assert printable("für 3 µm, 関節, ×") == "für 3 µm, 関節, ×"
    assert printable("a\nb\x1b", keep="\n") == "a\nb\\x1b"


def test_texts_of_robots_escape_names():
    odd = "".join(OBEYED)
    for where, text in texts(odd).items():
        assert all(line.isprintable() for line in text.split("\n")), where
    assert robot(odd).joints[0] == f"A{odd}"  # the name itself is not escaped


def test_errors_and_warnings_escape_names_and_keep_them_as_attributes():
    odd = "\x9b2J\u202e"
    with pytest.raises(TorsorError) as caught:
        robot(odd).joint(f"none{odd}")
    assert str(caught.value).isprintable()
    assert caught.value.name == f"none{odd}"
    assert caught.value.valid == sorted(robot(odd).joints)
    error = FileError(f"has {odd}", file="a")
    assert (str(error), error.reason) == (r"a: has \x9b2J\u202e", f"has {odd}")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warnings.warn(f"link {odd}", ModelWarning, stacklevel=1)
    assert str(heard[0].message).isprintable()


URDF = """<robot name="r{0}"><link name="a{0}"/><link name="b{0}"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j{0}" type="revolute"><parent link="a{0}"/><child link="b{0}"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
COMMANDS = [
    ("info",), ("mass",), ("check",), ("torque",), ("torque", "--json"), ("info", "--json"),
    ("torque", "states.csv", "--a", "0"),
    ("simulate", "--seconds", "0.01"), ("mass", "--q", "none=1"), ("torque", "states.csv", "--a", "0", "--json"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands_print_no_control_characters(tmp_path, monkeypatch, capsys, words):
    from torsor.cli.outcome import run

    odd = "\x9b2J\u202e\u2028"  # XML does not allow ESC
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(URDF.format(odd))
    Path("states.csv").write_text("q1,v1\n0,0\n")
    run([words[0], "arm.urdf", *words[1:]])
    said = capsys.readouterr()
    lines = (said.out + said.err).split("\n")
    assert len(lines) > 1
    if words[:2] == ("torque", "states.csv") and "--json" not in words:
        lines = lines[1:]  # the header of a CSV written for programs has unescaped names
    assert all(line.isprintable() for line in lines), lines
    if "--json" in words:
        assert odd in json.dumps(json.loads(said.out), ensure_ascii=False)  # after parsing, the names are unchanged


def test_csv_printed_on_a_terminal_escapes_names():
    from torsor.cli.writing import Column, _csv

    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    for stream, head in ((Terminal(), b"tau[\\x9b2J]\n"), (io.BytesIO(), "tau[\x9b2J]\n".encode())):
        with _csv(stream, [Column("tau", ["tau[\x9b2J]"])], {}, digest=False) as put:
            put({"tau": np.zeros((0, 1))})
        assert stream.getvalue() == head


# -- lone surrogates -----------------------------------------------------------------------------------------------------

HALF = "\ud800"


def _writers(folder: Path) -> dict[str, object]:
    arm = robot(HALF)
    run = arm.simulate(np.zeros(3), np.zeros(3), 0.002)
    push = robot(HALF).simulate(np.zeros(3), np.zeros(3), 0.002, wrenches={f"tip{HALF}": lambda t, q, v: np.zeros(6)})
    log = logs.Log(t=run.t, q=run.q, names={"q": arm.joints})
    return {
        "run.csv": run.save, "run.parquet": run.save, "push.npz": push.save,
        "log.csv": log.write, "log.parquet": log.write, "log.mcap": log.write,
        "r.urdf": lambda path: ts.save(arm, path), "r.mjcf": lambda path: ts.save(arm, path),
        "r.html": run.replay, "ab": lambda path: Folder(folder).put("ab12", encode({"x": HALF})),
    }  # fmt: skip


def test_writers_refuse_a_lone_surrogate_with_a_typed_error_and_leave_no_file(tmp_path):
    for name, write in _writers(tmp_path).items():
        with pytest.raises((FileError, ModelError), match="cannot be written"):
            write(tmp_path / name)
        assert not (tmp_path / name).is_file(), name
        with pytest.raises((FileError, ModelError), match="cannot be written"):
            write(tmp_path / f"{HALF}{name}") if name != "ab" else write(tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_writers_name_the_text_with_a_lone_surrogate(tmp_path):
    with pytest.raises(FileError, match=r"log\.csv: cannot be written: .*'\\ud800'.*q\[A\\ud800\].*rename"):
        _writers(tmp_path)["log.csv"](tmp_path / "log.csv")


# -- values that are not real numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [["a", "b"], [1j, 2], ["2020-01-01", "2020-01-02"], [(1.0,), (2.0,)]])
def test_a_log_of_text_or_complex_numbers_is_refused(tmp_path, values):
    kind = {str: None, complex: complex, tuple: [("x", float)]}[type(values[0])] if values[0] != "2020-01-01" else "M8[D]"
    array = np.array(values, dtype=kind)
    np.savez(tmp_path / "log.npz", t=array, q=array[:, None])
    with pytest.raises(FileError, match=r"log\.npz: t must hold real numbers, not "):
        logs.read(tmp_path / "log.npz")


def test_a_log_of_rows_of_different_lengths_is_refused():
    with pytest.raises(FileError, match="the rows of q differ in length"):
        logs.Log(q=[[1.0], [1.0, 2.0]])


def _robot_with_mesh(folder: Path, scale: str) -> ts.Robot:
    corners, faces = np.eye(4, 3, -1), [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0) for face in faces)
    (folder / "m.stl").write_bytes(bytes(80) + struct.pack("<I", 4) + rows)
    mesh = f'</inertial><visual><geometry><mesh filename="m.stl" scale="{scale}"/></geometry></visual>'
    (folder / "arm.urdf").write_text(URDF.format("").replace("</inertial>", mesh))
    return ts.load(folder / "arm.urdf")


def test_replay_omits_and_reports_a_mesh_whose_scale_overflows(tmp_path):
    arm = _robot_with_mesh(tmp_path, "1e308 1e308 1e308")
    run = arm.simulate([0.0], [0.0], 0.002)
    run.replay(tmp_path / "page.html")
    assert "too large to draw" in (tmp_path / "page.html").read_text()
    assert ts.check(arm).findings


def test_check_of_a_flat_mesh_reports_no_mass_far_from_mesh(tmp_path):
    found = ts.check(_robot_with_mesh(tmp_path, "0 1 1"))
    assert "mass-far-from-mesh" not in {f.code for f in found.findings}
