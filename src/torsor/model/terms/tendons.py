"""Springs on lengths: between frames, along a path of frames, and of fixed tendons, L = Σ c q."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from torsor.errors import ArgumentError, require_known
from torsor.model.description import Description
from torsor.model.terms.attaching import with_terms
from torsor.model.terms.springs import Spring, SpringLaw, SpringTerm, as_law
from torsor.model.terms.term import Effort
from torsor.scalar import Scalar, maximum, sqrt
from torsor.spatial import Force, Vec
from torsor.spatial.vector import ZERO

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.model import Model

#: smallest L² [m²]: where two frames coincide the direction of the force is not defined, and a spring without length has none
SMALLEST = 1e-30


@dataclass(frozen=True)
class SpringBetween(SpringTerm):
    """f = K (rest − L) − D L̇ + preload along the line between the origins of two frames [N]; positive pushes them apart.

    ``law`` is a :class:`~torsor.terms.Spring`, a law :func:`~torsor.terms.curve` or a function f = force(L, L̇), L [m].
    ``via`` are frames on the way, over which the spring runs like a cable without friction: L = Σ |p_{k+1} − p_k|.

    >>> import torsor as ts
    >>> hung = ts.robots.two_link().with_terms(SpringBetween("tip", "world", ts.terms.Spring(10.0, rest=1.5)))
    >>> hung.energies([0.0, 0.0], [0.0, 0.0])["spring tip–world"].round(9)  # the tip is 2 m away
    np.float64(1.25)
    """

    frame: str
    other: str
    law: Spring | SpringLaw
    _: KW_ONLY
    via: tuple[str, ...] = ()
    name: str = ""
    places = ("frame", "other", "via")

    def __post_init__(self) -> None:
        object.__setattr__(self, "via", tuple(self.via))
        object.__setattr__(self, "law", as_law("a spring between frames", self.law))
        object.__setattr__(self, "name", self.name or self.default_name)

    @property
    def default_name(self) -> str:
        """The ends of the spring."""
        return f"spring {'–'.join(self.path)}"

    @property
    def path(self) -> tuple[str, ...]:
        """The frames from one end to the other."""
        return (self.frame, *self.via, self.other)

    def check(self, model: Model) -> None:
        """Refuse unknown frames, and two frames of one body next to each other."""
        for first, second in zip(self.path, self.path[1:], strict=False):
            if model.frame(first).body == model.frame(second).body:
                raise ArgumentError(f"{self.name}: frames {first!r} and {second!r} are on one body, at a constant distance")

    def describe(self, model: Model) -> str:
        """Its law and its ends."""
        return f"{self.law} between {', '.join(self.path)}"

    def deflection(self, at: At) -> tuple[Scalar, Scalar]:
        """−L and −L̇."""
        length: Scalar = 0
        rate: Scalar = 0
        for u, L, first, second in self._legs(at):
            length = length + L
            rate = rate + u.dot(_velocity(at, second) - _velocity(at, first))
        return -length, -rate

    def force(self, at: At) -> Effort:
        """f along each part of the path, on the bodies at its ends."""
        f = self.law.torque(*self.deflection(at))
        on: dict[int, Force] = {}
        for u, _, first, second in self._legs(at):
            for frame, F in ((first, u * -f), (second, u * f)):
                body, X = at.model.frame(frame)
                if body:  # a force on the ground moves nothing
                    pushed = X.T @ Force(ZERO, at.pose(frame).E @ F)
                    on[body] = on[body] + pushed if body in on else pushed
        return Effort(wrenches=on)

    def _legs(self, at: At) -> list[tuple[Vec, Scalar, str, str]]:
        """The parts of the path: direction in the world's axes, length [m] and ends."""
        parts = []
        for first, second in zip(self.path, self.path[1:], strict=False):
            r = at.position(second) - at.position(first)
            L = sqrt(maximum(r.dot(r), SMALLEST))
            parts.append((r * (1 / L), L, first, second))
        return parts


@dataclass(frozen=True)
class FixedTendon(SpringTerm):
    """f = K (rest − L) − D L̇ + preload of a fixed tendon, L = Σ c q of some joints; joint forces c f.

    ``joints`` is a dict {joint: c} [m/rad, or without unit], or names with ``coefficients``; ``law`` as of a
    :class:`SpringBetween`.  MuJoCo's ``springlength="a b"`` is ``Spring(k, d, rest=(a, b))``.

    >>> import torsor as ts
    >>> robot = ts.robots.two_link().with_terms(FixedTendon({"joint1": 0.1, "joint2": -0.2}, ts.terms.Spring(50.0)))
    >>> robot.without_terms("spring").inverse_dynamics([0, 1], [0, 0], [0, 0]) - robot.inverse_dynamics([0, 1], [0, 0], [0, 0])
    array([ 1., -2.])
    """

    joints: Any
    law: Spring | SpringLaw
    _: KW_ONLY
    coefficients: tuple[float, ...] = ()
    name: str = ""
    places = ("joints",)

    def __post_init__(self) -> None:
        if isinstance(self.joints, Mapping):
            object.__setattr__(self, "coefficients", tuple(self.joints.values()))
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "law", as_law("a tendon", self.law))
        object.__setattr__(self, "name", self.name or self.default_name)
        if not self.joints or len(self.joints) != len(self.coefficients):
            raise ArgumentError(f"{self.name}: give a dict of joints and coefficients, {{'elbow': 0.1}}, not {self.joints!r}")
        for joint, c in zip(self.joints, self.coefficients, strict=True):
            if isinstance(c, bool) or not isinstance(c, (int, float)) or not isfinite(c) or not c:
                raise ArgumentError(
                    f"{self.name}: the coefficient of joint {joint!r} must be a finite number, not 0, not {c!r}"
                )

    @property
    def wound(self) -> tuple[str, ...]:
        """Its joints: a whole turn is another length."""
        return tuple(self.joints)

    @property
    def default_name(self) -> str:
        """Its joints."""
        return f"tendon {'–'.join(self.joints)}"

    def check(self, model: Model) -> None:
        """Refuse joints that are unknown or have several coordinates."""
        for joint in self.joints:
            require_known("joint", joint, model.joint_names[1:])
            kind = model.joint[model.joint_names.index(joint)]
            if not kind.nq == kind.nv == 1:
                raise ArgumentError(f"{self.name}: joint {joint!r} is {kind.name}; a tendon needs joints with one coordinate")

    def describe(self, model: Model) -> str:
        """Its law and L."""
        length = " + ".join(f"{c:g} {joint}" for joint, c in zip(self.joints, self.coefficients, strict=True))
        return f"{self.law} on {length}"

    def deflection(self, at: At) -> tuple[Scalar, Scalar]:
        """−L and −L̇."""
        length: Scalar = 0
        rate: Scalar = 0
        for joint, c in zip(self.joints, self.coefficients, strict=True):
            i = at.body_of(joint)
            length, rate = length + at.qs[i][0] * c, rate + at.vs[i][0] * c
        return -length, -rate

    def force(self, at: At) -> Effort:
        """c f on each joint."""
        f = self.law.torque(*self.deflection(at))
        return Effort({at.body_of(joint): [f * c] for joint, c in zip(self.joints, self.coefficients, strict=True)})


def between_frames(d: Description, springs: Any) -> Description:
    """The robot with springs between the pairs or paths of frames among ``springs``, in place of those there; None removes."""
    pairs = {ends: law for ends, law in springs.items() if isinstance(ends, tuple)} if isinstance(springs, Mapping) else {}
    if not pairs:
        return d
    for ends in pairs:
        if len(ends) < 2 or not all(isinstance(name, str) for name in ends):
            raise ArgumentError(f"a spring between frames needs the names of two frames, ('tip', 'world'), not {ends!r}")
    kept = tuple(t for t in d.terms if not (isinstance(t, SpringBetween) and {t.path, t.path[::-1]} & set(pairs)))
    made = [SpringBetween(a, z, law, via=tuple(via)) for (a, *via, z), law in pairs.items() if law is not None]
    return with_terms(replace(d, terms=kept), made)


def _velocity(at: At, frame: str) -> Vec:
    """The velocity of a frame's origin, in the world's axes [m/s]."""
    return at.pose(frame).E.T @ at.twist(frame).v
