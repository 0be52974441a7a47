"""``python -m benchmarks``: agreement, then times, then the goals."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torsor as ts
from benchmarks import (
    adapters,
    calls,
    closed_rollouts,
    constrained,
    derivatives,
    first_calls,
    machine,
    operations,
    peers,
    pinocchio_contests,
    processes,
    report,
    robots,
    rollouts,
    scaling,
    simulation,
)
from benchmarks.timing import QUICK, Contest, Effort, pin_to_one_core

SECTIONS = (
    "one", "batch", "peers", "constrained", "rollouts", "closed", "simulate", "operations", "threads", "startup", "memory",
    "calls", "adapters", "derivatives",
)  # fmt: skip
#: robots whose batches are spread over two threads
THREADED = ("ur5", "g1")


def main() -> None:
    """Run what the command line asks for; print it and write it down."""
    options = _arguments()
    if options.operations or options.write_operations:
        operations.show(write=options.write_operations)
        return
    results = measure(robots.cases(options.robots), QUICK if options.quick else Effort(), options.only.split(","))
    results["quick"] = options.quick
    print("\n" + report.processes(results))
    print("\n" + report.goals(results))
    print("\nwritten to " + ", ".join(str(p) for p in report.save(results, options.json)))
    if options.quick:
        print("--quick checks the benchmark, not the library: its rounds are too short for numbers")


def measure(cases: list[robots.Case], effort: Effort, sections: list[str]) -> dict[str, Any]:
    """Everything, in one dictionary.  Contests run on one pinned core and one thread."""
    here = machine.describe()  # before anything else, so that the load average is not our own
    print(machine.summary(here), flush=True)
    results: dict[str, Any] = {"machine": here, "contests": []}
    results["startup"] = processes.startup(effort.processes) if "startup" in sections else {}
    results["memory"] = processes.memory() if "memory" in sections else []
    results["first_calls"] = first_calls.seconds(min(2, effort.processes)) if "calls" in sections else {}
    results["adapters"] = adapters.measure(effort) if "adapters" in sections else {}
    if "calls" in sections:
        print("\n" + report.first_calls(results["first_calls"]), flush=True)
    with pin_to_one_core(), ts.threads(1):
        for case in (c for c in cases if c.name == "ur5" and "calls" in sections):
            results["ways"], results["bound"] = calls.ways(case, effort), calls.bound_before(case, effort)
            print("\n" + report.ways(results["ways"]), flush=True)
        for case in cases:
            results["contests"] += _run_contests(_contests(case, effort, sections), effort, here)
        for contests in constrained.contests(effort) if "constrained" in sections else ():
            results["contests"] += _run_contests(contests, effort, here)
        for contests in closed_rollouts.contests() if "closed" in sections else ():
            results["contests"] += _run_contests(contests, effort, here)
        for contests in simulation.contests(effort) if "simulate" in sections else ():
            results["contests"] += _run_contests(contests, effort, here)
        results["derivatives"] = _derivatives(cases, effort) if "derivatives" in sections else {}
        fallers = [c for c in cases if c.name in rollouts.NAMES] if "rollouts" in sections else []
        for case in fallers:
            results["contests"] += _run_contests(rollouts.contests(case), effort, here)
        results["rollouts"] = [rollouts.costs(case, effort) for case in fallers]
    if "operations" in sections:
        results["operations"] = {c.name: {q: c.robot.program(q).operations for q in operations.QUANTITIES} for c in cases}
    results["rollout_threads"] = [rollouts.two_threads(c, effort) for c in fallers if c.name in THREADED]
    if "threads" in sections:
        results["threads"] = [scaling.two_threads(c, effort) for c in cases if c.name in THREADED]
    here["load_average_after"] = machine.load()  # above about one, somebody else was computing too
    return results


def _contests(case: robots.Case, effort: Effort, sections: list[str]) -> Iterable[Contest]:
    if "one" in sections:
        yield from pinocchio_contests.one_call(case)
    if "batch" in sections:
        yield from pinocchio_contests.batches(case, effort)
        yield from pinocchio_contests.mass_matrices(case, effort)
    if "calls" in sections:
        yield from calls.contests(case)
    if "peers" in sections and case.name == "ur5":
        yield from peers.contests(case)
    if "derivatives" in sections:
        yield from derivatives.contests(case)


def _derivatives(cases: list[robots.Case], effort: Effort) -> dict[str, Any]:
    """What is measured of derivatives beside contests, printed as a table."""
    small = [case for case in cases if case.robot.nv <= 18]
    found = {
        "operations": [derivatives.operations(case) for case in cases],
        "second": [derivatives.second(case, effort) for case in small],
        "rollout": [derivatives.rollout(case, effort) for case in small],
        "cold": [derivatives.cold_times(case) for case in cases],
    }
    print("\n" + report.derivatives(found), flush=True)
    return found


def _run_contests(contests: Iterable[Contest], effort: Effort, here: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of a robot's contests, printed as a table."""
    records = [report.with_shares(contest.run(effort), here) for contest in contests]
    if records:
        print("\n" + report.contests(records), flush=True)
    return records


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run that shows the benchmark works; no numbers to quote")
    parser.add_argument("--robots", default="", help="comma-separated: ur5,panda,solo12,g1,talos (default: all)")
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"comma-separated sections: {','.join(SECTIONS)}")
    parser.add_argument("--json", type=Path, help="where to write (default: results/<date>.json and results/latest.json)")
    parser.add_argument("--operations", action="store_true", help="print the operation counts of the bundled robots")
    parser.add_argument("--write-operations", action="store_true", help="and store them in benchmarks/operations.json")
    options = parser.parse_args()
    unknown = set(options.only.split(",")) - set(SECTIONS)
    if unknown:
        parser.error(f"no such section: {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    return options


if __name__ == "__main__":
    main()
