"""Left and right: pairs by name whose mass, centre of mass or inertia are not mirror images."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from torsor.algorithms.kinematics import from_world, joints
from torsor.checks.doctor.dynamics import amount
from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.records import LinkRecord, inertia_without_mass, spatial_inertia
from torsor.checks.doctor.subject import Examination
from torsor.checks.doctor.thresholds import CLEARLY_OUTSIDE, DIFFERENT, DISTINGUISHING, NEGLIGIBLE, SAME
from torsor.spatial import Inertia
from torsor.support.user_arrays import Array

#: the words for a side, each with its other
_SIDES = {"left": "right", "l": "r", "lf": "rf", "lh": "rh", "fl": "fr", "rl": "rr", "hl": "hr", "bl": "br"}
_OTHER = _SIDES | {b: a for a, b in _SIDES.items()}
_WORD = re.compile(r"(?:left|right)(?![a-z])|[a-z]+|[A-Z]+(?![a-z])|[A-Z][a-z]*|[0-9]+")


SAME_PRODUCTS = "and the same products of inertia, which in mirror images have other signs"
OTHER_AXES = "about other axes: neither mirror images nor copies"


class Token(NamedTuple):
    start: int
    end: int
    other: str


def sides(name: str) -> list[Token]:
    """The parts of a name that mark a side: left, L, fl, ..., separated by case, digits or punctuation.

    >>> [t.other for t in sides("FL_hip")], [t.other for t in sides("l_gripper_left_tip")], [t.other for t in sides("LeftFoot")]
    (['FR'], ['r', 'right'], ['Right'])
    """
    found = []
    for m in _WORD.finditer(name):
        other = _OTHER.get(m[0].lower())
        if other is not None:
            cased = other.upper() if m[0].isupper() else other.capitalize() if m[0][0].isupper() else other
            found.append(Token(m.start(), m.end(), cased))
    return found


def stem(name: str) -> str:
    """A name without side and number: the common part of the names of repeated links.

    >>> stem("FL_thigh") == stem("rr_thigh"), stem("finger_1") == stem("finger_2")
    (True, True)
    """
    words = [m[0].lower() for m in _WORD.finditer(name)]
    return "_".join(w for w in words if w not in _OTHER and not w.isdigit())


def mirrored_names(name: str) -> Iterator[str]:
    """The names that may be a link's mirror image: with all its sides exchanged, or with one of them."""
    tokens = sides(name)
    for chosen in (tokens, *([t] for t in tokens)):
        text = name
        for t in reversed(chosen):
            text = text[: t.start] + t.other + text[t.end :]
        yield text


def pairs(subject: Examination) -> Iterator[tuple[LinkRecord, list[LinkRecord]]]:
    """Each link with a side in its name and those that may mirror it, every pair once."""
    seen: set[frozenset[str]] = set()
    for link in subject.massive:
        others = []
        for name in dict.fromkeys(mirrored_names(link.name)):
            other, pair = subject.link.get(name), frozenset((link.name, name))
            if other is not None and other.massive and len(pair) == 2:
                others.append((pair, other))
        if others and not any(pair in seen for pair, _ in others):
            seen |= {pair for pair, _ in others}
            yield link, [other for _, other in others]


def asymmetry(subject: Examination) -> Iterable[Finding]:
    """left-right-asymmetry by invariants of rotations and mirrors; left-right-unmirrored where the frames are mirror images."""
    for link, others in pairs(subject):
        yield from compare_mirrored(subject, link, others)


def compare_mirrored(subject: Examination, link: LinkRecord, others: Sequence[LinkRecord]) -> Iterator[Finding]:
    """Findings about a link and its possible mirror images."""
    found = [(difference(link, other), other) for other in others]
    twin = next((other for (share, _), other in found if share <= SAME), None)
    if twin is None:
        (share, what), other = found[0]
        yield _report(subject, link, other, share, what)
        return
    D = mirrored_frames(subject, link.name, twin.name)
    if D is not None:
        centres = list(_compare_sides(subject, link, twin, D))
        yield from centres or _same_moments_other_axes(subject, link, twin, D)


def _report(subject: Examination, link: LinkRecord, other: LinkRecord, share: float, what: str) -> Finding:
    change = subject.change(other, _mirror_difference(link, other))
    matters = share > DIFFERENT and (change is None or change.share > NEGLIGIBLE)
    effect = "" if change is None or not np.isfinite(change.share) else f"; with equal values on both sides {change}"
    return subject.finding(
        "left-right-asymmetry", link, f"it and {subject.names_of(other, 'inertial')} differ by {amount(share)} in {what}",
        f"the robot is heavier on one side{effect}" if what.startswith("mass") else f"the sides need different torques{effect}",
        path=("inertial",), severity="warning" if matters else "note",
    )  # fmt: skip


def _mirror_difference(a: LinkRecord, b: LinkRecord) -> Inertia:
    """The difference in mass and in mean moment, which is independent of the frames."""
    mean = (np.trace(a.inertia) - np.trace(b.inertia)) / 3 * np.eye(3)
    return spatial_inertia(a.kilograms - b.kilograms, b.com, mean)


def difference(a: LinkRecord, b: LinkRecord) -> tuple[float, str]:
    """The largest relative difference of mass, |c| and principal moments, and its name."""
    distance = float(np.linalg.norm(a.com)), float(np.linalg.norm(b.com))
    moments = np.linalg.eigvalsh(a.inertia), np.linalg.eigvalsh(b.inertia)
    size = max(float(m[2]) for m in moments)
    reach = max(*distance, float(np.sqrt(max(size, 0) / max(a.kilograms, b.kilograms))), CLEARLY_OUTSIDE)
    found = [
        (abs(a.kilograms - b.kilograms) / max(a.kilograms, b.kilograms), f"mass ({a.kilograms:.4g} and {b.kilograms:.4g} kg)"),
        (
            abs(distance[0] - distance[1]) / reach,
            f"distance of the centre of mass from the link's origin ({distance[0]:.4g} and {distance[1]:.4g} m)",
        ),
        (
            float(np.abs(moments[0] - moments[1]).max()) / size if size > 0 else 0.0,
            f"principal moments ({_text(moments[0], size)} and {_text(moments[1], size)} kg·m²)",
        ),
    ]
    return max(found, key=lambda item: item[0])


def _text(values: Array, size: float) -> str:
    """Moments as text; rounding errors of zero are shown as zero."""
    return ", ".join(f"{x if abs(x) > 1e-9 * size else 0:.3g}" for x in values)


def _compare_sides(subject: Examination, a: LinkRecord, b: LinkRecord, D: Array) -> Iterator[Finding]:
    """The sides agree up to a rotation or mirror; where the link frames are mirror images, check that it is the correct one."""
    if _drawn_shapes(a) == _drawn_shapes(b):
        return  # the same part on both sides is not a mirror image
    size = max(float(np.linalg.norm(a.com)), CLEARLY_OUTSIDE)
    off = float(np.abs(D @ a.com - b.com).max())
    if off <= max(2 * SAME * size, CLEARLY_OUTSIDE) or np.abs(a.com - b.com).max() > SAME * size:
        return
    axis = "xyz"[int(np.argmax(np.abs(D @ a.com - b.com)))]
    yield subject.finding(
        "left-right-unmirrored", b,
        f"its centre of mass is that of {subject.names_of(a, 'inertial', 'origin')}, ({_text(b.com, size)}) m, though the "
        f"frames are mirror images: {axis} should change its sign",
        f"the centre of mass is {off:.3g} m off on one side", path=("inertial", "origin"),
    )  # fmt: skip


def _same_moments_other_axes(subject: Examination, a: LinkRecord, b: LinkRecord, D: Array) -> Iterator[Finding]:
    """The same principal moments about other axes: one inertia is neither the mirror image nor a copy of the other.

    Where the centres of mass are mirror images and not copies, the inertias must be too.
    """
    mirror = D @ a.inertia @ D
    size, reach = float(np.linalg.norm(a.inertia)), max(float(np.linalg.norm(a.com)), CLEARLY_OUTSIDE)
    away = {"mirror image": float(np.linalg.norm(mirror - b.inertia)), "copy": float(np.linalg.norm(a.inertia - b.inertia))}
    distinct = np.abs(D @ a.com - b.com).max() < SAME * reach and np.abs(a.com - b.com).max() > DISTINGUISHING * reach
    off = away["mirror image"] if distinct else min(away.values())
    if off <= DIFFERENT * size:
        return
    copied = distinct and away["copy"] <= SAME * size
    change = subject.change(b, inertia_without_mass(mirror - b.inertia))
    yield subject.finding(
        "left-right-unmirrored", a,
        f"it and {subject.names_of(b, 'inertial')} have the same principal moments {SAME_PRODUCTS if copied else OTHER_AXES}",
        "one of the inertias is wrong" + ("" if change is None else f"; with the mirror image of the other side {change}"),
        path=("inertial", "inertia"), severity="warning" if change is None or change.share > NEGLIGIBLE else "note",
    )  # fmt: skip


def _drawn_shapes(link: LinkRecord) -> list[tuple]:
    return [(g.shape, g.uri, g.size, g.scale) for g in link.geometry]


def mirrored_frames(subject: Examination, a: str, b: str) -> Array | None:
    """D = (F R_a)ᵀ R_b where it is a diagonal of signs and p_b = F p_a, F the mirror y → −y of the base at q = 0; else None."""
    dynamics = subject.dynamics
    if dynamics is None or subject.description is None:
        return None
    X0 = from_world(dynamics.model, joints(dynamics.model, dynamics.q[0].tolist())[0])
    frames = [dynamics.model.frame(name) for name in (subject.description.root, a, b)]
    poses = [(frame.X @ X0[frame.body]).pose for frame in frames]
    (R0, p0), (Ra, pa), (Rb, pb) = ((np.array(R, float), np.array(p, float)) for R, p in poses)
    F = np.diag([1.0, -1.0, 1.0])
    pa, pb, Ra, Rb = R0.T @ (pa - p0), R0.T @ (pb - p0), R0.T @ Ra, R0.T @ Rb
    if np.abs(F @ pa - pb).max() > CLEARLY_OUTSIDE / 2 or abs(pa[1]) < CLEARLY_OUTSIDE / 2:
        return None
    D = (F @ Ra).T @ Rb
    signs = np.round(D)
    return signs if np.abs(D - signs).max() < 1e-3 and np.array_equal(signs, np.diag(np.diag(signs))) else None
