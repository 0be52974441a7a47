"""The interface between integrators and a robot: acceleration and manifold operations, over any scalar."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torsor.algorithms.configuration import configuration_rate, difference, integrate, joints_in_order
from torsor.algorithms.dynamics import forward_dynamics
from torsor.algorithms.rnea import rnea
from torsor.model.joints import JointType
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, rate, repeatable
from torsor.spatial.linear import dot


class Field(NamedTuple):
    """a(q, v, t) and the configuration manifold of a model; t is None if the field does not depend on time."""

    model: Model
    acceleration: Callable[[Scalars, Scalars, Scalar | None], list[Scalar]]

    def record_once(self) -> Field:
        """The same field, with its acceleration recorded once for all stages of a step."""
        once = repeatable(lambda q, v, t: self.acceleration(q, v, t[0] if t else None))
        return self._replace(acceleration=lambda q, v, t: once(q, v, [] if t is None else [t]))

    def add(self, q: Scalars, w: Scalars) -> list[Scalar]:
        """q ⊕ w."""
        return integrate(self.model, q, w, 1)

    def difference_rate(self, q0: Scalars, q: Scalars, v: Scalars) -> list[Scalar]:
        """d/dt (q ⊖ q₀) at velocity v."""
        return [rate(x) for x in difference(self.model, q0, _with_rate(q, self.configuration_rate(q, v)))]

    def configuration_rate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """q̇."""
        return configuration_rate(self.model, q, v)

    # -- momentum --------------------------------------------------------------------------------------------

    def momentum(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """p = M v: inverse dynamics of v as an acceleration, at rest and without gravity."""
        return rnea(self.model.weightless(), q, [0] * self.model.nv, v)

    def momentum_rate(self, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
        """ṗ = Ṁ v + M a."""
        return [rate(x) for x in self.momentum(_with_rate(q, self.configuration_rate(q, v)), _with_rate(v, a))]

    def velocity(self, q: Scalars, p: Scalars) -> list[Scalar]:
        """M⁻¹ p."""
        return list(forward_dynamics(self.model.weightless(), q, [0] * self.model.nv, p))

    def pull_back(self, q: Scalars, x: Scalars, p: Scalars) -> list[Scalar]:
        """J(x)ᵀ p, where J(x) δx is the velocity of q ⊕ x as x changes: the identity for coordinates that are added."""
        out = list(p)
        for _, j, at, of in joints_in_order(self.model):
            if type(j).integrate is JointType.integrate:  # not curved
                continue
            own, end = x[of], j.integrate(q[at], x[of])
            for d in range(j.nv):
                turned = j.integrate(q[at], [Dual(s, int(e == d)) for e, s in enumerate(own)])
                out[of.start + d] = dot([rate(y) for y in j.difference(end, turned)], p[of])
        return out


def _with_rate(x: Scalars, dx: Scalars) -> list[Dual]:
    return [Dual(a, b) for a, b in zip(x, dx, strict=True)]
