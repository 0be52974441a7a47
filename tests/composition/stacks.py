"""Stacks: machines with several terms, as users compose them and as the equation composed by hand has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import torsor as ts
from tests.composition.equation import Embedding, Equation, Rows, State
from torsor.actuators import Drive, Gearbox, Motor, friction
from torsor.flexible import SeriesSpring


@dataclass
class Machine(Equation):
    """An equation with drives at ``driven`` rows of v, and armatures by row [kg·m²; kg for prismatic joints]."""

    driven: list[int] = field(default_factory=list)
    armatures: dict[int, float] = field(default_factory=dict)

    def drives(self) -> np.ndarray:
        return np.eye(self.nv)[:, self.driven]

    def mass(self, s: State) -> np.ndarray:
        M = super().mass(s)
        for row, inertia in self.armatures.items():
            M[row, row] += inertia
        return M


@dataclass
class Stack:
    """A robot, its equation by hand, a state on its constraints, and commands; ``tolerance`` of motions, relative."""

    robot: ts.Robot
    equation: Machine
    state: State
    command: np.ndarray
    tolerance: float = 1e-9


def _rub(e: Machine, rows: list[int], level: float, width: float) -> None:
    """−c tanh(v/w) at these rows."""
    at = np.isin(np.arange(e.nv), rows)
    e.forces.append(lambda s: -level * np.tanh(s.v / width) * at)


def _rows_of(tree: ts.Robot, joints: list[str]) -> list[int]:
    return [tree.joint(name).v_slice.start for name in joints]


def _difference(f: Callable[[str], Any], pairs: list[tuple[str, str]]) -> np.ndarray:
    """f(a) − f(b) of each pair of frames, one after the other."""
    return np.concatenate([f(a) - f(b) for a, b in pairs])


# -- an arm with harmonic drives -----------------------------------------------------------------------------------------

#: gear ratio; stiffness [N·m/rad] and damping [N·m·s/rad] of the flexsplines; the winding: k_t [N·m/A], R [Ω], L [H]
RATIO, STIFFNESS, LOSS, WINDING = 100.0, 4e3, 5.0, (0.1, 0.5, 1e-3)
#: smooth friction of the joints: level [N·m], width [rad/s]; bristles of the motors: stiffness, damping, level
BEARING, BRISTLES = (2.0, 0.1), (2e3, 10.0, 3.0)
#: rotors by joint: the link that carries one, its place there, its axis, and its mass [kg] and moments [kg·m²]
ROTORS: dict[str, dict[str, Any]] = {
    "yaw": {"link": "base", "xyz": (0, 0, 0), "axis": (0, 0, 1), "mass": 0.3, "inertia": (5e-5, 5e-5, 8e-5)},
    "elbow": {"link": "column", "xyz": (0, 0, 0.3), "axis": (0, 1, 0), "mass": 0.3, "inertia": (5e-5, 8e-5, 5e-5)},
}


def _arm() -> ts.Builder:
    """Two joints with axes across one another, so that a spinning rotor is turned by the joint before it."""
    return (
        ts.Builder("arm")
        .link("base")
        .link("column", mass=3.0, com=(0, 0.02, 0.1), inertia=(0.03, 0.03, 0.02))
        .link("fore", mass=2.0, com=(0.25, 0, 0.01), inertia=(0.004, 0.05, 0.05))
        .joint("yaw", "revolute", "base", "column", axis=(0, 0, 1))
        .joint("elbow", "revolute", "column", "fore", axis=(0, 1, 0), xyz=(0, 0, 0.3))
    )


def harmonic_drive_arm() -> Stack:
    """Springs, friction of joints, bristles of motors, rotors, and drives under voltages with currents as states.

    By hand, the rotors are links of a larger tree, which turn G times as fast as the motors after the gears.
    """
    arm, names = _arm().build(), ["yaw", "elbow"]
    k_t, R, L = WINDING
    k, d, level = BRISTLES
    laws: dict[str, Any] = {name: friction.Coulomb(BEARING[0]).smooth(BEARING[1]) for name in names}
    laws |= {f"{name}/motor": friction.LuGre(friction.Coulomb(level), stiffness=k, damping=d) for name in names}
    drive = Drive(Motor(torque_constant=k_t, resistance=R, inductance=L), Gearbox(RATIO))
    robot = (
        arm.with_rotors({name: rotor | {"ratio": RATIO} for name, rotor in ROTORS.items()})
        .with_springs(SeriesSpring(STIFFNESS, LOSS))
        .with_friction(laws)
        .with_drives(dict.fromkeys(names, drive), command="voltage")
    )

    build = _arm()
    for joint, r in ROTORS.items():
        build.link(f"{joint} rotor", mass=r["mass"], inertia=r["inertia"])
        build.joint(f"{joint} rotor", "continuous", r["link"], f"{joint} rotor", axis=r["axis"], xyz=r["xyz"])
    whole = build.build()
    order = [whole.joint(name).v_slice.start for name in ("yaw", "elbow", "yaw rotor", "elbow rotor")]

    def spread(x: np.ndarray) -> np.ndarray:
        out = np.zeros(4)
        out[order] = x * [1, 1, RATIO, RATIO]
        return out

    e = Machine(arm, modes=2, embedding=Embedding(whole, lambda q, t: spread(q), lambda q, v, t: spread(v)), driven=[2, 3])
    e.forces.append(lambda s: _spring(s))
    _rub(e, [0, 1], *BEARING)

    def rate(s: State) -> np.ndarray:
        return s.v[2:] - k * np.abs(s.v[2:]) * s.x["z"] / level

    e.rates["z"] = lambda s, u: rate(s)
    e.forces.append(lambda s: np.array([0, 0, *(-k * s.x["z"] - d * rate(s))]))
    e.rates["I"] = lambda s, u: (u[2:] - k_t * RATIO * s.v[2:] - R * s.x["I"]) / L
    e.transmissions.append(lambda s, u: np.array([0, 0, *(RATIO * k_t * s.x["I"])]))
    state = State(np.array([0.3, 0.2, 0.301, 0.202]), np.array([0.4, -0.3, 0.5, -0.2]), {"z": np.zeros(2), "I": np.zeros(2)})
    return Stack(
        robot, e, state, np.array([0.0, 0.0, 12.0, -8.0]), 1e-7
    )  # bristles and currents follow in closed form along a step


def _spring(s: State) -> np.ndarray:
    torque = STIFFNESS * (s.q[2:] - s.q[:2]) + LOSS * (s.v[2:] - s.v[:2])
    return np.concatenate([torque, -torque])


# -- a cobot ---------------------------------------------------------------------------------------------------------------


def cobot() -> Stack:
    """Panda with smooth friction at the joints of its arm and a drive at its elbow, which has too few volts for its command."""
    k_t, R, most, G, inertia = 0.1, 0.3, 24.0, 100.0, 1e-5
    drive = Drive(Motor(torque_constant=k_t, resistance=R, max_voltage=most, rotor_inertia=inertia), Gearbox(G))
    arm = ts.robots.panda()
    elbow = arm.joints[3]
    law = friction.Coulomb(0.8).smooth(0.2)
    robot = arm.with_friction(dict.fromkeys(arm.joints[:7], law)).with_drives({elbow: drive})
    (row,) = _rows_of(arm, [elbow])
    e = Machine(arm, driven=list(range(arm.nv)), armatures={row: G**2 * inertia})
    _rub(e, list(range(7)), 0.8, 0.2)

    def transmit(s: State, u: np.ndarray) -> np.ndarray:
        bounds = [G * k_t * (volts - k_t * G * s.v[row]) / R for volts in (-most, most)]
        return np.where(np.arange(e.nv) == row, np.clip(u, *bounds), u)

    e.transmissions.append(transmit)
    v = np.linspace(-0.5, 0.7, arm.nv)
    v[row] = 2.2  # near the speed at which the back-EMF takes all volts
    return Stack(robot, e, State(arm.configuration("ready"), v, {}), np.array([1.0, -20.0, 2.0, 60.0, 0.5, 2.0, 0.1, 3.0]))


# -- a standing quadruped ------------------------------------------------------------------------------------------------

LEGS = ("FL", "FR", "HL", "HR")


def standing_quadruped() -> Stack:
    """Feet held to the ground, smooth friction at the joints of the legs; drives at these joints."""
    dog = ts.robots.quadruped()
    joints = [name for name in dog.joints if name != "floating_base"]
    q = dog.neutral().copy()
    for name in joints:
        q[dog.joint(name).q_slice] = {"HAA": 0.0, "HFE": 0.8, "KFE": -1.6}[name[-3:]]
    feet = {f"{leg}_FOOT": dog.pose(q, f"{leg}_FOOT")[:3, 3] for leg in LEGS}
    robot = (
        dog.with_friction(dict.fromkeys(joints, friction.Coulomb(0.3).smooth(0.1)))
        .with_constraints(*(ts.constraints.point_at(foot, place) for foot, place in feet.items()))
        .with_actuated(joints)
    )
    e = Machine(dog, driven=_rows_of(dog, joints))
    _rub(e, e.driven, 0.3, 0.1)
    e.rows.append(
        Rows(
            lambda q, t: np.concatenate([e.pose(q, foot)[:3, 3] - place for foot, place in feet.items()]),
            lambda q, t: np.vstack([e.jacobian(q, foot)[3:] for foot in feet]),
            lambda t: np.zeros(12),
        )
    )
    s = e.project(State(q, np.array([0.1, 0.3, -0.2, 0.2, 0.1, 0.05, *[0.0] * 12]), {}))
    command = np.array([0.0] * 6 + [0.05, 0.1, 0.6] * 4)
    return Stack(robot, e, s, command)


# -- a Stewart platform --------------------------------------------------------------------------------------------------


def driven_platform() -> Stack:
    """Screws of 5 mm per turn with friction in the six legs, driven by voltages."""
    k_t, R, G, inertia = 0.05, 0.5, 2 * np.pi / 0.005, 2e-6
    drive = Drive(Motor(torque_constant=k_t, resistance=R, rotor_inertia=inertia), Gearbox(G))
    closed, names = ts.mechanisms.stewart_platform(), [f"leg{k}" for k in range(1, 7)]
    robot = (
        closed.with_friction(dict.fromkeys(names, friction.Coulomb(20.0).smooth(0.02)))
        .with_drives(dict.fromkeys(names, drive), command="voltage")
        .with_actuated(names)
    )
    tree = closed.without_loops()
    for k in range(2, 7):  # at rest, where each leg ends on the plate
        seat, piston = (tree.pose(tree.neutral(), name) for name in (f"plate_point_{k}", f"piston{k}"))
        tree = tree.with_frame(f"piston_end_{k}", f"piston{k}", xyz=(np.linalg.inv(piston) @ seat)[:3, 3])
    rows = _rows_of(tree, names)
    e = Machine(tree, driven=rows, armatures=dict.fromkeys(rows, G**2 * inertia))
    ends = [(f"piston_end_{k}", f"plate_point_{k}") for k in range(2, 7)]
    e.rows.append(
        Rows(
            lambda q, t: _difference(lambda f: e.pose(q, f)[:3, 3], ends),
            lambda q, t: _difference(lambda f: e.jacobian(q, f)[3:], ends),
            lambda t: np.zeros(15),
        )
    )
    _rub(e, rows, 20.0, 0.02)
    legs = np.isin(np.arange(e.nv), rows)
    e.transmissions.append(lambda s, u: G * k_t * (u - k_t * G * s.v) / R * legs)
    s = e.project(State(tree.neutral(), np.array([0.1, -0.2, 0.05, *[0.0] * 18]), {}))
    return Stack(robot, e, s, legs * np.resize([0.3, 1.2, 0.5], e.nv))


STACKS: dict[str, Callable[[], Stack]] = {
    "harmonic-drive arm": harmonic_drive_arm,
    "cobot": cobot,
    "standing quadruped": standing_quadruped,
    "Stewart platform": driven_platform,
}
