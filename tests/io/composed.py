"""A robot with a term of every class that a file can contain, and with numbers whose last bits show."""

from __future__ import annotations

import math

import torsor as ts
from torsor import actuators, constraints
from torsor.actuators import friction
from torsor.robot.builder import Builder
from torsor.scalar import cos, maximum, sin, where
from torsor.terms import FixedTendon, Spring, SpringBetween

#: numbers with a long, a subnormal and an exact value
THIRD, TINY = 1 / 3, 5e-310


def composed() -> ts.Robot:
    """Five joints and a beam; all names are used by some term."""
    b = Builder("composed").link("base", mass=1.0, inertia=(1, 1, 1))
    for k in range(1, 6):
        b.link(f"l{k}", mass=1.0 + k * 0.1, com=(0.1, 0, 0), inertia=(0.1, 0.11, 0.12))
        b.joint(
            f"j{k}", "revolute", f"l{k - 1}" if k > 1 else "base", f"l{k}", xyz=(0.3, 0, 0), lower=-3, upper=3, damping=THIRD
        )
    robot = b.frame("tip", "l5", xyz=(0.2, 0.1, 0)).frame("eye", "l3", rpy=(0.1, 0.2, 0.3)).build()
    motor = actuators.Motor(
        torque_constant=0.05, resistance=0.5, inductance=1e-3, max_voltage=24, rotor_inertia=1e-5,
        friction=lambda w: 1e-3 * w, thermal=actuators.Thermal(resistance=3.0, capacitance=20.0, max_temperature=120.0),
    )  # fmt: skip
    law = friction.LoadDependent(friction.Directional(friction.Coulomb(THIRD), friction.Viscous(0.1)), 0.2).smooth(0.05)
    plane = constraints.point_on_plane("tip", (0, 0, 1), through=(0, 0, THIRD), name="floor")
    return (
        robot.with_rotors({"j2": {"mass": 0.1, "inertia": (1e-4, 1e-4, 2e-4), "ratio": 30.0}})
        .with_gravity((0, THIRD, -1.62))
        .with_friction({"j1": friction.LuGre(friction.Stribeck(3.0, 2.0, 0.5, 0.1), 1e4, 3.0), "j3": law})
        .with_damping({"j4": TINY})
        .with_springs({
            "j3": Spring(THIRD, 2.0, rest=(0.1, 0.3)), "j2": ts.flexible.SeriesSpring(900.0, rotor_inertia=0.2),
            "j4": lambda q, rate: -maximum(q, 0.0) * 3.0 - where(q > 1.0, rate, 0.0), ("tip", "eye", "world"): Spring(7.0),
        })
        .with_beams({"l4": ts.flexible.beam(0.3, mass_per_length=THIRD, EI_z=50.0, modes=(2, 0, 0))})
        .with_actuators({"j1": [actuators.Latency(0.002), actuators.PositionServo(100, 5), actuators.Limit(-50, math.inf)]})
        .with_drives({"j5": actuators.Drive(motor, actuators.Gearbox(10, 0.8))}, command="voltage")
        .with_stops({"j5": 0.5})
        .with_forces({
            "tip": [ts.forces.Drag(linear=THIRD), ts.forces.field(lambda p, v, t: [sin(t), -v[0], p[1] / 3])],
            "l3": ts.forces.GravityCompensation(0.5),
        })
        .with_terms(FixedTendon({"j1": 0.1, "j5": -0.2}, Spring(50.0)), SpringBetween("eye", "base", Spring(1.0), name="rope"))
        .with_base_motion(lambda t: [0.1 * sin(3 * t), 0, THIRD * cos(t)])
        .with_constraints(
            constraints.prescribed(plane, lambda t: [0.1 * sin(3 * t)]), constraints.distance("tip", "base", 2.0),
            constraints.coupling("j5", "j1", polynomial=(0, 1, THIRD)), constraints.rolling("tip", 0.1, axis=(0, 0, 1)),
            constraints.joint("spherical", "l5", "base", name="ball"), stabilization=(10.0, 25.0),
        )
        .with_contacts(
            [ts.contacts.capsule("l5", (0, 0, 0), (THIRD, 0, 0), 0.02), ts.contacts.point("eye", at=(0, THIRD, 0))],
            [
                ts.contacts.plane((0, THIRD, 1), (0, 0, -3)), ts.contacts.box((1, 2, THIRD), (0, 0, -4), (0.1, 0.2, 0.3)),
                ts.contacts.height(lambda x, y: THIRD * sin(x) - 5 + y * y), ts.contacts.ball(0.1, frame="base"),
                ts.contacts.grid([[0, THIRD], [TINY, 1], [2, 3]], (0.5, THIRD), at=(0, 0, -6), smooth=False),
            ],
            friction=THIRD, restitution=0.5,
        )
        .with_actuated(["j1", "j5"])
        .with_configuration("home", {"j1": THIRD})
    )  # fmt: skip
