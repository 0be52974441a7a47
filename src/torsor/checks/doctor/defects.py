"""Defects of a URDF file that leave its tree whole (:mod:`torsor.io.urdf.defects`), and angles of <origin> in degrees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from torsor.checks.doctor.finding import Edit, Finding, ProposedRepair
from torsor.checks.doctor.inertia import number
from torsor.checks.doctor.records import LinkRecord, Record
from torsor.checks.doctor.subject import Examination, local_name
from torsor.checks.doctor.thresholds import TWO_TURNS
from torsor.io.shared.decimals import parse_numbers
from torsor.io.shared.document import is_macro_call
from torsor.io.urdf.defects import may_be_omitted, undeclared_prefixes
from torsor.support.text import count


def prefix_declarations(subject: Examination) -> Iterable[Finding]:
    """prefix-undeclared: one finding for all prefixes; the repair declares them in <robot>."""
    users = {e: undeclared_prefixes(e) for e in subject.tags if not is_macro_call(e) and undeclared_prefixes(e)}
    if not users:
        return
    prefixes = list(dict.fromkeys(prefix for found in users.values() for prefix in found))
    root = next(iter(subject.tags))
    edits = tuple(Edit("robot", subject.name, (), f"xmlns:{p}", f"urn:x-prefix:{p}", root) for p in prefixes)
    yield _about_robot(
        subject, "prefix-undeclared", list(users),
        f"{', '.join(map(repr, prefixes))} in {count(len(users), 'element')}",
        "no effect on the dynamics: the elements are ignored; strict XML readers refuse the file",
        ProposedRepair("declare-prefix", "name space prefixes declared in <robot>", edits),
    )  # fmt: skip


def macro_calls(subject: Examination) -> Iterable[Finding]:
    """xacro-call: one finding for all calls left over; the repair removes them."""
    calls = [e for e in subject.tags if is_macro_call(e)]
    outer = [e for e in calls if not any(is_macro_call(above) for above in e.iterancestors())]
    if not calls:
        return
    names = ", ".join(dict.fromkeys(f"<xacro:{local_name(e)}>" for e in calls))
    root = next(iter(subject.tags))
    means = "no effect on the dynamics: the calls are ignored"
    if any(e.getparent() is root for e in outer):
        means = "links and joints of the macro may be missing"
    if not all(map(may_be_omitted, outer)):
        means = "inertias or joints lack the numbers of the macro: torsor refuses the file"
    edits = tuple(Edit("robot", subject.name, (), "", "", e) for e in outer if may_be_omitted(e))
    yield _about_robot(
        subject, "xacro-call", calls, f"{count(len(calls), 'call')} of macros that xacro did not expand: {names}",
        means, ProposedRepair("remove-xacro-call", "calls removed", edits) if edits else None,
    )  # fmt: skip


def _about_robot(
    subject: Examination, code: str, elements: Sequence[Any], what: str, means: str, proposal: ProposedRepair | None
) -> Finding:
    also = tuple(f"line {subject.tags[e].line}" for e in elements[1:])
    return replace(subject.finding(code, None, what, means, at=elements[0], proposal=proposal), also=also)


#: what an <origin> places → the effect of wrong angles
_EFFECT = {
    "joint": "all links beyond it are turned by wrong angles: M and gravity are wrong",
    "inertial": "the inertia has wrong axes",
    "visual": "no effect on the dynamics; the shape is drawn with wrong angles",
    "collision": "no effect on the dynamics; the shape is drawn with wrong angles",
}


def origins(subject: Examination) -> Iterable[Finding]:
    """rpy-degrees: an angle beyond two turns, or beyond one turn and all multiples of five."""
    records: list[Record] = [*subject.links, *subject.joints]
    for record in records:
        if record.element is None:
            continue
        placed = [record.element] if record.kind == "joint" else [e for e in record.element if local_name(e) in _EFFECT]
        found = [(e, origin, rpy) for e in placed for origin, rpy in _angles(e) if in_degrees(rpy)]
        if not found:
            continue
        element, origin, rpy = found[0]
        radians = [" ".join(f"{math.radians(x) + 0.0!r}" for x in angles) for _, _, angles in found]  # a right angle stays one
        edits = tuple(
            Edit(record.kind, record.name, (), "rpy", text, o) for (_, o, _), text in zip(found, radians, strict=True)
        )
        drawn = isinstance(record, LinkRecord) and all(local_name(e) != "inertial" for e, _, _ in found)
        yield subject.finding(
            "rpy-degrees", record, f"rpy=\"{origin.get('rpy')}\" is {max(map(abs, rpy)) / (2 * math.pi):.0f} turns",
            f"as degrees it is {' '.join(number(math.radians(x)) for x in rpy)} rad; {_EFFECT[local_name(element)]}", at=origin,
            severity="note" if drawn else "",
            proposal=ProposedRepair("rpy-to-radians", "rpy interpreted as degrees", edits, changes_poses=not drawn),
        )  # fmt: skip


def in_degrees(rpy: Sequence[float]) -> bool:
    largest = max(map(abs, rpy), default=0.0)
    return largest > TWO_TURNS or (largest > TWO_TURNS / 2 and all(math.isclose(x % 5, 0, abs_tol=1e-9) for x in rpy))


def _angles(element: Any) -> Iterable[tuple[Any, tuple[float, ...]]]:
    for origin in element:
        if local_name(origin) == "origin" and origin.get("rpy") is not None:
            try:
                yield origin, parse_numbers(origin.get("rpy"))
            except ValueError:  # among the refusals
                continue
