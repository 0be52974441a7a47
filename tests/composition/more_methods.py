"""The methods that are tried with one feature at a time."""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import torsor as ts
from tests.composition import impulses
from tests.composition.case import DT, INSTANT, Case, Refused
from tests.composition.methods import OF_DIFFERENCES, Method, compare, directions, first, kernel_inputs, slope, tangent
from torsor import replay


def take(function: Callable[..., Any], *values: Any, **options: Any) -> Any:
    """function(*values, **options), refused if it has no place for one of the options."""
    given = {name: x for name, x in options.items() if x not in (None, (), {}) and x is not False}
    missing = set(given) - set(inspect.signature(function).parameters)
    if missing:
        raise Refused(f"{function.__name__} does not take {', '.join(sorted(missing))}")
    return function(*values, **given)


def instant_options(case: Case) -> dict[str, Any]:
    """Options of instant methods: the wrenches of the first robot, and the time."""
    return {"wrenches": case.wrenches_of_first(), **case.clock, **case.options}


def tree_quantities(case: Case) -> None:
    """M, h and g are those of the tree, h and g with its force elements."""
    e, s = case.equation, case.instant
    (q, v), still = case.on_tree(s), s._replace(v=np.zeros(e.nv))
    motors = np.zeros(e.nv - e.tree.nv)
    h, g = (
        (e.bias(s), e.bias(still))
        if e.modes
        else (np.r_[f, motors] for f in (e.tree.bias_force(q, v), e.tree.gravity_force(q)))
    )
    for frame, wrench in e.wrenches if case.robot.forces else ():
        h = h - np.r_[e.tree.jacobian(q, frame, expressed_in="body").T @ wrench(s), motors]
    compare(case, case.robot.mass_matrix(s.q), e.mass(s))
    compare(case, case.robot.bias_force(*s[:2]), h)
    compare(case, case.robot.gravity_force(s.q), g)


def _slope_of_acceleration(case: Case, dq: np.ndarray, dv: np.ndarray, du: np.ndarray) -> np.ndarray:
    s, tau, e = case.instant, case.commands, case.equation

    def at(h: float) -> np.ndarray:
        moved = s._replace(q=e.move(s.q, dq, h), v=s.v + h * dv)
        return e.forward(moved, tau + h * du)

    return slope(at)


def jvp(case: Case) -> None:
    n = case.equation.nv
    dq, dv, du = directions(case, n, n, n)
    dq, dv = tangent(case, case.instant, dq, dv)
    options, wrenches = kernel_inputs(case)
    kernel = case.robot.jvp("forward_dynamics", by=("q", "v", "tau"), **options)
    got = first(kernel(*case.instant[:2], case.commands, *wrenches, dq, dv, du), 1)
    compare(case, got, _slope_of_acceleration(case, dq, dv, du), OF_DIFFERENCES)


def derivatives(case: Case) -> None:
    n = case.equation.nv
    dq, dv, du = directions(case, n, n, n)
    dq, dv = tangent(case, case.instant, dq, dv)
    of = case.robot.forward_dynamics_derivatives
    d = take(of, *case.instant[:2], case.commands, **instant_options(case))
    compare(case, d.q @ dq + d.v @ dv + d.tau @ du, _slope_of_acceleration(case, dq, dv, du), OF_DIFFERENCES)


def linearize(case: Case) -> None:
    n = case.equation.nv
    dq, dv, du = directions(case, n, n, n)
    dq, dv = tangent(case, case.instant, dq, dv)
    A, B = take(case.robot.linearize, *case.instant[:2], case.commands, **instant_options(case))
    got = A[n:] @ np.concatenate([dq, dv]) + B[n:] @ du
    compare(case, got, _slope_of_acceleration(case, dq, dv, du), OF_DIFFERENCES)


def _simulated(case: Case, duration: float, **more: Any) -> Any:
    options = {"control": case.commands, "dt": DT, **case.options, **case.simulate, **more}
    if case.wrenches:
        options["wrenches"] = case.wrenches_of_first()
    return case.robot.simulate(*case.start[:2], duration, **options)


def adaptive(case: Case) -> None:
    run = _simulated(case, 5 * DT, integrator=ts.Adaptive("dop853", tolerance=1e-10))
    fine = 8 if case.equation.modes and not case.equation.ticks else 1  # beams vibrate within a step
    if case.equation.contacts:
        end = impulses.located(case.equation, case.start, case.command, DT, 5)
    else:
        end = case.equation.run(case.start, case.command, DT / fine, 5 * fine)[-1]
    compare(case, run.q[-1], end.q, 1e-8)
    compare(case, run.v[-1], end.v, 1e-8)


def events(case: Case) -> None:
    """The state half a step after the third step."""
    run = _simulated(case, 5 * DT, events=lambda t, q, v: t - 3.5 * DT)
    (found,) = [x for x in run.events if "stop" not in x.name]
    if case.equation.contacts:  # within a step the velocity is that of its end
        end = impulses.run(case.equation, case.start, case.command, DT, 4)[-1]
    else:
        end = case.equation.run(case.start, case.command, DT, 3)[-1]
        end = case.equation.run(end, case.command, DT / 2, 1)[-1]
    compare(case, found.t, 3.5 * DT)
    compare(case, found.v, end.v)


def several(case: Case) -> None:
    """Two quantities of one kernel."""
    options, wrenches = kernel_inputs(case)
    kernel = case.robot.kernel("forward_dynamics", "mass_matrix", **options)
    a, M = kernel(*case.instant[:2], case.commands, *wrenches)
    compare(case, first(a, 1), case.equation.forward(case.instant, case.commands))
    compare(case, first(M, 2), case.equation.mass(case.instant))


def _batch(case: Case, n: int) -> tuple[list[np.ndarray], dict[str, Any]]:
    """n equal states with other joint forces, and options."""
    q, v = (np.tile(x, (n, 1)) for x in case.instant[:2])
    tau = case.commands * np.linspace(0, 1, n)[:, None]
    return [q, v, tau], instant_options(case)


def batch(case: Case) -> None:
    (q, v, tau), options = _batch(case, 5)
    got = take(case.robot.forward_dynamics, q, v, tau, **options)
    compare(case, got, np.array([case.equation.forward(case.instant, x) for x in tau]))


def threads(case: Case) -> None:
    """The same bits from several threads."""
    given, options = _batch(case, 64)
    alone = take(case.robot.forward_dynamics, *given, **options)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: case.robot.forward_dynamics(*given, **options), range(8)))
    assert all((x == alone).all() for x in found)
    compare(case, alone[-1], case.equation.forward(case.instant, case.commands))


def task_space(case: Case) -> None:
    """The acceleration of the hand under the joint forces."""
    s, e = case.instant, case.equation
    q, _ = case.on_tree(s)
    task = case.robot.task("hand", "linear", singular="truncated" if e.rows else "raise")  # rows may hold the hand
    a = e.forward(s, case.commands)
    tau = take(task.inverse_dynamics, *s[:2], task.acceleration(*s[:2], a), **instant_options(case)).tau
    J = e.jacobian(s.q, "hand", s.t)[3:] @ e.projection(s.q, s.t)
    compare(case, J @ e.forward(s, tau), J @ a, 1e-8)


def reactions(case: Case) -> None:
    """The wrench through the first joint moves the whole machine: its momentum changes by it, gravity and other wrenches."""
    s, e = case.instant, case.equation
    a = e.forward(s, case.commands)
    got = take(case.robot.reaction_wrenches, *s[:2], a, wrenches=case.wrenches_of_first(), **case.clock)
    through = got[case.robot.joints.index("rail")]
    R = e.pose(s.q, "cart", s.t)[:3, :3]
    tree, *state = e.whole(s.q, s.v, s.t)
    moving = [name for name in tree.links if name not in ("base", "carrier", "seat")]
    mass = tree.total_mass(links=moving)
    push = mass * (tree.center_of_mass_acceleration(*state, e.acceleration(s, a), links=moving) - tree.gravity)
    for name, wrench in ((name, F) for name, F in e.wrenches if name != "hook"):  # which is on the base
        push = push - e.pose(s.q, name, s.t)[:3, :3] @ wrench(s)[3:]
    if not e.rows:
        compare(case, R @ through[3:], push)
        return
    row = e.row("rail")  # along the rail, constraints push by Aᵀλ = M a − load − E τ
    axis = (e.jacobian(s.q, "cart", s.t) @ e.projection(s.q, s.t))[3:, row]
    held = (e.mass(s) @ a - e.load(s) - e.drives() @ e.inverse(s, a))[row]
    compare(case, axis @ R @ through[3:], axis @ push - held)


def explain(case: Case) -> None:
    s, e = case.instant, case.equation
    a = e.forward(s, case.commands)
    found = take(case.robot.explain, *s[:2], a, **instant_options(case))
    compare(case, found.tau, e.inverse(s, a))
    assert found.table()


def symbolic(case: Case) -> None:
    """M, and the saddle system of all formulas: M a − Aᵀλ = τ − c − g + Q + Σ f, A a = −drift."""
    s, (q, v, *_) = case.robot.symbolic(parameters="numbers", form="program"), case.instant
    rest = {f"state_{k}": z for k, z in enumerate(np.concatenate([[], *case.rest.values()]), start=1)}
    more = {"t": INSTANT} | rest | dict.fromkeys((f"load_{k}" for k in range(1, case.robot.nv + 1)), 0.0)

    def number(*key: str) -> np.ndarray:
        formula = s.quantity(*key)
        names = {a.name for a in formula.program.inputs}
        return formula(*(q, v)[: len(formula.part.reads)], **{name: x for name, x in more.items() if name in names})

    M = number("M")
    compare(case, M, case.equation.mass(case.instant))
    force = case.commands - number("c") - number("g") + number("forces") + sum(number("force", name) for name in s.terms)
    A, drift = (number("A"), number("drift")) if case.robot.model.has_rows else (np.zeros((0, len(v))), np.zeros(0))
    saddle = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    a = np.linalg.lstsq(saddle, np.concatenate([force, -drift]), rcond=1e-12)[0][: len(v)]
    compare(case, a, case.equation.forward(case.instant, case.commands))


def _arrays(case: Case) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Options of a function of tensors, and its arguments, whose precision it follows."""
    options, wrenches = kernel_inputs(case)
    kind = options.pop("dtype")
    return options, [np.asarray(x, kind) for x in (*case.instant[:2], case.commands, *wrenches)]


def torch(case: Case) -> None:
    import torch as library

    options, given = _arrays(case)
    function = ts.adapters.torch_function(case.robot, "forward_dynamics", **options)
    found = function(*map(library.tensor, given))
    compare(case, first(found, 1), case.equation.forward(case.instant, case.commands))


def jax(case: Case) -> None:
    import jax as library

    library.config.update("jax_enable_x64", True)  # else JAX's arrays are of single precision
    options, given = _arrays(case)
    found = ts.adapters.jax_function(case.robot, "forward_dynamics", **options)(*given)
    compare(case, first(found, 1), case.equation.forward(case.instant, case.commands))


def verify(case: Case) -> None:
    certificate = case.robot.verify(samples=2, peers=False)
    assert certificate.passed, str(certificate)


def _reloaded(case: Case, extension: str) -> ts.Robot:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"machine.{extension}"
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ts.save(case.robot, path)
        if said:
            raise Refused(str(said[0].message))
        again = ts.load(path)
        assert again.description.terms == case.robot.description.terms
        return again


def _same_after(case: Case, extension: str) -> None:
    """The acceleration of the robot that is read back."""
    s = case.instant
    again = _reloaded(case, extension)
    got = take(again.forward_dynamics, *s[:2], case.commands, **instant_options(case))
    compare(case, got, case.equation.forward(s, case.commands))


def urdf(case: Case) -> None:
    _same_after(case, "urdf")


def mjcf(case: Case) -> None:
    _same_after(case, "mjcf")


def replayed(case: Case) -> None:
    """The page of a motion has the robot's last position."""
    run = _simulated(case, 3 * DT)
    assert replay.html(run).startswith("<!doctype html>")


def sweep(case: Case) -> None:
    """A study of two points in other processes."""
    found = ts.sweep(case.robot, {"q": [case.instant.q] * 2}, "mass_matrix", workers=2).array()
    compare(case, found[1], case.equation.mass(case.instant))


#: the methods that are tried with each feature
MORE_METHODS = {
    "M, h, g": Method(tree_quantities, "tree"),
    "jvp": Method(jvp),
    "derivatives": Method(derivatives),
    "linearize": Method(linearize),
    "simulate, adaptive": Method(adaptive, "simulate"),
    "simulate, events": Method(events, "simulate"),
    "kernel of several": Method(several),
    "batch": Method(batch),
    "threads": Method(threads),
    "task space": Method(task_space),
    "reactions": Method(reactions),
    "explain": Method(explain),
    "symbolic": Method(symbolic, "tree"),
    "torch": Method(torch),
    "JAX": Method(jax),
    "verify": Method(verify, "tree"),
    "URDF": Method(urdf),
    "MJCF": Method(mjcf),
    "replay": Method(replayed, "simulate"),
    "sweep over processes": Method(sweep, "tree"),
}
