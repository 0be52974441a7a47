"""Joints that follow others: leaders that are not there, circles, chains, and mimics without effect."""

from __future__ import annotations

from collections.abc import Iterable

from torsor.checks.doctor.finding import Edit, Finding, ProposedRepair
from torsor.checks.doctor.records import JointRecord
from torsor.checks.doctor.subject import Examination, child_of

_UNDEFINED = "its position is undefined; torsor refuses the file unless it is loaded with mimic=False"


def mimics(subject: Examination) -> Iterable[Finding]:
    """mimic-leader-missing, -cycle, -zero, -chain, -dropped, -limits."""
    for j in subject.joints:
        if j.mimic is None:
            continue
        if j.type == "fixed":
            yield subject.finding(
                "mimic-dropped", j, f"it is fixed and mimics {j.mimic.joint!r}",
                "a fixed joint does not move; the mimic is ignored", path=("mimic",),
            )  # fmt: skip
            continue
        leader = subject.joint.get(j.mimic.joint)
        if leader is None or leader.type == "fixed":
            yield _missing_leader(subject, j, j.mimic.joint, leader)
        elif _is_cyclic(j, subject.joint):
            yield subject.finding("mimic-cycle", j, "its mimic is part of a cycle", _UNDEFINED, path=("mimic",))
        else:
            yield from _unusual_mimics(subject, j, leader)


def _missing_leader(subject: Examination, j: JointRecord, name: str, leader: JointRecord | None) -> Finding:
    if leader is not None:
        return subject.finding("mimic-leader-missing", j, f"it mimics {name!r}, which is fixed", _UNDEFINED, path=("mimic",))
    edits = () if j.element is None else (Edit(child_of(j.element, "mimic")),)
    return subject.finding(
        "mimic-leader-missing", j, f"it mimics {name!r}, which is not in the file",
        "torsor makes it independent, with a coordinate of its own", path=("mimic",),
        proposal=ProposedRepair("remove-mimic", "the mimic removed, so the joint is independent", edits),
    )  # fmt: skip


def _is_cyclic(j: JointRecord, joints: dict[str, JointRecord]) -> bool:
    seen, at = set(), j
    while at.mimic is not None and at.mimic.joint in joints:
        if at.name in seen:
            return True
        seen.add(at.name)
        at = joints[at.mimic.joint]
    return False


def _unusual_mimics(subject: Examination, j: JointRecord, leader: JointRecord) -> Iterable[Finding]:
    assert j.mimic is not None
    if not any(j.mimic.coefficients[1:]):
        says, means = "it mimics with multiplier 0", f"it stays at {j.mimic.offset:g} and does not move"
        yield subject.finding("mimic-zero", j, says, means, path=("mimic",))
        return
    if leader.mimic is not None and leader.type != "fixed":
        yield subject.finding(
            "mimic-chain", j, f"it mimics {leader.name!r}, which mimics {leader.mimic.joint!r}",
            "torsor supports the chain; other readers treat the joint as independent", path=("mimic",),
        )  # fmt: skip
        return
    if leader.lower is None or leader.upper is None or j.lower is None or j.upper is None or not leader.limited:
        return
    first, last = leader.lower, leader.upper
    between = [first + (last - first) * k / 100 for k in range(1, 100)] if j.mimic.higher else []  # a curve may turn there
    places = [j.mimic.at(x) for x in (first, *between, last)]
    low, high = min(places), max(places)
    slack = 0.02 * max(j.upper - j.lower, 1e-6)
    if low < j.lower - slack or high > j.upper + slack:
        yield subject.finding(
            "mimic-limits", j,
            f"the limits of its leader give {low:.4g} to {high:.4g}, its own limits are {j.lower:g} to {j.upper:g}",
            "simulations do not stop a mimic joint at its own limits", path=("limit",),
        )  # fmt: skip
