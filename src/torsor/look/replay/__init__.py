"""Replay pages: one self-contained HTML file that shows a motion, opens from disk and makes no requests.

>>> import torsor as ts
>>> arm = ts.robots.two_link()
>>> page = html(arm.simulate([0.5, 0.0], [0.0, 0.0], 1.0))
>>> page[:15], len(page) < 1_000_000
('<!doctype html>', True)
"""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from torsor.look.replay.document import page
from torsor.look.replay.page_file import ReplayPage
from torsor.look.replay.replay_data import replay_data_of
from torsor.support.files import write_text

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result

Roots = Sequence[str | os.PathLike[str]]
Shown: TypeAlias = "Result | Robot"


def html(shown: Shown, *, style: str = "auto", roots: Roots = (), fps: float = 30.0) -> str:
    """The page of a simulation, with its plots; of a robot, at its neutral configuration; elastic links bend.

    ``style``: "mesh", "skeleton", or "auto", the meshes if there are any.  ``roots`` are folders meshes may be in beside those
    of the robot's file.  ``fps`` images per second are kept, and fewer if a long motion would have more than 4000.
    """
    return page(replay_data_of(shown, style, roots, fps))


def write(
    shown: Shown, path: str | os.PathLike[str], *, style: str = "auto", roots: Roots = (), fps: float = 30.0
) -> ReplayPage:
    """Write the page of :func:`html` to a file, atomically; returns its path, which a notebook shows as the page."""
    write_text(path, html(shown, style=style, roots=roots, fps=fps))
    return ReplayPage(path)


def open_in_browser(shown: Shown, *, style: str = "auto", roots: Roots = (), fps: float = 30.0) -> ReplayPage:
    """The page in a temporary file that stays, and shown in the browser."""
    folder = Path(tempfile.mkdtemp(prefix="torsor-"))
    path = write(shown, folder / "replay.html", style=style, roots=roots, fps=fps)
    webbrowser.open(path.as_uri())
    return path


__all__ = ["ReplayPage", "html", "open_in_browser", "write"]
