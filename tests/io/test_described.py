"""Loading by robot_descriptions name from a local cache made by the tests: nothing is downloaded, missing names are errors."""

from __future__ import annotations

import socket

import pytest

import torsor as ts
from torsor.errors import FileError, UnknownName
from torsor.io.urdf.writer import write_urdf
from torsor.robot.loading import load

pytest.importorskip("robot_descriptions")
URDF = write_urdf(ts.robots.description("panda")).replace("package://", "package://x/")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path))
    monkeypatch.setattr(socket, "socket", lambda *a, **k: pytest.fail("a connection was made"))
    monkeypatch.setattr("git.Repo.__init__", lambda *a, **k: pytest.fail("git was asked"))
    return tmp_path


def put(cache, path, text):
    file = cache / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_robot_descriptions_name_is_loaded_from_the_cache(cache):
    file = put(cache, "example-robot-data/robots/panda_description/urdf/panda.urdf", URDF)
    put(cache, "example-robot-data/.git/HEAD", "0" * 40 + "\n")
    robot = load("robot_descriptions:panda_description")
    assert robot.nv == ts.robots.panda().nv
    assert robot.description.source == str(file)
    assert any("is at commit 0000000000, robot_descriptions means" in line for line in robot.report)
    assert load("panda_description", format="robot_descriptions", base="floating").nv == robot.nv + 6
    assert file.read_text() == URDF  # a cached folder that is not a git repository is not deleted


def test_mjcf_of_robot_descriptions_is_read(cache):
    text = '<mujoco model="panda"><worldbody><body name="a"><joint/><geom size=".1"/></body></worldbody></mujoco>'
    put(cache, "mujoco_menagerie/franka_emika_panda/panda.xml", text)
    assert load("robot_descriptions:panda_mj_description").nv == 1


def test_xacro_of_robot_descriptions_uses_its_arguments_unless_xacro_args_are_given(cache):
    text = (
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="robot_type" default=""/>'
        '<link name="$(arg robot_type)"/></robot>'
    )
    put(cache, "flexiv_description/urdf/flexiv.urdf.xacro", text)
    assert load("robot_descriptions:enlight_description").links == ("Enlight-L",)
    assert load("robot_descriptions:enlight_description", xacro_args={"robot_type": "X"}).links == ("X",)


def test_missing_descriptions_and_repositories_are_errors(cache):
    with pytest.raises(
        FileError, match=r"'example-robot-data' is not in the cache, and torsor downloads nothing; download it with 'robot_"
    ):
        load("robot_descriptions:panda_description")
    (cache / "example-robot-data").mkdir()
    with pytest.raises(FileError, match="should be in this file of the cache"):
        load("robot_descriptions:panda_description")
    with pytest.raises(UnknownName, match="no robot in robot_descriptions named 'pandas'"):
        load("robot_descriptions:pandas")
