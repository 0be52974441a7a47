"""Defects of URDF files that other libraries load: a warning that states the assumption, or with ``strict`` an error.

The tree is whole without the element, or has one usual reading:

* An XML declaration that is not at the start or not of XML 1.x, as in PyBullet's files (``<?xml version="0.0" ?>``).
* A name space prefix that is not declared, as in Fetch (``<sensor:camera>`` inside <gazebo>).
* The call of a xacro macro that was not expanded, as in Valkyrie: the links of the macro are missing.  A call inside <joint>
  or <inertial>, or in a link without <inertial>, may contain numbers of the tree and is refused.
* A second element where one belongs (<axis>, <origin>, <mass> ...): the first counts.
* A <visual> or <collision> that cannot be read is omitted.
* A lower limit above the upper one (:mod:`torsor.io.urdf.joints`): the two are exchanged.
* The link ``world`` that a joint has as its parent and the file does not declare, as in Drake: it is the root.

The dynamics depend on the assumption, which is Pinocchio's:

* <inertial> without <inertia> or one of its six entries: the inertia about the centre of mass is zero.  Without the value of
  <mass>: the link is massless.
* A mimic of a joint that does not exist: the joint is independent.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote

from lxml import etree

from torsor.errors import ModelWarning
from torsor.io.shared.document import UNDECLARED, Document, Element, is_macro_call
from torsor.io.shared.notes import short_list
from torsor.model.description import Joint, Link
from torsor.model.physical import callers_level

#: element → its children from which the tree is read
TREE = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "axis2", "limit", "limit_each", "dynamics", "dynamics_each", "mimic"),
}
#: the ground in Drake's URDF files, which need not declare it
WORLD = "world"


def find_defects(doc: Document) -> None:
    """Record the declarations, prefixes and leftover calls of a document; FileError where one may be part of the tree."""
    for line in doc.wrong_declarations:
        sentence = "XML declaration that is not at the start of the file, or not of XML 1.x, ignored"
        doc.tolerate(doc.root, sentence, f"line {line}", "xml-declaration", line)
    found = [e for e in doc.root.iter() if is_macro_call(e) or any(undeclared_prefixes(e))]
    for element in found:
        if is_macro_call(element):
            if not may_be_omitted(element):
                reason = "is the call of a xacro macro, which may contain numbers of the tree; run xacro on its source again"
                raise doc.fail(element, reason)
            missing = ", so links may be missing" if element.getparent() is doc.root else ""
            doc.tolerate(element, f"call of a xacro macro left over and ignored{missing}", f"<{doc.tag(element)}>")
        else:
            own = element.tag.startswith(f"{{{UNDECLARED}")
            if own and etree.QName(element).localname in TREE.get(_parent_tag(doc, element), ()):
                raise doc.fail(element, f"its name space prefix is not declared; remove {element.prefix + ':'!r}")
            for prefix in undeclared_prefixes(element):
                sentence = f"name space prefix {prefix!r} is not declared, so its elements and attributes are ignored"
                doc.tolerate(element, sentence, f"<{doc.tag(element)}>")


def without_missing_leaders(doc: Document, joints: Mapping[Element, Joint]) -> list[Joint]:
    """The joints, independent where they mimic a joint that does not exist."""
    names, out = {j.name for j in joints.values()}, []
    for element, j in joints.items():
        if j.mimic is not None and j.mimic.joint not in names:
            sentence = f"<mimic> of joint {j.mimic.joint!r}, which does not exist, ignored, so the joint is independent"
            doc.tolerate(element, sentence, f"joint {j.name!r}")
            j = replace(j, mimic=None)
        out.append(j)
    return out


def with_world(doc: Document, links: list[Link], joints: Mapping[Element, Joint]) -> list[Link]:
    """The links, and ``world`` if it is the parent of a joint and not declared."""
    users = [element for element, j in joints.items() if j.parent == WORLD]
    if not users or any(link.name == WORLD for link in links):
        return links
    for element in users:
        doc.tolerate(element, "link 'world' is not declared, so it is added without mass", doc.owner(element))
    return [Link(WORLD), *links]


def undeclared_prefixes(element: Element) -> tuple[str, ...]:
    """The prefixes of an element and its attributes that the file does not declare."""
    spaces = (str(name)[1:].partition("}")[0] for name in (element.tag, *element.attrib) if str(name).startswith("{"))
    return tuple(dict.fromkeys(unquote(space.removeprefix(UNDECLARED)) for space in spaces if space.startswith(UNDECLARED)))


def warn_of_defects(doc: Document, name: str, *, strict: bool) -> None:
    """One ModelWarning that lists all defects, or with ``strict`` a FileError at the first one."""
    if not doc.defective:
        return
    if strict:
        element, first = next(iter(doc.defective.items()))
        raise doc.fail(element, f"{doc.defects.lines()[0]}; correct it, or load with strict=False", first.line)
    message = f"robot {name!r}: {'; '.join(doc.defects.lines())}; torsor check lists repairs"
    warnings.warn(message, ModelWarning, stacklevel=callers_level())


def missing_links_hint(doc: Document) -> str:
    """The end of an error about an incomplete tree, if calls of xacro macros are left over; else ""."""
    calls = list(dict.fromkeys(f"<{doc.tag(e)}>" for e in doc.defective if is_macro_call(e)))
    return f"; calls of xacro macros are left over ({short_list(calls)}): run xacro on its source again" if calls else ""


def may_be_omitted(call: Element) -> bool:
    """Whether the call of a macro is outside the elements that contain the numbers of the tree."""
    parent = call.getparent()
    if parent is None:
        return False
    tag = etree.QName(parent).localname
    if tag == "link":
        return any(etree.QName(child).localname == "inertial" for child in parent)
    return tag not in ("joint", "inertial")


def _parent_tag(doc: Document, element: Element) -> str:
    parent = element.getparent()
    return "" if parent is None else doc.tag(parent)
