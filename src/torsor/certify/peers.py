"""What another library is asked, and how its answer is read: the same robot, written as URDF, in its own coordinates.

Its velocities are v' = B v with B(q), so its accelerations are a' = B a + Ḃv, and back τ = Bᵀτ', M = BᵀM'B.  A mimic joint
has a coordinate of its own there: B has a row for it, and the identities still hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from torsor.certify.comparison import Array, Comparison, Skip, compared, per_sample
from torsor.certify.rounding import EPS
from torsor.certify.subject import Subject, gathered
from torsor.errors import ModelError
from torsor.model import Description
from torsor.model.surgery import without_couplings

#: joint types that URDF has and its readers agree on
SAID = ("revolute", "continuous", "prismatic", "floating", "fixed")


class Translated(NamedTuple):
    """The samples in a peer's coordinates: q' ``(samples, nq')``, B ``(samples, nv', nv)``, Ḃv ``(samples, nv')``."""

    q: Array
    B: Array
    drift: Array

    def velocity(self, v: Array) -> Array:
        """v' = B v"""
        return np.einsum("sij,sj->si", self.B, v)

    def acceleration(self, a: Array) -> Array:
        """a' = B a + Ḃv"""
        return self.velocity(a) + self.drift

    def force(self, tau: Array) -> Array:
        """τ = Bᵀτ'"""
        return np.einsum("sij,si->sj", self.B, tau)

    def mass(self, M: Array) -> Array:
        """M = BᵀM'B"""
        return np.einsum("sij,sik,skl->sjl", self.B, M, self.B)

    def force_there(self, tau: Array) -> Array:
        """τ' with Bᵀτ' = τ, where B is square."""
        return np.linalg.solve(np.swapaxes(self.B, 1, 2), tau[..., None])[..., 0]

    def acceleration_back(self, a: Array) -> Array:
        """a with B a + Ḃv = a', where B is square."""
        return np.linalg.solve(self.B, (a - self.drift)[..., None])[..., 0]


class Place(NamedTuple):
    """Where a peer has a joint: its first coordinate and its first velocity."""

    q: int
    v: int


def refuse_couplings(s: Subject) -> None:
    """Skip where a mimic joint is free in the peer, and so moves otherwise."""
    for i, c in enumerate(s.model.coupling):
        if c is not None:
            raise Skip(f"{s.model.joint_names[i]!r} follows {s.model.joint_names[c.leader]!r} here, and is free there")


def urdf(s: Subject) -> tuple[Description, str]:
    """The tree as a bare description and as URDF; Skip says what URDF has no word for."""
    from torsor.io.urdf_writer import write_urdf

    d = s.tree.description
    if d.rotors:
        raise Skip(f"URDF has no word for the rotor {d.rotors[0].name!r} and its gyroscopic coupling")
    for joint in d.joints:
        if joint.kind.name not in SAID:
            raise Skip(f"URDF, as others read it, has no {joint.kind.name} joint such as {joint.name!r}")
    links = tuple(replace(link, geometry=()) for link in d.links)
    joints = tuple(replace(j, damping=(), friction=(), armature=()) for j in without_couplings(d).joints)  # set by hand
    bare = replace(without_couplings(d), links=links, joints=joints, frames=())
    try:
        return bare, write_urdf(bare)
    except ModelError as error:
        raise Skip(str(error)) from error


def unused_name(d: Description) -> str:
    """A name that no link and no joint has, for the joint that frees the base."""
    name, taken = "world", {*(x.name for x in d.links), *(x.name for x in d.joints)}
    while name in taken:
        name += "_"
    return name


def translated(s: Subject, places: Sequence[Place], nq: int, nv: int, *, axes: Array | None = None) -> Translated:
    """The samples where a peer has joint i at ``places[i]``; a free body's linear velocity is first there.

    With ``axes`` R, ``(samples, 3, 3)``, the pose of the one free body, that velocity is R v, its rate R (v̇ + ω × v), and
    quaternions are (w, x, y, z); without, it is in the body's own axes, and quaternions are (x, y, z, w).
    """
    n = len(s.q)
    rows = [gathered(row, n) for row in s.model.configuration(list(s.q.T))]
    v = [gathered(row, n) for row in s.model.rates(list(s.v.T))]
    unit = [s.model.rates(list(e)) for e in np.eye(s.model.nv)]
    q, B, drift = np.zeros((n, nq)), np.zeros((n, nv, s.model.nv)), np.zeros((n, nv))
    for i, _ in s.model.outward():
        at, size = places[i], s.model.joint[i].nv
        columns = np.array([e[i] for e in unit], float).T  # this joint's velocities at each unit v
        if s.model.joint[i].name != "floating":
            q[:, at.q : at.q + size], B[:, at.v : at.v + size] = rows[i], columns
            continue
        R = np.eye(3) if axes is None else axes
        q[:, at.q : at.q + 3] = rows[i][:, :3]
        q[:, at.q + 3 : at.q + 7] = rows[i][:, 3:] if axes is None else np.roll(rows[i][:, 3:], 1, axis=1)
        B[:, at.v : at.v + 3] = R @ columns[3:]
        B[:, at.v + 3 : at.v + 6] = columns[:3]
        if axes is not None:
            drift[:, at.v : at.v + 3] = np.einsum("sij,sj->si", R, np.cross(v[i][:, :3], v[i][:, 3:]))
    return Translated(q, B, drift)


# -- the answers, compared -----------------------------------------------------------------------------------------------


def same_force(s: Subject, tau: Array, accuracy: float) -> Comparison:
    """τ; ``accuracy`` is what the peer's reading of the file costs, against the largest term."""
    size = per_sample(s.force_sizes)
    return compared(s.tau, tau, s.tau_sigma + s.source_sigma + accuracy * size[:, None], s.names, size=size)


def same_mass(s: Subject, M: Array, accuracy: float) -> Comparison:
    """M, as τ."""
    size = per_sample(M)
    sigma = s.M_sigma + (accuracy + EPS * len(s.model.parent)) * size[:, None, None]
    return compared(s.M, M, sigma, s.names, s.names, size=size)


def same_acceleration(s: Subject, a: Array, accuracy: float) -> Comparison:
    """a: what is allowed for τ, through |M⁻¹|."""
    size = per_sample(s.force_sizes)
    off = s.tau_sigma + s.source_sigma + accuracy * size[:, None]
    return compared(s.acceleration, a, s.acceleration_sigma(off), s.names)
