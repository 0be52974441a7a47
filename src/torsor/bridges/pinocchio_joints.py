"""Pinocchio's joints and torsor's: one table, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.errors import ModelError, needs_extra
from torsor.io.shared.poses import transform_to, unit
from torsor.model.joints import (
    Composite,
    Continuous,
    Cylindrical,
    EulerAngles,
    Floating,
    FloatingRPY,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)  # fmt: skip
from torsor.model.joints.base import axes_about
from torsor.spatial import Mat, Transform, Vec
from torsor.spatial.vector import AXES, IDENTITY


def library(purpose: str) -> Any:
    with needs_extra("pin", "pinocchio", purpose):
        import pinocchio
    return pinocchio


class JointPart(NamedTuple):
    """A joint, or one of those a joint is composed of: name, Pinocchio's word for it, and which of the coordinates are its."""

    name: str
    word: str
    kind: JointType
    placement: Transform
    q: range
    v: range


_JOINTS_WITHOUT_AXIS: dict[str, JointType] = {
    **{f"R{x}": Revolute(a) for x, a in zip("XYZ", AXES, strict=True)},
    **{f"RUB{x}": Continuous(a) for x, a in zip("XYZ", AXES, strict=True)},
    **{f"P{x}": Prismatic(a) for x, a in zip("XYZ", AXES, strict=True)},
    "FreeFlyer": Floating(),
    "Spherical": Spherical(),
    "Planar": Planar(AXES[2]),
    "Translation": Translation(),
    "SphericalZYX": EulerAngles("zyx"),
}


def parts(joint: Any, name: str) -> list[JointPart]:
    """The elementary joints of one of Pinocchio's joints."""
    word = joint.shortname().removeprefix("JointModel")
    inner = joint.extract()
    if word != "Composite":
        kind = _kind(joint, inner, word, name)
        return [JointPart(name, word, kind, Transform.identity(), range(joint.nq), range(joint.nv))]
    out: list[JointPart] = []
    q = v = 0
    for n, (sub, placement) in enumerate(zip(inner.joints, inner.jointPlacements, strict=True)):
        first = transform(placement)
        for part in parts(sub, f"{name}_{n}"):
            at = range(q + part.q.start, q + part.q.stop), range(v + part.v.start, v + part.v.stop)
            out.append(JointPart(part.name, part.word, part.kind, part.placement @ first, *at))
            first = Transform.identity()
        q, v = q + sub.nq, v + sub.nv
    return out


def _kind(joint: Any, inner: Any, word: str, name: str) -> JointType:
    if word in _JOINTS_WITHOUT_AXIS:
        return _JOINTS_WITHOUT_AXIS[word]
    if word == "Universal":
        return Universal(unit(inner.axis1), unit(inner.axis2))
    if word == "Mimic":
        return _by_subspace(joint, 1 / inner.scaling)
    if word in ("RevoluteUnaligned", "PrismaticUnaligned"):
        return (Revolute if word[0] == "R" else Prismatic)(unit(inner.axis))
    if word in ("HX", "HY", "HZ", "HelicalUnaligned"):
        return Helical(unit(inner.axis) if len(word) > 2 else AXES["XYZ".index(word[1])], float(inner.pitch))
    if word == "RevoluteUnboundedUnaligned":
        return Continuous(_by_subspace(joint, 1.0).axis)  # type: ignore[attr-defined]
    raise ModelError(f"joint {name!r} is a {word} of Pinocchio, which torsor does not support")


def _by_subspace(joint: Any, scale: float) -> JointType:
    """A joint of one degree of freedom whose axis Pinocchio does not give: it follows from S = (v, ω), constant over q."""
    data, q = joint.createData(), np.zeros(joint.idx_q + 2)
    q[joint.idx_q] = 1.0  # an angle, or (cos, sin) of angle zero
    joint.calc(data, q)
    S = np.asarray(data.S).reshape(6) * scale
    linear, angular = S[:3], S[3:]
    if not angular.any():
        return Prismatic(unit(linear))
    if not linear.any():
        return Revolute(unit(angular))
    return Helical(unit(angular), float(linear @ angular))


# -- torsor's to Pinocchio's ---------------------------------------------------------------------------------------------


def make_joint(pin: Any, kind: JointType, who: str, plain: bool) -> tuple[Any, Mat]:
    """(Pinocchio's joint, R): the joint, in axes R of the joint frame.  ``plain``: a continuous joint by its angle."""
    if isinstance(kind, Continuous) and not plain:
        if letter := _axis_letter(kind.axis):
            return getattr(pin, f"JointModelRUB{letter}")(), IDENTITY
        return pin.JointModelRUBZ(), _axes(kind.axis)  # about any axis there is one, but Python cannot make it
    if isinstance(kind, (Revolute, Prismatic, Helical)):
        return _joint_about_axis(pin, kind), IDENTITY
    if isinstance(kind, Universal):
        return pin.JointModelUniversal(numbers(kind.axis), numbers(kind.second_axis)), IDENTITY
    if isinstance(kind, Planar):
        return pin.JointModelPlanar(), _axes(kind.normal)
    if word := next((word for word, own in _JOINTS_WITHOUT_AXIS.items() if own == kind), ""):
        return getattr(pin, f"JointModel{word}")(), IDENTITY
    if (sequence := _sequence(kind)) is not None:
        return _row(pin, [make_joint(pin, part, who, True)[0] for part in sequence]), IDENTITY
    if isinstance(kind, Composite):
        if any(isinstance(part, FloatingRPY) for part in kind.joints):
            raise ModelError(f"{who}: Pinocchio has no floating_rpy joint as part of a composite joint")
        made = [make_joint(pin, part, who, True) for part in kind.joints if part.nv]
        if any(R is not IDENTITY for _, R in made):
            raise ModelError(
                f"{who}: Pinocchio's composite joint has its planar joints in the x-y plane of the joint frame only"
            )
        return _row(pin, [joint for joint, _ in made]), IDENTITY
    raise ModelError(f"{who}: Pinocchio has no joint for {type(kind).__name__}")


def _sequence(kind: JointType) -> Sequence[JointType] | None:
    """The joints that Pinocchio composes for a joint that it does not have; None where there are none."""
    if isinstance(kind, Cylindrical):
        return Revolute(kind.axis), Prismatic(kind.axis)
    if isinstance(kind, FloatingRPY):
        return Translation(), EulerAngles("zyx")
    return kind.sequence() if isinstance(kind, EulerAngles) else None


def _joint_about_axis(pin: Any, kind: Revolute | Prismatic | Helical) -> Any:
    pitch = (float(kind.pitch),) if isinstance(kind, Helical) else ()
    word = "Helical" if pitch else "Prismatic" if isinstance(kind, Prismatic) else "Revolute"
    if letter := _axis_letter(kind.axis):
        return getattr(pin, f"JointModel{word[0]}{letter}")(*pitch)
    return getattr(pin, f"JointModel{word}Unaligned")(numbers(kind.axis), *pitch)


def _row(pin: Any, joints: Sequence[Any]) -> Any:
    out = pin.JointModelComposite(len(joints))
    for joint in joints:
        out.addJoint(joint, pin.SE3.Identity())
    return out


def _axis_letter(axis: Vec) -> str:
    return next((x for x, a in zip("XYZ", AXES, strict=True) if tuple(axis) == tuple(a)), "")


def _axes(z: Vec) -> Mat:
    """Axes R with R ẑ = z and torsor's own x and y across it."""
    R = Mat(*axes_about(z)).T
    return IDENTITY if R == IDENTITY else R


# -- numbers -------------------------------------------------------------------------------------------------------------


def numbers(v: Any) -> np.ndarray:
    """A vector or matrix of torsor's as floats: Pinocchio takes no whole numbers."""
    return np.array(v, float)


def transform(placement: Any) -> Transform:
    """X from the frame a Pinocchio placement is given in to the one it leads to."""
    return transform_to(placement.rotation, placement.translation)


def placement(pin: Any, X: Transform) -> Any:
    """Pinocchio's SE3 of the pose that X takes to."""
    R, p = X.pose
    return pin.SE3(numbers(R), numbers(p))
