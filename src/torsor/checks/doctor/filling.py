"""Mass, centre of mass and inertia of a massless link, from its shape and a given density."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.inertia import rewrite_inertia
from torsor.checks.doctor.masses import massless_joints
from torsor.checks.doctor.records import LinkRecord
from torsor.checks.doctor.shape import Shapes, merge_corners
from torsor.checks.doctor.subject import Examination
from torsor.errors import ArgumentError, FileError, MissingExtra, ModelWarning
from torsor.look.scene.shapes import triangles
from torsor.model.description import Geometry
from torsor.spatial import Inertia
from torsor.spatial.rigid.frames import sum_inertias
from torsor.spatial.rigid.meshes import mesh
from torsor.spatial.shapes import Solid, box, capsule, cylinder, ellipsoid, sphere

REPAIR = "mass-from-density"
SOLIDS: dict[str, Callable[..., Solid]] = {
    "box": box, "cylinder": cylinder, "capsule": capsule, "sphere": sphere, "ellipsoid": ellipsoid,
}  # fmt: skip


def missing_mass_repairs(subject: Examination, density: float) -> Iterator[Finding]:
    """mass-missing-matters, link by link, each with its repair; a warning names shapes without volume."""
    for joint, links in massless_joints(subject).items():
        for link in (link for link in links if link.geometry):
            try:
                G = fill_shapes(link.geometry, subject.shapes, density, upright=subject.turns_meshes_upright)
            except (ArgumentError, FileError, MissingExtra) as error:
                warnings.warn(f"{REPAIR}: link {link.name!r} stays without mass: {error}", ModelWarning, stacklevel=4)
                continue
            bare = LinkRecord(link.name, axes=link.axes, geometry=link.geometry, element=link.element)  # no usable numbers
            proposal = rewrite_inertia(
                REPAIR, f"{1e3 * float(G.m) / density:.4g} l filled with {density:g} kg/m³", bare,
                mass=float(G.m), com=np.array(G.com, float), inertia=np.array(G.about_com.rows, float),
            )  # fmt: skip
            yield subject.finding(
                "mass-missing-matters", link, f"joint {joint!r} moves it, and all moved links are massless", "M is singular",
                proposal=proposal,
            )  # fmt: skip


def fill_shapes(geometry: Sequence[Geometry], shapes: Shapes, density: float, *, upright: bool = False) -> Inertia:
    """G of a link's shapes as solids of one density [kg/m³], about the link's origin; where parts overlap it counts twice.

    The visual shape, or the collision shape if the visual one is not closed.  ArgumentError if neither is closed.
    """
    roles = [[g for g in geometry if g.role == role] for role in ("visual", "collision")]
    refused: list[Exception] = []
    for parts in filter(None, roles):
        try:
            return sum_inertias([_part(g, shapes, density, upright) for g in parts])
        except (ArgumentError, FileError, MissingExtra) as error:
            refused.append(error)
    raise refused[0] if refused else ArgumentError("it has no shape")


def _part(g: Geometry, shapes: Shapes, density: float, upright: bool) -> Inertia:
    """G of one shape about the link's origin: Xᵀ G X of a solid, the sum over the surfaces of a mesh."""
    if g.shape != "mesh":
        return g.origin.T @ SOLIDS[g.shape](*g.size).inertia(density=density)
    surfaces = triangles(shapes.turn_if_y_up(g, upright), shapes.places)
    return sum_inertias([mesh(*merge_corners(s.vertices, s.faces)).inertia(density=density) for s in surfaces if len(s.faces)])
