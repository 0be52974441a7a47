"""The methods: each calls torsor once for a case and compares the result with the equation composed by hand."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import torsor as ts
from tests.composition import impulses
from tests.composition.case import DT, ROBOTS, STEPS, Case
from tests.composition.equation import State
from torsor.kernels.axes import Spread

#: of differences of gradients, fourth order
STEP = 1e-3
#: gradients are compared with differences of the equation, whose drift is a difference itself
OF_DIFFERENCES = 1e-7
#: differences through impulses are shorter by this
SHORT = 1e-3


def compare(case: Case, got: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Equal, relative to the largest entry expected; of a batch, its first robot counts."""
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    got = got[0] if got.ndim > expected.ndim else got
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    allowed = max(tolerance, case.tolerance) * max(1.0, np.abs(expected).max(initial=0.0))
    assert np.abs(got - expected).max(initial=0.0) <= allowed, (
        f"off by {np.abs(got - expected).max():.3g}, allowed {allowed:.3g}"
    )


def kernel_inputs(case: Case) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Options of a kernel, and its last inputs: the time where something reads it, then wrenches that are arrays."""
    given = {f: F.values if isinstance(F, Spread) else F for f, F in case.wrenches.items()}
    frames = {f: F if callable(F) else None for f, F in given.items()}
    options = {"wrenches": frames, "dtype": case.dtype, **case.options}
    return options, [*map(np.asarray, case.clock.values()), *(F for F in given.values() if not callable(F))]


def inverse(case: Case) -> None:
    s = case.instant
    a = case.equation.forward(s, case.commands)
    options, wrenches = kernel_inputs(case)
    if case.dtype == "float64":
        got = case.robot.inverse_dynamics(*s[:2], a, case.wrenches or None, **case.clock, **case.options)
    else:
        got = case.robot.kernel("inverse_dynamics", **options)(*s[:2], a, *wrenches)
    compare(case, got, case.equation.inverse(s, a))


def forward(case: Case) -> None:
    s, tau = case.instant, case.commands
    options, wrenches = kernel_inputs(case)
    if case.dtype == "float64":
        got = case.robot.forward_dynamics(*s[:2], tau, case.wrenches or None, **case.clock, **case.options)
    else:
        got = case.robot.kernel("forward_dynamics", **options)(*s[:2], tau, *wrenches)
    compare(case, got, case.equation.forward(s, tau))


def directions(case: Case, *sizes: int) -> list[np.ndarray]:
    """Random directions; short ones where modes of beams, which are stiff, would spoil differences."""
    rng = np.random.default_rng(7)
    return [rng.normal(size=n) * (0.05 if case.equation.modes else 1.0) for n in sizes]


def tangent(case: Case, s: State, dq: np.ndarray, dv: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest directions along which the rows hold: A dq = 0 and A dv + ∂(A v − b)/∂q dq = 0.

    Off the constraints, where rows may be written in several ways, so may the acceleration.
    """
    e = case.equation

    def slip(q: np.ndarray) -> np.ndarray:
        A, b = e.constraint_rows(q, s.t)
        return A @ s.v - b

    A, _ = e.constraint_rows(s.q, s.t)
    if not len(A):
        return dq, dv
    dq = dq - np.linalg.pinv(A, rcond=1e-9) @ (A @ dq)
    turning = slope(lambda h: slip(e.move(s.q, dq, h)))
    return dq, dv - np.linalg.pinv(A, rcond=1e-9) @ (A @ dv + turning)


def slope(f: Callable[[float], Any]) -> Any:
    """f′(0), by differences of fourth order."""
    return (8 * (f(STEP) - f(-STEP)) - (f(2 * STEP) - f(-2 * STEP))) / (12 * STEP)


def vjp(case: Case) -> None:
    s, tau, e = case.instant, case.commands, case.equation
    n = e.nv
    w, dq, dv, du = directions(case, n, n, n, n)
    dq, dv = tangent(case, s, dq, dv)
    options, wrenches = kernel_inputs(case)
    by_q, by_v, by_u = (first(x, 1) for x in case.robot.vjp("forward_dynamics", by=("q", "v", "tau"), **options)(
        *s[:2], tau, *wrenches, w
    ))  # fmt: skip

    def weighted(h: float) -> float:
        moved = s._replace(q=e.move(s.q, dq, h), v=s.v + h * dv)
        return float(w @ e.forward(moved, tau + h * du))

    compare(case, by_q @ dq + by_v @ dv + by_u @ du, slope(weighted), OF_DIFFERENCES)


def simulate(case: Case) -> None:
    s = case.start
    options = {"control": case.commands, **case.options, **case.simulate}
    if case.wrenches:
        options["wrenches"] = case.wrenches_of_first()
    run = case.robot.simulate(*s[:2], STEPS * DT, dt=DT, **options)
    end = motion(case, s, case.command, first_order=bool(case.equation.contacts))[-1]
    compare(case, run.q[-1], end.q)
    compare(case, run.v[-1], end.v)
    _check_sensor(case, run, s, 0)


def motion(case: Case, s: State, u: Any, first_order: bool | None = None) -> list[State]:
    """The states after each step by hand: of first order where impulses act in the steps of a rollout."""
    e = case.equation
    return impulses.run(e, s, u, DT, STEPS) if (e.jumps if first_order is None else first_order) else e.run(s, u, DT, STEPS)


def _rollout(case: Case, **more: Any) -> Any:
    s = case.start
    many = any(isinstance(F, Spread) for F in case.wrenches.values())
    q, v = ((np.tile(x, (ROBOTS, 1)) if many else x) for x in s[:2])
    options = {**case.options, **case.rollout, **more, "wrenches": case.wrenches or None}
    controls = np.tile(case.commands, (STEPS, 1))
    integrator = "semi_implicit" if case.equation.jumps else "rk4"
    return case.robot.rollout(q, v, controls, dt=DT, integrator=integrator, **options)


def rollout(case: Case) -> None:
    run, s = _rollout(case), case.start
    states = motion(case, s, case.command)
    compare(case, first(run.q, 2), np.array([x.q for x in states]))
    compare(case, first(run.v, 2), np.array([x.v for x in states]))
    _check_sensor(case, run, states[0], 0)


def gradient(case: Case) -> None:
    s, e = case.start, case.equation
    n = e.nv
    w, dq, dv, du = directions(case, n, n, n, n)
    dq, dv = tangent(case, s, dq, dv)
    run = _rollout(case, differentiable=True)
    weights = np.zeros(run.v.shape)
    weights[(0,) * (run.v.ndim - 2)][-1] = w  # the first robot's
    found = run.gradient(v=weights)
    by_q, by_v = first(found.q0, 1), first(found.v0, 1)
    by_u = found.controls if found.controls.ndim == 2 else found.controls[0]

    def weighted(h: float) -> float:
        moved = s._replace(q=e.move(s.q, dq, h), v=s.v + h * dv)
        return float(w @ motion(case, moved, lambda x: case.command(x) + h * du)[-1].v)

    # where impulses act, short differences stay on one side of their switches
    expected = slope(lambda h: weighted(h * SHORT)) / SHORT if e.jumps else slope(weighted)
    allowed = max(1000 * OF_DIFFERENCES, 100 * case.tolerance) if e.jumps else OF_DIFFERENCES
    compare(case, by_q @ dq + by_v @ dv + by_u.sum(axis=0) @ du, expected, allowed)


def exported_c(case: Case) -> None:
    s, tau = case.instant, case.commands
    options, wrenches = kernel_inputs(case)
    kind = np.dtype(case.dtype)
    with tempfile.TemporaryDirectory() as folder:
        case.robot.export_c(Path(folder) / "robot", "forward_dynamics", name="machine", **options)
        compiler = shutil.which("gcc") or "cc"
        build = [compiler, "-std=c99", "-O1", "-shared", "-fPIC", "robot.c", "-o", "robot.so", "-lm"]
        done = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        function = ctypes.CDLL(f"{folder}/robot.so").machine_forward_dynamics
        given = [np.array(x[0] if np.ndim(x) > 1 else x, kind, order="C") for x in (*s[:2], tau, *wrenches)]
        outputs = case.robot.kernel("forward_dynamics", **options).program.outputs
        out, *checks = (np.zeros(y.shape, kind) for y in outputs)
        function.restype = None
        number = ctypes.c_float if kind == np.float32 else ctypes.c_double
        function(*(x.ctypes.data_as(ctypes.c_void_p) if x.ndim else number(x.item()) for x in (*given, out, *checks)))
    assert all(x < 1 for x in checks)
    compare(case, out, case.equation.forward(s, tau))


def first(x: Any, axes: int) -> np.ndarray:
    """The first robot of a batch."""
    x = np.asarray(x, float)
    return x[0] if x.ndim > axes else x


def _check_sensor(case: Case, run: Any, s: State, k: int) -> None:
    """The accelerometer's reading at a recorded state: Rᵀ(p̈ − g)."""
    if "sensors" not in case.simulate:
        return
    e = case.equation
    tree, q, v = e.whole(s.q, s.v, s.t)
    if e.contacts or (e.jumps and isinstance(run, ts.simulate.Rollout)):  # the mean acceleration of the step that follows
        after = impulses.step(e, s, case.command, DT)
        a = e.acceleration(s, (after.v - s.v) / DT)
    else:
        a = e.acceleration(s, e.forward(s, e.transmit(s, case.command(s))))
    felt = tree.acceleration(q, v, a, "hand")[3:] - tree.gravity
    reading = first(run.sensors["imu"], 2)[k]
    compare(case, reading, tree.pose(q, "hand")[:3, :3].T @ felt, 1e-7)


class Method(NamedTuple):
    """A check of a case; ``kind`` is "instant", "simulate", "rollout", or "tree" where terms do not matter."""

    check: Callable[[Case], None]
    kind: str = "instant"


#: the methods that are tried with every pair of features
METHODS = {
    "inverse": Method(inverse),
    "forward": Method(forward),
    "vjp": Method(vjp),
    "simulate": Method(simulate, "simulate"),
    "rollout": Method(rollout, "rollout"),
    "gradient": Method(gradient, "rollout"),
    "C": Method(exported_c),
}
