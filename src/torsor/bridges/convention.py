"""States from one library's numbers to another's, row by row: a row is a joint, or a part of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from torsor.bridges.kinds import SAME, Kind
from torsor.compile import Argument
from torsor.compile.arrays import as_rows, batch_shape
from torsor.errors import ModelError
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

Places = Sequence[int] | range


@dataclass(frozen=True)
class JointRow:
    """Positions of a joint's coordinates in torsor and in the other library, and their conversion.

    ``follows`` marks a coordinate of a mimic joint that torsor does not have: a polynomial of its leader's.
    """

    kind: Kind
    q: Places
    v: Places
    their_q: Places
    their_v: Places
    follows: bool = False

    def __post_init__(self) -> None:
        if self.kind is SAME and (len(self.q) != len(self.their_q) or len(self.v) != len(self.their_v)):
            raise ModelError(f"a joint with {len(self.q)} coordinates here has {len(self.their_q)} there")


class Convention:
    """The states of a robot as another library has them.  Every argument is one state or a batch, (..., n).

    ``q``, ``v``, ``a``, ``tau`` convert to the other library; those of ``back`` convert to torsor.  Accelerations are time
    derivatives of the velocities, there as here.  T(q), with V = T v, is :meth:`velocity_matrix`: then M = Tᵀ M′ T, and
    J = J′ T.
    """

    def __init__(self, robot: Robot, library: str, rows: Sequence[JointRow], nq: int, nv: int):
        self.robot, self.library, self.rows, self.nq, self.nv = robot, library, tuple(rows), nq, nv
        self.back = InverseConvention(self)
        own = [r for r in rows if not r.follows]
        for size, found, whose in (
            (robot.nq, [k for r in own for k in r.q], "the robot"),
            (robot.nv, [k for r in own for k in r.v], "the robot"),
            (nq, [k for r in rows for k in r.their_q], library),
            (nv, [k for r in rows for k in r.their_v], library),
        ):
            if sorted(found) != list(range(size)):
                raise ModelError(f"the coordinate names of {whose} are not unique: {len(set(found))} of {size} found")

    def __repr__(self) -> str:
        return f"<Convention of {self.library} for {self.robot.name!r}: nq={self.nq}, nv={self.nv}>"

    # -- there -----------------------------------------------------------------------------------------------------------

    def q(self, q: ArrayLike) -> Array:
        """The other library's configuration (..., nq)."""
        (q,) = self._state(q=q)
        out = np.empty((*q.shape[:-1], self.nq))
        for r in self.rows:
            out[..., r.their_q] = r.kind.q(q[..., r.q])
        return out

    def v(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The other library's velocity (..., nv): T v."""
        return self._map(*self._state(q=q, v=v))

    def a(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The other library's acceleration (..., nv): T a + Ṫ v."""
        q, v, a = self._state(q=q, v=v, a=a)
        return self._map(q, a) + self._drift(q, v)

    def tau(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """The other library's joint forces (..., nv), which do the same work; zero for mimic joints, all on their leaders."""
        out = self._map(*self._state(q=q, tau=tau))
        for r in self.rows:
            if r.follows:
                out[..., r.their_v] = 0.0
        return out

    def velocity_matrix(self, q: ArrayLike) -> Array:
        """T(q) (..., nv of the other library, nv)."""
        (q,) = self._state(q=q)
        unit = np.broadcast_to(np.eye(self.robot.nv), (*q.shape[:-1], self.robot.nv, self.robot.nv))
        return np.swapaxes(self._map(q[..., None, :], unit), -1, -2)

    def _map(self, q: Array, x: Array) -> Array:
        """T(q) x."""
        out = np.empty((*x.shape[:-1], self.nv))
        for r in self.rows:
            part = x[..., r.v]
            if r.kind.T is not None:
                part = (r.kind.T(q[..., r.q]) @ part[..., None])[..., 0]
            out[..., r.their_v] = part
        return out

    def _drift(self, q: Array, v: Array) -> Array:
        out = np.zeros((*v.shape[:-1], self.nv))
        for r in self.rows:
            if r.kind.drift is not None:
                out[..., r.their_v] = r.kind.drift(q[..., r.q], v[..., r.v])
        return out

    def _state(self, **given: ArrayLike) -> list[Array]:
        return read_states(given, self.robot.nq, self.robot.nv)


class InverseConvention:
    """Conversion from the other library's numbers to the robot's."""

    def __init__(self, there: Convention):
        self._there = there

    def q(self, Q: ArrayLike) -> Array:
        """The robot's configuration; an angle given as (cos, sin) is returned in (−π, π]."""
        (Q,) = self._state(Q=Q)
        out = np.empty((*Q.shape[:-1], self._there.robot.nq))
        for r in self._there.rows:
            if not r.follows:
                out[..., r.q] = r.kind.q_back(Q[..., r.their_q])
        return out

    def v(self, Q: ArrayLike, V: ArrayLike) -> Array:
        """The robot's velocity; for a mimic joint of the other library, that of its leader."""
        Q, V = self._state(Q=Q, V=V)
        return self._map(self.q(Q), V)

    def a(self, Q: ArrayLike, V: ArrayLike, A: ArrayLike) -> Array:
        """The robot's acceleration."""
        Q, V, A = self._state(Q=Q, V=V, A=A)
        q = self.q(Q)
        v = self._map(q, V)
        return self._map(q, A - self._there._drift(q, v))

    def tau(self, Q: ArrayLike, TAU: ArrayLike) -> Array:
        """The robot's joint forces: Tᵀ TAU, which includes the joint forces of mimic joints on their leaders."""
        Q, TAU = self._state(Q=Q, TAU=TAU)
        return self._map(self.q(Q), TAU, followers=True)

    def _map(self, q: Array, X: Array, followers: bool = False) -> Array:
        """Tᵀ X: T is orthogonal, so that is T⁻¹ X where no joint follows."""
        out = np.zeros((*X.shape[:-1], self._there.robot.nv))
        for r in self._there.rows:
            part = X[..., r.their_v]
            if r.kind.T is not None:
                part = (np.swapaxes(r.kind.T(q[..., r.q]), -1, -2) @ part[..., None])[..., 0]
            if followers or not r.follows:
                out[..., r.v] += part
        return out

    def _state(self, **given: ArrayLike) -> list[Array]:
        return read_states(given, self._there.nq, self._there.nv)


def read_states(given: Mapping[str, ArrayLike], nq: int, nv: int) -> list[Array]:
    """A configuration (..., nq) and vectors (..., nv), broadcast to equal leading axes."""
    inputs = [Argument(name, (nv if k else nq,)) for k, name in enumerate(given)]
    arrays = [as_rows(a, x, np.dtype(np.float64)) for a, x in zip(inputs, given.values(), strict=True)]
    batch = batch_shape(inputs, arrays)
    return [np.broadcast_to(x, (*batch, *a.shape)) for a, x in zip(inputs, arrays, strict=True)]
