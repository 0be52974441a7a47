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
from torsor.model.limits import MimicRange, mimic_ranges
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
    """sign · x[entry] ≤ level, or |x[entry]| ≤ level where the sign is 0."""

    kind: str
    joint: str
    unit: str
    entry: int
    sign: int
    level: float

    def of(self, x: Array) -> Array:
        """The side of the limit, (T,)."""
        return self.sign * x[:, self.entry] if self.sign else np.abs(x[:, self.entry])


#: the rows of a motion by kind
KINDS = ("position", "velocity", "acceleration", "joint force")


def check(motion: Trajectory, robot: Robot, acceleration: ArrayLike | None) -> LimitCheck:
    """The limits of ``robot`` along a motion, as :meth:`Trajectory.check` has them."""
    if (robot.nq, robot.nv) != (motion.robot.nq, motion.robot.nv):
        raise ArgumentError(f"the trajectory is of robot {motion.robot.name!r}, which does not match {robot.name!r}")
    mimics = list(mimic_ranges(robot.description, robot.model))
    columns = [*_positions(robot, mimics), *_rates(robot, limits_of("acceleration", acceleration, robot.nv), mimics)]
    levels = np.array([column.level for column in columns])

    def sides(t: Array) -> Array:
        values = _values(robot, mimics, motion.at(np.clip(t, 0, motion.duration)))
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
        if c.kind != "position" and c.entry < robot.nv
    ]
    missing = tuple(k for k in KINDS[1:] if all(p.limit == np.inf for p in peaks if p.kind == k))
    return LimitCheck(tuple(sorted(findings, key=lambda f: f.time)), tuple(peaks), missing)


def _values(robot: Robot, mimics: list[MimicRange], m: Motion) -> dict[str, Array]:
    """q, v, a and τ by kind; after q and v of the robot those of mimic joints, p(q) and p′(q) v of their leaders."""
    time = m.t if robot.kernels.reads_time("inverse_dynamics") else None
    q, v = [m.q], [m.v]
    for x in mimics:
        leader, rate = m.q[:, x.entry], [k * c for k, c in enumerate(x.coefficients)][1:]
        q.append(np.asarray(evaluate(x.coefficients, leader)).reshape(-1, 1))
        v.append(np.asarray(evaluate(rate, leader)).reshape(-1, 1) * m.v[:, robot.joint(x.joint).v_slice])
    return dict(zip(KINDS, (np.hstack(q), np.hstack(v), m.a, robot.inverse_dynamics(m.q, m.v, m.a, time=time)), strict=True))


def _positions(robot: Robot, mimics: list[MimicRange]) -> Iterator[Column]:
    """Both sides of each position limit; entries of quaternions have none."""
    quaternion = {k for part in quaternions_of(robot.model) for k in range(part.start, part.stop)}
    names, units = configuration_names(robot.model), entry_units(robot.model)[0]
    own = [(names[k], k, units[k], robot.lower[k], robot.upper[k]) for k in range(robot.nq) if k not in quaternion]
    led = [(m.joint, k, units[m.entry], m.lower, m.upper) for k, m in enumerate(mimics, robot.nq)]
    for name, k, unit, lower, upper in (*own, *led):
        for sign, level in ((1, upper), (-1, -lower)):
            if np.isfinite(level):
                yield Column(KINDS[0], name, unit, k, sign, float(level))


def _rates(robot: Robot, acceleration: Array, mimics: list[MimicRange]) -> Iterator[Column]:
    """|v|, |a| and |τ| of each degree of freedom, and |v| of mimic joints with a limit."""
    names, (_, rates, forces) = coordinate_names(robot.model), entry_units(robot.model)
    limits = (robot.velocity_limit, acceleration, robot.effort_limit)
    units = (rates, [f"{x}²" for x in rates], forces)
    for kind, levels, of in zip(KINDS[1:], limits, units, strict=True):
        for k, name in enumerate(names):
            yield Column(kind, name, of[k], k, 0, float(levels[k]))
    for k, m in enumerate(mimics, robot.nv):
        joint = robot.joint(m.joint)
        for level in joint.velocity_limit:
            yield Column(KINDS[1], m.joint, rates[joint.v_slice.start], k, 0, float(level))
