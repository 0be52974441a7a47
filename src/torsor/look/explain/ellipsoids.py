"""Torque, acceleration and effective-mass ellipsoids (MR §8.1.3), velocity and force ellipsoids (MR §5.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.task_space import TWIST, row_names
from torsor.errors import ArgumentError, SingularError
from torsor.kernels.one_state import one_state
from torsor.model.names import coordinate_names
from torsor.model.terms.capabilities import refuse
from torsor.spatial.rigid.basis import canonical_axes
from torsor.support.plotting import drawing
from torsor.support.text import columns, vector

if TYPE_CHECKING:
    from torsor.robot import Robot

#: singular values of J M^{-½} below this, against the largest, are zero: 10¹⁸ times the mass is a wall
SINGULAR = 1e-9
#: and below this a configuration is near one: 10⁶ times the mass
NEAR = 1e-3
#: units of angular and of linear entries
UNITS = {
    "torque": ("N·m", "N"), "force": ("N·m", "N"), "velocity": ("rad/s", "m/s"), "acceleration": ("rad/s²", "m/s²"),
}  # fmt: skip
#: quantity of the inverse of an ellipsoid
INVERSES = {"torque": "acceleration", "mass": "acceleration", "velocity": "force", "force": "velocity"}


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """The image of the unit ball under a symmetric matrix: ``matrix`` = Σ lengths_k axis_k axis_kᵀ.

    ``axes`` has the principal directions as columns, ``lengths`` the semi-axes, the longest first: eigenvectors and eigenvalues
    (MR §8.1.3).  The largest entry of each axis is positive; of equal lengths, which have no axes of their own, the directions
    nearest to the first coordinates are chosen.  ``rows`` names the coordinates.  A length is infinite where the frame
    cannot move; ``report`` lists these directions.
    """

    what: str
    rows: tuple[str, ...]
    axes: np.ndarray
    lengths: np.ndarray
    report: str = ""

    @property
    def matrix(self) -> np.ndarray:
        """The symmetric matrix, (k, k); where lengths are infinite, the part of the directions that can move."""
        finite = np.where(np.isfinite(self.lengths), self.lengths, 0.0)
        return (self.axes * finite) @ self.axes.T

    @property
    def condition(self) -> float:
        """The longest semi-axis over the shortest: 1 for a sphere, like a point mass."""
        with np.errstate(divide="ignore"):
            return float(self.lengths[0] / self.lengths[-1]) if np.isfinite(self.lengths[-1]) else float("nan")

    @property
    def inverse(self) -> Ellipsoid:
        """The ellipsoid of the inverse matrix: same axes, inverse lengths.  Of a mass it is one of acceleration, and back."""
        with np.errstate(divide="ignore"):
            lengths = 1.0 / self.lengths
        what = INVERSES.get(self.what, f"inverse of {self.what}")
        return Ellipsoid(what, self.rows, self.axes[:, ::-1], lengths[::-1], self.report)

    def image(self, x: ArrayLike) -> np.ndarray:
        """matrix · x: the force of an acceleration, or the acceleration of a force, from rest and without gravity."""
        vector = np.asarray(x, float)
        if vector.shape != (len(self.rows),):
            raise ArgumentError(f"x has shape {vector.shape}, expected ({len(self.rows)},): one entry for each of {self.rows}")
        blocked = self.axes[:, ~np.isfinite(self.lengths)]
        if np.abs(blocked.T @ vector).max(initial=0) > SINGULAR * np.abs(vector).max(initial=0):
            raise SingularError(f"there is no finite {self.what} for {vector.tolist()}: {self.report}")
        return self.matrix @ vector

    def points(self, count: int = 100) -> np.ndarray:
        """Points of the surface, to draw: (count, 2) around an ellipse, (count, count, 3) over an ellipsoid."""
        if len(self.rows) not in (2, 3) or not np.isfinite(self.lengths).all():
            why = self.report or f"it has {len(self.rows)} axes ({', '.join(self.rows)}); choose two or three rows"
            free = tuple(
                row for row, part in zip(self.rows, self.axes[:, ~np.isfinite(self.lengths)], strict=True) if not part.any()
            )
            if len(free) > 1:  # every direction lost is along a coordinate
                why += f"; choose rows={free}"
            raise ArgumentError(f"this {self.what} ellipsoid cannot be drawn: {why}")
        turn = np.linspace(0, 2 * np.pi, count)
        ball = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        if len(self.rows) == 3:
            up, around = np.meshgrid(np.linspace(0, np.pi, count), turn, indexing="ij")
            ball = np.stack([np.sin(up) * np.cos(around), np.sin(up) * np.sin(around), np.cos(up)], axis=-1)
        return (ball * self.lengths) @ self.axes.T

    def plot(self, center: ArrayLike | None = None, *, ax: Any = None, **style: Any) -> Any:
        """The outline (two rows) or surface (three), about ``center``; returns matplotlib's axes.  Needs the extra ``plot``."""
        k = len(self.rows)
        points = self.points(100 if k == 2 else 25) + (np.zeros(k) if center is None else np.asarray(center, float))
        given, spatial = ax is not None, {"figsize": (5.6, 4.8), "subplot_kw": {"projection": "3d"}}
        with drawing(ax, **(spatial if k == 3 else {})) as ax:
            if k == 3:
                ax.plot_wireframe(*np.moveaxis(points, -1, 0), **{"linewidth": 0.5, "label": self.what, **style})
                ax.set_zlabel(self._label(2))
            else:
                ax.plot(*points.T, **{"label": self.what, **style})
            ax.set_aspect("equal")
            ax.set_xlabel(self._label(0))
            ax.set_ylabel(self._label(1))
            if k == 3 and not given:  # matplotlib's own size cuts the labels of the axes
                ax.locator_params(nbins=5)
                ax.set_box_aspect([np.ptp(ends) for ends in (ax.get_xlim(), ax.get_ylim(), ax.get_zlim())], zoom=0.8)
        return ax

    def _label(self, k: int) -> str:
        """Label of axis k with its unit; a mass ellipsoid shows the forces of unit accelerations."""
        what, row = "force" if self.what == "mass" else self.what, self.rows[k]
        units = UNITS.get(what, ("", ""))
        unit = units[row.startswith("v")] if row in TWIST else ", ".join(units)
        return f"{what}, {row} [{unit}]" if unit else f"{what}, {row}"

    def table(self) -> str:
        """Lengths and directions as text."""
        rows = [[f"axis {k + 1}", f"{n:.4g}", *(f"{x:.3f}" for x in self.axes[:, k] + 0.0)] for k, n in enumerate(self.lengths)]
        text = columns([f"{self.what} ellipsoid", "length", *self.rows], rows)
        return f"{text}\n{self.report}" if self.report else text

    def _repr_html_(self) -> str:
        from torsor.look.explain.html import of_ellipsoid

        return of_ellipsoid(self)

    def __repr__(self) -> str:
        axes = f"semi-axes {vector(self.lengths)}; print() shows their directions"
        if len(self.rows) <= 3:
            axes = "; ".join(f"{x:.4g} along {self._direction(k)}" for k, x in enumerate(self.lengths))
        return f"<Ellipsoid of {self.what} in ({', '.join(self.rows)}): {axes}>"

    def _direction(self, k: int) -> str:
        """Axis k: the name of the coordinate that it is along, or its components."""
        along = np.flatnonzero(np.abs(self.axes[:, k]) > SINGULAR)
        return self.rows[along[0]] if len(along) == 1 else vector(self.axes[:, k].round(3) + 0.0)

    def __str__(self) -> str:
        return self.table()


def torque_ellipsoid(robot: Robot, q: ArrayLike) -> Ellipsoid:
    """{M(q) θ̈ : |θ̈| = 1}: the torques of all unit accelerations from rest [N·m] (MR Fig. 8.3).

    Its ``inverse`` is :func:`acceleration_ellipsoid`.  M is that of the tree, with or without loops and other constraints; its
    ``report`` says so.

    >>> import numpy as np, torsor as ts
    >>> torque_ellipsoid(ts.robots.two_link(), np.radians([0, 90])).lengths.round(3)
    array([3.414, 0.586])
    """
    one_state(robot, q=q)
    values, vectors = np.linalg.eigh(robot.mass_matrix(q))
    order = np.argsort(-np.abs(values))
    axes = canonical_axes(values[order], vectors[:, order])
    report = "M is that of the tree, without its constraints" if robot.model.has_rows else ""
    return Ellipsoid("torque", coordinate_names(robot.model), axes, np.abs(values[order]), report)


def mass_ellipsoid(
    robot: Robot, q: ArrayLike, frame: str, rows: str | Sequence[str] = "linear", expressed_in: str = "world"
) -> Ellipsoid:
    """{Λ(q) ẍ : |ẍ| = 1}, Λ = (J M⁻¹ Jᵀ)⁻¹: effective mass at the frame by direction [kg] (MR 8.21, Fig. 8.4).

    For an invertible J this is J⁻ᵀ M J⁻¹; for a redundant robot null-space motion is free; loops and other constraints hold:
    M⁻¹ is that of the motions they allow.  ``rows`` of the frame's twist are
    ``"linear"``, ``"angular"``, ``"all"`` or names among wx wy wz vx vy vz (mixed, their units are mixed); ``expressed_in`` as
    for ``robot.jacobian``.  Where J loses rank, the mass in the directions lost is infinite, and the ``report`` names them.

    >>> import numpy as np, torsor as ts
    >>> arm = mass_ellipsoid(ts.robots.two_link(), np.radians([0, 90]), "tip", ("vx", "vy"))
    >>> arm.matrix.round(9) + 0.0  # along ŷ both masses, along x̂ only the second
    array([[1., 0.],
           [0., 2.]])
    """
    names, J, N = _motions_of_frame(robot, q, frame, rows, expressed_in)
    W = np.linalg.solve(_factor(robot, q), J.T).T if N is None else J @ N
    return _of_frame("mass", frame, names, W, lambda sigma: sigma**-2.0, "infinite effective mass")


def velocity_ellipsoid(
    robot: Robot, q: ArrayLike, frame: str, rows: str | Sequence[str] = "linear", expressed_in: str = "world"
) -> Ellipsoid:
    """{J(q) v : |v| = 1}: the velocities of a frame at all unit joint velocities [m/s] (MR §5.4, manipulability ellipsoid).

    Under constraints v are the joint velocities that these allow, A v = 0.

    Its semi-axes are the singular values of J, its ``matrix`` is (J Jᵀ)^½.  ``rows`` and ``expressed_in`` as for
    :func:`mass_ellipsoid`; the product of the lengths is ``robot.manipulability``.  ``inverse`` is :func:`force_ellipsoid`.

    >>> import numpy as np, torsor as ts
    >>> velocity_ellipsoid(ts.robots.two_link(), np.radians([0, 90]), "tip", ("vx", "vy")).lengths.round(3)
    array([1.618, 0.618])
    """
    return force_ellipsoid(robot, q, frame, rows, expressed_in).inverse


def force_ellipsoid(
    robot: Robot, q: ArrayLike, frame: str, rows: str | Sequence[str] = "linear", expressed_in: str = "world"
) -> Ellipsoid:
    """{F : |J(q)ᵀF| = 1}: the forces on a frame that unit joint forces balance [N] (MR §5.4).

    Its axes are those of :func:`velocity_ellipsoid`, its semi-axes the inverse ones.  Where J loses rank, no joint force is
    needed in the directions lost: the length is infinite, and the ``report`` names them.
    """
    names, J, N = _motions_of_frame(robot, q, frame, rows, expressed_in)
    W = J if N is None else J @ np.linalg.qr(N).Q
    return _of_frame("force", frame, names, W, lambda sigma: 1 / sigma, "no velocity, any force")


def _of_frame(
    what: str, frame: str, names: tuple[str, ...], W: np.ndarray, length: Callable[[Any], Any], consequence: str
) -> Ellipsoid:
    """An ellipsoid along the singular directions of W, its ``length`` that of their σ, the smallest first.

    σ is zero where the rows lose rank, with this ``consequence``.
    """
    axes, sigma, _ = np.linalg.svd(W)
    sigma = np.pad(sigma, (0, len(W) - len(sigma)))[::-1]
    axes, sigma = canonical_axes(sigma, axes[:, ::-1]), np.where(sigma <= SINGULAR * sigma[-1], 0.0, sigma)
    with np.errstate(divide="ignore"):
        return Ellipsoid(what, names, axes, length(sigma), _report(frame, names, axes, sigma, consequence))


def acceleration_ellipsoid(
    robot: Robot,
    q: ArrayLike,
    frame: str | None = None,
    rows: str | Sequence[str] = "linear",
    expressed_in: str = "world",
) -> Ellipsoid:
    """{M⁻¹ τ : |τ| = 1} of the joints, or {Λ⁻¹ f : |f| = 1} of a frame (the dotted lines of MR Figs. 8.3, 8.4).

    The accelerations, from rest and without gravity, of all unit joint forces [rad/s²], or of all unit forces on the frame
    [m/s²].  ``rows`` and ``expressed_in`` as for :func:`mass_ellipsoid`.

    >>> import numpy as np, torsor as ts
    >>> tip = acceleration_ellipsoid(ts.robots.two_link(), np.radians([0, 150]), "tip", ("vx", "vy"))
    >>> tip.image([1, 0]).round(2)  # MR Fig. 8.4: not along the force
    array([0.4 , 0.35])
    """
    if frame is None:
        one_state(robot, q=q)
        _factor(robot, q)
        return torque_ellipsoid(robot, q).inverse
    return mass_ellipsoid(robot, q, frame, rows, expressed_in).inverse


def _motions_of_frame(
    robot: Robot, q: ArrayLike, frame: str, rows: str | Sequence[str], expressed_in: str
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray | None]:
    """Names of rows, J of a frame, and N (nv, k), A N = 0 and NᵀM N = 1: the motions that constraints allow, None of a tree."""
    names = row_names(rows)
    robot.model.frame(frame)
    one_state(robot, q=q)
    J = robot.jacobian(q, frame, expressed_in)[[TWIST.index(name) for name in names]]
    if not robot.model.has_rows:
        return names, J, None
    refuse(robot.model, "without time")
    return names, J, robot.constrained().mobility(q).motions.T


def _factor(robot: Robot, q: ArrayLike) -> np.ndarray:
    """L with M = L Lᵀ; if M is singular, the error names the joint that moves no mass."""
    try:
        return np.linalg.cholesky(robot.mass_matrix(q))
    except np.linalg.LinAlgError:
        robot.mass_matrix_inverse(q)  # names the joint, where one moves no mass
        raise SingularError(f"the mass matrix of {robot.name!r} is not positive definite here: see robot.report") from None


def _report(frame: str, names: tuple[str, ...], axes: np.ndarray, sigma: np.ndarray, consequence: str) -> str:
    def directions(which: np.ndarray) -> str:
        return "; ".join(f"({', '.join(f'{x:.3f}' for x in column + 0.0)})" for column in axes[:, which].T)

    blocked = sigma == 0
    if blocked.any():
        return f"singular: {frame!r} cannot move along {directions(blocked)} in ({', '.join(names)}): {consequence}"
    near = sigma < NEAR * sigma[-1]
    if near.any():
        return f"near singular: {frame!r} hardly moves along {directions(near)} in ({', '.join(names)})"
    return ""
