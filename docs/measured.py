"""Tables and a chart of ``benchmarks/published.json``, the last full run of ``make bench`` that was kept.

``python docs/measured.py`` writes them into the pages and README, as plain Markdown; a test compares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from torsor.support import plotting

ROOT = Path(__file__).parents[1]
FILE = ROOT / "benchmarks" / "published.json"
PAGES = [ROOT / name for name in ("README.md", "docs/benchmarks.md", "docs/comparison.md")]
CHART = ROOT / "docs" / "images" / "ratios-to-pinocchio.svg"
#: the name of a table between the comments around it
BLOCK = re.compile(r"(<!-- measured: ([\w-]+) -->)\n.*?(<!-- end of measured -->)", re.DOTALL)
ROBOTS = {"ur5": "UR5", "panda": "Panda", "solo12": "Solo12", "g1": "G1", "talos": "Talos"}
FREEDOMS = {"ur5": 6, "panda": 9, "solo12": 18, "g1": 35, "talos": 50}
#: a row of the first table: words, section and quantity of the contest
ROWS = (
    ("inverse dynamics, batch, against `rneaInParallel`", "batch", "inverse_dynamics"),
    ("forward dynamics, batch, against `abaInParallel`", "batch", "forward_dynamics"),
    ("mass matrix, batch, against a loop of `crba`", "batch", "mass_matrix"),
    ("inverse dynamics, one call, against `rnea`", "one call", "inverse_dynamics"),
    ("forward dynamics, one call, against `aba`", "one call", "forward_dynamics"),
    ("mass matrix, one call, against `crba`", "one call", "mass_matrix"),
    ("M⁻¹, one call, against `computeMinverse`", "one call", "mass_matrix_inverse"),
    ("Jacobian, one call", "one call", "jacobian"),
)
#: the same of derivatives; the first peer of each contest is Pinocchio
DERIVATIVES = (
    ("∂τ/∂(q, v) and M, batch, against a loop of `computeRNEADerivatives`", "derivatives", "∂τ/∂(q, v), M"),
    ("∂a/∂(q, v, τ), batch, against a loop of `computeABADerivatives`", "derivatives", "∂a/∂(q, v, τ)"),
    ("gradient λᵀ∂a, batch, against the same", "derivatives", "gradient λᵀ∂a"),
    ("∂τ/∂(q, v) and M, one call", "derivatives, one call", "∂τ/∂(q, v), M"),
    ("∂a/∂(q, v, τ), one call", "derivatives, one call", "∂a/∂(q, v, τ)"),
    ("gradient λᵀ∂a, one call", "derivatives, one call", "gradient λᵀ∂a"),
)


def table(heads: list[str], rows: Iterable[list[str]], words: int = 1) -> str:
    """Markdown: the first columns are words, the others numbers."""
    lines = [heads, ["---"] * words + ["--:"] * (len(heads) - words), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def times(ratio: float) -> str:
    """How many times faster: 37×, 5.9×, 0.54×."""
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.1f}×" if ratio >= 1 else f"{ratio:.2f}×"


def duration(ns: float) -> str:
    """Nanoseconds as people say them."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g}\N{NO-BREAK SPACE}{unit}"
    return f"{ns:.3g}\N{NO-BREAK SPACE}ns"


def contests(results: dict[str, Any], section: str, quantity: str = "", robot: str = "") -> list[dict[str, Any]]:
    """The contests of a section that were timed, in the order of the file."""
    wanted = {"section": section, "quantity": quantity, "robot": robot}
    return [c for c in results["contests"] if "ratio" in c and all(not x or c[key] == x for key, x in wanted.items())]


def machine(results: dict[str, Any]) -> str:
    m = results["machine"]
    load = f"{m['load_average'][0]:.1f} before, {m['load_average_after'][0]:.1f} after"
    return table(
        ["", ""],
        [
            ["date", m["date"].replace("T", " ").replace("+00:00", " UTC")],
            ["processor", f"{m['processor']} ({m['llvm_cpu']}), {m['cores']} cores, {m['clock_hz'] / 1e9:.2f} GHz as timed"],
            ["vectors", f"{', '.join(m['vectors'])}: {m['lanes']} float64 lanes"],
            ["system", f"{m['system']}, Python {m['python']}"],
            ["versions", ", ".join(f"{name} {v}" for name, v in m["versions"].items())],
            ["load average", load + (" (**busy**: somebody else was computing too)" if m["load_average"][0] > 0.5 else "")],
        ],
        words=2,
    )


def ratios(results: dict[str, Any], rows: Iterable[tuple[str, str, str]]) -> Iterable[list[str]]:
    """Words, then the ratio to Pinocchio for each robot."""
    for words, section, quantity in rows:
        found = [contests(results, section, quantity, robot) for robot in ROBOTS]
        yield [words, *(times(c[0]["ratio"]) if c else "" for c in found)]


def pinocchio(results: dict[str, Any]) -> str:
    rows = [["degrees of freedom", *(str(FREEDOMS[r]) for r in ROBOTS)], *ratios(results, ROWS)]
    rows.append(["operations of inverse dynamics", *(str(results["operations"][r]["inverse_dynamics"]) for r in ROBOTS)])
    return table(["", *ROBOTS.values()], rows)


def speed(results: dict[str, Any]) -> str:
    """The table of the README: the most used rows of the tables of the page."""
    rows = [["degrees of freedom¹", *(str(FREEDOMS[r]) for r in ROBOTS)]]
    rows += ratios(results, [*ROWS[:5], *DERIVATIVES[:3]])
    return table(["", *ROBOTS.values()], rows)


def derivatives(results: dict[str, Any]) -> str:
    found = results["derivatives"]
    rows = [*ratios(results, DERIVATIVES)]
    for words, part, number in (
        ("operations of the gradient, over those of forward dynamics", "operations", "ratio"),
        ("rollout with its gradient, over the rollout alone", "rollout", "ratio"),
    ):
        by_robot = {r["robot"]: r[number] for r in found[part]}
        rows.append([words, *(f"{by_robot[r]:.2f}" if r in by_robot else "" for r in ROBOTS)])
    cold = {r["robot"]: max(seconds for _, _, *both in r["seconds"] for seconds in both) for r in found["cold"]}
    rows.append(["slowest kernel to record and compile [s]", *(f"{cold[r]:.1f}" if r in cold else "" for r in ROBOTS)])
    return table(["", *ROBOTS.values()], rows)


def derivative_peers(results: dict[str, Any]) -> str:
    found = [c for section in ("derivatives", "derivatives, one call") for c in contests(results, section)]
    rows = [
        [
            f"{ROBOTS[c['robot']]}, {'one call' if 'one call' in c['section'] else 'batch'}",
            c["peer"],
            duration(c["ours_ns"]),
            duration(c["theirs_ns"]),
            times(c["ratio"]),
        ]
        for c in found
        if not c["peer"].startswith("Pinocchio")
    ]
    return table(["∂τ/∂(q, v) and M", "against", "torsor", "peer", "ratio"], rows, words=2)


def facts(results: dict[str, Any]) -> str:
    """The paragraph below the table of the README."""

    def by_peer(section: str, quantity: str, peer: str) -> str:
        found = [c for c in contests(results, section, quantity) if c["peer"] == peer]
        return ", ".join(f"{ROBOTS.get(c['robot'], c['robot'])} {times(c['ratio'])}" for c in found)

    batch, one = (contests(results, section, "inverse_dynamics", "ur5")[0]["ours_ns"] for section in ("batch", "one call"))
    peers = ", ".join(f"{c['peer']} {times(c['ratio'])}" for c in contests(results, "peers", "inverse_dynamics"))
    s, m = results["startup"], results["machine"]
    threads = " and ".join(f"{t['speed_up']:.1f}×" for t in results["threads"])
    possible = " and ".join(f"{t['possible']:.1f}×" for t in results["threads"])
    steps = {r["robot"]: r["steps_per_second"] / 1e6 for r in results["rollouts"]}
    millions = ", ".join(f"{ROBOTS[name]} {n:.1f}" for name, n in steps.items())
    return "\n".join(
        (
            f"- Machine and date: {m['processor']}, {m['lanes']} float64 lanes, one core; {m['date'][:10]}.",
            f"- One UR5 inverse dynamics: {duration(batch)} in a batch, {duration(one)} as one call; the first in a new",
            f"  process, imports included, {s['cold']:.2f} s, and {s['warm']:.2f} s with a warm kernel cache.",
            f"- The same call from other libraries: {peers}.",
            "- Constrained forward dynamics in batches, against a loop of `constraintDynamics`:",
            f"  {by_peer('batch', 'constrained_dynamics', 'Pinocchio constraintDynamics loop')}.",
            "- Rollouts without contact, against `mujoco.rollout`, one core:",
            f"  {by_peer('rollout', 'semi_implicit', 'MuJoCo rollout')}; millions of steps per second: {millions}.",
            f"- Two threads: {threads} one, where two bare loops gained {possible}.",
        )
    )


def absolute(results: dict[str, Any]) -> str:
    rows = []
    for words, section, quantity in ROWS[:5]:
        found = [contests(results, section, quantity, robot)[0] for robot in ROBOTS]
        rows.append([words.split(", against")[0], *(f"{c['ours_ns']:.0f} / {c['theirs_ns']:.0f}" for c in found)])
    return table(["torsor / Pinocchio [ns]", *ROBOTS.values()], rows)


def contest_table(section: str, *, first: str) -> Callable[[dict[str, Any]], str]:
    """A table of a section with a row a contest."""

    def make_table(results: dict[str, Any]) -> str:
        rows = [
            [
                f"{ROBOTS.get(c['robot'], c['robot'])}, {c['quantity'].replace('_', ' ')}",
                c["peer"],
                duration(c["ours_ns"]),
                duration(c["theirs_ns"]),
                times(c["ratio"]),
            ]
            for c in contests(results, section)
        ]
        return table([first, "against", "torsor", "peer", "ratio"], rows, words=2)

    return make_table


def constrained_table(results: dict[str, Any]) -> str:
    kinds = [(section, contests(results, section, "constrained_dynamics")) for section in ("one call", "batch")]
    rows = [
        [f"{c['robot']}, {section}", c["peer"], duration(c["ours_ns"]), duration(c["theirs_ns"]), times(c["ratio"])]
        for section, found in kinds
        for c in found
    ]
    return table(["mechanism", "against", "torsor", "peer", "ratio"], rows, words=2)


def processes(results: dict[str, Any]) -> str:
    s, rows = results["startup"], []
    rows.append(["a bare Python", f"{s['bare_python']:.2f} s"])
    rows.append(["`import numpy` in it", f"{s['import_numpy']:.2f} s"])
    rows.append(["`import torsor` in it, NumPy included", f"{s['import_torsor']:.2f} s"])
    rows.append(["first UR5 inverse dynamics, whole process, empty cache", f"{s['cold']:.2f} s"])
    rows.append(["the same with a warm cache", f"{s['warm']:.2f} s"])
    rows.append(["memory beyond inputs and output, a million states", f"{results['memory'][-1]['beyond_mb']:.1f} MB"])
    for t in results["threads"]:
        words = f"two threads on {ROBOTS[t['robot']]} batches, against one (two bare loops gained {t['possible']:.1f}×)"
        rows.append([words, f"{t['speed_up']:.1f}×"])
    return table(["", ""], rows)


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "machine": machine,
    "speed": speed,
    "facts": facts,
    "pinocchio": pinocchio,
    "absolute": absolute,
    "peers": contest_table("peers", first="one call"),
    "derivatives": derivatives,
    "derivative-peers": derivative_peers,
    "constrained": constrained_table,
    "rollouts": contest_table("rollout", first="a step of a rollout"),
    "simulations": contest_table("simulate", first="a whole simulation"),
    "processes": processes,
}


def chart(results: dict[str, Any]) -> Any:
    """Ratios to Pinocchio as bars, a group a robot, on a logarithmic axis that begins at 1."""
    rows = [
        row
        for row in ROWS
        if row[1:] in {(s, q) for s in ("batch", "one call") for q in ("inverse_dynamics", "forward_dynamics")}
    ]
    figure, ax = plotting.pyplot().subplots(figsize=(7, 3.2))
    for k, (words, section, quantity) in enumerate(rows):
        ratios = [contests(results, section, quantity, robot)[0]["ratio"] for robot in ROBOTS]
        places = [i + 0.2 * (k - 1.5) for i in range(len(ROBOTS))]
        ax.bar(places, ratios, 0.18, label=words.split(", against")[0], color=plotting.COLORS[k])
    ax.set(yscale="log", ylim=(1, 100), ylabel="times faster than Pinocchio", xticks=range(len(ROBOTS)))
    ax.set_xticklabels([f"{name}\n{FREEDOMS[r]} dof" for r, name in ROBOTS.items()])
    ax.set_yticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    ax.minorticks_off()
    ax.grid(axis="x", visible=False)
    ax.legend(ncols=2, loc="upper right")
    return figure


# -- pages ---------------------------------------------------------------------------------------------------------------


def fill(text: str, results: dict[str, Any]) -> str:
    """A page with its tables made anew: each stands between ``<!-- measured: name -->`` and ``<!-- end of measured -->``."""
    return BLOCK.sub(lambda found: f"{found[1]}\n\n{TABLES[found[2]](results)}\n\n{found[3]}", text)


def read_results() -> dict[str, Any]:
    """The run that was kept."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Write the tables into the pages, and draw the chart."""
    results = read_results()
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf-8"), results), encoding="utf-8")
    with plotting.style():
        chart(results).savefig(CHART, metadata={"Date": None})


if __name__ == "__main__":
    main()
