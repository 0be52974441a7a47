"""A checkup as text for terminals and editors, and as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

from torsor.checks.doctor.codes import CODES
from torsor.checks.doctor.finding import SEVERITIES, Finding
from torsor.errors import printable
from torsor.io.shared.notes import short_list
from torsor.support.text import count

if TYPE_CHECKING:
    from torsor.checks.doctor.checkup import Checkup

WIDTH = 100
#: number of further elements listed by name
SHOWN = 6


def report_text(checkup: Checkup) -> str:
    """Grouped by severity; ``file:line`` first, so that editors jump; at most 100 columns except for long paths."""
    lines = [headline(checkup)]
    for severity in SEVERITIES:
        found = [f for f in checkup.findings if f.severity == severity]
        if found:
            lines += ["", f"{severity}s" if len(found) > 1 else severity]
            for head, texts in map(entry, group_findings(found)):
                lines += [head, *(line for text in texts for line in _wrap(text, "    "))]
    if checkup.skipped:
        lines += ["", "not examined", *(line for reason in checkup.skipped for line in _wrap(reason, "  "))]
    return "\n".join(map(printable, lines))


def group_findings(findings: Sequence[Finding]) -> list[Finding]:
    """Findings with equal texts merged: four identical rotors are one entry with three more names."""
    groups: dict[tuple, list[Finding]] = {}
    for f in findings:
        groups.setdefault((f.severity, f.code, f.what, f.fix, f.repair), []).append(f)
    return [replace(group[0], also=(*group[0].also, *map(_names, group[1:]))) for group in groups.values()]


def _names(f: Finding) -> str:
    name = f.element.partition(" ")[2][1:-1] or f.element
    return name if f.line is None else f"{name} (line {f.line})"


def headline(checkup: Checkup) -> str:
    counts = [count(n, s) for s in SEVERITIES if (n := checkup.count(s))]
    return f"{checkup.name or checkup.file or 'robot'}: {', '.join(counts) or 'nothing found'}"


def entry(f: Finding, shown: int = SHOWN) -> tuple[str, list[str]]:
    """The first line of a finding, and the texts below it; ``shown`` further elements are named."""
    fix = f"fix: {f.fix}" + (f" (repair: {f.repair})" if f.repair else "")
    also = [f"also: {short_list(f.also, shown)}"] if f.also else []
    return ": ".join(dict.fromkeys((f.place, f.code, f.element))), [f.what, f"→ {f.means}", fix, *also]


def _wrap(text: str, indent: str) -> list[str]:
    whole = text.replace(" %", "\u00a0%")  # a number stays with its sign
    lines = wrap(whole, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\u00a0%", " %") for line in lines]


_ALIGN_LEFT = 'style="text-align:left"'
_COLORS = {"error": "#b3261e", "warning": "#9a6700", "note": "#57606a"}


def html(checkup: Checkup) -> str:
    """A table; every text is escaped, since files may be untrusted."""
    rows = []
    for f in group_findings(checkup.findings):
        place = escape(f.place.rpartition("/")[2])
        fix = escape(f.fix) + (f" <b>(repair: {escape(f.repair)})</b>" if f.repair else "")
        also = f"<br>also: {escape(short_list(f.also, SHOWN))}" if f.also else ""
        cell = f"{escape(f.what)}<br><i>{escape(f.means)}</i><br>{fix}{also}"
        code = f'<td title="{escape(CODES[f.code].title)}">{f.code}</td>'
        severity = f'<td style="color:{_COLORS[f.severity]}">{f.severity}</td>'
        rows.append(f"<tr>{severity}{code}<td>{place}</td><td>{escape(f.element)}</td><td {_ALIGN_LEFT}>{cell}</td></tr>")
    head = f"<tr><th></th><th>code</th><th>place</th><th>element</th><th {_ALIGN_LEFT}>finding</th></tr>"
    return f"<p><b>{escape(headline(checkup))}</b></p><table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
