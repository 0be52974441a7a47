"""A path in joint space along which a frame follows a curve: knots by inverse kinematics, polynomials between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

import numpy as np

from torsor.errors import ArgumentError, needs_extra
from torsor.mechanics.trajectories.coordinate_path import CoordinatePath, path_of
from torsor.spatial.rigid import log6
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

#: first step along a path, as a share of it, and the shortest
FIRST, SHORTEST = 1 / 16, 1e-5
#: distance of a solution from the step that leads to it, as a share of the step, that is another branch; and the least [rad, m]
BRANCH, LEAST = 0.25, 1e-4
#: poses by which a path is looked at first
LOOKED_AT = 33
#: tolerance of inverse kinematics at a knot, as a share of that of the path
EXACT = 1e-3
#: singular values of a Jacobian below this share of the largest count as zero
RANK = 1e-9


class Poses(NamedTuple):
    """T (n, 4, 4), its twist V and V′ (n, 6), angular part first, in the frame's own axes."""

    T: Array
    V: Array
    dV: Array


#: s (n,) → poses
Curve: TypeAlias = Callable[[Array], Poses]


class Knot(NamedTuple):
    """A configuration on the path, θ′ and θ″ there."""

    s: float
    q: Array
    first: Array
    second: Array


class Follower(NamedTuple):
    """A robot whose frame follows a curve of length ``size``."""

    robot: Robot
    frame: str
    curve: Curve
    size: float
    tolerance: float

    def rates(self, s: float, q: Array) -> tuple[Array, Array]:
        """θ′ = Jᵀy with J θ′ = V, the least; θ″ = J⁺(V′ − J′θ′) + (1 − J⁺J) J′ᵀy, its derivative along the path."""
        _, (V,), (dV,) = self.curve(np.array([s]))
        J = self.robot.jacobian(q, self.frame, "body")
        inverse = np.linalg.pinv(J, rcond=RANK)
        first = inverse @ V
        rate = self.robot.jacobian_rate(q, first, self.frame, "body")
        turned = rate.T @ (inverse.T @ first)
        return first, inverse @ (dV - rate @ first) + turned - inverse @ (J @ turned)

    def knot(self, s: float, guess: Array) -> Knot | None:
        """The configuration nearest to a guess; None where inverse kinematics fails from there."""
        exact = EXACT * self.tolerance
        T = self.curve(np.array([s])).T[0]
        found = self.robot.inverse_kinematics(T, self.frame, guess, attempts=1, position_tolerance=exact, angle_tolerance=exact)
        return Knot(s, found.q, *self.rates(s, found.q)) if found.success else None

    def ahead(self, knot: Knot, h: float) -> Array:
        """q a step further along θ′ = J⁺V (Runge's and Kutta's method, over the coordinates)."""
        slope = lambda s, q: self.robot.configuration_rate(q, self.rates(s, q)[0])  # noqa: E731
        a = self.robot.configuration_rate(knot.q, knot.first)
        b = slope(knot.s + h / 2, knot.q + h / 2 * a)
        c = slope(knot.s + h / 2, knot.q + h / 2 * b)
        return knot.q + h / 6 * (a + 2 * b + 2 * c + slope(knot.s + h, knot.q + h * c))

    def between(self, a: Knot, b: Knot) -> bool:
        """Whether the quintic between two knots meets the curve to the tolerance, at four points between."""
        s = a.s + (b.s - a.s) * np.array([0.2, 0.4, 0.6, 0.8])
        q = _hermite(self.robot, [a, b])(s)[0]
        error = np.abs(log6(np.linalg.solve(self.curve(s).T, self.robot.pose(q, self.frame))))
        return bool(error.max() <= self.tolerance / 2)  # points are at most 0.1 of a step from the worst one

    def knots(self, q: Array) -> list[Knot]:
        """Knots so close that the quintics between them meet the curve; steps are halved where they do not."""
        made, h = [Knot(0.0, q, *self.rates(0.0, q))], FIRST * self.size
        while (last := made[-1]).s < self.size:
            h = min(h, self.size - last.s)
            s = self.size if h > (self.size - last.s) * (1 - 1e-9) else last.s + h
            guess = self.ahead(last, h)
            new = self.knot(s, guess)
            if new is not None and self.is_near(last, guess, new) and self.between(last, new):
                made.append(new)
                h *= 1.5
            elif h > SHORTEST * self.size:
                h /= 2
            else:
                self.stop(last, guess, s, new)
        return made

    def is_near(self, last: Knot, guess: Array, new: Knot) -> bool:
        """Whether a solution is on the branch of its guess."""
        step = np.abs(self.robot.difference(last.q, guess)).max()
        return bool(np.abs(self.robot.difference(guess, new.q)).max() <= max(BRANCH * step, LEAST))

    def stop(self, last: Knot, guess: Array, s: float, new: Knot | None) -> NoReturn:
        """The error of a path that cannot be followed further."""
        where = f"frame {self.frame!r} can be followed to s = {last.s:.4g} of {self.size:.4g}"
        if new is not None:
            raise ArgumentError(
                f"{where}, where the joints would jump by {np.abs(self.robot.difference(last.q, new.q)).max():.3g} to another "
                "branch (a singularity); start from another solution: robot.inverse_kinematics(..., all_solutions=True)"
            )
        T = self.curve(np.array([s])).T[0]
        found = self.robot.inverse_kinematics(T, self.frame, guess, attempts=1)
        raise ArgumentError(
            f"{where}, and no further from this start: {found.message}; start from another solution of inverse kinematics"
        )

    def look(self, q: Array) -> None:
        """All of the curve at once, from any start: an error that says which part cannot be reached, and how far it is off."""
        s = np.linspace(0, self.size, LOOKED_AT)
        found = self.robot.inverse_kinematics(self.curve(s).T, self.frame, np.tile(q, (LOOKED_AT, 1)))
        missed = np.flatnonzero(~found.success)
        if len(missed):
            errors, worst = found.errors[missed].max(axis=0), missed[int(np.argmax(found.errors[missed, 0]))]
            raise ArgumentError(
                f"frame {self.frame!r} was not found on the path from s = {s[missed[0]]:.4g} to {s[missed[-1]]:.4g} of "
                f"{self.size:.4g}: closest by up to {1e3 * errors[0]:.3g} mm and {np.degrees(errors[1]):.3g}°, "
                f"at s = {s[worst]:.4g}"
            )


def path_along(robot: Robot, q: Array, frame: str, curve: Curve, size: float, tolerance: float) -> CoordinatePath:
    """The path of a robot whose frame follows a curve from q."""
    if not (isinstance(tolerance, (int, float, np.number)) and 1e-10 <= tolerance < np.inf):
        raise ArgumentError(f"tolerance must be a number from 1e-10 [m, rad], not {tolerance!r}")
    if not robot.within_limits(q):
        raise ArgumentError("q0 is outside the joint limits; use robot.clip(q0)")
    follower = Follower(robot, frame, curve, size, tolerance)
    follower.look(q)
    return _hermite(robot, follower.knots(q))


def _hermite(robot: Robot, knots: list[Knot]) -> CoordinatePath:
    """The path through knots whose coordinates have the rates x′ and x″ of θ′ and θ″ there, of degree five between (C²)."""
    s, q, first, second = (np.array(x) for x in zip(*knots, strict=True))
    for before, k in zip(q, range(1, len(q)), strict=False):
        q[k] = robot.integrate(before, robot.difference(before, q[k]))
    rate = robot.configuration_rate(q, first)
    acceleration = robot.configuration_rate(q, second - robot.acceleration_from_rates(q, rate, np.zeros_like(q)))
    with needs_extra("SciPy", "motion", "a Cartesian path"):
        from scipy.interpolate import BPoly, PPoly
    polynomials = BPoly.from_derivatives(s, np.stack([q, rate, acceleration], axis=1))
    return path_of(robot, PPoly.from_bernstein_basis(polynomials), s)
