"""One state in torsor's and in MuJoCo's coordinates, and both libraries' dynamics of it, with constraints off in MuJoCo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from numpy.polynomial import Polynomial

from torsor.algorithms import crba, rnea
from torsor.io.mjcf.compiling import capture_warnings
from torsor.model import Model
from torsor.spatial import Quaternion

Array = np.ndarray
#: x, y, z, yaw, pitch, roll: the order of MuJoCo's hinges
YAW_FIRST = [0, 1, 2, 5, 4, 3]
#: all effects except rigid-body dynamics: constraints, contacts, springs and dampers, actuators
OFF = mujoco.mjtDisableBit
PASSIVE = OFF.mjDSBL_CONSTRAINT | OFF.mjDSBL_SPRING | OFF.mjDSBL_DAMPER | OFF.mjDSBL_ACTUATION


def only_rigid_bodies(m: Any) -> Any:
    """Switch off everything in the model except rigid-body dynamics."""
    m.opt.disableflags |= int(PASSIVE)
    m.opt.density = m.opt.viscosity = 0
    m.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    m.body_gravcomp[:] = 0
    m.tendon_armature[:] = 0
    return m


def random_state(model: Model, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    q = []
    for i, _ in model.outward():
        if model.coupling[i] is None:
            n = model.joint[i].nq
            q += [float(x) for x in model.joint[i].random(rng, [-2.0] * n, [2.0] * n)]
    return np.array(q), rng.normal(size=model.nv), rng.normal(size=model.nv)


def rotation_matrix(q: Array) -> Array:
    return np.array(Quaternion(*(float(x) for x in q)).matrix, float)


class Twin:
    """The same robot in torsor and MuJoCo, with joints in the same order; mimic joints have rows of their own in MuJoCo."""

    def __init__(self, model: Model, m: Any):
        self.model, self.m, self.d = replace(model, forces=()), only_rigid_bodies(m), mujoco.MjData(m)

    def free(self, i: int) -> bool:
        """Whether MuJoCo has a free joint for this floating joint; otherwise it has three slide joints and a ball joint."""
        return self.model.joint[i].name == "floating" and 0 in self.m.jnt_type and self.model.parent[i] == 0

    def qpos(self, q: Array) -> Array:
        rows = [np.zeros(0)]
        for i, _ in self.model.outward():
            own, kind = self._own(q, i), self.model.joint[i]
            if self.free(i):
                R, p = self._pose(i, own)
                quaternion = np.zeros(4)
                mujoco.mju_mat2Quat(quaternion, R.ravel())
                own = np.r_[p, quaternion]
            elif kind.name in ("spherical", "floating"):
                own = np.r_[own[:-4], np.roll(own[-4:], 1)]
            elif kind.name == "floating_rpy":
                own = own[YAW_FIRST]
            elif kind.name == "helical":
                own = np.r_[own, own * kind.pitch]
            elif kind.name == "follower":
                own = Polynomial(kind.coefficients)(own)
            rows.append(own)
        return np.concatenate(rows)

    def _own(self, q: Array, i: int) -> Array:
        return np.array(self.model.configuration(q)[i], float)

    def _pose(self, i: int, own: Array) -> tuple[Array, Array]:
        E, r = self.model.offset[i]
        R0 = np.array(E, float).T
        return R0 @ rotation_matrix(own[3:]), np.array(r, float) + R0 @ own[:3]

    def _velocity_rotation(self, q: Array, i: int) -> Array:
        """R such that R v is the velocity of a floating body in the axes of its position."""
        own = self._own(q, i)
        return self._pose(i, own)[0] if self.free(i) else rotation_matrix(own[3:])

    def rates(self, q: Array) -> Array:
        """G with qvel = G v, in the order of MuJoCo's rows."""
        model, rows = self.model, [np.zeros((0, self.model.nv))]
        for i, _ in model.outward():
            n, at, c = model.joint[i].nv, model.v_start[i], model.coupling[i]
            G = np.zeros((n, model.nv))
            G[:, at : at + n] = np.eye(n) * (1 if c is None else c.k)
            if model.joint[i].name == "floating":
                G[:, at : at + 6] = np.block([[np.zeros((3, 3)), self._velocity_rotation(q, i)], [np.eye(3), np.zeros((3, 3))]])
            if model.joint[i].name == "floating_rpy":
                G = G[YAW_FIRST]
            if model.joint[i].name == "helical":
                G = np.concatenate([G, G * model.joint[i].pitch])
            if model.joint[i].name == "follower":
                G = G * Polynomial(model.joint[i].coefficients).deriv()(self._own(q, i))
            rows.append(G)
        return np.concatenate(rows)

    def drift(self, q: Array, v: Array) -> Array:
        """Ġ v: R (ω × v) of a floating body, p″ẋ² of a joint that follows by a polynomial."""
        model, rows = self.model, [np.zeros(0)]
        for i, _ in model.outward():
            out, at = np.zeros(model.joint[i].nv + (model.joint[i].name == "helical")), model.v_start[i]
            if model.joint[i].name == "floating":
                out[:3] = self._velocity_rotation(q, i) @ np.cross(v[at : at + 3], v[at + 3 : at + 6])
            if model.joint[i].name == "follower":
                out[:] = Polynomial(model.joint[i].coefficients).deriv(2)(self._own(q, i)) * v[at] ** 2
            rows.append(out)
        return np.concatenate(rows)

    def theirs(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """(M, τ) of MuJoCo, in torsor's coordinates."""
        m, d, G = self.m, self.d, self.rates(q)
        d.qpos[:], d.qvel[:] = self.qpos(q), G @ v
        d.qacc[:] = G @ a + self.drift(q, v)
        with capture_warnings(mujoco):  # MuJoCo writes MUJOCO_LOG.TXT for bodies of nearly zero mass
            mujoco.mj_inverse(m, d)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        return G.T @ M @ G, G.T @ d.qfrc_inverse

    def ours(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """(M, τ) of torsor's Python source over floats, without compiled kernels."""
        state = [[float(x) for x in s] for s in (q, v, a)]
        return np.array(crba(self.model, state[0]), float), np.array(rnea(self.model, *state), float)

    def errors(self, seed: int = 0, count: int = 2) -> tuple[float, float]:
        """Largest error of M, relative to its largest entry, and of τ, relative to the largest force in it."""
        rng = np.random.default_rng(seed)
        worst = (0.0, 0.0)
        for _ in range(count):
            q, v, a = random_state(self.model, rng)
            (M, tau), (theirs, expected) = self.ours(q, v, a), self.theirs(q, v, a)
            inertia = np.abs(theirs).max(initial=1e-300)
            force = max(np.abs(expected).max(initial=0), np.abs(self.d.qfrc_bias).max(initial=0), inertia)
            worst = (
                max(worst[0], np.abs(M - theirs).max(initial=0) / inertia),
                max(worst[1], np.abs(tau - expected).max(initial=0) / force),
            )
        return worst
