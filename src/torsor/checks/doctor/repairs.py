"""Named repairs, written into the text of the file; everything else stays the same, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from torsor.checks.doctor.checkup import examine
from torsor.checks.doctor.defects import DECLARATION
from torsor.checks.doctor.dynamics import amount
from torsor.checks.doctor.filling import REPAIR as FILLING
from torsor.checks.doctor.filling import missing_mass_repairs
from torsor.checks.doctor.finding import Edit, Finding
from torsor.checks.doctor.reading import contents, urdf_subject
from torsor.checks.doctor.subject import Examination, local_name
from torsor.errors import ArgumentError, FileError, UnknownName, printable
from torsor.io.shared.start_tags import element_ends, with_attribute, with_declaration
from torsor.support.files import write_bytes

#: repairs and the findings that lead to them; in this order, so that the nearest inertia is used only if no other repair
#: explains the given inertia
REPAIRS = {
    "correct-declaration": "a valid XML declaration at the start of the file (xml-declaration)",
    "remove-second": "a second element where one belongs removed (element-twice)",
    "declare-world": "the link world declared (world-undeclared)",
    "remove-shape": "a shape that cannot be read removed (shape-unreadable)",
    "scale-to-three": "the scale of a mesh with three numbers (mesh-scale-numbers)",
    "complete-inertial": "zero for the missing entries of an inertia, or <inertial> without mass removed (inertial-incomplete)",
    "remove-mimic": "the mimic of a joint that does not exist removed (mimic-leader-missing)",
    "declare-prefix": "a name space prefix declared in <robot> (prefix-undeclared)",
    "remove-xacro-call": "the call of a macro that xacro did not expand removed (xacro-call)",
    "inertia-to-si": "an inertia in g·mm², kg·mm² or g·m² written in kg·m² (inertia-units)",
    "inertia-about-com": "an inertia about the link's origin moved to the centre of mass (inertia-about-wrong-frame)",
    "inertia-axes": "an inertia turned into the axes of the link (inertia-axes-swapped)",
    "flip-products": "ixy, ixz, iyz with the other sign (inertia-products-sign)",
    "grams-to-kilograms": "a mass divided by 1000 (mass-units)",
    "millimetres-to-metres": "a centre of mass or a prismatic joint's limits divided by 1000 (com-units, limits-millimetres)",
    "degrees-to-radians": "limits times π/180 (limits-degrees)",
    "rpy-to-radians": "rpy of an <origin> times π/180 (rpy-degrees)",
    "exchange-limits": "lower and upper limit exchanged (limits-reversed)",
    "normalise-axis": "an axis scaled to length one (axis-not-unit)",
    "mass-from-density": "mass and inertia of a massless link from its shape and density=, if named (mass-missing-matters)",
    "nearest-inertia": "the nearest physically consistent inertia (inertia-not-positive, triangle-inequality)",
}
#: a repair may uncover another finding (an inertia in grams, then about the wrong point); more rounds than this it never takes
ROUNDS = 6


@dataclass(frozen=True)
class Repair:
    """One repair that was made: its ``name``, the finding's ``code``, the ``element``, its ``line``, and a description.

    ``edits`` are (attribute, old, new); ``change`` is max |ΔM_ij|/√(M_ii M_jj) over a few configurations, None if unknown.
    """

    name: str
    code: str
    element: str
    line: int | None
    says: str
    edits: tuple[tuple[str, str, str], ...]
    change: float | None

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        texts = (f"{attribute} {old or '(none)'} → {new}" for attribute, old, new in self.edits if old != new)
        changed = ", ".join(dict.fromkeys(texts))
        effect = f"; M changes by up to {amount(self.change)}" if self.change else "; M does not change"
        effect = "; a zero M_jj becomes positive" if self.change == float("inf") else effect
        effect = "" if self.change is None else effect
        return printable(f"{place}{self.name}: {self.element}: {self.says}: {changed}{effect}")

    def to_dict(self) -> dict[str, Any]:
        """Plain strings, numbers and lists."""
        names = ("name", "code", "element", "line", "says")
        finite = self.change is not None and self.change < float("inf")
        edits = [{"attribute": a, "old": old, "new": new} for a, old, new in self.edits]
        return {n: getattr(self, n) for n in names} | {"edits": edits, "change": self.change if finite else None}


def repair(
    source: str | os.PathLike[str] | bytes,
    out: str | os.PathLike[str] | None,
    only: Collection[str] | None = None,
    *,
    roots: Sequence[str | os.PathLike[str]] = (),
    meshes: bool = True,
    base: str | None = None,
    density: float | None = None,
) -> list[Repair]:
    """Make named repairs, write the repaired file to ``out``, and return the list of repairs.

    ``only`` names the repairs that may be made, all of :data:`REPAIRS` if None; the rest of the file stays.  ``out=None``
    only returns the repairs, without writing.  "mass-from-density" is made only if it is named: it fills the shapes of links
    that leave a joint without mass with ``density`` [kg/m³].  The other options are those of :func:`check`.

    >>> inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    >>> joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 2"/></joint>'
    >>> for made in repair(f'<robot name="top"><link name="a"/><link name="b">{inertial}</link>{joint}</robot>', None):
    ...     print(made)
    line 1: normalise-axis: joint 'j': the axis scaled from length 2 to 1: xyz 0 0 2 → 0 0 1; M does not change
    """
    if isinstance(only, str):
        only = (only,)
    for name in only or ():
        if name not in REPAIRS:
            raise UnknownName("repair", name, REPAIRS)
    _check_density(density, only or ())
    if not isinstance(source, (str, os.PathLike, bytes)):
        raise ArgumentError(f"source must be a URDF path, text or bytes, not {type(source).__name__}")
    data, file = contents(source)
    made: list[Repair] = []
    done: set[tuple[str, str]] = set()
    subject = _subject(data, file, roots, meshes, base, None)
    for _ in range(ROUNDS):
        found = examine(subject) + ([] if density is None else list(missing_mass_repairs(subject, density)))
        chosen = _findings_to_repair(found, only, done)
        if not chosen:
            break
        done |= {(f.repair or "", f.element) for f in chosen}
        data, repaired = _apply(subject, data, chosen)
        made += repaired
        subject = _subject(data, file, roots, meshes, base, subject)
    if out is not None:
        write_bytes(out, data)
    return made


def _check_density(density: float | None, only: Collection[str]) -> None:
    if (density is None) == (FILLING in only):
        raise ArgumentError(f"the repair {FILLING} and density= [kg/m³] go together: water has 1000, aluminium 2700")
    if density is not None and not (isinstance(density, (int, float)) and 0 < density < float("inf")):
        raise ArgumentError(f"density must be a positive number [kg/m³], not {density!r}")


def _subject(
    data: bytes, file: str, roots: Sequence[Any], meshes: bool, base: str | None, before: Examination | None
) -> Examination:
    subject = urdf_subject(data, file, roots, meshes, base, None if before is None else before.shapes)
    if subject is None:
        raise FileError("is not a URDF: only URDF can be repaired", file=file)
    return subject


def _findings_to_repair(findings: list[Finding], only: Collection[str] | None, done: set[tuple[str, str]]) -> list[Finding]:
    """Findings to repair in one round: one repair per element, since the next may depend on it."""
    order = list(REPAIRS)
    out: dict[str, Finding] = {}
    for f in sorted(findings, key=lambda f: order.index(f.repair) if f.repair else 0):
        if f.proposal is not None and (only is None or f.proposal.name in only) and (f.proposal.name, f.element) not in done:
            out.setdefault(f.element, f)
    return list(out.values())


def _apply(subject: Examination, data: bytes, findings: list[Finding]) -> tuple[bytes, list[Repair]]:
    """The file with the repairs in it, and their list."""
    edits: list[Edit] = []
    made = []
    for f in findings:
        assert f.proposal is not None
        edits += f.proposal.edits
        changes = tuple(map(_change, f.proposal.edits))
        unknown = subject.dynamics is None or f.proposal.changes_poses
        change = None if unknown else subject.dynamics.difference(dict(f.proposal.inertias_after))  # type: ignore[union-attr]
        made.append(Repair(f.proposal.name, f.code, f.element, f.line, f.proposal.says, changes, change))
    at: dict[Any, list[Edit]] = {}
    for edit in edits:
        at.setdefault(edit.element, []).append(edit)
    ends = {} if all(edit.attribute for edit in edits) else element_ends(data)
    declares = any(edit.attribute == DECLARATION for edit in edits)
    for element, here in sorted(at.items(), key=lambda item: -subject.tags[item[0]].start):
        tag = subject.tags[element]
        text = data[tag.start : tag.end]
        if any(not edit.attribute for edit in here):
            data = data[: tag.start] + data[ends[tag.start] :]
            continue
        for edit in (edit for edit in here if not edit.path and edit.attribute != DECLARATION):
            text = with_attribute(text, edit.attribute, edit.value)
        data = data[: tag.start] + with_child(text, _insert(here)) + data[tag.end :]
    return with_declaration(data) if declares else data, made


def _change(edit: Edit) -> tuple[str, str, str]:
    """(attribute, old, new) of an edit; of an element that is removed, its name."""
    element = edit.element
    if not edit.attribute:
        prefix, old = (f"{element.prefix}:", "call") if element.prefix else ("", "given")
        return f"<{prefix}{local_name(element)}>", old, "removed"
    if edit.attribute == DECLARATION:
        return DECLARATION, "invalid", edit.value
    return edit.attribute, "" if edit.path else element.get(edit.attribute, ""), edit.value


def _insert(edits: list[Edit], depth: int = 0) -> str:
    """The elements that edits name and the file lacks, as text; an edit's path is the missing part."""
    out = ""
    for name in dict.fromkeys(edit.path[depth] for edit in edits if len(edit.path) > depth):
        of = [edit for edit in edits if len(edit.path) > depth and edit.path[depth] == name]
        attributes = "".join(f' {e.attribute}="{e.value}"' for e in of if len(e.path) == depth + 1)
        inside = _insert(of, depth + 1)
        out += f"<{name}{attributes}>{inside}</{name}>" if inside else f"<{name}{attributes}/>"
    return out


def with_child(tag: bytes, child: str) -> bytes:
    """A start tag with an element in it, which is closed again if it was empty.

    >>> with_child(b'<link name="a"/>', "<inertial/>"), with_child(b"<link>", "<inertial/>")
    (b'<link name="a"><inertial/></link>', b'<link><inertial/>')
    """
    if not child:
        return tag
    if not tag.endswith(b"/>"):
        return tag + child.encode()
    name = tag[1:-2].split()[0]
    return tag[:-2].rstrip() + b">" + child.encode() + b"</" + name + b">"
