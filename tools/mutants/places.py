"""Places in a source file where one operator, sign, index or constant can be changed, and the file changed at one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy
from pathlib import Path
from typing import NamedTuple

FOLDERS = ("algorithms", "spatial", "constraints")

#: each operator with the one that takes its place
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip

#: components by name are indices too: x → y → z → x, and the entries of a symmetric matrix
NEXT = {"x": "y", "y": "z", "z": "x", "xx": "xy", "xy": "xz", "xz": "yy", "yy": "yz", "yz": "zz", "zz": "xx"}


class Place(NamedTuple):
    """One mutant: the file below ``src/torsor``, the position in it, and the expression before and after."""

    file: str
    line: int
    column: int
    index: int  #: the number of the place in its file
    before: str
    after: str
    lines: tuple[int, int]  #: of the function around it; (0, 0) at module level

    @property
    def key(self) -> str:
        return f"{self.file}:{self.line}:{self.column} {self.before} → {self.after}"


def all_places(package: Path) -> list[Place]:
    """Of every file in the three folders, in order."""
    files = sorted(path for folder in FOLDERS for path in (package / folder).rglob("*.py") if path.name != "__init__.py")
    return [place for path in files for place in places(path, str(path.relative_to(package)))]


def places(path: Path, name: str) -> Iterator[Place]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for index, (node, lines) in enumerate(_targets(tree)):
        yield Place(name, node.lineno, node.col_offset, index, ast.unparse(node), ast.unparse(_change(node)), lines)


def mutate(path: Path, index: int) -> ast.Module:
    """The file's tree, changed at one place."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    place, _ = list(_targets(tree))[index]

    class Change(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return ast.copy_location(_change(place), place) if node is place else self.generic_visit(node)

    return ast.fix_missing_locations(Change().visit(tree))


def _targets(tree: ast.AST, lines: tuple[int, int] = (0, 0)) -> Iterator[tuple[ast.expr, tuple[int, int]]]:
    """Every node that can be changed, with the lines of the function around it; not types, messages or what is only printed."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr)) or _idle(node):
                continue
            inner = lines
            if isinstance(node, ast.FunctionDef):
                if node.name == "__repr__":
                    continue
                inner = (min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno or node.lineno)
            if _changeable(node):
                yield node, inner  # type: ignore[misc]
            yield from _targets(node, inner)


def _idle(node: ast.AST) -> bool:
    """Code without effect on results: an alias such as ``Rows = Sequence[Scalars]``, and the ``strict=True`` of zip."""
    alias = isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript) and isinstance(node.targets[0], ast.Name)
    return alias or (isinstance(node, ast.keyword) and node.arg == "strict")


def _changeable(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op):
            return type(op) in SWAPPED
        case ast.Compare(ops=[op]):
            return type(op) in SWAPPED
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            return True
        case ast.Constant(value=value):
            return isinstance(value, (int, float))
        case ast.Attribute(attr=attr, ctx=ast.Load()):
            return attr in NEXT or attr == "T"
        case ast.Subscript(slice=ast.Name(), ctx=ast.Load()):
            return True
    return False


def _change(node: ast.expr) -> ast.expr:
    new = copy(node)
    match node, new:
        case ast.Compare(ops=[op]), ast.Compare():
            new.ops = [SWAPPED[type(op)]()]  # type: ignore[list-item]
        case ((ast.BinOp(op=op) | ast.BoolOp(op=op)), (ast.BinOp() | ast.BoolOp())):
            new.op = SWAPPED[type(op)]()  # type: ignore[assignment]
        case ast.UnaryOp(), _:
            return node.operand  # −x and not x become x
        case ast.Constant(value=value), ast.Constant():
            new.value = not value if isinstance(value, bool) else value - 1 if isinstance(value, int) and value else value + 1
        case ast.Attribute(attr="T"), _:
            return node.value  # a transpose is left out
        case ast.Attribute(attr=attr), ast.Attribute():
            new.attr = NEXT[attr]
        case ast.Subscript(slice=index), ast.Subscript():
            new.slice = ast.BinOp(index, ast.Sub(), ast.Constant(1))
    return new
