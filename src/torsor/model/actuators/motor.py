"""The DC motor, brushed or brushless: V = k_t w + I R + L dI/dt (MR §8.9.1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from torsor.errors import ArgumentError
from torsor.model.actuators.parameters import clip, is_unlimited, require_fields, require_limit
from torsor.model.actuators.region import OperatingLimit, Region
from torsor.model.actuators.thermal import Thermal
from torsor.model.friction import Friction
from torsor.scalar import Scalar, is_constant, maximum, minimum, where


class OperatingPoint(NamedTuple):
    """A point on the speed–torque curve: speed [rad/s], torque [N·m] and their product [W]."""

    speed: Scalar
    torque: Scalar
    power: Scalar


@dataclass(frozen=True, kw_only=True)
class Motor:
    """V = k_t w + I R + L dI/dt, τ = k_t I (MR 8.103).

    ``torque_constant`` k_t [N·m/A], which is the electrical constant k_e [V·s/rad]; ``resistance`` R [Ω], ``inductance`` L
    [H], ``rotor_inertia`` [kg·m²].  Limits are of the magnitude, infinite where not given: ``max_voltage`` [V],
    ``max_current`` [A] (peak) and ``continuous_current`` [A] (thermal limit), ``max_speed`` [rad/s].  Without
    ``continuous_current`` the ``thermal`` model decides, and without either it is ``max_current``.  ``friction`` is the
    motor's own: a law of :mod:`torsor.model.friction` without a state, or any function of w that gives the torque lost [N·m],
    with the sign of w. Speeds and torques are the motor's, before any gear.

    Parameters and arguments may be numbers, SymPy symbols or recorded scalars; regions and sizing need numbers.

    >>> motor = Motor(torque_constant=0.05, resistance=0.5, max_voltage=24, max_current=20, continuous_current=6)
    >>> round(motor.no_load_speed), round(motor.stall_torque, 3), round(motor.rated.power, 1)
    (480, 2.4, 126.0)
    """

    torque_constant: Scalar
    resistance: Scalar
    inductance: Scalar = 0
    rotor_inertia: Scalar = 0
    max_voltage: Scalar = math.inf
    max_current: Scalar = math.inf
    continuous_current: Scalar | None = None
    max_speed: Scalar = math.inf
    friction: Friction | Callable[[Scalar], Scalar] | None = None
    thermal: Thermal | None = None

    def __post_init__(self) -> None:
        require_fields(self, {"torque_constant": "N·m/A", "resistance": "Ω"}, above=0)
        require_fields(self, {"inductance": "H", "rotor_inertia": "kg·m²"}, least=0)
        for name, unit in (("max_voltage", "V"), ("max_current", "A"), ("max_speed", "rad/s")):
            require_limit("Motor", name, getattr(self, name), unit)
        self._check_friction()
        if self.continuous_current is None:
            return
        require_limit("Motor", "continuous_current", self.continuous_current, "A")
        both = is_constant(self.continuous_current) and is_constant(self.max_current)
        if both and self.continuous_current > self.max_current:
            raise ArgumentError(
                f"Motor: continuous_current {self.continuous_current:g} A is more than max_current {self.max_current:g} A"
            )

    # -- the equations ---------------------------------------------------------------------------------------

    def torque(self, current: Scalar) -> Scalar:
        """τ = k_t I [N·m]."""
        return self.torque_constant * current

    def current(self, torque: Scalar) -> Scalar:
        """I = τ/k_t [A]: a torque command is a current command."""
        return torque / self.torque_constant

    def back_emf(self, speed: Scalar) -> Scalar:
        """k_t w [V]: back-emf."""
        return self.torque_constant * speed

    def voltage(self, current: Scalar, speed: Scalar, *, current_rate: Scalar = 0) -> Scalar:
        """V = k_t w + I R + L dI/dt [V] (MR 8.103)."""
        return self.torque_constant * speed + current * self.resistance + self.inductance * current_rate  # MR 8.103

    def current_rate(self, current: Scalar, speed: Scalar, voltage: Scalar) -> Scalar:
        """dI/dt = (V − k_t w − I R)/L [A/s] (MR 8.103): the state equation of the current."""
        if is_constant(self.inductance) and self.inductance == 0:
            raise ArgumentError("Motor: inductance is 0 H, so the current is not a state: use quasi_static_current")
        return (voltage - self.torque_constant * speed - current * self.resistance) / self.inductance  # MR 8.103

    def quasi_static_current(self, voltage: Scalar, speed: Scalar) -> Scalar:
        """I = (V − k_t w)/R [A]: without L dI/dt."""
        return (voltage - self.torque_constant * speed) / self.resistance

    def quasi_static_torque(self, voltage: Scalar, speed: Scalar) -> Scalar:
        """τ = k_t (V − k_t w)/R [N·m]: without L dI/dt."""
        return self.torque(self.quasi_static_current(voltage, speed))

    def speed(self, torque: Scalar, voltage: Scalar) -> Scalar:
        """w = V/k_t − (R/k_t²) τ [rad/s]: the speed–torque line of a voltage."""
        return voltage / self.torque_constant - self.resistance / self.torque_constant**2 * torque

    def shaft_torque(self, current: Scalar, speed: Scalar) -> Scalar:
        """k_t I − friction(w) [N·m]: output torque of the motor at constant speed."""
        return self.torque(current) - self.friction_torque(speed)

    def friction_torque(self, speed: Scalar) -> Scalar:
        """Friction torque of the motor [N·m]; 0 without a law."""
        law: Any = self.friction
        force: Scalar = 0 if law is None else getattr(law, "force", law)(speed)
        return force[0] if isinstance(force, list) else force  # a recorded function has a list of results

    def _check_friction(self) -> None:
        kind = type(self.friction).__name__
        if self.friction is not None and not callable(getattr(self.friction, "force", self.friction)):
            raise ArgumentError(f"Motor: friction must be a friction law or a function of the speed, not {kind}")
        if getattr(self.friction, "states", 0):
            raise ArgumentError(f"Motor: friction {kind} has an internal state; give the joint this law, not the motor")

    # -- power -----------------------------------------------------------------------------------------------

    def heat(self, current: Scalar) -> Scalar:
        """P_heat = I² R [W]."""
        return current**2 * self.resistance

    def mechanical_power(self, current: Scalar, speed: Scalar) -> Scalar:
        """P_mech = τ w at the shaft [W]; negative where the motor brakes."""
        return self.shaft_torque(current, speed) * speed

    def electrical_power(self, current: Scalar, speed: Scalar, *, current_rate: Scalar = 0) -> Scalar:
        """P_elec = I V = τ w + I² R + L I dI/dt + friction [W]; negative where the motor generates."""
        return current * self.voltage(current, speed, current_rate=current_rate)

    def efficiency(self, current: Scalar, speed: Scalar) -> Scalar:
        """Power out over power in, quasi-static: motoring or generating; 0 where power only goes in.

        >>> Motor(torque_constant=0.05, resistance=0.5).efficiency(10, 300)  # 150 W of 200 W
        0.75
        """
        mechanical, electrical = self.mechanical_power(current, speed), self.electrical_power(current, speed)
        given = maximum(mechanical, 0) + maximum(-electrical, 0)
        taken = maximum(electrical, 0) + maximum(-mechanical, 0)
        return where(taken > 0, given / where(taken > 0, taken, 1), 0)

    # -- temperature -----------------------------------------------------------------------------------------

    def temperature_rate(self, temperature: Scalar, current: Scalar) -> Scalar:
        """dT/dt [K/s] of the winding at T [°C]: heated by I² R(T), cooled through its thermal resistance."""
        thermal = self._thermal("its temperature")
        return thermal.rate(temperature, self.heat(current) * thermal.growth(temperature))

    def at_temperature(self, temperature: Scalar) -> Motor:
        """The same motor with the resistance that its winding has at this temperature [°C], held there."""
        R = self.resistance * self._thermal("its temperature").growth(temperature)
        return replace(self, resistance=R, continuous_current=self._continuous_current, thermal=None)

    def _thermal(self, purpose: str) -> Thermal:
        if self.thermal is None:
            raise ArgumentError(f"this Motor has no thermal model, so {purpose} is not known; give thermal=Thermal(...)")
        return self.thermal

    # -- commands --------------------------------------------------------------------------------------------

    def saturated_current(self, torque: Scalar, speed: Scalar | None = None) -> Scalar:
        """The current [A] of an amplifier for a torque command: τ/k_t within ±I_max and, at a speed, the limits by ±V_max.

        Where the two disagree (driven beyond the speed at which V_max still holds −I_max) the voltage wins, as in the motor.
        """
        current = clip(self.current(torque), -self.max_current, self.max_current)
        if speed is None or is_unlimited(self.max_voltage):
            return current
        V = self.max_voltage
        return clip(current, self.quasi_static_current(-V, speed), self.quasi_static_current(V, speed))

    def saturated_torque(self, torque: Scalar, speed: Scalar | None = None) -> Scalar:
        """The torque [N·m] for a torque command: k_t times :meth:`saturated_current`."""
        return self.torque(self.saturated_current(torque, speed))

    # -- the speed–torque curve ------------------------------------------------------------------------------

    @property
    def no_load_speed(self) -> Scalar:
        """w_0 = V_max/k_t [rad/s]: no-load speed, where the back-emf equals the voltage."""
        return self.max_voltage / self.torque_constant

    @property
    def stall_torque(self) -> Scalar:
        """τ_stall = k_t V_max/R [N·m]: blocked, there is no back-emf.  ``peak_torque`` may be less."""
        return self.torque_constant * self.max_voltage / self.resistance

    @property
    def peak_torque(self) -> Scalar:
        """min(k_t I_max, τ_stall) [N·m]: peak torque at standstill."""
        return self._at_most_stall(self.max_current)

    @property
    def continuous_torque(self) -> Scalar:
        """τ_cont = k_t I_cont [N·m], or τ_stall if that is less: continuous torque at standstill."""
        return self._at_most_stall(self._continuous_current)

    def curve_torque(self, speed: Scalar) -> Scalar:
        """The largest torque [N·m] at a speed: min(k_t I_max, k_t (V_max − k_t w)/R), the speed–torque curve of Fig. 8.12."""
        return self.torque(clip(self.quasi_static_current(self.max_voltage, speed), -math.inf, self.max_current))

    @property
    def rated(self) -> OperatingPoint:
        """(w_cont, τ_cont, P_rated = τ_cont w_cont): where the curve leaves the continuous region."""
        self._limit()
        return self._curve_point(self.continuous_torque)

    @property
    def max_power(self) -> OperatingPoint:
        """The operating point of greatest τ w: w_0/2, τ_stall/2, V²/4R, unless the limits of current or speed come first."""
        self._limit()
        w = self.no_load_speed / 2
        return self._curve_point(self.curve_torque(w if is_unlimited(self.max_speed) else minimum(w, self.max_speed)))

    def _curve_point(self, torque: Scalar) -> OperatingPoint:
        w = clip(self.speed(torque, self.max_voltage), -math.inf, self.max_speed)
        return OperatingPoint(w, torque, torque * w)

    def _at_most_stall(self, current: Scalar) -> Scalar:
        if is_unlimited(current):
            return self.stall_torque
        return clip(self.torque(current), -math.inf, self.stall_torque)

    @property
    def _continuous_current(self) -> Scalar:
        if self.continuous_current is not None:
            return self.continuous_current
        if self.thermal is None:
            return self.max_current
        return clip(self.thermal.continuous_current(self.resistance), -math.inf, self.max_current)

    def _limit(self) -> None:
        if is_unlimited(self.max_voltage):
            raise ArgumentError("this Motor has no max_voltage, so it has no speed–torque curve; give max_voltage")

    # -- regions ---------------------------------------------------------------------------------------------

    @property
    def region(self) -> Region:
        """Peak operating region (MR Fig. 8.12, light gray): |I| ≤ I_max, |V| ≤ V_max, |w| ≤ w_max."""
        return self._region(self.max_current)

    @property
    def continuous_region(self) -> Region:
        """Continuous operating region (MR Fig. 8.12, dark gray): as :attr:`region`, with |τ| ≤ τ_cont."""
        return self._region(self._continuous_current)

    def _region(self, current: Scalar) -> Region:
        k, R = self.torque_constant, self.resistance
        sides = (
            OperatingLimit("current", 0, 1 / k, current, "A"),
            OperatingLimit("voltage", k, R / k, self.max_voltage, "V"),
            OperatingLimit("speed", 1, 0, self.max_speed, "rad/s"),
        )
        return Region(tuple(side for side in sides if not is_unlimited(side.limit)))
