"""Results as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.clock import arithmetic_limit
from benchmarks.goals import WAYS, ratio_goal, verdicts

FOLDER = Path(__file__).with_name("results")

HEADS = ["", "robot", "states", "torsor ns", "peer", "peer ns", "ratio", "goal", "error", "of limit", "GB/s"]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned: words to the left, numbers to the right."""
    widths = [max(len(r[k]) for r in [heads, *rows]) for k in range(len(heads))]
    lines = [[_align(cell, w) for cell, w in zip(row, widths, strict=True)] for row in [heads, *rows]]
    lines.insert(1, ["─" * w for w in widths])
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _align(cell: str, width: int) -> str:
    return cell.rjust(width) if cell[:1].isdigit() or cell[:1] in "≥≤+-×" else cell.ljust(width)


def contest_row(record: dict[str, Any]) -> list[str]:
    """One contest as cells of the table."""
    head = [f"{record['section']} {record['quantity']}", record["robot"], str(record["states"])]
    if "problem" in record:
        return [*head, "", record["peer"], "—", "", "", "", "", ""]
    goal = ratio_goal(record)
    return [
        *head,
        f"{record['ours_ns']:.1f}",
        record["peer"],
        f"{record['theirs_ns']:.1f}",
        _times(record["ratio"]),
        "" if goal is None else f"≥ {goal:.3g} {'✓' if record['ratio'] >= goal else '✗'}",
        f"{record['error']:.0e}",
        f"{100 * record['of_limit']:.0f} %" if "of_limit" in record else "",
        f"{record['gigabytes_per_second']:.1f}" if "gigabytes_per_second" in record else "",
    ]


def _times(ratio: float) -> str:
    """A ratio, with two places where it is small."""
    return f"{ratio:.1f}×" if ratio >= 2 else f"{ratio:.2f}×"


def with_shares(record: dict[str, Any], machine: dict[str, Any]) -> dict[str, Any]:
    """The record with what follows from it: the share of the arithmetic limit, and the rate of writing."""
    if "ours_ns" not in record:
        return record
    more: dict[str, Any] = {"lanes": machine["lanes"]}
    if "operations" in record and record["states"] > 1:
        limit = arithmetic_limit(record["operations"], machine["lanes"], machine["clock_hz"])
        more["of_limit"] = limit / record["ours_ns"]
    if "bytes_written" in record:
        more["gigabytes_per_second"] = record["bytes_written"] / record["ours_ns"]
    return record | more


def contests(records: list[dict[str, Any]]) -> str:
    """The contests of a robot, and below them what kept any of them from being timed."""
    problems = [f"✗ {r['section']} {r['quantity']}, {r['peer']}: {r['problem']}" for r in records if "problem" in r]
    return "\n".join([table(HEADS, [contest_row(r) for r in records]), *problems])


def ways(records: list[dict[str, Any]]) -> str:
    """The ways of calling, and below them those that were not timed and why."""
    rows = []
    for r in (r for r in records if "cost" in r):
        goal = WAYS.get(r["group"])
        limit = "" if goal is None else f"≤ {goal:g} {'✓' if r['cost'] <= goal else '✗'}"
        peer = [f"{r['theirs_ns']:.0f}", _times(r["ratio"]), f"{r['error']:.0e}"] if "ratio" in r else ["", "", ""]
        rows.append([r["call"], f"{r['ours_ns']:.0f}", f"{r['base_ns']:.0f}", _times(r["cost"]), limit, *peer])
    heads = ["way of calling UR5", "torsor ns", "base ns", "cost", "goal", "Pinocchio ns", "ratio", "error"]
    left_out = [f"– {r['call']} is left out: {r['absent']}" for r in records if "absent" in r]
    problems = [f"✗ {r['call']}: {r['problem']}" for r in records if "problem" in r]
    return "\n".join([table(heads, rows), *left_out, *problems])


def first_calls(times: dict[str, dict[str, float]]) -> str:
    """Milliseconds of the first calls of a humanoid, cold and warm; the first row has the import of llvmlite."""
    rows = [[name, f"{1e3 * s:.1f}", f"{1e3 * times['warm'][name]:.1f}"] for name, s in times["cold"].items()]
    return table(["first call, G1", "cold ms", "warm ms"], rows)


def derivatives(found: dict[str, Any]) -> str:
    """Operations of gradients, times of second derivatives, and first calls of each kernel in a new process."""
    rows = [[r["robot"], f"{r['forward_dynamics']}", f"{r['gradient']}", f"{r['ratio']:.2f}×"] for r in found["operations"]]
    operations = table(["operations", "forward dynamics", "its gradient", "ratio"], rows)
    rows = [[r["robot"], f"{r['operations']}", f"{r['us']:.3f}"] for r in found["second"]]
    second = table(["λ·∂²τ/∂(q, v)²", "operations", "µs a state"], rows)
    rows = [[r["robot"], f"{r['ns']:.0f}", f"{r['with_gradient_ns']:.0f}", f"{r['ratio']:.2f}×"] for r in found["rollout"]]
    rollouts = table(["ns a robot-step", "rollout", "with its gradient", "ratio"], rows)
    rows = [[r["robot"], name, f"{one:.2f}", f"{batch:.2f}"] for r in found["cold"] for name, _, one, batch in r["seconds"]]
    return "\n\n".join((operations, second, rollouts, table(["compiled cold", "", "one call s", "batch s"], rows)))


def goals(results: dict[str, Any]) -> str:
    """The goals table: goal, measured, met or missed by how much."""
    rows = []
    for v in verdicts(results):
        wanted = f"{'≥' if v.at_least else '≤'} {v.goal:.3g}{v.unit}" if v.unit else f"≤ {v.goal:g}"
        places = 0 if not v.unit else 3 if v.goal < 0.1 else 2
        measured = f"{v.measured:.{places}f}{v.unit}"
        rows.append([v.what, v.robot, wanted, measured, v.margin])
    return table(["goal", "robot", "wanted", "measured", "verdict"], rows)


def processes(results: dict[str, Any]) -> str:
    """Start-up, memory and threads, a line each."""
    lines = [f"{name.replace('_', ' '):16}{seconds:8.3f} s" for name, seconds in results.get("startup", {}).items()]
    lines += [
        f"memory, {m['states']:>9} UR5 states: {m['beyond_mb']:.1f} MB beyond {m['inputs_mb']:.0f} MB of inputs "
        f"and {m['output_mb']:.0f} MB of output"
        for m in results.get("memory", [])
    ]
    lines += [
        f"two threads, {t['robot']}: {t['one_ns']:.1f} → {t['two_ns']:.1f} ns/state, {t['speed_up']:.2f}×, "
        f"{'same bits' if t['same_bits'] else 'DIFFERENT BITS'} (bare loops gain {t['possible']:.2f}×)"
        for t in results.get("threads", [])
    ]
    lines += [
        f"{name}, forward and backward of Panda's forward dynamics: "
        + (a.get("absent") or f"{a['us_per_state']:.2f} µs/state, first {a['first_s']:.2f} s, error {a['error']:.0e}")
        for name, a in results.get("adapters", {}).items()
    ]
    return "\n".join(lines)


def save(results: dict[str, Any], path: Path | None) -> list[Path]:
    """JSON to ``path``, or to results/<date>.json and results/latest.json."""
    stamp = results["machine"]["date"].replace(":", "").replace("+0000", "Z")
    paths = [path] if path else [FOLDER / f"{stamp}.json", FOLDER / "latest.json"]
    for p in paths:
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_text(json.dumps(results, indent=1) + "\n")
    return paths
