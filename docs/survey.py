"""Writes docs/findings.md: findings of torsor check in every URDF of example-robot-data.  Run: python docs/survey.py [date]"""

from __future__ import annotations

import sys
from collections import Counter
from datetime import date
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import torsor
from torsor.checks.doctor import CODES, Checkup, check

PAGE = Path(__file__).with_name("findings.md")

HEAD = """# Findings in 69 public robot files (URDF)

`torsor check` on every URDF of [example-robot-data](https://github.com/Gepetto/example-robot-data) {data}, {files} files in
{folders} folders, with their meshes, the base fixed; torsor {torsor}, trimesh {trimesh}, {date}.  This page is
written by `docs/survey.py`, and a test checks that it is up to date.  [](check.md) explains each code.

These robots are in daily use, and most of the findings do not change results noticeably.  The files come from manufacturers,
from CAD exports and from manual editing.

## Important findings

* **UR3, UR5, UR10**: the centres of mass of the wrists lie at the link origins, 4 to 6 cm outside their meshes, and the UR5's
  wrist inertias are 15 to 27 times the largest that is possible for their masses inside those meshes.
* **Panda**: links 1 and 2 have 5 and 3 times the largest inertia that is possible for their masses inside their meshes.
* **iCub**: the right leg has the masses of the left and no inertias, and the head has no inertia: two neck joints, moved
  together, have almost no inertia, and the mass matrix is singular to one digit.  Its simulation overflows in the first
  milliseconds.
* **Human**: hips, neck and shoulders are three intersecting joints without mass between them, and their limits reach the
  gimbal lock, those of the hips to the microradian.  At rest on that stop the mass matrix is singular, and a simulation
  overflows.
* **Talos, TIAGo**: the products of inertia of several links have the sign of SolidWorks' convention instead of URDF's: all
  three entries match the mesh with the opposite sign.  The centres of mass of Talos' right arm equal those of the left arm
  and are not mirrored.
* **Laikago**: the calves' inertias are about the knee instead of the centre of mass.
* **SO-100**: principal moments in order of size, not along the principal axes of the meshes.
* **TIAGo with two arms, Talos**: left and right have the same principal moments, their centres of mass are mirror images, and
  their products of inertia are not.
* **Alex**: the inertias of the hands' stubs are in rotated axes, which the mesh determines to a fifth of a degree; left and
  right differ in a few links by 7 to 14 %.
* **Alex, Allegro, PR2, Romeo**: physically impossible inertias that affect M; ANYmal, B1, Go1, HyQ and TIAGo have some that do
  not affect M.  **Romeo** has massless fingers, for which forward dynamics does not exist, and **Alex** has mimic joints whose
  leader does not exist, so that these joints are independent.

## Detection rate for planted errors

Errors were planted one at a time on every link of ten of these robots that has a mesh, affects M and has a plausible inertia,
wherever the error changes the inertia by a third or more.  The table counts detections by the shape, by comparing left and
right (four of the ten have sides; an error on both sides is not detected), and by either.  *None* is the original robot; the
findings there are those of the UR5, the Panda, Talos and Alex above.  Missed errors are more frequent than false alarms.

| error | planted | found by shape | with the right code | found by the other side | by either |
|---|--:|--:|--:|--:|--:|
| none | 167 | 13 |  | 12 | 24 |
| 1000 | 167 | 166 | 151 | 102 | 166 |
| 1e+06 | 167 | 166 | 151 | 102 | 166 |
| 1e+09 | 167 | 166 | 151 | 102 | 166 |
| axes | 273 | 148 | 135 | 151 | 212 |
| origin | 126 | 56 | 46 | 80 | 98 |
| signs | 33 | 9 | 5 | 22 | 28 |
"""


def folder() -> Path:
    """Where the package keeps its robots."""
    place = find_spec("pinocchio")
    assert place is not None
    assert place.origin is not None
    prefix = next(p for p in Path(place.origin).parents if p.name == "cmeel.prefix")
    return prefix / "share" / "example-robot-data" / "robots"


def files() -> list[str]:
    return sorted(str(p.relative_to(folder())) for p in folder().rglob("*.urdf"))


def examine(file: str) -> Checkup:
    return check(folder() / file, roots=[folder().parent.parent])


def row(file: str, checkup: Checkup) -> str:
    """A line of the table: the file, how many findings, and their codes."""
    codes = Counter(f.code for f in checkup.findings if f.severity != "note")
    told = ", ".join(f"{code} {n}" if n > 1 else code for code, n in codes.items())
    counts = " | ".join(str(checkup.count(severity) or "") for severity in ("error", "warning", "note"))
    return f"| `{file}` | {counts} | {told} |"


def details(file: str, checkup: Checkup) -> str:
    """The errors and warnings of a file, one a line."""
    found = [f for f in checkup.findings if f.severity != "note"]
    lines = [f"| {f.line} | {f.code} | {_cell(f.element)} | {_cell(f.what)} |" for f in found]
    head = ["| line | code | element | what |", "|--:|---|---|---|"]
    return "\n".join([f"### {file}", "", *head, *lines, ""]) if found else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("_", "\\_").replace("*", "\\*")


def page(today: str) -> str:
    checkups = {}
    for file in files():
        print(file, file=sys.stderr)
        checkups[file] = examine(file)
    folders = len({file.partition("/")[0] for file in checkups})
    head = HEAD.format(
        data=version("example-robot-data"), files=len(checkups), folders=folders, torsor=torsor.__version__,
        trimesh=version("trimesh"), date=today,
    )  # fmt: skip
    clean = sum(not c.count("error") and not c.count("warning") for c in checkups.values())
    total = Counter(f.code for c in checkups.values() for f in c.findings)
    codes = [f"| {code} | {CODES[code].severity} | {total[code]} | {CODES[code].title} |" for code in CODES if total[code]]
    return "\n".join([
        head,
        f"## Findings by file\n\n{clean} of {len(checkups)} files have no error and no warning.\n",
        "| file | errors | warnings | notes | errors and warnings |\n|---|--:|--:|--:|---|",
        *(row(file, c) for file, c in checkups.items()),
        "\n## Findings by code\n\n| code | usually | findings | |\n|---|---|--:|---|",
        *codes,
        "\n## Errors and warnings\n",
        *(text for file, c in checkups.items() if (text := details(file, c))),
    ])  # fmt: skip


if __name__ == "__main__":
    PAGE.write_text(page(sys.argv[1] if len(sys.argv) > 1 else str(date.today())), encoding="utf-8")
