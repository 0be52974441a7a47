"""Joint limits as arrays, those that mimic joints set to their leaders, and q clipped or wrapped into them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from torsor.errors import ModelError
from torsor.model.description import INF, Description, Joint
from torsor.model.joints import JointType
from torsor.model.model import Model
from torsor.scalar import is_constant

Array = np.ndarray
#: a joint that has its own coordinates (None: the floating base), its type, and its first entry of q
Row = tuple[Joint | None, JointType, int]
TURN = 2 * math.pi


@dataclass(frozen=True)
class MimicRange:
    """lower ≤ k q[entry] + b ≤ upper: the limits of a mimic joint, on its leader's entry of q."""

    entry: int
    k: float
    b: float
    lower: float
    upper: float


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
        own = [i for i, _ in model.outward() if model.coupling[i] is None]
        leaders = {c.leader for c in model.coupling if c is not None}
        rows = [(joints.get(model.joint_names[i]), model.joint[i], model.q_start[i]) for i in own]
        lower, upper = _by_entry(rows, "lower", "nq", -INF), _by_entry(rows, "upper", "nq", INF)
        parts = ((at, kind.quaternion) for _, kind, at in rows)
        quaternions = tuple(slice(at + x.start, at + x.stop) for at, x in parts if x.stop)
        for part in quaternions:
            lower[part], upper[part] = -1.0, 1.0
        velocity, effort = _by_entry(rows, "velocity_limit", "nv", INF), _by_entry(rows, "effort_limit", "nv", INF)
        for array in (lower, upper, velocity, effort):
            array.flags.writeable = False
        angles = (model.q_start[i] + k for i in own if i not in leaders for k in model.joint[i].angles)
        return cls(lower, upper, velocity, effort, tuple(angles), quaternions)

    def within(self, q: Array, tolerance: float, mimics: tuple[MimicRange, ...]) -> Array:
        """Whether every coordinate and every mimic joint is inside its limits; quaternions have none."""
        inside = (q >= self.lower - tolerance) & (q <= self.upper + tolerance)
        for part in self.quaternions:
            inside[..., part] = True
        good = inside.all(axis=-1)
        for m in mimics:
            x = m.k * q[..., m.entry] + m.b
            good = good & (x >= m.lower - tolerance) & (x <= m.upper + tolerance)
        return np.asarray(good)

    def clip(self, q: Array, mimics: tuple[MimicRange, ...]) -> Array:
        """The nearest q inside the limits, with quaternions normalised."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for m in mimics:
            low, high = _on_leader(m)
            low, high = max(lower[m.entry], low), min(upper[m.entry], high)
            if low <= high:  # otherwise no q satisfies both, and the leader's own limits count
                lower[m.entry], upper[m.entry] = low, high
        out: Array = np.clip(q, lower, upper)
        for part in self.quaternions:
            x = q[..., part]
            x = x / np.abs(x).max(axis=-1, keepdims=True)  # first, since squares of very small or large numbers are lost
            out[..., part] = x / np.linalg.norm(x, axis=-1, keepdims=True)
        return out

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
    y = x - TURN * np.floor((x + math.pi) / TURN)
    y = np.where(y >= math.pi, y - TURN, y)  # by rounding
    return np.where((x >= -math.pi) & (x < math.pi), x, np.maximum(y, -math.pi))


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
        yield MimicRange(model.q_start[i], float(c.k), float(c.b), *(j.lower or (-INF,)), *(j.upper or (INF,)))


def _on_leader(m: MimicRange) -> tuple[float, float]:
    """The range of the leader's coordinate in which the mimic joint is inside its limits, rounded inwards."""
    if not m.k:
        return -INF, INF
    low, high = sorted(((m.lower - m.b) / m.k, (m.upper - m.b) / m.k))
    for _ in range(4):  # k q + b is rounded too
        low = low if m.lower <= m.k * low + m.b <= m.upper else math.nextafter(low, INF)
        high = high if m.lower <= m.k * high + m.b <= m.upper else math.nextafter(high, -INF)
    return low, high
