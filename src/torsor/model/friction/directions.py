"""Friction that differs by direction, and friction that grows with the load: laws made of laws."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.errors import ModelError
from torsor.model.friction.law import Friction, Levels, WrappedLaw, check
from torsor.scalar import Scalar


@dataclass(frozen=True)
class Directional(Friction):
    """One law while v > 0, another while v < 0: a worm gear, a lip seal, a worn tooth.

    >>> from torsor.model.friction import Coulomb, StaticViscous
    >>> law = Directional(forward=StaticViscous(3.0, 0.5), backward=Coulomb(1.0))
    >>> law.force(2.0), law.force(-2.0), law.breakaway()
    (4.0, -1.0, Levels(backward=1.0, forward=3.0))
    """

    forward: Friction
    backward: Friction
    formula = "forward's for v > 0, backward's for v < 0"

    def breakaway(self, load: Scalar = 0) -> Levels:
        return Levels(self.backward.breakaway(load).backward, self.forward.breakaway(load).forward)

    def kinetic(self, v: Scalar, load: Scalar = 0) -> Levels:
        return Levels(self.backward.kinetic(v, load).backward, self.forward.kinetic(v, load).forward)

    def drag(self, v: Scalar) -> Scalar:
        # max(v, 0) and min(v, 0), which together have the derivative 1 at rest too
        return self.forward.drag((v + abs(v)) / 2) + self.backward.drag((v - abs(v)) / 2)

    @property
    def scale(self) -> float:
        return max(self.forward.scale, self.backward.scale)


@dataclass(frozen=True)
class LoadDependent(WrappedLaw):
    """Dry friction that grows with the force through the joint: every level of ``law`` plus μ |load|.

    The teeth of a gear and the bearings behind it press harder under load, the force behind friction; μ < 1 has no unit.
    Measured on industrial arms by Hamon, Gautier & Garrec 2010 and Wernholt & Gunnarsson 2006.  Different constants by
    direction are a :class:`Directional` of two of these.

    >>> from torsor.model.friction import Coulomb
    >>> law = LoadDependent(Coulomb(3.0), mu=0.1)
    >>> law.force(1.0), law.force(1.0, load=-20.0)
    (3.0, 5.0)
    """

    law: Friction
    mu: Scalar
    formula = "law's, each level + mu |load|"

    def __post_init__(self) -> None:
        check(self, "mu")
        if isinstance(self.mu, (int, float)) and self.mu >= 1:
            raise ModelError(
                f"LoadDependent: mu must be below 1, not {self.mu!r}: friction of more than the load locks itself, and no load "
                "balances a joint that is driven backwards"
            )

    def breakaway(self, load: Scalar = 0) -> Levels:
        return self._with_load(self.law.breakaway(load), load)

    def kinetic(self, v: Scalar, load: Scalar = 0) -> Levels:
        return self._with_load(self.law.kinetic(v, load), load)

    def _with_load(self, levels: Levels, load: Scalar) -> Levels:
        more = self.mu * abs(load)
        return Levels(levels.backward + more, levels.forward + more)
