"""Comparison with Drake, if installed (pip install drake): equal dynamics at the converted states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import inertia, transform
from torsor import algorithms as alg
from torsor.bridges import from_drake, states
from torsor.errors import ArgumentError
from torsor.io.urdf.writer import write_urdf
from torsor.model.description import Description, Joint, Link
from torsor.model.joints import Helical, Planar, Prismatic, Revolute, Spherical, Universal
from torsor.robot import Robot
from torsor.spatial import Vec

plants = pytest.importorskip("pydrake.multibody.plant")
trees = pytest.importorskip("pydrake.multibody.tree")


def agree(robot: Robot, plant, seed: int) -> None:
    there, context, rng = states.drake(robot, plant), plant.CreateDefaultContext(), np.random.default_rng(seed)
    q, (v, a) = robot.random_configuration(rng), rng.normal(size=(2, robot.nv))
    Q, V, A = there.q(q), there.v(q, v), there.a(q, v, a)
    plant.SetPositions(context, Q)
    plant.SetVelocities(context, V)
    forces = plant.CalcInverseDynamics(context, A, trees.MultibodyForces(plant)) - plant.CalcGravityGeneralizedForces(context)
    tau = np.array(alg.rnea(robot.model, q.tolist(), v.tolist(), a.tolist()))
    assert_close(there.back.tau(Q, forces), tau, floor=1e-9)
    T = there.velocity_matrix(q)
    assert_close(T.T @ plant.CalcMassMatrix(context) @ T, np.array(alg.crba(robot.model, q.tolist()), float), floor=1e-9)


@pytest.mark.parametrize("name", ["ur5", "panda", "quadruped", "humanoid"])
def test_bundled_robots_agree_with_drake(name):
    from pydrake.multibody.parsing import Parser

    d = getattr(ts.robots, name)().description
    bare = replace(
        d, links=tuple(replace(x, geometry=()) for x in d.links), joints=tuple(replace(j, armature=()) for j in d.joints)
    )
    plant = plants.MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(write_urdf(replace(bare, base="fixed")), "urdf")
    if d.base == "fixed" and d.root != "world":
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(d.root))
    plant.Finalize()
    agree(Robot(bare), plant, 0)
    agree(from_drake(plant), plant, 1)


def test_every_shared_joint_type_agrees_with_drake():
    from pydrake.math import RigidTransform, RotationMatrix

    z, x, y = Vec(0, 0, 1), Vec(1, 0, 0), Vec(0, 1, 0)
    up, along = np.array([0.0, 0, 1]), np.array([1.0, 0, 0])
    made = [
        (Spherical(), lambda *ends: trees.BallRpyJoint(*ends)),
        (Planar(z), lambda *ends: trees.PlanarJoint(*ends)),
        (Universal(x, y), lambda *ends: trees.UniversalJoint(*ends)),
        (Helical(z, 0.1), lambda *ends: trees.ScrewJoint(*ends, up, 0.2 * np.pi, 0.0)),  # metres per turn
        (Revolute(z), lambda *ends: trees.RevoluteJoint(*ends, up)),
        (Prismatic(x), lambda *ends: trees.PrismaticJoint(*ends, along)),
    ]
    rng, plant = np.random.default_rng(5), plants.MultibodyPlant(0.0)
    links, joints, body = [Link("base")], [], plant.world_body()
    for n, (kind, make) in enumerate(made):
        X, G = transform(rng), inertia(rng)
        links.append(Link(f"link{n}", G))
        joints.append(Joint(f"joint{n}", kind, links[n].name, f"link{n}", X))
        R, p = (np.array(part, float) for part in X.pose)
        I = np.array(G.about_com.rows, float)
        rotational = trees.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        spatial = trees.SpatialInertia.MakeFromCentralInertia(float(G.m), np.array(G.com, float), rotational)
        frame = trees.FixedOffsetFrame(f"frame{n}", body.body_frame(), RigidTransform(RotationMatrix(R), p))
        frame, body = plant.AddFrame(frame), plant.AddRigidBody(f"link{n}", spatial)
        plant.AddJoint(make(f"joint{n}", frame, body.body_frame()))
    plant.Finalize()
    agree(Robot(Description("all", tuple(links), tuple(joints))), plant, 3)
    agree(from_drake(plant), plant, 4)


def test_from_drake_rejects_other_objects():
    with pytest.raises(ArgumentError, match="must be a pydrake MultibodyPlant, not str"):
        from_drake("robot.sdf")
    with pytest.raises(ArgumentError, match="not finalized"):
        from_drake(plants.MultibodyPlant(0.0))
