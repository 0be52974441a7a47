"""Byte positions of the start tags of an XML document: for line numbers in errors, and for editing attributes."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple
from xml.parsers import expat

_ATTRIBUTE = rb"""\s+[^\s=/>]+\s*=\s*(?:"[^"]*"|'[^']*')"""
_START_TAG = re.compile(rb"<[^\s/>]+(?:" + _ATTRIBUTE + rb")*\s*/?>")
_BOM = b"\xef\xbb\xbf"
#: an instruction or a comment before the root element; an XML declaration, and one that XML parsers accept
_PROLOG = re.compile(rb"\s*(<\?.*?\?>|<!--.*?-->)", re.DOTALL)
_DECLARATION = re.compile(rb"<\?xml(?=[\s?])")
_VALID_DECLARATION = re.compile(rb"""<\?xml\s+version\s*=\s*(["'])1\.[0-9]+\1""")
_ENCODING = re.compile(rb"""\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


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
    walker, data = _walker(data, encoding)

    def start(*_: object) -> None:
        at = walker.CurrentByteIndex
        tag = _START_TAG.match(data, at)
        found.append(Tag(walker.CurrentLineNumber, at, tag.end() if tag else at))

    _walk(walker, data, start)
    return found


def wrong_declarations(data: bytes) -> list[tuple[int, int]]:
    """[start, end) of the XML declarations before the root element that are not at the start, or not of XML 1.x.

    >>> wrong_declarations(b'<?xml version="1.0"?><a/>'), wrong_declarations(b'\\n<?xml version="1.0"?><a/>')
    ([], [(1, 22)])
    """
    found, at = [], len(_BOM) if data.startswith(_BOM) else 0
    first = at
    while piece := _PROLOG.match(data, at):
        if _DECLARATION.match(piece[1]) and (piece.start(1) > first or not _VALID_DECLARATION.match(piece[1])):
            found.append(piece.span(1))
        at = piece.end()
    return found


def without_declarations(data: bytes) -> bytes:
    """The document with blanks in place of invalid XML declarations: lines and positions stay the same."""
    parts, at = list[bytes](), 0
    for start, end in wrong_declarations(data):
        parts += data[at:start], re.sub(rb"[^\r\n]", b" ", data[start:end])
        at = end
    return b"".join((*parts, data[at:]))


def with_declaration(data: bytes) -> bytes:
    """The document with a valid XML declaration at its start, and no other.

    >>> with_declaration(b'\\n<?xml version="0.0" encoding="ascii"?>\\n<a/>')
    b'<?xml version="1.0" encoding="ascii"?>\\n\\n<a/>'
    """
    wrong, encoding = wrong_declarations(data), _declared_encoding(data)
    ends = [len(_BOM) if data.startswith(_BOM) else 0, *(end for _, end in wrong)]
    starts = [*(start for start, _ in wrong), len(data)]
    rest = b"".join(data[end:start] for end, start in zip(ends, starts, strict=True))
    declared = f' encoding="{encoding}"' if encoding else ""
    made = b"" if _DECLARATION.match(rest) else f'<?xml version="1.0"{declared}?>'.encode()
    return data[: ends[0]] + made + rest


def _declared_encoding(data: bytes) -> str | None:
    """The encoding in an invalid XML declaration."""
    found = [_ENCODING.search(data, start, end) for start, end in wrong_declarations(data)]
    return next((match[1].decode() for match in found if match), None)


def _walker(data: bytes, encoding: str | None = None) -> tuple[Any, bytes]:
    """(parser, the bytes for it): expat does not accept invalid XML declarations."""
    encoding = encoding or _declared_encoding(data)
    return expat.ParserCreate(encoding), without_declarations(data)


def _walk(walker: Any, data: bytes, start: Callable[..., Any], end: Callable[..., Any] | None = None) -> None:
    """Call ``start`` and ``end`` at the tags, up to the first place expat dislikes."""
    walker.StartElementHandler, walker.EndElementHandler = start, end
    with suppress(expat.ExpatError):
        walker.Parse(data, True)


def undeclared_prefixes(data: bytes) -> tuple[str, ...]:
    """The name space prefixes that a document in UTF-8 uses and does not declare, up to the first place expat dislikes.

    >>> undeclared_prefixes(b"<a xmlns:p='x' q:r='1'><p:b/><s:c/></a>")
    ('q', 's')
    """
    found: dict[str, None] = {}
    scopes: list[set[str]] = [{"xml", "xmlns"}]
    walker, data = _walker(data, "utf-8")

    def start(tag: str, attributes: dict[str, str]) -> None:
        new = {name.removeprefix("xmlns:") for name in attributes if name.startswith("xmlns:")}
        scopes.append(scopes[-1] | new if new else scopes[-1])
        for name in (tag, *attributes):
            prefix, colon, _ = name.partition(":")
            if colon and prefix not in scopes[-1]:
                found[prefix] = None

    _walk(walker, data, start, lambda _: scopes.pop())
    return tuple(found)


def element_ends(data: bytes) -> dict[int, int]:
    """Start → end [bytes] of every element of a well-formed document.

    >>> element_ends(b"<a><b><c/></b></a>")
    {6: 10, 3: 14, 0: 18}
    """
    walker, data = _walker(data)
    starts, ends = list[int](), dict[int, int]()

    def end(*_: object) -> None:
        start, at = starts.pop(), walker.CurrentByteIndex
        tag = _START_TAG.match(data, start)
        empty = tag is not None and tag[0].endswith(b"/>")
        ends[start] = tag.end() if tag and empty else data.index(b">", at) + 1

    _walk(walker, data, lambda *_: starts.append(walker.CurrentByteIndex), end)
    return ends


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
