"""Defects of URDF files that other libraries load: a warning where the tree is whole without the element, else an error.

* A name space prefix that is not declared, as in Fetch (``<sensor:camera>`` inside <gazebo>).
* The call of a xacro macro that was not expanded, as in Valkyrie: the links of the macro are missing.  A call inside <joint>
  or <inertial>, or in a link without <inertial>, may contain numbers of the tree and is refused.
* A lower limit above the upper one (:mod:`torsor.io.urdf.joints`).
"""

from __future__ import annotations

import warnings
from urllib.parse import unquote

from lxml import etree

from torsor.errors import ModelWarning
from torsor.io.shared.document import UNDECLARED, Document, Element, is_macro_call
from torsor.io.shared.notes import short_list
from torsor.model.physical import callers_level

#: element → its children from which the tree is read
TREE = {
    "robot": ("link", "joint"),
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "axis2", "limit", "limit_each", "dynamics", "dynamics_each", "mimic"),
}


def find_defects(doc: Document) -> None:
    """Record the undeclared prefixes and leftover calls of a document; FileError where one may be part of the tree."""
    found = [e for e in doc.root.iter() if is_macro_call(e) or any(undeclared_prefixes(e))]
    for element in found:
        if is_macro_call(element):
            if not _may_be_omitted(doc, element):
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


def undeclared_prefixes(element: Element) -> tuple[str, ...]:
    """The prefixes of an element and its attributes that the file does not declare."""
    spaces = (str(name)[1:].partition("}")[0] for name in (element.tag, *element.attrib) if str(name).startswith("{"))
    return tuple(dict.fromkeys(unquote(space.removeprefix(UNDECLARED)) for space in spaces if space.startswith(UNDECLARED)))


def warn_of_defects(doc: Document, name: str, *, strict: bool) -> None:
    """One ModelWarning that lists all defects, or with ``strict`` a FileError at the first one."""
    if not doc.defective:
        return
    if strict:
        raise doc.fail(next(iter(doc.defective)), f"{doc.defects.lines()[0]}; correct it, or load with strict=False")
    message = f"robot {name!r}: {'; '.join(doc.defects.lines())}; torsor check lists repairs"
    warnings.warn(message, ModelWarning, stacklevel=callers_level())


def missing_links_hint(doc: Document) -> str:
    """The end of an error about an incomplete tree, if calls of xacro macros are left over; else ""."""
    calls = list(dict.fromkeys(f"<{doc.tag(e)}>" for e in doc.defective if is_macro_call(e)))
    return f"; calls of xacro macros are left over ({short_list(calls)}): run xacro on its source again" if calls else ""


def _may_be_omitted(doc: Document, element: Element) -> bool:
    """Whether a call is outside the parts of a file that contain the numbers of the tree."""
    parent = element.getparent()
    if parent is None:
        return False
    tag = doc.tag(parent)
    if tag == "link":
        return doc.single(parent, "inertial") is not None
    return tag not in ("joint", "inertial")


def _parent_tag(doc: Document, element: Element) -> str:
    parent = element.getparent()
    return "" if parent is None else doc.tag(parent)
