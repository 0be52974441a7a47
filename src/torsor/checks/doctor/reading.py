"""Read the subject of an examination from a file, text or robot; files that cannot be loaded are read as far as possible."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from torsor.checks.doctor.records import JointRecord, LinkRecord
from torsor.checks.doctor.shape import Shapes
from torsor.checks.doctor.subject import Examination
from torsor.errors import ArgumentError, FileError, ModelWarning
from torsor.io.formats import Options, recognise_format
from torsor.io.shared.decimals import parse_numbers
from torsor.io.shared.document import Document, Element, parse
from torsor.io.shared.places import Places
from torsor.io.shared.start_tags import start_tags
from torsor.io.urdf import read_urdf
from torsor.io.urdf.defects import find_defects
from torsor.io.urdf.joints import read_joint
from torsor.io.urdf.links import ENTRIES, read_link, read_pose
from torsor.model.description import Description, Geometry, Mimic
from torsor.robot import Robot
from torsor.robot.loading import load
from torsor.scalar import is_constant
from torsor.spatial.vector import flat
from torsor.support.files import is_markup, label, read_bytes
from torsor.support.text import count

Source = str | os.PathLike[str] | bytes | Robot | Description


def subject_of(
    source: Source, roots: Sequence[Any], meshes: bool, base: str | None, xacro_args: Mapping[str, Any] | None = None
) -> Examination:
    """The subject of a URDF path, text or bytes, of a file of another format that loads, of a Robot or a Description."""
    if isinstance(source, Robot):
        source = source.description
    if isinstance(source, Description):
        return _describe(source, roots, meshes)
    if not isinstance(source, (str, os.PathLike, bytes)):
        raise ArgumentError(f"source must be a path, URDF text, a Robot or a Description, not {type(source).__name__}")
    if xacro_args is None and _format(source) == "urdf":
        data, file = contents(source)
        try:
            written = urdf_subject(data, file, roots, meshes, base)
        except FileError as error:
            return Examination("", file, (), (), None, Shapes(Places(), False), refusals=[error])
        if written is not None:
            return written
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # the findings report it
        d = load(source, base=base, roots=roots, xacro_args=xacro_args).description
    return _describe(d, roots, meshes, label(source) if d.source else "")  # type: ignore[arg-type]


def _format(source: str | os.PathLike[str] | bytes) -> str:
    """The format of the file; unknown formats are treated as URDF, whose reader reports the error."""
    try:
        return recognise_format(source, Options(xacro_args={})).name
    except FileError:
        return "urdf"


def contents(source: str | os.PathLike[str] | bytes) -> tuple[bytes, str]:
    """The bytes of a source and the name of its file ("" if it is not a file)."""
    if isinstance(source, bytes):
        return source, ""
    if isinstance(source, str) and is_markup(source):
        return source.encode("utf-8"), ""
    return read_bytes(source), label(source)


# -- a description -------------------------------------------------------------------------------------------------------


def _describe(d: Description, roots: Sequence[Any], meshes: bool, file: str = "") -> Examination:
    numeric = [link for link in d.links if all(is_constant(x) for x in flat(link.inertia))]
    symbolic = len(d.links) - len(numeric)
    skipped = [f"{count(symbolic, 'link')} with symbols for inertia"] if symbolic else []
    links = [LinkRecord.of(link) for link in numeric]
    shapes = Shapes(Places(d.source, roots), meshes)
    return Examination(d.name, file or d.source, links, [JointRecord.of(j) for j in d.joints], d, shapes, skipped=skipped)


# -- a file --------------------------------------------------------------------------------------------------------------


def urdf_subject(
    data: bytes, file: str, roots: Sequence[Any], meshes: bool, base: str | None, shapes: Shapes | None = None
) -> Examination | None:
    """The subject of a URDF file; None for other XML.  FileError if it is not XML."""
    doc = parse(data, tolerant=True)
    if doc.tag(doc.root) != "robot":
        return None
    doc.file = file
    refusals: list[FileError] = []
    with suppress(FileError):  # among the refusals, by loading it
        find_defects(doc)
    links = [_link(doc, e, refusals) for e in doc.root if doc.tag(e) == "link"]
    joints = [_joint(doc, e, refusals) for e in doc.root if doc.tag(e) == "joint"]
    description, skipped = _load(data, base, refusals)
    return Examination(
        doc.root.get("name", "robot"), file, links, joints, description, shapes or Shapes(Places(file, roots), meshes),
        refusals=refusals, tags=dict(zip(doc.root.iter(), start_tags(data), strict=False)), defects=doc.defective,
        skipped=skipped,
    )  # fmt: skip


def _load(data: bytes, base: str | None, refusals: list[FileError]) -> tuple[Description | None, list[str]]:
    """The description, without mimics if these are invalid; and notes about the parts that are not examined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            return read_urdf(data, base=base), []
        except FileError as error:
            if not any(known.reason == error.reason for known in refusals):
                refusals.append(error)
        try:
            return read_urdf(data, base=base, mimic=False), ["the mass matrix was computed with independent mimic joints"]
        except FileError:
            return None, ["the file does not load, so the mass matrix was not checked"]


def _link(doc: Document, element: Element, refusals: list[FileError]) -> LinkRecord:
    """A link with the readable data; reasons for refusal are added to the refusals."""
    geometry: tuple[Geometry, ...] = ()
    try:
        link = read_link(doc, element, {})
        geometry = link.geometry
    except FileError as error:
        link = None
        refusals.append(error)
    name = element.get("name", "")
    inertial = _child(doc, element, "inertial")
    mass, matrix = _child(doc, inertial, "mass"), _child(doc, inertial, "inertia")
    m = _number(mass, "value")
    entries = [_number(matrix, entry) for entry in ENTRIES]
    if inertial is None:
        return LinkRecord(name, geometry=geometry, element=element)
    try:
        R, c = read_pose(doc, inertial)
    except FileError:  # already among the refusals
        return LinkRecord(name, geometry=geometry, element=element)
    if m is None or any(x is None for x in entries):
        read = LinkRecord(name, geometry=geometry) if link is None else LinkRecord.of(link)
        return replace(read, element=element, axes=np.array(R, float))
    xx, xy, xz, yy, yz, zz = entries
    axes, I = np.array(R, float), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], float)
    empty = m == 0 and not I.any()
    return LinkRecord(name, None if empty else m, np.array(c, float), axes @ I @ axes.T, axes, geometry, element)


def _joint(doc: Document, element: Element, refusals: list[FileError]) -> JointRecord:
    try:
        read_joint(doc, element, True)
    except FileError as error:
        refusals.append(error)
    limit, mimic = _child(doc, element, "limit"), _child(doc, element, "mimic")
    ends = [_child(doc, element, end) for end in ("parent", "child")]
    parent, child = ("" if end is None else end.get("link", "") for end in ends)
    lower, upper, effort, velocity = (_number(limit, name) for name in ("lower", "upper", "effort", "velocity"))
    follows = None
    if mimic is not None:
        k, b = _number(mimic, "multiplier"), _number(mimic, "offset")
        p = _numbers(mimic, "polynomial") or (0.0 if b is None else b, 1.0 if k is None else k)
        follows = Mimic.of_polynomial(mimic.get("joint", ""), p)
    axis = _numbers(_child(doc, element, "axis"), "xyz")
    return JointRecord(
        element.get("name", ""), element.get("type", ""), parent, child, axis, lower, upper, effort, velocity,
        limited=limit is not None, mimic=follows, element=element,
    )  # fmt: skip


def _child(doc: Document, element: Element | None, tag: str) -> Element | None:
    return None if element is None else next((child for child in element if doc.tag(child) == tag), None)


def _numbers(element: Element | None, attribute: str) -> tuple[float, ...] | None:
    """The numbers of an attribute; None if it is missing, or not numeric."""
    text = None if element is None else element.get(attribute)
    try:
        return None if text is None else parse_numbers(text)
    except ValueError:
        return None


def _number(element: Element | None, attribute: str) -> float | None:
    found = _numbers(element, attribute)
    return found[0] if found is not None and len(found) == 1 else None
