"""Limits that a trajectory keeps or breaks: of position, velocity, acceleration and joint force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.mechanics.trajectories.coordinate_path import limits_of, quaternions_of
from torsor.mechanics.trajectories.extremes import extremes_of
from torsor.model.limits import mimic_ranges
from torsor.model.names import configuration_names, coordinate_names, entry_units
from torsor.model.polynomials import evaluate
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.trajectories.trajectory import Motion, Trajectory
    from torsor.robot import Robot


class Finding(NamedTuple):
    """A limit that is broken: ``joint`` exceeds ``limit`` from ``time`` [s] on; ``peak``, its worst value, at ``peak_time``."""

    kind: str
    joint: str
    time: float
    limit: float
    peak: float
    peak_time: float
    unit: str

    def __str__(self) -> str:
        side = "is below" if self.kind == "position" and self.peak < self.limit else "exceeds"
        return (
            f"{self.joint}: {self.kind} {side} its limit {self.limit:.4g} {self.unit} from t = {self.time:.4g} s on, most at "
            f"{self.peak_time:.4g} s: {self.peak:.4g} {self.unit}"
        )


class Peak(NamedTuple):
    """The largest value of a ``kind`` at a ``joint``, its time [s], its limit (inf for none) and its share of the limit."""

    kind: str
    joint: str
    value: float
    time: float
    limit: float
    unit: str

    @property
    def share(self) -> float:
        """|value|/limit; 0 without a limit."""
        return abs(self.value) / self.limit


@dataclass(frozen=True)
class LimitCheck:
    """The ``findings`` in order of time, empty if all limits are kept; ``peaks`` of velocity, acceleration and joint force."""

    findings: tuple[Finding, ...]
    peaks: tuple[Peak, ...]
    missing: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every limit that there is, is kept."""
        return not self.findings

    @property
    def first(self) -> Finding | None:
        """The limit that is broken first; None if all are kept."""
        return self.findings[0] if self.findings else None

    @property
    def message(self) -> str:
        """One line for each finding; or that all limits are kept, and which there are not."""
        without = f" (no limits of {', '.join(self.missing)})" if self.missing else ""
        return "\n".join(map(str, self.findings)) or f"all limits are kept{without}"

    def __repr__(self) -> str:
        return f"<LimitCheck: {self.message}>"

    def __str__(self) -> str:
        return self.message


class Column(NamedTuple):
    """sign · x[entry] ≤ level, or |x[entry]| ≤ level where the sign is 0; ``polynomial`` of the entry for mimic joints."""

    kind: str
    joint: str
    unit: str
    entry: int
    sign: int
    level: float
    polynomial: tuple[float, ...] = (0.0, 1.0)

    def of(self, x: Array) -> Array:
        """The side of the limit, (T,)."""
        y = np.asarray(evaluate(self.polynomial, x[:, self.entry])) if self.polynomial != (0.0, 1.0) else x[:, self.entry]
        return self.sign * y if self.sign else np.abs(y)


#: the rows of a motion by kind
KINDS = ("position", "velocity", "acceleration", "joint force")


def check(motion: Trajectory, robot: Robot, acceleration: ArrayLike | None) -> LimitCheck:
    """The limits of ``robot`` along a motion, as :meth:`Trajectory.check` has them."""
    if (robot.nq, robot.nv) != (motion.robot.nq, motion.robot.nv):
        raise ArgumentError(f"the trajectory is of robot {motion.robot.name!r}, which does not match {robot.name!r}")
    columns = [*_positions(robot), *_rates(robot, limits_of("acceleration", acceleration, robot.nv))]
    levels = np.array([column.level for column in columns])

    def sides(t: Array) -> Array:
        values = _values(robot, motion.at(np.clip(t, 0, motion.duration)))
        return np.stack([column.of(values[column.kind]) for column in columns], axis=1)

    if not columns:
        return LimitCheck((), ())
    found = extremes_of(sides, motion.breaks, levels)
    findings = [
        Finding(c.kind, c.joint, first, (c.sign or 1) * c.level, (c.sign or 1) * value, time, c.unit)
        for c, value, time, first in zip(columns, *map(np.ndarray.tolist, found), strict=True)
        if first < np.inf
    ]
    peaks = [
        Peak(c.kind, c.joint, value, time, c.level, c.unit)
        for c, value, time in zip(columns, found.value.tolist(), found.time.tolist(), strict=True)
        if c.kind != "position"
    ]
    missing = tuple(k for k in KINDS[1:] if all(p.limit == np.inf for p in peaks if p.kind == k))
    return LimitCheck(tuple(sorted(findings, key=lambda f: f.time)), tuple(peaks), missing)


def _values(robot: Robot, m: Motion) -> dict[str, Array]:
    """q, v, a and τ by kind."""
    time = m.t if robot.kernels.reads_time("inverse_dynamics") else None
    return dict(zip(KINDS, (m.q, m.v, m.a, robot.inverse_dynamics(m.q, m.v, m.a, time=time)), strict=True))


def _positions(robot: Robot) -> Iterator[Column]:
    """Both sides of each position limit, of mimic joints too; entries of quaternions have none."""
    quaternion = {k for part in quaternions_of(robot.model) for k in range(part.start, part.stop)}
    names, units = configuration_names(robot.model), entry_units(robot.model)[0]
    own = [(names[k], k, (0.0, 1.0), robot.lower[k], robot.upper[k]) for k in range(robot.nq) if k not in quaternion]
    led = [(m.joint, m.entry, m.coefficients, m.lower, m.upper) for m in mimic_ranges(robot.description, robot.model)]
    for name, k, polynomial, lower, upper in (*own, *led):
        for sign, level in ((1, upper), (-1, -lower)):
            if np.isfinite(level):
                yield Column(KINDS[0], name, units[k], k, sign, float(level), polynomial)


def _rates(robot: Robot, acceleration: Array) -> Iterator[Column]:
    """|v|, |a| and |τ| of each degree of freedom."""
    names, (_, rates, forces) = coordinate_names(robot.model), entry_units(robot.model)
    limits = (robot.velocity_limit, acceleration, robot.effort_limit)
    units = (rates, [f"{x}²" for x in rates], forces)
    for kind, levels, of in zip(KINDS[1:], limits, units, strict=True):
        for k, name in enumerate(names):
            yield Column(kind, name, of[k], k, 0, float(levels[k]))
