"""The rotor of a geared motor: a body that spins G times as fast as the joint it drives (MR §8.9.2–8.9.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.errors import ModelError
from torsor.model.magnitudes import check_inertia, check_size
from torsor.scalar import Scalar
from torsor.spatial import Inertia, Mat, Sym, Transform, Vec
from torsor.spatial import arguments as read
from torsor.spatial.vector import flat

if TYPE_CHECKING:
    from torsor.model.description import Joint

#: allowed deviation of a rotor from axial symmetry, relative to its largest moment
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Rotor:
    """The rotor of a motor: mounted on ``link``, spinning relative to it at ``ratio`` times the rate of ``joint``.

    ``origin`` takes the link's frame to the rotor's, whose origin is on the spin axis; ``axis`` is its direction there, a unit
    vector.  ``inertia`` is about the rotor frame's origin, in its axes, and symmetric about the spin axis: then it is the same
    at every angle.  The link's own inertia includes the stator but not the rotor.  ``ratio`` is MR's G [1; rad/m where the
    joint is prismatic], negative where the rotor turns the other way.
    """

    name: str
    joint: str
    link: str
    inertia: Inertia
    ratio: Scalar = 1
    origin: Transform = Transform.identity()
    axis: Vec = Vec(0, 0, 1)

    @property
    def inertia_without_spin(self) -> Inertia:
        """The rotor's inertia about its link's frame, added to the link for a rotor without spin."""
        return self.origin.T @ self.inertia

    @property
    def spin_inertia(self) -> Scalar:
        """uᵀ I u [kg·m²], about the spin axis u."""
        return self.axis.dot(self.inertia.I @ self.axis)


class RotorRow(NamedTuple):
    """A rotor of the numbered tree: the effect of its spin, in addition to the rotor standing still on its mount.

    The inertia is symmetric about the axis u, so a spin of one [rad/s] has the momentum J u, a free moment, which does not
    depend on the position of the rotor on its mount.
    """

    name: str
    joint: int  # the body whose joint it drives
    mount: int  # the body it is mounted on
    axis: Vec  # u, in the mount's frame
    inertia: Scalar  # J, about u
    ratio: Scalar  # G
    link: str = ""  # the link of the description that it is mounted on

    @property
    def momentum(self) -> Vec:
        """J G u: its spin's angular momentum at unit joint rate."""
        return self.axis * (self.inertia * self.ratio)

    @property
    def apparent_inertia(self) -> Scalar:
        """G² J, the apparent inertia (MR §8.9.2)."""
        return self.inertia * (self.ratio * self.ratio)


def make_rotor(
    name: str, joint: str, link: str, *, mass: Any = 0, com: Any = (0, 0, 0), inertia: Any = None, ratio: Any = 1,
    xyz: Any = (0, 0, 0), rpy: Any = (0, 0, 0), axis: Any = (0, 0, 1),
) -> Rotor:  # fmt: skip
    """A rotor from numbers, as :meth:`torsor.robot.builder.Builder.rotor` takes them."""
    what = f"rotor {name!r}"
    body = read.mass_properties(mass, com, inertia, (0, 0, 0), what)
    G, u = read.scalar(ratio, f"{what}: ratio"), read.axis(axis, f"{what}: axis")
    return Rotor(name, joint, link, body, G, read.pose(xyz, rpy, what), u)


def check_rotors(rotors: tuple[Rotor, ...], joints: Mapping[str, Joint], mover: Mapping[str, str]) -> None:
    """Raise for a rotor that the algorithms do not support, with the reason; ``mover`` is the joint that moves each link."""
    driven: dict[str, str] = {}
    for r in rotors:
        what = f"rotor {r.name!r}"
        j = joints.get(r.joint)
        if j is None:
            raise ModelError(f"{what} drives joint {r.joint!r}, which is not a joint of the tree")
        if j.kind.nv != 1:
            raise ModelError(f"{what} drives joint {j.name!r} ({j.kind.name}); a rotor's joint has one degree of freedom")
        if j.mimic is not None:
            raise ModelError(
                f"{what} drives joint {j.name!r}, which is a mimic joint of {j.mimic.joint!r}; drive the leader instead"
            )
        if j.name in driven:
            raise ModelError(f"{what} and rotor {driven[j.name]!r} both drive joint {j.name!r}; a joint has one rotor")
        driven[j.name] = r.name
        inward = [j.parent]
        while inward[-1] in mover:
            inward.append(joints[mover[inward[-1]]].parent)
        if r.link not in inward:
            raise ModelError(
                f"{what} is mounted on link {r.link!r}, which is not an ancestor of joint {j.name!r}; mount it on one of: "
                + ", ".join(map(repr, inward))
            )
        _check_body(r, what)


def _check_body(r: Rotor, what: str) -> None:
    """Numbers within bounds, and an inertia that does not change as it turns; symbols are not checked."""
    check_inertia(what, r.inertia)
    for label, part in (("origin", r.origin), ("axis", r.axis), ("ratio", r.ratio)):
        check_size(f"{what}: {label}", part)
    if isinstance(r.ratio, (int, float)) and r.ratio == 0:
        raise ModelError(f"{what}: its ratio is zero, so it does not turn; omit it, or add its inertia to the link")
    if not all(isinstance(x, (int, float)) for x in flat(r.inertia, r.axis)):
        return
    m, h, I = r.inertia
    u, size = r.axis, max(map(abs, I))
    if abs(math.hypot(*u) - 1) > TOLERANCE:
        raise ModelError(f"{what}: its axis {tuple(u)} must be a unit vector")
    if math.hypot(*h.cross(u)) > TOLERANCE * math.hypot(*h, math.sqrt(m * size)):
        raise ModelError(
            f"{what}: its centre of mass {tuple(r.inertia.com)} m is off its spin axis; put the rotor's frame on the axis "
            "(model an unbalanced rotor as a separate link on a mimic joint)"
        )
    J = r.spin_inertia
    across = (I.xx + I.yy + I.zz - J) / 2
    round_ = Sym.of(Mat(*(Vec(*(across * (i == k) + (J - across) * u[i] * u[k] for k in range(3))) for i in range(3))))
    if max(map(abs, I - round_)) > TOLERANCE * size:
        raise ModelError(
            f"{what}: its inertia is not symmetric about its spin axis {tuple(u)}: across it, both moments must be equal and "
            "no product may remain (model a rotor that is not round as a separate link on a mimic joint)"
        )
