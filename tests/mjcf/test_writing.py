"""The bundled robots and those of example-robot-data written as MJCF: the same dynamics in MuJoCo and in torsor."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import sympy

import torsor as ts
from tests.mjcf.twin import Twin, random_state
from tests.references.pinocchio_states import ROBOTS
from torsor.errors import ModelError, ModelWarning
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.io.mjcf.compiling import compile_model
from torsor.io.urdf import read_urdf
from torsor.model import Description, Joint, Link, Loop, Mimic, NamedFrame
from torsor.model.assembly import assemble
from torsor.model.attachments import rotors_as_armature
from torsor.model.joints import Fixed, Floating, Prismatic, Revolute, Spherical, Universal
from torsor.robot.builder import Builder
from torsor.spatial import Inertia, Sym, Transform, Vec

#: all files except the one without links
URDFS = sorted(str(p.relative_to(ROBOTS)) for p in ROBOTS.rglob("*.urdf") if p.name != "ur3.urdf")
#: massless fingers, which MuJoCo refuses, and two small Romeos with impossible inertias that cannot be moved to other links
REFUSED = {"romeo.urdf", "romeo_small.urdf", "romeo_laas_small.urdf"}
#: quick files that cover mimic joints, impossible inertias in hands and welded trunks, and refusals
FAST = (
    "panda_description/urdf/panda.urdf", "anymal_b_simple_description/robots/anymal.urdf", "romeo_description/urdf/romeo.urdf",
    "allegro_hand_description/urdf/allegro_left_hand.urdf", "pr2_description/urdf/pr2.urdf",
    "solo_description/robots/solo12.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf", "g1_description/urdf/g1_29dof_rev_1_0.urdf",
)  # fmt: skip


def check_round_trip(d: Description) -> None:
    """Write as MJCF: M and τ in MuJoCo, and in torsor after reading, equal those of the description."""
    tree = replace(rotors_as_armature(d), loops=())
    text = write_mjcf(d, meshes=False)
    m = compile_model(text).model
    twin, back = Twin(assemble(tree), m), Twin(assemble(replace(read_mjcf(text), loops=())), m)
    assert max(twin.errors(count=1)) < 1e-12
    assert (back.model.nq, back.model.nv) == (twin.model.nq, twin.model.nv)
    state = random_state(twin.model, np.random.default_rng(0))
    for ours, theirs in zip(twin.ours(*state), back.ours(*state), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12 * np.abs(ours).max(initial=1e-300))


@pytest.mark.parametrize("name", ts.robots.names())
def test_bundled_robots_written_as_mjcf_have_the_same_dynamics(name):
    check_round_trip(ts.robots.description(name))


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("path", [pytest.param(p, marks=() if p in FAST else pytest.mark.night) for p in URDFS])
def test_public_urdf_files_written_as_mjcf_have_the_same_dynamics_or_are_refused(path, base):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        d = replace(read_urdf(ROBOTS / path), base=base)
    if Path(path).name in REFUSED:
        with pytest.raises(ModelError, match=r"link '\w+'.*MuJoCo refuses"):
            write_mjcf(d)
    else:
        check_round_trip(d)


def test_rotors_are_written_to_mjcf_as_armature():
    d = (
        Builder("geared")
        .link("base").link("arm", mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
        .joint("hinge", "revolute", "base", "arm", axis=(0, 1, 0))
        .rotor("rotor", "hinge", "base", mass=0.1, inertia=(1e-4, 1e-4, 2e-4), ratio=50)
        .description()
    )  # fmt: skip
    check_round_trip(d)
    assert "rotors, written as armature" in write_mjcf(d)


# -- contents of the text ------------------------------------------------------------------------------------------------


def body(name: str, mass: float = 1.0) -> Link:
    return Link(name, Inertia.of(mass, Vec(0.1, 0.2, 0.3), Sym(0.1, 0, 0.01, 0.12, 0, 0.13)))


def arm(**fields) -> Description:
    links = (Link("base"), body("one"), body("two"))
    first = Joint("a", Revolute(Vec(0, 0, 1)), "base", "one", **fields)
    return Description("arm", links, (first, Joint("b", Prismatic(Vec(1, 0, 0)), "one", "two")))


def test_limits_damping_friction_and_motors_are_written_to_mjcf():
    fields = {
        "lower": (-1.0,),
        "upper": (2.0,),
        "effort_limit": (30.0,),
        "armature": (0.1,),
        "damping": (0.2,),
        "friction": (0.3,),
    }
    m = compile_model(write_mjcf(arm(**fields))).model
    assert m.jnt_range[0].tolist() == [-1, 2]
    assert (m.dof_armature[0], m.dof_damping[0], m.dof_frictionloss[0]) == (0.1, 0.2, 0.3)
    assert m.actuator_ctrlrange[0].tolist() == [-30, 30]
    assert not m.actuator_ctrllimited[1]
    back = read_mjcf(write_mjcf(arm(**fields))).joints[0]
    assert {label: getattr(back, label) for label in fields} == fields


def test_range_is_written_only_for_finite_nonempty_limits():
    assert 'range="-1 10000000000"' in write_mjcf(arm(lower=(-1.0,)))
    assert "range" not in write_mjcf(arm(lower=(0.0,), upper=(0.0,)))
    assert "range" not in write_mjcf(arm(lower=(-math.inf,), upper=(math.inf,)))


def test_mimic_joint_is_written_as_an_equality_and_read_back():
    d = arm()
    d = replace(d, joints=(d.joints[0], replace(d.joints[1], mimic=Mimic("a", -0.5, 0.25))))
    check_round_trip(d)
    assert read_mjcf(write_mjcf(d)).joints[1].mimic == Mimic("a", -0.5, 0.25)


@pytest.mark.parametrize(
    ("kind", "words"), [(Fixed(), ["weld"]), (Spherical(), ["connect"]), (Revolute(Vec(0, 1, 0)), ["connect"] * 2)]
)
def test_loops_are_written_as_equalities_at_the_same_frames(kind, words):
    X, Y = (Transform.of_pose(about, Vec(*p)) for about, p in ((_turn(0.3), (0.1, 0.2, 0.3)), (_turn(-0.2), (0.3, 0.1, 0))))
    d = replace(arm(), loops=(Loop("close", kind, "world", "two", X, Y),))
    text = write_mjcf(d)
    m = compile_model(text).model
    assert [("connect", "weld")[t] for t in m.eq_type] == words
    back = read_mjcf(text).loops
    for loop, mine in zip(back[:1], d.loops, strict=True):
        np.testing.assert_allclose(np.array(loop.origin.r, float), np.array(mine.origin.r, float), rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(
            np.array(loop.child_origin.E, float), np.array(mine.child_origin.E, float), rtol=1e-14, atol=1e-15
        )
    if len(words) == 2:  # the second point of the hinge is on its axis, for both bodies
        further = np.array(back[1].origin.r, float) - np.array(back[0].origin.r, float)
        np.testing.assert_allclose(further, np.array(X.E.T, float) @ [0, 0.1, 0], rtol=1e-14, atol=1e-15)


def _turn(angle: float):
    from torsor.spatial import about

    return about(Vec(0, 0, 1), angle)


def test_loops_and_friction_laws_without_an_element_are_in_the_text_of_torsor():
    from torsor.model.friction import Coulomb

    d = replace(arm(laws=(Coulomb(1.0),)), loops=(Loop("slot", Prismatic(Vec(1, 0, 0)), "base", "two"),))
    text = write_mjcf(d)
    assert "loops MuJoCo has no constraint for, written as torsor's own elements, which other readers ignore: slot" in text
    assert "friction laws, written as torsor's own elements, which other readers ignore: a" in text
    assert 'frictionloss="1"' in text  # for MuJoCo
    back = read_mjcf(text)
    assert back.loops == d.loops
    assert [j.laws for j in back.joints] == [j.laws for j in d.joints]
    assert [j.friction for j in back.joints] == [j.friction for j in d.joints]


def test_massless_links_between_joints_are_merged_into_the_next_body():
    links = (Link("base"), Link("yoke"), Link("cross"), body("head"))
    joints = (
        Joint("pan", Revolute(Vec(0, 0, 1)), "base", "yoke", Transform.of_pose(_turn(0.4), Vec(0, 0, 1)), armature=(0.1,)),
        Joint("tilt", Universal(Vec(0, 1, 0), Vec(1, 0, 0)), "yoke", "cross", Transform.of_pose(_turn(0.2), Vec(0.1, 0, 0))),
        Joint("zoom", Prismatic(Vec(1, 0, 0)), "cross", "head", Transform.of_pose(_turn(-0.3), Vec(0, 0.2, 0))),
    )
    d = Description("camera", links, joints, (NamedFrame("lens", "head"),))
    check_round_trip(d)
    text = write_mjcf(d)
    assert compile_model(text).model.nbody == 3
    assert "massless, merged into the next body: yoke, cross" in text


def test_a_massless_tip_is_refused_by_name():
    d = replace(arm(), links=(Link("base"), body("one"), Link("two")))
    with pytest.raises(ModelError, match=r"link 'two' is moved by joint 'b' and massless.*robot.lock"):
        write_mjcf(d)
    with pytest.raises(ModelError, match=r"link 'base' is the free base and has no mass"):
        write_mjcf(replace(arm(), base="floating"))


def test_a_ball_without_mass_beyond_a_hinge_is_refused():
    links = (Link("base"), Link("none"), body("head"))
    joints = (Joint("ball", Spherical(), "base", "none"), Joint("hinge", Revolute(Vec(0, 0, 1)), "none", "head"))
    with pytest.raises(ModelError, match=r"joint 'ball' is a spherical joint next to others.*give link 'none' a mass"):
        write_mjcf(Description("odd", links, joints))


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        (Spherical(), {"armature": (1.0, 2.0, 3.0)}, "MuJoCo needs one armature for a ball joint"),
        (Floating(), {"armature": (1.0,) * 6}, "along world axes"),
        (Revolute(Vec(0, 0, 1)), {"damping": (sympy.Symbol("d"),)}, "d is not a finite number"),
    ],
)
def test_joint_that_mjcf_cannot_express_is_named(kind, fields, words):
    d = arm()
    d = replace(d, joints=(replace(d.joints[0], kind=kind, **fields), d.joints[1]))
    with pytest.raises(ModelError, match=rf"joint 'a'.*{words}"):
        write_mjcf(d)


def test_names_needed_for_parts_of_a_joint_must_be_unused():
    d = arm()
    both = replace(d.joints[0], kind=Universal(Vec(0, 0, 1), Vec(1, 0, 0)))
    with pytest.raises(ModelError, match=r"joint 'a_1' needs the name 'a_1' in MJCF, which another joint has"):
        write_mjcf(replace(d, joints=(both, replace(d.joints[1], name="a_1"))))


def test_floating_joint_on_the_world_is_written_as_a_free_joint():
    links = (Link("world"), body("arm"), body("cube"))
    joints = (
        Joint("hinge", Revolute(Vec(0, 0, 1)), "world", "arm"),
        Joint("free", Floating(), "world", "cube", damping=(0.1,) * 6),
    )
    d = Description("scene", links, joints)
    check_round_trip(d)
    assert [j.kind.name for j in read_mjcf(write_mjcf(d)).joints] == ["revolute", "floating"]


def test_link_named_world_that_is_not_the_root_is_renamed():
    d = arm()
    d = replace(d, links=(*d.links, body("world")), joints=(*d.joints, Joint("c", Fixed(), "two", "world")))
    assert 'name="world_"' in write_mjcf(d)
    check_round_trip(d)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text("before")
    assert write_mjcf(arm(), path) == path.read_text()
    with pytest.raises(ModelError):
        write_mjcf(replace(arm(), links=(Link("base"), body("one"), Link("two"))), path)
    assert mujoco.MjModel.from_xml_path(str(path)).nv == 2


def test_unreadable_meshes_are_reported():
    from torsor.model.description import Geometry

    d = arm()
    d = replace(
        d,
        links=(
            d.links[0],
            replace(d.links[1], geometry=(Geometry("visual", "mesh", uri="package://no/where.stl"),)),
            d.links[2],
        ),
    )
    text = write_mjcf(d)
    assert "left out (no folder named 'no' is known" in text
    assert "<geom" not in text
