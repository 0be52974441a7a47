"""Centroidal quantities against Pinocchio (ccrba, dccrba, subtrees) and MuJoCo (subtree_com, subtree_linvel and so on)."""

from __future__ import annotations

import warnings
from functools import partial

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests.mjcf.twin import Twin as MujocoTwin
from tests.mjcf.twin import random_state
from tests.references.pinocchio_states import ROBOTS, Twin
from tests.tolerance import assert_close
from torsor.io.mjcf import write_mjcf
from torsor.io.mjcf.compiling import compile_model
from torsor.kernels.quantities import QUANTITIES

FIXED = ("ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf", "baxter_description/urdf/baxter.urdf")
FLOATING = (
    "solo_description/robots/solo12.urdf", "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "talos_data/robots/talos_reduced.urdf",
)  # fmt: skip
#: of these the machine code is compared too
COMPILED = (FIXED[0], FLOATING[0])


def twin(name: str) -> Twin:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ts.ModelWarning)
        robot = ts.load(ROBOTS / name, base="floating" if name in FLOATING else "fixed", mimic=False)
    return Twin(robot, ROBOTS / name, name in FLOATING)


def by_source(robot, name, *state, **words):
    return np.array(QUANTITIES[name].function(robot.model, *(x.tolist() for x in state), **words), float)


def by_method(robot, name, *state, **words):
    return getattr(robot, name)(*state, **words)


def angular_first(t: Twin, x: np.ndarray) -> np.ndarray:
    """Rows (linear, angular) and columns of Pinocchio as torsor has them."""
    x = np.concatenate([x[3:], x[:3]])
    return x if x.ndim == 1 else np.array([t.back(row) for row in x])


@pytest.mark.parametrize(
    ("name", "compute"),
    [(name, by_source) for name in (*FIXED, *FLOATING)] + [(name, by_method) for name in COMPILED],
)
def test_centroidal_quantities_equal_those_of_pinocchio(name, compute):
    t = twin(name)
    robot, rng = t.robot, np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    pq, pv, pa = t.q(q), t.v(v), t.v(a)
    ours = partial(compute, robot, moving=True)  # a fixed base is not in Pinocchio's sums

    pin.centerOfMass(t.model, t.data, pq, pv, pa)
    assert_close(ours("center_of_mass", q), t.data.com[0])
    assert_close(ours("center_of_mass_velocity", q, v), t.data.vcom[0])
    assert_close(ours("center_of_mass_acceleration", q, v, a), t.data.acom[0])
    assert_close(ours("center_of_mass_jacobian", q), [t.back(x) for x in pin.jacobianCenterOfMass(t.model, t.data, pq)])
    pin.dccrba(t.model, t.data, pq, pv)
    assert_close(ours("centroidal_matrix", q), angular_first(t, t.data.Ag))
    rate = angular_first(t, t.data.dAg)
    assert_close(ours("centroidal_matrix_rate", q, v), rate)
    J_rate = ours("center_of_mass_jacobian_rate", q, v)
    mass = robot.total_mass(moving=True)
    assert_close(J_rate, rate[3:] / mass)
    pin.ccrba(t.model, t.data, pq, pv)
    assert_close(ours("centroidal_momentum", q, v), angular_first(t, np.array(t.data.hg.vector)))
    turning = ours("composite_inertia", q)
    assert_close(turning[:3, :3], t.data.Ig.inertia)
    assert_close(turning[3:, 3:], mass * np.eye(3))
    assert not turning[:3, 3:].any()
    assert not turning[3:, :3].any()
    pin.computeCentroidalMomentumTimeVariation(t.model, t.data, pq, pv, pa)
    assert_close(ours("centroidal_momentum_rate", q, v, a), angular_first(t, np.array(t.data.dhg.vector)))


@pytest.mark.parametrize("name", [FIXED[1], FLOATING[0]])
def test_subtrees_equal_those_of_pinocchio(name):
    t = twin(name)
    robot, rng = t.robot, np.random.default_rng(1)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    pin.centerOfMass(t.model, t.data, t.q(q), t.v(v), True)
    links = {t.model.getJointId(j): robot.joint(j).child for j in robot.joints[::3] if j != "floating_base"}
    centers = {k: t.data.oMi[k].act(t.data.com[k]) for k in links}  # before jacobianSubtreeCenterOfMass uses the same memory
    for k, link in links.items():
        assert robot.total_mass(below=link) == pytest.approx(t.data.mass[k], rel=1e-13)
        assert_close(by_source(robot, "center_of_mass", q, below=link), centers[k])
        J = pin.jacobianSubtreeCenterOfMass(t.model, t.data, t.q(q), k)
        assert_close(by_source(robot, "center_of_mass_jacobian", q, below=link), [t.back(x) for x in J])


@pytest.mark.parametrize("name", ["panda", "quadruped", "humanoid"])
def test_subtrees_equal_those_of_mujoco(name):
    robot = getattr(ts.robots, name)().without_couplings()
    m = compile_model(write_mjcf(robot.description, meshes=False)).model
    t, rng = MujocoTwin(robot.model, m), np.random.default_rng(2)
    q, v, _ = random_state(robot.model, rng)
    t.d.qpos[:], t.d.qvel[:] = t.qpos(q), t.rates(q) @ v
    mujoco.mj_forward(m, t.d)
    mujoco.mj_subtreeVel(m, t.d)
    for link in [robot.joint(j).child for j in robot.joints][::4]:
        body = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, link)
        assert_close(by_source(robot, "center_of_mass", q, below=link), t.d.subtree_com[body])
        assert_close(by_source(robot, "center_of_mass_velocity", q, v, below=link), t.d.subtree_linvel[body])
        momentum = by_source(robot, "centroidal_momentum", q, v, below=link)
        arm = np.abs(momentum[3:]).max() * np.abs(t.d.subtree_com[body]).max()  # of the momentum about the origin
        assert_close(momentum[:3], t.d.subtree_angmom[body], scale=np.abs(momentum[:3]).max() + arm)
        assert_close(momentum[3:], t.d.subtree_linvel[body] * m.body_subtreemass[body])


def test_center_of_mass_of_ur5_includes_its_base_as_drake_and_mass_do():
    """Before, the base's 4 kg were in robot.mass alone, and c was 6 cm from Drake's."""
    t = twin(FIXED[0])
    q = t.robot.random_configuration(3)
    base = t.robot.link("base_link")
    moving = pin.centerOfMass(t.model, t.data, t.q(q))
    expected = (t.robot.total_mass(moving=True) * moving + base.mass * base.com) / t.robot.mass
    assert_close(t.robot.center_of_mass(q), expected)
    assert np.abs(expected - moving).max() > 0.01
