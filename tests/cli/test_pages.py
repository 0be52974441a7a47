"""Every ``$ torsor`` line of a console block in the documents runs and prints the shown output.

Blanks are ignored; a line of ``...`` stands for any lines, ``...`` at the end of a line for the rest of that line.
"""

from __future__ import annotations

import re
import shlex
import sys
import webbrowser
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "command-line.md"
OTHERS = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "_build" not in page.parts and page != PAGE and "\n$ torsor " in page.read_text(encoding="utf-8")
]
_FENCE = re.compile(r"^```(console|python)[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


class Line(NamedTuple):
    """A command and the output shown below it."""

    number: int
    command: str
    shown: str


def lines(text: str, first: int) -> list[Line]:
    out: list[Line] = []
    for k, line in enumerate(text.splitlines(), start=first):
        if line.startswith("$ "):
            out.append(Line(k, line[2:], ""))
        else:
            out[-1] = out[-1]._replace(shown=f"{out[-1].shown}{line}\n")
    return out


def matches(shown: str, printed: str) -> bool:
    """Whether a printed text matches the shown one; blanks are ignored and ``...`` is a wildcard."""
    parts = [re.escape(word) for word in shown.split()]
    pattern = (
        r"\s+".join(parts).replace(r"\.\.\.", r"(?:.*)").replace(r"\s+(?:.*)", r"\s*(?:.*)").replace(r"(?:.*)\s+", r"(?:.*)\s*")
    )
    return re.fullmatch(rf"\s*{pattern}\s*", printed, re.DOTALL) is not None


def output_of(torsor, line: Line) -> str:
    """Output of a command on a terminal."""
    words, stdin = shlex.split(line.command, comments=True), ""
    if words[0] == "cat":
        Path(words[1]).write_text(line.shown)  # the page shows the content of the file
        return line.shown
    if words[0] != "torsor":  # pip, git and others are not tested
        return line.shown
    if "<" in words:
        at = words.index("<")
        stdin, words = Path(words[at + 1]).read_text(), words[:at]
    ended = torsor(*words[1:], stdin=stdin)
    assert "bug in torsor" not in ended.err
    return ended.out + ended.err


def run(page: Path, torsor, monkeypatch) -> int:
    monkeypatch.setattr(webbrowser, "open", lambda url: True)
    viewer = pytest.importorskip("torsor.look.viewer.viewer")
    monkeypatch.setattr(viewer.Viewer, "wait", lambda self: None)
    text, count, namespace = page.read_text(encoding="utf-8"), 0, {}
    for found in _FENCE.finditer(text):
        if found[1] == "python":
            if page != PAGE:
                exec(found[2], namespace)
            continue
        for line in lines(found[2], text.count("\n", 0, found.start(2)) + 1):
            printed = output_of(torsor, line)
            count += 1
            if line.shown:
                assert matches(line.shown, printed), f"{page.name}:{line.number}: $ {line.command} prints\n{printed}"
    return count


def test_every_command_of_the_command_line_page_prints_the_shown_output(torsor, monkeypatch):
    assert run(PAGE, torsor, monkeypatch) > 20


@pytest.mark.night
@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.name)
def test_every_command_of_the_other_pages_prints_the_shown_output(page, torsor, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["page"])
    assert run(page, torsor, monkeypatch)


def test_command_line_page_names_every_command_and_json_key(torsor):
    from torsor.cli.app import COMMANDS

    text = PAGE.read_text(encoding="utf-8")
    for function in (f for group in COMMANDS.values() for f in group):
        assert f"`{function.__name__}`" in text
    keys = {name: words.split() for name, words in re.findall(r"^\| `(\w+)` \| `([\w ]+)`", text, re.MULTILINE)}
    for command in ("info", "explain", "equations", "simulate", "bench"):
        extra = {"simulate": ("--seconds", 0.01), "bench": ("--batch", 10, "--no-peers")}.get(command, ())
        assert list(torsor(command, "two_link", *extra, "--json").json) == keys[command]


@pytest.mark.parametrize(
    ("shown", "printed", "so"),
    [
        ("a b", "a  b\n", True),
        ("a b", "a c", False),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("a\n...\n", "a\n", True),
        ("a\n...\nd", "a\nb", False),
        ("at http://...", "at http://127.0.0.1:1; Ctrl-C ends it", True),
    ],
)
def test_page_checker_detects_differences(shown, printed, so):
    assert matches(shown, printed) is so
