"""Reading URDF.

Read are links with their inertia and coloured shapes (recorded, never opened), joints with limits, dynamics and mimic.
All others are ignored; ``Description.report`` lists them with their number.  No value is replaced without a note.

Choices where URDF leaves one, or other readers differ:

* Numbers are plain decimals (:mod:`torsor.io.shared.decimals`): no nan, inf, ``1,5``.  The largest double means no limit.
* A link without <inertial> is massless.
* revolute, prismatic without <limit>: unlimited.  <limit> without lower or upper: zero, as URDF defines.  Both are noted.
* An axis is scaled to length one, with a note; a zero axis is an error.
* planar: the axis is the normal of the plane.
* torsor's own, which other readers do not support: types ``helical`` (``pitch`` [m/rad] on <axis>), ``cylindrical``,
  ``universal`` (second axis in <axis2 xyz>), ``spherical``; ``armature`` on <dynamics>; limits and dynamics of joints with
  several coordinates or degrees of freedom as that many numbers, in <limit_each> and <dynamics_each>, since other readers
  refuse lists in URDF's elements; ``polynomial`` on <mimic>, its coefficients, lowest first; <torsor>, with the terms of the
  robot and all else that URDF has no place for (:mod:`torsor.io.shared.own_element`).
* Defects that other readers accept load with one ModelWarning that states the assumption, and are refused with
  ``strict=True`` (:mod:`torsor.io.urdf.defects`).
* An inertia that no body has loads with one ModelWarning, and is refused with ``strict=True``.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace

from lxml import etree

from torsor.errors import ArgumentError, FileError, ModelError
from torsor.io.shared.document import OWN, Document, Element, Source, parse
from torsor.io.shared.notes import short_list
from torsor.io.urdf.defects import find_defects, missing_links_hint, warn_of_defects, with_world, without_missing_leaders
from torsor.io.urdf.joints import read_joint
from torsor.io.urdf.links import read_link
from torsor.io.urdf.looks import note_materials, read_palette
from torsor.model.description import BASES, Description
from torsor.model.physical import warn_or_refuse
from torsor.support.text import one_of

_SIMULATOR = "settings of a simulator or controller are not part of a rigid-body description"
_IGNORED = {
    "transmission": 'load with terms=["actuated"], and their joints alone have a drive; give a rotor\'s inertia as armature',
    "gazebo": _SIMULATOR,
    "ros2_control": _SIMULATOR,
    "sensor": "sensors are not part of a rigid-body description",
}
_OTHERS = {"mujoco": "an MJCF (MuJoCo) file", "sdf": "an SDF file", "html": "a web page", "COLLADA": "a COLLADA mesh"}


def read_urdf(source: Source, *, base: str | None = None, strict: bool = False, mimic: bool = True) -> Description:
    """The robot of a URDF file.

    ``source`` is a path, text that starts with ``<``, or bytes.  ``base="floating"`` frees the root link; the default is the
    base that torsor saved with the robot, else fixed.  ``mimic=False`` gives mimic joints their own coordinates;
    ``strict=True`` refuses inertias that no body has and the defects above.  Raises :class:`FileError` with file, line,
    element and reason.

    >>> read_urdf('<robot name="ball"><link name="ball"/></robot>').root
    'ball'
    """
    if base is not None and base not in BASES:
        raise ArgumentError(f"base must be {one_of(BASES)}, not {base!r}")
    doc = parse(source, tolerant=True)
    if doc.tag(doc.root) != "robot":
        found = _OTHERS.get(etree.QName(doc.root).localname)
        why = f"this is {found}" if found else f"its root element is <{doc.tag(doc.root)}>"
        raise FileError(f"is not a URDF: {why}, not <robot>", file=doc.file, line=doc.line(doc.root))
    find_defects(doc)
    parts = doc.look(doc.root, {"name", "version"}, {"link", "joint", "material", OWN}, _IGNORED)
    own = doc.only_child(doc.root, OWN)
    palette = read_palette(doc)
    written = [read_link(doc, e, palette) for e in parts if doc.tag(e) == "link"]
    joints = {e: read_joint(doc, e, mimic) for e in parts if doc.tag(e) == "joint"}
    links, joints_read = with_world(doc, written, joints), without_missing_leaders(doc, joints)
    driven = {e.get("name") for e in doc.root.iterfind("transmission/joint")}
    moved = tuple(replace(j, driven=j.name in driven) for j in joints_read)
    note_materials(doc)
    name = doc.root.get("name", "")
    if not name:
        name = "robot"
        doc.notes.note("<robot> has no name, so it is called", repr(name))
    try:
        report = (*doc.defects.lines(), *doc.notes.lines(), *doc.notes_on_tiny_numbers)
        d = Description(name, tuple(links), moved, base=base or "fixed", report=report, source=_path(source, doc))
        if own is not None:
            from torsor.io.shared.own_element import with_own_element

            d = with_own_element(d, own.text or "", doc.file, doc.line(own), base)
        odd = warn_or_refuse(d, strict=strict)
    except FileError:
        raise
    except ModelError as error:
        reason = f"{error}; mimic=False makes such joints independent" if " mimic" in str(error) else str(error)
        line, element = _place_of_error(doc, parts, str(error))
        raise FileError(reason + missing_links_hint(doc), file=doc.file, line=line, element=element) from error
    warn_of_defects(doc, name, strict=strict)
    return (
        d.with_note(f"physically impossible inertia, used as given: {short_list([f'link {n!r}' for n in odd])}") if odd else d
    )


def _path(source: Source, doc: Document) -> str:
    """The file read, in full; "" for text and bytes."""
    return os.path.abspath(os.fsdecode(source)) if doc.file and isinstance(source, (str, os.PathLike)) else ""


_NAME = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
#: the element at fault in an error message: the joint that came second, the name that came twice, else the first one named
_NAMED_ELEMENTS = (
    re.compile(rf"child of two (joint)s, {_NAME} and (?P<name>{_NAME})"),
    re.compile(rf"two (link|joint)s are named (?P<name>{_NAME})"),
    re.compile(rf"\b(link|joint) (?P<name>{_NAME})"),
)


def _place_of_error(doc: Document, parts: list[Element], message: str) -> tuple[int | None, str]:
    """Line and tag of the link or joint named in an error about the whole robot; the robot's own if none is named."""
    for pattern in _NAMED_ELEMENTS:
        match = pattern.search(message)
        if match is None:
            continue
        named = [e for e in parts if doc.tag(e) == match[1] and repr(e.get("name")) == match["name"]]
        if named:
            return doc.line(named[-1]), match[1]
    return doc.line(doc.root), "robot"
