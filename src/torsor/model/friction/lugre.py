"""LuGre friction: bristles that bend before they slip (Canudas de Wit, Olsson, Åström & Lischinsky 1995)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torsor.errors import ModelError
from torsor.model.friction.law import Described, Friction, Levels, check
from torsor.scalar import Scalar, exp, sign


@dataclass(frozen=True)
class LuGre(Described):
    """ż = v − σ₀ |v| z / g(v),  τ = σ₀ z + σ₁ ż + drag(v): z is the deflection of the bristles [rad or m].

    ``curve`` is the steady-state law at constant velocity, usually :class:`Stribeck`: its dry level is g(v) and its drag
    the viscous part.  ``stiffness`` σ₀ [N·m/rad or N/m] is that of the bristles, ``damping`` σ₁ [N·m·s/rad or N·s/m] theirs.
    As in every law, τ opposes the motion and inverse dynamics adds it.

    Bent bristles store ½σ₀z².  The rest of τ v is heat, and not negative while σ₁² |v| ≤ 4 g(v) (σ₁ + b_viscous):
    :meth:`dissipation`.  At higher speeds constant σ₁ may give energy back; ``fading=True`` takes σ₁/(1 + σ₁|v|/4g(v)) for it,
    which is about σ₁ at low speed and passive at every speed.

    >>> from torsor.model.friction import Stribeck
    >>> law = LuGre(Stribeck(1.5, 1.0, 0.4, v_stribeck=0.001), stiffness=1e5, damping=316.0)
    >>> law.force(0.5e-5, 0.0), law.state_rate(0.5e-5, 0.0)  # a spring, at rest
    (0.5, 0.0)
    >>> law.steady(0.1) == law.curve.force(0.1)
    True
    """

    curve: Friction
    stiffness: Scalar
    damping: Scalar = 0
    fading: bool = False
    formula = "stiffness z + damping ż + drag(v), ż = v − stiffness |v| z/g(v)"
    states = 1

    def __post_init__(self) -> None:
        check(self, "stiffness", positive=True)
        check(self, "damping")
        if any(isinstance(x, (int, float)) and not x > 0 for x in self.curve.kinetic(0.0)):
            raise ModelError(f"LuGre: its curve needs dry friction, but {self.curve} has none")

    def state_rate(self, z: Scalar, v: Scalar, load: Scalar = 0) -> Scalar:
        """ż = v − σ₀ |v| z / g(v)."""
        return v - self.stiffness * abs(v) * z / self._g(v, load)

    def force(self, z: Scalar, v: Scalar, *, load: Scalar = 0) -> Scalar:
        """τ = σ₀ z + σ₁ ż + drag(v) [N·m or N]."""
        return self.stiffness * z + self._damping(v, load) * self.state_rate(z, v, load) + self.curve.drag(v)

    def step(self, z: Scalar, v: Scalar, dt: Scalar, load: Scalar = 0) -> Scalar:
        """z after dt [s] at constant velocity, exactly; stable for any dt and any stiffness.

        z ← z E + (g/σ₀) sgn(v) (1 − E), E = exp(−σ₀ |v| dt / g).
        """
        g = self._g(v, load)
        E = exp(-(self.stiffness * abs(v) * dt / g))
        return z * E + g / self.stiffness * sign(v) * (1 - E)

    def steady_state(self, v: Scalar, load: Scalar = 0) -> Scalar:
        """The z at which ż = 0: g(v) sgn(v) / σ₀."""
        return self._g(v, load) * sign(v) / self.stiffness

    def steady(self, v: Scalar, load: Scalar = 0) -> Scalar:
        """Steady-state force at velocity v: that of the curve."""
        return self.curve.force(v, load=load)

    def power(self, z: Scalar, v: Scalar, *, load: Scalar = 0) -> Scalar:
        """τ v [W]: heat plus the power that bends the bristles; negative while they return energy."""
        return self.force(z, v, load=load) * v

    def dissipation(self, z: Scalar, v: Scalar, load: Scalar = 0) -> Scalar:
        """τ v − d/dt ½σ₀z² [W]: dissipated power."""
        return self.power(z, v, load=load) - self.stiffness * z * self.state_rate(z, v, load)

    def breakaway(self, load: Scalar = 0) -> Levels:
        """Holding force of fully bent bristles at rest: g(0)."""
        return self.curve.kinetic(0, load)

    def kinetic(self, v: Scalar, load: Scalar = 0) -> Levels:
        """g(v), in either direction."""
        return self.curve.kinetic(v, load)

    def drag(self, v: Scalar) -> Scalar:
        """The curve's viscous part."""
        return self.curve.drag(v)

    def _g(self, v: Scalar, load: Scalar) -> Scalar:
        return self.curve.kinetic(v, load).at(sign(v))

    def _damping(self, v: Scalar, load: Scalar) -> Scalar:
        if not self.fading:
            return self.damping
        return self.damping / (1 + self.damping * abs(v) / (4 * self._g(v, load)))

    @property
    def scale(self) -> float:
        """A speed that covers the curve's features [rad/s or m/s]."""
        return self.curve.scale

    def plot(self, speed: float | None = None, load: float = 0.0, *, ax: Any = None, **style: Any) -> Any:
        """Plot a slow cycle of velocity: the hysteresis loop around the steady-state curve; returns matplotlib's axes."""
        from torsor.model.friction.drawing import draw_loop

        return draw_loop(self, speed, load, ax, style)
