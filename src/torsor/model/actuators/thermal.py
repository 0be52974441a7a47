"""Winding temperature: first-order thermal model, one capacitance and one resistance to ambient."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torsor.errors import ArgumentError
from torsor.model.actuators.parameters import require_fields
from torsor.scalar import Scalar, is_constant, sqrt

#: temperature coefficient of the resistance of copper, at 25 °C [1/K]
COPPER = 0.00385


@dataclass(frozen=True, kw_only=True)
class Thermal:
    """C dT/dt = P_heat − (T − T_ambient)/R_th: the winding as one heat capacity.

    ``resistance`` R_th from winding to surroundings [K/W], ``capacitance`` C [J/K], temperatures in °C.  The electrical
    resistance grows as R (1 + α (T − T_reference)); ``reference`` is where the motor's R was measured, ``coefficient`` is α
    [1/K] (default: copper).  MR §8.9.1 gives only: "determined by the thermal properties of the motor".

    >>> winding = Thermal(resistance=4, capacitance=25, max_temperature=125, coefficient=0)
    >>> winding.time_constant, winding.steady_temperature(10)
    (100, 65)
    """

    resistance: Scalar
    capacitance: Scalar
    max_temperature: Scalar
    ambient: Scalar = 25
    reference: Scalar = 25
    coefficient: Scalar = COPPER

    def __post_init__(self) -> None:
        require_fields(self, {"resistance": "K/W", "capacitance": "J/K"}, above=0)
        require_fields(self, {"coefficient": "1/K"}, least=0)
        require_fields(self, dict.fromkeys(("max_temperature", "ambient", "reference"), "°C"), above=-273.15)
        if is_constant(self.max_temperature) and is_constant(self.ambient) and self.max_temperature <= self.ambient:
            raise ArgumentError(
                f"Thermal: max_temperature {self.max_temperature:g} °C is not above the ambient {self.ambient:g} °C"
            )

    @property
    def time_constant(self) -> Scalar:
        """R_th C [s]: time constant, after which 63 % of the temperature rise is reached."""
        return self.resistance * self.capacitance

    def rate(self, temperature: Scalar, heat: Scalar) -> Scalar:
        """dT/dt [K/s] at a winding temperature [°C] and a heat [W]."""
        return (heat - (temperature - self.ambient) / self.resistance) / self.capacitance

    def steady_temperature(self, heat: Scalar) -> Scalar:
        """T_ambient + R_th P: steady temperature [°C] at a constant heat [W]."""
        return self.ambient + self.resistance * heat

    def growth(self, temperature: Scalar) -> Scalar:
        """R(T)/R = 1 + α (T − T_reference)."""
        return 1 + self.coefficient * (temperature - self.reference)

    def steady_temperature_of(self, current: Scalar, resistance: Scalar) -> Scalar:
        """Steady temperature [°C] at a constant (or RMS) current [A] through R [Ω], with R(T); ∞ for thermal runaway.

        T − T_a = R_th I² R (1 + α (T − T_r)), solved for T.
        """
        gain = self.resistance * current**2 * resistance  # [K]: the rise if R did not grow
        damping = 1 - self.coefficient * gain
        if is_constant(damping) and damping <= 0:
            return math.inf
        return self.ambient + gain * self.growth(self.ambient) / damping

    def continuous_current(self, resistance: Scalar) -> Scalar:
        """I [A] with I² R(T_max) = (T_max − T_a)/R_th: continuous current of a winding of R [Ω] at the reference temperature.

        >>> round(Thermal(resistance=4, capacitance=25, max_temperature=125, coefficient=0).continuous_current(0.25), 6)
        10.0
        """
        return sqrt((self.max_temperature - self.ambient) / (self.resistance * resistance * self.growth(self.max_temperature)))
