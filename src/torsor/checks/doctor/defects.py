"""Defects of a URDF file that the reader tolerates (:mod:`torsor.io.urdf.defects`), and angles of <origin> in degrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from torsor.checks.doctor.finding import Edit, Finding, ProposedRepair
from torsor.checks.doctor.inertia import number
from torsor.checks.doctor.records import LinkRecord, spatial_inertia
from torsor.checks.doctor.subject import Examination, child_of, local_name, rewrite
from torsor.checks.doctor.thresholds import TWO_TURNS
from torsor.io.shared.decimals import parse_numbers
from torsor.io.shared.document import TWICE, is_macro_call
from torsor.io.urdf.defects import WORLD, may_be_omitted, undeclared_prefixes
from torsor.io.urdf.links import ENTRIES, INCOMPLETE, SCALE, UNREADABLE
from torsor.support.text import count


def prefix_declarations(subject: Examination) -> Iterable[Finding]:
    """prefix-undeclared: one finding for all prefixes; the repair declares them in <robot>."""
    users = {e: undeclared_prefixes(e) for e in subject.tags if not is_macro_call(e) and undeclared_prefixes(e)}
    if not users:
        return
    prefixes = list(dict.fromkeys(prefix for found in users.values() for prefix in found))
    edits = tuple(Edit(next(iter(subject.tags)), (), f"xmlns:{p}", f"urn:x-prefix:{p}") for p in prefixes)
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
    means = "no effect on the dynamics: the calls are ignored"
    if any(e.getparent() is next(iter(subject.tags)) for e in outer):
        means = "links and joints of the macro may be missing"
    if not all(map(may_be_omitted, outer)):
        means = "inertias or joints lack the numbers of the macro: torsor refuses the file"
    edits = tuple(Edit(e) for e in outer if may_be_omitted(e))
    yield _about_robot(
        subject, "xacro-call", calls, f"{count(len(calls), 'call')} of macros that xacro did not expand: {names}",
        means, ProposedRepair("remove-xacro-call", "calls removed", edits) if edits else None,
    )  # fmt: skip


def tolerated(subject: Examination) -> Iterable[Finding]:
    """xml-declaration, element-twice, world-undeclared, shape-unreadable, mesh-scale-numbers."""
    records = {record.element: record for record in subject.records}
    for element, defect in subject.defects.items():
        owner = next((records[e] for e in (element, *element.iterancestors()) if e in records), None)
        if defect.code in _TOLERATED:
            means, repair, outcome, edit = _TOLERATED[defect.code]
            proposal = ProposedRepair(repair, outcome, (edit(element),))
            found = subject.finding(defect.code, owner, defect.sentence, means, at=element, proposal=proposal)
            yield found if defect.line is None else replace(found, line=defect.line)
    undeclared = [j for j in subject.joints if j.parent == WORLD and WORLD not in subject.link and subject.tags]
    if undeclared:
        declared = Edit(next(iter(subject.tags)), ("link",), "name", WORLD)
        yield _about_robot(
            subject, "world-undeclared", [j.element for j in undeclared],
            f"{count(len(undeclared), 'joint')} with the parent 'world', which is not a link of the file",
            "torsor adds it without mass, as Drake does; other readers refuse the file",
            ProposedRepair("declare-world", "the link declared", (declared,)),
        )  # fmt: skip


def _three_numbers(mesh: Any) -> Edit:
    return Edit(mesh, (), "scale", " ".join((mesh.get("scale").split() * 3)[:3]))


#: the "attribute" of an edit that writes the XML declaration
DECLARATION = "XML declaration"
_UNCHANGED = "no effect on the dynamics"
#: code → (effect, repair, in words, the edit of an element)
_TOLERATED: dict[str, tuple[str, str, str, Callable[[Any], Edit]]] = {
    "xml-declaration": (
        "no effect on the robot; strict XML readers refuse the file", "correct-declaration", "a valid XML declaration",
        lambda element: Edit(element, (), DECLARATION, 'version="1.0"'),
    ),
    TWICE: ("torsor uses the first, as other readers do", "remove-second", "the second one removed", Edit),
    UNREADABLE: (f"{_UNCHANGED}; the shape is not drawn", "remove-shape", "the shape removed", Edit),
    SCALE: (f"{_UNCHANGED}; readers differ in the size they draw", "scale-to-three", "three numbers", _three_numbers),
}  # fmt: skip


def incomplete_inertials(subject: Examination) -> Iterable[Finding]:
    """inertial-incomplete: zero for missing products, or for a whole missing <inertia>; without mass, <inertial> removed."""
    found = {element.getparent(): element for element, defect in subject.defects.items() if defect.code == INCOMPLETE}
    for link in subject.links:
        inertial = found.get(link.element)
        if inertial is None:
            continue
        means, proposal, matrix = "torsor and Pinocchio use no mass at all", None, child_of(inertial, "inertia")
        missing = [entry for entry in ENTRIES if matrix is None or entry not in matrix.attrib]
        if link.mass is None:
            proposal = ProposedRepair("complete-inertial", "<inertial> removed", (Edit(inertial),))
        else:
            means = "torsor and Pinocchio use a point mass: the whole inertia is zero"
        if link.mass is not None and (matrix is None or {"ixx", "iyy", "izz"}.isdisjoint(missing)):
            xx, xy, xz, yy, yz, zz = (0.0 if entry in missing else float(matrix.get(entry)) for entry in ENTRIES)
            I = link.axes @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ link.axes.T
            G = spatial_inertia(link.mass, link.com, I)
            edits = rewrite(link.element, ("inertial", "inertia"), **dict.fromkeys(missing, "0"))
            proposal = ProposedRepair("complete-inertial", "zero for the missing entries", edits, {link.name: G})
            change = subject.change(link, G - link.spatial_inertia)
            means += "" if change is None or matrix is None else f"; with zero for {', '.join(missing)} alone {change}"
        yield subject.finding(INCOMPLETE, link, subject.defects[inertial].sentence, means, at=inertial, proposal=proposal)


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
    for record in subject.records:
        if record.element is None:
            continue
        placed = [record.element] if record.kind == "joint" else [e for e in record.element if local_name(e) in _EFFECT]
        found = [(e, origin, rpy) for e in placed for origin, rpy in _angles(e) if in_degrees(rpy)]
        if not found:
            continue
        element, origin, rpy = found[0]
        radians = [" ".join(f"{math.radians(x) + 0.0!r}" for x in angles) for _, _, angles in found]  # a right angle stays one
        edits = tuple(Edit(o, (), "rpy", text) for (_, o, _), text in zip(found, radians, strict=True))
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
