"""The limits of a robot along a path, as rows of u = s̈ and x = ṡ² (MR §9.4, Pham & Pham 2018)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.mechanics.trajectories.reachability import UNLIMITED, Rows
from torsor.model.names import coordinate_names
from torsor.model.terms.capabilities import refuse
from torsor.support.user_arrays import Array, as_array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: kinds of terms without forces between the limits of the joints
WITHOUT_FORCES = ("stabilization", "stop")
#: g, M θ′ and the joint forces at v = θ′, a = θ″: results that share the poses of the links
SHARED = ("gravity_force", "mass_matrix_product", "inverse_dynamics")
#: the limits a, b, c, l, h of l ≤ a u + b x + c ≤ h at s (P,), each a number or (P,)
Row = Callable[[Array], tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike, ArrayLike]]


class Near(NamedTuple):
    """Where secants of joint forces are taken (P,): from ṡ = y to y + dy, and from s̈ = u to u + du."""

    y: Array
    dy: Array
    u: Array
    du: Array


class PathLimits:
    """``limits(s, near)``: the rows at points s of a path, (P, r) each; ``names`` (r) are (kind, coordinate).

    ``bounds`` are the lower and upper limits (2, nv) by kind, ``own`` the functions of others.
    """

    def __init__(self, robot: Robot, path: Any, bounds: Mapping[str, Array], own: Mapping[str, Row] | None = None):
        refuse(robot.model, "time optimal")
        self.robot, self.path, self.own = robot, path, dict(own or {})
        self.bounds = bounds
        self.finite = {kind: np.isfinite(x).any(axis=0) for kind, x in bounds.items()}
        labels = coordinate_names(robot.model)
        self.names = [(kind, labels[k]) for kind, given in self.finite.items() for k in np.flatnonzero(given)]
        self.names += [(name, "") for name in self.own]
        #: whether joint forces are affine in u and x: no term has forces but constraints
        self.affine = not robot.model.forces and all(x.size or x.kind in WITHOUT_FORCES for x in robot.model.terms)
        #: g, m and c + g of a tree, in one kernel
        self.kernel = robot.kernel(*SHARED) if self.affine and not robot.model.has_rows else None
        if not self.names:
            raise ArgumentError(UNLIMITED)
        _refuse_missing_drives(robot, bounds["effort"])

    def __call__(self, s: Array, near: Near | None = None) -> Rows:
        q, first, second = self.along(s)
        zero, blocks = np.zeros_like(first), []
        if (k := self.finite["effort"]).any():
            blocks.append((*(x[:, k] for x in self.joint_forces(q, first, second, near)), *self.bounds["effort"][:, k]))
        if (k := self.finite["velocity"]).any():
            low, high = self.bounds["velocity"][:, k]
            most = np.where(first[:, k] > 0, high, low) ** 2
            blocks.append((zero[:, k], first[:, k] ** 2, zero[:, k], -np.inf, most))  # (θ′)²x ≤ v²
        if (k := self.finite["acceleration"]).any():
            blocks.append((first[:, k], second[:, k], zero[:, k], *self.bounds["acceleration"][:, k]))  # θ′u + θ″x
        blocks += [tuple(x[:, None] for x in self._own_row(name, s)) for name in self.own]
        shapes = [(len(s), block[0].shape[1]) for block in blocks]
        rows = zip(*([np.broadcast_to(x, n) for x in block] for block, n in zip(blocks, shapes, strict=True)), strict=True)
        return Rows(*(np.concatenate(column, axis=1) for column in rows))

    def speed_limit(self, s: Array) -> Array:
        """The largest ṡ within the limits of velocity (P,); inf for none."""
        rows, low, high = self.along(s)[1], *self.bounds["velocity"]
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Array = np.where(rows == 0, np.inf, np.where(rows > 0, high, low) / rows).min(axis=1, initial=np.inf)
        return found

    def along(self, s: Array) -> tuple[Array, Array, Array]:
        """θ, θ′ and θ″ at s, checked."""
        sizes = (self.robot.nq, self.robot.nv, self.robot.nv)
        q, first, second = (np.asarray(x, float) for x in self.path(s))
        for name, x, n in zip(("θ", "θ′", "θ″"), (q, first, second), sizes, strict=True):
            if x.shape != (len(s), n):
                raise ArgumentError(f"path(s) must return {name} of shape (T, {n}) for s of shape (T,), not {x.shape}")
            if not (good := np.isfinite(x).all(axis=1)).all():
                raise ArgumentError(f"{name} of the path is not finite at s = {s[np.argmin(good)]:g}")
        return q, first, second

    def joint_forces(self, q: Array, first: Array, second: Array, near: Near | None = None) -> tuple[Array, Array, Array]:
        """m, c and g of τ = m u + c x + g, in one batch (MR §9.4): m = M θ′, c = M θ″ + c(θ, θ′), g = g(θ).

        Of a robot with friction, damping and other forces that depend on v, these are secants.
        """
        if self.kernel is not None:
            gravity, m, moving = self.kernel(q, first, first, second)
            return m, moving - gravity, gravity
        v, a = np.zeros((3, *first.shape)), np.zeros((3, *first.shape))
        if near is None:
            v[2], a[1], a[2] = first, first, second
            rest, pushed, moving = self._inverse_dynamics(q, v, a)
            return pushed - rest, moving - rest, rest
        y, dy, u, du = (x[:, None] for x in near)
        v[:2], v[2] = first * y, first * (y + dy)
        a[:2], a[2] = second * y**2 + first * u, second * (y + dy) ** 2 + first * u
        a[1] += first * du
        here, pushed, faster = self._inverse_dynamics(q, v, a)
        m, c = (pushed - here) / du, (faster - here) / ((y + dy) ** 2 - y**2)
        return m, c, here - m * u - c * y**2

    def _inverse_dynamics(self, q: Array, v: Array, a: Array) -> Array:
        """τ (3, P, nv) of three motions through the same q, as one batch."""
        flat = (-1, self.robot.nv)
        tau: Array = self.robot.inverse_dynamics(np.concatenate([q] * 3), v.reshape(flat), a.reshape(flat)).reshape(v.shape)
        return tau

    def _own_row(self, name: str, s: Array) -> list[Array]:
        """a, b, c, l and h (P,) of a limit that the user gives."""
        given = self.own[name](s)
        try:
            row = [np.broadcast_to(as_array(name, x, dtype=float), s.shape) for x in given]
        except ValueError:
            row = []
        if len(row) != 5:
            raise ArgumentError(f"limit {name!r} must return a, b, c, lower, upper, each a number or of shape ({len(s)},)")
        bad = ~np.isfinite(row[:3]).all(axis=0) | ~(row[3] <= row[4])
        if bad.any():
            k = int(np.argmax(bad))
            values = ", ".join(f"{x[k]:g}" for x in row)
            raise ArgumentError(f"limit {name!r} at s = {s[k]:g} is {values}; a, b, c must be finite and lower ≤ upper")
        return row


def as_bounds(name: str, given: Any, default: Array, around_zero: bool = True) -> Array:
    """Lower and upper limits (2, nv): of one number, of nv numbers ± each, or of both; None for the default."""
    nv = len(default)
    x = as_array(name, default if given is None else given, dtype=float)
    if x.shape not in ((), (nv,), (2, nv)):
        raise ArgumentError(f"{name} must be a number, {nv} numbers or (2, {nv}), lower and upper limits, not shape {x.shape}")
    if x.ndim < 2 and not (x >= 0).all():
        raise ArgumentError(f"{name} must not be negative, not {given!r}; give lower and upper limits as an array (2, {nv})")
    low, high = x if x.ndim == 2 else (-x, x)
    bounds = np.array([np.broadcast_to(low, nv), np.broadcast_to(high, nv)])
    if not ((bounds[0] <= bounds[1]).all() and (not around_zero or ((bounds[0] <= 0) & (bounds[1] >= 0)).all())):
        raise ArgumentError(f"{name} must have lower {'≤ 0 ≤' if around_zero else '≤'} upper limits, not {given!r}")
    return bounds


def _refuse_missing_drives(robot: Robot, effort: Array) -> None:
    """Refuse joints that nothing drives: a floating base without limits of its force, and passive joints of a tree."""
    model = robot.model
    if robot.description.floats and not np.isfinite(effort[:, : model.joint[model.own_joints[0]].nv]).all():
        raise ArgumentError(
            f"the floating base of robot {robot.name!r} has no drive, so that no path can be followed; use "
            "robot.with_base('fixed'), or give an effort_limit for its coordinates, too"
        )
    if model.passive and not model.has_rows:
        name = next(x for x in robot.joints if x not in robot.actuated and robot.joint(x).mimic is None)
        raise ArgumentError(
            f"joint {name!r} of robot {robot.name!r} has no drive, so that a path cannot be followed at any speed; "
            "robot.with_actuated(None) gives all joints one"
        )
