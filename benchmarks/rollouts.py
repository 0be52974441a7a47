"""Contests of rollouts with MuJoCo, contacts, limits and constraints off; what a controller costs; two cores against one.

MuJoCo's Euler is torsor's semi-implicit one where coordinates are plain.  Of a free body it keeps the linear velocity in the
world, torsor the twist in the body, so there the two first-order methods differ by the order of the step.  They must converge
to each other at that order, and Runge's and Kutta's steps must agree, before anything is timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import torsor as ts
from benchmarks import translated
from benchmarks.clock import two_cores
from benchmarks.robots import Case
from benchmarks.timing import Contest, Disagreement, Effort, time_interleaved
from torsor.actuators import Lag, Latency, Limit, PositionServo
from torsor.algorithms.equation.settle import LIMITS
from torsor.compile import Argument
from torsor.kernels import Spec
from torsor.simulate import computed_torque, pd, pd_with_gravity, rollout
from torsor.simulate.quantities import QUANTITIES
from torsor.simulate.step_program import Plan

#: the robots of the section
NAMES = ("ur5", "panda", "solo12", "g1")
#: robots, steps and seconds of a step
ROBOTS, STEPS, DT = 256, 50, 1e-3
#: torsor's name of each method, and MuJoCo's
METHODS = {"semi_implicit": "mjINT_EULER", "rk4": "mjINT_RK4"}
#: what MuJoCo would do besides: none of it is in torsor's step
OFF = ("CONSTRAINT", "CONTACT", "LIMIT", "EULERDAMP", "SENSOR", "ACTUATION")
#: the controllers whose cost is measured
CONTROLLERS = {"pd": pd, "pd_with_gravity": pd_with_gravity, "computed_torque": computed_torque}
#: the actuator of each joint whose cost is measured: 12 numbers of memory
WEAK_SERVO = (Latency(10 * DT), PositionServo(1e-3, 1e-4), Lag(0.01), Limit(-100.0, 100.0))

OURS = "kept = rollout(robot, q, v, dt=dt, steps=steps, integrator=method)"
THEIRS = {
    "MuJoCo rollout": "states, _ = threadless.rollout(m, d, starts, nstep=steps)",
    "MuJoCo mj_step": "for x, end in rows: mj.mj_setState(m, d, x, full); mj.mj_step(m, d, nstep=steps); end[:] = d.qpos",
}
ANSWERS = {"MuJoCo rollout": "states[:, -1, 1 : robot.nq + 1]", "MuJoCo mj_step": "ends"}


@dataclass(frozen=True)
class Falling:
    """A robot that falls from many states, in both libraries."""

    case: Case
    method: str

    @cached_property
    def states(self) -> tuple[np.ndarray, np.ndarray]:
        rng, robot = np.random.default_rng(0), self.case.robot
        return robot.random_configuration(rng, size=ROBOTS), rng.uniform(-1, 1, (ROBOTS, robot.nv))

    @cached_property
    def is_floating(self) -> bool:
        return self.case.source.base == "floating"

    @cached_property
    def names(self) -> dict[str, Any]:
        """Everything the statements speak of."""
        import mujoco as mj
        import mujoco.rollout

        robot, (q, v) = self.case.robot, self.states
        m = mj.MjModel.from_xml_string(translated.mujoco_xml(robot.model, ()))
        for word in OFF:
            m.opt.disableflags |= int(getattr(mj.mjtDisableBit, f"mjDSBL_{word}"))
        m.opt.integrator, m.opt.timestep = getattr(mj.mjtIntegrator, METHODS[self.method]), DT
        theirs = [translated.mujoco_state(robot.model, a, b, np.zeros(robot.nv)) for a, b in zip(q, v, strict=True)]
        starts, ends = np.array([np.concatenate([[0.0], x["qm"], x["vm"]]) for x in theirs]), np.empty_like(q)
        return {
            "rollout": rollout, "robot": robot, "q": q, "v": v, "dt": DT, "steps": STEPS, "method": self.method,
            "mj": mj, "m": m, "d": mj.MjData(m), "full": mj.mjtState.mjSTATE_FULLPHYSICS,
            "threadless": mujoco.rollout.Rollout(nthread=0),
            "starts": starts, "ends": ends, "rows": list(zip(starts, ends, strict=True)),
        }  # fmt: skip

    def final_configurations(self, peer: str, method: str, dt: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """The last configuration, torsor's and the peer's."""
        names = {**self.names, "dt": dt, "steps": steps, "method": method}
        m = names["m"]
        m.opt.integrator, m.opt.timestep = getattr(names["mj"].mjtIntegrator, METHODS[method]), dt
        exec(f"{OURS}\n{THEIRS[peer]}", names)
        m.opt.integrator, m.opt.timestep = getattr(names["mj"].mjtIntegrator, METHODS[self.method]), DT
        q = names["kept"].q[:, -1]
        return q, self.to_torsor(eval(ANSWERS[peer], names), q)

    def to_torsor(self, qm: np.ndarray, like: np.ndarray) -> np.ndarray:
        """MuJoCo's configurations in torsor's order; q and −q are one rotation."""
        q = qm.copy()
        if self.is_floating:
            q[:, 3:7] = np.roll(q[:, 3:7], -1, axis=1)
            q[:, 3:7] *= np.sign((q[:, 3:7] * like[:, 3:7]).sum(axis=1, keepdims=True))
        return q

    def results_to_compare(self, peer: str) -> tuple[np.ndarray, np.ndarray]:
        """What must be equal: where the robots end; of a free body's Euler steps, that of Runge and Kutta, and the order."""
        method = "rk4" if self.is_floating else self.method
        if self.method != method:
            error = [
                np.abs(np.subtract(*self.final_configurations(peer, self.method, DT / n, STEPS * n))).max() for n in (1, 2)
            ]
            if not 1.8 < error[0] / error[1] < 2.2:
                raise Disagreement(f"half the step brings them from {error[0]:.1e} to {error[1]:.1e}: that is not first order")
        ours, theirs = self.final_configurations(peer, method, DT, STEPS)
        return np.repeat(ours, STEPS, axis=0), np.repeat(theirs, STEPS, axis=0)  # a row a step, as they are counted

    def contest(self, peer: str) -> Contest:
        robot, names = self.case.robot, {**self.names, "results_to_compare": self.results_to_compare}
        return Contest(
            "rollout", self.method, self.case.name, peer, ours=OURS, theirs=THEIRS[peer], names=names, states=ROBOTS * STEPS,
            our_answer=f"results_to_compare({peer!r})[0]", answer=f"results_to_compare({peer!r})[1]",
            extra={"operations": operations(self.case.robot, self.method), "bytes_written": 8 * (robot.nq + robot.nv)},
        )  # fmt: skip


def operations(robot: ts.Robot, method: str) -> int:
    """Of one step."""
    limits = LIMITS["float64"] if robot.model.has_rows else ()
    plan = Plan(method, ((Argument("dt", ()), False),), limits=limits)
    return robot.kernels.of(QUANTITIES).program(Spec(((plan.quantity, plan),))).operations


def contests(case: Case) -> Iterator[Contest]:
    """Both methods against ``mujoco.rollout`` without threads, and against a loop of ``mj_step`` with its steps in C."""
    try:
        import mujoco.rollout  # noqa: F401
    except ImportError as error:
        print(f"  MuJoCo is left out: {error}")
        return
    for method in METHODS:
        falling = Falling(case, method)
        yield from (falling.contest(peer) for peer in THEIRS)


def costs(case: Case, effort: Effort) -> dict[str, Any]:
    """Nanoseconds of a semi-implicit step without and with each controller, recording every tenth state.

    Actuators with memory are compared with a rollout without them on four times the robots and steps, recording every state.
    """
    robot = case.robot
    q, v = Falling(case, "semi_implicit").states
    names: dict[str, Any] = {"rollout": rollout, "robot": robot, "q": q, "v": v}
    gains = {"target": robot.neutral(), "kp": 1e-3, "kd": 1e-4}  # weak: stable on every robot
    plain = f"kept = rollout(robot, q, v, dt={DT}, steps={STEPS}, record=10"
    statements = [f"{plain})"]
    for word, make in CONTROLLERS.items():
        names[word] = ts.Controller(make(robot), parameters=gains)
        statements.append(f"{plain}, controller={word})")
    names["servos"] = {j: WEAK_SERVO for j in robot.joints if robot.joint(j).type in ("revolute", "continuous", "prismatic")}
    names["many"], names["fast"] = (np.tile(x, (4, 1)) for x in (q, v))
    # earlier results are freed first: new pages, which malloc may request for only one of the two, cost as much as actuators
    every = f"kept = None; kept = rollout(robot, many, fast, dt={DT}, steps={4 * STEPS}"
    names["actuated"] = robot.with_actuators(names["servos"])
    statements += [f"{every})", f"{every})".replace("robot", "actuated")]
    *seconds, without, actuated = time_interleaved(statements, names, effort)
    ns = [s / (ROBOTS * STEPS) * 1e9 for s in seconds]
    with_controllers = dict(zip(CONTROLLERS, (t / ns[0] for t in ns[1:]), strict=True))
    return {
        "robot": case.name, "step_ns": ns[0], "steps_per_second": 1e9 / ns[0], "controllers": with_controllers,
        "actuators": actuated / without,
    }  # fmt: skip


def two_threads(case: Case, effort: Effort) -> dict[str, Any]:
    """One thread and two in turn, on sixteen times the robots, results compared to the bit."""
    robot = case.robot
    q, v = (np.tile(x, (16, 1)) for x in Falling(case, "semi_implicit").states)
    names = {"rollout": rollout, "robot": robot, "q": q, "v": v, "threads": ts.threads}
    run = f"rollout(robot, q, v, dt={DT}, steps={STEPS}, record=10)"
    with ts.threads(1):
        one = eval(run, names).q
    with ts.threads(2):
        two = eval(run, names).q
    possible = two_cores()
    t1, t2 = time_interleaved([f"with threads({n}): kept = {run}" for n in (1, 2)], names, effort)
    return {"robot": case.name, "speed_up": t1 / t2, "same_bits": one.tobytes() == two.tobytes(), "possible": possible}
