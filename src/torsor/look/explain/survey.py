"""A robot at many configurations: the condition of its mass matrix, and the reach of its tips.

Sampled at random, so that the worst value found is a one-sided bound: values between the samples may be worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.errors import ClosureError
from torsor.model.description import FLOATING_BASE
from torsor.model.names import coordinate_names

if TYPE_CHECKING:
    from torsor.robot import Robot

#: entries of all mass matrices together; a robot of thousands of joints has fewer samples
ENTRIES = 20_000_000
#: largest number of samples of a mechanism with loops, which are closed for each sample
LOOP_SAMPLES = 50


@dataclass(frozen=True, eq=False)
class Condition:
    """cond M at a configuration, and the coordinate that weighs least: that of the smallest eigenvalue's direction."""

    number: float
    coordinate: str
    q: np.ndarray


@dataclass(frozen=True, eq=False)
class Reach:
    """Positions of a tip relative to the base [m]: their bounding box, and the largest distance from the base's origin."""

    tip: str
    lower: np.ndarray
    upper: np.ndarray
    farthest: float


@dataclass(frozen=True, eq=False)
class Survey:
    """Results over ``samples`` random configurations."""

    samples: int
    seed: int
    neutral: Condition | None
    worst: Condition | None
    reaches: tuple[Reach, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and text."""
        reaches = [{**vars(r), "lower": r.lower.tolist(), "upper": r.upper.tolist()} for r in self.reaches]
        condition = {
            name: c and {"number": c.number if np.isfinite(c.number) else None, "coordinate": c.coordinate, "q": c.q.tolist()}
            for name, c in (("neutral", self.neutral), ("worst", self.worst))
        }
        return {"samples": self.samples, "seed": self.seed, "condition": condition, "reach": reaches}


def survey(robot: Robot, samples: int = 1000, seed: int = 0) -> Survey:
    """Random configurations within the joint limits: cond M = σ_max/σ_min, and the places of the tips.

    A floating base stays at the origin.  Loops are closed from each sample on; those that do not close are left out.

    >>> import torsor as ts
    >>> found = survey(ts.robots.two_link())
    >>> found.worst.coordinate, bool(1.99 < found.reaches[0].farthest <= 2.0)
    ('joint2', True)
    """
    q = _configurations(robot, samples, seed)
    if not robot.nv or not len(q):
        return Survey(len(q), seed, None, None, ())
    few = q[: max(1, ENTRIES // robot.nv**2)]
    numbers = np.linalg.cond(robot.mass_matrix(few))
    worst = int(np.argmax(np.where(np.isnan(numbers), np.inf, numbers)))
    neutral, found = (_condition(robot, x) for x in (robot.neutral(), few[worst]))
    return Survey(len(q), seed, neutral, max(neutral, found, key=lambda c: c.number), _reaches(robot, q))


def tips(robot: Robot) -> list[str]:
    """The tips of a robot: for each link without child joints its first named frame, or else the link itself.

    Frames fixed to the base do not count.  A mechanism of loops has no ends: there it is the first named frame of each link
    that moves.
    """
    d = robot.description
    first = {f.link: f.name for f in reversed(d.frames)}
    carrying = {j.parent for j in d.joints}
    ends = first if d.loops else [link for link in robot.links if link not in carrying]
    base = robot.model.frame(d.root).body
    return [first.get(link, link) for link in ends if robot.model.frame(link).body > base]


def _configurations(robot: Robot, samples: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    q = robot.random_configuration(rng, samples if not robot.loops else min(samples, LOOP_SAMPLES))
    if robot.description.floats:
        base = robot.joint(FLOATING_BASE).q_slice
        q[:, base] = robot.neutral()[base]
    return q if not robot.loops else _close(robot, q)


def _close(robot: Robot, guesses: np.ndarray) -> np.ndarray:
    found = [robot.neutral()]
    for guess in guesses:
        try:
            found.append(robot.assemble(guess))
        except ClosureError:
            continue
    return np.array(found)


def _condition(robot: Robot, q: np.ndarray) -> Condition:
    M = robot.mass_matrix(q)
    values, vectors = np.linalg.eigh(M)
    k = int(np.argmax(np.abs(vectors[:, 0])))
    number = values[-1] / values[0] if values[0] > 0 else np.inf
    return Condition(float(number), coordinate_names(robot.model)[k], q)


def _reaches(robot: Robot, q: np.ndarray) -> tuple[Reach, ...]:
    """The reach of every tip, from one kernel: most operations are shared."""
    names = tips(robot)
    if not names:
        return ()
    (base, *_), *found = robot.kernel(*(("pose", name) for name in (robot.description.root, *names)))(q)
    return tuple(_reach(tip, (T[:, :3, 3] - base[:3, 3]) @ base[:3, :3]) for tip, T in zip(names, found, strict=True))


def _reach(tip: str, places: np.ndarray) -> Reach:
    return Reach(tip, places.min(axis=0), places.max(axis=0), float(np.linalg.norm(places, axis=1).max()))
