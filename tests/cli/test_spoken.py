"""Hints of the command line name options: every library message that names an argument is translated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import torsor as ts
from torsor.cli.cli_terms import in_cli_terms

ROOT = Path(ts.__file__).parent
#: modules whose messages the command line prints
REACHED = (
    "io", "checks/doctor", "model/physical.py", "model/description.py", "spatial/linear.py",
    "mechanics/constraints/null_space.py", "robot/loading.py", "simulate/system.py",
)  # fmt: skip
PYTHON = re.compile(
    r"\b(mimic|strict|format|loops|base|roots|xacro_args|topic|gravity|damping)=|\bts\.|\brobot\.(?!urdf|loops)[a-z]"
)
#: messages that only Python code can cause
ELSEWHERE = (
    "xacro_args are for a xacro file",  # --xacro reads every file as xacro
    "a stream has no name to tell its format from",  # the command line reads stdin as csv
)


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module except docstrings, with ``{}`` for f-string fields."""
    text = path.read_text(encoding="utf-8")
    if not PYTHON.search(text):
        return
    tree = ast.parse(text)
    parts = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    said = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for n in ast.walk(tree):
        if isinstance(n, ast.JoinedStr):
            yield n.lineno, "".join(str(v.value) if isinstance(v, ast.Constant) else "x" for v in n.values)
        elif isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in parts | said:
            yield n.lineno, n.value


def test_hints_name_options_instead_of_python_arguments():
    left = []
    for place in map(ROOT.joinpath, REACHED):
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for line, text in messages(path):
                if " " in text and PYTHON.search(in_cli_terms(text)) and not any(x in text for x in ELSEWHERE):
                    left.append(f"{path.relative_to(ROOT)}:{line}: {in_cli_terms(text)}")
    assert not left


INERTIAL = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='9' ixy='0' ixz='0' iyz='0'/></inertial>"
URDF = "<robot name='r'><link name='a'/><link name='b'>{}</link><joint name='j' type='continuous'><parent link='a'/>\
<child link='b'/><axis xyz='0 0 1'/>{}</joint></robot>"
FILES = {
    "mimic.urdf": URDF.format(INERTIAL, "<mimic joint='j'/>"),
    "odd.urdf": URDF.format(INERTIAL, ""),
    "massless.urdf": URDF.format("", ""),
    "what.txt": "a, b\n",
    "program.urdf": "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:include filename='x'/></robot>",
}
#: words → the end of the line on stderr
HINTS = {
    "mass mimic.urdf": "its mimic forms a cycle through 'j'; --no-mimic makes such joints independent",
    "mass odd.urdf --strict": "(1, 1, 9 kg·m²); correct it, or omit --strict",
    "mass what.txt": "or give the format: --as urdf, mjcf, sdf or dh",
    "mass odd.urdf --as mjcf": "this is a URDF; --as urdf reads it, not <mujoco>",
    "accel massless.urdf": "an armature to the joint, or make it fixed in the file",
    "export panda --to mr": "is a mimic joint; lock its leader or give --no-mimic",
    "export quadruped --to mr": "the lists need a fixed base (--base fixed)",
    "simulate two_link --dt 0": "--dt must be a positive number, not 0.0",
    "bench two_link --batch 0": "it must be 1 or more; see torsor bench --help",
    "info two_link --samples x": "it must be a whole number; see torsor info --help",
}


@pytest.mark.parametrize("words", HINTS)
def test_hints_use_command_line_options(torsor, words):
    for name, text in FILES.items():
        Path(name).write_text(text)
    ended = torsor(*words.split())
    assert ended.code
    assert ended.err.endswith(f"{HINTS[words]}\n")


def test_xacro_runs_only_with_the_option(torsor):
    Path("program.urdf").write_text(FILES["program.urdf"])
    assert "--xacro run runs it" in torsor("mass", "program.urdf").err
    assert torsor("mass", "program.urdf", "--as", "xacro").code == 2


def test_findings_use_command_line_terms(torsor):
    Path("mimic.urdf").write_text(FILES["mimic.urdf"])
    assert "unless it is loaded with --no-mimic" in " ".join(torsor("check", "mimic.urdf").out.split())
