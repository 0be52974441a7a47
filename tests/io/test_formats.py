"""Detection of the format, options of load for each reader, and errors for formats that cannot be read or written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from torsor.actuators.friction import Coulomb
from torsor.errors import ArgumentError, FileError, MissingExtra, UnknownName
from torsor.io.formats import FORMATS, recognise_format
from torsor.io.urdf.writer import write_urdf
from torsor.model.description import EARTH, Mimic
from torsor.robot.loading import load, save

URDF = write_urdf(ts.robots.description("two_link"))
MJCF = '<mujoco model="bob"><worldbody><body name="bob"><joint name="hinge"/><geom size=".1"/></body></worldbody></mujoco>'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("arm.urdf", "urdf"), ("ARM.URDF", "urdf"), ("arm.dh.csv", "dh"), ("arm.dh.yaml", "dh"), ("arm.dh.yml", "dh"),
        ("a.mjcf", "mjcf"), ("a.sdf", "sdf"), ("a.world", "sdf"), ("robot_descriptions:panda", "robot_descriptions"),
        (URDF, "urdf"), (URDF.encode(), "urdf"), (MJCF, "mjcf"), ("<sdf version='1.9'/>", "sdf"), ("<html/>", "urdf"),
        ('<?xml version="1.0"?>\n<!-- a <robot> --><mujoco/>', "mjcf"), (b"\xef\xbb\xbf <mujoco/>", "mjcf"), ("", "urdf"),
    ],
)  # fmt: skip
def test_formats_are_recognised_by_name_and_content(source, expected):
    assert recognise_format(source).name == expected


def test_xml_format_follows_from_the_root_element(tmp_path):
    for text, name in ((URDF, "two_link"), (MJCF, "bob")):
        path = tmp_path / f"{name}.xml"
        path.write_text(text)
        assert load(path).name == name
        assert load(str(path), format=recognise_format(text).name).name == name


def test_load_without_a_known_ending_uses_the_xml_root_or_format(tmp_path):
    for ending in ("", ".txt", ".model"):
        path = tmp_path / f"arm{ending}"
        path.write_text(URDF)
        assert load(path).nv == 2
    odd = tmp_path / "arm.txt"
    odd.write_text("a, alpha, d, theta\n")
    with pytest.raises(FileError, match=r"use one of .urdf, .xacro, .mjcf, .sdf, .world, .dh.csv, .* give format=: urdf"):
        load(odd)
    assert load("# convention: modified\nmass\n1\n", format="dh").nv == 1


def test_name_of_a_bundled_robot_gives_a_hint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=r"ur5: cannot be read: No such file.*bundled robot of that name: ts\.robots\.ur5\(\)"):
        load("ur5")
    with pytest.raises(FileError, match=r"ur6: cannot be read: No such file or directory$"):
        load("ur6")


def test_options_that_do_not_apply_are_refused():
    with pytest.raises(UnknownName, match="no format named 'vrml'; valid names: dh, mjcf"):
        load("x.wrl", format="vrml")
    with pytest.raises(ArgumentError, match="base must be 'fixed', 'floating' or 'floating_rpy', not 'free'"):
        load(URDF, base="free")
    with pytest.raises(ArgumentError, match="xacro_args are for a xacro file, and this is urdf"):
        load(URDF, xacro_args={})


def test_load_passes_base_gravity_mimic_and_strict_to_every_reader(tmp_path):
    table = "# convention: modified\na, mass, cx, ixx, iyy, izz\n0, 1, 0.1, 1, 1, 1\n0.5, 1, 0.1, 1, 1, 1\n"
    for source, kind in ((table, "dh"), (URDF, "urdf"), (MJCF, "mjcf")):
        robot = load(source, format=kind, base="floating", gravity=(0, 0, -1.6))
        assert robot.description.base == "floating"
        assert robot.gravity.tolist() == [0, 0, -1.6]
    d = ts.robots.description("two_link")
    mimic = replace(d.joints[1], mimic=Mimic("joint1", 2.0))
    tied = replace(d, joints=(d.joints[0], mimic, *d.joints[2:]), configurations=(), gravity=EARTH)
    for ending in (".urdf", ".mjcf"):
        save(ts.Robot(replace(tied, links=solid(tied))), tmp_path / f"tied{ending}")
        assert load(tmp_path / f"tied{ending}").nv == 1
        assert load(tmp_path / f"tied{ending}", mimic=False).nv == 2
    flat = "# convention: modified\nmass, ixx, iyy, izz\n1, 9, 1, 1\n"  # physically impossible inertia
    with pytest.warns(ts.ModelWarning, match="physically impossible"):
        load(flat, format="dh")
    with pytest.raises(ts.ModelError, match="physically impossible"):
        load(flat, format="dh", strict=True)


class OwnLaw(Coulomb):
    """A law of the user, which a file cannot contain."""


def test_save_warns_of_forces_that_the_format_leaves_out(tmp_path):
    robot = ts.robots.two_link().with_friction({"joint1": OwnLaw(0.1)})
    robot = robot.with_forces({"link2": ts.forces.GravityCompensation(0.5)})
    with pytest.warns(ts.ModelWarning) as found:
        save(robot, tmp_path / "arm.urdf")
    (warning,) = found
    assert warning.filename == __file__
    assert str(warning.message) == (
        f"robot 'two_link' moves differently when it is loaded from {tmp_path / 'arm.urdf'}: friction laws, left out: joint1"
    )
    with pytest.warns(ts.ModelWarning, match=r"arm.mjcf: friction laws, left out: joint1$"):
        save(robot, tmp_path / "arm.mjcf")
    save(ts.robots.ur5(), tmp_path / "ur5.urdf", meshes=False)  # nothing is lost, no warning


def solid(d):
    from torsor.spatial import Inertia, Sym, Vec

    return tuple(
        replace(link, inertia=Inertia.of(1.0, Vec(0.1, 0, 0), Sym(1.0, 0, 0, 1.0, 0, 1.0))) if link.inertia.m else link
        for link in d.links
    )


@pytest.mark.parametrize("ending", [".urdf", ".mjcf"])
def test_saved_robots_are_loaded_again(tmp_path, ending):
    robot = ts.robots.ur5()
    save(robot, tmp_path / f"arm{ending}")
    again = load(tmp_path / f"arm{ending}")
    q = robot.random_configuration(0)
    np.testing.assert_allclose(again.mass_matrix(q), robot.mass_matrix(q), rtol=0, atol=1e-12)
    save(robot, tmp_path / "arm.xml", format=ending[1:])
    assert load(tmp_path / "arm.xml").joints == robot.joints


def test_formats_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match=r"use .urdf, .mjcf, or give format=, urdf or mjcf"):
        save(ts.robots.ur5(), tmp_path / "arm.xml")
    with pytest.raises(UnknownName, match=r"format must be one of .*, not 'dh'"):
        save(ts.robots.ur5(), tmp_path / "arm.dh.csv", format="dh")
    assert not list(tmp_path.iterdir())


def test_format_names_and_endings_are_unique_and_described():
    endings = [s for f in FORMATS for s in f.suffixes]
    assert len(set(endings)) == len(endings)
    assert all(f.what for f in FORMATS)
    assert len({f.name for f in FORMATS}) == len(FORMATS)


def test_load_without_xacro_or_robot_descriptions_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "arm.urdf.xacro").write_text(URDF)
    modules = __import__("sys").modules
    for library, extra, call in (
        ("xacro", "xacro", lambda: load(tmp_path / "arm.urdf.xacro", xacro_args={})),
        ("robot_descriptions", "descriptions", lambda: load("robot_descriptions:panda_description")),
    ):
        monkeypatch.setitem(modules, library, None)
        with pytest.raises(MissingExtra, match=rf"\.\[{extra}\]"):
            call()
