"""Checkup: all checks of one robot and their findings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torsor.checks.doctor import (
    cad,
    conditioning,
    defects,
    feet,
    geometry,
    inertia,
    limits,
    links_without_shape,
    locks,
    masses,
    mimic,
    symmetry,
)
from torsor.checks.doctor.finding import SEVERITIES, Finding
from torsor.checks.doctor.reading import Source, subject_of
from torsor.checks.doctor.subject import Examination
from torsor.errors import ArgumentError, FileError, printable
from torsor.io.shared.notes import short_list
from torsor.spatial import Inertia

Check = Callable[[Examination], Iterable[Finding]]

#: in the order in which they run; no check may rely on the findings of an earlier one
CHECKS: tuple[Check, ...] = (
    defects.tolerated, defects.prefix_declarations, defects.macro_calls, defects.origins,
    masses.negative_masses, masses.missing_masses, defects.incomplete_inertials,
    inertia.impossible_inertias, inertia.point_masses, inertia.placeholders, inertia.copied_inertias,
    geometry.unreachable_meshes, geometry.meshes_with_y_up, geometry.mesh_scales,
    geometry.density, geometry.centres_of_mass, cad.explain_inertia,
    links_without_shape.implausible_units,
    symmetry.asymmetry,
    limits.axes, limits.bounds, limits.incomplete, limits.efforts,
    mimic.mimics,
    conditioning.mass_matrix, locks.gimbal_locks, feet.feet_of_meshes,
)  # fmt: skip


@dataclass(frozen=True)
class Checkup:
    """The findings of :func:`check`, the worst first.

    ``skipped`` lists omitted checks with the reason.
    """

    name: str
    file: str
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()

    @property
    def worst(self) -> str | None:
        """ "error", "warning", "note", or None without findings."""
        return self.findings[0].severity if self.findings else None

    def count(self, severity: str) -> int:
        """Number of findings of that severity."""
        if severity not in SEVERITIES:
            raise ArgumentError(f"severity must be one of {', '.join(SEVERITIES)}, not {severity!r}")
        return sum(f.severity == severity for f in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Plain strings, numbers and lists: the output of ``torsor check --json``."""
        return {
            "robot": self.name,
            "file": self.file,
            "counts": {severity: self.count(severity) for severity in SEVERITIES},
            "findings": [f.to_dict() for f in self.findings],
            "skipped": list(self.skipped),
        }

    def __repr__(self) -> str:
        from torsor.checks.doctor.text import headline

        return f"<Checkup of {printable(headline(self))}{'; print() shows them' if self.findings else ''}>"

    def __str__(self) -> str:
        from torsor.checks.doctor.text import report_text

        return report_text(self)

    def _repr_html_(self) -> str:
        from torsor.checks.doctor.text import html

        return html(self)


def check(
    source: Source,
    *,
    roots: Sequence[str | os.PathLike[str]] = (),
    meshes: bool = True,
    base: str | None = None,
    xacro_args: Mapping[str, Any] | None = None,
) -> Checkup:
    """Check a robot: impossible inertias, units, frames, masses, limits, and the effect of each finding on M.

    ``source`` is a URDF file, URDF text, any other file :func:`torsor.load` takes, a Robot or a Description; of URDF every
    finding has its line.  A file that torsor refuses is examined as far as it can be read.  ``roots`` are folders meshes may
    are in, beside the robot's own; ``meshes=False`` opens none.  ``base="floating"`` frees the base and ``xacro_args``
    runs a xacro file, as for :func:`torsor.load`.

    >>> inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3" ixy="0" ixz="0" iyz="0"/></inertial>'
    >>> joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/></joint>'
    >>> found = check(f'<robot name="top"><link name="a"/><link name="b">{inertial}</link>{joint}</robot>').findings
    >>> [(f.code, f.line, f.repair) for f in found]
    [('triangle-inequality', 1, 'nearest-inertia'), ('mass-missing-harmless', 1, None)]
    """
    subject = subject_of(source, roots, meshes, base, xacro_args)
    return Checkup(subject.name, subject.file, tuple(examine(subject)), tuple(subject.skipped))


def examine(subject: Examination) -> list[Finding]:
    """Every finding, the worst first, then by line."""
    found = with_common_effects(subject, [f for look in CHECKS for f in look(subject)])
    found += refusal(subject, found)
    return sorted(found, key=lambda f: (SEVERITIES.index(f.severity), f.line or 0, f.element))


def with_common_effects(subject: Examination, found: Sequence[Finding]) -> list[Finding]:
    """The findings; where several links have the same problem, with the change of M if all of them are corrected."""
    after: dict[str, dict[str, Inertia]] = {}
    for f in found:
        if f.proposal is not None and f.severity != "note":
            after.setdefault(f.code, {}).update(f.proposal.inertias_after)
    effects = {}
    for code, inertias in after.items():
        if len(inertias) > 1 and subject.dynamics is not None:
            change = subject.dynamics.change({n: G - subject.link[n].spatial_inertia for n, G in inertias.items()})
            effects[code] = f"; with {short_list(list(inertias))} corrected, {change}"
    return [replace(f, means=f.means + effects.get(f.code, "")) if f.severity != "note" else f for f in found]


def refusal(subject: Examination, found: Sequence[Finding]) -> list[Finding]:
    """Errors of loading, except those about an element that already has a finding."""
    blamed = {f.element for f in found if f.severity == "error"}
    out = []
    for error in subject.refusals:
        owner = _owner(subject, error)
        if owner not in blamed:
            means = "torsor does not load the file"
            fix = "correct the element" if error.element else "correct the file"
            out.append(Finding("file-refused", "error", owner, error.reason, means, fix, subject.file, error.line))
    return out


def _owner(subject: Examination, error: FileError) -> str:
    """The link or joint an error names, else the robot."""
    for record in subject.records:
        if f"{record.kind} {record.name!r}" in error.reason:
            return f"{record.kind} {record.name!r}"
    return f"robot {subject.name!r}" if subject.name else "the file"
