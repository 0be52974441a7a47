"""Operating regions of a motor or a geared drive (MR Figs. 8.12 and 8.13)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

from torsor.errors import ArgumentError
from torsor.model.actuators.gearbox import Gearbox
from torsor.scalar import Scalar, is_constant, maximum

Vertex = tuple[Scalar, Scalar]


class OperatingLimit(NamedTuple):
    """One limit of a motor: |by_speed · w + by_torque · τ| ≤ limit."""

    name: str
    by_speed: Scalar
    by_torque: Scalar
    limit: Scalar
    unit: str

    def value(self, speed: Scalar, torque: Scalar) -> Scalar:
        """The limited quantity, with its sign: the current, the voltage, the speed."""
        return self.by_speed * speed + self.by_torque * torque

    def usage(self, speed: Scalar, torque: Scalar) -> Scalar:
        """The magnitude as a fraction of the limit: 1 on the boundary."""
        return abs(self.value(speed, torque)) / self.limit


@dataclass(frozen=True)
class Region:
    """{(w, τ) : |a w + b τ| ≤ c for every side}, seen through a gearbox if there is one (MR Figs. 8.12, 8.13).

    ``speed`` [rad/s] and ``torque`` [N·m] are those of the gear's output.  A lossless gear stretches the torques by G and
    shrinks the speeds by G; losses shrink the quadrants where the motor drives by η, and stretch those where it brakes by 1/η.

    >>> from torsor.actuators import Motor
    >>> region = Motor(torque_constant=0.05, resistance=0.5, max_voltage=24, max_current=20).region
    >>> region.contains(speed=200, torque=0.9), region.contains(speed=300, torque=0.95)
    (True, False)
    """

    sides: tuple[OperatingLimit, ...]
    gearbox: Gearbox | None = None

    def through(self, gearbox: Gearbox) -> Region:
        """The same region, seen from the gear's output (MR Fig. 8.13)."""
        return replace(self, gearbox=gearbox if self.gearbox is None else self.gearbox.then(gearbox))

    def usages(self, speed: Scalar, torque: Scalar) -> dict[str, Scalar]:
        """For each side by name, the fraction of its limit that is used, over any scalar."""
        w, tau = speed, torque
        if self.gearbox is not None:
            w, tau = self.gearbox.input_speed(speed), self.gearbox.input_torque(torque, speed)
        return {side.name: side.usage(w, tau) for side in self.sides}

    def usage(self, speed: Scalar, torque: Scalar) -> Scalar:
        """The largest of :meth:`usages`: below 1 inside, 1 on the boundary; 0 if there are no limits."""
        total: Scalar | None = None
        for used in self.usages(speed, torque).values():
            total = used if total is None else maximum(total, used)
        return 0 if total is None else total

    def contains(self, speed: Scalar, torque: Scalar) -> Scalar:
        """Whether the point is inside or on the boundary (to a part in 10¹², for rounding); arrays give arrays."""
        inside = self.usage(speed, torque) <= 1 + 1e-12
        return bool(inside) if getattr(inside, "shape", None) == () else inside

    @property
    def vertices(self) -> tuple[Vertex, ...]:
        """The corners (speed, torque), in order around the origin.  A lossy gear's outline jumps at rest."""
        corners = _corners(self.sides)
        if self.gearbox is None:
            return tuple(corners)
        gear = replace(self.gearbox, smoothing=0)
        seen = []
        for p, q in _edges(corners, across_axes=gear.lossless):
            middle = gear.output_speed((p[0] + q[0]) / 2)  # an edge is in one quadrant, which its middle determines
            seen += [(gear.output_speed(w), gear.output_torque(torque, middle)) for w, torque in (p, q)]
        return tuple(p for p, after in zip(seen, seen[1:] + seen[:1], strict=True) if p != after)

    def plot(self, *, ax: Any = None, **style: Any) -> Any:
        """The region filled, torque to the right and speed up as in the book; returns matplotlib's axes."""
        from torsor.support.plotting import drawing

        speeds, torques = zip(*self.vertices, strict=True)
        bare = ax is None
        with drawing(ax) as ax:
            if bare:
                ax.axhline(0, color="k", linewidth=0.8)
                ax.axvline(0, color="k", linewidth=0.8)
            ax.fill(torques, speeds, **{"color": "0.8", "edgecolor": "k", **style})
            ax.set_xlabel("torque [N·m]")
            ax.set_ylabel("speed [rad/s]")
        return ax


def _corners(sides: tuple[OperatingLimit, ...]) -> list[Vertex]:
    """Where two boundary lines meet and no third side is left, by angle about the origin, which is inside."""
    if len(sides) < 2:
        given = ", ".join(side.name for side in sides) or "nothing"
        raise ArgumentError(f"no outline: only {given} is limited; give the Motor two of max_current, max_voltage, max_speed")
    if not all(is_constant(x) for side in sides for x in side[1:4]):
        raise ArgumentError("this region has symbols where numbers are needed; usage(speed, torque) takes them")
    unit = 1 + 1e-12
    found: list[Vertex] = []
    for (_, a1, b1, c1, _), (_, a2, b2, c2, _) in combinations(sides, 2):
        det = a1 * b2 - a2 * b1
        for s1, s2 in product((1, -1), repeat=2):
            w, torque = (s1 * c1 * b2 - s2 * c2 * b1) / det, (a1 * s2 * c2 - a2 * s1 * c1) / det
            new = not any(all(side.usage(w - p[0], torque - p[1]) < 1e-12 for side in sides) for p in found)
            if new and all(side.usage(w, torque) <= unit for side in sides):
                found.append((w, torque))
    return sorted(found, key=lambda p: math.atan2(p[1], p[0]))


def _edges(corners: list[Vertex], *, across_axes: bool) -> Iterator[tuple[Vertex, Vertex]]:
    """The sides of the outline from corner to corner, cut where they cross an axis unless ``across_axes``."""
    for p, q in zip(corners, corners[1:] + corners[:1], strict=True):
        cuts = {} if across_axes else {p[k] / (p[k] - q[k]): k for k in (0, 1) if p[k] * q[k] < 0}
        between = []
        for t, k in sorted(cuts.items()):
            cut = [p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]
            cut[k] = 0.0
            between.append((cut[0], cut[1]))
        yield from pairwise([p, *between, q])
