"""Colours in URDF: found by name, kept, and never a reason to refuse a file."""

from __future__ import annotations

import pytest

from torsor.io import read_urdf, write_urdf

BOX = '<geometry><box size="1 1 1"/></geometry>'


def load_materials(materials: str, *visuals: str):
    links = "".join(f'<link name="l{k}"><visual>{v}{BOX}</visual></link>' for k, v in enumerate(visuals))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l0"/><child link="l{k}"/></joint>' for k in range(1, len(visuals))
    )
    return read_urdf(f'<robot name="r">{materials}{links}{joints}</robot>')


RED = '<material name="red"><color rgba="1 0 0 1"/></material>'


@pytest.mark.parametrize(
    ("materials", "visuals", "colors"),
    [
        (RED, ['<material name="red"/>'], [(1, 0, 0, 1)]),
        ("", [RED, '<material name="red"/>'], [(1, 0, 0, 1), (1, 0, 0, 1)]),  # defined where it is first used
        (RED, ['<material name="red"><color rgba="0 1 0 0.5"/></material>'], [(0, 1, 0, 0.5)]),  # its own colour has priority
        (RED, ['<material name="blue"/>', ""], [None, None]),
    ],
)
def test_urdf_colors_are_read_from_named_and_own_materials(materials, visuals, colors):
    assert [link.geometry[0].color for link in load_materials(materials, *visuals).links] == colors


@pytest.mark.parametrize("rgba", ["1 0 0", "2 0 0 1", "red", "nan 0 0 1", ""])
def test_invalid_colours_are_noted(rgba):
    d = load_materials("", f'<material name="m"><color rgba="{rgba}"/></material>')
    assert d.links[0].geometry[0].color is None
    assert d.report == ("1 <color> element ignored: rgba needs four numbers from 0 to 1",)


def test_textures_are_noted():
    d = load_materials("", '<material name="m"><texture filename="x.png"/></material>')
    assert d.report == ("1 <texture> element ignored: textures are not kept",)


def test_urdf_colors_are_the_same_after_write_and_read():
    d = load_materials(RED, '<material name="red"/>', "")
    assert read_urdf(write_urdf(d)).links == d.links


def test_read_urdf_stores_the_path_as_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = '<robot name="r"><link name="a"/></robot>'
    (tmp_path / "r.urdf").write_text(text)
    assert read_urdf("r.urdf").source == str(tmp_path / "r.urdf")
    assert read_urdf(text).source == ""
    assert read_urdf("r.urdf") == read_urdf(text)
