"""Drive: a motor and its gearbox in joint coordinates (MR §8.9.1–8.9.2)."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.model.actuators.gearbox import Gearbox
from torsor.model.actuators.motor import Motor
from torsor.model.actuators.region import Region
from torsor.scalar import Scalar


@dataclass(frozen=True)
class Drive:
    """τ + G² I_rotor θ̈ = ηG (τ_m − friction): a motor behind a gearbox.

    ``speed``, ``acceleration`` and ``torque`` are the joint's [rad/s, rad/s², N·m]; the motor's are called so.  ``torque`` is
    the output torque of the gear, which is the result of ``robot.inverse_dynamics`` for a robot without armature.
    As in MR §8.9.2, I = τ_motor/(η k_t) with τ_motor = τ/G + I_rotor G θ̈: the efficiency counts for the rotor too, so the
    rotor is an armature of G² I_rotor at the joint.

    >>> drive = Drive(Motor(torque_constant=0.05, resistance=0.5, rotor_inertia=1e-5), Gearbox(100, 0.8))
    >>> drive.motor_torque(40.0, speed=1.0, acceleration=40.0)  # (40/100 for the load + 1e-5·100·40 for the rotor)/0.8
    0.55
    >>> round(drive.apparent_inertia, 12)
    0.1
    """

    motor: Motor
    gearbox: Gearbox = Gearbox(1)

    @property
    def apparent_inertia(self) -> Scalar:
        """G² (I_rotor + I_gears) [kg·m²]: reflected inertia at the joint (MR §8.9.2)."""
        return self.gearbox.ratio**2 * (self.motor.rotor_inertia + self.gearbox.inertia)

    def inertia(self, load: Scalar) -> Scalar:
        """I_link + G² I_rotor [kg·m²]: load and drive together, about the joint."""
        return load + self.apparent_inertia

    def motor_speed(self, speed: Scalar) -> Scalar:
        """w_m = G w [rad/s]."""
        return self.gearbox.input_speed(speed)

    def motor_torque(self, torque: Scalar, speed: Scalar, *, acceleration: Scalar = 0) -> Scalar:
        """τ_m = (τ/G + I_rotor G θ̈)/η + friction(G w) [N·m]: motor torque, k_t I (MR §8.9.2; 8.112 for one axis).

        Where load and rotor drive, 1/η is η_b; see :class:`Gearbox`.
        """
        tau = self.gearbox.input_torque(torque + self.apparent_inertia * acceleration, speed)
        return tau + self.motor.friction_torque(self.motor_speed(speed))

    def torque(self, motor_torque: Scalar, speed: Scalar, *, acceleration: Scalar = 0) -> Scalar:
        """τ = ηG (τ_m − friction(G w)) − G² I_rotor θ̈ [N·m]: the inverse of :meth:`motor_torque`."""
        tau = self.gearbox.output_torque(motor_torque - self.motor.friction_torque(self.motor_speed(speed)), speed)
        return tau - self.apparent_inertia * acceleration

    def current(self, torque: Scalar, speed: Scalar, *, acceleration: Scalar = 0) -> Scalar:
        """I = (τ/G + I_rotor G θ̈)/(η k_t) [A], plus that for the motor's friction (MR §8.9.2).

        >>> drive = Drive(Motor(torque_constant=0.05, resistance=0.5, rotor_inertia=1e-5), Gearbox(100, 0.8))
        >>> round(drive.current(40.0, speed=1.0, acceleration=300.0), 9)  # (0.4 + 0.3)/(0.8·0.05)
        17.5
        """
        return self.motor.current(self.motor_torque(torque, speed, acceleration=acceleration))

    def saturated_torque(self, torque: Scalar, speed: Scalar, *, acceleration: Scalar = 0) -> Scalar:
        """The joint torque [N·m] for a joint torque command, within the motor's limits of current and voltage."""
        wanted = self.motor_torque(torque, speed, acceleration=acceleration)
        return self.torque(self.motor.saturated_torque(wanted, self.motor_speed(speed)), speed, acceleration=acceleration)

    @property
    def region(self) -> Region:
        """Peak operating region of the joint (MR Fig. 8.13), without the torques of rotor and motor friction."""
        return self.motor.region.through(self.gearbox)

    @property
    def continuous_region(self) -> Region:
        """Continuous operating region of the joint (MR Figs. 8.12, 8.13)."""
        return self.motor.continuous_region.through(self.gearbox)

    @property
    def no_load_speed(self) -> Scalar:
        """w_0/G [rad/s]."""
        return abs(self.gearbox.output_speed(self.motor.no_load_speed))

    @property
    def peak_torque(self) -> Scalar:
        """ηG min(k_t I_max, τ_stall) [N·m]: peak joint torque at standstill."""
        return self._driving(self.motor.peak_torque)

    @property
    def continuous_torque(self) -> Scalar:
        """ηG τ_cont [N·m]: continuous joint torque at standstill."""
        return self._driving(self.motor.continuous_torque)

    def _driving(self, torque: Scalar) -> Scalar:
        return abs(self.gearbox.ratio) * self.gearbox.efficiency * torque
