"""Drives of joints as terms: the limits of a motor, its current and the temperature of its winding (MR §8.9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from torsor.compile.recorded_function import RecordedFunction
from torsor.errors import ArgumentError, require_known
from torsor.model.actuators.drive import Drive
from torsor.model.actuators.parameters import clip, is_unlimited
from torsor.model.terms.signal_path import body_of, check_place
from torsor.model.terms.term import AtJoint, States
from torsor.scalar import Scalar, Scalars, exp, maximum, minimum, where

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.actuators import Motor
    from torsor.model.description import Description
    from torsor.model.model import Model

#: meanings of a command at a joint with a drive
COMMANDS = ("torque", "voltage")
#: |y| below which (1 − e⁻ʸ)/y is summed as a series, to rounding
SMALL = 1e-3


@dataclass(frozen=True)
class JointDrive(AtJoint):
    """A drive at a joint: its command is a torque, clipped to the motor's limits, or a voltage; G² I_rotor is an armature.

    x are the current I, under a voltage and with inductance, and the temperature T of motors with ``thermal``.
    L dI/dt = V − k_t w − R(T) I is solved exactly from the beginning of the step, for V and w that change linearly in it; with
    L = 0 it has no state.  T advances with the mean of I², and R(T) within the step is that of T under the current of its
    beginning.  So currents with L, and temperatures, are of order 2 in steps of any integrator; with L = 0 and without
    ``thermal`` each integrator keeps its order.  Behind a spring the drive is at its motor.
    """

    joint: str
    drive: Drive
    command: str = "torque"
    kind = "drive"

    def __post_init__(self) -> None:
        motor = self.drive.motor
        if isfunction(motor.friction):
            recorded: Any = RecordedFunction.of(f"the friction of the motor of joint {self.joint!r}", motor.friction, outputs=1)
            object.__setattr__(self, "drive", replace(self.drive, motor=replace(motor, friction=recorded)))

    def describe(self, model: Model) -> str:
        return f"motor and gearbox 1:{self.drive.gearbox.ratio:g}, commanded by {self.command}"

    def check(self, model: Model) -> None:
        check_place(model, self.joint, "a drive")

    def coordinates(self, description: Description) -> Description:
        """G² (I_rotor + I_gears) as armature (MR §8.9.2), unless the joint has one, or a rotor: none is counted twice."""
        names, inertia = {j.name for j in description.joints}, self.drive.apparent_inertia
        if not inertia or any(rotor.joint == self.joint for rotor in description.rotors):
            return description
        at = f"{self.joint}/motor" if f"{self.joint}/motor" in names else self.joint
        joints = (
            replace(j, armature=(inertia,)) if j.name == at and j.kind.nv == 1 and not any(j.armature) else j
            for j in description.joints
        )
        return replace(description, joints=tuple(joints))

    def states(self, model: Model) -> States:
        thermal = self.drive.motor.thermal
        current = ((f"{self.joint} current", 0.0),) if self.has_current else ()
        warm = () if thermal is None else ((f"{self.joint} temperature", float(thermal.ambient)),)
        return States(*zip(*current, *warm, strict=True)) if current or warm else States()

    @property
    def has_current(self) -> bool:
        """Whether the current is a state."""
        return self.command == "voltage" and bool(self.drive.motor.inductance)

    @property
    def is_second_order(self) -> bool:
        """Whether its states make the motion of order 2 in dt."""
        return self.command == "voltage" and bool(self.drive.motor.inductance or self.drive.motor.thermal)

    # -- parts of the equation -------------------------------------------------------------------------------

    def transmit(self, at: At, command: Scalars) -> Scalars:
        i = body_of(at.model, self.joint)
        row, w = at.model.v_start[i], at.vs[i][0]
        if self.command == "torque":
            force = self.drive.saturated_torque(command[row], w)
        else:
            force = self.drive.torque(self.drive.motor.torque(self._current(at, command)), w)
        return [*command[:row], force, *command[row + 1 :]]

    def follow(self, begin: At, now: At, h: Scalar) -> list[Scalar]:
        motor, drive, i = self.drive.motor, self.drive, body_of(now.model, self.joint)
        before, T = self._current(begin, begin.command_of(self)), self._temperature(begin)
        if self.has_current:
            w, mean = now.vs[i][0], now.mean_rates(begin, h)[i][0]
            start, end = (
                self._voltage(at, at.command_of(self)) - motor.back_emf(drive.motor_speed(speed))  # across R and L
                for at, speed in ((begin, 2 * mean - w), (now, w))
            )
            half = None if T is None else temperature_after(motor, T, before * before, h / 2)  # the mean of R
            I = current_after(before, start, end, self._resistance(half), motor.inductance, h)
            I = clip(I, -motor.max_current, motor.max_current)
        else:
            predicted = None if T is None else temperature_after(motor, T, before * before, h)
            I = self._instant_current(now, now.command_of(self), predicted)
        square = (before * before + before * I + I * I) / 3  # the mean of I², I changing linearly
        return [*((I,) if self.has_current else ()), *(() if T is None else (temperature_after(motor, T, square, h),))]

    def rate(self, at: At) -> list[Scalar]:
        motor, u = self.drive.motor, at.command_of(self)
        I, T, out = self._current(at, u), self._temperature(at), []
        if self.has_current:
            w = self.drive.motor_speed(at.vs[body_of(at.model, self.joint)][0])
            rate = (self._voltage(at, u) - motor.back_emf(w) - self._resistance(T) * I) / motor.inductance  # MR §8.9.1
            most = motor.max_current
            if not is_unlimited(most):  # the amplifier lets the current grow no further
                rate = where(most <= I, minimum(rate, 0), where(-most >= I, maximum(rate, 0), rate))
            out.append(rate)
        return out if T is None else [*out, motor.temperature_rate(T, I)]

    def readings(self, at: At) -> Mapping[str, Scalar]:
        """I, V after all limits, and T."""
        motor, T, u = self.drive.motor, self._temperature(at), at.command_of(self)
        if self.command == "torque" and T is None:
            return {}
        I, w = self._current(at, u), at.vs[body_of(at.model, self.joint)][0]
        V = motor.back_emf(self.drive.motor_speed(w)) + self._resistance(T) * I  # the amplifier applies it for this current
        if self.command == "voltage":
            V = self._voltage(at, u) if is_unlimited(motor.max_current) else where(
                abs(I) >= motor.max_current, V, self._voltage(at, u)
            )  # fmt: skip
        found = {"current": I, "voltage": V} | ({} if T is None else {"temperature": T})
        return {f"{self.joint} {name}": x for name, x in found.items()}

    # -- the motor -------------------------------------------------------------------------------------------

    def _voltage(self, at: At, command: Scalars) -> Scalar:
        most = self.drive.motor.max_voltage
        return clip(command[at.model.v_start[body_of(at.model, self.joint)]], -most, most)

    def _current(self, at: At, command: Scalars) -> Scalar:
        x = at.x_of(self)
        return x[0] if self.has_current and x else self._instant_current(at, command, self._temperature(at))

    def _instant_current(self, at: At, command: Scalars, T: Scalar | None) -> Scalar:
        """I of a torque within the limits, or of a voltage without L dI/dt."""
        i, drive = body_of(at.model, self.joint), self.drive
        w, motor = at.vs[i][0], drive.motor
        if self.command == "torque":
            return drive.current(drive.saturated_torque(command[at.model.v_start[i]], w), w)
        I = (self._voltage(at, command) - motor.back_emf(drive.motor_speed(w))) / self._resistance(T)
        return clip(I, -motor.max_current, motor.max_current)

    def _temperature(self, at: At) -> Scalar | None:
        thermal = self.drive.motor.thermal
        return None if thermal is None else (*at.x_of(self)[-1:], thermal.ambient)[0]

    def _resistance(self, T: Scalar | None) -> Scalar:
        motor = self.drive.motor
        return motor.resistance if T is None or motor.thermal is None else motor.resistance * motor.thermal.growth(T)


def joint_drives(drives: Any, command: str) -> list[JointDrive]:
    """The terms of ``{joint: Drive}``."""
    require_known("command", command, COMMANDS)
    if not isinstance(drives, Mapping) or not all(isinstance(drive, Drive) for drive in drives.values()):
        raise ArgumentError("drives must be a dict from joints to drives, {joint: ts.actuators.Drive(motor, gearbox)}")
    return [JointDrive(joint, drive, command) for joint, drive in drives.items()]


def current_after(I: Scalar, start: Scalar, end: Scalar, R: Scalar, L: Scalar, h: Scalar) -> Scalar:
    """I after h of L dI/dt = u − R I, u linear from ``start`` to ``end`` [V]."""
    lag = (end - start) / where(h > 0, h, 1) * L / R  # lag of the current behind a ramp
    return (end - lag) / R + (I - (start - lag) / R) * exp(-R * h / L)


def temperature_after(motor: Motor, T: Scalar, square: Scalar, h: Scalar) -> Scalar:
    """T after h at a constant I², R(T) growing with it: a linear equation, solved exactly."""
    thermal = motor.thermal
    assert thermal is not None
    heat = square * motor.resistance
    y = (1 / thermal.resistance - heat * thermal.coefficient) / thermal.capacitance * h  # −∂(dT/dt)/∂T h
    near = abs(y) < SMALL
    series = 1 - y / 2 * (1 - y / 3 * (1 - y / 4 * (1 - y / 5)))
    time = h * where(near, series, (1 - exp(-y)) / where(near, 1, y))
    return T + thermal.rate(T, heat * thermal.growth(T)) * time
