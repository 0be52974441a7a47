"""Links without a shape: is the inertia in kg·m², the centre of mass in metres?

k = √(tr Σ/m), the radius of gyration of the mass about its centre, is at most R for a body inside a ball of radius R.  So it is
compared with the reach of the robot, and with the mass: half a kilogram spread over a hundred metres is not plausible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from torsor.checks.doctor.cad import UNITS, has_intended_inertia
from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.geometry import links_with_shape
from torsor.checks.doctor.inertia import ball_radius, rewrite_inertia
from torsor.checks.doctor.records import LinkRecord, inertia_without_mass
from torsor.checks.doctor.subject import Examination
from torsor.checks.doctor.thresholds import COMPACT, FAR_CENTRE, GYRATION_REACH, MATTERS, SHORTEST_REACH, THINNEST, VACUUM


def implausible_units(subject: Examination) -> Iterable[Finding]:
    """inertia-units, com-units of links whose shape is unknown or not readable."""
    compared = {link.name for link, _, _ in links_with_shape(subject)}
    for link in subject.massive:
        if link.name not in compared:
            if has_intended_inertia(link):
                yield from _inertia(subject, link)
            yield from _centre(subject, link)


def gyration(link: LinkRecord) -> float:
    """k = √(tr Σ/m) [m]."""
    return math.sqrt(max(float(np.trace(link.second_moment)), 0.0) / link.kilograms)


def likely_decades(mass: float, k: float) -> int:
    """The decades by which k² is too large for its mass: 3, 6 or 9, if one of them gives a plausible body, else 0.

    >>> likely_decades(0.8, 43.0), likely_decades(0.8, 0.1)
    (6, 0)
    """
    compact = math.sqrt(3 / 5) * ball_radius(mass, 1000.0)  # of a ball of water
    fits = (d for d in UNITS if d > 0 and COMPACT[0] < k * 10 ** (-d / 2) / compact < COMPACT[1])
    return next(fits, 0) if k > COMPACT[1] * compact else 0


def _inertia(subject: Examination, link: LinkRecord) -> Iterator[Finding]:
    k, reach, known = gyration(link), subject.reach, subject.reach >= SHORTEST_REACH
    if k <= ball_radius(link.kilograms, THINNEST) and not (known and k > GYRATION_REACH * reach):
        return
    decades = likely_decades(link.kilograms, k)
    becomes = link.inertia * 10.0**-decades if decades else np.zeros((3, 3))
    change = subject.change(link, inertia_without_mass(becomes - link.inertia))
    if change is not None and change.share < MATTERS:
        return  # a marker with invented numbers
    thin = f"its mass {link.kilograms:.3g} kg, a thousandth of the mass of air in a ball of that size"
    size = f"the robot's reach {reach:.3g} m" if known else thin
    says = f"as {UNITS[decades]} it is {k * 10 ** (-decades / 2):.2g} m" if decades else "no unit explains it"
    yield subject.finding(
        "inertia-units", link, f"its radius of gyration is {k:.3g} m, {size}; {says}",
        "its contribution to M is wrong"
        + ("" if change is None else f": {'corrected' if decades else 'without it'}, {change}"),
        path=("inertial", "inertia"), severity="error" if k > ball_radius(link.kilograms, VACUUM) else "",
        proposal=rewrite_inertia("inertia-to-si", says, link, inertia=becomes) if decades else None,
    )  # fmt: skip


def _centre(subject: Examination, link: LinkRecord) -> Iterator[Finding]:
    far, reach = float(np.linalg.norm(link.com)), subject.reach
    if reach >= SHORTEST_REACH and far > FAR_CENTRE * reach:
        yield subject.finding(
            "com-units", link, f"its centre of mass is {far:.3g} m from its origin, the robot's reach is {reach:.3g} m",
            f"gravity torque is off by up to {9.81 * link.kilograms * far:.3g} N·m", path=("inertial", "origin"),
        )  # fmt: skip
