"""Mass and centre of mass compared with the shape of a link; missing or unreadable meshes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from torsor.checks.doctor.dynamics import amount
from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.inertia import rewrite_inertia
from torsor.checks.doctor.records import LinkRecord
from torsor.checks.doctor.shape import Shape
from torsor.checks.doctor.subject import Examination
from torsor.checks.doctor.thresholds import CLEARLY_OUTSIDE, DENSEST, LIGHTEST, MARKER, NEGLIGIBLE, OUTSIDE, USUAL_DENSITY
from torsor.errors import install_hint
from torsor.look.scene.upright import visible_shapes
from torsor.model.description import Geometry
from torsor.support.user_arrays import Array

_BASE = "it is part of the base and affects M only with a floating base"


def unreachable_meshes(subject: Examination) -> Iterable[Finding]:
    """mesh-unreachable: one finding per package and reason."""
    if not subject.shapes.meshes:
        return
    users: dict[str, list[LinkRecord]] = {}
    for link in subject.links:
        subject.shapes.of(link.geometry)
        for g in link.geometry:
            if g.uri in subject.shapes.missing:
                users.setdefault(g.uri, []).append(link)
    packages: dict[tuple[str, str], list[str]] = {}
    for uri in users:
        packages.setdefault(("/".join(uri.split("/")[:3]), _reason(subject.shapes.missing[uri])), []).append(uri)
    for (_, reason), uris in packages.items():
        links = list({link.name: link for uri in uris for link in users[uri]}.values())
        named = repr(uris[0]) if len(uris) == 1 else f"{len(uris)} meshes, {uris[0]!r} and others"
        yield from subject.group(
            "mesh-unreachable", links, f"{named}: {reason}",
            "no effect on the dynamics; mass and shape could not be compared", path=("visual", "geometry", "mesh"),
        )  # fmt: skip
    if subject.shapes.lacking:
        subject.skipped.append(f"meshes were not read: {subject.shapes.lacking} is not installed ({install_hint('mesh')})")


def _reason(text: str) -> str:
    return text if len(text) < 200 else text[:200] + "..."


def meshes_with_y_up(subject: Examination) -> Iterable[Finding]:
    """mesh-up-axis: COLLADA meshes with y up, that fit only for a reader that turns them."""
    if not subject.turns_meshes_upright:
        return
    links = [link for link in subject.massive if any(subject.shapes.has_y_up(g) for g in link.geometry)]
    yield from subject.group(
        "mesh-up-axis", links,
        f"{len(links)} links have COLLADA meshes with y up that fit masses and joints only if turned to z",
        "no effect on the dynamics; torsor turns them, and so does Gazebo; RViz does not", path=("visual", "geometry", "mesh"),
    )  # fmt: skip


def mesh_scales(subject: Examination) -> Iterable[Finding]:
    """mesh-scale, shape-size: shapes a hundred times the size of the robot."""
    for link in subject.links:
        shape = subject.shape(link.geometry)
        if shape is not None and find_oversized(subject, shape):
            largest = max(visible_shapes(link.geometry), key=lambda g: _size(subject, g))
            yield subject.finding(
                "mesh-scale" if largest.shape == "mesh" else "shape-size", link,
                f"its {largest.shape} is {shape.size:.3g} m large, the robot {subject.reach:.3g} m",
                "no effect on the dynamics; the shape was not compared with the mass",
                path=(largest.role, "geometry", largest.shape),
            )  # fmt: skip


def _size(subject: Examination, g: Geometry) -> float:
    shape = subject.shape([g])
    return 0.0 if shape is None else shape.size


def find_oversized(subject: Examination, shape: Shape) -> bool:
    return shape.size > 100 * max(subject.reach, 0.05)


def links_with_shape(subject: Examination) -> Iterator[tuple[LinkRecord, Shape, Shape]]:
    """Links with a shape and a mass that affects M: (link, its shape, the shape of all links welded to it)."""
    for link in subject.massive:
        upright = turns_y_up(subject, link)
        own = subject.shapes.of(link.geometry, upright=upright)
        if own is None or own.size < MARKER or find_oversized(subject, own) or not is_noticeable(subject, link):
            continue
        group = [g for name in subject.welded_links(link.name) if name in subject.link for g in subject.link[name].geometry]
        yield link, own, subject.shapes.of(group, upright=upright) or own


def turns_y_up(subject: Examination, link: LinkRecord) -> bool:
    """Whether to turn a link's meshes with y up: as for most links, unless its centre of mass is inside only otherwise."""
    if not any(subject.shapes.has_y_up(g) for g in link.geometry):
        return False
    away = {}
    for upright in (True, False):
        shape = subject.shapes.of(link.geometry, upright=upright)
        away[upright] = 0.0 if shape is None else shape.distance_outside(link.com)
    usual = subject.turns_meshes_upright
    return not usual if away[not usual] < 0.5 * away[usual] else usual


def is_noticeable(subject: Examination, link: LinkRecord) -> bool:
    """Whether the link is a noticeable part of the inertia that some joint moves; True if unknown, and for a base."""
    dynamics = subject.dynamics
    if dynamics is None:
        return True
    if not dynamics.moves(link.name):
        return link.kilograms > 0.1
    return dynamics.change({link.name: link.spatial_inertia}).share > NEGLIGIBLE


def density(subject: Examination) -> Iterable[Finding]:
    """mass-units, mass-far-from-mesh: denser than osmium in its box, or lighter than a balloon."""
    for link, own, body in links_with_shape(subject):
        mass = link.kilograms
        if not (own.box and body.box):  # a flat shape has no volume
            continue
        most, least = mass / body.box, mass / own.box
        if most > DENSEST:
            says = f"{mass:.4g} kg in a box of {1e3 * body.box:.3g} l: {most:.3g} kg/m³, osmium has {DENSEST:g}"
            grams = USUAL_DENSITY[0] < most / 1e3 < USUAL_DENSITY[1] and mass > 20
            in_kilograms = rewrite_inertia("grams-to-kilograms", "the mass interpreted as grams", link, mass=mass / 1e3)
            yield subject.finding(
                "mass-units" if grams else "mass-far-from-mesh", link, says, _share(subject, link), path=("inertial", "mass"),
                proposal=in_kilograms if grams else None,
            )  # fmt: skip
        elif least < LIGHTEST:
            says = f"{mass:.4g} kg in a box of {1e3 * own.box:.3g} l: {least:.2g} kg/m³, air has 1.2"
            yield subject.finding("mass-far-from-mesh", link, says, _share(subject, link), path=("inertial", "mass"))


def _share(subject: Examination, link: LinkRecord) -> str:
    if subject.dynamics is None or not subject.moves(link):
        return _BASE
    share, joint = subject.dynamics.change({link.name: link.spatial_inertia})
    return f"it is {amount(min(share, 1.0))} of M_jj of joint {joint!r}, and its weight is wrong too"


def centres_of_mass(subject: Examination) -> Iterable[Finding]:
    """com-outside-geometry, com-units: positive mass has its centre inside the convex hull of its shape."""
    for link, own, body in links_with_shape(subject):
        away = body.distance_outside(link.com)
        if not is_misplaced(away, own):
            continue
        where = f"({', '.join(f'{x:.3g}' for x in link.com)}) m"
        if body.distance_outside(link.com / 1e3) == 0 and away > 10 * own.size:
            proposal = rewrite_inertia(
                "millimetres-to-metres", "the centre of mass interpreted as millimetres", link, com=link.com / 1e3
            )
            says = f"its centre of mass {where} is {away:.3g} m outside; a thousandth of it is inside"
            means = _torque(subject, link, link.com)
            yield subject.finding("com-units", link, says, means, path=("inertial", "origin"), proposal=proposal)
            continue
        says = f"its centre of mass {where} is at least {away:.3g} m outside its shape, which is {own.size:.3g} m large"
        means = _torque(subject, link, link.com - own.bodies[0].com)
        severity = "note" if means == _BASE else ""
        yield subject.finding("com-outside-geometry", link, says, means, path=("inertial", "origin"), severity=severity)


def is_misplaced(away: float, own: Shape) -> bool:
    """Whether a centre of mass that far outside is more than a motor that is not drawn."""
    return away > max(OUTSIDE * own.size, CLEARLY_OUTSIDE)


def _torque(subject: Examination, link: LinkRecord, off: Array) -> str:
    if subject.dynamics is not None and not subject.dynamics.moves(link.name):
        return _BASE
    return f"gravity torque is off by up to {9.81 * link.kilograms * float(np.linalg.norm(off)):.3g} N·m if the shape is right"
