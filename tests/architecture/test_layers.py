"""The rooms that each file belongs to, in layers: a file imports its own room and rooms of lower layers, in functions too.

The folders have other names than the rooms so far: ``ROOM`` says where each of them goes.  Imports that still go up, or beside,
are in ``UP``, each with the way to cut it; a new one fails the test, and so does one that is gone but still listed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import torsor

PACKAGE = Path(torsor.__file__).parent
#: modules at the top that every room may import
COMMON = ("errors", "version", "lazy", "locks")
#: rooms of one layer do not import each other
LAYERS = (
    {"support", "scalar"}, {"spatial", "compile"}, {"model"}, {"algorithms", "io"}, {"kernels"}, {"mechanics", "symbolic"},
    {"look"}, {"simulate"}, {"robot"}, {"bridges"}, {"checks"}, {"cli"},
)  # fmt: skip
#: room → folders and files of today; the longest path that fits a file decides
FOLDERS = {
    "support": ("io/files", "io/tables", "plotting", "printing", "understanding/text", "notebook/html", "simulate/progress",
                "sweeps/progress", "cli/progress"),
    "scalar": ("scalar",),
    "spatial": ("spatial", "rigid", "model/arguments"),
    "compile": ("compile",),
    "model": ("model", "actuators", "mechanism", "views", "joints", "notebook/robots"),
    "algorithms": ("algorithms",),
    "io": ("io", "logs"),
    "kernels": ("kernels", "computed", "method", "export", "understanding/state"),
    "mechanics": ("constraints", "constrained", "procedures", "task", "operators", "flexible", "large"),
    "symbolic": ("symbolic",),
    "look": ("scene", "understanding", "notebook", "replay", "viewer"),
    "simulate": ("simulate", "sweeps", "procedures/stiction", "flexible/motion", "notebook/motion"),
    "robot": ("robot", "loading", "model/builder", "robots", "mechanisms"),
    "bridges": ("bridges", "adapters", "compat"),
    "checks": ("doctor", "certify"),
    "cli": ("cli", "demo"),
}  # fmt: skip
ROOM = {path: room for room, paths in FOLDERS.items() for path in paths}
#: (importing file, imported file): how it goes
UP = {
    ("cli/progress", "cli/out"): "one progress, which takes its stream as an argument",
    ("flexible", "flexible/motion"): "stays: a public name of flexible",
    ("flexible/robot", "flexible/motion"): "stays: FlexibleRobot.simulate is a public method",
    ("io/formats", "robots"): "load adds the hint about bundled robots",
    ("io/tables", "io/digests"): "digests move with tables",
    ("mechanism", "notebook"): "the HTML of a robot in model",
    ("notebook", "notebook/motion"): "the HTML of a result beside it",
    ("printing", "model"): "the functions about models in model",
    ("printing", "model/description"): "the functions about models in model",
    ("replay/film", "flexible/motion"): "what is shown brings its film",
    ("replay/film", "simulate"): "what is shown brings its film",
    ("rigid/consistency", "model/physical"): "the conditions on an inertia in spatial",
    ("rigid/frames", "procedures/basis"): "canonical bases in spatial",
    ("rigid/reading", "compile/given"): "reading arrays in support",
    ("robot", "certify/verify"): "stays: a certificate compares with other libraries, which make robots",
    ("viewer/bending", "flexible/motion"): "FlexibleRobot.simulate",
}
#: largest share of the lines that one room may have
LARGEST = 0.15


@cache
def sources() -> dict[str, Path]:
    """{path without .py: file}; a package is called by its folder."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found["/".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)] = path
    return {name: path for name, path in found.items() if name not in ("__init__", "__main__", *COMMON)}


def room_of(name: str) -> str:
    """The room of a file."""
    parts = name.split("/")
    for k in range(len(parts), 0, -1):
        if (place := "/".join(parts[:k])) in ROOM:
            return ROOM[place]
    raise AssertionError(f"{name} has no room: enter it in FOLDERS")


def imported(path: Path) -> Iterator[str]:
    """The files that a file imports, at module level or in a function; not for type checking alone."""
    tree = ast.parse(path.read_text())
    checking = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    skipped = {id(n) for block in checking for n in ast.walk(block)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{a.name}" for a in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "torsor" and len(parts) > 1:
                inner = "/".join(parts[1:])
                yield inner if inner in sources() else "/".join(parts[1:-1]) or inner


def test_imports_go_down():
    level = {room: k for k, rooms in enumerate(LAYERS) for room in rooms}
    found = set()
    for name, path in sources().items():
        for other in imported(path):
            if other.split("/")[0] in COMMON or other not in sources():
                continue
            here, there = room_of(name), room_of(other)
            if here != there and level[there] >= level[here]:
                found.add((name, other))
    assert not found - set(UP), "imports that go up"
    assert not set(UP) - found, "cut, and still listed"


def test_no_room_is_too_large():
    lines = Counter[str]()
    for name, path in sources().items():
        lines[room_of(name)] += len(path.read_text().splitlines())
    assert set(lines) == set(FOLDERS) == set().union(*LAYERS)
    assert len(lines) <= 16
    assert max(lines.values()) <= LARGEST * lines.total()
