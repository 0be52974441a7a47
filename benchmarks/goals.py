"""The goals, as data: what each number should reach, and whether it did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ROBOTS = ("ur5", "panda", "solo12", "g1", "talos")

#: section, quantity → the ratio to reach on each robot, in the order above
RATIOS: dict[tuple[str, str], tuple[float, ...]] = {
    ("batch", "inverse_dynamics"): (28, 22, 15, 13, 13),
    ("batch", "forward_dynamics"): (28, 28, 15, 13, 13),
    ("batch", "mass_matrix"): (20, 15, 8, 5, 4),
    ("one call", "inverse_dynamics"): (5, 5, 4, 4, 4),
    ("one call", "forward_dynamics"): (5, 5, 4, 4, 4),
    ("derivatives", "∂τ/∂(q, v), M"): (35, 18, 12, 10, 10),
    ("derivatives", "∂a/∂(q, v, τ)"): (25, 10, 8, 6, 6),
    ("derivatives", "gradient λᵀ∂a"): (60, 45, 35, 35, 35),
    ("derivatives, one call", "∂τ/∂(q, v), M"): (8, 3.5, 3.5, 2.5, 2.5),
}
#: share of the batch ratios of derivatives to reach with fewer than eight lanes (AVX2)
NARROW = 0.7
#: one call of UR5's ∂τ against one of CasADi's compiled C, in C or from Python; microseconds of UR5's λ·∂²τ a state
CASADI, SECOND = 1.0, {"ur5": 0.3}
#: operations of the gradient of forward dynamics, in forward dynamics
GRADIENT = 2.4
#: a rollout and its gradient, in rollouts
ROLLOUT_GRADIENT = 3.5
#: seconds to record and compile a kernel of a derivative: first order, second order
COMPILE = {1: 5.0, 2: 15.0}

#: the same for every mechanism and every peer
#: one robot with a Python controller against a SciPy loop over Pinocchio, and peers with a goal of their own: both sides with
#: DOP853, and RK4 by hand over the same kernel of a four-bar, of which torsor may cost three times; free steps have no goal
SIMULATE = 5.0
SIMULATE_WITH = {"both DOP853": 1.5, "RK4 by hand": 1 / 3, "free steps": None}
CONSTRAINED = {("batch", "constrained_dynamics"): 10.0, ("one call", "constrained_dynamics"): 2.0}

#: robot → the ratio of a rollout to MuJoCo's
ROLLOUTS = {"ur5": 20.0, "panda": 20.0, "g1": 10.0}
#: mechanism, way to stay closed → the ratio of its rollout to MuJoCo's with ``connect``
CLOSED_ROLLOUTS = {("four-bar", "projection"): 30.0, ("Stewart", "projection"): 10.0, ("Stewart", "velocity"): 20.0}
#: what a step with a controller may cost, in steps without; semi-implicit steps a second
CONTROLLED, STEPS_PER_SECOND = 2.0, {"panda": 5e6}
#: the same with a servo, a lag and a limit at every joint
ACTUATED = 1.5

#: group of ways of calling → the most it may cost, in calls of positional ``inverse_dynamics`` in the same run
WAYS = {"keywords": 2.5, "short": 2.5, "frames": 1.3, "solved": 3.0, "wrenches": 9.0, "converted": 15.0, "rollout": 60.0}
#: microseconds by which a method bound before its first call may be slower than one bound after it
BOUND_BEFORE = 0.2
#: every quantity against Pinocchio: one call; a batch; and a copy of a large result over the time taken
CALL = 3.0
BATCH, COPY = 5.0, 1 / 1.5
#: numbers of a result above which a copy is the measure of a batch
LARGE = 300
#: seconds of the first call of a humanoid's quantity in a new process: cold; the first kernel of a warm process, each after it
COLD, WARM_FIRST, WARM_NEXT = 1.0, 0.08, 0.005
#: the one quantity that may take longer than COLD
LONG = "christoffel_symbols"

#: forward and backward of Panda's forward dynamics through torch and JAX: microseconds a state, seconds to the first result;
#: error above which both are missed
ADAPTERS, FIRST_GRADIENT, GRADIENT_ERROR = 0.5, 1.0, 1e-9

#: quantity → the most operations, from the design; None where it says nothing
OPERATIONS: dict[str, tuple[int | None, ...]] = {
    "inverse_dynamics": (566, 1230, 2089, 5809, 8192),
    "forward_dynamics": (1180, 2100, None, 11568, None),
}

#: seconds
STARTUP = {"import_torsor": 0.25, "cold": 0.8, "warm": 0.4}
#: two threads against one
SPEED_UP = 1.7
#: megabytes beyond inputs and output that count as "a constant", and how much they may grow with four times the states
MEMORY, MEMORY_GROWTH = 16.0, 4.0


@dataclass(frozen=True)
class Verdict:
    """One goal and what was measured; ``at_least`` says which way is good."""

    what: str
    robot: str
    goal: float
    measured: float
    at_least: bool
    unit: str

    @property
    def is_met(self) -> bool:
        return self.measured >= self.goal if self.at_least else self.measured <= self.goal

    @property
    def margin(self) -> str:
        """Met, or by how much it was missed, in per cent of the goal."""
        if self.is_met:
            return "met"
        return f"missed by {100 * abs(self.measured - self.goal) / self.goal:.0f} %"


def ratio_goal(record: dict[str, Any]) -> float | None:
    """The goal of a contest, if there is one: with Pinocchio, and of constrained dynamics with everybody."""
    contest = record["section"], record["quantity"]
    if record["section"] == "call":
        return CALL
    if record["section"] == "batch of 1024":
        if record["peer"] == "a copy":
            return COPY
        return None if record["numbers"] > LARGE else BATCH
    if record["section"] == "rollout":
        return ROLLOUTS.get(record["robot"])
    if record["section"] == "closed rollout":
        return CLOSED_ROLLOUTS.get((record["robot"], record["quantity"]))
    if record["section"] == "simulate":
        return next((goal for words, goal in SIMULATE_WITH.items() if words in record["peer"]), SIMULATE)
    if contest in CONSTRAINED:
        return CONSTRAINED[contest]
    if record["section"] == "derivatives, one call" and record["peer"].startswith("CasADi"):
        return CASADI
    goals = RATIOS.get(contest)
    if goals is None or not record["peer"].startswith("Pinocchio"):
        return None
    narrow = record["section"] == "derivatives" and record.get("lanes", 8) < 8
    return goals[ROBOTS.index(record["robot"])] * (NARROW if narrow else 1)


def verdicts(results: dict[str, Any]) -> Iterator[Verdict]:
    """Every goal that these results can be held against."""
    for record in results.get("contests", []):
        goal = ratio_goal(record)
        if goal is not None:
            measured = record.get("ratio", 0.0)  # a disagreement meets no goal
            sections = ("rollout", "closed rollout", "simulate", "batch of 1024")
            several = record["quantity"] == "constrained_dynamics" or record["section"] in sections
            several = several or record["peer"].startswith("CasADi")
            rival = f", {record['peer']}" if several else ""
            yield Verdict(f"{record['section']} {record['quantity']}{rival}", record["robot"], goal, measured, True, "×")
    yield from _of_ways(results.get("ways", []), results.get("bound", {}))
    yield from _of_first_calls(results.get("first_calls", {}))
    yield from _of_derivatives(results.get("derivatives", {}))
    for record in results.get("rollouts", []):
        word, ratio = max(record["controllers"].items(), key=lambda x: x[1])
        yield Verdict(f"rollout step with {word}", record["robot"], CONTROLLED, ratio, False, "×")
        if "actuators" in record:
            yield Verdict("rollout step with actuators", record["robot"], ACTUATED, record["actuators"], False, "×")
        if goal := STEPS_PER_SECOND.get(record["robot"]):
            yield Verdict("rollout, steps a second", record["robot"], goal / 1e6, record["steps_per_second"] / 1e6, True, " M")
    for record in results.get("rollout_threads", []):
        yield Verdict("rollout on two threads", record["robot"], SPEED_UP, record["speed_up"], True, "×")
    for robot, counts in results.get("operations", {}).items():
        for quantity, limits in OPERATIONS.items():
            limit = limits[ROBOTS.index(robot)]
            if limit is not None:
                yield Verdict(f"operations {quantity}", robot, limit, counts[quantity], False, "")
    for name, seconds in STARTUP.items():
        if name in results.get("startup", {}):
            yield Verdict(f"start-up, {name.replace('_', ' ')}", "ur5", seconds, results["startup"][name], False, " s")
    for record in results.get("threads", []):
        yield Verdict("two threads", record["robot"], SPEED_UP, record["speed_up"], True, "×")
    for name, record in results.get("adapters", {}).items():
        if "absent" not in record:
            right = record["error"] < GRADIENT_ERROR
            for what, goal, unit in (("us_per_state", ADAPTERS, " µs"), ("first_s", FIRST_GRADIENT, " s")):
                words = "first gradient" if unit == " s" else "forward and backward"
                yield Verdict(f"{name}, {words}", "panda", goal, record[what] if right else float("inf"), False, unit)
    if memory := results.get("memory"):
        less, more = (m["beyond_mb"] for m in memory)
        yield Verdict("memory beyond inputs, output", "ur5", MEMORY, max(0.0, more), False, " MB")
        yield Verdict("its growth, ¼ M to 1 M states", "ur5", MEMORY_GROWTH, max(0.0, more - less), False, " MB")


def _of_ways(records: list[dict[str, Any]], bound: dict[str, float]) -> Iterator[Verdict]:
    """The ways of calling a UR5 that torsor has; a disagreement meets no goal."""
    for record in records:
        goal = WAYS.get(record["group"])
        if goal is not None and "absent" not in record:
            yield Verdict(f"calling: {record['call']}", "ur5", goal, record.get("cost", float("inf")), False, "×")
    if bound:
        slower = (bound["before_ns"] - bound["after_ns"]) / 1e3
        yield Verdict("bound before its first call, slower by", "ur5", BOUND_BEFORE, slower, False, " µs")


def _of_first_calls(times: dict[str, dict[str, float]]) -> Iterator[Verdict]:
    """First calls of a humanoid: cold, except Γ; the first kernel of a warm process, and each after it."""
    if not times:
        return
    for name, seconds in times["cold"].items():
        if name != LONG:
            yield Verdict(f"first call, cold: {name}", "g1", COLD, seconds, False, " s")
    first, *others = times["warm"]
    yield Verdict("first kernel of a warm process", "g1", WARM_FIRST, times["warm"][first], False, " s")
    for name in others:
        yield Verdict(f"first call, warm: {name}", "g1", WARM_NEXT, times["warm"][name], False, " s")


def _of_derivatives(found: dict[str, Any]) -> Iterator[Verdict]:
    """Operations of the gradient, λ·∂²τ, and the first call and the first batch of each kernel in a new process."""
    for record in found.get("operations", []):
        yield Verdict("operations of the gradient, in forward dynamics", record["robot"], GRADIENT, record["ratio"], False, "×")
    for record in found.get("second", []):
        if goal := SECOND.get(record["robot"]):
            yield Verdict("λ·∂²τ/∂(q, v)², a state", record["robot"], goal, record["us"], False, " µs")
    for record in found.get("rollout", []):
        yield Verdict("rollout and its gradient, in rollouts", record["robot"], ROLLOUT_GRADIENT, record["ratio"], False, "×")
    for record in found.get("cold", []):
        for name, order, *seconds in record["seconds"]:
            yield Verdict(f"compiled cold: {name}", record["robot"], COMPILE[order], max(seconds), False, " s")
