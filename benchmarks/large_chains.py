"""``python -m benchmarks.large_chains``: forward dynamics of chains of 2 … 1,000,000 links, by every method.

Seconds, depth (steps that must follow one another), bytes and backward error ‖M a + h − τ‖ / (‖h‖ + ‖τ‖) of each; and where the
articulated-body algorithm overtakes M and its factors (F&O §2: near nine joints), in operations and in time.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import torsor as ts
from benchmarks import machine, report
from benchmarks.timing import Effort, time_interleaved
from torsor import large
from torsor.algorithms.aba import aba
from torsor.algorithms.dynamics import forward_dynamics_by_factors
from torsor.compile import Argument, Kernel, Program, record
from torsor.mechanics.large.steps import DEPTHS, depth

#: method → the longest chain it is asked for
METHODS = {
    "aba": 1_000_000,
    "divide_and_conquer": 1_000_000,
    "constraint_force": 1_000_000,
    "constraint_force_sequential": 1_000_000,
    "sparse": 100_000,
}
#: dense M: Robot's kernels and NumPy's Cholesky factors
DENSE = 50
COUNTED = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 25, 30, 40)
HEADS = ["links", "method", "seconds", "µs/link", "depth", "bytes/link", "backward error"]


def sizes(largest: int) -> list[int]:
    """2, 10, 30, 100, 300, 1000, then powers of ten."""
    return [n for n in (2, 10, 30, 100, 300, 1000, 10_000, 100_000, 1_000_000) if n <= largest]


def state(tree: large.LargeTree) -> tuple[np.ndarray, ...]:
    """A rope at rest in a gentle random bend: each link turned by a tenth of a radian or so."""
    rng = np.random.default_rng(0)
    return tuple(0.1 * rng.normal(size=tree.nv) for _ in range(3))


def measure_row(method: str, n: int, rounds: int, tree: large.LargeTree | None = None) -> dict[str, Any]:
    """One row: the best of several calls, and what the first of them allocated."""
    tree = large.chain(n) if tree is None else tree
    q, v, tau = state(tree) if tree.is_chain else random_state(tree)
    call = lambda: tree.forward_dynamics(q, v, tau, method=method)  # noqa: E731
    a = call()  # compiles
    h, back = tree.inverse_dynamics(q, v, 0 * a), tree.inverse_dynamics(q, v, a)
    error = float(np.abs(back - tau).max() / (np.abs(h).max() + np.abs(tau).max()))
    row = {"links": n, "method": method, "seconds": best(call, rounds), "backward_error": error, "bytes": peak(call) // n}
    return row | ({"depth": depth(tree, method)} if method in DEPTHS else {})


def random_state(tree: large.LargeTree) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    return tree.random_configuration(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)


def best(call: Callable[[], Any], rounds: int) -> float:
    """Seconds of the fastest call; short calls are repeated until they can be timed."""
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-7)
    loops = max(1, int(0.02 / once))
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(loops):
            call()
        times.append((time.perf_counter() - start) / loops)
    return min(times)


def peak(call: Callable[[], Any]) -> int:
    """Bytes a call takes at most, beyond what was there."""
    gc.collect()
    tracemalloc.start()
    call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


# -- few links: every robot its own kernel -----------------------------------------------------------------------


def arm(n: int) -> ts.Robot:
    """n hinges with offsets, twists and inertias that fold to nothing: what an arm of any make costs."""
    rng = np.random.default_rng(n)
    b = ts.Builder(f"arm{n}").link("link0")
    for k in range(1, n + 1):
        com, xyz, rpy = rng.normal(scale=0.1, size=3), rng.normal(scale=0.3, size=3), rng.normal(size=3)
        b.link(f"link{k}", mass=1.0, com=tuple(com), inertia=(0.02, 0.001, 0.002, 0.03, 0.003, 0.025))
        b.joint(f"joint{k}", "revolute", f"link{k - 1}", f"link{k}", axis=(0, 0, 1), xyz=tuple(xyz), rpy=tuple(rpy))
    return b.build()


def record_algorithm(algorithm: Callable[..., Any], robot: ts.Robot) -> Program:
    """The program of an algorithm for one robot."""
    arguments = [Argument("q", (robot.nq,)), Argument("v", (robot.nv,)), Argument("tau", (robot.nv,))]
    return record(lambda q, v, tau: {"a": algorithm(robot.model, q, v, tau)}, arguments)


def overtaking(counts: Sequence[int] = COUNTED, batch: int = 1024, timed: bool = True) -> list[dict[str, Any]]:
    """Operations, and nanoseconds a state in a batch, of ABA and of CRBA with factors, for arms of n hinges."""
    rows = []
    for n in counts:
        robot = arm(n)
        programs = {"aba": record_algorithm(aba, robot), "crba": record_algorithm(forward_dynamics_by_factors, robot)}
        row: dict[str, Any] = {"links": n} | {f"{name}_operations": p.operations for name, p in programs.items()}
        if timed:
            row |= nanoseconds({name: Kernel(program, name=name) for name, program in programs.items()}, n, batch)
        rows.append(row)
    return rows


def nanoseconds(kernels: dict[str, Kernel], n: int, batch: int) -> dict[str, float]:
    """What a state takes in a batch, on one thread; the kernels are timed in turn."""
    rng = np.random.default_rng(n)
    states = dict(zip(("q", "v", "tau"), (rng.normal(size=(batch, n)) for _ in range(3)), strict=True))
    with ts.threads(1):
        times = time_interleaved([f"{name}(q, v, tau)" for name in kernels], kernels | states, Effort())
    return {f"{name}_ns": t / batch * 1e9 for name, t in zip(kernels, times, strict=True)}


def crossover(rows: Sequence[dict[str, Any]], unit: str) -> int | None:
    """The first number of links from which ABA stays below CRBA with factors."""
    above = [r["links"] for r in rows if r[f"aba_{unit}"] >= r[f"crba_{unit}"]]
    later = [r["links"] for r in rows if not above or r["links"] > max(above)]
    return min(later, default=None)


def time_dense_solution(n: int, rounds: int) -> dict[str, Any]:
    """M by CRBA's kernel, h by RNEA's, and NumPy's Cholesky factors: what most people would write."""
    robot = arm(n)
    rng = np.random.default_rng(n)
    q, v, tau = (0.1 * rng.normal(size=n) for _ in range(3))

    def call() -> np.ndarray:
        L = np.linalg.cholesky(robot.mass_matrix(q))
        return np.linalg.solve(L.T, np.linalg.solve(L, tau - robot.bias_force(q, v)))

    a, h = call(), robot.bias_force(q, v)
    error = np.abs(robot.inverse_dynamics(q, v, a) - tau).max() / (np.abs(h).max() + np.abs(tau).max())
    return {
        "links": n,
        "method": "crba + cholesky",
        "seconds": best(call, rounds),
        "backward_error": float(error),
        "bytes": peak(call) // n,
    }


# -- the table ---------------------------------------------------------------------------------------------------


def cells(row: dict[str, Any]) -> list[str]:
    return [
        str(row["links"]),
        row["method"],
        f"{row['seconds']:.3g}",
        f"{row['seconds'] / row['links'] * 1e6:.3g}",
        str(row.get("depth", "")),
        str(row["bytes"]),
        f"{row['backward_error']:.0e}",
    ]


def plot(rows: Sequence[dict[str, Any]]) -> Any:
    """Time a link and depth against links, a line a method; a matplotlib figure."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for method in dict.fromkeys(r["method"] for r in rows):
        mine = [r for r in rows if r["method"] == method]
        left.loglog([r["links"] for r in mine], [r["seconds"] / r["links"] * 1e6 for r in mine], "o-", ms=3, label=method)
        deep = [r for r in mine if "depth" in r]
        right.loglog([r["links"] for r in deep], [r["depth"] for r in deep], "o-", ms=3, label=method)
    left.set(xlabel="links", ylabel="µs a link", title="time")
    right.set(xlabel="links", ylabel="sequential steps", title="depth")
    left.legend(fontsize=7)
    return figure


def main() -> None:
    """Measure, print, write."""
    options = _arguments()
    results: dict[str, Any] = {"machine": machine.describe()}
    print(machine.summary(results["machine"]), flush=True)
    rows = results["chains"] = []
    for n in sizes(options.largest):
        rounds = 5 if n < 1_000_000 else 2
        rows += [measure_row(m, n, rounds) for m, most in METHODS.items() if n <= most and _available(m)]
        rows += [time_dense_solution(n, rounds)] if n <= DENSE else []
    print("\nchains\n" + report.table(HEADS, [cells(r) for r in rows]), flush=True)
    trees = results["trees"] = []
    for n in sizes(options.largest)[1:]:
        tree = large.random_tree(n, np.random.default_rng(n), branching=0.5)
        trees += [measure_row(m, n, 3, tree) for m in ("aba", "divide_and_conquer")]
    print("\nrandom trees with every joint type\n" + report.table(HEADS, [cells(r) for r in trees]), flush=True)
    over = results["overtaking"] = overtaking()
    heads = list(over[0])
    print("\narms, ABA against CRBA with factors\n" + report.table(heads, [[f"{r[h]:.0f}" for h in heads] for r in over]))
    for unit in ("operations", "ns"):
        print(f"ABA overtakes at {crossover(over, unit)} links in {unit} (F&O section 2: 9)")
    path = options.json or report.FOLDER / "large_chains.json"
    print("\nwritten to " + ", ".join(map(str, report.save(results, path))))
    if options.plot:
        plot(rows).savefig(options.plot)


def _available(method: str) -> bool:
    try:
        large.chain(2).forward_dynamics(np.zeros(2), np.zeros(2), np.zeros(2), method=method)
    except (ts.errors.UnknownName, ts.errors.MissingExtra):
        return False
    return True


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_chains", description=__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000, help="links of the longest chain")
    parser.add_argument("--json", type=Path, help="where to write (default: results/large_chains.json)")
    parser.add_argument("--plot", type=Path, help="save the plot of time and depth there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
