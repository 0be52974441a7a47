"""Instruments on a robot: gyroscope, accelerometer, six-axis force/torque, joint torque."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torsor.algorithms import rotors
from torsor.algorithms.forces import add_element_wrenches
from torsor.algorithms.jacobian import twist
from torsor.algorithms.reactions import joint_forces_of_wrenches
from torsor.algorithms.rnea import Bodies, inward, outward
from torsor.algorithms.wrenches import wrenches_on_bodies
from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Inertia
from torsor.spatial.motion import six_numbers


def gyroscope(model: Model, q: Scalars, v: Scalars, frame: str) -> list[Scalar]:
    """ω of a frame, in its own axes (MR 8.51)."""
    return twist(model, q, v, frame, "body")[:3]


def accelerometer(model: Model, q: Scalars, v: Scalars, a: Scalars, frame: str) -> list[Scalar]:
    """Rᵀ(p̈ − g) of a frame's origin, in its own axes: RNEA's acceleration, in which the base accelerates upwards (F&O §3.1)."""
    body, X = model.frame(frame)
    return list((X @ outward(model, q, v, a).A[body]).a)  # MR 8.52


def joint_torque_sensor(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars] | None = None
) -> list[Scalar]:
    """SᵀF (nv): the joint forces behind the drives, τ without armatures, rotors and friction (MR 8.54, 8.111).

    A mimic joint's force is added to its leader's, as in τ.
    """
    X, S, _, F = outward(model, q, v, a, wrenches)
    return joint_forces_of_wrenches(model, X, S, dict(enumerate(F)))


def force_torque(
    model: Model, q: Scalars, v: Scalars, a: Scalars, at: str, wrenches: Mapping[str, Scalars] | None = None
) -> list[Scalar]:
    """(m, f): the wrench through a cut between a link and what carries it, on that link and all that it carries (MR 8.53).

    ``at`` is a link, a named frame or a joint: the cut is at the joint or weld that carries the link, and the wrench is in the
    axes of the frame, at its origin; of a joint, in its child link's.  Behind a moving joint it is the reaction wrench.
    """
    link, (body, X) = model.cut(at)
    bodies = outward(model, q, v, a, wrenches)  # F&O 3–5
    F = inward(model, bodies.X, bodies.F)  # F&O 7
    first = model.links[link].parent
    whole = body > 0 and (not first or model.frames[first].body != body)  # a joint carries the whole body
    through = F[body] if whole else _wrench_through_weld(model, link, bodies, F, v, a, wrenches or {})
    return six_numbers(X.inverse.T @ through)


def _wrench_through_weld(
    model: Model, link: str, bodies: Bodies, F: list[Force], v: Scalars, a: Scalars, wrenches: Mapping[str, Scalars]
) -> Force:
    """Newton–Euler for the part of a body behind a weld, and the forces of the joints that this part carries (F&O 5, 7)."""
    body, part = model.frames[link].body, model.welded_part(link)
    own = {name for row in part.values() for name in row.frames}
    spinning = replace(model, rotors=tuple(r for r in model.rotors if r.link in part))
    I = sum((row.inertia for row in part.values()), start=Inertia.zero())
    total = I.inverse_dynamics(bodies.A[body])  # F&O 5
    f = wrenches_on_bodies(model, {name: f for name, f in wrenches.items() if name in own})
    here = replace(model, forces=tuple(row for row in model.forces if row.link in part))
    total = total - add_element_wrenches(here, f, bodies.X, bodies.S, v)[body]
    total = total + rotors.add_rotor_spin(spinning, [Force.zero()] * len(F), bodies.A, v, a)[body]  # MR 8.110
    for name, row in model.links.items():
        child = model.frames[name].body
        if row.parent in part and child != body:
            total = total + bodies.X[child].T @ F[child]  # F&O 7
    return total
