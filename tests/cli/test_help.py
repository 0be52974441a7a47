"""--help in narrow and wide terminals; the example lines of the help are run."""

from __future__ import annotations

import re
import shlex
import webbrowser
from pathlib import Path

import pytest

import torsor as ts
from torsor.cli.app import ABOUT, COMMANDS
from torsor.cli.examples import EXAMPLES
from torsor.cli.robots import bundled_robots

NAMES = [function.__name__ for group in COMMANDS.values() for function in group]
#: example lines that take seconds or serve a page
SLOW = ("demo", "verify", "bench", "view", "simulate", "equations", "check")


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("command", ["", *NAMES])
def test_help_fits_the_terminal_and_reads_like_a_manual(torsor, monkeypatch, command, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    ended = torsor(*command.split(), "--help")
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= columns
    for odd in ("<", ">", "{", "[[", "bool", "╭", "\x1b"):
        assert odd not in ended.out
    usage = ended.out.splitlines()[0]
    assert usage.startswith(f"Usage: torsor {command} " if command else "Usage: torsor COMMAND ...")
    headings = re.findall(r"^(\S.*):$", ended.out, re.MULTILINE)
    assert headings == (
        [*COMMANDS, "Options", "Try"]
        if not command
        else [x for x in ("Arguments", "Options", "Reading the robot", "Try") if x in headings]
    )
    assert "  -h, --help" in ended.out


def test_help_lists_every_command_on_one_line(torsor, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    listed = torsor("-h").out.split("Options:")[0]
    assert [x for x in re.findall(r"^  (\w+) +[A-Z]", listed, re.MULTILINE) if x in NAMES] == NAMES
    assert len(re.findall(r"^ {13}\S", listed, re.MULTILINE)) == 0  # no command has a second line


@pytest.mark.parametrize(("words", "same"), [((), "--help"), (("help",), "--help"), (("help", "info"), "info --help")])
def test_help_command_and_no_arguments_equal_the_help_option(torsor, words, same):
    ended = torsor(*words)
    assert ended == torsor(*same.split())
    assert ended.code == 0


def test_help_lists_the_bundled_robots():
    assert re.findall(r"\w+", " ".join(ABOUT.split("bundled robot: ")[1].split()).replace("and with closed loops", "")) == list(
        bundled_robots()
    )


def test_every_command_has_example_lines():
    assert list(EXAMPLES) == NAMES


@pytest.mark.parametrize("line", [
    pytest.param(line, marks=[pytest.mark.night] if name in SLOW else []) for name, lines in EXAMPLES.items() for line in lines
])  # fmt: skip
def test_example_lines_of_the_help_run(torsor, monkeypatch, line):
    monkeypatch.setattr(webbrowser, "open", lambda url: True)
    if " view " in line or " ik " in line:
        viewer = pytest.importorskip("torsor.look.viewer.viewer")
        monkeypatch.setattr(viewer.Viewer, "wait", lambda self: None)
    ts.save_urdf(ts.robots.two_link().with_gravity((0, 0, -9.81)), "plain.urdf")
    text = Path("plain.urdf").read_text()
    Path("my_robot.urdf").write_text(text.replace('"joint2"', '"elbow"').replace('"tip"', '"hand"'))
    Path("states.csv").write_text("t,q1,q2,v1,v2\n0,0,0,0,0\n1,0.1,0.2,0.3,0.4\n")
    Path("targets.csv").write_text("x,y,z\n1,1,0\n1.2,0.3,0\n")
    ended = torsor(*shlex.split(line)[1:])
    assert ended.code == 0, ended.err
    assert ended.out
