"""Byte positions of the start tags of an XML document: for line numbers in errors, and for editing attributes."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple
from xml.parsers import expat

_ATTRIBUTE = rb"""\s+[^\s=/>]+\s*=\s*(?:"[^"]*"|'[^']*')"""
_START_TAG = re.compile(rb"<[^\s/>]+(?:" + _ATTRIBUTE + rb")*\s*/?>")


class Tag(NamedTuple):
    """A start tag: its line, and its bytes [start, end)."""

    line: int
    start: int
    end: int


def start_tags(data: bytes, encoding: str | None = None) -> list[Tag]:
    """The start tags of a well-formed document, in its order; those before the first one expat dislikes.

    lxml gives the line where a start tag ends, up to 65535; so expat parses the bytes once more.  ``encoding`` overrides
    the one declared in the document.

    >>> start_tags(b"<a>\\n<b x='1'/></a>")
    [Tag(line=1, start=0, end=3), Tag(line=2, start=4, end=14)]
    """
    found: list[Tag] = []
    walker = expat.ParserCreate(encoding)

    def start(*_: object) -> None:
        at = walker.CurrentByteIndex
        tag = _START_TAG.match(data, at)
        found.append(Tag(walker.CurrentLineNumber, at, tag.end() if tag else at))

    walker.StartElementHandler = start
    with suppress(expat.ExpatError):
        walker.Parse(data, True)
    return found


def with_attribute(tag: bytes, name: str, value: str) -> bytes:
    """The start tag with that attribute, replaced in place, or appended.

    >>> with_attribute(b'<axis  xyz = "0 0 2"/>', "xyz", "0 0 1")
    b'<axis  xyz = "0 0 1"/>'
    """
    pattern = re.compile(rb"(\s" + re.escape(name.encode()) + rb"""\s*=\s*)(?:"[^"]*"|'[^']*')""")
    quoted = b'"' + value.encode() + b'"'
    changed, n = pattern.subn(lambda m: m[1] + quoted, tag, count=1)
    if n:
        return changed
    end = re.search(rb"\s*/?>$", tag)
    assert end is not None
    return tag[: end.start()] + b" " + name.encode() + b"=" + quoted + tag[end.start() :]
