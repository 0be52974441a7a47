"""YAML as a tree of words with a line each: no objects are constructed, tags are not interpreted.

Numbers are the plain decimals of :mod:`torsor.io.shared.decimals` (YAML's own 1_000, 0x10, 1:30 and .inf are not), and every
error has file, line and element.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from itertools import accumulate
from typing import Any

from torsor.errors import ArgumentError, FileError
from torsor.io.shared.decimals import parse_numbers
from torsor.support.files import label, read_bytes

Source = str | os.PathLike[str] | bytes

#: brackets inside brackets: three are enough for all that is read here
DEEPEST = 50

_STANDARD = "tag:yaml.org,2002:"
#: implicit types of plain words in YAML 1.1; here all are names, with their spelling unchanged
_SCALAR_TAGS = {_STANDARD + tag for tag in ("str", "int", "float", "bool", "timestamp", "merge", "value")}


def text_of(source: Source, what: str) -> tuple[str, str]:
    """(text, file name for errors) of a path, of text with line breaks, or of bytes; ``what`` is the argument's name."""
    if isinstance(source, str) and "\n" in source:
        return source, ""
    if not isinstance(source, (str, os.PathLike, bytes)):
        raise ArgumentError(f"{what} must be a path, text or bytes, not {type(source).__name__}")
    data, file = (source, "") if isinstance(source, bytes) else (read_bytes(source), label(source))
    try:
        return data.decode("utf-8-sig"), file
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(f"is not UTF-8: byte {data[error.start]:#04x} cannot be read", file=file, line=line) from error


def compose(text: str, file: str, what: str) -> Any:
    """The root node of a document; ``what`` names the expected content in errors (empty, nested too deeply)."""
    import yaml

    if _depth(text) > DEEPEST:  # PyYAML's time grows with the square of it
        raise FileError(f"is nested too deeply to be {what}", file=file)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FileError(f"is not YAML: {error.problem}", file=file, line=mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise FileError(f"is not YAML: {' '.join(str(error).split())}", file=file) from error
    except RecursionError:
        raise FileError(f"is nested too deeply to be {what}", file=file) from None
    if root is None:
        raise FileError(f"is empty; it must contain {what}", file=file)
    return root


def _depth(text: str) -> int:
    """Largest number of open brackets, including those in quotes."""
    steps = (1 if bracket in "[{" else -1 for bracket in re.findall(r"[][{}]", text))
    return max(accumulate(steps), default=0)


class Nodes:
    """YAML nodes to values; errors have file, line and element."""

    def __init__(self, file: str):
        self.file = file

    def fail(self, node: Any, element: str, reason: str) -> FileError:
        return FileError(reason, file=self.file, line=node.start_mark.line + 1, element=element)

    def mapping(self, node: Any, element: str, known: Sequence[str], required: Sequence[str] = ()) -> dict[str, Any]:
        """The nodes of a mapping by key; unknown, double and missing keys are errors."""
        if node.id != "mapping" or node.tag != f"{_STANDARD}map":
            raise self.fail(node, element, f"must be a mapping with the keys {', '.join(known)}")
        found: dict[str, Any] = {}
        for key, value in node.value:
            word = self.word(key, element)
            if word not in known:
                raise self.fail(key, element, unknown_key_message("key", word, known))
            if word in found:
                raise self.fail(key, element, f"{word!r} is given twice")
            found[word] = value
        for word in required:
            if word not in found:
                raise self.fail(node, element, f"{word!r} is missing")
        return found

    def items(self, node: Any, element: str, what: str) -> list[Any]:
        """The nodes of a list; ``what`` describes its items in errors."""
        if node.id != "sequence":
            raise self.fail(node, element, f"must be a list, {what}")
        return node.value

    def word(self, node: Any, element: str) -> str:
        if node.id != "scalar" or node.tag not in _SCALAR_TAGS or not node.value:
            raise self.fail(node, element, "must be a name")
        return node.value

    def numbers(self, node: Any, element: str, size: int) -> Any:
        """``size`` numbers as a list; a plain number if ``size`` is 1."""
        items = [node] if size == 1 else node.value
        if (node.id == "sequence") != (size > 1) or len(items) != size or not all(x.id == "scalar" for x in items):
            raise self.fail(node, element, "must be a number" if size == 1 else f"must be a list of {size} numbers: [x, y, z]")
        values = [self._number(x, element) for x in items]
        return values[0] if size == 1 else values

    def _number(self, node: Any, element: str) -> float:
        try:
            values = parse_numbers(node.value)
        except ValueError as error:
            raise self.fail(node, element, str(error)) from None
        if len(values) != 1 or node.style is not None or node.tag not in _SCALAR_TAGS:
            raise self.fail(node, element, f"{node.value!r} is not a number: write it without quotes or tag")
        return values[0]


def unknown_key_message(what: str, word: str, known: Collection[str]) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"unknown {what} {word!r}{f'; did you mean {near[0]!r}?' if near else ''} (known: {', '.join(known)})"
