"""The mass matrix as a whole: definite, well conditioned, and if not, because of which joint."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from torsor.checks.doctor.dynamics import unit_diagonal
from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.masses import massless_joints
from torsor.checks.doctor.subject import Examination
from torsor.checks.doctor.thresholds import ILL_CONDITIONED, NUMERICALLY_SINGULAR, SENTINEL, TOO_LIGHT
from torsor.support.user_arrays import Array


def mass_matrix(subject: Examination) -> Iterable[Finding]:
    """mass-matrix-not-positive, joint-moves-no-inertia, mass-matrix-ill-conditioned, joint-too-light."""
    dynamics = subject.dynamics
    if dynamics is None or not dynamics.nv:
        return
    inertias = dynamics.least_inertia
    size = np.diagonal(dynamics.M, axis1=1, axis2=2).max()
    zero = [k for k in range(dynamics.nv) if 0 <= inertias[k] <= 1e-14 * size]
    yield from _joints_without_inertia(subject, [dynamics.joint[k] for k in zero])
    kept = [k for k in range(dynamics.nv) if k not in zero]
    M = dynamics.M[:, kept][:, :, kept]
    names = [dynamics.joint[k] for k in kept]
    if not kept:
        return
    lowest = float(np.diagonal(M, axis1=1, axis2=2).min())
    least = float(np.linalg.eigvalsh(unit_diagonal(M)).min()) if lowest > 0 else lowest
    if least < -1e-12:
        yield _indefinite(subject, M, names)
        return
    yield from _condition(subject, M, names)
    yield from _light_joints(subject, inertias[kept], names)


def _joints_without_inertia(subject: Examination, names: list[str]) -> Iterable[Finding]:
    """Joints whose moved masses have no inertia about the axis: point masses on the axis."""
    reported = massless_joints(subject)
    below = {j.name for j in subject.joints for group in reported.values() if any(link.name == j.child for link in group)}
    for j in (subject.joint[name] for name in dict.fromkeys(names) if name in subject.joint):
        if j.name not in below:
            yield subject.finding(
                "joint-moves-no-inertia", j, "the masses beyond it lie on its axis and have no inertia about it",
                "its row of the mass matrix is zero: M is singular, forward dynamics does not exist",
            )  # fmt: skip


def _indefinite(subject: Examination, M: Array, names: list[str]) -> Finding:
    values, vectors = np.linalg.eigh(M)
    s = int(np.argmin(values[:, 0]))
    worst = names[int(np.argmax(np.abs(vectors[s][:, 0])))]
    where = "at q = 0" if s == 0 else f"at random configuration {s}"
    return subject.finding(
        "mass-matrix-not-positive", subject.joint.get(worst),
        f"M(q) has the eigenvalue {values[s, 0]:.3g} {where}, mostly in joint {worst!r}",
        "a force accelerates it backwards and kinetic energy is negative: simulation diverges",
    )  # fmt: skip


def _condition(subject: Examination, M: Array, names: list[str]) -> Iterable[Finding]:
    values, vectors = np.linalg.eigh(unit_diagonal(M))
    ratio = values[:, -1] / np.maximum(values[:, 0], 1e-300)
    s = int(np.argmax(ratio))
    if ratio[s] < ILL_CONDITIONED:
        return
    hopeless = bool(ratio[s] > NUMERICALLY_SINGULAR)
    involved = np.abs(vectors[s][:, 0])
    worst = [names[k] for k in np.argsort(-involved) if involved[k] > 0.3 * involved.max()]
    yield subject.finding(
        "mass-matrix-ill-conditioned", subject.joint.get(worst[0]),
        f"M with a unit diagonal has condition {ratio[s]:.2g}: {_joints_of_motion(worst)}",
        f"forward dynamics keeps {max(0, 16 - np.log10(ratio[s])):.0f} of 16 digits" + "; a simulation overflows" * hopeless,
        severity="error" if hopeless else "",
    )  # fmt: skip


def _joints_of_motion(names: list[str]) -> str:
    """The joints of a motion that takes almost no force."""
    named = list(dict.fromkeys(names[:3]))
    if len(named) == 1:
        return f"joint {named[0]!r} has almost no inertia"
    return f"moved together, joints {', '.join(map(repr, named))} have almost no inertia compared with each alone"


def _light_joints(subject: Examination, inertias: Array, names: list[str]) -> Iterable[Finding]:
    found = []
    for name, inertia in zip(names, inertias, strict=True):
        j = subject.joint.get(name)
        effort = 0.0 if j is None or j.effort is None or j.effort >= SENTINEL else j.effort
        if j is not None and effort > TOO_LIGHT * inertia:
            found.append((effort / inertia, j))
    if found:
        found.sort(key=lambda item: -item[0])
        fastest, j = found[0]
        unit = "m/s²" if j.type == "prismatic" else "rad/s²"
        what = f"its effort limit of {j.effort:g} accelerates it by {fastest:.2g} {unit}"
        yield from subject.group(
            "joint-too-light", [j for _, j in found], what,
            "a simulation needs steps of microseconds; a real joint also has the inertia of its rotor", path=("limit",),
        )  # fmt: skip
