"""Every code: a small file with the finding at the marked line, and a similar file without the finding."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import torsor as ts
from tests.doctor.urdf import arm, box_inertia, joint, link, marked_line, robot, shape
from torsor.checks.doctor import CODES, check
from torsor.checks.doctor.finding import SEVERITIES
from torsor.checks.doctor.locks import find_locks
from torsor.checks.doctor.reading import subject_of

BOX = box_inertia()
STEINER = 2.0 * (0.36 * np.eye(3) - np.diag([0, 0, 0.36]))  # parallel axis term of 2 kg at z = 0.6 m
SLANTED = (0.7, 0, 0.4)


def turn_inertia(I, rpy):
    from torsor.spatial import from_rpy

    R = np.array(from_rpy(*rpy), float)
    return R @ I @ R.T


def flip_products(I):
    return 2 * np.diag(np.diag(I)) - I


def lower(**options):
    return arm(lower=link("lower", com=(0, 0, 0.2), **options))


def elbow(**options):
    return arm(elbow=joint("elbow", "upper", "lower", **({"axis": "0 1 0"} | options)))


def pair(left, right, more=""):
    """Two hands on mirrored frames, 0.2 m to either side."""
    joints = [joint(f"{side}_j", "lower", f"{side}_hand", xyz=f"0 {y} 0") for side, y in (("left", 0.2), ("right", -0.2))]
    return arm(more="\n".join([left, right, *joints, more]))


def ball(reach, more="", axes=("1 0 0", "0 1 0", "0 0 1")):
    """A hand on the lower arm by three joints at one point, with massless links between them."""
    names = ["lower", "ball1", "ball2", "hand"]
    empty = "".join(f'<link name="{name}"/>' for name in names[1:3])
    limits = [LIMIT.format(-1, 1), LIMIT.format(-reach, reach), LIMIT.format(-1, 1)]
    joints = [
        joint(
            f"j{k}", names[k], names[k + 1], axis=axis, xyz="0 0 0", limit=limits[k], mark="limit" if k == 1 else "", more=more
        )
        for k, axis in enumerate(axes)
    ]
    return arm(more=empty + link("hand", com=(0, 0, 0.2)) + "\n".join(joints))


def leg(foot, base="floating", tip=""):
    """The arm upside down on a base that floats, with a collision shape of its last link."""
    collision = f"<collision>{'<!--@-->' if 'mesh' in foot else ''}\n<geometry>{foot}</geometry></collision>"
    lower = link("lower", com=(0, 0, 0.2), looks=f"{shape(com=(0, 0, 0.2))}\n{collision}")
    down = {"shoulder": joint("shoulder", "base", "upper", xyz="0 0 -0.5"),
            "elbow": joint("elbow", "upper", "lower", axis="0 1 0", xyz="0 0 -0.5")}  # fmt: skip
    return arm(lower=lower, **down, more=f'{tip}<torsor>{{"base": "{base}"}}</torsor>')


LIMIT = 'lower="{}" upper="{}" effort="50" velocity="2"'
FREE = {"type": "continuous", "limit": None}
EMPTY = '<link name="tip"/>'
LEFT = link("left_hand", com=(0.05, 0.02, 0.1))
LONG = shape(com=(0.05, -0.02, 0.1), size=(0.1001, 0.2, 0.3))  # another size: not the same part
SOLE = '<mesh filename="none.stl"/>'
SCALED = '<mesh filename="none.stl" scale="{}"/>'
MIMIC = '<mimic joint="{}" multiplier="{}"/>'

#: code → file with the finding, its line marked
HAVE = {
    "file-refused": arm(elbow=joint("elbow", "upper", "lower", type="hinge", mark="joint")),
    "xml-declaration": '<?xml version="0.0"?><!--@-->\n' + arm(),
    "element-twice": elbow(more='<axis xyz="0 1 0"/>', mark="more"),
    "world-undeclared": arm(base="", shoulder=joint("shoulder", "world", "upper", mark="joint")),
    "shape-unreadable": lower(looks=f"{shape(com=(0, 0, 0.2))}\n<visual/><!--@-->"),
    "mesh-scale-numbers": lower(
        looks=f"{shape(com=(0, 0, 0.2))}\n<collision><geometry>\n{SCALED.format('2')}<!--@-->\n</geometry></collision>"
    ),
    "inertial-incomplete": arm(lower=link("lower", com=(0, 0, 0.2), mark="inertial").replace('ixy="0" ', "")),
    "prefix-undeclared": arm(more='<gazebo>\n<sensor:camera/><!--@-->\n</gazebo>'),
    "xacro-call": arm(more="<xacro:sensors/><!--@-->"),
    "mesh-unreachable": lower(
        looks='<visual>\n<geometry>\n<mesh filename="none.stl"/><!--@-->\n</geometry>\n</visual>'
    ),
    "shape-size": lower(looks=shape((200, 200, 300)).replace("<geometry>", "<geometry><!--@-->")),
    "mass-negative": lower(mass=-1.0, mark="mass"),
    "mass-missing-matters": arm(more='<link name="tip"/><!--@-->' + joint("tip_j", "lower", "tip")),
    "mass-missing-harmless": arm(more='<link name="tip"/><!--@-->' + joint("tip_j", "lower", "tip", type="fixed")),
    "mass-missing-with-shape": arm(
        more=f'<link name="tip"><!--@-->{shape()}</link>' + joint("tip_j", "lower", "tip", type="fixed", limit=None, axis="")
    ),
    "mass-units": lower(mass=2000.0, mark="mass", I=1000 * BOX),
    "mass-far-from-mesh": lower(mass=0.01, mark="mass", I=BOX / 200),
    "inertia-not-positive": lower(I=(0.02, 0.02, -0.01), mark="inertia"),
    "triangle-inequality": lower(I=(0.01, 0.01, 0.03), mark="inertia"),
    "moment-without-mass": arm(lower=link("lower", mass=0, mark="mass", I=(1, 1, 1), com=(0, 0, 0.2))),
    "point-mass": lower(I=(0, 0, 0), mark="inertia"),
    "inertia-too-small": lower(I=(1e-6, 1e-6, 1e-6), mark="inertia"),
    "inertia-placeholder": lower(I=(0.01, 0.01, 0.01), mark="inertia"),
    "inertia-copied": arm(
        upper=link("upper", mark="inertial", com=(0, 0, 0.2)),
        lower=link("lower", com=(0, 0, 0.2), looks=shape((0.2, 0.3, 0.3))),
    ),
    "inertia-units": lower(I=1e6 * BOX, mark="inertia"),
    "inertia-about-wrong-frame": arm(lower=link("lower", com=(0, 0, 0.6), I=BOX + STEINER, mark="inertia")),
    "inertia-axes-swapped": arm(
        lower=link(
            "lower", com=(0, 0, 0.2), I=box_inertia(size=(0.05, 0.05, 0.5)), mark="inertia",
            looks=shape((0.5, 0.05, 0.05), (0, 0, 0.2)),
        )
    ),
    "inertia-products-sign": arm(
        lower=link(
            "lower", com=(0, 0, 0.2), I=flip_products(turn_inertia(box_inertia(size=(0.05, 0.05, 0.5)), SLANTED)),
            mark="inertia", looks=shape((0.05, 0.05, 0.5), (0, 0, 0.2), SLANTED),
        )
    ),
    "inertia-far-from-mesh": lower(I=30 * BOX, mark="inertia"),
    "com-units": arm(lower=link("lower", com=(0, 0, 200.0), mark="origin", looks=shape(com=(0, 0, 0.2)))),
    "com-outside-geometry": arm(lower=link("lower", com=(0, 0, 0.6), mark="origin", looks=shape(com=(0, 0, 0.2)))),
    "left-right-asymmetry": pair(
        link("left_hand", com=(0.05, 0.02, 0.1), mark="inertial"),
        link("right_hand", mass=3.0, I=1.5 * BOX, com=(0.05, -0.02, 0.1)),
    ),
    "left-right-unmirrored": pair(LEFT, link("right_hand", com=(0.05, 0.02, 0.1), looks=LONG, mark="origin")),
    "rpy-degrees": elbow().replace('<origin xyz="0 0 0.5"/>\n<axis xyz="0 1', '<origin rpy="90 0 0"/><!--@-->\n<axis xyz="0 1'),
    "axis-not-unit": elbow(axis="0 2 0", mark="axis"),
    "axis-missing": elbow(axis="", mark="joint"),
    "limits-locked": elbow(limit=LIMIT.format(0, 0), mark="limit"),
    "limits-missing": elbow(limit=None, mark="joint"),
    "limits-incomplete": elbow(limit='lower="-1" upper="1" velocity="2"', mark="limit"),
    "limits-reversed": elbow(limit=LIMIT.format(1, -1), mark="limit"),
    "limits-degrees": elbow(limit=LIMIT.format(-90, 90), mark="limit"),
    "limits-millimetres": elbow(type="prismatic", limit=LIMIT.format(0, 400), mark="limit"),
    "limits-huge": elbow(limit=LIMIT.format(-1e6, 1e6), mark="limit"),
    "limits-exclude-zero": elbow(limit=LIMIT.format(0.1, 1), mark="limit"),
    "effort-zero": elbow(limit='lower="-1" upper="1" effort="0" velocity="2"', mark="limit"),
    "velocity-zero": elbow(limit='lower="-1" upper="1" effort="50" velocity="0"', mark="limit"),
    "mimic-leader-missing": elbow(more=MIMIC.format("nobody", 1), mark="more"),
    "mimic-cycle": elbow(more=MIMIC.format("elbow", 1), mark="more"),
    "mimic-zero": elbow(more=MIMIC.format("shoulder", 0), mark="more"),
    "mimic-chain": arm(
        elbow=joint("elbow", "upper", "lower", more=MIMIC.format("shoulder", 1)),
        more=link("hand") + joint("hand_j", "lower", "hand", more=MIMIC.format("elbow", 1), mark="more"),
    ),
    "mimic-dropped": elbow(type="fixed", axis="", limit=None, more=MIMIC.format("shoulder", 1), mark="more"),
    "mimic-limits": elbow(more=MIMIC.format("shoulder", 3), mark="limit"),
    "mass-matrix-not-positive": elbow(axis="0 1 0", mark="joint").replace(
        # negative inertia of the last link about the elbow axis
        link("lower", com=(0, 0, 0.2)), link("lower", I=(0.1, -0.05, 0.1))
    ),
    "joint-moves-no-inertia": arm(
        elbow=joint("elbow", "upper", "lower", axis="0 1 0", mark="joint"), lower=link("lower", I=(0, 0, 0), looks=shape())
    ),
    "mass-matrix-ill-conditioned": arm(
        # two joints about one axis with a very light link between them
        shoulder=joint("shoulder", "base", "upper", axis="0 1 0", mark="joint"), upper=link("upper", mass=1e-9, I=BOX * 1e-9),
        elbow=joint("elbow", "upper", "lower", axis="0 1 0", xyz="0 0 0"),
    ),
    "gimbal-lock": ball(1.5708),
    "foot-of-meshes": leg(SOLE),
    "joint-too-light": arm(
        elbow=joint("elbow", "upper", "lower", axis="0 1 0", limit=LIMIT.format(-1, 1).replace("50", "9e4"), mark="limit"),
        lower=link("lower", mass=0.1, I=BOX / 100, looks=""),
    ),
}  # fmt: skip

#: code → similar file without the finding
HAVE_NOT = {
    "file-refused": elbow(type="continuous"),
    "xml-declaration": '<?xml version="1.1"?>\n' + arm(),
    "element-twice": elbow(),
    "world-undeclared": arm(base=link("world"), shoulder=joint("shoulder", "world", "upper")),
    "shape-unreadable": lower(looks=shape(com=(0, 0, 0.2))),
    "mesh-scale-numbers": lower(looks=f"<visual><geometry>{SCALED.format('2 2 2')}</geometry></visual>"),
    "inertial-incomplete": lower(),
    "prefix-undeclared": arm(more="<gazebo><camera/></gazebo>").replace("<robot ", '<robot xmlns:sensor="urn:a" '),
    "xacro-call": arm().replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '),
    "mesh-unreachable": lower(looks=shape(com=(0, 0, 0.2))),
    "shape-size": lower(looks=shape((2, 2, 3))),
    "mass-negative": lower(mass=1e-3, I=BOX / 2e3),
    "mass-missing-matters": arm(
        more=EMPTY + joint("tip_j", "lower", "tip", more='<dynamics armature="0.01"/>')  # the armature is enough
    ),
    "mass-missing-harmless": arm(),
    "mass-missing-with-shape": arm(
        more=f'<link name="tip">{shape((0.01, 0.01, 0.02))}</link>'
        + joint("tip_j", "lower", "tip", type="fixed", limit=None, axis="")
    ),
    "mass-units": lower(mass=40.0, I=20 * BOX),  # 6700 kg/m³: steel
    "mass-far-from-mesh": lower(mass=0.1, I=BOX / 20),  # 17 kg/m³: foam
    "inertia-not-positive": lower(I=(0.02, 0.02, 0)),
    "triangle-inequality": lower(I=(0.01, 0.01, 0.02)),
    "moment-without-mass": arm(),
    "point-mass": arm(),
    "inertia-too-small": arm(),
    "inertia-placeholder": lower(I=(0.01, 0.011, 0.01)),
    "inertia-copied": arm(),
    "inertia-units": lower(I=2 * BOX),
    "inertia-about-wrong-frame": arm(lower=link("lower", com=(0, 0, 0.6))),
    "inertia-axes-swapped": arm(),
    "inertia-products-sign": arm(
        lower=link(
            "lower", com=(0, 0, 0.2), I=turn_inertia(box_inertia(size=(0.05, 0.05, 0.5)), SLANTED),
            looks=shape((0.05, 0.05, 0.5), (0, 0, 0.2), SLANTED),
        )
    ),
    "inertia-far-from-mesh": lower(I=2 * BOX),
    "com-units": arm(lower=link("lower", com=(0, 0, 2.0))),
    "com-outside-geometry": arm(lower=link("lower", com=(0, 0, 0.36), looks=shape(com=(0, 0, 0.2)))),  # 1 cm outside
    "left-right-asymmetry": pair(LEFT, link("right_hand", com=(0.05, -0.02, 0.1))),
    "left-right-unmirrored": pair(LEFT, link("right_hand", com=(0.05, -0.02, 0.1), looks=LONG)),
    "rpy-degrees": elbow().replace('<origin xyz="0 0 0.5"/>', '<origin rpy="3.1416 -6.2832 6.28318530718"/>'),
    "axis-not-unit": elbow(axis="0.7071 0.7071 0"),
    "axis-missing": elbow(type="fixed", axis="", limit=None),
    "limits-locked": elbow(limit=LIMIT.format(0, 0.01)),
    "limits-missing": elbow(**FREE),
    "limits-incomplete": elbow(**FREE),
    "limits-reversed": elbow(limit=LIMIT.format(-1, -0.5)),
    "limits-degrees": elbow(limit=LIMIT.format(-12.56637, 12.56637)),
    "limits-millimetres": elbow(type="prismatic", limit=LIMIT.format(0, 4)),
    "limits-huge": elbow(limit=LIMIT.format(-628.3, 628.3)),
    "limits-exclude-zero": elbow(limit=LIMIT.format(0, 1)),
    "effort-zero": elbow(limit='lower="-1" upper="1" effort="0.1" velocity="2"'),
    "velocity-zero": elbow(limit='lower="-1" upper="1" effort="50" velocity="0.1"'),
    "mimic-leader-missing": elbow(more=MIMIC.format("shoulder", 1)),
    "mimic-cycle": elbow(more=MIMIC.format("shoulder", 1)),
    "mimic-zero": elbow(more=MIMIC.format("shoulder", 0.1)),
    "mimic-chain": elbow(more=MIMIC.format("shoulder", 1)),
    "mimic-dropped": elbow(more=MIMIC.format("shoulder", 1)),
    "mimic-limits": elbow(more=MIMIC.format("shoulder", -1)),
    "mass-matrix-not-positive": lower(I=(0.02, -0.05, 0.02)),  # impossible, but 2 kg at 0.2 m outweigh it
    "joint-moves-no-inertia": lower(I=(0, 0, 0)),  # a point mass off the axis
    "mass-matrix-ill-conditioned": arm(shoulder=joint("shoulder", "base", "upper", axis="0 1 0")),
    "gimbal-lock": ball(1.5),
    "foot-of-meshes": leg('<sphere radius="0.1"/>'),
    "joint-too-light": arm(),
}  # fmt: skip


def test_gimbal_lock_is_found_where_three_axes_lie_in_a_plane():
    """x, y and a third axis inclined by α to x: a₁·(a₂ × a₃) = cos(q₂ + α), zero at π/2 − α and at −π/2 − α."""
    leaning = ball(3.0, axes=("1 0 0", "0 1 0", f"{np.sin(0.3)} 0 {np.cos(0.3)}"))
    subject = subject_of(leaning, (), False, None)
    names = subject.dynamics.model.joint_names
    found = sorted(lock.angle for lock in find_locks(subject.dynamics) if names[lock.bodies[1]] == "j1")
    np.testing.assert_allclose(found, [-np.pi / 2 - 0.3, np.pi / 2 - 0.3], rtol=1e-12)
    (told,) = [f for f in check(leaning).findings if f.code == "gimbal-lock"]
    assert told.element == "joint 'j1'"
    assert "'j0' and 'j2'" in told.what


def test_gimbal_lock_is_not_reported_with_an_armature():
    assert "gimbal-lock" not in codes(ball(1.5708, more='<dynamics armature="0.01"/>'))


def test_feet_of_meshes_are_no_finding_for_fixed_bases_hands_and_feet_with_contacts():
    assert "foot-of-meshes" not in codes(leg(SOLE, base="fixed"))
    assert "foot-of-meshes" not in codes(leg(SOLE).replace("0 0 -0.5", "0 0 0.5"))  # a hand above the base
    weld = joint("tip_j", "lower", "tip", type="fixed", limit=None, axis="")
    ball_on_it = link("tip", mass=1e-3, I=BOX / 2e3, looks=shape((0.1, 0.2, 0.3), kind="collision"))
    assert "foot-of-meshes" not in codes(leg(SOLE, tip=ball_on_it + weld))
    robot = ts.load(leg(SOLE)).with_contacts(ts.contacts.point("lower"), ts.contacts.plane(), friction=0.5)
    assert "foot-of-meshes" not in [f.code for f in check(robot).findings]


@cache
def check_cached(text):
    return check(text)


def codes(text):
    return [f.code for f in check_cached(text).findings]


#: codes that need a mesh are in test_shapes.py
ELSEWHERE = {"mesh-up-axis", "mesh-scale"}
TRIED = [code for code in CODES if code not in ELSEWHERE]


def test_every_code_has_an_example_and_a_counterexample():
    assert set(HAVE) == set(HAVE_NOT) == set(TRIED)


def test_correct_arm_has_no_findings():
    checkup = check(arm())
    assert checkup.findings == ()
    assert checkup.worst is None
    assert str(checkup) == "sample: nothing found"


@pytest.mark.parametrize("code", TRIED)
def test_finding_is_reported_once_at_its_line(code):
    found = [f for f in check_cached(HAVE[code]).findings if f.code == code]
    assert len(found) == 1, codes(HAVE[code])
    assert found[0].line == marked_line(HAVE[code])
    assert found[0].severity in SEVERITIES
    assert found[0].what
    assert found[0].means
    assert found[0].fix


@pytest.mark.parametrize("code", TRIED)
def test_counterexample_does_not_have_the_finding(code):
    assert code not in codes(HAVE_NOT[code])


@pytest.mark.parametrize("code", TRIED)
def test_example_of_a_code_has_no_unrelated_error_or_warning(code):
    """One cause gives one finding, except findings that follow from each other."""
    allowed = {
        "mass-matrix-not-positive": {"inertia-not-positive", "inertia-far-from-mesh"},
        "inertia-not-positive": {"mass-matrix-not-positive"},
        "mass-units": {"inertia-too-small"},  # relative to the mass
        "inertia-products-sign": {"triangle-inequality"},
        "joint-moves-no-inertia": {"point-mass"},
        "inertial-incomplete": {"point-mass"},
        "moment-without-mass": {"mass-far-from-mesh"},
        "mass-matrix-ill-conditioned": {"inertia-too-small"},
    }.get(code, set())
    others = {f.code for f in check_cached(HAVE[code]).findings if f.severity != "note"} - {code}
    assert others <= allowed


def test_robot_without_name_or_links_is_refused_at_line_1():
    (found,) = check(robot()).findings
    assert (found.code, found.line) == ("file-refused", 1)


def test_reversed_limits_around_zero_do_not_exclude_zero():
    assert set(codes(elbow(limit=LIMIT.format(1, -1)))) == {"limits-reversed"}
    found = set(codes(elbow(limit=LIMIT.format(2, 1))))
    assert found == {"limits-reversed", "limits-exclude-zero"}
