"""Smooth friction laws, for optimisers and integrators that need derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from torsor.errors import require_known
from torsor.model.friction.law import Friction, Levels, WrappedLaw, check
from torsor.scalar import Scalar, exp, sqrt, tanh


class Sigmoid(NamedTuple):
    """σ(x) in place of sgn(x), and a bound of 1 − |σ(x)| for |x| ≥ k."""

    function: Callable[[Scalar], Scalar]
    error: Callable[[Scalar], Scalar]


#: smooth functions in place of sgn; x = v/width
SIGMOIDS: dict[str, Sigmoid] = {
    "tanh": Sigmoid(tanh, lambda k: 2 * exp(-2 * k)),  # 1 − tanh k = 2/(e²ᵏ + 1)
    "root": Sigmoid(lambda x: x / sqrt(1 + x * x), lambda k: 1 / (2 * k * k)),  # 1 − k/√(1 + k²) ≤ 1/2k²; no exponential
}


@dataclass(frozen=True)
class Smooth(WrappedLaw):
    """sgn(v) replaced by σ(v/width): one value at every velocity, and a derivative.

    ``kind`` is σ: ``"tanh"``, within 2 e^(−2k) of sgn for |v| ≥ k width (5e-3 at k = 3, 4e-9 at k = 10), or ``"root"``,
    x/√(1 + x²), within 1/(2k²) (5e-3 at k = 10), which costs a square root.  For |v| ≥ k width the force is therefore within
    that fraction of ``law``'s dry level; 3/2 of it where the level differs by direction.  :meth:`error` is this bound.

    Smooth friction cannot hold a joint: under any load the joint creeps, and a static level that applies only at rest
    (MR Fig. 8.15 d, e) has no effect.  The law itself holds a joint at rest, in simulations and
    in rollouts by "semi_implicit" or "implicit".

    >>> from torsor.model.friction import Coulomb
    >>> law = Coulomb(3.0).smooth(0.01)
    >>> abs(law.force(0.05) - 3.0) < law.error(0.05) < 3e-4
    True
    """

    law: Friction
    width: Scalar
    kind: str = "tanh"
    formula = "law's, with σ(v/width) for sgn(v)"

    def __post_init__(self) -> None:
        check(self, "width", positive=True)
        require_known("kind=", self.kind, SIGMOIDS)

    def sigma(self, v: Scalar) -> Scalar:
        """σ(v/width), in place of sgn(v)."""
        return SIGMOIDS[self.kind].function(v / self.width)

    def breakaway(self, load: Scalar = 0) -> Levels:
        return Levels(0, 0)

    def kinetic(self, v: Scalar, load: Scalar = 0) -> Levels:
        levels, s = self.law.kinetic(v, load), abs(self.sigma(v))
        return Levels(-levels.along(-s), levels.along(s))

    def force(self, v: Scalar, *, load: Scalar = 0) -> Scalar:
        return self.law.kinetic(v, load).along(self.sigma(v)) + self.law.drag(v)

    def error(self, v: Scalar, *, load: Scalar = 0) -> Scalar:
        """A bound of |force − law.force| at velocity v ≠ 0 [N·m or N]."""
        backward, forward = self.law.kinetic(v, load)
        share = SIGMOIDS[self.kind].error(abs(v) / self.width)
        return share * ((forward + backward) / 2 + abs(forward - backward))
