"""Untrusted XML: parsed without DTD, entities or network; errors have line numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple
from urllib.parse import quote

from lxml import etree
from lxml.etree import _Element as Element

from torsor.errors import ArgumentError, FileError
from torsor.io.shared.decimals import notes_on_tiny_numbers, parse_numbers
from torsor.io.shared.notes import Notes
from torsor.io.shared.start_tags import start_tags, undeclared_prefixes, without_declarations, wrong_declarations
from torsor.support.files import LARGEST, is_markup, label, read_bytes
from torsor.support.locks import cached_property

Source = str | os.PathLike[str] | bytes

_DECLARED = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
#: supersets of ASCII that need no table; others can hide a DOCTYPE from a check on bytes
_ENCODINGS = {
    "utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "ascii", "ascii": "ascii", "iso-8859-1": "latin-1", "latin1": "latin-1",
}  # fmt: skip
#: a DOCTYPE can only occur before the root element, among instructions and comments
_DOCTYPE = re.compile(r"(?>[ \t\r\n]*(?:<\?.*?\?>|<!--.*?-->))*+[ \t\r\n]*<!DOCTYPE", re.DOTALL)
_NO_DOCTYPE = "declares a DOCTYPE; DTDs and entities are refused, remove it"
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


#: the finding of ``torsor check`` about a second element where one belongs
TWICE = "element-twice"


class Defect(NamedTuple):
    """A defect that a reader tolerates: a line of the report, the finding of ``torsor check``, and its line if it is not
    that of its element."""

    sentence: str
    code: str = ""
    line: int | None = None


class Document:
    """One XML document being read: children and attributes by name, strict numbers, errors with line numbers.

    An element in the root's name space has its plain name; others keep their prefix and are ignored.
    """

    def __init__(self, root: Element, text: str, file: str, tolerant: bool = False):
        self.root, self.file, self.notes, self.tolerant = root, file, Notes(), tolerant
        self.defects, self.defective = Notes(), dict[Element, Defect]()
        self._text = text
        self._space = etree.QName(root).namespace
        self._tags: dict[str, str] = {}

    # -- errors ----------------------------------------------------------------------------------------------

    def fail(self, element: Element, reason: str, line: int | None = None) -> FileError:
        """The error to raise about an element; names the link or joint it belongs to."""
        owner = self.owner(element)
        reason = f"{owner}: {reason}" if owner else reason
        return FileError(reason, file=self.file, line=line or self.line(element), element=self.tag(element))

    def owner(self, element: Element) -> str:
        """The link or joint that an element belongs to, as ``link 'name'``; "" for others."""
        owner = next((e for e in (element, *element.iterancestors()) if e.getparent() is self.root), None)
        return f"{self.tag(owner)} {owner.get('name')!r}" if owner is not None and owner.get("name") else ""

    def tolerate(self, element: Element, sentence: str, name: str, code: str = "", line: int | None = None) -> None:
        """Record a defect that other readers accept: a warning, or with ``strict`` an error."""
        self.defects.note(sentence, name)
        self.defective.setdefault(element, Defect(sentence, code, line))

    @property
    def wrong_declarations(self) -> list[int]:
        """The lines of XML declarations that are not at the start, or not of XML 1.x."""
        data = self._text.encode("utf-8")
        starts = [0, *(start for start, _ in wrong_declarations(data))]
        return [n + 1 for n in accumulate(data.count(b"\n", a, b) for a, b in pairwise(starts))]

    def line(self, element: Element) -> int:
        """The line where an element starts; the text is parsed once more for it, so only for errors."""
        return self._line_of.get(element) or element.sourceline or 0  # if expat refuses text that lxml accepted

    @cached_property
    def _line_of(self) -> dict[Element, int]:
        return dict(zip(self.root.iter(), self.lines, strict=False))

    @property
    def lines(self) -> list[int]:
        """The line of every element, in the order of the document."""
        return [tag.line for tag in start_tags(self._text.encode("utf-8"), "utf-8")]

    @property
    def notes_on_tiny_numbers(self) -> tuple[str, ...]:
        """Notes on numbers that a double holds as 0 or with fewer digits."""
        return notes_on_tiny_numbers(self._text)

    # -- elements --------------------------------------------------------------------------------------------

    def tag(self, element: Element) -> str:
        tag = self._tags.get(element.tag)
        if tag is None:
            name = etree.QName(element)
            prefix = f"{element.prefix}:" if element.prefix else f"{{{name.namespace}}}"
            tag = self._tags[element.tag] = name.localname if name.namespace == self._space else prefix + name.localname
        return tag

    def look(
        self, element: Element, attributes: Collection[str], children: Collection[str], ignored: dict[str, str] | None = None
    ) -> list[Element]:
        """The children with the given names, in order.  Other content of the element is reported in the notes."""
        tag, found = self.tag(element), []
        for attribute in element.attrib:
            if attribute not in attributes:
                name = etree.QName(str(attribute)).localname
                self.notes.note_ignored(f'<{tag} {name}="..."> attribute', "unknown attribute")
        for child in element:
            name = self.tag(child)
            if name in children:
                found.append(child)
            elif child not in self.defective:
                why = (ignored or {}).get(name, f"unknown element in <{tag}>")
                self.notes.note_ignored(f"<{name}> element", why)
        if any(text and text.strip() for text in (element.text, *(child.tail for child in element))):
            self.notes.note_ignored("passage", f"it is text inside <{tag}>, which is read by its attributes and elements")
        return found

    def only_child(self, element: Element, name: str) -> Element | None:
        """The only child of that name, or None.  Of several the first counts if the document is tolerant, else an error."""
        found = [child for child in element if self.tag(child) == name]
        first = etree.tostring(found[0], with_tail=False) if len(found) > 1 else b""
        for other in found[1:]:
            if not self.tolerant:
                raise self.fail(other, f"is the second <{name}> of this <{self.tag(element)}>; only one is allowed")
            differs = "" if etree.tostring(other, with_tail=False) == first else ", although it differs"
            if other not in self.defective:
                sentence = f"second <{name}> of one <{self.tag(element)}> ignored{differs}"
                self.tolerate(other, sentence, self.owner(other), TWICE)
        return found[0] if found else None

    # -- attributes ------------------------------------------------------------------------------------------

    def text(self, element: Element, attribute: str) -> str:
        """A required attribute that must not be empty."""
        value = element.get(attribute)
        if value is None:
            raise self.fail(element, f'has no {attribute}="..."')
        if not value.strip():
            raise self.fail(element, f'{attribute}="{value}" is empty')
        return str(value)

    def numbers(self, element: Element, attribute: str, count: int | None, default: str | None = None) -> tuple[float, ...]:
        """The numbers of an attribute, ``count`` of them; without a default the attribute is required."""
        value = element.get(attribute, default)
        if value is None:
            raise self.fail(element, f'has no {attribute}="..."')
        try:
            found = parse_numbers(value)
        except ValueError as error:
            raise self.fail(element, f"{attribute}: {error}") from None
        if len(found) != count and (count is not None or not found):
            wanted = f"{count} numbers" if count and count > 1 else "one number"
            raise self.fail(element, f"{attribute} needs {wanted}, {len(found) or 'none'} given: {value[:80]!r}")
        return found

    def number(self, element: Element, attribute: str, default: str | None = None) -> float:
        return self.numbers(element, attribute, 1, default)[0]


def parse(source: Source, *, deep: bool = False, tolerant: bool = False) -> Document:
    """A document from a path, from text that starts with ``<``, or from bytes.  ``deep`` is for formats whose links lie in
    each other: it allows 2048 elements inside each other, and not 256.  ``tolerant`` accepts name space prefixes that are not
    declared (they get :data:`UNDECLARED` + prefix), invalid XML declarations, calls of xacro macros and second elements where
    one belongs; the caller judges them.

    Bytes are UTF-8, with or without a byte order mark, or ASCII or ISO-8859-1 if the XML declaration names it; UTF-16 and
    NUL are refused, and so is every DOCTYPE, before parsing.  The declared encoding is ignored for text.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        file, text = "", _decode(bytes(source), "")
    elif isinstance(source, str) and is_markup(source):
        file, text = "", source.removeprefix("\ufeff")
    elif isinstance(source, (str, os.PathLike)):
        file, text = label(source), _decode(read_bytes(source), label(source))
    else:
        raise ArgumentError(f"source must be a path, XML text or bytes, not {type(source).__name__}")
    if len(text) > LARGEST:
        raise FileError(f"is larger than {LARGEST >> 20} MB, which is too large", file=file)
    if not text.strip():
        raise FileError("is empty; a path or XML was expected", file=file)
    if found := _DOCTYPE.match(text):
        raise FileError(_NO_DOCTYPE, file=file, line=text.count("\n", 0, found.end()) + 1)
    document = Document(_parse(text, file, deep, tolerant), text, file, tolerant)
    _refuse_xacro(document, tolerant)
    return document


def _decode(data: bytes, file: str) -> str:
    """The text of a file."""
    if data.startswith(_WIDE):
        raise FileError("is UTF-16 or UTF-32; save it as UTF-8", file=file, line=1)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise FileError("contains a NUL byte: it is UTF-16 or not text; save it as UTF-8", file=file, line=line)
    declared = _DECLARED.match(data)
    name = declared[1].decode() if declared else "utf-8"
    encoding = _ENCODINGS.get(name.lower())
    if encoding is None:
        raise FileError(f"declares the encoding {name!r}; save it as UTF-8", file=file, line=1)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileError(f"contains bytes that are not {name}: {error.reason}; save it as UTF-8", file=file, line=line) from None


def _parse(text: str, file: str, deep: bool, tolerant: bool) -> Element:
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FileError("contains a lone surrogate, which is not a character", file=file, line=line) from None
    # the encoding given here overrides the declaration's; huge_tree=False keeps libxml2's limits on depth and length, and True
    # has wider ones; entities, the known danger of it, are refused above
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, huge_tree=deep,
        recover=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    wrong: FileError | None = None
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        if tolerant and wrong_declarations(data):
            return _parse(without_declarations(data).decode("utf-8"), file, deep, tolerant)
        undeclared = undeclared_prefixes(data) if tolerant else ()
        if 0 < len(undeclared) <= _TOLERATED:
            return _parse(_declare(undeclared, data).decode("utf-8"), file, deep, False)
        wrong = _syntax_error(error, file)
    if wrong is not None:  # outside, or it would take lxml's error along as its context, which no process can send to another
        raise wrong
    if root.getroottree().docinfo.internalDTD is not None:
        raise FileError(_NO_DOCTYPE, file=file)
    return root


#: the element with parts of a robot that a format has no place for (:mod:`torsor.io.shared.own_element`)
OWN = "torsor"
#: the name space of a prefix that a file uses and does not declare
UNDECLARED = "urn:torsor:undeclared:"
#: number of such prefixes that are tolerated; real files have one or two
_TOLERATED = 20


def _declare(prefixes: Sequence[str], data: bytes) -> bytes:
    """The text with these prefixes declared in its root element; its lines stay the same."""
    name = re.compile(rb"<[^\s/>]+").match(data, start_tags(data, "utf-8")[0].start)
    assert name is not None
    added = "".join(f' xmlns:{prefix}="{UNDECLARED}{quote(prefix)}"' for prefix in prefixes)
    return data[: name.end()] + added.encode() + data[name.end() :]


def _syntax_error(error: etree.XMLSyntaxError, file: str) -> FileError:
    problem = re.sub(r", line \d+, column \d+( \(.*\))?$", "", error.msg or "no XML")
    problem = problem.removesuffix(", use XML_PARSE_HUGE option")  # an option that torsor does not offer
    return FileError(
        _XACRO if "prefix xacro" in problem else f"is not well-formed XML: {problem}", file=file, line=error.lineno
    )


_XACRO = (
    "is xacro, a program that makes URDF: if you trust it, ts.load(path, xacro_args={}) runs it, or run it first "
    "(xacro robot.urdf.xacro > robot.urdf) and load its output"
)


#: elements of xacro's language; every other name is the call of a macro
_DIRECTIVES = (
    "include", "macro", "property", "arg", "if", "unless", "insert_block", "element", "attribute", "call", "eval",
)  # fmt: skip


def _refuse_xacro(document: Document, tolerant: bool) -> None:
    """A bare xmlns:xacro is left over in many finished files and is ignored; an element or attribute of it is refused.

    ``tolerant`` accepts calls of macros: xacro leaves one as it is where the macro is not defined.
    """
    if document.file.endswith(".xacro"):
        raise FileError(_XACRO, file=document.file)
    for element in document.root.iter():
        names = [element.tag, *element.attrib] if element.attrib else [element.tag]
        spaces = [name.startswith("{") and "xacro" in name.partition("}")[0] for name in names]
        if tolerant and is_macro_call(element) and not any(spaces[1:]):
            continue
        if element.prefix == "xacro" or any(spaces):
            raise FileError(_XACRO, file=document.file, line=document.line(element), element=document.tag(element))


def is_macro_call(element: Element) -> bool:
    """Whether an element is ``<xacro:name>``, and not one of xacro's language."""
    name = etree.QName(element)
    of_xacro = element.prefix == "xacro" or "xacro" in (name.namespace or "")
    return of_xacro and name.localname not in _DIRECTIVES
