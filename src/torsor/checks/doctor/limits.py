"""Joints: invalid axes and implausible limits."""

from __future__ import annotations

import math
from collections.abc import Iterable

from torsor.checks.doctor.finding import Finding, ProposedRepair
from torsor.checks.doctor.inertia import number
from torsor.checks.doctor.records import JointRecord
from torsor.checks.doctor.subject import Examination, child_of, rewrite
from torsor.checks.doctor.thresholds import AXIS, RAIL, SENTINEL, TWO_TURNS
from torsor.support.text import count

_BOUNDED = ("revolute", "prismatic", "helical")
_TURNING = ("revolute", "helical")
_AXIAL = ("revolute", "continuous", "prismatic", "planar", "helical")


def axes(subject: Examination) -> Iterable[Finding]:
    """axis-not-unit, axis-missing."""
    unwritten = [j for j in subject.joints if j.type in _AXIAL and j.axis is None and j.element is not None]
    what = f"{count(len(unwritten), 'moving joint')} without <axis>"
    yield from subject.group("axis-missing", unwritten, what, "the default of URDF is (1, 0, 0)")
    for j in subject.joints:
        if j.type not in _AXIAL or j.axis is None or len(j.axis) != 3:
            continue
        length = math.hypot(*j.axis)
        if length < 1e-9 or abs(length - 1) <= AXIS:
            continue
        unit = " ".join(number(x / length) for x in j.axis)
        yield subject.finding(
            "axis-not-unit", j, f"its axis ({' '.join(f'{x:g}' for x in j.axis)}) has length {length:.4g}",
            f"torsor scales it to one; a reader that does not moves the joint by {length:.4g} q", path=("axis",),
            proposal=ProposedRepair(
                "normalise-axis", f"the axis scaled from length {length:.6g} to 1", rewrite(j.element, ("axis",), xyz=unit)
            ),
        )  # fmt: skip


def bounds(subject: Examination) -> Iterable[Finding]:
    """limits-locked, -reversed, -degrees, -millimetres, -huge, -missing, -exclude-zero."""
    joints = [j for j in subject.joints if j.type in _BOUNDED]
    unlimited = [j for j in joints if not j.limited and j.mimic is None and j.element is not None]
    yield from subject.group(
        "limits-missing", unlimited, f"{count(len(unlimited), 'joint')} of type revolute or prismatic without <limit>",
        "torsor treats them as unlimited; other readers refuse the file",
    )  # fmt: skip
    locked = []
    for j in joints:
        lower, upper = (0.0 if x is None and j.element is not None else x for x in (j.lower, j.upper))
        if not j.limited or lower is None or upper is None:
            continue
        if lower == upper:
            locked.append(j)
        elif lower > upper:
            yield _reversed_limits(subject, j, lower, upper)
        else:
            yield from _units(subject, j, lower, upper)
    yield from subject.group(
        "limits-locked", locked, f"{count(len(locked), 'joint')} with lower = upper (the default of URDF is 0)",
        "a locked joint still has a coordinate, a row of M and a torque", path=("limit",),
    )  # fmt: skip
    apart = [j for j in joints if _excludes_zero(j.lower, j.upper)]
    what = f"zero is outside the limits of {count(len(apart), 'joint')}"
    yield from subject.group("limits-exclude-zero", apart, what, "robot.neutral() is outside the joint limits", path=("limit",))


def _excludes_zero(lower: float | None, upper: float | None) -> bool:
    if lower is not None and upper is not None and lower > upper:
        lower, upper = upper, lower  # as a reader does (limits-reversed)
    return (lower is not None and lower > 0) or (upper is not None and upper < 0)


def _units(subject: Examination, j: JointRecord, lower: float, upper: float) -> Iterable[Finding]:
    largest = max(abs(lower), abs(upper))
    span = f"from {lower:g} to {upper:g}"
    if largest >= SENTINEL:
        yield subject.finding("limits-huge", j, f"it moves {span}", "the joint is effectively unlimited", path=("limit",))
    elif j.type in _TURNING and largest > TWO_TURNS and all(math.isclose(x % 5, 0, abs_tol=1e-9) for x in (lower, upper)):
        lo, hi = math.radians(lower), math.radians(upper)
        yield subject.finding(
            "limits-degrees", j, f"it turns {span} rad, which is {(upper - lower) / (2 * math.pi):.0f} turns",
            f"as degrees it is {lo:.3g} to {hi:.3g} rad; motions beyond these limits are accepted", path=("limit",),
            proposal=_rewrite_limits("degrees-to-radians", f"limits {span} interpreted as degrees", j, lo, hi),
        )  # fmt: skip
    elif j.type == "prismatic" and largest > RAIL:
        yield subject.finding(
            "limits-millimetres", j, f"it slides {span} m", f"as millimetres it is {lower / 1e3:g} to {upper / 1e3:g} m",
            path=("limit",),
            proposal=_rewrite_limits(
                "millimetres-to-metres", f"limits {span} interpreted as millimetres", j, lower / 1e3, upper / 1e3
            ),
        )  # fmt: skip


def _reversed_limits(subject: Examination, j: JointRecord, lower: float, upper: float) -> Finding:
    return subject.finding(
        "limits-reversed", j, f"its lower limit {lower:g} is above its upper limit {upper:g}",
        "torsor exchanges them; for other readers no configuration is inside", path=("limit",),
        proposal=_rewrite_limits("exchange-limits", "lower and upper exchanged", j, upper, lower),
    )  # fmt: skip


def incomplete(subject: Examination) -> Iterable[Finding]:
    """limits-incomplete: URDF requires effort and velocity in every <limit>."""
    for attributes in (("effort", "velocity"), ("effort",), ("velocity",)):
        joints = [j for j in subject.joints if _lacks(j) == attributes]
        yield from subject.group(
            "limits-incomplete", joints, f"{count(len(joints), 'joint')} with a <limit> without {' and '.join(attributes)}",
            "torsor treats the joint as unlimited in it; ROS, Pinocchio and other readers refuse the file", path=("limit",),
        )  # fmt: skip


def _lacks(j: JointRecord) -> tuple[str, ...]:
    """The attributes that the <limit> of a joint must have and does not have."""
    if j.element is None or j.type not in (*_BOUNDED, "continuous"):
        return ()
    limit = child_of(j.element, "limit")
    return () if limit is None else tuple(a for a in ("effort", "velocity") if limit.get(a) is None)


def efforts(subject: Examination) -> Iterable[Finding]:
    """effort-zero, velocity-zero, and limits so large that they mean no limit."""
    joints = [j for j in subject.joints if j.type in (*_BOUNDED, "continuous") and j.mimic is None]
    for attribute, article, means in (
        ("effort", "an", "a controller that respects it cannot drive them"),
        ("velocity", "a", "a planner that respects it cannot move them"),
    ):
        zero = [j for j in joints if getattr(j, attribute) == 0]
        what = f"{count(len(zero), 'joint')} with {article} {attribute} limit of zero"
        yield from subject.group(f"{attribute}-zero", zero, what, means, path=("limit",))
    huge = [j for j in joints if max(_finite(j.effort), _finite(j.velocity)) >= SENTINEL]
    what = f"{count(len(huge), 'joint')} with an effort or velocity limit of {SENTINEL:g} or more"
    yield from subject.group("limits-huge", huge, what, "the joint is effectively unlimited", path=("limit",))


def _finite(x: float | None) -> float:
    return 0.0 if x is None or math.isinf(x) or x >= 1.7e308 else x


def _rewrite_limits(name: str, says: str, j: JointRecord, lower: float, upper: float) -> ProposedRepair:
    """The repair that gives a joint other limits of position."""
    return ProposedRepair(name, says, rewrite(j.element, ("limit",), lower=number(lower), upper=number(upper)))
