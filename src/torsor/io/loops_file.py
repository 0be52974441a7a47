"""Loops in a separate file beside a URDF, which cannot express them::

    loops:
      - name: close
        type: revolute                       # any of Builder.loop's types
        axis: [0, 0, 1]                      # in the joint frame; second_axis, pitch and order where the type has them
        parent: {link: rocker, xyz: [0.3, 0, 0], rpy: [0, 0, 0]}
        child: {link: coupler, xyz: [0.5, 0, 0]}
    actuated: [crank]                        # joints with a drive; all have one where it is left out

``xyz`` [m] and ``rpy`` [rad] place the joint frame on either link, at the link's own frame where left out; ``link: world`` is
the fixed frame.  ``name``, ``type`` and the two links are required.  Other keys are refused, not ignored.

YAML is read as a tree of words with a line each (:mod:`torsor.io.shared.yaml_nodes`), and numbers are plain decimals.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from torsor.errors import FileError, ModelError, TorsorError
from torsor.io.shared.decimals import notes_on_tiny_numbers
from torsor.io.shared.places import side_file
from torsor.io.shared.yaml_nodes import Nodes, Source, compose, text_of, unknown_key_message
from torsor.model.attachments import with_actuated
from torsor.model.description import Description, Loop
from torsor.model.joint_arguments import loop_joint
from torsor.model.joints import JOINT_TYPES, EulerAngles, JointType
from torsor.scalar import is_constant
from torsor.spatial import Transform, to_rpy
from torsor.spatial.vector import IDENTITY, ZERO, flat
from torsor.support.files import write_text
from torsor.support.text import count

#: number of values of each key; 1 is a plain number, not a list
_NUMBERS = {"axis": 3, "second_axis": 3, "pitch": 1}
_LOOP = ("name", "type", "axis", "second_axis", "pitch", "order", "parent", "child")
_END = ("link", "xyz", "rpy")


class _LoopEntry(NamedTuple):
    loop: Loop
    line: int
    element: str


def read_loops(source: Source) -> tuple[Loop, ...]:
    """The loops of a side-file: a path, text with line breaks, or bytes.  Raises FileError with file, line, element, reason.

    >>> text = "loops:\\n - {name: close, type: revolute, parent: {link: a, xyz: [1, 0, 0]}, child: {link: b}}\\n"
    >>> [loop.name for loop in read_loops(text)]
    ['close']
    """
    return tuple(item.loop for item in _read(*text_of(source, "loops"))[0])


def with_loops(d: Description, source: Source) -> Description:
    """The description with the loops of a side-file, checked against its links and joints."""
    text, file = text_of(source, "loops")
    items, actuated = _read(text, file)
    try:
        whole = replace(d, loops=(*d.loops, *(item.loop for item in items)))
    except ModelError:
        _raise_error_of_loop(d, items, file)
        raise
    if actuated is not None:
        try:
            whole = with_actuated(whole, actuated)
        except TorsorError as error:
            raise FileError(str(error), file=file, element="actuated") from error
    tiny = (f"{file or 'loops'}, {note}" for note in notes_on_tiny_numbers(text))
    return whole.with_note(*tiny, f"{count(len(items), 'loop')} read from {file or 'text'}")


def _raise_error_of_loop(d: Description, items: list[_LoopEntry], file: str) -> None:
    """Raise the error of the first loop that does not fit."""
    for item in items:
        try:
            d = replace(d, loops=(*d.loops, item.loop))
        except ModelError as error:
            raise FileError(str(error), file=file, line=item.line, element=item.element) from error


def write_loops(description: Description, path: str | os.PathLike[str] | None = None) -> str:
    """The side-file text of a robot's loops; with a path, also written there, atomically."""
    import yaml

    data: dict[str, Any] = {"loops": [_to_yaml(loop) for loop in description.loops]}
    data |= {} if description.actuated is None else {"actuated": list(description.actuated)}
    text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)
    if path is not None:
        write_text(path, text)
    return text


def loops_path(path: Any) -> str:
    """The side-file of ``robot.urdf``: ``robot.loops.yaml``, in the same folder.

    >>> loops_path("arms/robot.urdf")
    'arms/robot.loops.yaml'
    """
    return side_file(path, "loops", ".loops.yaml")


# -- reading -------------------------------------------------------------------------------------------------------------


def _read(text: str, file: str) -> tuple[list[_LoopEntry], list[str] | None]:
    """The loops, and the joints with a drive where the file lists them."""
    root = compose(text, file, "loops: [...]")
    reader = _Reader(file)
    parts = reader.mapping(root, "loops.yaml", ("loops", "actuated"), required=("loops",))
    nodes = reader.items(parts["loops"], "loops", "one entry per loop (- name: ...)")
    loops = [reader.loop(node, f"loops[{n}]") for n, node in enumerate(nodes)]
    if "actuated" not in parts:
        return loops, None
    names = reader.items(parts["actuated"], "actuated", "a list of joints, [crank]")
    return loops, [reader.word(node, f"actuated[{n}]") for n, node in enumerate(names)]


class _Reader(Nodes):
    """A loop of its nodes."""

    def loop(self, node: Any, element: str) -> _LoopEntry:
        parts = self.mapping(node, element, _LOOP, required=("name", "type", "parent", "child"))
        name = self.word(parts["name"], f"{element}.name")
        kind = self.word(parts["type"], f"{element}.type")
        if kind not in JOINT_TYPES:
            raise self.fail(
                parts["type"], f"{element}.type", f"loop {name!r}: {unknown_key_message('joint type', kind, JOINT_TYPES)}"
            )
        values: dict[str, Any] = {k: self.numbers(parts[k], f"{element}.{k}", n) for k, n in _NUMBERS.items() if k in parts}
        parent, values["xyz"], values["rpy"] = self.end(parts["parent"], f"{element}.parent")
        child, values["child_xyz"], values["child_rpy"] = self.end(parts["child"], f"{element}.child")
        try:
            made: str | JointType = kind
            if "order" in parts:
                if kind != EulerAngles.name:
                    raise ModelError(f"loop {name!r}: a {kind} joint has no order")
                made = EulerAngles(self.word(parts["order"], f"{element}.order"))
            return _LoopEntry(loop_joint(name, made, parent, child, **values), node.start_mark.line + 1, element)
        except TorsorError as error:
            raise self.fail(node, element, str(error)) from error

    def end(self, node: Any, element: str) -> tuple[str, Any, Any]:
        """(link, xyz, rpy) of one side."""
        parts = self.mapping(node, element, _END, required=("link",))
        xyz, rpy = (self.numbers(parts[k], f"{element}.{k}", 3) if k in parts else (0, 0, 0) for k in ("xyz", "rpy"))
        return self.word(parts["link"], f"{element}.link"), xyz, rpy


# -- writing -------------------------------------------------------------------------------------------------------------


def _to_yaml(loop: Loop) -> dict[str, Any]:
    kind, who = loop.kind, f"loop {loop.name!r}"
    if JOINT_TYPES.get(kind.name) is not type(kind):
        raise ModelError(f"{who}: the loops file cannot express {type(kind).__name__}, only {', '.join(JOINT_TYPES)}")
    geometry = {"axis" if k == "normal" else k: v for k, v in vars(kind).items()}
    out: dict[str, Any] = {"name": loop.name, "type": kind.name}
    for k, value in geometry.items():
        out[k] = value if k == "order" else _file_number(value, who) if k == "pitch" else [_file_number(x, who) for x in value]
    return out | {"parent": _end(loop.parent, loop.origin, who), "child": _end(loop.child, loop.child_origin, who)}


def _end(link: str, X: Transform, who: str) -> Mapping[str, Any]:
    R, p = X.pose
    for x in flat(R, p):
        _file_number(x, who)  # refuses symbols, before angles are computed from them
    out: dict[str, Any] = {"link": link}
    if p != ZERO:
        out["xyz"] = [_file_number(x, who) for x in p]
    if R != IDENTITY:
        out["rpy"] = [_file_number(x, who) for x in to_rpy(R)]
    return out


def _file_number(x: Any, who: str) -> int | float:
    """A number that is read back as the same double; integers without the decimal point."""
    if not is_constant(x):
        raise ModelError(f"{who}: {x!r} is not a number; a file needs numbers")
    return int(x) if float(x).is_integer() and abs(x) < 1e6 else float(x)
