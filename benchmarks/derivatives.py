"""Derivatives of dynamics against Pinocchio called from Python: batches of 1024 with ``out=``, and one call.

The gradient λᵀ∂a needs no matrix; Pinocchio has none without one, so it is measured against ``computeABADerivatives``.
Further peers are MuJoCo's finite differences and CasADi's derivatives as compiled C (fixed bases, where a derivative by q
means the same in all), and finite differences of torsor itself.
"""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from benchmarks import peers
from benchmarks.processes import run_python
from benchmarks.robots import Case
from benchmarks.states import Translation, random_states
from benchmarks.timing import Contest, Effort, time_interleaved
from torsor.adapters import casadi_function

#: states of a batch
BATCH = 1024
#: steps of finite differences: of torsor (central) and of MuJoCo (to one side)
STEP, MUJOCO_STEP = 1e-5, 1e-6
#: agreement that finite differences can reach, relative to the largest number
DIFFERENCES = 1e-4


class Derivative(NamedTuple):
    """torsor's call with its arguments, Pinocchio's statement over x, y, z = q, v, a, and its result in torsor's order."""

    name: str
    ours: str
    theirs: str
    answer: str


DERIVATIVES = (
    Derivative(
        "∂τ/∂(q, v), M", "robot.inverse_dynamics_derivatives(q, v, a{out})",
        "r = pin.computeRNEADerivatives(model, data, x, y, z)", "whole(r)",
    ),
    Derivative(
        "∂a/∂(q, v, τ)", "robot.forward_dynamics_derivatives(q, v, a{out})",
        "r = pin.computeABADerivatives(model, data, x, y, z)", "whole(r)",
    ),
    Derivative(
        "gradient λᵀ∂a", "gradient(q, v, a, w{out})",
        "r = pin.computeABADerivatives(model, data, x, y, z)", "weighted(r, weights)",
    ),
)  # fmt: skip


def contests(case: Case, samples: int = 10) -> Iterator[Contest]:
    """Every derivative in a batch and for one call; then the other peers."""
    robot = case.robot
    translation = Translation.between(robot, case.model)
    q, v, a = random_states(robot, BATCH)
    w = np.random.default_rng(1).uniform(-1, 1, (BATCH, robot.nv))
    many = {"q": q, "v": v, "a": a, "w": w, "weights": w}
    many |= {"x": translation.configuration(q), "y": translation.velocity(v), "z": translation.velocity(a)}
    ones = [{k: x[n].copy() for k, x in many.items()} for n in range(samples)]
    names = {"robot": robot, "gradient": robot.vjp("forward_dynamics"), "pin": pin, "np": np, "model": case.model}
    names |= {"data": case.model.createData(), **_results(translation)}
    for d in DERIVATIVES:
        yield _batch(case, d, names, many)
        yield _one_call(case, d, names, ones)
    yield from _differences(case, names | many)
    if case.source.base == "fixed":
        yield from _mujoco(case, names, many)
    if case.name == "ur5":
        yield from _casadi(case, names, many)


def _results(translation: Translation) -> dict[str, Callable[..., Any]]:
    """Pinocchio's three matrices as torsor's, and their product with weights from the left; of M it has the upper triangle."""

    def whole(r: Any) -> np.ndarray:
        *blocks, M = r
        return np.array([translation.matrix_back(x) for x in (*blocks, np.triu(M) + np.triu(M, 1).T)])

    return {"whole": whole, "weighted": lambda r, w: np.array([w @ x for x in whole(r)])}


def _batch(case: Case, d: Derivative, names: dict[str, Any], many: dict[str, Any]) -> Contest:
    n = case.robot.nv
    shape = (BATCH, n) if "gradient" in d.ours else (BATCH, n, n)
    rows = list(zip(many["x"], many["y"], many["z"], strict=True))
    scope = names | many | {"rows": rows, "out": tuple(np.empty(shape) for _ in range(3))}
    exec(f"def value(x, y, z, weights):\n    {d.theirs}\n    return {d.answer}", scope)
    return Contest(
        "derivatives", d.name, case.name, "Pinocchio loop", d.ours.format(out=", out=out"),
        f"for x, y, z in rows: {d.theirs}", scope, states=BATCH, our_answer="np.stack(out, axis=1)",
        answer="np.array([value(*row, k) for row, k in zip(rows, weights)])",
        extra={"bytes_written": 24 * int(np.prod(shape[1:]))},
    )  # fmt: skip


def _one_call(case: Case, d: Derivative, names: dict[str, Any], states: list[dict[str, Any]]) -> Contest:
    ours = d.ours.format(out="")
    return Contest(
        "derivatives, one call", d.name, case.name, "Pinocchio", ours, d.theirs, names | states[0], states,
        our_answer=f"np.array({ours})", answer=d.answer,
    )  # fmt: skip


# -- other peers ------------------------------------------------------------------------------------------------------


def _differences(case: Case, names: dict[str, Any]) -> Iterator[Contest]:
    """Central differences of torsor's own inverse dynamics, all columns of a batch in one call, with M."""
    robot = case.robot
    steps = STEP * np.concatenate([np.eye(robot.nv), -np.eye(robot.nv)])

    def differences(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
        q, v, a = (x[:, None] for x in (q, v, a))
        values = robot.inverse_dynamics(robot.integrate(q, steps), v, a), robot.inverse_dynamics(q, v + steps, a)
        halves = (np.split(x, 2, axis=1) for x in values)
        slopes = ((up - down).swapaxes(1, 2) / (2 * STEP) for up, down in halves)
        return *slopes, robot.mass_matrix(q[:, 0])

    n = robot.nv
    names = names | {"differences": differences, "out": tuple(np.empty((BATCH, n, n)) for _ in range(3))}
    yield Contest(
        "derivatives", DERIVATIVES[0].name, case.name, "torsor's differences", DERIVATIVES[0].ours.format(out=", out=out"),
        "differences(q, v, a)", names, states=BATCH, our_answer="np.stack(out, axis=1)",
        back=lambda r: np.stack(r, axis=1), agreement=DIFFERENCES,
    )  # fmt: skip


def _mujoco(case: Case, names: dict[str, Any], many: dict[str, Any]) -> Iterator[Contest]:
    """``mjd_inverseFD``: finite differences of ``mj_inverse``, the state put in by the caller."""
    try:
        import mujoco as mj
    except ImportError as error:
        print(f"  MuJoCo is left out: {error}")
        return
    m, n = peers.mujoco_model(case), case.robot.nv
    d = mj.MjData(m)
    blocks = [np.empty((n, n)) for _ in range(3)]
    theirs = "for q1, v1, a1 in rows: d.qpos[:] = q1; d.qvel[:] = v1; d.qacc[:] = a1; mj.mj_inverse(m, d); fd(m, d)"

    def fd(m: Any, d: Any) -> list[np.ndarray]:
        mj.mjd_inverseFD(m, d, MUJOCO_STEP, False, *blocks, None, None, None, None)
        return blocks

    def value(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
        mj.mj_inverse(m, d)
        return np.array([x.T for x in fd(m, d)])

    rows = list(zip(many["q"], many["v"], many["a"], strict=True))
    names = names | {"mj": mj, "m": m, "d": d, "fd": fd, "value": value, "rows": rows, **many}
    names["out"] = tuple(np.empty((BATCH, n, n)) for _ in range(3))
    yield Contest(
        "derivatives", DERIVATIVES[0].name, case.name, "MuJoCo mjd_inverseFD", DERIVATIVES[0].ours.format(out=", out=out"),
        theirs, names, states=BATCH, our_answer="np.stack(out, axis=1)", answer="np.array([value(*row) for row in rows])",
        agreement=DIFFERENCES,
    )  # fmt: skip


#: a loop in C over the generated function: f(const double **arguments, double **results, ints, doubles, memory)
LOOP = """
int {name}(const double **, double **, long long *, double *, int);
void loop(long n, long k, const double *q, const double *v, const double *a, double *dq, double *dv, double *M)
{{
  long long iw[{ints} + 1]; double w[{doubles} + 1]; const double *arguments[{arguments}]; double *results[{results}];
  for (long i = 0; i < n; ++i) {{
    arguments[0] = q + i * k; arguments[1] = v + i * k; arguments[2] = a + i * k;
    results[0] = dq + i * k * k; results[1] = dv + i * k * k; results[2] = M + i * k * k;
    {name}(arguments, results, iw, w, 0);
  }}
}}
"""


def _casadi(case: Case, names: dict[str, Any], many: dict[str, Any]) -> Iterator[Contest]:
    """CasADi's own derivatives of torsor's program, as C compiled for this processor and called from a loop in C."""
    try:
        import casadi as ca
    except ImportError as error:
        print(f"  CasADi is left out: {error}")
        return
    if shutil.which("gcc") is None:
        print("  CasADi is left out: there is no gcc")
        return
    f = casadi_function(case.robot, "inverse_dynamics")
    x = [ca.SX.sym(name, case.robot.nv) for name in "qva"]
    blocks = [ca.densify(ca.jacobian(f(*x), y)).T for y in x]  # CasADi's matrices are in Fortran order
    g = ca.Function("derivatives", x, blocks)
    sizes = {"ints": g.sz_iw(), "doubles": g.sz_w(), "arguments": g.sz_arg(), "results": g.sz_res()}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "derivatives.c").write_text(_generate_c(ca, g))
        Path(folder, "loop.c").write_text(LOOP.format(name="derivatives", **sizes))
        sources = [f"{folder}/{name}.c" for name in ("derivatives", "loop")]
        subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", f"{folder}/d.so", *sources], check=True)
        function = ctypes.CDLL(f"{folder}/d.so").loop
    function.argtypes, function.restype = [ctypes.c_long] * 2 + [ctypes.c_void_p] * 6, None
    n = case.robot.nv
    found, out = (tuple(np.empty((BATCH, n, n)) for _ in range(3)) for _ in range(2))
    given = [many[k].ctypes.data for k in "qva"] + [x.ctypes.data for x in found]
    rows = list(zip(*(many[k] for k in "qva"), strict=True))
    names = names | many | {"loop": lambda: function(BATCH, n, *given), "out": out, "found": found, "rows": rows}
    names["one"] = [
        (1, n, *(x + 8 * k * size for x, size in zip(given, [n] * 3 + [n * n] * 3, strict=True))) for k in range(BATCH)
    ]
    names["function"] = function
    call, each = DERIVATIVES[0].ours.format(out=""), "for x in one: function(*x)"
    many = DERIVATIVES[0].ours.format(out=", out=out"), "np.stack(out, axis=1)"
    one = f"for q, v, a in rows: {call}", f"np.array([{call} for q, v, a in rows])"
    for section, peer, theirs, (ours, answer) in (
        ("derivatives", "CasADi's C, a loop in C", "loop()", many),
        ("derivatives, one call", "CasADi's C, a loop in C", "loop()", one),
        ("derivatives, one call", "CasADi's C from Python", each, one),
    ):
        yield Contest(
            section, DERIVATIVES[0].name, case.name, peer, ours, theirs, names, states=BATCH,
            our_answer=answer, answer="np.stack(found, axis=1)",
        )  # fmt: skip


def _generate_c(ca: Any, function: Any) -> str:
    """The C source of a function."""
    generator = ca.CodeGenerator("derivatives.c")
    generator.add(function)
    return generator.dump()


# -- operations, second derivatives, compilation --------------------------------------------------------------------------


def operations(case: Case) -> dict[str, Any]:
    """Operations of forward dynamics, and of its gradient."""
    gradient, dynamics = case.robot.vjp("forward_dynamics").operations, case.robot.kernel("forward_dynamics").operations
    return {"robot": case.name, "gradient": gradient, "forward_dynamics": dynamics, "ratio": gradient / dynamics}


def second(case: Case, effort: Effort) -> dict[str, Any]:
    """Microseconds per state of λ·∂²τ/∂(q, v)², a batch with ``out=``."""
    kernel, n = case.robot.second_derivatives("inverse_dynamics", by=("q", "v")), 2 * case.robot.nv
    q, v, a = random_states(case.robot, BATCH)
    w, out = np.random.default_rng(1).uniform(-1, 1, v.shape), np.empty((BATCH, n, n))
    names = {"kernel": kernel, "q": q, "v": v, "a": a, "w": w, "out": out}
    (seconds,) = time_interleaved(["kernel(q, v, a, w, out=out)"], names, effort)
    return {"robot": case.name, "operations": kernel.operations, "us": 1e6 * seconds / BATCH}


def rollout(case: Case, effort: Effort, robots: int = 256, steps: int = 200) -> dict[str, Any]:
    """A rollout and its gradient by start and controls, over the rollout alone; semi-implicit, all states stored."""
    rng, n = np.random.default_rng(2), case.robot.nv
    q, v, _ = random_states(case.robot, robots)
    names = {"robot": case.robot, "q": q, "v": 0.1 * v, "u": rng.uniform(-1, 1, (robots, steps, n))}
    names["w"] = rng.uniform(-1, 1, (robots, steps, n))
    alone = "robot.rollout(q, v, u, dt=1e-3)"
    both = "robot.rollout(q, v, u, dt=1e-3, differentiable=True).gradient(q=w, v=w)"
    seconds, with_gradient = time_interleaved([alone, both], names, effort)
    count = robots * steps
    return {"robot": case.name, "ns": 1e9 * seconds / count, "with_gradient_ns": 1e9 * with_gradient / count,
            "ratio": with_gradient / seconds}  # fmt: skip


#: name → (order, kernel)
COMPILED = {
    "∂τ/∂(q, v), M": (1, "robot.kernel('inverse_dynamics_derivatives')"),
    "∂a/∂(q, v, τ)": (1, "robot.kernel('forward_dynamics_derivatives')"),
    "gradient λᵀ∂a": (1, "robot.vjp('forward_dynamics')"),
    "∂step/∂(q, v, τ)": (1, "robot.derivative('step', ('q', 'v', 'tau'))"),
    "gradient of a step": (1, "robot.vjp('step')"),
    "λ·∂²τ/∂(q, v)²": (2, "robot.second_derivatives('inverse_dynamics', by=('q', 'v'))"),
}

COLD = """
import json, sys, time
import numpy as np
import torsor as ts
path, base, kernels = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
robot = ts.load(path, base=base, mimic=False)
robot.mass_matrix(robot.neutral())  # LLVM is loaded
seconds = {}
for name, text in kernels.items():
    start = time.process_time()
    kernel = eval(text)
    values = [robot.neutral() if a.name == "q" else np.full(a.shape, 0.1) for a in kernel.inputs]
    kernel(*values)
    one = time.process_time() - start
    start = time.process_time()
    kernel(*(np.stack([x] * 9) for x in values))
    seconds[name] = one, time.process_time() - start
print(json.dumps(seconds))
"""


def cold_times(case: Case) -> dict[str, Any]:
    """Processor seconds of the first call of each kernel, with its recording, and of the first batch, without a cache."""
    kernels = json.dumps({name: text for name, (_, text) in COMPILED.items()})
    with tempfile.TemporaryDirectory() as cache:
        _, printed = run_python(COLD, str(case.path), case.source.base, kernels, cache=cache)
    orders = {name: order for name, (order, _) in COMPILED.items()}
    return {"robot": case.name, "seconds": [[name, orders[name], *s] for name, s in json.loads(printed).items()]}
