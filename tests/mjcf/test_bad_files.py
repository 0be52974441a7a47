"""Files MuJoCo refuses, files that are no MJCF, and what reading leaves behind: nothing."""

from __future__ import annotations

import os
import pickle
import sys

import pytest

from torsor.errors import ArgumentError, FileError, MissingExtra
from torsor.io.mjcf import read_mjcf

BODY = '<body><joint/><geom size=".1"/></body>'


def mjcf(inside: str) -> str:
    return f"<mujoco>\n{inside}\n</mujoco>"


@pytest.mark.parametrize(
    ("text", "line", "element", "words"),
    [
        (mjcf('<worldbody>\n<body><joint type="gear"/></body></worldbody>'), 3, "joint", "invalid keyword: 'gear'"),
        (mjcf('<worldbody><body name="b"><joint/></body></worldbody>'), 2, "", "give the body an <inertial> or a geom"),
        (mjcf("<worldbody>\n\n<bodi/></worldbody>"), 4, "bodi", "Schema violation"),
        (mjcf("<worldbody><body></bdy></worldbody>"), 2, "", "MISMATCHED"),
        (mjcf('<asset><mesh file="nowhere.stl"/></asset>'), None, "", "nowhere.stl"),
        ("<robot name='r'><link name='a'/></robot>", 1, "", "this is a URDF"),
        ("<!-- hello -->\n<svg/>", 2, "", "its root element is <svg>, not <mujoco>"),
        ("<mujocoinclude/>", 1, "", "a part that other MJCF files include"),
        ("<!DOCTYPE mujoco [<!ENTITY a 'b'>]><mujoco/>", None, "", "DOCTYPE"),
        ("", None, "", "is no XML"),
        (b"<mujoco>\n\xff</mujoco>", 2, "", "no UTF-8"),
        (b"<mujoco>\0</mujoco>", None, "", "NUL"),
    ],
)
def test_errors_say_where_and_why(text, line, element, words):
    with pytest.raises(FileError) as caught:
        read_mjcf(text)
    error = pickle.loads(pickle.dumps(caught.value))
    assert words in str(error)
    assert (error.line, error.element) == (line, element)


def test_a_file_is_named_in_its_error(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(mjcf("<worldbody><body><joint/></body></worldbody>"))
    with pytest.raises(FileError, match=r"robot.xml:2: MuJoCo: Error: mass and inertia of moving bodies"):
        read_mjcf(path)
    with pytest.raises(FileError, match="cannot be read"):
        read_mjcf(tmp_path / "none.xml")
    with pytest.raises(ArgumentError):
        read_mjcf(3)


def test_a_pipe_named_as_a_mesh_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "mesh.stl")
    path = tmp_path / "robot.xml"
    path.write_text(mjcf('<asset><mesh name="m" file="mesh.stl"/></asset><worldbody>' + BODY + "</worldbody>"))
    with pytest.raises(FileError, match="no regular file"):
        read_mjcf(path)


def test_other_suffixes_and_includes(tmp_path):
    (tmp_path / "part.xml").write_text(mjcf(f"<worldbody>{BODY}</worldbody>"))
    whole = mjcf('<include file="part.xml"/>')
    (tmp_path / "whole.xml").write_text(whole)
    assert read_mjcf(tmp_path / "whole.xml").name == "whole"
    (tmp_path / "whole.mjcf").write_text(whole)
    with pytest.raises(FileError, match=r"rename it"):
        read_mjcf(tmp_path / "whole.mjcf")
    (tmp_path / "alone.mjcf").write_text(mjcf(f"<worldbody>{BODY}</worldbody>"))
    assert len(read_mjcf(tmp_path / "alone.mjcf").joints) == 1


def test_warnings_go_to_the_report_and_nothing_is_left_behind(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    d = read_mjcf(mjcf(f'<compiler settotalmass="3"/><worldbody>{BODY}</worldbody>'))
    assert any(line.startswith("MuJoCo: compiler attribute 'settotalmass' is deprecated") for line in d.report)
    assert os.listdir(tmp_path) == []
    assert capfd.readouterr() == ("", "")


def test_without_mujoco_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"reading MJCF needs mujoco-core.*torsor\[mujoco\]"):
        read_mjcf(mjcf(f"<worldbody>{BODY}</worldbody>"))
