"""Motor sizing: a trajectory compared with the speed–torque curve, the continuous torque and the temperature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.model.actuators.drive import Drive
from torsor.model.actuators.parameters import require

if TYPE_CHECKING:
    from torsor.robot import Robot


@dataclass(frozen=True, eq=False)
class SizingReport:
    """Load of a drive's motor along a trajectory.  Speeds, torques and currents are the motor's, before the gear.

    Energies in J over the trajectory: ``work`` done at the joint, ``heat`` in the winding, ``used`` taken from
    the supply and ``regenerated`` returned to it, to be counted only if the supply accepts it.
    """

    name: str
    drive: Drive
    times: np.ndarray
    speed: np.ndarray
    torque: np.ndarray
    work: float
    gear_loss: float

    @property
    def current(self) -> np.ndarray:
        """I = τ/k_t [A]."""
        return np.asarray(self.drive.motor.current(self.torque))

    @property
    def voltage(self) -> np.ndarray:
        """k_t w + I R [V], quasi-static."""
        return np.asarray(self.drive.motor.voltage(self.current, self.speed))

    @property
    def power(self) -> np.ndarray:
        """I V [W] from the supply, quasi-static."""
        return np.asarray(self.drive.motor.electrical_power(self.current, self.speed))

    @property
    def peak_torque(self) -> float:
        """max |τ| [N·m]."""
        return float(np.abs(self.torque).max())

    @property
    def rms_torque(self) -> float:
        """√(1/T ∫ τ² dt) [N·m]: the constant torque that heats the winding as much."""
        return float(np.sqrt(self._integral(self.torque**2) / self.times[-1]))

    @property
    def peak_speed(self) -> float:
        """max |w| [rad/s]."""
        return float(np.abs(self.speed).max())

    @property
    def rms_speed(self) -> float:
        """√(1/T ∫ w² dt) [rad/s]."""
        return float(np.sqrt(self._integral(self.speed**2) / self.times[-1]))

    @property
    def energy_used(self) -> float:
        """∫ max(P, 0) dt [J]: taken from the supply."""
        return self._integral(np.maximum(self.power, 0))

    @property
    def energy_regenerated(self) -> float:
        """∫ max(−P, 0) dt [J]: given back to it."""
        return self._integral(np.maximum(-self.power, 0))

    @property
    def heat(self) -> float:
        """∫ I² R dt [J]."""
        return self._integral(np.asarray(self.drive.motor.heat(self.current)))

    @property
    def temperature(self) -> float | None:
        """Steady mean temperature of the winding if the motion is repeated [°C]; None without a thermal model."""
        motor = self.drive.motor
        if motor.thermal is None:
            return None
        return float(motor.thermal.steady_temperature_of(motor.current(self.rms_torque), motor.resistance))

    @property
    def usages(self) -> dict[str, float]:
        """The fraction of each limit that is used at its worst moment; of the continuous torque, by the RMS torque.

        Limits that the motor does not have are omitted.
        """
        motor = self.drive.motor
        found = {name: float(np.asarray(used).max()) for name, used in motor.region.usages(self.speed, self.torque).items()}
        continuous = float(motor.continuous_torque)
        if np.isfinite(continuous):
            found["continuous torque"] = self.rms_torque / continuous
        return found

    @property
    def margins(self) -> dict[str, float]:
        """1 − usage for each limit, negative where it is exceeded."""
        return {name: 1 - used for name, used in self.usages.items()}

    @property
    def worst(self) -> int:
        """The sample that is deepest in the region's corner, or farthest outside: ``times[worst]`` is when."""
        used = np.asarray(self.drive.motor.region.usage(self.speed, self.torque))
        return int(np.argmax(np.broadcast_to(used, self.speed.shape)))

    @property
    def fits(self) -> bool:
        """Whether no limit is passed (to a part in 10⁹)."""
        return all(used <= 1 + 1e-9 for used in self.usages.values())

    @property
    def verdict(self) -> str:
        """One sentence: whether it fits, by how much, and where it is tightest."""
        if not self.usages:
            return "no limits: the motor has no max_voltage, max_current, max_speed or continuous current"
        k, over = self.worst, {name: used for name, used in self.usages.items() if used > 1 + 1e-9}
        shown = over or dict([max(self.usages.items(), key=lambda item: item[1])])
        limits = ", ".join(f"{name} at {used:.0%}" for name, used in shown.items())
        place = f"highest load at t = {self.times[k]:.3g} s ({self.speed[k]:.4g} rad/s, {self.torque[k]:.4g} N·m at the motor)"
        return f"{'too small' if over else 'fits'}: {limits} of its limit; {place}"

    def plot(self, *, ax: Any = None, **style: Any) -> Any:
        """The trajectory over the motor's regions, the RMS torque dashed; returns matplotlib's axes."""
        motor = self.drive.motor
        ax = motor.region.plot(ax=ax, color="0.88", label="peak")
        motor.continuous_region.plot(ax=ax, color="0.72", label="continuous")
        ax.plot(self.torque, self.speed, **{"color": "C0", "label": self.name or "trajectory", **style})
        ax.axvline(self.rms_torque, color="C3", linestyle="--", linewidth=1, label="RMS torque")
        ax.plot(self.torque[self.worst], self.speed[self.worst], "o", color="C3", label="highest load")
        return ax

    def table(self) -> str:
        """All numbers of the report as text."""
        return summary({self.name or "motor": self}) + f"\n{self.verdict}"

    def __str__(self) -> str:
        return self.table()

    def _integral(self, y: np.ndarray) -> float:
        return float(np.trapezoid(y, self.times))


def size_motor(
    drive: Drive, *, speeds: ArrayLike, torques: ArrayLike, dt: float, accelerations: ArrayLike | None = None, name: str = ""
) -> SizingReport:
    """Motor torque of a joint's motion: τ_m = (τ/G + I_rotor G θ̈)/η + friction(G w), sample by sample.

    ``speeds`` [rad/s] and ``torques`` [N·m] are the joint's, ``(T,)``, every ``dt`` seconds.  The rotor's share needs
    ``accelerations`` [rad/s²]; without them they are differences of the speeds.

    >>> from torsor.actuators import Gearbox, Motor
    >>> motor = Motor(torque_constant=0.05, resistance=0.5, max_voltage=24, max_current=20, continuous_current=6)
    >>> hoist = size_motor(Drive(motor, Gearbox(50, 0.8)), speeds=np.full(11, 5.0), torques=np.full(11, 10.0), dt=0.1)
    >>> print(hoist.verdict)
    fits: continuous torque at 83% of its limit; highest load at t = 0 s (250 rad/s, 0.25 N·m at the motor)
    """
    require("size_motor", "dt", dt, "s", above=0)
    w, tau = _samples("speeds", speeds), _samples("torques", torques)
    a = np.gradient(w, dt) if accelerations is None else _samples("accelerations", accelerations)
    for label, given in (("torques", tau), ("accelerations", a)):
        if given.shape != w.shape:
            raise ArgumentError(f"{label} has shape {given.shape}, expected that of speeds, {w.shape}")
    times = dt * np.arange(len(w))
    motor_speed, motor_torque = np.asarray(drive.motor_speed(w)), np.asarray(drive.motor_torque(tau, w, acceleration=a))
    geared = tau + drive.apparent_inertia * a  # the gear carries the rotor's share too (MR §8.9.2)
    work, loss = np.trapezoid(tau * w, times), np.trapezoid(np.asarray(drive.gearbox.loss(geared, w)), times)
    return SizingReport(name, drive, times, motor_speed, motor_torque, float(work), float(loss))


def size_motors(
    robot: Robot,
    drives: Mapping[str, Drive],
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    dt: float,
    wrenches: Mapping[str, Any] | None = None,
    expressed_in: str = "body",
) -> dict[str, SizingReport]:
    """A :func:`size_motor` of each named joint along a trajectory ``(T, n)``, with torques from ``robot.inverse_dynamics``.

    Friction laws of the robot's joints count in these torques; the friction of a motor is added to them.

    The rotors' inertias come from the drives: a joint that has an armature or a rotor in the robot is an error.  Give such a
    joint a drive whose motor and gearbox have no inertia.
    """
    turning = {rotor.joint for rotor in robot.description.rotors}
    for joint, drive in drives.items():
        view = robot.joint(joint)
        if view.mimic is not None or len(view.damping) != 1:
            kind = "a mimic" if view.mimic else view.type
            raise ArgumentError(f"joint {joint!r} is {kind}; a drive needs a joint with one degree of freedom")
        if (any(view.armature) or joint in turning) and drive.apparent_inertia != 0:
            what = "a rotor" if joint in turning else "armature"
            raise ArgumentError(f"joint {joint!r} has {what} in the robot and rotor inertia in its drive: omit one of them")
    tau = robot.inverse_dynamics(q, v, a, wrenches, expressed_in=expressed_in)
    if tau.ndim != 2:
        raise ArgumentError(f"q, v, a must be one trajectory, (T, n); joint forces have shape {tau.shape}")
    v, a = (np.broadcast_to(np.asarray(x, float), tau.shape) for x in (v, a))
    columns = {joint: robot.joint(joint).v_slice.start for joint in drives}
    return {
        joint: size_motor(drives[joint], speeds=v[:, k], torques=tau[:, k], dt=dt, accelerations=a[:, k], name=joint)
        for joint, k in columns.items()
    }


def summary(studies: Mapping[str, SizingReport]) -> str:
    """Reports side by side, as text: torques and speeds of the motors, the fraction of each limit that is used, energies."""
    from torsor.support.text import columns

    head = ["", "peak N·m", "RMS N·m", "peak rad/s", "current", "voltage", "speed", "continuous", "used J", "back J", "fits"]
    rows = []
    for name, s in studies.items():
        used = s.usages
        shares = [f"{used[x]:.0%}" if x in used else "–" for x in ("current", "voltage", "speed", "continuous torque")]
        sizes = [f"{x:.3g}" for x in (s.peak_torque, s.rms_torque, s.peak_speed)]
        rows.append([name, *sizes, *shares, f"{s.energy_used:.3g}", f"{s.energy_regenerated:.3g}", "yes" if s.fits else "NO"])
    return columns(head, rows)


def _samples(name: str, values: ArrayLike) -> np.ndarray:
    from torsor.support.user_arrays import as_array

    array = as_array(name, values, dtype=float)
    if array.ndim != 1 or len(array) < 2:
        raise ArgumentError(f"{name} has shape {array.shape}, expected (T,) with at least 2 samples")
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name} is not finite at sample {int(np.argmin(np.isfinite(array)))}")
    return array
