"""Electrical models of motors in a simulation: currents, voltages and temperatures as internal states (MR 8.103)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from torsor.errors import ArgumentError, UnknownName
from torsor.model.actuators.parameters import clip

if TYPE_CHECKING:
    from torsor.model.actuators import Drive, Motor
    from torsor.robot import Robot
    from torsor.simulate.system import System

Array: TypeAlias = np.ndarray
Law = Callable[[float, Array, Array], Array]

#: meanings of a control at a joint with a drive
COMMANDS = ("torque", "voltage")
#: note of a run by rk4 with such states
SECOND_ORDER = "currents with inductance and winding temperatures are of order 2 in dt, and so is the motion under them"


def rows_of(robot: Robot, drives: Mapping[str, Drive]) -> list[tuple[int, Drive]]:
    """Drives by their rows of v."""
    rows = []
    for name, drive in drives.items():
        if name not in robot.joints:
            raise UnknownName("joint", name, robot.joints)
        joint = robot.joint(name)
        if joint.mimic is not None:
            raise ArgumentError(f"joint {name!r} is a mimic joint; give the drive to the joint it follows")
        if joint.v_slice.stop - joint.v_slice.start != 1:
            raise ArgumentError(f"joint {name!r} has several degrees of freedom; a drive moves one")
        rows.append((joint.v_slice.start, drive))
    return rows


def with_rotor_inertias(robot: Robot, drives: Mapping[str, Drive], springs: Any) -> tuple[Robot, list[str]]:
    """The robot with G² (I_rotor + I_gears) of its drives as armature (MR §8.9.2), and notes on those that are left out.

    With a spring, the armature is the inertia on the motor's side.  An inertia that the robot or the spring has already counts
    alone, so that no rotor is counted twice.
    """
    rows_of(robot, drives)
    turning, found, notes = {rotor.joint for rotor in robot.description.rotors}, {}, []
    for name, drive in drives.items():
        spring = springs.get(name) if isinstance(springs, Mapping) else springs
        if not drive.apparent_inertia:
            continue
        if name in turning or any(robot.joint(name).armature):
            owner = f"the robot has {'a rotor' if name in turning else 'an armature'} there"
        elif not isinstance(springs, Mapping) and hasattr(springs, "joints"):
            owner = "springs= has elastic joints that are made already"
        elif getattr(spring, "rotor_inertia", None) is not None:
            owner = "its spring has a rotor_inertia"
        else:
            found[name] = float(drive.apparent_inertia)
            continue
        notes.append(f"the rotor inertia of the drive of {name} is left out: {owner}")
    return robot.with_armature(found) if found else robot, notes


class Windings:
    """I, V and T (nd,) of the drives; the control's entries at their joints are voltages, or torques after limits.

    L dI/dt = V − k_t w − R(T) I is solved exactly from the beginning of the step, for V and w that change linearly in it;
    with L = 0 it has no internal state.  T, of motors with ``thermal``, advances once per step with the mean of I², and R(T)
    within the step is that of T under the current of its beginning.  So currents with L, and temperatures, are of order 2 in
    steps of any integrator; with L = 0 and without ``thermal`` each integrator keeps its order.
    """

    def __init__(self, system: System, drives: Mapping[str, Drive], command: Law, voltages: bool):
        self.rows, self.command, self.voltages = rows_of(system.robot, drives), command, voltages
        self.moved, self.motors = system.robot.kernels("difference").__call__, system.motor_coordinates
        self.names, motors = list(drives), [d.motor for _, d in self.rows]
        self.warm = [k for k, m in enumerate(motors) if m.thermal is not None]
        self.affects_motion = voltages and any(m.inductance or m.thermal for m in motors)
        self.I, self.V, self.t, self.q = np.zeros(len(motors)), np.zeros(len(motors)), 0.0, np.zeros(0)
        self.T = np.array([m.thermal.ambient if m.thermal else 0 for m in motors], float)

    def columns(self) -> dict[str, list[str]]:
        """The joints with these internal states."""
        warm = {"temperature": [self.names[k] for k in self.warm]} if self.warm else {}
        return {"current": self.names, "voltage": self.names, **warm}

    def begin(self, t: float, q: Array, v: Array, tau: Array) -> None:
        """A step begins here."""
        V = self._command_voltages(t, q, v)
        I = self._currents(t, q, v, V)
        self.T, self.I, self.V, self.t, self.q = self._temperatures(t, I), I, V, t, self.motors(q, v)[0]

    def states(self, t: float, q: Array, v: Array) -> list[Array]:
        """[I, V, T] at a time within the step, T of motors with ``thermal``; V is the motor voltage after all limits."""
        V = self._command_voltages(t, q, v)
        I, w = self._currents(t, q, v, V), self.motors(q, v)[1]
        for n, (k, drive) in enumerate(self.rows):
            m = drive.motor
            if not self.voltages or abs(I[n]) == m.max_current:  # the amplifier applies the voltage for this current
                V[n] = m.back_emf(drive.motor_speed(w[k])) + self._resistance(n, t) * I[n]
        return [I, V, self._temperatures(t, I)[self.warm]] if self.warm else [I, V]

    def law(self, t: float, q: Array, v: Array) -> Array:
        """The joint forces from the voltages."""
        tau = np.array(self.command(t, q, v))
        I, w = self._currents(t, q, v, self._command_voltages(t, q, v)), self.motors(q, v)[1]
        for i, (k, drive) in zip(I.tolist(), self.rows, strict=True):
            tau[k] = drive.torque(drive.motor.torque(i), float(w[k]))
        return tau

    def _command_voltages(self, t: float, q: Array, v: Array) -> Array:
        """Voltages within their limits; 0 if the control gives torques."""
        if not self.voltages:
            return np.zeros(len(self.rows))
        u = self.command(t, q, v)
        return np.array([clip(float(u[k]), -d.motor.max_voltage, d.motor.max_voltage) for k, d in self.rows])

    def _currents(self, t: float, q: Array, v: Array, V: Array) -> Array:
        at, w = self.motors(q, v)
        if not self.voltages:
            tau = self.command(t, q, v)
            return np.array([float(d.current(float(tau[k]), float(w[k]))) for k, d in self.rows])
        dt = t - self.t if len(self.q) else 0.0
        mean = self.moved(self.q, at) / dt if dt > 0 else w
        out = []
        for n, (k, drive) in enumerate(self.rows):
            m = drive.motor
            end = V[n] - m.back_emf(drive.motor_speed(w[k]))  # the voltage across R and L
            start = self.V[n] - m.back_emf(drive.motor_speed(2 * mean[k] - w[k]))
            R = self._resistance(n, self.t + dt / 2 if m.inductance else t)  # L dI/dt with the mean of R
            I = current_after(float(self.I[n]), float(start), float(end), R, float(m.inductance), dt)
            out.append(float(clip(I, -m.max_current, m.max_current)))
        return np.array(out)

    def _resistance(self, n: int, t: float) -> float:
        """R(T) at a time within the step, T under the current of its beginning."""
        m = self.rows[n][1].motor
        if not m.thermal:
            return float(m.resistance)
        T = temperature_after(m, float(self.T[n]), float(self.I[n]), t - self.t if len(self.q) else 0.0)
        return float(m.resistance * m.thermal.growth(T))

    def _temperatures(self, t: float, I: Array) -> Array:
        T, dt = self.T.copy(), t - self.t
        if dt > 0 and len(self.q):
            square = (self.I**2 + self.I * I + I**2) / 3  # the mean of I², I changing linearly
            for n in self.warm:
                T[n] = temperature_after(self.rows[n][1].motor, float(T[n]), math.sqrt(square[n]), dt)
        return T


def current_after(I: float, start: float, end: float, R: float, L: float, dt: float) -> float:
    """I after dt of L dI/dt = u − R I, u linear from ``start`` to ``end`` [V]; u/R if L = 0."""
    if not L:
        return end / R
    if dt <= 0:
        return I
    lag = (end - start) / dt * L / R  # lag of the current behind a ramp
    return (end - lag) / R + (I - (start - lag) / R) * math.exp(-R * dt / L)


def temperature_after(motor: Motor, T: float, I: float, dt: float) -> float:
    """T after dt at a constant current, R(T) growing with it: a linear equation, solved exactly."""
    thermal = motor.thermal
    assert thermal is not None
    decay = (1 / thermal.resistance - motor.heat(I) * thermal.coefficient) / thermal.capacitance  # −∂(dT/dt)/∂T [1/s]
    time = -math.expm1(-decay * dt) / decay if decay else dt
    return float(T + motor.temperature_rate(T, I) * time)
