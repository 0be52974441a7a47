"""Checks of inertias without a shape: physically impossible values and placeholders."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from torsor.checks.doctor.dynamics import amount
from torsor.checks.doctor.finding import Edit, Finding, ProposedRepair
from torsor.checks.doctor.records import LinkRecord, inertia_without_mass, spatial_inertia
from torsor.checks.doctor.subject import Examination, rewrite
from torsor.checks.doctor.symmetry import stem
from torsor.checks.doctor.thresholds import DENSEST, MATTERS, ROUNDED
from torsor.errors import ModelError
from torsor.spatial.rigid.consistency import nearest_consistent
from torsor.spatial.rigid.physical import TOLERANCE
from torsor.support.user_arrays import Array

#: moments below this share of those of a ball of osmium are rounding errors of zero
NOTHING = 1e-6
#: a principal moment below this share of the largest is zero but for rounding
ROUNDING = 1e-12
_ENTRIES = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))


def impossible_inertias(subject: Examination) -> Iterable[Finding]:
    """inertia-not-positive, triangle-inequality: 0 ≤ λ_1 and λ_3 ≤ λ_1 + λ_2 of the principal moments (MR §8.2.1)."""
    for link in subject.links:
        if link.mass is None or link.mass < 0:
            continue
        a, b, c = np.linalg.eigvalsh(link.inertia)
        size = max(abs(a), abs(c))
        if link.mass == 0:
            if size > 0:
                yield _massless(subject, link, size)
            continue
        if size < NOTHING * smallest_mean_moment(link.mass):
            continue  # rounding left of zeros: a point mass
        broken, code = (-a, "inertia-not-positive") if a < -TOLERANCE * size else (c - a - b, "triangle-inequality")
        if broken <= TOLERANCE * size:
            continue
        share, proposal = broken / size, nearest_possible(link)
        moments = ", ".join(f"{x:.4g}" if abs(x) > ROUNDING * size else "0" for x in (a, b, c)) + " kg·m²"
        change = None if proposal is None else subject.change(link, proposal.inertias_after[link.name] - link.spatial_inertia)
        law = "one is negative" if code == "inertia-not-positive" else "the largest exceeds the sum of the other two"
        yield subject.finding(
            code, link, f"principal moments {moments}: {law}, by {amount(share)} of the largest",
            "physically impossible: kinetic energy may be negative"
            + ("" if change is None else f"; with the nearest one {change}"),
            path=("inertial", "inertia"), severity="note" if share < ROUNDED else "", proposal=proposal,
        )  # fmt: skip


def _massless(subject: Examination, link: LinkRecord, size: float) -> Finding:
    change = subject.change(link, link.spatial_inertia)
    unfelt = change is not None and change.share < MATTERS
    return subject.finding(
        "moment-without-mass", link, f"it has an inertia of up to {size:.3g} kg·m² and no mass",
        "physically impossible: it resists rotation but not translation" + ("" if change is None else f"; without it {change}"),
        path=("inertial", "mass"), severity="note" if unfelt else "",
    )  # fmt: skip


def nearest_possible(link: LinkRecord) -> ProposedRepair | None:
    """The nearest inertia that a body can have: same mass, same centre, Σ_c made positive."""
    try:
        found = nearest_consistent(spatial_inertia(link.kilograms, np.zeros(3), link.inertia))
    except ModelError:
        return None
    about_com = np.array(found.inertia.about_com.rows, float)
    moved = found.distance / max(float(np.linalg.norm(link.second_moment)), 1e-300)
    return rewrite_inertia("nearest-inertia", f"the nearest possible inertia, {amount(moved)} away", link, inertia=about_com)


def rewrite_inertia(
    name: str, says: str, link: LinkRecord, *, mass: float | None = None, com: Array | None = None, inertia: Array | None = None
) -> ProposedRepair:
    """The repair that gives a link another mass [kg], centre of mass [m] or inertia about it [kg·m², in the link's axes]."""
    edits: list[Edit] = []
    if mass is not None:
        edits += rewrite(link.element, ("inertial", "mass"), value=number(mass))
    if com is not None:
        edits += rewrite(link.element, ("inertial", "origin"), xyz=" ".join(map(number, com)))
    if inertia is not None:
        written = link.axes.T @ inertia @ link.axes
        written = np.where(np.abs(written) < 1e-15 * np.abs(written).max(), 0.0, written)
        edits += rewrite(link.element, ("inertial", "inertia"), **{e: number(written[i, j]) for e, i, j in _ENTRIES})
    m, c = link.mass if mass is None else mass, link.com if com is None else com
    new = spatial_inertia(m or 0.0, c, link.inertia if inertia is None else inertia)
    return ProposedRepair(name, says, tuple(edits), {link.name: new})


def number(x: float) -> str:
    """Twelve digits: more than any file means, fewer than rounding leaves."""
    return format(float(x) + 0.0, ".12g")


def ball_radius(mass: float, density: float) -> float:
    """The radius of a ball of that mass and density [m]."""
    return (3 * mass / (4 * math.pi * density)) ** (1 / 3)


def smallest_mean_moment(mass: float) -> float:
    """2/5 m r², the moment of a ball of the densest matter [kg·m²]: no body of that mass has a smaller mean moment."""
    return 0.4 * mass * ball_radius(mass, DENSEST) ** 2


def point_masses(subject: Examination) -> Iterable[Finding]:
    """point-mass, inertia-too-small: below the ball of osmium, no matter is dense enough."""
    harmless: dict[str, list[LinkRecord]] = {}
    for link in subject.massive:
        ball, mean = smallest_mean_moment(link.kilograms), float(np.trace(link.inertia)) / 3
        if mean >= ball or np.linalg.eigvalsh(link.inertia)[0] < -NOTHING * ball:
            continue
        code = "point-mass" if np.abs(link.inertia).max() < NOTHING * ball else "inertia-too-small"
        change = subject.change(link, inertia_without_mass((ball - mean) * np.eye(3)))
        if change is None or change.share <= MATTERS:
            harmless.setdefault(code, []).append(link)
            continue
        yield subject.finding(
            code, link,
            f"{link.kilograms:.4g} kg with a mean moment of {mean:.3g} kg·m²; a ball of osmium has {ball:.3g} kg·m²",
            f"with the inertia of that ball {change}", path=("inertial", "inertia"), severity="warning",
        )  # fmt: skip
    for code, links in harmless.items():
        lacks = "no inertia" if code == "point-mass" else "less inertia than a ball of osmium"
        means = f"with the inertia of the ball, M would change by less than {amount(MATTERS)}"
        yield from subject.group(
            code, links, f"{count_of(links)} a mass and {lacks}",
            means if subject.dynamics else "its rotational inertia is too small", path=("inertial", "inertia"),
        )  # fmt: skip


def count_of(links: list[LinkRecord]) -> str:
    return f"{len(links)} links have" if len(links) > 1 else "it has"


def placeholders(subject: Examination) -> Iterable[Finding]:
    """inertia-placeholder: a power of ten times the identity is a default, no measurement."""
    groups: dict[float, list[LinkRecord]] = {}
    for link in subject.massive:
        if (value := placeholder(link)) is not None:
            groups.setdefault(value, []).append(link)
    for value, links in groups.items():
        changes = (subject.change(link, inertia_without_mass(link.inertia)) for link in links)
        worst = max(filter(None, changes), default=None)
        effect = "" if worst is None else f"; without it {worst}"
        several = f" on {len(links)} links" if len(links) > 1 else ""
        yield from subject.group(
            "inertia-placeholder", links,
            f"the inertia is {value:g} kg·m² times the identity{several}, a typical template value",
            f"it is probably not measured{effect}", path=("inertial", "inertia"),
            severity="warning" if worst is not None and worst.share > MATTERS else "note",
        )  # fmt: skip


def placeholder(link: LinkRecord) -> float | None:
    """The power of ten p if the link's inertia is p times the identity, else None."""
    xx = float(link.inertia[0, 0])
    if not xx > 0 or not np.allclose(link.inertia, xx * np.eye(3), rtol=0, atol=1e-9 * xx):
        return None
    power = 10.0 ** round(math.log10(xx))
    return power if math.isclose(power, xx, rel_tol=1e-9) else None


def copied_inertias(subject: Examination) -> Iterable[Finding]:
    """inertia-copied: the same ten numbers on links of different shapes that are not mirror images or repetitions."""
    groups: dict[tuple, list[LinkRecord]] = {}
    for link in subject.massive:
        if link.inertia.any() and placeholder(link) is None:
            key = (link.mass, *np.round(link.com, 9), *np.round(link.inertia.ravel(), 12))
            groups.setdefault(key, []).append(link)
    for links in groups.values():
        looks = {_approximate_size(subject, link) for link in links}
        if len({stem(link.name) for link in links}) < 2 or len(looks) < 2 or None in looks:
            continue
        yield from subject.group(
            "inertia-copied", links, f"{len(links)} links of {len(looks)} different shapes have the same mass and inertia",
            "at most one of them is correct", path=("inertial",),
        )  # fmt: skip


def _approximate_size(subject: Examination, link: LinkRecord) -> tuple | None:
    """Approximate size of a link, within about 10 %: files with different names may contain the same part."""
    shape = subject.shape(link.geometry)
    return None if shape is None else tuple(np.round(8 * np.log2(np.maximum((shape.size, shape.box ** (1 / 3)), 1e-3))))
