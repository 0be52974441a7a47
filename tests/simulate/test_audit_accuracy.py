"""The audit is within ten times of the true error of the energy, for motions with closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import torsor as ts
from torsor.actuators import Drive, Motor, PositionServo
from torsor.flexible import SeriesSpring
from torsor.model.friction import Coulomb, Viscous
from torsor.simulate import SampledController

RK4, LOOSE, TIGHT = (
    {"integrator": "rk4"},
    {"integrator": ts.Adaptive("dop853", tolerance=1e-6)},
    {"integrator": ts.Adaptive("dop853", tolerance=1e-10)},
)
METHODS = {"rk4 at 1 ms": RK4, "dop853 at 1e-6": LOOSE, "dop853 at 1e-10": TIGHT}
#: ten times the rounding of the energies [J], relative to the largest of them and to the number of steps that are summed
ROUNDING = 10 * np.finfo(float).eps

MASS = 2.0
RAIL = (
    ts.Builder("rail").link("ground").link("cart", mass=MASS)
    .joint("slide", "prismatic", "ground", "cart", axis=(1, 0, 0)).build()
)  # fmt: skip
LENGTH, G = 0.7, 9.81
PENDULUM = (
    ts.Builder("pendulum").link("ground").link("bob", mass=MASS, com=(0, 0, -LENGTH))
    .joint("pivot", "revolute", "ground", "bob", axis=(0, 1, 0)).build()
)  # fmt: skip


class Motion(NamedTuple):
    """A simulation and its exact energy E(t) [J]."""

    robot: ts.Robot
    state: tuple[float, float]
    duration: float
    energy: Callable[[np.ndarray], np.ndarray]
    options: dict[str, Any]


def viscous_rail(c=3.0, v=2.5) -> Motion:
    """v = v₀ exp(−c t/m)."""
    return Motion(
        RAIL.with_friction({"slide": Viscous(c)}), (0.0, v), 2.0, lambda t: MASS / 2 * v**2 * np.exp(-2 * c * t / MASS), {}
    )


def damped_rail(c=3.0, v=2.5) -> Motion:
    """The same with the damping of the model."""
    build = ts.Builder("rail").link("ground").link("cart", mass=MASS)
    robot = build.joint("slide", "prismatic", "ground", "cart", axis=(1, 0, 0), damping=c).build()
    return viscous_rail(c, v)._replace(robot=robot.with_damping(True))


def coulomb_rail(F=3.0, v=2.5) -> Motion:
    """v = v₀ − (F/m) t until it comes to rest, where it stays."""
    return Motion(
        RAIL.with_friction({"slide": Coulomb(F)}), (0.0, v), 2.0,
        lambda t: MASS / 2 * np.maximum(v - F / MASS * t, 0) ** 2, {},
    )  # fmt: skip


def spring(damping=0.0, rotor=0.5, K=200.0) -> Motion:
    """Cart and rotor move freely, with a spring between: their relative motion is a (damped) oscillation."""
    m = MASS * rotor / (MASS + rotor)  # reduced mass
    decay = damping / (2 * m)
    w = np.sqrt(K / m - decay**2)
    v0 = 1.5  # the cart moves, the rotor is at rest

    def energy(t):
        d = -v0 / w * np.exp(-decay * t) * np.sin(w * t)
        rate = -v0 * np.exp(-decay * t) * (np.cos(w * t) - decay / w * np.sin(w * t))
        together = MASS * v0 / (MASS + rotor)
        return (MASS + rotor) / 2 * together**2 + m / 2 * rate**2 + K / 2 * d**2

    elastic = RAIL.with_springs(SeriesSpring(K, damping, rotor_inertia=rotor))
    return Motion(elastic, ([0.0, 0.0], [v0, 0.0]), 1.0, energy, {})


def driven_pendulum(A=1.1, w=2.5) -> Motion:
    """θ = A sin w t, under the torque that it needs, a function of time."""

    def torque(t, q, v):
        return np.array([MASS * LENGTH**2 * -A * w * w * np.sin(w * t) + MASS * G * LENGTH * np.sin(A * np.sin(w * t))])

    def energy(t):
        angle, rate = A * np.sin(w * t), A * w * np.cos(w * t)
        return MASS * LENGTH**2 * rate**2 / 2 - MASS * G * LENGTH * np.cos(angle)

    return Motion(PENDULUM, (0.0, A * w), 2.0, energy, {"control": torque})


def sampled_pd(rate=50, kp=30.0, kd=4.0) -> Motion:
    """Between samples the force is constant and the motion a parabola."""

    def law(t, q, v):
        return kp * (0.4 - q) - kd * v

    times = np.arange(2 * rate) / rate
    states = [np.array([0.0, 0.3])]
    forces = []
    for _ in times:
        x, v = states[-1]
        forces.append(kp * (0.4 - x) - kd * v)
        a, h = forces[-1] / MASS, 1 / rate
        states.append(np.array([x + v * h + a * h * h / 2, v + a * h]))

    def energy(t):
        k = np.minimum((t * rate + 1e-9).astype(int), len(times) - 1)
        v = np.array(states)[k, 1] + np.array(forces)[k] / MASS * (t - times[k])
        return MASS / 2 * v**2

    return Motion(RAIL, (0.0, 0.3), 2.0, energy, {"control": SampledController(law, rate)})


def servo(kp=30.0, kd=4.0, target=0.4, v0=0.3) -> Motion:
    """m ẍ = kp (x_d − x) − kd ẋ by an actuator: a damped oscillation; the memory of actuators makes ticks at every step."""
    decay = kd / (2 * MASS)
    w = np.sqrt(kp / MASS - decay**2)

    def energy(t):
        e, rate = -target, v0  # x − x_d
        b = (rate + decay * e) / w
        v = np.exp(-decay * t) * ((b * w - decay * e) * np.cos(w * t) - (e * w + decay * b) * np.sin(w * t))
        return MASS / 2 * v**2

    return Motion(RAIL.with_actuators({"slide": PositionServo(kp, kd)}), (0.0, v0), 2.0, energy, {"control": [target]})


def sampled_motor(rate=50, k=2.0, R=0.5) -> Motion:
    """Voltages held between samples: v approaches V/k exponentially, and the force jumps at the samples and varies between."""

    def volts(t):
        return 12 * np.cos(4 * t)

    times = np.arange(2 * rate) / rate
    speeds, lag = [0.3], MASS * R / k**2
    for t in times:
        speeds.append(volts(t) / k + (speeds[-1] - volts(t) / k) * np.exp(-1 / (rate * lag)))

    def energy(t):
        n = np.minimum((t * rate + 1e-9).astype(int), len(times) - 1)
        steady = volts(times[n]) / k
        return MASS / 2 * (steady + (np.array(speeds)[n] - steady) * np.exp(-(t - times[n]) / lag)) ** 2

    drive = Drive(Motor(torque_constant=k, resistance=R))
    control = SampledController(lambda t, q, v: [volts(t)], rate)
    return Motion(RAIL.with_drives({"slide": drive}, "voltage"), (0.0, 0.3), 2.0, energy, {"control": control})


MOTIONS = {
    "viscous rail": viscous_rail(),
    "damped rail": damped_rail(),
    "Coulomb rail": coulomb_rail(),
    "spring": spring(),
    "damped spring": spring(1.2),
    "driven pendulum": driven_pendulum(),
    "sampled PD on a rail": sampled_pd(),
    "servo": servo(),
    "sampled motor": sampled_motor(),
}


def worst_errors(motion: Motion, **options):
    """The largest |E − E_exact| and the largest discrepancy of the audit, over the records, and the scale of rounding [J]."""
    run = motion.robot.simulate(*map(np.atleast_1d, motion.state), motion.duration, **motion.options, **options)
    exact = motion.energy(run.t)
    audit = run.audit()
    size = np.abs(exact).max() + np.abs(audit.work).max() + np.abs(audit.dissipated).max()
    return np.abs(run.energy - exact).max(), audit.worst, ROUNDING * size * np.sqrt(len(run.t))


@pytest.mark.parametrize("integrator", ["rk45", "radau", "lsoda"])
@pytest.mark.parametrize("name", ["viscous rail", "damped spring", "driven pendulum", "sampled motor"])
def test_audit_of_other_adaptive_integrators_does_not_exceed_the_true_error(name, integrator):
    true, audit, rounding = worst_errors(MOTIONS[name], integrator=integrator)
    assert audit <= 10 * true + rounding


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MOTIONS)
def test_audit_is_within_ten_times_of_the_true_error(name, method):
    true, audit, rounding = worst_errors(MOTIONS[name], **METHODS[method])
    assert audit <= 10 * true + rounding
    assert true <= 10 * audit + rounding
