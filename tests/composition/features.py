"""The features: each changes the robot as users do, and adds the same to the equation composed by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import torsor as ts
from tests.composition.case import DT, ROBOTS, Case
from tests.composition.equation import Embedding, Motor, Rows, State
from tests.composition.machine import DENSITY, LENGTH, POLAR, STOP, V
from torsor import actuators, constraints
from torsor.actuators import friction
from torsor.scalar import cos, sin
from torsor.simulate import per_robot


def _same(robot: ts.Robot) -> ts.Robot:
    return robot


def _nothing(case: Case) -> None:
    """Features of the tree alone."""


@dataclass(frozen=True)
class Feature:
    """``build`` are arguments of the machine, ``tree`` those in which its bare tree differs; ``change`` edits both robots.

    ``add(case)`` attaches a term.  Terms of lower ``order`` are attached first.
    """

    name: str
    add: Callable[[Case], None] = _nothing
    build: Mapping[str, Any] = field(default_factory=dict)
    tree: Mapping[str, Any] = field(default_factory=dict)
    change: Callable[[ts.Robot], ts.Robot] = _same
    change_tree: Callable[[ts.Robot], ts.Robot] = _same
    order: int = 0


# -- rows --------------------------------------------------------------------------------------------------------------


def _position(case: Case, frame: str) -> Callable[[np.ndarray, float], np.ndarray]:
    return lambda q, t: case.equation.pose(q, frame, t)[:3, 3]


def _linear(case: Case, frame: str) -> Callable[[np.ndarray, float], np.ndarray]:
    return lambda q, t: case.equation.jacobian(q, frame, t)[3:]


def _constrain(case: Case, constraint: Any, rows: Rows) -> None:
    case.equation.rows.append(rows)
    case.robot = case.robot.with_constraints(constraint)


def loop(case: Case) -> None:
    """The pin's two ends are at one point, and its axis ŷ of the forearm stays across x̂ and ẑ of the rod."""
    e, seat, end = case.equation, _position(case, "strut seat"), _position(case, "strut end")

    def axes(q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        return e.pose(q, "strut seat", t)[:3, 1], e.pose(q, "strut end", t)[:3, [0, 2]].T

    def error(q: np.ndarray, t: float) -> np.ndarray:
        y, across = axes(q, t)
        return np.concatenate([seat(q, t) - end(q, t), across @ y])

    def A(q: np.ndarray, t: float) -> np.ndarray:
        J, (y, across) = e.jacobian(q, "strut seat", t) - e.jacobian(q, "strut end", t), axes(q, t)
        return np.vstack([J[3:], np.cross(y, across) @ J[:3]])

    e.rows.append(Rows(error, A, lambda t: np.zeros(5)))


def point_on_plane(case: Case) -> None:
    n, p, J = np.array([0.6, 0.0, 0.8]), _position(case, "hand"), _linear(case, "hand")
    c = p(case.place, 0.0)
    rows = Rows(lambda q, t: np.array([n @ (p(q, t) - c)]), lambda q, t: (n @ J(q, t))[None], lambda t: np.zeros(1))
    _constrain(case, constraints.point_on_plane("hand", n, through=c), rows)


def rolling(case: Case) -> None:
    r, n, e = 0.1, np.array([0.0, 0.0, 1.0]), case.equation

    def arm(q: np.ndarray, t: float) -> np.ndarray:
        """From the centre to the contact: down in the plane of the wheel."""
        axis = e.pose(q, "wheel", t)[:3, 1]
        up = n - (n @ axis) * axis
        return -r * up / np.linalg.norm(up)

    def A(q: np.ndarray, t: float) -> np.ndarray:
        J, c = e.jacobian(q, "wheel", t), arm(q, t)
        return J[3:] + np.cross(J[:3].T, c).T

    q = case.place
    ground = n * (e.pose(q, "wheel")[:3, 3] + arm(q, 0.0))[2]
    height = lambda q, t: np.array([0, 0, (e.pose(q, "wheel", t)[:3, 3] + arm(q, t) - ground)[2]])  # noqa: E731
    _constrain(case, constraints.rolling("wheel", r, axis=(0, 1, 0), through=ground), Rows(height, A, lambda t: np.zeros(3)))


def driven_row(case: Case) -> None:
    n, p, J = np.array([0.0, 1.0, 0.0]), _position(case, "cart"), _linear(case, "cart")
    c = p(case.place, 0.0)
    rows = Rows(
        lambda q, t: np.array([n @ (p(q, t) - c) - 0.1 * np.sin(3 * t)]),
        lambda q, t: (n @ J(q, t))[None],
        lambda t: np.array([0.3 * np.cos(3 * t)]),
    )
    plane = constraints.point_on_plane("cart", n, through=c)
    _constrain(case, constraints.prescribed(plane, lambda t: [0.1 * sin(3 * t)]), rows)


# -- joint forces ------------------------------------------------------------------------------------------------------


def _at(case: Case, joint: str, force: Callable[[State, float], float]) -> None:
    """A force at a joint, from the state and the joint's velocity."""
    e, row = case.equation, case.equation.row(joint)

    def f(s: State) -> np.ndarray:
        out = np.zeros(e.nv)
        out[row] = force(s, s.v[row])
        return out

    e.forces.append(f)


def damping(case: Case) -> None:
    case.robot = case.robot.with_damping(True)
    _at(case, "elbow", lambda s, v: -0.7 * v)


def _rub(case: Case, joint: str, law: Any) -> None:
    case.robot = case.robot.with_friction({joint: law})


def dry(case: Case) -> None:
    _rub(case, "swing", friction.Coulomb(0.4))
    case.equation.dry.append((case.equation.row("swing"), 0.4))


def smooth(case: Case) -> None:
    _rub(case, "elbow", friction.Coulomb(2.0).smooth(0.3))
    _at(case, "elbow", lambda s, v: -2.0 * np.tanh(v / 0.3))


def lugre(case: Case) -> None:
    k, d, level = 300.0, 2.0, 1.5
    _rub(case, "shoulder", friction.LuGre(friction.Coulomb(level), stiffness=k, damping=d))
    row = case.equation.row("shoulder")

    def rate(s: State, u: np.ndarray) -> np.ndarray:
        v, z = s.v[row], s.x["bristle"]
        return v - k * abs(v) * z / level

    case.equation.rates["bristle"] = rate
    case.equation.start["bristle"] = np.zeros(1)
    case.rest["bristle"] = np.array([level * np.sign(V["shoulder"]) / k])
    _at(case, "shoulder", lambda s, v: -float((k * s.x["bristle"] + d * rate(s, v))[0]))
    case.tolerance = max(case.tolerance, 1e-5)  # bristles follow in closed form along a step: second order


def drag(case: Case) -> None:
    case.robot = case.robot.with_forces({"pendulum": ts.forces.Drag(linear=3.0)})

    def wrench(s: State) -> np.ndarray:
        return np.concatenate([np.zeros(3), -3.0 * case.equation.twist(s, "pendulum")[3:]])

    case.equation.wrenches.append(("pendulum", wrench))


def spring(case: Case) -> None:
    case.equation.motors.append(Motor(case.equation.row("yaw"), 400.0, 2.0, 0.3))
    case.robot = case.robot.with_springs({"yaw": ts.flexible.SeriesSpring(400.0, 2.0, rotor_inertia=0.3)})


def hook(robot: ts.Robot) -> ts.Robot:
    """A frame on the base, beside the hand."""
    return robot.with_frame("hook", robot.links[0], xyz=(0.2, -0.3, 0.9))


def two_frame_spring(case: Case) -> None:
    """From the hand to a point above the base, f = K (rest − L) − D L̇ along the line, as a wrench on the hand."""
    K, D, rest = 60.0, 3.0, 0.4
    case.robot = case.robot.with_springs({("hand", "hook"): ts.terms.Spring(K, D, rest=rest)})
    e = case.equation

    def on(frame: str, side: int) -> Callable[[State], np.ndarray]:
        def wrench(s: State) -> np.ndarray:
            hand, seat = (e.pose(s.q, name, s.t) for name in ("hand", "hook"))
            r = hand[:3, 3] - seat[:3, 3]
            L = np.linalg.norm(r)
            rate = r @ (hand[:3, :3] @ e.twist(s, "hand")[3:] - seat[:3, :3] @ e.twist(s, "hook")[3:]) / L
            f = side * (K * (rest - L) - D * rate) * r / L
            return np.concatenate([np.zeros(3), e.pose(s.q, frame, s.t)[:3, :3].T @ f])

        return wrench

    e.wrenches += [("hand", on("hand", 1)), ("hook", on("hook", -1))]


#: bending stiffness across y and z and torsional stiffness [N·m²] of the upper arm, and its material's damping [s]
EI_Z, EI_Y, GJ, LOSS = 60.0, 40.0, 30.0, 1e-3
BEAM = ts.flexible.beam(
    LENGTH, mass_per_length=DENSITY, EI_y=EI_Y, EI_z=EI_Z, GJ=GJ, polar_per_length=POLAR, modes=(1, 1, 1), damping=LOSS
)


def _section(x: float, eta: np.ndarray, turns: bool) -> tuple[np.ndarray, np.ndarray]:
    """Position and rotation vector of the section at x, with shapes √5 ξ² of bending and √3 ξ of torsion.

    A bent beam is shorter: ∫ φ'² dx = 20 x³/(3 L⁴), half of it for each plane.  Discs turn about x alone.
    """
    (y, z, t), xi = eta, x / LENGTH
    bend, slope = np.sqrt(5) * xi**2, 2 * np.sqrt(5) * xi / LENGTH * turns
    u = np.array([-10 * x**3 / (3 * LENGTH**4) * (y * y + z * z), bend * y, bend * z])
    return u, np.array([np.sqrt(3) * xi * t, -slope * z, slope * y])


def bend(case: Case) -> None:
    """The upper arm as discs at the points of Gauss's quadrature; they and the tip move as the modes say."""
    points, weights = np.polynomial.legendre.leggauss(6)
    slices = tuple(zip((points + 1) / 2 * LENGTH, weights / 2 * LENGTH, strict=True))
    e, whole = case.equation, case.tree_with(slices=slices)
    cuts = {f"slice {k}": (x, False) for k, (x, _) in enumerate(slices)} | {"tip": (LENGTH, True)}
    e.modes = 3

    def configuration(q: np.ndarray, t: float) -> np.ndarray:
        out = _moved(e.tree, whole, q[:-3], "q_slice", whole.nq)
        for name, (x, turns) in cuts.items():
            u, r = _section(x, q[-3:], turns)
            out[whole.joint(name).q_slice] = [*u, *(r / 2), 1]  # Cayley's rotation: tan of half the angle is |r|/2
        return out

    def velocity(q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
        """The body twist of Cayley's rotation: (ṙ − p × ṙ)/(1 + p²), p = r/2."""
        out = _moved(e.tree, whole, v[:-3], "v_slice", whole.nv)
        for name, (x, turns) in cuts.items():
            (_, r), step = _section(x, q[-3:], turns), 1e-200
            du, dr = (y.imag / step for y in _section(x, q[-3:] + 1j * step * v[-3:], turns))
            p = r / 2
            R = ts.rigid.from_quaternion([*p, 1])
            out[whole.joint(name).v_slice] = [*((dr - np.cross(p, dr)) / (1 + p @ p)), *(R.T @ du)]
        return out

    e.embedding = Embedding(whole, configuration, velocity)
    K = np.array([20 * EI_Z / LENGTH**3, 20 * EI_Y / LENGTH**3, 3 * GJ / LENGTH])
    e.forces.append(lambda s: np.concatenate([np.zeros(e.nv - 3), -K * (s.q[-3:] + LOSS * s.v[-3:])]))


def beam(case: Case) -> None:
    case.robot = case.robot.with_beams({"upper": BEAM})
    bend(case)
    case.tolerance = max(case.tolerance, 3e-6)  # differences and steps are coarse for modes this fast: 4e-7, 1.2e-6 measured


def _moved(tree: ts.Robot, whole: ts.Robot, x: np.ndarray, part: str, size: int) -> np.ndarray:
    """Entries of the tree's joints at those of the same joints in a larger tree."""
    out = np.zeros(size)
    for name in tree.joints:
        out[getattr(whole.joint(name), part)] = x[getattr(tree.joint(name), part)]
    return out


def _on_floating_base(tree: ts.Robot) -> ts.Robot:
    """The tree on a floating base; a tree that floats itself hangs on it by a joint."""
    if "floating_base" not in tree.joints:
        return tree.with_base("floating")
    carrier = ts.Builder("carrier").link("carrier").link("seat").joint("ride", "floating", "carrier", "seat").build()
    return carrier.attach(tree.with_base("fixed"), "seat").with_base("floating")


def base_motion(case: Case) -> None:
    """A base that rolls, pitches and heaves: R = Ry(β) Rx(α), in closed form."""

    def angles(t: Any) -> tuple[Any, Any]:
        return 0.3 * sin(5 * t), 0.2 + 0.4 * cos(4 * t)

    def position(t: Any) -> list[Any]:
        return [0.1 * sin(6 * t), 0.05 - 0.2 * t, 0.3 * cos(3 * t)]

    def base_q(t: float) -> np.ndarray:
        (a, b) = (x / 2 for x in angles(t))
        turn = [np.sin(a) * np.cos(b), np.cos(a) * np.sin(b), -np.sin(a) * np.sin(b), np.cos(a) * np.cos(b)]
        return np.array([*position(t), *turn])

    def base_v(t: float) -> np.ndarray:
        (a, b), da, db = angles(t), 1.5 * np.cos(5 * t), -1.6 * np.sin(4 * t)
        speed = np.array([0.6 * np.cos(6 * t), -0.2, -0.9 * np.sin(3 * t)])
        Ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
        Rx = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
        return np.array([da, db * np.cos(a), -db * np.sin(a), *((Ry @ Rx).T @ speed)])

    e = case.equation
    inner = e.embedding or Embedding(e.tree, lambda q, t: q, lambda q, v, t: v)
    e.embedding = Embedding(
        _on_floating_base(inner.tree),
        lambda q, t: np.concatenate([base_q(t), inner.q(q, t)]),
        lambda q, v, t: np.concatenate([base_v(t), inner.v(q, v, t)]),
    )
    case.robot = case.robot.with_base_motion(lambda t: (position(t), [*angles(t), 0]))


def stop(case: Case) -> None:
    e = case.equation
    e.stops.append((e.tree.joint("swing").q_slice.start, e.row("swing"), STOP, 0.5))
    case.robot = case.robot.with_stops({"swing": 0.5})


def contact(case: Case) -> None:
    """The hand, without friction, a little above a plane that it is driven against."""
    height = case.equation.pose(case.start.q, "hand")[2, 3] - 2e-4
    case.equation.contacts.append(("hand", height))
    ground = ts.contacts.plane(through=(0, 0, height))
    case.robot = case.robot.with_contacts(ts.contacts.point("hand"), ground, friction=0.0)
    case.rest["contact"] = np.zeros(4)
    case.tolerance = max(case.tolerance, 1e-7)  # the solver makes G regular by 1e-9 of its diagonal


# -- actuation ---------------------------------------------------------------------------------------------------------


def lag(case: Case) -> None:
    T, e = 0.005, case.equation
    row = e.row("elbow")

    def transmit(s: State, u: np.ndarray) -> np.ndarray:
        return np.where(np.arange(len(u)) == row, s.x["lag"], u)

    e.transmissions.append(transmit)
    e.ticks["lag"] = lambda s, u: u[row] + (s.x["lag"] - u[row]) * np.exp(-DT / T)
    e.start["lag"] = np.zeros(1)
    case.robot = case.robot.with_actuators({"elbow": [actuators.Lag(T)]})


def winding(case: Case) -> None:
    k, R, L, G, e = 0.05, 1.0, 0.003, 20.0, case.equation
    row = e.row("shoulder")
    e.rates["current"] = lambda s, u: (u[row] - k * G * s.v[row] - R * s.x["current"]) / L
    e.transmissions.append(lambda s, u: np.where(np.arange(len(u)) == row, G * k * s.x["current"], u))
    e.start["current"] = np.zeros(1)
    motor = actuators.Motor(torque_constant=k, resistance=R, inductance=L)
    case.robot = case.robot.with_drives({"shoulder": actuators.Drive(motor, actuators.Gearbox(G))}, command="voltage")
    case.tolerance = max(case.tolerance, 2e-5)  # the current follows in closed form along a step: second order


def drive_limits(case: Case) -> None:
    k, R, most, G, e = 0.05, 1.0, 2.0, 10.0, case.equation
    row = e.driven_row("yaw")

    def transmit(s: State, u: np.ndarray) -> np.ndarray:
        bounds = [G * k * (volts - k * G * s.v[row]) / R for volts in (-most, most)]
        return np.where(np.arange(len(u)) == row, np.clip(u, *bounds), u)

    e.transmissions.append(transmit)
    motor = actuators.Motor(torque_constant=k, resistance=R, max_voltage=most)
    case.robot = case.robot.with_drives({"yaw": actuators.Drive(motor, actuators.Gearbox(G))})


def controller(case: Case) -> None:
    row, k = case.equation.row("rail"), 30.0

    def feedback(s: State) -> np.ndarray:
        u = case.commands.copy()
        u[row] -= k * s.v[row]
        return u

    def law(q: Any, v: Any, u: Any, gain: Any) -> list[Any]:
        return [x - gain * v[row] if i == row else x for i, x in enumerate(u)]

    case.feedback = feedback
    case.simulate["control"] = lambda t, q, v: feedback(State(q, v, {}, t))
    case.rollout |= {"controller": ts.Controller(law, parameters={"gain": k})}


# -- wrenches, constants, numbers --------------------------------------------------------------------------------------

WRENCH = np.array([0.3, -0.2, 0.1, 2.0, -1.0, 4.0])


def constant_wrench(case: Case) -> None:
    case.equation.wrenches.append(("hand", lambda s: WRENCH))
    case.wrenches["hand"] = WRENCH


def wrench_of_time(case: Case) -> None:
    case.equation.wrenches.append(("knob", lambda s: WRENCH * np.cos(200 * s.t)))
    case.wrenches["knob"] = lambda t: [x * cos(200 * t) for x in WRENCH.tolist()]
    case.tolerance = max(case.tolerance, 1e-7)  # 0.2 rad of the oscillation per step


def wrench_per_robot(case: Case) -> None:
    """The first robot of a batch has the wrench of the equation."""
    case.equation.wrenches.append(("upper", lambda s: 0.5 * WRENCH))
    case.wrenches["upper"] = per_robot(0.5 * WRENCH * np.arange(1, ROBOTS + 1)[:, None])


def payload(robot: ts.Robot) -> ts.Robot:
    return robot.with_payload("knob", 0.9, com=(0.01, 0.02, 0.03), inertia=(0.001, 0.002, 0.0015))


def rotor(robot: ts.Robot) -> ts.Robot:
    """On the root of the upper arm, also where the arm is a beam and the elbow at its tip."""
    fields = {"mass": 0.1, "inertia": (1e-4, 2e-4, 1e-4), "ratio": 30.0, "axis": (0, 1, 0), "link": "upper"}
    return robot.with_rotors({"elbow": fields})


def mimic(robot: ts.Robot) -> ts.Robot:
    return robot.with_mimic("spin", "elbow", 0.5)


def vary(case: Case) -> None:
    case.simulate["vary"] = case.rollout["vary"] = {"mass": {"fore": 1.3}}


def sensor(case: Case) -> None:
    case.simulate["sensors"] = case.rollout["sensors"] = {"imu": ts.Sensor("accelerometer", "hand")}


def single_precision(case: Case) -> None:
    case.dtype, case.tolerance = "float32", 3e-4
    case.rollout["dtype"] = "float32"
    case.cannot("simulate computes in double precision", "simulate")


FEATURES = {
    f.name: f
    for f in (
        Feature("floating base", change=lambda r: r.with_base("floating"), change_tree=lambda r: r.with_base("floating")),
        Feature("loop", loop, {"loop": True}, {"close": False}),
        Feature("point on plane", point_on_plane, order=2),
        Feature("rolling", rolling, order=2),
        Feature("driven row", driven_row, order=2),
        Feature("damping", damping),
        Feature("dry friction", dry),
        Feature("smooth friction", smooth),
        Feature("LuGre friction", lugre, order=3),
        Feature("rotor", change=rotor, change_tree=rotor),
        Feature("spring", spring, order=-1),
        Feature("two-frame spring", two_frame_spring, change=hook, change_tree=hook),
        Feature("beam", beam, order=-2),
        Feature("stop", stop),
        Feature("contact", contact, order=4),
        Feature("actuator with memory", lag),
        Feature("winding", winding),
        Feature("drive limits", drive_limits),
        Feature("force element", drag),
        Feature("wrench", constant_wrench),
        Feature("wrench of time", wrench_of_time),
        Feature("wrench per robot", wrench_per_robot),
        Feature("mimic", change=mimic, change_tree=mimic),
        Feature("payload", change=payload, change_tree=payload),
        Feature("varied constants", vary, tree={"fore": 1.3}),
        Feature("sensor", sensor),
        Feature("base motion", base_motion, order=-1),
        Feature("controller parameters", controller),
        Feature("float32", single_precision),
    )
}
