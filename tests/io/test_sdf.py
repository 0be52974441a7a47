"""Reading SDF with Drake, where it is installed (pip install drake): the dynamics equals that of Drake."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from torsor.errors import FileError, MissingExtra
from torsor.io.sdf.included import check_includes
from torsor.robot.loading import load

SDF = """<?xml version="1.0"?>
<sdf version="1.9">
  <model name="crane">
    <link name="base"><inertial><mass>5</mass></inertial></link>
    <link name="boom"><pose relative_to="hinge">0.1 0 0 0.3 0 0</pose>
      <inertial><pose>0.2 0 0.05 0 0.4 0</pose><mass>2</mass>
        <inertia><ixx>0.01</ixx><iyy>0.02</iyy><izz>0.025</izz></inertia></inertial></link>
    <link name="trolley"><pose relative_to="boom">0.5 0 0 0 0 0.2</pose>
      <inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>
    <link name="hook"><pose relative_to="trolley">0 0 -0.2 0 0 0</pose>
      <inertial><pose>0 0 -0.1 0 0 0</pose><mass>0.5</mass>
        <inertia><ixx>0.01</ixx><iyy>0.012</iyy><izz>0.008</izz></inertia></inertial></link>
    <joint name="hinge" type="revolute"><pose relative_to="base">0 0.1 1 0 0.2 0</pose><parent>base</parent><child>boom</child>
      <axis><xyz expressed_in="base">0 1 1</xyz><limit><lower>-1</lower><upper>2</upper><effort>30</effort></limit>
        <dynamics><damping>0.7</damping></dynamics></axis></joint>
    <joint name="slide" type="prismatic"><parent>boom</parent><child>trolley</child><axis><xyz>1 0 0</xyz></axis></joint>
    <joint name="swivel" type="ball"><parent>trolley</parent><child>hook</child></joint>
    <frame name="tip" attached_to="hook"><pose>0 0 -0.3 0 0 0</pose></frame>
    ANCHOR
  </model>
</sdf>
"""
FIXED = SDF.replace("ANCHOR", '<joint name="anchor" type="fixed"><parent>world</parent><child>base</child></joint>')
FLOATING = SDF.replace("ANCHOR", "")


def test_sdf_without_drake_names_the_extra_and_sdf2mjcf(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pydrake.multibody.parsing", None)
    (tmp_path / "crane.sdf").write_text(FIXED)
    with pytest.raises(MissingExtra, match=r"sdf2mjcf.*\[sdf\]"):
        load(tmp_path / "crane.sdf")
    with pytest.raises(FileError, match="No such file"):
        load(tmp_path / "absent.sdf")


@pytest.mark.parametrize("text", [FIXED, FLOATING], ids=["fixed", "floating"])
def test_sdf_dynamics_agree_with_drake(text, tmp_path):
    plants = pytest.importorskip("pydrake.multibody.plant")
    from pydrake.multibody.parsing import Parser

    from tests.bridges.test_drake import agree

    plant = plants.MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    robot = load(text)
    agree(robot, plant, 0)
    assert robot.description.base == ("floating" if text is FLOATING else "fixed")
    hinge = robot.joint("hinge")
    assert (hinge.lower, hinge.upper, hinge.effort_limit, hinge.damping) == ((-1.0,), (2.0,), (30.0,), (0.7,))
    assert "tip" in robot.frames
    context, q = plant.CreateDefaultContext(), robot.random_configuration(1)
    from torsor.bridges import states

    plant.SetPositions(context, states.drake(robot, plant).q(q))
    for frame in ("hook", "tip", "boom"):
        pose = plant.GetFrameByName(frame).CalcPoseInWorld(context).GetAsMatrix4()
        np.testing.assert_allclose(robot.pose(q, frame), pose, rtol=1e-14, atol=1e-14)
    path = tmp_path / "crane.sdf"
    path.write_text(text)
    assert load(path).description.source == str(path)
    assert load(path, base="floating").nv == 11 if text is FLOATING else 5


def test_errors_of_drake_are_file_errors(tmp_path):
    pytest.importorskip("pydrake.multibody.plant")
    path = tmp_path / "bad.sdf"
    path.write_text("<sdf version='1.9'><model name='m'><link/></model></sdf>")
    with pytest.raises(FileError, match=r"bad.sdf: Drake cannot read it"):
        load(path)


INCLUDE = '<sdf version="1.9"><world name="w">\n<include><uri>{}</uri></include></world></sdf>'
HOSTILE = {
    "https://host/model.sdf": "models of https:// are not downloaded",
    "package://drake_models/x/y.sdf": "no folder named 'drake_models' is known",
    "../../outside/model.sdf": "outside",
    "file:///{}/outside/model.sdf": "outside",
    "model://../outside": "is not a valid package name",
    "/dev/zero": "",
    "link.sdf": "outside",
    "../../outside": "outside",
    "model.sdf": "",
}


@pytest.mark.parametrize("uri", HOSTILE)
def test_sdf_includes_outside_the_package_are_refused_before_drake_runs(tmp_path, uri):
    """Drake is not needed for this check."""
    (tmp_path / "ws/robot").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/model.sdf").write_text(FIXED)
    (tmp_path / "ws/robot/link.sdf").symlink_to(tmp_path / "outside/model.sdf")
    (tmp_path / "ws/robot/inner.sdf").write_text(INCLUDE.format(uri.format(tmp_path)))
    (tmp_path / "ws/robot/robot.sdf").write_text(INCLUDE.format("inner.sdf"))
    with pytest.raises(FileError, match=rf"inner.sdf:2: <uri>: .*{HOSTILE[uri]}"):
        check_includes(tmp_path / "ws/robot/robot.sdf")
    check_includes(tmp_path / "outside/model.sdf")


def test_check_includes_ends_on_cycles_and_refuses_doctype_and_missing_roots(tmp_path):
    (tmp_path / "a.sdf").write_text(INCLUDE.format("b.sdf"))
    (tmp_path / "b.sdf").write_text(INCLUDE.format("a.sdf"))
    check_includes(tmp_path / "a.sdf")  # returns; the cycle is reported by Drake
    with pytest.raises(FileError, match="DOCTYPE"):
        check_includes("<!DOCTYPE sdf [<!ENTITY a 'b'>]><sdf/>")
    with pytest.raises(FileError, match="needs a mesh root; give roots="):
        check_includes(INCLUDE.format("a.sdf"))
    check_includes(INCLUDE.format("a.sdf"), roots=[tmp_path])
