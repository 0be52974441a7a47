"""Errors name the file, and reading leaves no files behind."""

from __future__ import annotations

import os
import sys

import pytest

from torsor.errors import ArgumentError, FileError, MissingExtra
from torsor.io.mjcf import read_mjcf

BODY = '<body><joint/><geom size=".1"/></body>'


def mjcf(inside: str) -> str:
    return f"<mujoco>\n{inside}\n</mujoco>"


def test_error_of_an_invalid_mjcf_file_names_it(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(mjcf("<worldbody><body><joint/></body></worldbody>"))
    with pytest.raises(FileError, match=r"robot.xml:2: <body>: MuJoCo: Error: mass and inertia of moving bodies"):
        read_mjcf(path)
    with pytest.raises(FileError, match="cannot be read"):
        read_mjcf(tmp_path / "none.xml")
    with pytest.raises(ArgumentError):
        read_mjcf(3)


def test_a_pipe_named_as_a_mesh_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "mesh.stl")
    path = tmp_path / "robot.xml"
    path.write_text(mjcf('<asset><mesh name="m" file="mesh.stl"/></asset><worldbody>' + BODY + "</worldbody>"))
    with pytest.raises(FileError, match=r"robot.xml:2: <mesh>: names 'mesh.stl'"):
        read_mjcf(path)


def test_mujoco_warnings_go_to_the_report_and_no_log_file_is_written(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    d = read_mjcf(mjcf(f'<compiler settotalmass="3"/><worldbody>{BODY}</worldbody>'))
    assert any(line.startswith("MuJoCo: compiler attribute 'settotalmass' is deprecated") for line in d.report)
    assert os.listdir(tmp_path) == []
    assert capfd.readouterr() == ("", "")


def test_read_mjcf_without_mujoco_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"reading MJCF needs mujoco-core.*\[mujoco\]"):
        read_mjcf(mjcf(f"<worldbody>{BODY}</worldbody>"))
