"""Missing masses: those that matter for the dynamics, and harmless ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from torsor.checks.doctor.codes import CODES
from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.inertia import count_of
from torsor.checks.doctor.records import LinkRecord
from torsor.checks.doctor.subject import Examination

#: a shape smaller than this has negligible mass: a tenth of a litre [m³]
SMALL = 1e-4


def negative_masses(subject: Examination) -> Iterable[Finding]:
    """mass-negative."""
    for link in subject.links:
        if link.mass is not None and link.mass < 0:
            yield subject.finding(
                "mass-negative", link, f"its mass is {link.mass:.4g} kg",
                "a negative mass accelerates against the force; torsor refuses the file", path=("inertial", "mass"),
            )  # fmt: skip


def missing_masses(subject: Examination) -> Iterable[Finding]:
    """mass-missing-matters: a joint whose moving part has no mass has no row in M.  The others are harmless."""
    massless = [link for link in subject.links if link.mass is None or not (link.mass or link.inertia.any())]
    still = massless_joints(subject)
    mattering = {link.name for group in still.values() for link in group}
    for joint, group in still.items():
        yield from subject.group(
            "mass-missing-matters", group, f"joint {joint!r} moves {_list_names(group)}, and all moved links are massless",
            f"row {joint!r} of the mass matrix is zero: M is singular, forward dynamics does not exist",
            path=("inertial", "mass"), fix=CODES["mass-missing-matters"].fix + _from_shape(group),
        )  # fmt: skip
    rest = [link for link in massless if link.name not in mattering]
    shaped = [link for link in rest if subject.moves(link) and _litres(subject, link) > 1e3 * SMALL]
    litres = ", ".join(f"{link.name} {_litres(subject, link):.2g} l" for link in shaped[:4])
    yield from subject.group(
        "mass-missing-with-shape", shaped,
        f"{count_of(shaped)} a shape and no mass ({litres}{', ...' if len(shaped) > 4 else ''})",
        "M and gravity lack its mass, unless it is included in a link welded to it",
    )  # fmt: skip
    plain = [link for link in rest if link not in shaped and subject.description is not None]
    yield from subject.group(
        "mass-missing-harmless", plain,
        f"{count_of(plain)} no mass: on the base, welded to a link that has one, or between joints",
        f"M is the same without {'them' if len(plain) > 1 else 'it'}",
    )  # fmt: skip


def _from_shape(links: list[LinkRecord]) -> str:
    shaped = any(link.geometry for link in links)
    return "; a density and the shape give them too (repair: mass-from-density, only if named)" if shaped else ""


def massless_joints(subject: Examination) -> dict[str, list[LinkRecord]]:
    """Joints without armature whose moved links are all massless, and these links."""
    dynamics = subject.dynamics
    if dynamics is None:
        return {}
    found = {}
    largest: dict[str, float] = {}
    for name, inertia in zip(dynamics.joint, dynamics.least_inertia, strict=True):
        largest[name] = max(largest.get(name, 0.0), float(np.abs(inertia)))
    for j in subject.joints:
        if largest.get(j.name, 1.0) > 0:
            continue
        below, todo = [], [j.child]
        while todo:
            at = todo.pop()
            below.append(subject.link[at])
            todo += [x.child for x in dynamics.description.joints_from(at)]
        if not any(link.massive for link in below):
            found[j.name] = below
    inner = {j.name for j in subject.joints if any(link.name == j.parent for group in found.values() for link in group)}
    return {name: group for name, group in found.items() if name not in inner}


def _litres(subject: Examination, link: LinkRecord) -> float:
    shape = subject.shape(link.geometry)
    return 0.0 if shape is None else 1e3 * (shape.volume or shape.box)


def _list_names(links: list[LinkRecord]) -> str:
    names = ", ".join(repr(link.name) for link in links[:3])
    return f"link{'s' * (len(links) > 1)} {names}{' ...' if len(links) > 3 else ''}"
