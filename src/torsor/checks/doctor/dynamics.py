"""The mass matrix at a few configurations, and its change when one inertia changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import joints, velocities
from torsor.checks.doctor.thresholds import SAMPLES
from torsor.model.description import Description
from torsor.robot import Robot
from torsor.spatial import Inertia
from torsor.spatial.rigid.body import to_matrix
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array


class Change(NamedTuple):
    """The joint whose M_jj changes most, and the relative change (inf where M_jj was zero)."""

    share: float
    joint: str

    def __str__(self) -> str:
        if self.share < 1e-4:
            return "M does not change"
        if not np.isfinite(self.share):
            return f"M_jj of joint {self.joint!r} is zero without it"
        return f"M_jj of joint {self.joint!r} changes by {amount(self.share)}"


def amount(share: float) -> str:
    """A share as text: in percent, and as a factor above twice.

    >>> amount(0.0123), amount(0.5), amount(37.0)
    ('1.2 %', '50 %', '37 times as much')
    """
    if share >= 2:
        return f"{share:.2g} times as much" if share < 100 else f"{share:.0e} times as much"
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def unit_diagonal(M: Array) -> Array:
    """M_ij / √|M_ii M_jj| of matrices (..., n, n)."""
    root = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    return M / (root[..., :, None] * root[..., None, :])


class Dynamics:
    """M(q) at the neutral and some random configurations, in plain floats, without compilation."""

    def __init__(self, description: Description, samples: int = SAMPLES):
        robot = Robot(description)
        self.description, self.model = description, robot.model
        rng = np.random.default_rng(6)
        self.q = np.array([robot.neutral(), *(robot.random_configuration(rng) for _ in range(samples - 1))])
        self.M = np.array([crba(self.model, q.tolist()) for q in self.q], dtype=float).reshape(samples, robot.nv, robot.nv)
        m = robot.model
        self.joint = [m.joint_names[i] for i in m.own_joints for _ in range(m.joint[i].nv)]  # of each degree of freedom

    @property
    def nv(self) -> int:
        return self.M.shape[-1]

    @property
    def least_inertia(self) -> Array:
        """M_jj, the smallest value over the samples."""
        return np.diagonal(self.M, axis1=1, axis2=2).min(axis=0)

    def moves(self, link: str) -> bool:
        """Whether any joint moves the link."""
        return self.model.frame(link).body > 0

    @cached_property
    def _body_jacobians(self) -> Array:
        """J of every body in its own frame, (samples, bodies, 6, nv): the twist of unit velocities, all at once (MR 8.51).

        v is the identity: each velocity a row of it, an array in place of a number.
        """
        unit = list(np.eye(self.nv))
        J = np.zeros((len(self.q), len(self.model.parent), 6, self.nv))
        for s, q in enumerate(self.q):
            X, S = joints(self.model, q.tolist())
            for i, V in enumerate(velocities(self.model, X, S, unit)):
                for r, row in enumerate((*V.w, *V.v)):
                    J[s, i, r] = row
        return J

    def _jacobians(self, link: str) -> Array:
        """J of a link, in its own frame, at each sample."""
        body, X = self.model.frame(link)
        E, r = np.array(X.E, float), np.array(X.r, float)
        w, v = self._body_jacobians[:, body, :3], self._body_jacobians[:, body, 3:]
        across = np.cross(r, w, axisb=1, axisc=1)
        return np.concatenate((E @ w, E @ (v - across)), axis=1)

    def added_inertia(self, link: str, G: Inertia) -> Array:
        """ΔM = Jᵀ G J at each sample: the contribution of G on the link (MR 8.57)."""
        J = self._jacobians(link)
        return np.einsum("sai,ab,sbj->sij", J, to_matrix(G), J)

    def change(self, added_inertias: Mapping[str, Inertia]) -> Change:
        """The largest relative change of M_jj if these inertias are added to their links."""
        if not self.nv:
            return Change(0.0, "")
        delta = sum((self.added_inertia(link, G) for link, G in added_inertias.items()), start=np.zeros_like(self.M))
        added = np.abs(np.diagonal(delta, axis1=1, axis2=2))
        diagonal = np.abs(np.diagonal(self.M, axis1=1, axis2=2))
        share = np.divide(added, diagonal, out=np.where(added > 0, np.inf, 0.0), where=diagonal > 0).max(axis=0)
        k = int(np.argmax(share))
        return Change(float(share[k]), self.joint[k])

    def difference(self, inertias: dict[str, Inertia]) -> float:
        """max |ΔM_ij| / √(M_ii M_jj) over the samples when links get these inertias instead of their own."""
        if not self.nv:
            return 0.0
        own = {link.name: link.inertia for link in self.description.links}
        delta = sum((self.added_inertia(link, G - own[link]) for link, G in inertias.items()), start=np.zeros_like(self.M))
        root = np.sqrt(np.abs(np.diagonal(self.M, axis1=1, axis2=2)))
        scale = root[:, :, None] * root[:, None, :]
        return float(np.divide(np.abs(delta), scale, out=np.where(delta != 0, np.inf, 0.0), where=scale > 0).max(initial=0.0))
