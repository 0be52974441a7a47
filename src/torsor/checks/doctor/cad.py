"""Inertias that a CAD program gave in other units, about another point, in other axes or with other signs.

Σ/m of a link is compared with that of the uniform solid and the uniform shell of its shape, as the angle between them (the
shape of the mass) and the ratio of their traces (its size).  A hypothesis is accepted where the inertia as given fits neither
body and the one the hypothesis makes of it fits well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.geometry import is_misplaced, links_with_shape
from torsor.checks.doctor.inertia import placeholder, rewrite_inertia, smallest_mean_moment
from torsor.checks.doctor.records import LinkRecord, inertia_without_mass, second_moment
from torsor.checks.doctor.shape import Shape
from torsor.checks.doctor.subject import Examination
from torsor.checks.doctor.thresholds import (
    ALIKE,
    ALIKE_SIZE,
    BEYOND_SHAPE,
    CORE,
    DECIDING,
    DECIDING_SIZE,
    DENSEST,
    FAR_BEYOND,
    FAR_OFF,
    IMPOSSIBLE,
    MATTERS,
    NEGLIGIBLE,
    OUTSIDE,
    TIMES_NEARER,
    UNIT_WINDOW,
    UNLIKE,
)
from torsor.support.user_arrays import Array

#: units of an inertia, by the power of ten to kg·m²
UNITS = {9: "g·mm²", 6: "kg·mm²", 3: "g·m²", -3: "kg·m² a thousandth of them", -6: "kg·m² a millionth of them"}


class Fit(NamedTuple):
    """The nearest uniform body: angle [degrees], and size as the ratio of traces."""

    angle: float
    ratio: float

    @property
    def good(self) -> bool:
        return self.angle < ALIKE and 1 / ALIKE_SIZE < self.ratio < ALIKE_SIZE

    def decides(self, given: Fit) -> bool:
        """Whether it is so near, and the given inertia so much farther off, that no further evidence is needed."""
        near = self.angle < DECIDING and 1 / DECIDING_SIZE < self.ratio < DECIDING_SIZE
        return near and given.angle > max(FAR_OFF, TIMES_NEARER * self.angle)


class Hypothesis(NamedTuple):
    code: str
    repair: str
    says: str
    inertia: Array


def fit(second: Array, mass: float, shape: Shape) -> Fit:
    """Fit of Σ to the shape: the uniform body at the smallest angle."""
    found = []
    for body in shape.bodies:
        reference = body.second_moment
        size = float(np.linalg.norm(second) * np.linalg.norm(reference))
        cosine = float((second * reference).sum()) / size if size > 0 else 0.0
        ratio = float(np.trace(second)) / (mass * float(np.trace(reference)))
        found.append(Fit(float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))), ratio))
    return min(found)


def explain_inertia(subject: Examination) -> Iterable[Finding]:
    """inertia-units, -about-wrong-frame, -axes-swapped, -products-sign, -far-from-mesh: at most one of them per link."""
    for link, own, body in links_with_shape(subject):
        if has_intended_inertia(link):
            yield from compare_with_shape(subject, link, own, body)


def has_intended_inertia(link: LinkRecord) -> bool:
    """Whether an inertia was intended: point masses and placeholders have their own findings."""
    return float(np.trace(link.inertia)) / 3 > smallest_mean_moment(link.kilograms) and placeholder(link) is None


def compare_with_shape(subject: Examination, link: LinkRecord, own: Shape, body: Shape) -> Iterator[Finding]:
    """Findings about the inertia of a link with this shape, given the shape of all links welded to it."""
    given = fit(link.second_moment, link.kilograms, own)
    # where the centre is not in the shape, one of them is in other axes
    trusted = not is_misplaced(body.distance_outside(link.com), own)
    beyond = excess(link.second_moment, link, body) if trusted else _excess_anywhere(link, body)
    found = [h for h in hypotheses(link, given) if trusted or h.code == "inertia-units"]
    h = _best(link, own, [h for h in found if _is_plausible(h, link, own, body, given, beyond)])
    worst = "error" if beyond > IMPOSSIBLE and link.kilograms < DENSEST * body.box else "warning"  # denser, the shape is wrong
    if h is None:
        yield from _far_from_shape(subject, link, given, beyond, worst)
        return
    change = subject.change(link, inertia_without_mass(h.inertia - link.inertia))
    if subject.moves(link) and change is not None and change.share < NEGLIGIBLE:
        return
    size = f"{given.ratio:.3g} times that of a uniform body of its shape"
    yield subject.finding(
        h.code, link, f"its inertia is {size}, at an angle of {given.angle:.0f}°; {h.says}",
        "its contribution to M is wrong" + ("" if change is None else f": corrected, {change}"), path=("inertial", "inertia"),
        severity=worst if change is None or change.share > MATTERS else "note",
        proposal=rewrite_inertia(h.repair, h.says, link, inertia=h.inertia),
    )  # fmt: skip


def _best(link: LinkRecord, own: Shape, believed: list[Hypothesis]) -> Hypothesis | None:
    """The best fit of the first kind of hypothesis that is accepted."""
    alike = [h for h in believed if h.code == believed[0].code]
    return min(alike, key=lambda h: fit(second_moment(h.inertia), link.kilograms, own), default=None)


def _far_from_shape(subject: Examination, link: LinkRecord, given: Fit, beyond: float, worst: str) -> Iterator[Finding]:
    if beyond <= BEYOND_SHAPE and given.ratio >= CORE:
        return
    factor = beyond if beyond > BEYOND_SHAPE else given.ratio
    change = subject.change(link, inertia_without_mass(link.inertia * (1 - 1 / factor if factor > 1 else 1 / factor - 1)))
    if change is not None and change.share < NEGLIGIBLE:
        return
    means = "no body of that mass and shape has it" if beyond > BEYOND_SHAPE else "its contribution to M is too small"
    says = (
        f"its inertia is {beyond:.3g} times the largest that {link.kilograms:.4g} kg inside its shape can have"
        if beyond > BEYOND_SHAPE
        else f"its inertia is {given.ratio:.2g} times that of a uniform body of its shape"
    )
    yield subject.finding(
        "inertia-far-from-mesh", link, says,
        means + ("" if change is None else f": with the nearest possible value, {change}"),
        path=("inertial", "inertia"),
        severity="note" if (change is not None and change.share < MATTERS) or 1 < factor < FAR_BEYOND else worst,
    )  # fmt: skip


def excess(second: Array, link: LinkRecord, shape: Shape) -> float:
    """max uᵀΣu / (m (b − c)(c − a)) over the principal directions u: above one, the mass is not inside the shape."""
    slack = OUTSIDE * shape.size
    values, axes = np.linalg.eigh(second)
    bounds = [link.kilograms * shape.spread(link.com, u, slack) for u in axes.T]
    return max(float(v / b) if b > 0 else 0.0 for v, b in zip(values, bounds, strict=True))


def _excess_anywhere(link: LinkRecord, shape: Shape) -> float:
    """The same with m d²/4, the upper bound for a mass within a diameter d, for any centre and orientation."""
    return float(np.linalg.eigvalsh(link.second_moment)[2]) / (link.kilograms * shape.size**2 / 4)


def _is_plausible(h: Hypothesis, link: LinkRecord, own: Shape, body: Shape, given: Fit, beyond: float) -> bool:
    """Whether the corrected inertia fits the shape and the given one does not."""
    second = second_moment(h.inertia)
    values = np.linalg.eigvalsh(second)
    if values[0] < -0.01 * values[2] or excess(second, link, body) > BEYOND_SHAPE:
        return False
    now = fit(second, link.kilograms, own)
    if h.code == "inertia-units":
        return True
    if h.code == "inertia-products-sign":
        return now.good and not given.good
    larger = beyond > BEYOND_SHAPE or given.ratio > ALIKE_SIZE
    suspicious = larger if h.code == "inertia-about-wrong-frame" else given.angle > UNLIKE
    return (suspicious and now.good) or now.decides(given)


# -- hypotheses ----------------------------------------------------------------------------------------------------------


def hypotheses(link: LinkRecord, given: Fit) -> Iterator[Hypothesis]:
    """Hypotheses about errors of CAD exports, the simplest first."""
    yield from _units(link, given)
    yield from _about_origin(link)
    yield from _other_axes(link)
    yield from _signs(link)


def _units(link: LinkRecord, given: Fit) -> Iterator[Hypothesis]:
    if given.ratio <= 0:
        return
    decades = 3 * round(np.log10(given.ratio) / 3)
    if decades in UNITS and abs(np.log10(given.ratio) - decades) < UNIT_WINDOW:
        says = f"as {UNITS[decades]} it fits" if decades > 0 else f"{10.0**-decades:g} times as much fits"
        yield Hypothesis("inertia-units", "inertia-to-si", says, link.inertia * 10.0**-decades)


def _about_origin(link: LinkRecord) -> Iterator[Hypothesis]:
    c = link.com
    steiner = link.kilograms * (c @ c * np.eye(3) - np.outer(c, c))
    if np.trace(steiner) > 0.2 * np.trace(link.inertia):
        says = f"less m (c·c 1 − c cᵀ), c = ({', '.join(f'{x:.3g}' for x in c)}) m, it fits: it was about the link's origin"
        yield Hypothesis("inertia-about-wrong-frame", "inertia-about-com", says, link.inertia - steiner)


def _other_axes(link: LinkRecord) -> Iterator[Hypothesis]:
    """Hypotheses: the inertia is in the axes of the link instead of the <inertial> origin's, or axes are exchanged."""
    if not np.allclose(link.axes, np.eye(3), atol=1e-6):
        yield Hypothesis(
            "inertia-axes-swapped", "inertia-axes", "without the rpy of its <inertial> origin it fits",
            link.axes.T @ link.inertia @ link.axes,
        )  # fmt: skip
    for order in permutations(range(3)):
        if order == (0, 1, 2):
            continue
        for signs in product((1, -1), repeat=2):
            P = np.eye(3)[list(order)] * np.array([1, *signs])[:, None]
            named = "".join("xyz"[k] for k in order)
            yield Hypothesis(
                "inertia-axes-swapped", "inertia-axes", f"with its axes in the order {named} it fits", P @ link.inertia @ P.T
            )


def _signs(link: LinkRecord) -> Iterator[Hypothesis]:
    diagonal = np.diag(np.diag(link.inertia))
    if np.linalg.norm(link.inertia - diagonal) > 0.1 * np.linalg.norm(link.inertia):
        flipped = 2 * diagonal - link.inertia
        yield Hypothesis("inertia-products-sign", "flip-products", "with the other sign of its products it fits", flipped)
