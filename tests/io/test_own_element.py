"""torsor's own element in URDF and MJCF: a saved robot is read back with its terms, to the last bit."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import torsor as ts
from tests.io.composed import composed
from tests.tolerance import assert_close
from torsor.actuators import friction
from torsor.errors import FileError, ModelWarning
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.io.shared.values import TERMS, from_json, parse_json, to_json
from torsor.io.urdf import read_urdf
from torsor.io.urdf.writer import write_urdf
from torsor.model.terms.joint_losses import JointFriction
from torsor.model.terms.term import Term

HEAD = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>\n<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>\n'  # noqa: E501


def urdf(own: str) -> str:
    return f"{HEAD}<torsor>{own}</torsor></robot>"


def mjcf(own: str) -> str:
    data = own.replace("&", "&amp;").replace('"', "&quot;")
    body = '<body name="b"><joint name="j"/><geom size="0.1"/></body>'
    return f'<mujoco>\n<custom><text name="torsor" data="{data}"/></custom>\n<worldbody>{body}</worldbody></mujoco>'


def test_every_term_is_read_back_from_urdf_to_the_last_bit(tmp_path):
    robot = composed()
    ts.save(robot, tmp_path / "r.urdf")
    back = ts.load(tmp_path / "r.urdf")
    assert {type(t) for t in robot.description.terms} | {
        type(c.constraint) for c in robot.description.terms if hasattr(c, "constraint")
    } == {*TERMS}
    for part in ("terms", "rotors", "forces", "loops", "gravity", "base", "actuated", "configurations"):
        assert repr(getattr(back.description, part)) == repr(getattr(robot.description, part))
    assert [j.laws for j in back.description.joints] == [j.laws for j in robot.description.joints]
    assert back.terms == robot.terms
    assert "from torsor's own element of the file, so that they act: " in "\n".join(back.report)
    assert [f.name for f in back.description.frames] == ["tip", "eye"]


def test_every_term_is_read_back_from_mjcf_to_the_last_bit(tmp_path):
    pytest.importorskip("mujoco")
    robot = composed()
    ts.save(robot, tmp_path / "r.mjcf")
    back = ts.load(tmp_path / "r.mjcf")
    for part in ("terms", "rotors", "actuated"):
        assert repr(getattr(back.description, part)) == repr(getattr(robot.description, part))
    assert {*map(repr, back.description.forces)} == {*map(repr, robot.description.forces)}
    assert back.terms == robot.terms


def test_saved_robot_is_equal_and_has_the_same_dynamics(tmp_path):
    robot = composed().without_terms("constraint")
    ts.save(robot, tmp_path / "r.urdf")
    back = ts.load(tmp_path / "r.urdf")
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, robot.nq)) * 0.1
    given = [r.forward_dynamics(q, v, tau, time=0.2) for r in (robot, back)]
    assert_close(given[1], given[0], condition=1e3)  # rotors are subtracted from links
    plain = ts.robots.two_link().with_friction({"joint1": friction.Coulomb(0.3)}).with_springs({"joint2": ts.terms.Spring(2.0)})
    ts.save(plain, tmp_path / "plain.urdf")
    assert ts.load(tmp_path / "plain.urdf") == plain


def test_rotors_of_massless_links_are_read_back(tmp_path):
    b = ts.Builder("r").link("base").link("arm", mass=1.0, inertia=(1, 1, 1)).joint("j", "revolute", "base", "arm")
    robot = b.build().with_rotors({"j": {"mass": 0.1, "inertia": (1e-4, 1e-4, 2e-4), "ratio": 3.0, "xyz": (0.1, 0.2, 0.3)}})
    ts.save(robot, tmp_path / "r.urdf")
    assert ts.load(tmp_path / "r.urdf", strict=True) == robot


def test_simple_laws_are_numbers_for_other_readers_and_are_not_counted_twice(tmp_path):
    robot = ts.robots.two_link().with_friction({"joint1": friction.StaticViscous(0.3, 0.1), "joint2": friction.Coulomb(0.2)})
    for text in (write_urdf(robot.description), write_mjcf(robot.description)):
        assert 'damping="0.1"' in text
        back = ts.load(text)
        assert [(j.laws, j.damping, j.friction) for j in back.description.joints] == [
            (j.laws, j.damping, j.friction) for j in robot.description.joints
        ]
        assert ts.load(text, terms="all").terms == robot.terms


def test_forces_of_a_foreign_file_stay_off_beside_own_terms():
    text = urdf('{"terms": [{"JointSpring": {"joint": "j", "law": {"Spring": {"stiffness": 2.0}}}}]}')
    text = text.replace("</joint>", '<dynamics damping="3" friction="1"/></joint>')
    robot = ts.load(text)
    assert list(robot.terms) == ["j spring"]
    assert any("the damping of j is left out" in line for line in robot.report)
    assert list(ts.load(text, terms="all").terms) == ["j friction", "j spring", "damping"]


@dataclass(frozen=True)
class Wind(Term):
    """A term of the user."""

    name: str = "wind"


def test_terms_of_the_user_are_named_when_saving_and_left_out(tmp_path):
    robot = ts.robots.two_link().with_terms(Wind())
    for name in ("r.urdf", "r.mjcf"):
        with pytest.warns(ModelWarning, match=r"terms, left out: wind \(Wind is not torsor's own"):
            ts.save(robot, tmp_path / name)
        assert "terms, left out: wind" in (tmp_path / name).read_text()
        assert ts.load(tmp_path / name).terms == {}


def test_terms_at_joints_that_mjcf_has_as_several_are_left_out_with_a_warning(tmp_path):
    b = ts.Builder("r").link("base", mass=1.0, inertia=(1, 1, 1)).link("arm", mass=1.0, inertia=(1, 1, 1))
    robot = b.joint("j", "universal", "base", "arm", second_axis=(1, 0, 0), axis=(0, 1, 0)).build().with_friction(
        {"j": [friction.Viscous(0.1), None]}
    ).with_damping({"j": (0.2, 0.3)})  # fmt: skip
    with pytest.warns(
        ModelWarning, match=r"terms, left out: damping \(joint 'j' is written as several\); friction laws, left out: j"
    ):
        ts.save(robot, tmp_path / "r.mjcf")
    ts.save(robot, tmp_path / "r.urdf")
    assert ts.load(tmp_path / "r.urdf") == robot


def test_other_libraries_read_the_files_of_a_composed_robot(tmp_path):
    mujoco, pinocchio = pytest.importorskip("mujoco"), pytest.importorskip("pinocchio")
    robot = composed()
    ts.save(robot, tmp_path / "r.urdf")
    ts.save(robot, tmp_path / "r.mjcf")
    bare = robot.without_terms(*{t.kind for t in robot.description.terms}).with_base_motion(None)
    rigid = replace(bare.description, terms=(), forces=(), actuated=None)
    tree = ts.Robot(rigid).rotors_as_armature()
    q = np.linspace(0.1, 0.5, 5)
    m = pinocchio.buildModelFromUrdf(str(tmp_path / "r.urdf"))
    M = pinocchio.crba(m, m.createData(), q)
    armature = np.diag([sum(j.armature) for j in tree.description.joints])  # torsor's own attribute
    assert_close(np.triu(M) + np.triu(M, 1).T + armature, tree.mass_matrix(q))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "r.mjcf"))
    assert (model.nq, model.ntext) == (5, 1)
    data, M = mujoco.MjData(model), np.zeros((5, 5))
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, M)
    assert_close(M, tree.mass_matrix(q), condition=10)


BAD = {
    "not JSON": ("{terms}", "is not JSON: Expecting property name"),
    "no object": ("[1]", "must be an object with the parts base, gravity"),
    "unknown part": ('{"links": []}', "must be an object with the parts"),
    "twice": ('{"base": "fixed", "base": "floating"}', "a name is given twice"),
    "NaN": ('{"gravity": {"Vec": [0, 0, NaN]}}', "NaN is not a number"),
    "infinite": ('{"gravity": {"Vec": [0, 0, 1e999]}}', "gravity: Vec: its numbers must be finite"),
    "too short": ('{"gravity": {"Vec": [0, 0]}}', "gravity: Vec has the fields x, y, z"),
    "unknown class": ('{"terms": [{"system": {}}]}', "must be an object with the name of one of torsor's classes"),
    "private class": ('{"terms": [{"FunctionJoint": {}}]}', "one of torsor's classes"),
    "not a term": ('{"terms": [{"Spring": {"stiffness": 1.0}}]}', r"terms must be tuple\[Term, ...\]"),
    "wrong type": ('{"terms": [{"Damping": {"joints": 3}}]}', r"terms\[0\]: Damping.joints must be tuple\[str, ...\] \| None"),
    "unknown field": ('{"terms": [{"Damping": {"code": 3}}]}', "Damping has the fields joints, name, not"),
    "wrong value": ('{"terms": [{"Stops": {"restitution": 3.0}}]}', "the restitution must be a number between 0 and 1"),
    "laws of nothing": ('{"laws": [["k", [null]]]}', "'k' is not a joint of the file"),
    "bad base": ('{"base": "flying"}', "base must be 'fixed', 'floating'"),
    "deep": ("[" * 100_000, "too deep|must be an object|not JSON"),
    "huge count": (
        '{"sensors": [["s", {"Sensor": {"kind": "encoder", "at": "j", "seed": 99999999999999999999999}}]]}', "too large"),
    "huge beam": (
        '{"terms": [{"BeamLink": {"link": "b", "beam": {"Beam": {"length": 1.0, "mass_per_length": 1.0, "EI_y": 1.0,'
        ' "EI_z": 1.0, "GJ": 1.0, "polar_per_length": 1.0, "slices": 1000000000}}}}]}', "slices must be"),
    "code": (
        '{"terms": [{"BaseMotion": {"pose": {"RecordedFunction": {"name": "f", "code": [["__import__", ["os"]]],'
        ' "results": [0]}}}}]}',
        "BaseMotion"),
    "growing code": (
        '{"terms": [{"BaseMotion": {"pose": {"RecordedFunction": {"name": "f", "results": [70, 70, 70],'
        '"code": [["const", [1]],'
        + ", ".join(f'["{"add" if k < 2 else "mul"}", [{k}, {k}]]' for k in range(70)) + "]}}}}]}", "too large"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_malformed_elements_are_file_errors_with_their_line(case):
    own, match = BAD[case]
    with pytest.raises(FileError, match=match) as found:
        read_urdf(urdf(own))
    assert (found.value.line, found.value.element) == (3, "torsor")


@pytest.mark.parametrize("case", ["not JSON", "unknown class", "wrong value", "growing code"])
def test_malformed_texts_of_mjcf_are_file_errors_with_their_line(case):
    pytest.importorskip("mujoco")
    own, match = BAD[case]
    with pytest.raises(FileError, match=match) as found:
        read_mjcf(mjcf(own))
    assert (found.value.line, found.value.element) == (2, "torsor")


def test_terms_whose_joint_is_not_in_the_file_are_left_out_with_a_warning():
    text = urdf('{"terms": [{"JointSpring": {"joint": "k", "law": {"Spring": {"stiffness": 1.0}}}}, {"Damping": {}}]}')
    with pytest.warns(ModelWarning, match="terms of torsor's own element are left out, .*: k spring"):
        robot = ts.load(text)
    assert list(robot.terms) == ["damping"]
    assert "terms removed, as their joint or frame is gone: k spring" in robot.report


def test_line_of_a_syntax_error_is_that_inside_the_element():
    with pytest.raises(FileError, match="is not JSON") as found:
        read_urdf(urdf('{\n"base":\n fixed}'))
    assert found.value.line == 5


def test_every_saved_class_names_a_class_of_the_table_and_friction_terms_come_from_laws():
    assert JointFriction not in TERMS
    for term in composed().description.terms:
        text = json.dumps(to_json(term))
        back = from_json(parse_json(text), Term, "term")
        assert back == term
        assert json.dumps(to_json(back)) == text
