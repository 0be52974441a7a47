"""Tables "their call | our call" of the pages docs/from-*.md: cells, names and values."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import torsor as ts
from torsor.constraints import ConstrainedRobot
from torsor.model.part_views import FrameView, JointView, LinkView
from torsor.rigid import Solid
from torsor.simulate import Result
from torsor.task import Task

DOCS = Path(__file__).parents[2] / "docs"

#: classes of the results of calls whose attributes are named in the tables
RESULTS = {
    "constrained": ConstrainedRobot, "task": Task, "joint": JointView, "link": LinkView, "frame": FrameView,
    "load": ts.Robot, "Builder": ts.Builder, "box": Solid, "simulate": Result,
}  # fmt: skip


class Row(NamedTuple):
    """A row of a table: line of the page, code in the first and in the second column."""

    line: int
    theirs: list[str]
    ours: list[str]


def rows(page: str) -> list[Row]:
    """The rows of all tables of a page whose second column has the title torsor."""
    found, inside = [], False
    for number, line in enumerate((DOCS / page).read_text("utf-8").splitlines(), start=1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        inside = bool(cells) and (inside or (len(cells) == 3 and cells[1] == "torsor"))
        if inside and cells[1] != "torsor" and set(cells[0]) != {"-"}:
            found.append(Row(number, *(re.findall(r"`([^`]+)`", cell) for cell in cells[:2])))
    return found


def check_names(code: str, roots: dict[str, Any], with_arguments: bool = False) -> None:
    """Every dotted name in the code that begins with one of the roots exists; so do the keywords of calls."""
    for node in ast.walk(ast.parse(code, mode="eval")):
        if isinstance(node, ast.Attribute):
            object_named_by(node, roots)
        if with_arguments and isinstance(node, ast.Call) and (function := object_named_by(node.func, roots)):
            known = inspect.signature(function).parameters
            unknown = {k.arg for k in node.keywords} - set(known)
            assert not unknown or any(p.kind is p.VAR_KEYWORD for p in known.values()), f"{code}: no {unknown}"


def object_named_by(node: ast.expr, roots: dict[str, Any]) -> Any:
    """The object that an expression names, or None if it is one of the arguments."""
    if isinstance(node, ast.Name):
        return roots.get(node.id)
    if isinstance(node, ast.Call):
        of = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        object_named_by(node.func, roots)
        return RESULTS.get(of)
    if not isinstance(node, ast.Attribute):
        return None
    owner = object_named_by(node.value, roots)
    if owner is None:
        return None
    fields = {f.name for f in dataclasses.fields(owner)} if dataclasses.is_dataclass(owner) else set()
    fields |= set(getattr(owner, "_fields", ())) | set(getattr(owner, "__annotations__", ()))
    assert hasattr(owner, node.attr) or node.attr in fields, f"{ast.unparse(node)} does not exist"
    return getattr(owner, node.attr, None)


def value(cell: list[str], namespace: dict[str, Any], results: tuple[str, ...] = ()) -> Any:
    """The value of the last call or field of data in a cell, evaluated in order; None if it has only names.

    A call that returns nothing has the value of the arrays among ``results`` that it is given.
    """
    last = None
    for code in cell:
        if not re.search(r"\(|\[|^d(ata)?\.", code):
            continue
        found = eval(code, namespace)  # the pages are part of this repository
        written = [namespace[name] for name in results if re.search(rf"\b{name}\b", code)]
        if found is None and written:
            found = np.squeeze(np.concatenate(written))
        last = last if found is None else found
    return last
