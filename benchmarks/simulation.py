"""Contests of one simulated UR5 with a Python controller: robot.simulate against SciPy's solve_ivp over Pinocchio's aba.

Both sides call the same PD law, a Python function, and agree on where the robot ends before they are timed.  A held controller
runs at 1 kHz, so SciPy's integration begins anew at each of its ticks; a law of the state is stepped at 1 ms on both sides.
The third contest lets SciPy take its longest steps: a method of eighth order needs few of them where the motion is smooth, and
the goal is not about it.  In the fourth torsor has the same method and tolerance, and both have the states at the end.  In the
fifth both have the states and joint forces at all times that torsor records by default, four per step.

A four-bar is simulated against Runge's and Kutta's method written by hand over the kernel of its forward dynamics, which lets
the loop drift open: so both must agree to 1e-6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from benchmarks import robots
from benchmarks.timing import Contest, Effort
from torsor import mechanisms
from torsor.simulate import Adaptive, simulate
from torsor.simulate.controllers import SampledController

QUANTITY = "simulate"
DURATION, RATE = 1.0, 1000
#: gains that suit the inertias of a UR5, a few rad/s [N·m/rad, N·m·s/rad], and where it is sent from
STIFFNESS = np.array([60.0, 60.0, 10.0, 0.4, 0.4, 0.02])
DAMPING = STIFFNESS / 5
START = np.array([0.1, -1.0, 1.0, 0.3, 0.5, 0.2])


def law(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """PD towards zero."""
    return -STIFFNESS * q - DAMPING * v


class Peer:
    """What a user of Pinocchio and SciPy writes."""

    def __init__(self, model: Any):
        self.model, self.data = model, model.createData()

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:6], y[6:]
        return np.concatenate([v, pin.aba(self.model, self.data, q, v, law(t, q, v))])

    def integrate(self, method: str, tolerance: float, longest: float = np.inf) -> np.ndarray:
        """A law of the state: one integration."""
        start = np.concatenate([START, np.zeros(6)])
        options = {"rtol": tolerance, "atol": tolerance, "max_step": longest}
        return solve_ivp(self.rate, (0, DURATION), start, method=method, **options).y[:, -1]

    def record(self, method: str, tolerance: float, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The states and the joint forces at given times."""
        start = np.concatenate([START, np.zeros(6)])
        options = {"rtol": tolerance, "atol": tolerance, "t_eval": times}
        y = solve_ivp(self.rate, (0, DURATION), start, method=method, **options).y.T
        return y, np.array([law(t, x[:6], x[6:]) for t, x in zip(times, y, strict=True)])

    def integrate_by_ticks(self, method: str, tolerance: float) -> np.ndarray:
        """A controller with a clock: an integration from tick to tick."""
        y, width = np.concatenate([START, np.zeros(6)]), 1 / RATE
        for k in range(int(DURATION * RATE)):
            tau = law(k * width, y[:6], y[6:])

            def rate(t: float, y: np.ndarray, tau: np.ndarray = tau) -> np.ndarray:
                return np.concatenate([y[6:], pin.aba(self.model, self.data, y[:6], y[6:], tau)])

            y = solve_ivp(rate, (0, width), y, method=method, rtol=tolerance, atol=tolerance).y[:, -1]
        return y


def by_hand(kernel: Any, q: np.ndarray, v: np.ndarray, dt: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Runge's and Kutta's method over a kernel (q, v, τ) → (a, ...), as a user writes it; q and v are plain numbers."""
    zero = np.zeros_like(v)
    for _ in range(steps):
        k1 = kernel(q, v, zero)[0]
        k2 = kernel(q + dt / 2 * v, v2 := v + dt / 2 * k1, zero)[0]
        k3 = kernel(q + dt / 2 * v2, v3 := v + dt / 2 * k2, zero)[0]
        k4 = kernel(q + dt * v3, v4 := v + dt * k3, zero)[0]
        q, v = q + dt / 6 * (v + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return q, v


def contests(effort: Effort) -> Iterator[list[Contest]]:
    """A UR5 under a law, held at 1 kHz and of the state, with steps of 1 ms and free ones; a four-bar without a law."""
    case = robots.cases("ur5")[0]
    names = {"robot": case.robot, "peer": Peer(case.model), "simulate": simulate, "np": np, "q": START, "v": np.zeros(6),
             "law": law, "sampled": SampledController(law, RATE), "dop853": Adaptive("dop853", tolerance=1e-10)}  # fmt: skip
    names["times"] = simulate(case.robot, START, np.zeros(6), DURATION, law, integrator=names["dop853"], dt=1.0).t
    end = "np.concatenate([run.q[-1], run.v[-1]])"
    rows = [
        ("held at 1 kHz, SciPy RK45", "run = simulate(robot, q, v, 1.0, sampled)", 'y = peer.integrate_by_ticks("RK45", 1e-9)'),
        ("a step a ms, SciPy RK45", "run = simulate(robot, q, v, 1.0, law)", 'y = peer.integrate("RK45", 1e-9, 1e-3)'),
        ("free steps, SciPy DOP853", "run = simulate(robot, q, v, 1.0, law)", free := 'y = peer.integrate("DOP853", 1e-10)'),
        ("both DOP853", "run = simulate(robot, q, v, 1.0, law, integrator=dop853, dt=1.0, record='last')", free),
        ("both DOP853, with records", "run = simulate(robot, q, v, 1.0, law, integrator=dop853, dt=1.0)",
         "y, tau = peer.record('DOP853', 1e-10, times)\ny = y[-1]"),
    ]  # fmt: skip
    yield [
        Contest("simulate", QUANTITY, case.name, f"Pinocchio aba, {how}", ours=ours, theirs=theirs, names=names, our_answer=end,
                answer="y")
        for how, ours, theirs in rows
    ]  # fmt: skip
    bars = mechanisms.four_bar()
    q = bars.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    v = bars.constrained().project_velocity(q, [2.0, 0.0, 0.0])
    yield [
        Contest("simulate", QUANTITY, "four-bar", "RK4 by hand", ours="run = simulate(bars, q, v, 0.2)", our_answer=end,
                theirs="x = by_hand(kernel, q, v, 1e-3, 200)", answer="np.concatenate(x)", agreement=1e-6,
                names={"simulate": simulate, "by_hand": by_hand, "np": np, "bars": bars,
                       "kernel": bars.constrained().kernel(), "q": q, "v": v})
    ]  # fmt: skip
