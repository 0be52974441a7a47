"""Gearbox: torque times G, speed divided by G, and losses for both directions of power flow (MR §8.9.1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from torsor.errors import ArgumentError
from torsor.model.actuators.parameters import require, require_fields
from torsor.scalar import Scalar, is_constant, tanh, where


@dataclass(frozen=True)
class Gearbox:
    """w_in = G w_out;  τ_out = η G τ_in while the motor drives,  τ_in = η_b τ_out/G while the load drives (MR §8.9.1).

    ``ratio`` G is input turns for one output turn (negative if the gear reverses), ``efficiency`` η and ``back_efficiency`` η_b
    (η unless given) are in (0, 1], ``inertia`` [kg·m²] is that of the gears, at the input.  A screw's G is in rad/m.
    The power τ_out w_out decides: the motor drives where it is ≥ 0, so at rest the motor must be able to start the load.

    There the torque jumps.  With ``smoothing`` p₀ [W] the loss fades out as tanh²(p/p₀): continuously differentiable, never a
    gain, and the power lost is too small by at most 0.448 p₀ (1/η − 1), or 0.448 p₀ (1 − η_b) when driven back.

    >>> gear = Gearbox(ratio=100, efficiency=0.8)
    >>> gear.output_torque(0.5, speed=1), gear.output_torque(-0.5, speed=1)  # driving, braking
    (40.0, -62.5)
    >>> gear.input_torque(40.0, speed=1), gear.input_torque(-62.5, speed=1)
    (0.5, -0.5)
    """

    ratio: Scalar
    efficiency: Scalar = 1
    _: KW_ONLY
    inertia: Scalar = 0
    back_efficiency: Any = None  # a scalar once made
    smoothing: Scalar = 0

    def __post_init__(self) -> None:
        require("Gearbox", "ratio", self.ratio, "input turns per output turn")
        if is_constant(self.ratio) and self.ratio == 0:
            raise ArgumentError("Gearbox: ratio must not be 0; it is the number of input turns per output turn")
        require_fields(self, {"inertia": "kg·m²", "smoothing": "W"}, least=0)
        if self.back_efficiency is None:
            object.__setattr__(self, "back_efficiency", self.efficiency)
        for name in ("efficiency", "back_efficiency"):
            value = getattr(self, name)
            require("Gearbox", name, value, "(a fraction)", above=0)
            if is_constant(value) and value > 1:
                raise ArgumentError(f"Gearbox: {name} is {value:g}; it must be at most 1")

    @property
    def lossless(self) -> bool:
        """Whether both efficiencies are the number 1."""
        return all(is_constant(x) and x == 1 for x in (self.efficiency, self.back_efficiency))

    def input_speed(self, speed: Scalar) -> Scalar:
        """w_in = G w_out [rad/s]."""
        return self.ratio * speed

    def output_speed(self, speed: Scalar) -> Scalar:
        """w_out = w_in/G [rad/s]."""
        return speed / self.ratio

    def output_torque(self, torque: Scalar, speed: Scalar) -> Scalar:
        """τ_out = G τ_in · (η if τ_in w_in ≥ 0 else 1/η_b) [N·m]; ``speed`` is that of the output."""
        tau = self.ratio * torque
        return tau if self.lossless else tau * self._factor(tau * speed, self.efficiency, 1 / self.back_efficiency)

    def input_torque(self, torque: Scalar, speed: Scalar) -> Scalar:
        """τ_in = (τ_out/G) · (1/η if τ_out w_out ≥ 0 else η_b) [N·m]; ``speed`` is that of the output."""
        tau = torque / self.ratio
        return tau if self.lossless else tau * self._factor(torque * speed, 1 / self.efficiency, self.back_efficiency)

    def loss(self, torque: Scalar, speed: Scalar) -> Scalar:
        """P_in − P_out ≥ 0 [W] at an output torque and speed."""
        return (self.ratio * self.input_torque(torque, speed) - torque) * speed

    def _factor(self, power: Scalar, driving: Scalar, driven: Scalar) -> Scalar:
        factor = where(power >= 0, driving, driven)
        if is_constant(self.smoothing) and self.smoothing == 0:
            return factor
        return 1 + (factor - 1) * tanh(power / self.smoothing) ** 2

    def then(self, second: Gearbox) -> Gearbox:
        """Two stages in a row, this one at the motor: G = G₁G₂, η = η₁η₂, inertia I₁ + I₂/G₁².

        >>> Gearbox(4, 0.9).then(Gearbox(25, 0.9)).ratio
        100
        """
        return Gearbox(
            self.ratio * second.ratio,
            self.efficiency * second.efficiency,
            inertia=self.inertia + second.inertia / self.ratio**2,
            back_efficiency=self.back_efficiency * second.back_efficiency,
            smoothing=self.smoothing + second.smoothing,
        )
