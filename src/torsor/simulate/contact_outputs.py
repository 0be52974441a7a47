"""What contacts did in a motion, from its records: points, normal forces, panels of plots, names and columns of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.at import Inputs
from torsor.algorithms.equation.contact import contact_geometry
from torsor.compile import Argument
from torsor.model import Model
from torsor.support.panels import Panel
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate.result import Result

#: quantities of contacts that a file has, as far as a motion has them
IN_FILES = ("contact_forces", "contact_normal_force", "contact_gap", "contact_residual")
#: depth at the start that a note is about [m], and the contacts that it lists, the deepest first
DEEP, LISTED = 1e-3, 4


class ContactGeometry(NamedTuple):
    """The points of shapes nearest to their surfaces [m], and the normals there, (..., contacts, 3), in world axes."""

    points: Array
    normals: Array


def geometry_inputs(model: Model) -> list[Argument]:
    """q, and t where surfaces or robot move with it."""
    return [Argument("q", (model.nq,)), *([Argument("t", ())] if model.depends_on_time else [])]


def geometry(e: EquationOfMotion, q: Any, t: Any = None) -> tuple[list[Any], list[Any]]:
    """Points and normals of all contacts, over any scalar."""
    return contact_geometry(e, q, Inputs(t))


def geometry_at(robot: Robot, q: Array, t: Array) -> ContactGeometry:
    """The geometry of contacts at configurations (..., T, nq) and times (T,); NaN where q is."""
    from torsor.simulate.quantities import QUANTITIES

    q = np.asarray(q, float)
    good, n = np.isfinite(q).all(axis=-1), len(robot.contacts)
    clock = [np.broadcast_to(t, good.shape)[good]] if robot.model.depends_on_time else []
    found = robot.kernels.of(QUANTITIES)("contact geometry")(q[good], *clock)
    out = []
    for x in found:
        rows = np.full((*good.shape, n, 3), np.nan)
        rows[good] = np.reshape(x, (-1, n, 3))
        out.append(rows)
    return ContactGeometry(*out)


def normal_force(robot: Robot, q: Array, t: Array, forces: Array) -> Array:
    """f·n of each contact (..., T, contacts) [N], along the normals at the records."""
    found: Array = np.einsum("...i,...i->...", forces, geometry_at(robot, q, t).normals)
    return found.astype(forces.dtype, copy=False)


def notes_on_depth(robot: Robot, q: Array, t: float) -> list[str]:
    """A note about hard contacts that begin deep inside their surfaces."""
    gaps = np.atleast_1d(robot.contact_gap(q, time=t if robot.model.depends_on_time else None))
    deep = [
        (gap, name) for gap, (name, c) in zip(gaps, robot.contacts.items(), strict=True) if c.stiffness is None and gap < -DEEP
    ]
    if not deep:
        return []
    listed = ", ".join(f"{name} by {-1e3 * gap:.3g} mm" for gap, name in sorted(deep)[:LISTED])
    more = f" and {len(deep) - LISTED} more" if len(deep) > LISTED else ""
    return [f"contacts begin inside their surfaces, and are moved out by positions: {listed}{more}"]


def contact_panels(info: Mapping[str, Any], normal: Array | None) -> list[Panel]:
    """The panel of normal forces; none without contacts."""
    if normal is None:
        return []
    names = info.get("contacts") or [f"contact {k}" for k in range(normal.shape[-1])]
    return [Panel("contact [N]", list(names), normal)]


def contact_columns(motion: Any) -> dict[str, Array]:
    """The quantities of contacts for a file, (..., T, n) each."""
    found = {name: x for name in IN_FILES if (x := getattr(motion, name)) is not None}
    if "contact_forces" in found:
        found["contact_forces"] = found["contact_forces"].reshape(*found["contact_forces"].shape[:-2], -1)
    if "contact_residual" in found:
        found["contact_residual"] = found["contact_residual"][..., None]
    return found


def from_columns(columns: Mapping[str, Array]) -> dict[str, Array]:
    """The quantities of contacts from the columns of a file."""
    found = {name: columns[name] for name in IN_FILES if name in columns}
    if "contact_forces" in found:
        found["contact_forces"] = found["contact_forces"].reshape(*found["contact_forces"].shape[:-1], -1, 3)
    if "contact_residual" in found:
        found["contact_residual"] = found["contact_residual"][..., 0]
    return found


def titles(info: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """The titles of the columns of a table."""
    names = info.get("contacts", [])
    forces = [f"{name} f{axis}" for name in names for axis in "xyz"]
    return {"contact_forces": forces, "contact_normal_force": names, "contact_gap": names, "contact_residual": ["largest"]}


# -- pictures --------------------------------------------------------------------------------------------------------


class ContactImages(NamedTuple):
    """Contacts in images, (images, contacts, 3) each: points [m] and mean forces on the robot [N], in world axes."""

    points: Array
    forces: Array


def images(result: Result, times: Array, q: Array) -> ContactImages | None:
    """Contacts at evenly spaced times, with forces averaged between the images, so that short impacts are seen too."""
    forces = result.contact_forces
    if forces is None or not len(times):
        return None
    t, flat = result.t, forces.reshape(len(result.t), -1)
    width = (times[-1] - times[0]) / max(len(times) - 1, 1)
    low, high = np.maximum(times - width / 2, t[0]), np.minimum(times + width / 2, t[-1])
    if len(t) > 1 and width > 0:  # a force acts in the step before its record
        impulse = np.concatenate([np.zeros_like(flat[:1]), np.cumsum(flat[1:] * np.diff(t)[:, None], axis=0)])
        columns = [(np.interp(high, t, x) - np.interp(low, t, x)) / (high - low) for x in impulse.T]
        flat = np.stack(columns, axis=-1)
    else:
        flat = flat[np.clip(np.searchsorted(t, times), 0, len(t) - 1)]
    return ContactImages(geometry_at(result.require_robot(), q, times).points, flat.reshape(len(times), -1, 3))
