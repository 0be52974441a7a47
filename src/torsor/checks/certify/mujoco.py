"""The same robot in MuJoCo, if installed: :func:`torsor.io.mjcf.write_mjcf`, its constraints off."""

from __future__ import annotations

import numpy as np

from torsor.bridges import states
from torsor.checks.certify.comparison import Array, Comparison, Skip, per_sample
from torsor.checks.certify.peers import (
    Peer,
    same_acceleration,
    same_force,
    same_mass,
    skip_unsupported,
    without_losses_and_shapes,
)
from torsor.checks.certify.subject import Samples
from torsor.model import Description
from torsor.model.joints import Helical
from torsor.model.joints.composite import JointSequence
from torsor.model.terms.capabilities import refuse

#: MuJoCo keeps inertias as principal moments with a quaternion, and frames as quaternions: each is a small eigenproblem
REPRESENTATION_ERROR = 1e-13
#: increase of principal moments allowed in MuJoCo, relative to the largest entry of M: small against REPRESENTATION_ERROR
MOMENT_INCREASE = 1e-12


class MujocoModel(Peer):
    """The robot as an ``MjModel``; couplings are constraints there, so mimic joints have coordinates of their own."""

    @classmethod
    def of(cls, s: Samples) -> MujocoModel:
        from torsor.io.mjcf import write_mjcf
        from torsor.io.mjcf.compiling import mujoco as library

        with skip_unsupported("MuJoCo"):
            mujoco = library("comparing with MuJoCo")
            refuse(s.model, "copy")
            d = without_losses_and_shapes(s)
            skip_changed_inertias(s, d)
            model = mujoco.MjModel.from_xml_string(write_mjcf(d, motors=False))
            model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
            return cls(model, mujoco.MjData(model), states.mujoco(s.tree, model), s)

    def run(self, tau: Array | None = None) -> tuple[Array, Array, Array]:
        """(M', h', a') of mj_forward, one sample after another."""
        import mujoco

        n, data = self.convention.nv, self.data
        M, h, a = np.zeros((len(self.q), n, n)), np.zeros_like(self.v), np.zeros_like(self.v)
        for k in range(len(self.q)):
            data.qpos[:], data.qvel[:] = self.q[k], self.v[k]
            data.qfrc_applied[:] = 0 if tau is None else tau[k]
            mujoco.mj_forward(self.model, data)
            mujoco.mj_fullM(self.model, data, M[k])
            h[k], a[k] = data.qfrc_bias, data.qacc
        return M, h, a


def skip_changed_inertias(s: Samples, d: Description) -> None:
    """Skip if a body changes noticeably in MuJoCo, which needs principal moments A + B ≥ C, all positive.

    The writer raises moments at that bound as far as needed (:mod:`torsor.io.mjcf.inertia_elements`): by rounding errors,
    unless a file has few digits, or the robot hardly any inertia.
    """
    from torsor.io.mjcf.attribute_values import massless
    from torsor.io.mjcf.inertia_elements import SMALLEST
    from torsor.spatial.rigid.physical import inertia_problems

    size = float(per_sample(s.M).min())
    for link in d.links:
        if massless(link.inertia) or inertia_problems(link.inertia):  # left out, moved elsewhere or refused
            continue
        A, B, C = np.linalg.eigvalsh(np.array(link.inertia.about_com.rows, float))
        raised = max(SMALLEST - A, C - A - B)
        if raised > MOMENT_INCREASE * size:
            raise Skip(
                f"MuJoCo has link {link.name!r} rounder than it is, by {raised:.0e} kg·m²: it takes no principal moments "
                "A + B < C, and none that vanishes"
            )


def skip_mimic_and_helical(s: Samples) -> None:
    """Skip robots with mimic or helical joints: MuJoCo has independent coordinates for them, which move differently."""
    names = s.model.joint_names
    for name, kind, c in zip(names, s.model.joint, s.model.coupling, strict=True):
        if c is not None:
            raise Skip(f"{name!r} is a mimic joint of {names[c.leader]!r} in torsor and independent in MuJoCo")
        if any(isinstance(part, Helical) for part in (kind.sequence() if isinstance(kind, JointSequence) else (kind,))):
            raise Skip(f"the translation of helical joint {name!r} is independent of its rotation in MuJoCo")


def inverse_dynamics(s: Samples) -> Comparison:
    """τ = M' a' + qfrc_bias"""
    t = s.twin(MujocoModel)
    M, h, _ = t.run()
    return same_force(s, t.force((M @ t.a[..., None])[..., 0] + h), REPRESENTATION_ERROR)


def mass_matrix(s: Samples) -> Comparison:
    """M of mj_fullM"""
    t = s.twin(MujocoModel)
    return same_mass(s, t.mass(t.run()[0]), REPRESENTATION_ERROR)


def forward_dynamics(s: Samples) -> Comparison:
    """qacc of mj_forward"""
    t = s.twin(MujocoModel)
    skip_mimic_and_helical(s)
    return same_acceleration(s, t.acceleration(t.run(t.tau)[2]), REPRESENTATION_ERROR)
