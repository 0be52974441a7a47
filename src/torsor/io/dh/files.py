"""DH tables as files: a CSV with a header, or YAML.

CSV (``arm.dh.csv``)::

    # convention: modified
    a [m], alpha [deg], d, theta, mass, cx, cy, cz, ixx, iyy, izz
    0,     0,           0, 0,     4.0,  0.1, 0, 0,  0.01, 0.02, 0.02
    0.25,  -90,         0, 0,     2.5,  0.2, 0, 0,  0.01, 0.02, 0.02

YAML (``arm.dh.yaml``)::

    convention: modified
    angles: deg
    joints:
      - {a: 0, alpha: 0, d: 0, theta: 0, mass: 4.0, com: [0.1, 0, 0], inertia: [0.01, 0.02, 0.02]}
      - {a: 0.25, alpha: -90, mass: 2.5, com: [0.2, 0, 0]}

A row is a :class:`torsor.io.dh.DHRow` and has its keys: ``type`` is revolute by default, omitted or empty cells are
zero or none.  ``com`` is cx, cy, cz in a CSV, and ``inertia``, about the centre of mass, ixx, ixy, ixz, iyy, iyz, izz.
``convention`` is required; ``name``, ``angles`` (rad or deg), ``gravity``, ``tool_xyz``, ``tool_rpy`` are optional.  In a CSV
they are ``# word: value``, and a column may have its own unit: [m], [mm], [rad], [deg].
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from torsor.errors import FileError, TorsorError
from torsor.io.dh.table import DHRow, from_dh
from torsor.io.shared.decimals import notes_on_tiny_numbers, parse_numbers
from torsor.io.shared.yaml_nodes import Nodes, Source, compose, text_of, unknown_key_message
from torsor.model.description import Description

ROW_KEYS = tuple(f.name for f in fields(DHRow))
_COM = ("cx", "cy", "cz")
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
COLUMNS = (*(w for w in ROW_KEYS if w not in ("com", "inertia")), *_COM, *_INERTIA)
#: keys for the whole robot → number of values, 0 for a word
ROBOT_KEYS = {"convention": 0, "name": 0, "angles": 0, "gravity": 3, "tool_xyz": 3, "tool_rpy": 3}
UNITS = {"m": 1.0, "mm": 1e-3, "rad": 1.0, "deg": math.pi / 180}
#: which words are angles and which lengths; those of a joint's own coordinate are either, by its type
_ANGLES, _LENGTHS = ("alpha", "theta"), ("a", "d", *_COM)
_COORDINATE = ("offset", "lower", "upper", "velocity_limit")


#: the contents of a file: values of the robot, and rows by key, each with its line
_Table = tuple[dict[str, Any], list[tuple[int, dict[str, Any]]]]


def read_dh(source: Source) -> Description:
    """The robot of a DH file: a path, text with line breaks, or bytes.  FileError contains file, line and reason.

    >>> [link.name for link in read_dh("# convention: modified\\na, mass\\n1.0, 2.0\\n0.5, 1.0\\n").links]
    ['base', 'link1', 'link2']
    """
    text, file = text_of(source, "source")
    options, table = _from_yaml(text, file) if _is_yaml(source, text) else _from_csv(text, file)
    if "convention" not in options:
        missing = "has no DH convention; add convention: standard or convention: modified (in CSV as a # comment)"
        raise FileError(missing, file=file)
    angles = options.pop("angles", "rad")
    if angles not in ("rad", "deg"):
        raise FileError(f"angles must be rad or deg, not {angles!r}", file=file)
    try:
        d = from_dh([_in_radians(row, UNITS[angles]) for _, row in table], **options)
    except TorsorError as error:
        match = re.match(r"DH row (\d+)", str(error))
        line = table[int(match[1]) - 1][0] if match else None
        raise FileError(str(error), file=file, line=line) from error
    d = d.with_note(*notes_on_tiny_numbers(text))
    return d if not file else d.with_note(f"DH table read from {file}", source=os.path.abspath(os.fsdecode(source)))  # type: ignore[arg-type]


def _is_yaml(source: Source, text: str) -> bool:
    if isinstance(source, (str, os.PathLike)) and "\n" not in str(source):
        return os.fsdecode(source).lower().endswith((".yaml", ".yml"))
    return re.search(r"^joints\s*:", text, re.MULTILINE) is not None


def _in_radians(row: dict[str, Any], factor: float) -> dict[str, Any]:
    """Angles in rad."""
    turns = row.get("type", "revolute") == "revolute"
    angles = (*_ANGLES, *(_COORDINATE if turns else ()))
    return row if factor == 1 else {k: x * factor if k in angles and x is not None else x for k, x in row.items()}


# -- CSV -----------------------------------------------------------------------------------------------------------------


def _from_csv(text: str, file: str) -> _Table:
    robot_values: dict[str, Any] = {}
    header: list[tuple[str, str]] | None = None
    rows = []
    reader = csv.reader(io.StringIO(text), skipinitialspace=True)
    try:
        for cells in reader:
            line = reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if cells[0].lstrip().startswith("#"):
                robot_values |= _comment(",".join(cells).lstrip(" #"), file, line)
            elif header is None:
                header = _header(cells, file, line)
            else:
                rows.append((line, _row(cells, header, file, line)))
    except csv.Error as error:
        raise FileError(f"is not valid CSV: {error}", file=file, line=reader.line_num) from None
    if header is None:
        raise FileError("is empty; a line with the names of the columns was expected", file=file)
    if "angles" in robot_values and any(unit in ("rad", "deg") for _, unit in header):
        raise FileError("has angles: for all columns and a unit at one column; remove one of them", file=file)
    return robot_values, rows


def _comment(text: str, file: str, line: int) -> dict[str, Any]:
    """A key of the whole robot; other comments are ignored."""
    word, colon, value = (part.strip() for part in text.partition(":"))
    if not colon or word not in ROBOT_KEYS:
        if colon and (near := get_close_matches(word, ROBOT_KEYS, n=1, cutoff=0.75)):
            raise FileError(f"unknown key {word!r}; did you mean {near[0]!r}?", file=file, line=line)
        return {}
    if not ROBOT_KEYS[word]:
        return {word: value}
    numbers = _numbers(value.strip("[]").replace(",", " "), word, file, line)
    if len(numbers) != ROBOT_KEYS[word]:
        raise FileError(f"{word} needs {ROBOT_KEYS[word]} numbers, {len(numbers)} given", file=file, line=line)
    return {word: numbers}


def _header(cells: list[str], file: str, line: int) -> list[tuple[str, str]]:
    """(word, unit) of each column."""
    out: list[tuple[str, str]] = []
    for cell in cells:
        match = re.fullmatch(r"(\w+)\s*(?:[\[(]\s*(\w+)\s*[\])])?", cell.strip())
        word, unit = (match[1], match[2] or "") if match else (cell.strip(), "")
        if word not in COLUMNS:
            raise FileError(unknown_key_message("column", word, COLUMNS), file=file, line=line)
        if word in (w for w, _ in out):
            raise FileError(f"has column {word!r} twice", file=file, line=line)
        if unit and unit not in UNITS:
            raise FileError(
                f"column {word!r}: {unit!r} is not a known unit; use one of {', '.join(UNITS)}", file=file, line=line
            )
        out.append((word, unit))
    return out


def _row(cells: list[str], header: list[tuple[str, str]], file: str, line: int) -> dict[str, Any]:
    if len(cells) != len(header):
        raise FileError(f"has {len(cells)} cells in this line and {len(header)} columns", file=file, line=line)
    given = {word: (cell.strip(), unit) for cell, (word, unit) in zip(cells, header, strict=True) if cell.strip()}
    kind, _ = given.pop("type", ("revolute", ""))
    values = {word: _value(word, cell, unit, kind, file, line) for word, (cell, unit) in given.items()}
    com = [values.pop(word, 0.0) for word in _COM]
    inertia = [values.pop(word, 0.0) for word in _INERTIA]
    return {"type": kind, **values, "com": com, "inertia": inertia}


def _value(word: str, cell: str, unit: str, kind: str, file: str, line: int) -> float:
    numbers = _numbers(cell, word, file, line)
    if len(numbers) != 1:
        raise FileError(f"{word} is {cell!r}, not one number", file=file, line=line)
    if unit:
        turns = word in _ANGLES or (word in _COORDINATE and kind == "revolute")
        slides = word in _LENGTHS or (word in _COORDINATE and kind == "prismatic")
        if unit not in (("rad", "deg") if turns else ("m", "mm") if slides else ()):
            raise FileError(f"{word} of a {kind} joint is not in {unit}", file=file, line=line)
        return numbers[0] * UNITS[unit]
    return numbers[0]


def _numbers(text: str, word: str, file: str, line: int) -> tuple[float, ...]:
    try:
        return parse_numbers(text)
    except ValueError as error:
        raise FileError(f"{word}: {error}", file=file, line=line) from None


# -- YAML ----------------------------------------------------------------------------------------------------------------


def _from_yaml(text: str, file: str) -> _Table:
    nodes = Nodes(file)
    parts = nodes.mapping(compose(text, file, "convention: ... and joints: [...]"), "dh", (*ROBOT_KEYS, "joints"), ("joints",))
    rows = nodes.items(parts.pop("joints"), "joints", "one entry per row of the table (- {a: ..., alpha: ...})")
    robot_values = {k: nodes.numbers(x, k, ROBOT_KEYS[k]) if ROBOT_KEYS[k] else nodes.word(x, k) for k, x in parts.items()}
    return robot_values, [(x.start_mark.line + 1, _yaml_row(nodes, x, f"joints[{n}]")) for n, x in enumerate(rows)]


def _yaml_row(nodes: Nodes, node: Any, element: str) -> dict[str, Any]:
    parts: Mapping[str, Any] = nodes.mapping(node, element, ROW_KEYS)
    out: dict[str, Any] = {}
    for word, x in parts.items():
        place = f"{element}.{word}"
        if word == "type":
            out[word] = nodes.word(x, place)
        elif word == "inertia" and x.id == "sequence" and len(x.value) == 3 and all(row.id == "sequence" for row in x.value):
            out[word] = [nodes.numbers(row, place, 3) for row in x.value]
        elif word in ("com", "inertia"):
            size = 6 if word == "inertia" and x.id == "sequence" and len(x.value) == 6 else 3
            out[word] = nodes.numbers(x, place, size)
        else:
            out[word] = nodes.numbers(x, place, 1)
    return out
