"""A tree whose base moves along a given path: the base becomes body 1, and body 0 is the world, at rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torsor.errors import ArgumentError
from torsor.model.description import WORLD
from torsor.model.joints import Fixed, Floating, FloatingRPY, JointType, Translation
from torsor.model.joints.moving import Moving
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, rate, value
from torsor.spatial import Inertia, Mat, Motion, Transform, Vec

#: attribute of a model that caches the same tree with a body for its base
_ON_BASE = "_on_base"
#: how a pose is given, by its count of numbers
POSES: dict[int, JointType] = {3: Translation(), 6: FloatingRPY(), 7: Floating()}


def on_moving_base(model: Model, motion: Moving) -> Model:
    """The tree with its base at a pose and in motion.  Frames and loops of the base move; the frame "world" does not."""
    if _ON_BASE not in vars(model):
        vars(model)[_ON_BASE] = _with_body_of_base(model)
    tree: Model = vars(model)[_ON_BASE]
    return tree.with_same_mass_matrix(joint=(Fixed(), motion, *tree.joint[2:]))


def base_motion(pose: Callable[[Any], Any], t: Scalar) -> Moving:
    """X, V and V̇ of the base at a time t, from the function of its pose over dual numbers of second order.

    [ω] = E Ėᵀ and v = E ṙ, with E from the world's axes to the base's and r the base's origin in the world.
    """
    numbers = _numbers(pose(Dual(Dual(t, 1), Dual(1, 0))))  # t + ε₁ + ε₂
    if len(numbers) not in POSES:
        raise ArgumentError(
            "base motion: the function of t must return a position (x, y, z) [m], alone or with roll, pitch, yaw [rad] or a "
            f"quaternion (x, y, z, w), so 3, 6 or 7 numbers, not {len(numbers)}"
        )
    X = POSES[len(numbers)].transform(numbers)
    E, dE = (Mat(*(Vec(*map(part, row)) for row in X.E)) for part in (value, rate))  # each with its own rate
    w = Vec(E.z.dot(dE.y), E.x.dot(dE.z), E.y.dot(dE.x))
    V = Motion(w, E @ Vec(*map(rate, X.r)))
    now = Transform(Mat(*(Vec(*map(value, row)) for row in E)), Vec(*(value(value(x)) for x in X.r)))
    twist, acceleration = (Motion(Vec(*map(part, V.w)), Vec(*map(part, V.v))) for part in (value, rate))
    return Moving(now, twist, acceleration, t)


def time_of_base(model: Model) -> Scalar:
    """The time at which a tree is on its moving base; 0 of a base at rest."""
    joint = model.joint[1 % len(model.joint)]
    return joint.t if isinstance(joint, Moving) else 0


def _numbers(x: Any) -> list[Any]:
    """A position, a pair of position and rotation, or all numbers in one list, as one list."""
    items = x.tolist() if hasattr(x, "tolist") else x
    return [y for part in items for y in _numbers(part)] if isinstance(items, Sequence) else [items]


def _with_body_of_base(model: Model) -> Model:
    """The same tree with one body more: that of the base."""
    return replace(
        model,
        parent=(-1, *(p + 1 for p in model.parent)),
        joint=(Fixed(), Moving(), *model.joint[1:]),
        offset=(Transform.identity(), *model.offset),
        inertia=(Inertia.zero(), *model.inertia),
        armature=((), *model.armature),
        damping=((), *model.damping),
        coupling=(None, *(c and c._replace(leader=c.leader + 1) for c in model.coupling)),
        q_start=(0, *model.q_start),
        v_start=(0, *model.v_start),
        joint_names=("", *model.joint_names),
        frames={name: F if name == WORLD else F._replace(body=F.body + 1) for name, F in model.frames.items()},
        loops=(),  # they are terms
        rotors=tuple(r._replace(joint=r.joint + 1, mount=r.mount + 1) for r in model.rotors),
        friction=((), *model.friction) if model.friction else (),
        effort_limit=((), *model.effort_limit) if model.effort_limit else (),
        forces=tuple(row._replace(body=row.body + 1) for row in model.forces),
    )
