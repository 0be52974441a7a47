"""The loops file beside a URDF: written loops are read back, errors give file, line and element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import torsor as ts
from tests.model.test_loops import closed_graph, four_bar
from tests.trees import Cam
from torsor.errors import FileError
from torsor.io.loops_file import read_loops, with_loops, write_loops
from torsor.model import Loop
from torsor.model.joints import EulerAngles, Helical, Universal
from torsor.robot.loading import load, save_loops, save_urdf
from torsor.spatial import Vec
from torsor.spatial.vector import flat

TEXT = """\
# a four-bar's last hinge
loops:
  - name: C
    type: revolute
    axis: [0, 0, 1]
    parent: {link: coupler, xyz: [3, 0, 0], rpy: [0, 0, 0]}
    child:
      link: rocker
      xyz: [2e0, 0, .0]
"""


def same(a: Loop, b: Loop) -> None:
    assert (a.name, type(a.kind), a.parent, a.child) == (b.name, type(b.kind), b.parent, b.child)
    for x, y in ((a.origin, b.origin), (a.child_origin, b.child_origin)):
        # three angles are written, each rounded by up to 2.2e-16, then six sines and cosines: 2.6e-15 in 20,000 rotations
        np.testing.assert_allclose(np.array([*flat(x)], float), np.array([*flat(y)], float), atol=5e-15, rtol=0)
    if isinstance(a.kind, EulerAngles):
        assert a.kind == b.kind
        return
    for x, y in zip(vars(a.kind).values(), vars(b.kind).values(), strict=True):
        np.testing.assert_allclose(np.array(x, float), np.array(y, float), rtol=1e-14, atol=1e-15)


def test_read_loops_returns_types_axes_and_names_of_the_file():
    assert read_loops(TEXT) == four_bar().description().loops
    assert read_loops(TEXT.encode()) == read_loops("\ufeff".encode() + TEXT.encode()) == read_loops(TEXT)
    assert read_loops(b"loops: []") == ()
    helical, universal = read_loops(
        "loops:\n"
        "- {name: s, type: helical, pitch: 1e-3, parent: {link: a}, child: {link: b}}\n"
        "- {name: 2, type: universal, axis: [0, 2, 0], second_axis: [1, 0, 0], parent: {link: yes}, child: {link: world}}\n"
    )
    assert helical.kind == Helical(Vec(0, 0, 1), 1e-3)
    assert universal.kind == Universal(Vec(0, 1, 0), Vec(1, 0, 0))
    assert (universal.name, universal.parent, universal.child) == ("2", "yes", "world")  # YAML 1.1 reads yes as True


@given(seed=st.integers(0, 10**6))
def test_loops_file_written_and_read_has_the_same_loops(seed):
    d, _ = closed_graph(seed)
    for a, b in zip(d.loops, read_loops(write_loops(d)), strict=True):
        same(a, b)


def test_loop_names_that_yaml_could_misread_are_read_back():
    for name in ("yes", "12", "a: b", "- x", "ü", "#", "'", '"', "~", "null", " x ", "1e3"):
        d = ts.Builder("r").link("a").link("b").joint("j", "revolute", "a", "b").loop(name, "fixed", "a", "b").description()
        assert read_loops(write_loops(d))[0].name == name


def test_load_urdf_reads_its_own_loops_or_those_of_the_loops_file(tmp_path):
    robot, path = four_bar().build(), tmp_path / "bars.urdf"
    save_urdf(robot, path)
    assert "loops, written to the side-file and as torsor's own elements, which other readers ignore: " in path.read_text()
    side = tmp_path / "bars.loops.yaml"
    assert load(path, loops=True).loops == load(str(path), loops=side).loops == ("C",)
    assert load(path, loops=True).report[-1] == f"1 loop read from {side}"
    assert load(path).description.loops == robot.description.loops
    assert load(path, loops=False).loops == ()
    assert load(path, loops=True).description.loops == robot.description.loops
    save_loops(robot, tmp_path / "other.yaml")
    assert (tmp_path / "other.yaml").read_text() == side.read_text()
    save_urdf(ts.robots.ur5(), tmp_path / "open.urdf")
    assert not (tmp_path / "open.loops.yaml").exists()
    with pytest.raises(FileError, match=r"open.loops.yaml: cannot be read"):
        load(tmp_path / "open.urdf", loops=True)
    with pytest.raises(ts.ArgumentError, match="loops=True means the file beside"):
        load(path.read_text(), loops=True)
    assert load(path.read_text(), loops=TEXT).loops == ("C",)


def test_write_loops_refuses_a_user_defined_joint_type():
    class Own(Cam):
        def complement(self, q):
            return ()

        coordinates = transform = Cam.transform

    d = ts.Builder("r").link("a").link("b").joint("j", "revolute", "a", "b").loop("x", Own(), "a", "b").description()
    with pytest.raises(ts.ModelError, match="loop 'x': the loops file cannot express Own"):
        write_loops(d)


def one(**changes) -> bytes:
    """A loop in one line (YAML flow style), with some of its entries changed or omitted (None)."""
    parts = {"name": "C", "type": "revolute", "parent": "{link: a}", "child": "{link: b}"} | changes
    return f"loops:\n- {{{', '.join(f'{k}: {v}' for k, v in parts.items() if v is not None)}}}\n".encode()


REFUSED = {
    "empty": (b"", ": is empty; it must contain loops: [...]"),
    "not a mapping": (b"- 1\n", ":1: <loops.yaml>: must be a mapping with the keys loops"),
    "other root": (b"\nloop: []\n", ":2: <loops.yaml>: unknown key 'loop'; did you mean 'loops'? (known: loops, actuated)"),
    "no list": (b"loops: 3\n", ":1: <loops>: must be a list, one entry per loop (- name: ...)"),
    "no loop": (b"loops:\n- 3\n", ":2: <loops[0]>: must be a mapping with the keys name, type, axis"),
    "no name": (one(name=None), ":2: <loops[0]>: 'name' is missing"),
    "null name": (one(name="~"), ":2: <loops[0].name>: must be a name"),
    "list name": (one(name="[a]"), ":2: <loops[0].name>: must be a name"),
    "no child": (one(child=None), ":2: <loops[0]>: 'child' is missing"),
    "unknown key": (one(axes="[0, 0, 1]"), ":2: <loops[0]>: unknown key 'axes'; did you mean 'axis'?"),
    "unknown key inside": (one(child="{link: b, xyzs: 1}"), ":2: <loops[0].child>: unknown key 'xyzs'; did you mean 'xyz'?"),
    "twice": (b"loops: []\nloops: []\n", ":2: <loops.yaml>: 'loops' is given twice"),
    "merge": (one(**{"<<": "{axis: [0, 0, 1]}"}), ":2: <loops[0]>: unknown key '<<'"),
    "type": (one(type="revolut"), ":2: <loops[0].type>: loop 'C': unknown joint type 'revolut'; did you mean 'revolute'?"),
    "plain link": (one(parent="a"), ":2: <loops[0].parent>: must be a mapping with the keys link, xyz, rpy"),
    "two numbers": (one(axis="[0, 1]"), ":2: <loops[0].axis>: must be a list of 3 numbers: [x, y, z]"),
    "a number": (one(axis="1"), ":2: <loops[0].axis>: must be a list of 3 numbers: [x, y, z]"),
    "words": (one(axis="[0, 0, one]"), ":2: <loops[0].axis>: 'one' is not a number"),
    "nan": (one(axis="[0, 0, .nan]"), ":2: <loops[0].axis>: '.nan' is not a number"),
    "too large": (one(axis="[0, 0, 1e999]"), ":2: <loops[0].axis>: '1e999' is too large for a double"),
    "sexagesimal": (one(axis="[0, 0, 1:30]"), ":2: <loops[0].axis>: '1:30' is not a number"),
    "quoted": (one(axis="[0, 0, '1']"), ":2: <loops[0].axis>: '1' is not a number: write it without quotes or tag"),
    "tagged": (one(axis="[0, 0, !x 1]"), ":2: <loops[0].axis>: '1' is not a number: write it without quotes or tag"),
    "nested": (one(axis="[0, 0, [1]]"), ":2: <loops[0].axis>: must be a list of 3 numbers: [x, y, z]"),
    "pitch": (one(pitch="[1]"), ":2: <loops[0].pitch>: must be a number"),
    "zero axis": (one(axis="[0, 0, 0]"), ":2: <loops[0]>: loop 'C': axis is zero"),
    "axis of a ball": (one(type="spherical", axis="[0, 0, 1]"), ":2: <loops[0]>: loop 'C': a spherical joint has no axis"),
    "no pitch": (one(type="helical"), ":2: <loops[0]>: loop 'C': a helical joint needs pitch"),
    "python": (b"!!python/object/apply:os.system [x]\n", ":1: <loops.yaml>: must be a mapping"),
    "python name": (one(name="!!python/name:os.system x"), ":2: <loops[0].name>: must be a name"),
    "own tag": (one(name="!mine x"), ":2: <loops[0].name>: must be a name"),
    "broken": (b"loops: [\n", ":2: is not YAML: expected the node content"),
    "tab": (b"loops:\n\t- x\n", ":2: is not YAML: found character '\\t'"),
    "two documents": (b"loops: []\n---\nloops: []\n", ":2: is not YAML: but found another document"),
    "control character": (b"loops: \x00\n", ": is not YAML: unacceptable character"),
    "not utf-8": (b"loops:\n- \xff\n", ":2: is not UTF-8: byte 0xff cannot be read"),
    "deep": (b"[" * 100_000, ": is nested too deeply"),
    "laughs": (b"a: &a [x, x]\nb: &b [*a, *a]\nloops: [*b]\n", ":1: <loops.yaml>: unknown key 'a'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_loops_files_are_refused(case):
    source, message = REFUSED[case]
    with pytest.raises(FileError) as caught:
        read_loops(source)
    assert str(caught.value).startswith("<string>" + message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"child": "{link: nowhere}"}, ":2: <loops[0]>: loop 'C' refers to link 'nowhere'"),
        ({"child": "{link: a}"}, ":2: <loops[0]>: loop 'C' connects link 'a' to itself"),
        ({"type": "floating"}, ":2: <loops[0]>: loop 'C' is a floating joint, which constrains nothing"),
        ({"name": "j"}, ":2: <loops[0]>: two joints are named 'j'"),
    ],
)
def test_loops_file_that_does_not_fit_the_robot_is_refused_with_line(changes, message):
    d = ts.Builder("r").link("a").link("b").joint("j", "revolute", "a", "b").description()
    with pytest.raises(FileError) as caught:
        with_loops(d, one(**changes))
    assert str(caught.value).startswith("<string>" + message)


def test_read_loops_of_a_number_is_refused():
    with pytest.raises(ts.ArgumentError, match="loops must be a path, text or bytes, not int"):
        read_loops(3)  # type: ignore[arg-type]
