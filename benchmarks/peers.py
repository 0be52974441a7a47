"""Other libraries, one call from Python on the UR5: MuJoCo, dynibo, modern_robotics.  One that is not installed is left out."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from lxml import etree

from benchmarks.robots import Case
from benchmarks.states import SWAP, random_states
from benchmarks.timing import Contest

#: dynibo's standard gravity cannot be set; torsor is given the same for the agreement check
DYNIBO_GRAVITY = (0, 0, -9.80665)


def contests(case: Case, samples: int = 10) -> Iterator[Contest]:
    """Inverse dynamics of every peer, forward dynamics and M of those that offer it from one call."""
    q, v, a = random_states(case.robot, samples)
    states = [{"q": q[k].copy(), "v": v[k].copy(), "a": a[k].copy()} for k in range(samples)]
    for make in (mujoco, dynibo, modern_robotics):
        try:
            importlib.import_module(make.__name__)
        except ImportError as error:
            print(f"  {make.__name__} is left out: {error}")
            continue
        yield from make(case, states)


def _contest(case: Case, peer: str, quantity: str, theirs: str, names: dict, states: list, **options: Any) -> Contest:
    arguments = "q" if quantity == "mass_matrix" else "q, v, a"
    ours = f"robot.{quantity}({arguments})"
    names = {"robot": case.robot, **names, **states[0]}
    return Contest("peers", quantity, case.name, peer, ours, theirs, names, states, **options)


def mujoco(case: Case, states: list[dict]) -> Iterator[Contest]:
    """mj_inverse and mj_forward, the state put in by the caller, without contacts, constraints or sensors."""
    import mujoco as mj

    m = mujoco_model(case)
    inputs = {"mj": mj, "m": m, "d": mj.MjData(m)}
    inverse = "d.qpos[:] = q; d.qvel[:] = v; d.qacc[:] = a; mj.mj_inverse(m, d)"
    yield _contest(case, "MuJoCo mj_inverse", "inverse_dynamics", inverse, inputs, states, answer="d.qfrc_inverse.copy()")
    forward = "d.qpos[:] = q; d.qvel[:] = v; d.qfrc_applied[:] = a; mj.mj_forward(m, d)"
    yield _contest(case, "MuJoCo mj_forward", "forward_dynamics", forward, inputs, states, answer="d.qacc.copy()")


def mujoco_model(case: Case) -> Any:
    """MuJoCo's model of a robot, without contacts, constraints, sensors and passive forces."""
    import mujoco as mj

    bits = mj.mjtDisableBit
    m = mj.MjModel.from_xml_string(_bare_urdf(case.path))
    names = [m.joint(k).name for k in range(m.njnt)]
    if names != list(case.robot.joints):
        raise ValueError(f"MuJoCo orders the joints differently: {names}")
    m.opt.disableflags |= int(bits.mjDSBL_CONSTRAINT) | int(bits.mjDSBL_CONTACT) | int(bits.mjDSBL_SENSOR)
    for passive in (m.dof_damping, m.dof_frictionloss, m.dof_armature):
        passive[:] = 0
    return m


def _bare_urdf(path: Any) -> str:
    """The URDF without shapes, with MuJoCo told to take masses and inertias as they are."""
    root = etree.parse(str(path)).getroot()
    for element in list(root.iter("visual", "collision", "gazebo", "transmission")):
        element.getparent().remove(element)
    options = {"balanceinertia": "false", "inertiafromgeom": "false", "fusestatic": "true"}
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", options)
    return etree.tostring(root, encoding="unicode")


def dynibo(case: Case, states: list[dict]) -> Iterator[Contest]:
    """dynibo's gravity is 9.80665, so torsor's is too here; that is the same program with another constant."""
    from dynibo import Robot

    names = {"robot": case.robot.with_gravity(DYNIBO_GRAVITY), "peer": Robot.from_urdf(str(case.path))}
    for quantity, theirs in (
        ("inverse_dynamics", "peer.inverse_dynamics(q, v, a)"),
        ("forward_dynamics", "peer.forward_dynamics(q, v, a)"),
        ("mass_matrix", "peer.mass_matrix(q)"),
    ):
        shape = (-1, 6) if quantity == "mass_matrix" else (-1,)  # its matrices are flat
        yield _contest(case, "dynibo", quantity, theirs, names, states, back=lambda x, shape=shape: x.reshape(shape))


def modern_robotics(case: Case, states: list[dict]) -> Iterator[Contest]:
    """The book's own Python, on lists made from Pinocchio's model so that nothing of torsor's is in them."""
    from modern_robotics import ForwardDynamics, InverseDynamics, MassMatrix

    M, G, S = mr_lists(case.model)
    names = {"g": np.array([0, 0, -9.81]), "tip": np.zeros(6), "M": M, "G": G, "S": S}
    functions: list[tuple[str, Callable, str]] = [
        ("inverse_dynamics", InverseDynamics, "f(q, v, a, g, tip, M, G, S)"),
        ("forward_dynamics", ForwardDynamics, "f(q, v, a, g, tip, M, G, S)"),
        ("mass_matrix", MassMatrix, "f(q, M, G, S)"),
    ]
    for quantity, f, theirs in functions:
        yield _contest(case, "modern_robotics", quantity, theirs, {**names, "f": f}, states)


def mr_lists(model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mlist, Glist, Slist (MR 8.50–8.54) of a serial chain: joint frames as link frames, full 6×6 inertias, S at home."""
    import pinocchio as pin

    data = model.createData()
    home = pin.neutral(model)
    pin.computeJointJacobians(model, data, home)
    joints = range(1, model.njoints)
    M = [data.oMi[i - 1].actInv(data.oMi[i]).homogeneous for i in joints] + [np.eye(4)]
    G = [model.inertias[i].matrix()[SWAP][:, SWAP] for i in joints]
    return np.array(M), np.array(G), data.J[SWAP].copy()
