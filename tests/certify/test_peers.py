"""Comparison with Pinocchio and MuJoCo: joint types, mimic joints, bases, armatures; skipped cases with reasons."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import torsor as ts
from tests.certify.faults import change_result
from tests.trees import Cam, joint_type, random_tree
from torsor.checks.certify.subject import Samples
from torsor.checks.certify.verify import PEERS, row

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

RNEA, CRBA, ABA, INVERSE, MASS, FORWARD = (check.name for check in PEERS)
PASS, SKIPPED = "pass", "skipped"


def body(builder, name, **more):
    return builder.link(name, mass=0.8, com=(0.1, -0.05, 0.2), inertia=(0.02, 0.03, 0.04), **more)


def limb(ankle="prismatic", **joint):
    """Two revolute joints and a prismatic one on skew axes, with armatures, damping and dry friction."""
    b = body(body(body(body(ts.Builder("limb"), "trunk"), "thigh"), "shank"), "foot")
    b = b.joint("hip", "continuous", "trunk", "thigh", xyz=(0.1, 0.2, 0.3), rpy=(0.3, 0.4, 0.5), axis=(1, 2, 3), damping=0.4)
    b = b.joint("knee", "revolute", "thigh", "shank", xyz=(0, 0, -0.4), axis=(0, 1, 0), armature=0.07, friction=0.2)
    return b.joint("ankle", ankle, "shank", "foot", xyz=(0, 0.1, -0.3), axis=(0, 0, 1), armature=0.5, **joint).build()


def octopus(*more):
    """A chain of spherical, planar, cylindrical and universal joints, a floating branch, and the joints in ``more``."""
    b = body(ts.Builder("octopus"), "head")
    kinds = (
        ("ball", "spherical", {"damping": (0.1, 0.2, 0.3)}), ("table", "planar", {"axis": (0, 1, 2), "damping": (1, 2, 3)}),
        ("barrel", "cylindrical", {"axis": (1, 1, 0), "armature": (0.1, 0.2)}),
        ("cross", "universal", {"second_axis": (1, 0, 0)}), ("arm", "floating", {}), *more,
    )  # fmt: skip
    parent = "head"
    for n, (name, kind, words) in enumerate(kinds):
        link = f"segment{n}"
        b = body(b, link).joint(name, kind, parent, link, xyz=(0.2, 0.1 * n, -0.3), rpy=(0.3, n, 0.5), **words)
        parent = "head" if kind == "universal" else link
    return b.build()


def rows(robot, samples=3, seed=0):
    subject = Samples(robot, samples, seed)
    return {check.name: row(check, subject) for check in PEERS}


def verdicts(robot, seed=0):
    found = rows(robot, seed=seed)
    assert not [r for r in found.values() if r.verdict == "fail"], found
    return {name: r.verdict for name, r in found.items()}


def all_pass(robot, *but):
    expected = {name: SKIPPED if name in but else PASS for name in (check.name for check in PEERS)}
    assert verdicts(robot) == expected, rows(robot)


# -- compared ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["floating", pytest.param("fixed", marks=pytest.mark.night)])
def test_arm_with_damping_and_armature_agrees_with_pinocchio_and_mujoco(base):
    all_pass(limb().with_base(base).with_gravity((1.0, 2.0, -8.0)))


@pytest.mark.parametrize("base", ["fixed", pytest.param("floating", marks=pytest.mark.night)])
def test_joints_with_several_degrees_of_freedom_agree_with_other_libraries(base):
    all_pass(octopus().with_base(base))


def test_helical_joint_skips_only_the_forward_dynamics_of_mujoco():
    """τ and M through τ = Tᵀτ' and M = TᵀM'T; MuJoCo's acceleration differs, since its two joints are independent."""
    screw = limb("helical", pitch=0.3)
    all_pass(screw, FORWARD)
    assert "the translation of helical joint 'ankle' is independent" in rows(screw)[FORWARD].reason


@pytest.mark.night
def test_every_joint_type_agrees_with_other_libraries():
    all_pass(octopus(("screw", "helical", {"axis": (1, 0, 1), "pitch": -0.2}), ("wheel", "continuous", {})), FORWARD)


@pytest.mark.parametrize(("base", "kind"), [("fixed", "prismatic"), ("floating", "continuous")])
def test_mimic_joints_agree_with_other_libraries(base, kind):
    """Pinocchio's own mimic joint; with a floating base the joint is independent in Pinocchio."""
    robot = limb(kind, mimic=("knee", -0.7, 0.1)).with_base(base)
    all_pass(robot, ABA, FORWARD)
    found = rows(robot)
    assert found[ABA].reason == "'ankle' is a mimic joint of 'knee', which Pinocchio's aba does not support"
    assert found[FORWARD].reason == "'ankle' is a mimic joint of 'knee' in torsor and independent in MuJoCo"


@pytest.mark.parametrize("kind", ["spherical", "cylindrical", "helical"])
def test_mimic_joints_that_pinocchio_computes_wrongly_are_compared_without_coupling(kind):
    """A mimic joint next to a spherical joint, next to a composite joint, and a helical mimic joint."""
    mimic = {"mimic": ("hip", 0.4, 0.1)}
    words = {"helical": {"pitch": 0.3, "axis": (0, 0, 1), **mimic}}.get(kind, {})
    b = body(body(body(ts.Builder("leg"), "trunk"), "thigh"), "shank").joint(
        "hip", "revolute", "trunk", "thigh", axis=(1, 0, 0)
    )
    b = b.joint("knee", "revolute", "thigh", "shank", axis=(0, 1, 0), xyz=(0, 0, -0.4), **mimic)
    found = rows(body(b, "foot").joint("ankle", kind, "shank", "foot", xyz=(0, 0.1, -0.3), **words).build())
    assert (found[RNEA].verdict, found[CRBA].verdict, found[ABA].verdict) == (PASS, PASS, SKIPPED), found


def test_links_and_joints_with_reserved_names_agree_with_other_libraries():
    b = body(body(body(ts.Builder("world"), "trunk"), "world"), "shank")
    b = b.joint("world", "revolute", "trunk", "world").joint("root_joint", "revolute", "world", "shank", axis=(0, 1, 0))
    all_pass(b.build().with_base("floating"))


def test_planar_arms_with_incomplete_inertias_agree_with_other_libraries():
    """Such inertias are impossible; MuJoCo gets different inertias with the same motion."""
    all_pass(ts.robots.two_link())
    all_pass(ts.robots.scara())


def test_relative_error_of_1e_9_fails_the_rows_of_other_libraries(monkeypatch):
    change_result(monkeypatch, "mass_matrix", lambda M: [[x * (1 + 1e-9) for x in M[0]], *M[1:]])
    found = rows(limb())
    assert {name for name, r in found.items() if r.verdict == "fail"} == {CRBA, MASS}
    change_result(monkeypatch, "inverse_dynamics", lambda tau: [tau[0] * (1 + 1e-9), *tau[1:]])
    found = rows(limb())
    assert {RNEA, INVERSE} <= {name for name, r in found.items() if r.verdict == "fail"}


# -- skipped, with reasons -----------------------------------------------------------------------------------------------


def expect_skip(robot, reason, names):
    found = rows(robot)
    for name in names:
        assert found[name].verdict == SKIPPED
        assert reason in found[name].reason, found[name].reason
    return found


PINOCCHIO, MUJOCO = (RNEA, CRBA, ABA), (INVERSE, MASS, FORWARD)


def test_robots_that_no_library_supports_are_skipped():
    rotor = {"mass": 0.3, "inertia": (1e-4, 1e-4, 2e-4), "ratio": 50}
    expect_skip(limb().with_rotors({"knee": rotor}), "does not have a copy in another library", PINOCCHIO + MUJOCO)
    own = body(body(ts.Builder("cam"), "base"), "bob").joint("lift", Cam(), "base", "bob").build()
    expect_skip(own, "Pinocchio has no joint for Cam", PINOCCHIO)
    expect_skip(own, "MJCF cannot express Cam", MUJOCO)


def test_robots_that_pinocchio_does_not_support_are_skipped():
    table = body(body(ts.Builder("t"), "a"), "b").joint("j", "planar", "a", "b", armature=(1, 2, 0)).build()
    found = expect_skip(
        table, "Pinocchio does not support it: joint 'j': its armature is given in the fixed axes of the plane", PINOCCHIO
    )
    assert {found[name].verdict for name in MUJOCO} == {PASS}


def test_robots_that_mujoco_does_not_support_are_skipped():
    light = body(ts.Builder("light"), "base").link("arm", mass=1.0, com=(1, 0, 0)).link("flag")
    light = light.joint("shoulder", "revolute", "base", "arm").joint("pole", "revolute", "arm", "flag", armature=0.1).build()
    found = expect_skip(light, "link 'flag' is moved by joint 'pole' and massless, which MuJoCo refuses", MUJOCO)
    assert {found[name].verdict for name in PINOCCHIO} == {PASS}
    socket = body(body(ts.Builder("s"), "a"), "b").joint("j", "spherical", "a", "b", armature=(0.1, 0.2, 0.3)).build()
    expect_skip(socket, "MuJoCo needs one armature for a ball joint", MUJOCO)


@pytest.mark.parametrize("inertia", [(0.02, 0.03, 0.05 + 1e-9), (0, 0, 0)], ids=["few digits", "a grain"])
def test_bodies_whose_inertia_mujoco_changes_are_skipped(inertia):
    """A plate with rounded moments, and a point mass of 1 mg at 1 mm: MuJoCo changes their inertia."""
    m, r = (1e-6, 1e-3) if inertia == (0, 0, 0) else (1.0, 0.5)
    b = ts.Builder("plate").link("base").link("bob", mass=m, com=(r, 0, 0), inertia=inertia)
    found = expect_skip(b.joint("j", "revolute", "base", "bob").build(), "MuJoCo has link 'bob' rounder than it is, by", MUJOCO)
    assert {found[name].verdict for name in PINOCCHIO} == {PASS}


def test_missing_libraries_are_skipped_with_the_extra_to_install(monkeypatch):
    for name in ("pinocchio", "mujoco"):
        monkeypatch.setitem(sys.modules, name, None)
    found = rows(limb())
    assert all("pip install '.[pinocchio]'" in found[name].reason for name in PINOCCHIO)
    assert all("pip install '.[mujoco]'" in found[name].reason for name in MUJOCO)
    assert {r.verdict for r in found.values()} == {SKIPPED}


# -- random trees --------------------------------------------------------------------------------------------------------


def tree(seed: int):
    """A random tree that both libraries support: no cam, function or composite joint, no helical mimic joint, armature only
    for one dof."""
    rng, kinds = np.random.default_rng(seed), []
    while len(kinds) < 5:
        kind = joint_type(rng)
        kinds += [kind] if kind.name not in ("cam", "function", "composite") else []
    d = random_tree(seed, bodies=5, kinds=kinds)
    joints = tuple(replace(j, armature=j.armature if j.kind.nv == 1 else ()) for j in d.joints)
    return ts.Robot(replace(d, joints=tuple(replace(j, mimic=None) if j.kind.name == "helical" else j for j in joints)))


@pytest.mark.night
@given(seed=st.integers(0, 10**6))
@example(85449)  # children of a mimic joint: pinocchio 4.1's crba disagrees with its rnea, torsor agrees with rnea
@settings(max_examples=60)
def test_random_trees_agree_with_other_libraries(seed):
    robot = tree(seed)
    if robot.nv == 0:
        return
    coupled = any(robot.model.coupling)
    screwed = any(j.kind.name == "helical" for j in robot.description.joints)
    all_pass(robot, *([ABA] if coupled else []), *([FORWARD] if coupled or screwed else []))
