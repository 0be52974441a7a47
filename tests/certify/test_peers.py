"""What Pinocchio and MuJoCo are asked: couplings, free bases, armatures; and what cannot be asked, with the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

import torsor as ts
from torsor.certify import verify
from torsor.model import Mimic

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

NAMES = (
    "Pinocchio: rnea",
    "Pinocchio: crba",
    "Pinocchio: aba",
    "MuJoCo: inverse dynamics",
    "MuJoCo: mass matrix",
    "MuJoCo: mj_forward",
)


def body(builder, name, **more):
    return builder.link(name, mass=0.8, com=(0.1, -0.05, 0.2), inertia=(0.02, 0.03, 0.04), **more)


def limb(**joint):
    """Two hinges and a slide on skew axes, with armatures, damping and dry friction, under another gravity."""
    b = body(body(body(body(ts.Builder("limb"), "trunk"), "thigh"), "shank"), "foot")
    b = b.joint("hip", "continuous", "trunk", "thigh", xyz=(0.1, 0.2, 0.3), rpy=(0.3, 0.4, 0.5), axis=(1, 2, 3), damping=0.4)
    b = b.joint("knee", "revolute", "thigh", "shank", xyz=(0, 0, -0.4), axis=(0, 1, 0), armature=0.07, friction=0.2)
    return b.joint("ankle", "prismatic", "shank", "foot", xyz=(0, 0.1, -0.3), axis=(0, 0, 1), armature=0.5)


def verdicts(robot):
    certificate = verify(robot, samples=3)
    assert certificate.passed, certificate
    return {name: certificate[name] for name in NAMES}


@pytest.mark.parametrize("base", ["floating", pytest.param("fixed", marks=pytest.mark.night)])
def test_the_same_in_three_libraries(base):
    rows = verdicts(limb().build().with_base(base).with_gravity((1.0, 2.0, -8.0)))
    assert {row.verdict for row in rows.values()} == {"pass"}, rows


def test_a_base_named_like_ours():
    """The names that the bridges give to a free base may be taken."""
    b = body(body(body(ts.Builder("world"), "trunk"), "thigh"), "shank")
    b = b.joint("root_joint", "revolute", "trunk", "thigh").joint("world", "revolute", "thigh", "shank", axis=(0, 1, 0))
    rows = verdicts(b.build().with_base("floating"))
    assert {row.verdict for row in rows.values()} == {"pass"}, rows


def test_a_coupled_joint_is_free_there():
    """τ and M are compared through τ = Bᵀτ' and M = BᵀM'B; a cannot be."""
    robot = limb().build().description
    ankle = robot.joints[-1]
    d = replace(robot, joints=(*robot.joints[:-1], replace(ankle, mimic=Mimic("knee", -0.7, 0.1))))
    rows = verdicts(ts.Robot(d))
    assert [row.verdict for row in rows.values()] == ["pass", "pass", "skipped", "pass", "pass", "skipped"]
    assert "follows 'knee'" in rows["Pinocchio: aba"].reason


def test_what_urdf_has_no_word_for():
    robot = body(body(ts.Builder("ball"), "base"), "bob").joint("socket", "spherical", "base", "bob").build()
    rows = verdicts(robot)
    assert {row.verdict for row in rows.values()} == {"skipped"}
    assert "no spherical joint such as 'socket'" in rows["Pinocchio: rnea"].reason


def test_what_mujoco_refuses():
    rows = verdicts(ts.robots.two_link())  # point masses
    assert rows["Pinocchio: aba"].verdict == "pass"
    assert rows["MuJoCo: mass matrix"].verdict == "skipped"
    assert "MuJoCo does not read it" in rows["MuJoCo: mass matrix"].reason
