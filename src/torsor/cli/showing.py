"""Figures and replay pages: figures to files, replay pages to the browser; and the demo."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torsor.cli.option_values import Json
from torsor.cli.outcome import UsageError, print_error

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result
    from torsor.support.user_arrays import Array

FIGURE_SUFFIXES = (".svg", ".pdf", ".png")
PAGES = (".html", ".htm")


def save_figure(figure: Any, path: str) -> None:
    """Write a matplotlib figure to a file, atomically."""
    from torsor.support.files import write_bytes
    from torsor.support.plotting import pyplot, style

    data = io.BytesIO()
    with style():
        figure.savefig(data, format=os.path.splitext(path)[1][1:])
    write_bytes(path, data.getvalue())
    pyplot().close(figure)


def check_file_kind(option: str, path: str | None, endings: Iterable[str]) -> None:
    """Refuse a file of an unknown kind before anything is computed."""
    from torsor.support.files import label

    if path is not None and os.path.splitext(path)[1].lower() not in endings:
        raise UsageError(f"{option} {label(path)}: the extension must be one of {', '.join(endings)}")


def show_page(result: Result, path: str | None, open: bool, roots: tuple[str, ...] = ()) -> str:
    """The replay of a motion as a page; without a path, one that is kept in the folder for temporary files."""
    import tempfile

    from torsor.look import replay

    if path is None:
        path = os.path.join(tempfile.mkdtemp(prefix="torsor-"), "replay.html")
    where = replay.write(result, path, roots=roots)
    if open:
        browse(where.absolute().as_uri())
    return path


def serve_viewer(
    robot: Robot, q: Array | None, as_json: bool, document: dict[str, Any], *shown: Any, port: int = 0,
    roots: tuple[str, ...] = (), open: bool = True,
) -> None:  # fmt: skip
    """The robot at q in the browser viewer until Ctrl-C; what is printed ends with the address."""
    from torsor.cli.out import emit
    from torsor.look.viewer import view

    with view(robot, q, port=port, roots=roots, open=False) as viewer:
        emit(as_json, {**document, "url": viewer.url}, *shown, f"viewer of {robot.name}, until Ctrl-C:\n{viewer.url}")
        if open:
            browse(viewer.url)
        viewer.wait()


def browse(address: str) -> None:
    """Open an address in the browser, or print it if there is no browser."""
    import webbrowser

    if not webbrowser.open(address):
        print_error(f"no browser was found; open {address}")


Open = Annotated[bool, typer.Option("--open", help="Open the replay page in the browser.")]
Page = Annotated[str, typer.Option("--replay", metavar="FILE", help="Path of the replay page.")]


def demo(replay: Page = "torsor-demo.html", open: Open = False, json: Json = False) -> None:
    """Torques, matrices, speed and a fall of a UR5; a replay page."""
    import contextlib
    import sys

    import torsor
    from torsor.cli import demo as shown
    from torsor.cli.out import emit

    check_file_kind("--replay", replay, PAGES)
    with contextlib.redirect_stdout(sys.stderr) if json else contextlib.nullcontext():
        shown.main()
    robot = torsor.robots.ur5()
    fall = robot.simulate(robot.neutral(), [0.0] * robot.nv, shown.FALL)
    page, seconds = show_page(fall, replay, open), fall.t[-1]
    document = {"robot": robot.name, "replay": page, "seconds": seconds}
    emit(json, document, f"wrote {page}: replay page of the fall, {seconds:g} s")
