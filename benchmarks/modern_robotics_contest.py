"""``python -m benchmarks.modern_robotics_contest``: the book's own package against torsor.compat, line for line the same call.

UR5, from the bundled URDF by way of ``to_mr``; both sides get the same arrays.  The goal is 1000 times on trajectories.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import modern_robotics
import numpy as np

import torsor as ts
from benchmarks.timing import QUICK, Contest, Effort, pin_to_one_core
from torsor.bridges import modern_robotics as compat
from torsor.bridges.modern_robotics.deferred_compilation import STATES_BEFORE_COMPILING
from torsor.io.mr_lists import to_mr

GOAL = 1000
ROWS, SHORT, STEPS = 1000, 20, 8


def contests() -> Iterator[Contest]:
    """Trajectories (the goal), and single calls for comparison; ``states`` is the number of evaluations."""
    M, G, S = to_mr(ts.robots.ur5(), tip="tool0")
    rng = np.random.default_rng(0)
    q, v, a, tau = rng.normal(size=(4, ROWS, 6))
    names = {"mr": compat, "book": modern_robotics, "M": M, "G": G, "S": S, "g": np.array([0, 0, -9.81]),
             "q": q, "v": v, "a": a, "F": rng.normal(size=(ROWS, 6)), "tau": tau[:SHORT], "x": np.zeros(6),
             "none": np.zeros((SHORT, 6)), "q0": q[0], "v0": v[0], "a0": a[0], "F0": np.zeros(6)}  # fmt: skip
    rows = [
        ("InverseDynamicsTrajectory", "InverseDynamicsTrajectory(q, v, a, g, F, M, G, S)", ROWS),
        ("ForwardDynamicsTrajectory", f"ForwardDynamicsTrajectory(x, x, tau, g, none, M, G, S, 0.01, {STEPS})",
         (SHORT - 1) * STEPS),
        ("InverseDynamics", "InverseDynamics(q0, v0, a0, g, F0, M, G, S)", 1),
        ("ForwardDynamics", "ForwardDynamics(q0, v0, a0, g, F0, M, G, S)", 1),
        ("MassMatrix", "MassMatrix(q0, M, G, S)", 1),
        ("FKinSpace", "FKinSpace(M[0], S, q0)", 1),
        ("JacobianSpace", "JacobianSpace(S, q0)", 1),
    ]  # fmt: skip
    for name, call, states in rows:
        answer = "[0]" if name == "ForwardDynamicsTrajectory" else ""
        yield Contest("compat", name, "ur5", "modern_robotics", f"mr.{call}{answer}", f"book.{call}{answer}", names,
                      extra={"evaluations": states, "goal": GOAL if "Trajectory" in name else None})  # fmt: skip


def warm_up(contest: Contest) -> Contest:
    """Past the calls after which machine code is made, so that none of them is timed."""
    for _ in range(2 * STATES_BEFORE_COMPILING if contest.extra["evaluations"] == 1 else 2):
        eval(contest.ours, dict(contest.names))
    return contest


def main() -> None:
    """Agreement, times, ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.modern_robotics_contest", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="shorter rounds; no numbers to quote")
    effort = QUICK if parser.parse_args().quick else Effort(rounds=3)
    print(f"{'UR5':<28}{'modern_robotics':>18}{'torsor.compat':>16}{'ratio':>10}   per evaluation")
    with pin_to_one_core(), ts.threads(1):
        for contest in contests():
            r = warm_up(contest).run(effort)
            if "problem" in r:
                print(f"{r['quantity']:<28}{r['problem']}")
                continue
            n = r["evaluations"]
            verdict = "" if r["goal"] is None else f"   goal {GOAL}: {'met' if r['ratio'] >= GOAL else 'MISSED'}"
            theirs, ours = (f"{r[k] / n / 1000:,.3f} µs" for k in ("theirs_ns", "ours_ns"))
            print(f"{r['quantity']:<28}{theirs:>18}{ours:>16}{r['ratio']:>9,.0f}×{verdict}", flush=True)


if __name__ == "__main__":
    main()
