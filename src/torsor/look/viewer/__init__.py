"""The live page: ``robot.view()`` opens a robot in the browser.  Needs the extra ``view``."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Sequence
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from torsor.look.viewer.viewer import Viewer

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result

__all__ = ["Viewer", "view"]


def view(
    robot: Robot,
    q: ArrayLike | None = None,
    result: Result | None = None,
    *,
    port: int = 0,
    roots: Sequence[str | os.PathLike[str]] = (),
    style: str = "auto",
    open: bool = True,
    block: bool = False,
) -> Viewer:
    """Open the viewer in the browser, at q (default: neutral), with playback of ``result`` if given; see :class:`Viewer`.

    Served at 127.0.0.1 only, at ``port`` (default: a free port).  ``roots`` are folders meshes may be in beside the
    robot's own, ``style`` as in :class:`torsor.look.scene.Scene`.  ``open``: open the browser;
    ``block``: return only after Ctrl-C, for scripts.
    """
    viewer = Viewer(robot, q, result, port=port, roots=roots, style=style)
    if open:
        webbrowser.open(viewer.url)
    if block:
        viewer.wait()
    return viewer
