"""``{measured} what``: tables and a chart of ``benchmarks/published.json``, the last full run of ``make bench`` that was kept.

The numbers of the page are the numbers of the file; nobody types them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torsor.support import plotting

FILE = Path(__file__).parents[2] / "benchmarks" / "published.json"
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


def pinocchio(results: dict[str, Any]) -> str:
    rows = [["degrees of freedom", *(str(FREEDOMS[r]) for r in ROBOTS)]]
    for words, section, quantity in ROWS:
        found = [contests(results, section, quantity, robot) for robot in ROBOTS]
        rows.append([words, *(times(c[0]["ratio"]) if c else "" for c in found)])
    rows.append(["operations of inverse dynamics", *(str(results["operations"][r]["inverse_dynamics"]) for r in ROBOTS)])
    return table(["", *ROBOTS.values()], rows)


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
    "pinocchio": pinocchio,
    "absolute": absolute,
    "peers": contest_table("peers", first="one call"),
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


class Measured(SphinxDirective):
    """``{measured} pinocchio`` is a table, ``{measured} chart`` the picture; the content is its caption."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        what = self.arguments[0]
        self.env.note_dependency(FILE)
        results = json.loads(FILE.read_text(encoding="utf-8"))
        if what == "chart":
            return self._chart(results)
        holder = nodes.container()
        self.state.nested_parse(StringList(TABLES[what](results).splitlines(), str(FILE)), 0, holder)
        return holder.children

    def _chart(self, results: dict[str, Any]) -> list[nodes.Node]:
        path = Path(self.env.doctreedir) / "pictures" / "benchmarks.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        with plotting.style():
            drawn = chart(results)
            drawn.savefig(path, metadata={"Date": None})
            plotting.pyplot().close(drawn)
        uri = Path(os.path.relpath(path, Path(self.env.doc2path(self.env.docname)).parent)).as_posix()
        return figure(self, uri, self.options["alt"])


def figure(directive: SphinxDirective, uri: str, alt: str) -> list[nodes.Node]:
    """An image with the directive's content as its caption."""
    shown = nodes.figure("", nodes.image(uri=uri, alt=alt))
    if not directive.content:
        return [shown]
    words, messages = directive.state.inline_text(" ".join(directive.content), directive.lineno)
    shown += nodes.caption("", "", *words)
    return [shown, *messages]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
