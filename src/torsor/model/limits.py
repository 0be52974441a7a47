"""Joint limits as arrays, those that mimic joints set to their leaders, and q wrapped into them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from torsor.errors import ModelError
from torsor.model.description import INF, Description, Joint
from torsor.model.joints import JointType
from torsor.model.joints.follower import Follower
from torsor.model.model import Model
from torsor.model.polynomials import evaluate
from torsor.scalar import is_constant
from torsor.support.user_arrays import Array

#: a joint that has its own coordinates (None: the floating base), its type, and its first entry of q
Row = tuple[Joint | None, JointType, int]
TURN = 2 * math.pi
Interval = tuple[float, float]


@dataclass(frozen=True)
class MimicRange:
    """lower ≤ p(q[entry]) ≤ upper: the limits of a mimic joint, on its leader's entry of q; p by its coefficients."""

    joint: str
    entry: int
    coefficients: tuple[float, ...]
    lower: float
    upper: float

    def holds(self, x: float) -> bool:
        """Whether the mimic joint is inside its limits where the leader is at x."""
        return bool(self.lower <= evaluate(self.coefficients, x) <= self.upper)


@dataclass(frozen=True)
class Limits:
    """The limits of a robot; arrays of nq or nv entries, ±inf for none."""

    lower: Array
    upper: Array
    velocity: Array
    effort: Array
    angles: tuple[int, ...]  # entries of q that may change by whole turns
    quaternions: tuple[slice, ...]

    @classmethod
    def of(cls, d: Description, model: Model) -> Limits:
        joints = {j.name: j for j in d.joints}
        rows = [(joints.get(model.joint_names[i]), model.joint[i], model.q_start[i]) for i in model.own_joints]
        lower, upper = _by_entry(rows, "lower", "nq", -INF), _by_entry(rows, "upper", "nq", INF)
        quaternions = tuple(slice(at + x.start, at + x.stop) for _, kind, at in rows for x in kind.quaternions)
        for part in quaternions:
            lower[part], upper[part] = -1.0, 1.0
        velocity, effort = _by_entry(rows, "velocity_limit", "nv", INF), _by_entry(rows, "effort_limit", "nv", INF)
        for array in (lower, upper, velocity, effort):
            array.flags.writeable = False
        angles = (model.q_start[i] + k for i in model.own_joints if i not in model.wound for k in model.joint[i].angles)
        return cls(lower, upper, velocity, effort, tuple(angles), quaternions)

    def excess(self, q: Array, mimics: tuple[MimicRange, ...]) -> Array:
        """max(lower − q, q − upper) of each entry of q (−inf in quaternions), then of each mimic joint: positive outside."""
        with np.errstate(over="ignore"):
            own = np.maximum(self.lower - q, q - self.upper)
            led = [np.asarray(evaluate(m.coefficients, q[..., m.entry])) for m in mimics]
            rest = [np.maximum(m.lower - y, y - m.upper)[..., None] for m, y in zip(mimics, led, strict=True)]
        for part in self.quaternions:
            own[..., part] = -INF
        return np.concatenate([own, *rest], axis=-1)

    def of_leaders(self, mimics: tuple[MimicRange, ...]) -> dict[int, list[Interval]]:
        """The intervals of each leader's entry of q in which its mimic joints are inside their limits, too."""
        allowed: dict[int, list[Interval]] = {}
        for m in mimics:
            before = allowed.get(m.entry) or [(float(self.lower[m.entry]), float(self.upper[m.entry]))]
            both = [(max(a, c), min(b, d)) for a, b in before for c, d in leader_ranges(m) if max(a, c) <= min(b, d)]
            if both:  # otherwise no q satisfies all, and the limits before it count
                allowed[m.entry] = both
        return allowed

    def wrap(self, q: Array) -> Array:
        """Angles changed by whole turns: into [−π, π), or if the limits exclude that, to the nearest turn they allow."""
        out = q.copy()
        for k in self.angles:
            low, high, x = self.lower[k], self.upper[k], q[..., k]
            y = _half_turn(x)
            # the nearest turn inside the limits: up to reach the lower one, or down to reach the upper one
            up, down = y + TURN * np.ceil((low - y) / TURN), y - TURN * np.ceil((y - high) / TURN)
            y = np.where(y < low, up, np.where(y > high, down, y))
            keep = ((x >= -math.pi) & (x < math.pi) & (x >= low) & (x <= high)) | (y < low) | (y > high)
            out[..., k] = np.where(keep, x, y)
        return out


def _half_turn(x: Array) -> Array:
    """x plus whole turns, in [−π, π)."""
    y = np.arctan2(np.sin(x), np.cos(x))  # with π to all digits, so that large angles keep their pose, too
    y = np.where(x == math.pi, -math.pi, np.minimum(y, math.nextafter(math.pi, 0)))
    return np.where((x >= -math.pi) & (x < math.pi), x, y)


def _by_entry(rows: list[Row], label: str, size: str, none: float) -> Array:
    """The limits of all joints in a row, ``none`` where there is no limit."""
    return np.array([x for j, kind, _ in rows for x in getattr(j, label, ()) or (none,) * getattr(kind, size)], dtype=float)


def mimic_ranges(d: Description, model: Model) -> Iterator[MimicRange]:
    """The limits of the mimic joints; ModelError for one that has symbols."""
    joints = {j.name: j for j in d.joints}
    for i, c in enumerate(model.coupling):
        j = joints.get(model.joint_names[i])
        if c is None or j is None or not (j.lower or j.upper):
            continue
        if not (is_constant(c.k) and is_constant(c.b)):
            raise ModelError(f"joint {j.name!r}: its mimic has symbols where limits need numbers")
        kind = model.joint[i]
        p = kind.coefficients if isinstance(kind, Follower) else (c.b, c.k)
        yield MimicRange(j.name, model.q_start[i], tuple(map(float, p)), *(j.lower or (-INF,)), *(j.upper or (INF,)))


def leader_ranges(m: MimicRange) -> list[Interval]:
    """The ranges of the leader's coordinate in which the mimic joint is inside its limits, rounded inwards."""
    roots = sorted(x for limit in (m.lower, m.upper) if math.isfinite(limit) for x in _roots(m.coefficients, limit))
    found = []
    for low, high in itertools.pairwise([-INF, *roots, INF]):
        inside = _inner_point(low, high)
        if m.holds(inside):
            found.append((_move_inside(m, low, inside), _move_inside(m, high, inside)))
    return found


def _roots(coefficients: tuple[float, ...], y: float) -> list[float]:
    """Where the polynomial is y; where it only touches it, rounding may find none."""
    b, k, *higher = coefficients
    if not any(higher):
        return [(y - b) / k] if k else []
    found = np.roots([*reversed(higher), k, b - y])
    return [float(x.real) for x in found if abs(x.imag) <= 1e-9 * (1 + abs(x))]


def _inner_point(low: float, high: float) -> float:
    """A point inside an interval."""
    if math.isinf(low):
        return 0.0 if math.isinf(high) else high - 1 - abs(high)
    return low + 1 + abs(low) if math.isinf(high) else low + (high - low) / 2


def _move_inside(m: MimicRange, end: float, inside: float) -> float:
    """The end of an interval, moved by rounding errors until the mimic joint is inside its limits there."""
    if math.isinf(end):
        return end
    step = math.copysign(math.ulp(end), inside - end)
    for _ in range(20):
        if m.holds(end):
            break
        end, step = end + step, 2 * step
    return end
