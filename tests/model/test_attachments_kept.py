"""Every way to edit a robot × everything attached to it: kept, or named in the report."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ModelError
from torsor.model.actuators import Lag, PositionServo
from torsor.model.description import FLOATING_BASE, Geometry
from torsor.model.forces import Buoyancy, Drag, GravityCompensation
from torsor.model.friction import Coulomb
from torsor.model.joints import Composite, Prismatic, Revolute
from torsor.spatial import Vec

MESH = Geometry("visual", "mesh", uri="meshes/part.stl", color=(1.0, 0.0, 0.0, 1.0))
ROTOR = {"mass": 0.1, "inertia": (1e-5, 1e-5, 2e-5), "ratio": 50, "link": "torso"}
SENSORS = {
    "imu": ts.Sensor("accelerometer", "eye", delay=0.01), "gyro": ts.Sensor("gyroscope", "fore", noise=0.1),
    "wrist": ts.Sensor("force_torque", "plate"), "hip_force": ts.Sensor("force", "lift"),
    "angle": ts.Sensor("encoder", "elbow"),
    "rate": ts.Sensor("tachometer", "lift"), "torque": ts.Sensor("joint_torque", "elbow"),
    "drive": ts.Sensor("drive_force", "elbow"),
}  # fmt: skip


def robot_with_attachments(base: str = "floating") -> ts.Robot:
    """torso - shoulder (ball) - upper - elbow - fore - weld - plate; torso - lift (slide) - mast; fore - finger (mimic)."""
    b = ts.Builder("equipped").link("torso", 2.0, inertia=(1, 1, 1))
    for name in ("upper", "fore", "plate", "mast", "finger"):
        b.link(name, 1.0, com=(0.1, 0, 0.2), inertia=(0.1, 0.2, 0.2))
    b.joint("shoulder", "spherical", "torso", "upper", xyz=(0, 0, 0.5)).joint(
        "elbow", "revolute", "upper", "fore", axis=(0, 1, 0)
    )
    b.joint("weld", "fixed", "fore", "plate", xyz=(0.1, 0, 0)).joint("lift", "prismatic", "torso", "mast")
    b.joint("curl", "revolute", "fore", "finger", mimic=("elbow", -2.0, 0.1)).frame("eye", "mast", xyz=(0, 0, 1))
    b.configuration("home", {"floating_base": (0, 0, 1, 0, 0, 0, 1), "shoulder": (0, 0, 1, 1), "elbow": 0.5, "lift": 0.2})
    b.configuration("bent", {"elbow": 1.5})
    d = b.description(base)
    d = replace(
        d,
        source="/a/robot.urdf",
        links=tuple(replace(x, geometry=(MESH,)) for x in d.links),
        joints=tuple(replace(j, actuator=(Lag(0.1), PositionServo(9.0, 2.0))) if j.name == "elbow" else j for j in d.joints),
        sensors=tuple(SENSORS.items()),
    )
    robot = ts.Robot(d).with_friction({"elbow": Coulomb(0.5), "lift": Coulomb(0.3)}).with_rotors({"lift": ROTOR})
    return robot.with_forces({"fore": [GravityCompensation(0.5), Drag(1.0)], "eye": Buoyancy(0.1)})


def names_of_attachments(robot: ts.Robot) -> dict[str, set]:
    """The names of everything attached."""
    d = robot.description
    return {
        "configurations": {(c.name, joint) for c in d.configurations for joint, _ in c.values},
        "forces": {(at, type(x).__name__) for at, x in robot.forces},
        "sensors": set(robot.sensors),
        "friction": set(robot.model.joints_with_friction),
        "actuators": set(robot.actuators),
        "rotors": set(robot.rotors),
        "meshes": {x.name for x in d.links if MESH in (replace(g, source="") for g in x.geometry)},
        "frames": {f.name for f in d.frames},
        "mimics": {j.name for j in d.joints if j.mimic is not None},
    }


HAND = ts.Builder("hand").link("palm", 0.1, com=(0, 0, 0.1)).build()
#: edit → what may be lost: a part of it, and the words of the report ("": it is what the edit is for)
EDITS = {
    "rename": (lambda r: r.rename({"torso": "trunk", "eye": "lens"}).rename({"trunk": "torso", "lens": "eye"}), {}),
    "subtree": (lambda r: r.subtree("torso"), {}),
    "branch": (lambda r: r.subtree("upper"), {
        "configurations": ({("home", "floating_base"), ("home", "shoulder"), ("home", "lift")}, ""),
        "forces": ({("eye", "Buoyancy")}, ""), "friction": ({"lift"}, ""), "rotors": ({"lift_rotor"}, ""),
        "sensors": ({"imu", "hip_force", "rate"}, "sensors removed, as their frame or the coordinate of their joint is gone"),
        "meshes": ({"torso", "mast"}, ""), "frames": ({"eye"}, ""),
    }),
    "without": (lambda r: r.without("mast"), {
        "configurations": ({("home", "lift")}, ""), "forces": ({("eye", "Buoyancy")}, ""), "friction": ({"lift"}, ""),
        "rotors": ({"lift_rotor"}, "part of its link, as the joint driven is removed: rotor: lift_rotor"),
        "sensors": ({"imu", "hip_force", "rate"}, "sensors removed"), "meshes": ({"mast"}, ""), "frames": ({"eye"}, ""),
    }),
    "without the arm": (lambda r: r.without("upper"), {
        "configurations": ({("home", "shoulder"), ("home", "elbow"), ("bent", "elbow")}, "none of their joints is left"),
        "forces": ({("fore", "GravityCompensation"), ("fore", "Drag")}, ""), "friction": ({"elbow"}, ""),
        "sensors": ({"gyro", "wrist", "angle", "torque", "drive"}, "sensors removed"), "actuators": ({"elbow"}, ""),
        "meshes": ({"upper", "fore", "plate", "finger"}, ""), "mimics": ({"curl"}, ""),
    }),
    "lock": (lambda r: r.lock({"elbow": 0.3}), {
        "configurations": ({("home", "elbow"), ("bent", "elbow")}, "none of their joints is left: bent"),
        "sensors": ({"angle", "torque", "drive"}, "sensors removed"), "friction": ({"elbow"}, ""), "actuators": ({"elbow"}, ""),
        "mimics": ({"curl"}, ""),
    }),
    "mimic": (lambda r: r.with_mimic("elbow", "lift"), {
        "configurations": ({("home", "elbow"), ("bent", "elbow")}, "none of their joints is left: bent"),
        "sensors": ({"angle", "torque", "drive"}, "sensors removed"), "actuators": ({"elbow"}, "dropped: actuator"),
    }),
    "free": (lambda r: r.with_mimic("curl", None), {"mimics": ({"curl"}, "")}),
    "free what is free": (lambda r: r.with_mimic("shoulder", None).with_mimic("elbow", None).with_mimic("weld", None), {}),
    "uncouple": (lambda r: r.without_couplings(), {"mimics": ({"curl"}, "")}),
    "slide": (lambda r: r.with_mimic("curl", None).with_joint_type("elbow", "prismatic"), {
        "configurations": ({("home", "elbow"), ("bent", "elbow")}, "named configurations lose its coordinates"),
        "friction": ({"elbow"}, "dropped: laws, actuator"), "actuators": ({"elbow"}, "dropped: laws, actuator"),
        "mimics": ({"curl"}, ""),
    }),
    "turn": (lambda r: r.with_joint_type("elbow", "continuous"), {}),
    "rebase": (lambda r: r.rebase("fore"), {
        "configurations": ({("home", "floating_base")}, "named configurations lose the pose of the base"),
    }),
    "rebase beyond": (lambda r: r.rebase("plate"), {
        "configurations": ({("home", "floating_base")}, "named configurations lose the pose of the base"),
        "sensors": ({"wrist"}, "sensors removed, as other joints carry their links now: wrist"),
    }),
    "attach": (lambda r: r.attach(HAND, at="plate"), {}),
    "attached": (lambda r: HAND.attach(r, at="palm"), {
        "configurations": ({("home", "floating_base")}, "its floating base is welded"),
    }),
    "composite": (lambda r: r.attach(COMPOSED, at="plate"), {}),
    "fix": (lambda r: r.with_base("fixed"), {}),
    "float by angles": (lambda r: r.with_base("floating_rpy"), {}),
    "gravity": (lambda r: r.with_gravity((0, 0, -1.62)), {}),
    "payload": (lambda r: r.with_payload("eye", 2.0), {}),
    "armature": (lambda r: r.rotors_as_armature(), {"rotors": ({"lift_rotor"}, "as armature, without gyroscopic coupling")}),
    "friction": (lambda r: r.with_friction({"shoulder": [Coulomb(1.0)] * 3}), {}),
    "forces": (lambda r: r.with_forces({"upper": Drag(2.0)}), {}),
    "configuration": (lambda r: r.with_configuration("other", r.neutral()), {}),
    "loops": (lambda r: r.without_loops(), {}),
    "spanning tree": (lambda r: r.with_spanning_tree(), {}),
    "pickle": (lambda r: pickle.loads(pickle.dumps(r)), {}),
}  # fmt: skip
COMPOSED = (
    ts.Builder("composed").link("x", 0.1).link("y", 0.1)
    .joint("both", Composite([Prismatic(Vec(1, 0, 0)), Revolute(Vec(0, 0, 1))]), "x", "y")
    .build()
)  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_keeps_all_attachments_or_reports_the_loss(edit):
    robot = robot_with_attachments()
    function, losses = EDITS[edit]
    edited = function(robot)
    before, after, report = names_of_attachments(robot), names_of_attachments(edited), " | ".join(edited.report)
    for kind, names in before.items():
        lost, words = losses.get(kind, (set(), ""))
        assert names - after[kind] == lost, kind
        assert words in report
    for name, sensor in edited.sensors.items():
        assert sensor == SENSORS[name]
    for name in set(robot.actuators) & set(edited.actuators):
        assert edited.actuators[name] == robot.actuators[name]
    for name in edited.configurations:
        assert edited.configuration(name).shape == (edited.nq,)


def test_named_configuration_with_another_base_is_the_same_pose():
    b = (
        ts.Builder("b")
        .link("body", 1.0, inertia=(1, 1, 1))
        .configuration("away", {FLOATING_BASE: (1, 2, 3, 0.1, 0.2, 0.3, 0.9)})
    )
    free = b.build("floating")
    angles = free.with_base("floating_rpy")
    np.testing.assert_allclose(
        angles.pose(angles.configuration("away"), "body"), free.pose(free.configuration("away"), "body"), atol=1e-14
    )
    q = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    named = angles.with_configuration("here", q)
    assert named.configuration("here").tolist() == q
    there = named.with_base("floating")
    np.testing.assert_allclose(there.pose(there.configuration("here"), "body"), named.pose(q, "body"), atol=1e-14)
    with pytest.raises(ModelError, match="7 coordinates, 5 given"):
        free.with_configuration("bad", {FLOATING_BASE: [0.0] * 5})


def test_rename_of_a_link_named_floating_base_leaves_the_base_its_configurations():
    b = ts.Builder("b").link("floating_base").link("arm", 1.0).joint("hinge", "revolute", "floating_base", "arm")
    robot = b.configuration("up", {"floating_base": (0, 0, 1, 0, 0, 0, 1)}).build("floating")
    assert robot.rename({"floating_base": "pelvis"}).configuration("up")[2] == 1


def test_attach_of_sensors_of_one_name_needs_a_prefix():
    robot = robot_with_attachments()
    d = HAND.description
    other = ts.Robot(replace(d, sensors=(("imu", ts.Sensor("gyroscope", "palm")),)))
    with pytest.raises(ModelError, match="a sensor named 'imu'"):
        robot.attach(other, at="plate")
    assert robot.attach(other, at="plate", prefix="r_").sensors["r_imu"].at == "r_palm"


def test_attached_meshes_are_found_beside_their_own_file(tmp_path):
    text = (
        '<robot name="{n}"><link name="{n}"><visual><geometry><mesh filename="m/part.obj"/></geometry></visual></link></robot>'
    )
    for name, x in (("one", 1), ("two", 2)):
        (tmp_path / name / "m").mkdir(parents=True)
        (tmp_path / name / "m" / "part.obj").write_text(f"v 0 0 0\nv {x} 0 0\nv 0 {x} 0\nf 1 2 3\n")
        (tmp_path / name / "robot.urdf").write_text(text.format(n=name))
    one, two = (ts.load(tmp_path / name / "robot.urdf") for name in ("one", "two"))
    from torsor.io.mjcf.writer import write_mjcf
    from torsor.look.scene import Scene

    both = one.attach(two, at="one")
    sizes = {part.link: float(part.surface.vertices.max()) for part in Scene.of(both, style="mesh").parts}
    assert sizes == {"one": 1.0, "two": 2.0}
    assert write_mjcf(both.description, tmp_path / "both.xml").count("part.obj") == 2


def test_topology_of_a_floating_base_with_angles_has_its_joint():
    robot = robot_with_attachments("floating_rpy")
    assert robot.moving_joints("mast") == ("floating_base", "lift")
    assert robot.model.cut("floating_base")[0] == "torso"
