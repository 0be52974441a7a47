"""Springs between motor and link: force of a deflection δ = θ − q and its rate, over any scalar."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from torsor.errors import ArgumentError

#: deflections [rad, m] and forces [N·m, N] at which a user's law is tried
PROBES = (-0.02, -1e-3, 0.0, 1e-3, 0.02)


@dataclass(frozen=True)
class Spring:
    """τ_e = K δ + D δ̇: a linear spring and damper.

    ``stiffness`` K [N·m/rad, N/m], ``damping`` D [N·m·s/rad, N·s/m]; ``rotor_inertia`` B [kg·m², kg] is reflected to the
    link side, gear ratio² × the rotor's; default: the joint's armature.  MR §8.9.5; Spong 1987.

    >>> Spring(1000.0, 2.0).torque(0.01, 0.5)
    11.0
    """

    stiffness: float
    damping: float = 0
    _: KW_ONLY
    rotor_inertia: float | None = None

    def __post_init__(self) -> None:
        if not (0 < self.stiffness < math.inf):
            raise ArgumentError(f"a spring's stiffness must be positive and finite, not {self.stiffness!r}")
        if not (0 <= self.damping < math.inf):
            raise ArgumentError(f"a spring's damping must be finite and not negative, not {self.damping!r}")
        _check_inertia(self.rotor_inertia)

    @property
    def has_damping(self) -> bool:
        return self.damping > 0

    def torque(self, d: Any, rate: Any) -> Any:
        return d * self.stiffness + (rate * self.damping if self.has_damping else 0)

    def deflection(self, tau: Any) -> Any:
        """δ of a force at rest: τ / K."""
        return tau / self.stiffness

    def energy(self, d: Any) -> Any:
        """½ K δ²."""
        return d * d * self.stiffness / 2


@dataclass(frozen=True)
class SpringLaw:
    """τ_e = torque(δ, δ̇): a custom spring and damper, written with ``+ - * /`` and :mod:`torsor.scalar`.

    ``inverse`` gives δ of a force at rest, which inverse dynamics and equilibria need; ``stored`` the energy of a deflection
    [J].  ``rotor_inertia`` as for a :class:`Spring`.

    >>> stiffening = SpringLaw(lambda d, rate: 1000 * d + 4e6 * d * d * d, stored=lambda d: 500 * d * d + 1e6 * d**4)
    >>> stiffening.torque(0.01, 0.0)
    14.0
    """

    law: Callable[[Any, Any], Any]
    _: KW_ONLY
    inverse: Callable[[Any], Any] | None = None
    stored: Callable[[Any], Any] | None = None
    rotor_inertia: float | None = None

    def __post_init__(self) -> None:
        _check_inertia(self.rotor_inertia)
        if self.inverse is None:
            return
        for d in PROBES:
            back = self.inverse(self.law(d, 0.0))
            if not math.isclose(back, d, rel_tol=1e-6, abs_tol=1e-9):
                raise ArgumentError(f"inverse(torque(δ, 0)) must be δ; at δ = {d} it is {back}")

    @property
    def has_damping(self) -> bool:
        """Whether the force depends on the rate, tested at a few deflections."""
        return any(self.law(d, rate) != self.law(d, 0.0) for d in PROBES for rate in (-1.0, 1.0))

    def torque(self, d: Any, rate: Any) -> Any:
        return self.law(d, rate)

    def deflection(self, tau: Any) -> Any:
        """δ of a force at rest, by ``inverse``."""
        if self.inverse is None:
            raise ArgumentError("the deflection of a force is needed: give the inverse, Law(torque, inverse=...)")
        return self.inverse(tau)

    def energy(self, d: Any) -> Any:
        """Energy of a deflection, by ``stored``."""
        if self.stored is None:
            raise ArgumentError("the energy of a deflection is needed: give the integral, Law(torque, stored=...)")
        return self.stored(d)


def _check_inertia(B: float | None) -> None:
    if B is not None and not (0 < B < math.inf):
        raise ArgumentError(f"a rotor's inertia must be positive and finite, not {B!r}; a joint without a rotor must be rigid")
