"""Named configurations of an SRDF, the file beside a URDF that MoveIt and Pinocchio read::

    <robot name="arm">
      <group_state name="home" group="arm">
        <joint name="elbow" value="0.5"/>
      </group_state>
    </robot>

Joints that a state does not name are neutral.  A floating base is the joint ``root_joint`` (Pinocchio's name), or a
``<virtual_joint type="floating">``, with seven numbers x y z qx qy qz qw.  States of several groups that have one name are one
configuration; where they contradict each other, the later one is called ``name:group``.  Groups, end effectors and pairs of
links without collision are not read.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from lxml import etree

from torsor.errors import FileError
from torsor.io.shared.document import Document, Element, Source, parse
from torsor.io.shared.notes import as_comment
from torsor.io.shared.places import side_file
from torsor.io.shared.xml_text import DECLARATION, numbers, write_xml
from torsor.model.description import FLOATING_BASE, Description
from torsor.model.joints import Floating, JointType
from torsor.model.named_configurations import Configuration, base_coordinates, merge
from torsor.model.splitting import split_composites

#: the name of a floating base in Pinocchio
ROOT_JOINT = "root_joint"
_COLLISIONS = "contact is not part of a rigid-body description"
_GROUPS = "groups of joints are not part of a rigid-body description"
_IGNORED = {
    "disable_collisions": _COLLISIONS, "enable_collisions": _COLLISIONS, "disable_default_collisions": _COLLISIONS,
    "link_sphere_approximation": _COLLISIONS, "group": _GROUPS, "end_effector": _GROUPS,
    "passive_joint": "which joints have a drive is not part of a model", "joint_property": "it belongs to a planner",
}  # fmt: skip
Values = dict[str, tuple[float, ...]]


def with_srdf(d: Description, source: Source) -> Description:
    """The description with the configurations of an SRDF: a path, text that starts with ``<``, or bytes.

    Raises FileError with file, line, element and reason.
    """
    doc = parse(source)
    if (tag := doc.tag(doc.root)) != "robot":
        raise FileError(f"is not an SRDF: its root element is <{tag}>, not <robot>", file=doc.file, line=doc.line(doc.root))
    parts = doc.look(doc.root, {"name", "version"}, {"group_state", "virtual_joint"}, _IGNORED)
    if doc.root.get("name", d.name) != d.name:
        doc.notes.note("SRDF of a robot of another name", doc.root.get("name", ""))
    reader = _Reader(doc, d, parts)
    read: dict[str, Values] = {}
    for state in parts:
        if doc.tag(state) == "group_state":
            reader.state(state, read)
    if read and not any(read.values()) and reader.unknown:
        first = reader.unknown[0]
        raise doc.fail(first, f"robot {d.name!r} has no joint {first.get('name')!r}, nor any other joint of the group states")
    made = tuple(Configuration(name, tuple(values.items())) for name, values in read.items() if values)
    before = tuple(c for c in d.configurations if not read.get(c.name))
    notes = (f"{doc.file or 'SRDF'}: {line}" for line in (*doc.notes.lines(), *doc.notes_on_tiny_numbers))
    return replace(d, configurations=merge(before, made), report=(*d.report, *notes))


class _Reader:
    """The group states of one document, for one robot."""

    def __init__(self, doc: Document, d: Description, parts: list[Element]):
        self.doc, self.unknown = doc, list[Element]()
        self.joints = {j.name: j for j in d.joints}
        floating = {FLOATING_BASE, ROOT_JOINT}
        floating |= {e.get("name", "") for e in parts if doc.tag(e) == "virtual_joint" and e.get("type") == "floating"}
        self.floating = floating - {j.name for j in d.joints if j.kind.nq}

    def state(self, element: Element, read: dict[str, Values]) -> None:
        """One group state, into those read before."""
        doc = self.doc
        name, group = doc.text(element, "name"), element.get("group", "")
        values: Values = {}
        for e in doc.look(element, {"name", "group"}, {"joint"}):
            joint = doc.text(e, "name")
            doc.look(e, {"name", "value"}, ())
            kind = self._kind(e, joint)
            if kind is None:
                continue
            joint = FLOATING_BASE if joint in self.floating else joint
            if joint in values:
                raise doc.fail(e, f"gives joint {joint!r} a second time in this <group_state>")
            values[joint] = doc.numbers(e, "value", kind.nq)
            if why := kind.fault(values[joint]):
                raise doc.fail(e, f"joint {joint!r}: {why}")
        if not values:
            doc.notes.note("group state without a joint that the robot moves, ignored", name)
        known = read.setdefault(name, {})
        if any(known.get(joint, x) != x for joint, x in values.items()):
            called = f"{name}:{group}"
            if not group or called in read:
                raise doc.fail(element, f"is another {name!r}, with other values for the same joints; rename one of them")
            doc.notes.note("group states of one name with other values; the later one is called", called)
            known = read.setdefault(called, {})
        known |= values

    def _kind(self, e: Element, joint: str) -> JointType | None:
        """The type of a joint that has coordinates, else None and a note."""
        if joint in self.floating:
            return Floating()
        j = self.joints.get(joint)
        if j is None:
            self.unknown.append(e)
            self.doc.notes.note("group states name joints that are not in the robot; ignored", joint)
        elif not j.kind.nq:
            self.doc.notes.note("group states name joints that are fixed; ignored", joint)
        elif j.mimic is not None:
            self.doc.notes.note("group states name mimic joints, which follow their leaders; ignored", joint)
        else:
            return j.kind
        return None


def write_srdf(d: Description, path: str | os.PathLike[str] | None = None) -> str:
    """The SRDF text of a description's named configurations; with a path, also written there, atomically.

    Composite joints are several, as in the URDF that torsor writes (:func:`torsor.model.splitting.split_composites`).

    >>> from torsor import robots
    >>> 'name="panda_joint4"' in write_srdf(robots.description("panda"))
    True
    """
    d = split_composites(d)
    return write_xml(lambda: _named_configurations(d), d.name, path, DECLARATION)


def _named_configurations(d: Description) -> Element:
    neutral = [(j.name, tuple(j.kind.neutral())) for j in d.joints if j.kind.nq and j.mimic is None]
    neutral += [(FLOATING_BASE, tuple(Floating().neutral()))] if d.floats else []
    named = [c if c.values else replace(c, values=tuple(neutral)) for c in d.configurations]  # a state must name a joint
    base = ROOT_JOINT if all(j.name != ROOT_JOINT for j in d.joints) else FLOATING_BASE
    used, moving = {name for c in named for name, _ in c.values}, {j.name for j in d.joints if j.kind.nq}
    robot = etree.Element("robot", name=d.name)
    robot.append(etree.Comment(as_comment("written by torsor; angles in rad, lengths in m, quaternions x y z w")))
    if FLOATING_BASE in used - moving:
        etree.SubElement(robot, "virtual_joint", name=base, type="floating", parent_frame="world", child_link=d.root)
    group = etree.SubElement(robot, "group", name="all")
    for j in d.joints:
        if j.name in used:
            etree.SubElement(group, "joint", name=j.name)
    for c in named:
        state = etree.SubElement(robot, "group_state", name=c.name, group="all")
        for name, values in c.values:
            of_base = name == FLOATING_BASE and name not in moving
            x = base_coordinates(Floating(), values) if of_base else values
            etree.SubElement(state, "joint", name=base if of_base else name, value=numbers(f"configuration {c.name!r}", x))
    return robot


def srdf_path(path: Any) -> str:
    """The SRDF of ``robot.urdf``: ``robot.srdf``, in the same folder.

    >>> srdf_path("arms/robot.urdf")
    'arms/robot.srdf'
    """
    return side_file(path, "srdf", ".srdf")
