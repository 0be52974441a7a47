"""Loops in a file of their own, beside a URDF, which has no words for them::

    loops:
      - name: close
        type: revolute                       # any of Builder.loop's types
        axis: [0, 0, 1]                      # in the joint frame; second_axis and pitch where the type has them
        parent: {link: rocker, xyz: [0.3, 0, 0], rpy: [0, 0, 0]}
        child: {link: coupler, xyz: [0.5, 0, 0]}

``xyz`` [m] and ``rpy`` [rad] place the joint frame on either link, at the link's own frame where left out; ``link: world`` is
the fixed frame.  ``name``, ``type`` and the two links must be there.  Keys besides these are refused, not ignored.

YAML is read as a tree of words with a line each: nothing is constructed, no tag means anything, and numbers are the plain
decimals of :mod:`torsor.io.decimals` (YAML's own 1_000, 0x10, 1:30 and .inf are not).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple

from torsor.errors import ArgumentError, FileError, ModelError, TorsorError
from torsor.io.decimals import parse_numbers
from torsor.io.files import label, read_bytes, write_text
from torsor.model.builder import loop_joint
from torsor.model.description import Description, Loop
from torsor.model.joints import JOINT_TYPES
from torsor.scalar import is_constant
from torsor.spatial import Transform, to_rpy
from torsor.spatial.vector import IDENTITY, ZERO, flat

Source = str | os.PathLike[str] | bytes

#: how many numbers each key holds; 1 is a plain number, no list
_NUMBERS = {"axis": 3, "second_axis": 3, "pitch": 1, "xyz": 3, "rpy": 3}
_LOOP = ("name", "type", "axis", "second_axis", "pitch", "parent", "child")
_END = ("link", "xyz", "rpy")
_STANDARD = "tag:yaml.org,2002:"
#: what YAML 1.1 guesses a plain word to be; any is a name here, and none changes how it is spelt
_WORDS = {_STANDARD + tag for tag in ("str", "int", "float", "bool", "timestamp", "merge", "value")}


class _Read(NamedTuple):
    loop: Loop
    line: int
    element: str


def read_loops(source: Source) -> tuple[Loop, ...]:
    """The loops of a side-file: a path, text with line breaks, or bytes.  Raises FileError with file, line, element, reason.

    >>> text = "loops:\\n - {name: close, type: revolute, parent: {link: a, xyz: [1, 0, 0]}, child: {link: b}}\\n"
    >>> [loop.name for loop in read_loops(text)]
    ['close']
    """
    return tuple(item.loop for item in _read(*_text(source)))


def with_loops(d: Description, source: Source) -> Description:
    """The description with the loops of a side-file, checked against its links and joints."""
    text, file = _text(source)
    items = _read(text, file)
    try:
        whole = replace(d, loops=(*d.loops, *(item.loop for item in items)))
    except ModelError:
        _blame(d, items, file)
        raise
    return whole.with_note(f"{len(items)} loop{'' if len(items) == 1 else 's'} read from {file or 'text'}")


def _blame(d: Description, items: list[_Read], file: str) -> None:
    """Raise the error of the first loop that does not fit."""
    for item in items:
        try:
            d = replace(d, loops=(*d.loops, item.loop))
        except ModelError as error:
            raise FileError(str(error), file=file, line=item.line, element=item.element) from error


def write_loops(description: Description, path: str | os.PathLike[str] | None = None) -> str:
    """The side-file text of a robot's loops; with a path, also written there, all or nothing."""
    import yaml

    data = {"loops": [_written(loop) for loop in description.loops]}
    text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)
    if path is not None:
        write_text(path, text)
    return text


def beside(path: Any) -> str:
    """The side-file of ``robot.urdf``: ``robot.loops.yaml``, in the same folder.

    >>> beside("arms/robot.urdf")
    'arms/robot.loops.yaml'
    """
    if not isinstance(path, (str, os.PathLike)) or str(path).lstrip().startswith("<"):
        raise ArgumentError("loops=True means the file beside the URDF, and this robot comes from no file: give loops=path")
    return os.path.splitext(os.fsdecode(path))[0] + ".loops.yaml"


# -- reading -------------------------------------------------------------------------------------------------------------


def _text(source: Source) -> tuple[str, str]:
    """(text, file name for errors)."""
    if isinstance(source, str) and "\n" in source:
        return source, ""
    if not isinstance(source, (str, os.PathLike, bytes)):
        raise ArgumentError(f"loops must be a path, text or bytes, not {type(source).__name__}")
    data, file = (source, "") if isinstance(source, bytes) else (read_bytes(source), label(source))
    try:
        return data.decode("utf-8-sig"), file
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(f"is not UTF-8: byte {data[error.start]:#04x} cannot be read", file=file, line=line) from error


def _read(text: str, file: str) -> list[_Read]:
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FileError(f"is not YAML: {error.problem}", file=file, line=mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise FileError(f"is not YAML: {' '.join(str(error).split())}", file=file) from error
    except RecursionError:
        raise FileError("is nested too deeply to be a list of loops", file=file) from None
    if root is None:
        raise FileError("is empty; it must hold loops: [...]", file=file)
    reader = _Reader(file)
    items = reader.mapping(root, "loops.yaml", ("loops",), required=("loops",))["loops"]
    if items.id != "sequence":
        raise reader.fail(items, "loops", "must be a list, an entry a loop (- name: ...)")
    return [reader.loop(node, f"loops[{n}]") for n, node in enumerate(items.value)]


class _Reader:
    """YAML nodes to values, with complaints that say file, line and element."""

    def __init__(self, file: str):
        self.file = file

    def fail(self, node: Any, element: str, reason: str) -> FileError:
        return FileError(reason, file=self.file, line=node.start_mark.line + 1, element=element)

    def loop(self, node: Any, element: str) -> _Read:
        parts = self.mapping(node, element, _LOOP, required=("name", "type", "parent", "child"))
        name = self.word(parts["name"], f"{element}.name")
        kind = self.word(parts["type"], f"{element}.type")
        if kind not in JOINT_TYPES:
            raise self.fail(parts["type"], f"{element}.type", f"loop {name!r}: {_unknown('joint type', kind, JOINT_TYPES)}")
        values: dict[str, Any] = {
            k: self.numbers(parts[k], f"{element}.{k}", k) for k in ("axis", "second_axis", "pitch") if k in parts
        }
        parent, values["xyz"], values["rpy"] = self.end(parts["parent"], f"{element}.parent")
        child, values["child_xyz"], values["child_rpy"] = self.end(parts["child"], f"{element}.child")
        try:
            return _Read(loop_joint(name, kind, parent, child, **values), node.start_mark.line + 1, element)
        except TorsorError as error:
            raise self.fail(node, element, str(error)) from error

    def end(self, node: Any, element: str) -> tuple[str, Any, Any]:
        """(link, xyz, rpy) of one side."""
        parts = self.mapping(node, element, _END, required=("link",))
        xyz, rpy = (self.numbers(parts[k], f"{element}.{k}", k) if k in parts else (0, 0, 0) for k in ("xyz", "rpy"))
        return self.word(parts["link"], f"{element}.link"), xyz, rpy

    def mapping(self, node: Any, element: str, known: tuple[str, ...], required: tuple[str, ...]) -> dict[str, Any]:
        """The nodes of a mapping by key; unknown, double and missing keys are errors."""
        if node.id != "mapping" or node.tag != f"{_STANDARD}map":
            raise self.fail(node, element, f"must be a mapping with the keys {', '.join(known)}")
        found: dict[str, Any] = {}
        for key, value in node.value:
            word = self.word(key, element)
            if word not in known:
                raise self.fail(key, element, _unknown("key", word, known))
            if word in found:
                raise self.fail(key, element, f"{word!r} is given twice")
            found[word] = value
        for word in required:
            if word not in found:
                raise self.fail(node, element, f"{word!r} is missing")
        return found

    def word(self, node: Any, element: str) -> str:
        if node.id != "scalar" or node.tag not in _WORDS or not node.value:
            raise self.fail(node, element, "must be a name")
        return node.value

    def numbers(self, node: Any, element: str, key: str) -> Any:
        size = _NUMBERS[key]
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
        if len(values) != 1 or node.style is not None or node.tag not in _WORDS:
            raise self.fail(node, element, f"{node.value!r} is not a number: write it without quotes or tag")
        return values[0]


def _unknown(what: str, word: str, known: Any) -> str:
    near = get_close_matches(word, list(known), n=1)
    return f"{word!r} is no {what} here{f'; did you mean {near[0]!r}?' if near else ''} (there are {', '.join(known)})"


# -- writing -------------------------------------------------------------------------------------------------------------


def _written(loop: Loop) -> dict[str, Any]:
    kind, who = loop.kind, f"loop {loop.name!r}"
    if JOINT_TYPES.get(kind.name) is not type(kind):
        raise ModelError(f"{who}: the side-file has no word for {type(kind).__name__}; it can write {', '.join(JOINT_TYPES)}")
    geometry = {"axis" if k == "normal" else k: v for k, v in vars(kind).items()}
    out: dict[str, Any] = {"name": loop.name, "type": kind.name}
    out |= {k: _plain(v, who) if k == "pitch" else [_plain(x, who) for x in v] for k, v in geometry.items()}
    return out | {"parent": _end(loop.parent, loop.origin, who), "child": _end(loop.child, loop.child_origin, who)}


def _end(link: str, X: Transform, who: str) -> Mapping[str, Any]:
    R, p = X.pose
    for x in flat(R, p):
        _plain(x, who)  # refuses symbols, before their angles are asked for
    out: dict[str, Any] = {"link": link}
    if p != ZERO:
        out["xyz"] = [_plain(x, who) for x in p]
    if R != IDENTITY:
        out["rpy"] = [_plain(x, who) for x in to_rpy(R)]
    return out


def _plain(x: Any, who: str) -> int | float:
    """A number that is read back as the same double; whole ones without their point."""
    if not is_constant(x):
        raise ModelError(f"{who}: {x!r} is not a number, and a file holds nothing else")
    return int(x) if float(x).is_integer() and abs(x) < 1e6 else float(x)
