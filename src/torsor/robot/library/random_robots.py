"""Random robots: trees with joints of every type, mimic joints, armatures, and inertias that a body can have.

Numbers come from a generator with NumPy's methods ``normal``, ``uniform``, ``integers`` and ``random``: NumPy's own, or
:class:`Stable`.  They are combined by + − × ÷ √ alone, which give the same doubles on every machine.
"""

from __future__ import annotations

import math
import random as python_random
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from torsor.errors import ArgumentError, require_known
from torsor.model.description import Description, Joint, Link, Mimic, NamedFrame
from torsor.model.joints import JOINT_TYPES, JointType, Prismatic, Revolute
from torsor.model.joints.base import AXIS_FIELDS
from torsor.scalar import tidy
from torsor.spatial import Inertia, Mat, Quaternion, Sym, Transform, Vec

if TYPE_CHECKING:
    from torsor.robot import Robot

#: joint types unless others are given; a seed's robot depends on their order
TYPES = ("revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar", "floating")
#: share of joints with one degree of freedom that mimic another, and of joints with an armature
MIMICS, ARMATURES = 0.25, 0.3
#: joints back to which a link may be attached
NEAR = 4


class Stable:
    """Random numbers that are the same for a seed in every version of Python and NumPy, and on every machine.

    Python promises that of ``random.Random(seed).random()``; a normal number is a sum of twelve of these, less six.
    """

    def __init__(self, seed: int):
        self.random = python_random.Random(seed).random

    def uniform(self, low: float, high: float, size: int) -> list[float]:
        return [low + (high - low) * self.random() for _ in range(size)]

    def normal(self, scale: float = 1.0, size: int = 1) -> list[float]:
        return [scale * (math.fsum(self.uniform(0.0, 1.0, 12)) - 6.0) for _ in range(size)]

    def integers(self, low: int, high: int) -> int:
        return low + int((high - low) * self.random())


def random(
    n: int,
    seed: int = 0,
    *,
    base: str = "fixed",
    types: str | Sequence[str] | None = None,
    branches: bool = True,
    mimic: bool = False,
) -> Robot:
    """A random robot with n joints for tests and benchmarks; the same for a seed in every version and on every machine.

    Joints of all types but fixed, or of those in ``types``, with branches or in a row; ``mimic=True`` lets some follow others.
    Links are clouds of point masses, 0.5–5 kg, so their inertias are those of bodies; some joints have an armature, all have
    damping, hinges and sliders have limits.  ``base`` is "fixed" or "floating".  Links are called link0, link1, ...,
    joints joint1, ..., frames frame1, ... on the links of the same number.

    >>> random(6, seed=1, types="revolute", branches=False)
    <Robot 'random6_1': 6 joints, 7 links, fixed base, nq=6, nv=6, 20.3 kg>
    """
    from torsor.robot import Robot  # imported on use: descriptions need no compiler

    for what, number in (("n", n), ("seed", seed)):
        if isinstance(number, bool) or not hasattr(number, "__index__") or number < 0:
            raise ArgumentError(f"random: {what} must be a whole number, 0 or more, not {number!r}")
    rng, n, seed = Stable(int(seed)), int(n), int(seed)
    allowed = [name for name, cls in JOINT_TYPES.items() if _makes(cls)]
    if not isinstance(types, str | Sequence | None):
        raise ArgumentError(f"random: types must be a joint type or a list of them, not {types!r}")
    chosen = [types] if isinstance(types, str) else list(TYPES if types is None else types)
    for name in chosen:
        require_known("joint type", name, allowed)
    if not chosen:
        raise ArgumentError(f"random: types must name at least one joint type; they are {', '.join(allowed)}")

    def kind(number: int) -> JointType:
        return make_joint_type(rng, JOINT_TYPES[chosen[rng.integers(0, len(chosen))]])

    links, joints, frames = random_tree(rng, n, kind, mimic, branches, _limits)
    return Robot(Description(f"random{n}_{seed}", links, joints, frames, base=base))


Parts = tuple[tuple[Link, ...], tuple[Joint, ...], tuple[NamedFrame, ...]]


def random_tree(
    rng: Any,
    n: int,
    kind: Callable[[int], JointType],
    couplings: bool,
    branches: bool = True,
    limits: Callable[[Any, JointType], dict[str, Any]] | None = None,
) -> Parts:
    """link0 … linkn, joint1 … jointn between them with the types of ``kind(i)``, and frame1 … framen on the links."""
    links, joints, frames = [Link("link0", inertia(rng))], [], []
    single: list[str] = []
    for i in range(1, n + 1):
        made, name = kind(i), f"joint{i}"
        mimic = None
        if couplings and made.nv == 1 and single and rng.random() < MIMICS:
            leader = single[int(rng.integers(0, len(single)))]
            (k,), (b,) = numbers(rng, 1), numbers(rng, 1, 0.2)
            mimic = Mimic(leader, k, b)
        single += [name] if made.nv == 1 else []
        armature = tuple(map(float, rng.uniform(0.01, 0.1, size=made.nv))) if rng.random() < ARMATURES else ()
        damping = tuple(map(float, rng.uniform(0.0, 1.0, size=made.nv)))
        parent = int(rng.integers(max(0, i - NEAR), i)) if branches else i - 1
        links.append(Link(f"link{i}", inertia(rng)))
        fields = limits(rng, made) if limits is not None else {}
        joint = Joint(name, made, f"link{parent}", f"link{i}", transform(rng), armature=armature, damping=damping, mimic=mimic)
        joints.append(Joint(**{**vars(joint), **fields}))
        frames.append(NamedFrame(f"frame{i}", f"link{i}", transform(rng)))
    return tuple(links), tuple(joints), tuple(frames)


def _limits(rng: Any, kind: JointType) -> dict[str, Any]:
    """Limits of position for hinges [rad] and sliders [m]."""
    if type(kind) not in (Revolute, Prismatic):
        return {}
    low, high = (float(x) for x in rng.uniform(0.5, 1.0, size=2))
    reach = math.pi if isinstance(kind, Revolute) else 0.5
    return {"lower": (-low * reach,), "upper": (high * reach,)}


# -- parts ---------------------------------------------------------------------------------------------------------------


def numbers(rng: Any, count: int, scale: float = 1.0) -> list[float]:
    """Normal numbers as floats."""
    return [float(x) for x in rng.normal(scale=scale, size=count)]


def vec(rng: Any, scale: float = 1.0) -> Vec:
    return Vec(*numbers(rng, 3, scale))


def axis(rng: Any) -> Vec:
    """A coordinate axis or its negative, or, less often, any direction."""
    if rng.random() < 0.6:
        along, sign = int(rng.integers(0, 3)), 2 * int(rng.integers(0, 2)) - 1
        return Vec(*(sign if i == along else 0 for i in range(3)))
    d = vec(rng)
    return d * (1 / math.sqrt(d.dot(d)))


def rotation(rng: Any) -> Mat:
    """Any rotation, or one about an :func:`axis`."""
    if rng.random() < 0.3:
        a, (t,) = axis(rng), numbers(rng, 1)
        R = Quaternion(*(a * t), 1).matrix  # by 2 atan t
        return Mat(*(Vec(*map(tidy, row)) for row in R))
    return Quaternion(*numbers(rng, 4)).matrix


def transform(rng: Any) -> Transform:
    return Transform.of_pose(rotation(rng), vec(rng, 0.3))


def inertia(rng: Any) -> Inertia:
    """A cloud of five point masses, 0.2 m wide: physical by construction."""
    points = [vec(rng, 0.2) for _ in range(5)]
    masses = [float(m) for m in rng.uniform(0.1, 1.0, size=5)]
    total = math.fsum(masses)  # sum() rounds differently from Python 3.12 on
    com = Vec(*(math.fsum(m * p[i] for p, m in zip(points, masses, strict=True)) / total for i in range(3)))
    about_com: list[list[Any]] = [[0.0] * 3 for _ in range(3)]
    for m, p in zip(masses, points, strict=True):
        d = p - com
        for i in range(3):
            for k in range(3):
                about_com[i][k] += m * ((d.dot(d) if i == k else 0.0) - d[i] * d[k])
    return Inertia.of(total, com, Sym.of(about_com))


def make_joint_type(rng: Any, cls: type[JointType]) -> JointType:
    """A joint with random axes, and a random pitch."""
    values: dict[str, Any] = {}
    for f in fields(cls):  # type: ignore[arg-type]  # each joint is a dataclass
        values[f.name] = axis(rng) if f.name in AXIS_FIELDS else numbers(rng, 1, 0.1)[0]
    while "second_axis" in values and abs(values["axis"].dot(values["second_axis"])) > 0.9:
        values["second_axis"] = axis(rng)  # parallel axes would be one degree of freedom counted twice
    return cls(**values)


def _makes(cls: type[JointType]) -> bool:
    """Whether axes and a pitch are all that a joint type needs."""
    return all(f.name in (*AXIS_FIELDS, "pitch") for f in fields(cls))  # type: ignore[arg-type]
