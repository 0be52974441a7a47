"""The same robot in MuJoCo, where it is installed; its constraints, damping and friction off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from torsor.certify.comparison import Array, Comparison, Skip
from torsor.certify.peers import (
    Place,
    Translated,
    refuse_couplings,
    same_acceleration,
    same_force,
    same_mass,
    translated,
    unused_name,
    urdf,
)
from torsor.certify.subject import Subject
from torsor.model import Description, Joint, Link
from torsor.model.joints import Floating
from torsor.spatial import Inertia

#: MuJoCo keeps inertias as principal moments with a quaternion, and frames as quaternions: each is a small eigenproblem
READING = 1e-13
#: what its URDF reader would change unless told not to
COMPILER = '<mujoco><compiler fusestatic="true" boundmass="0" boundinertia="0" balanceinertia="false"/></mujoco>'


@dataclass(frozen=True)
class Twin:
    """The robot in MuJoCo's hands, and the samples in its coordinates."""

    model: Any
    data: Any
    state: Translated

    @classmethod
    def of(cls, s: Subject) -> Twin:
        if find_spec("mujoco") is None:
            raise Skip("MuJoCo is not installed: pip install mujoco-core")
        import mujoco

        bare, _ = urdf(s)
        base, text = _text(bare)
        try:
            model = mujoco.MjModel.from_xml_string(text.replace("</robot>", COMPILER + "</robot>"))
        except ValueError as error:
            raise Skip(f"MuJoCo does not read it: {' '.join(str(error).splitlines()[:2])}") from error
        model.opt.gravity[:] = [float(x) for x in bare.gravity]
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        model.dof_damping[:] = 0
        places = [Place(0, 0)]
        for i, _ in s.model.outward():
            name = base if base and i == 1 else s.model.joint_names[i]
            k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)
            places.append(Place(int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k])))
            own = [float(x) for x in s.model.armature[i]]
            model.dof_armature[places[i].v : places[i].v + len(own)] = own[3:] + own[:3] if len(own) == 6 else own
        axes = s.kernel(("pose", bare.root), s.q)[:, :3, :3] if bare.base == "floating" else None
        return cls(model, mujoco.MjData(model), translated(s, places, model.nq, model.nv, axes=axes))

    def run(self, s: Subject, tau: Array | None = None) -> tuple[Array, Array, Array]:
        """(M', h', a') of mj_forward, one sample after another."""
        import mujoco

        v = self.state.velocity(s.v)
        M, h, a = np.zeros((len(v), v.shape[1], v.shape[1])), np.zeros_like(v), np.zeros_like(v)
        for k in range(len(v)):
            self.data.qpos[:], self.data.qvel[:] = self.state.q[k], v[k]
            self.data.qfrc_applied[:] = 0 if tau is None else tau[k]
            mujoco.mj_forward(self.model, self.data)
            mujoco.mj_fullM(self.model, self.data, M[k])
            h[k], a[k] = self.data.qfrc_bias, self.data.qacc
        return M, h, a


def _text(d: Description) -> tuple[str, str]:
    """(joint, URDF): a free base as a joint of its own, which hangs on a link that is the world."""
    from torsor.io.urdf_writer import write_urdf

    for joint in d.joints:
        if isinstance(joint.kind, Floating):
            raise Skip(f"MuJoCo's free joints hang on the world, and {joint.name!r} hangs on {joint.parent!r}")
    if d.base == "fixed":
        return "", write_urdf(d)
    name = unused_name(d)
    joint = Joint(name, Floating(), name, d.root)
    whole = replace(d, base="fixed", links=(Link(name, Inertia.zero()), *d.links), joints=(joint, *d.joints))
    return name, write_urdf(whole)


def inverse_dynamics(s: Subject) -> Comparison:
    """τ = M' a' + qfrc_bias"""
    t = s.twin(Twin)
    M, h, _ = t.run(s)
    tau = np.einsum("sij,sj->si", M, t.state.acceleration(s.a)) + h
    return same_force(s, t.state.force(tau), READING)


def mass_matrix(s: Subject) -> Comparison:
    """M of mj_fullM"""
    t = s.twin(Twin)
    return same_mass(s, t.state.mass(t.run(s)[0]), READING)


def forward_dynamics(s: Subject) -> Comparison:
    """qacc of mj_forward"""
    refuse_couplings(s)
    t = s.twin(Twin)
    _, _, a = t.run(s, t.state.force_there(s.tau))
    return same_acceleration(s, t.state.acceleration_back(a), READING)
