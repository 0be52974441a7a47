"""Motions in a notebook: the replay page in a sandboxed iframe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.errors import TorsorError
from torsor.support.html import LARGEST_PAGE, Markup, element, page_frame

if TYPE_CHECKING:
    from torsor.simulate import Result


def of_motion(motion: Result) -> Markup:
    """One line about the motion, and its replay page unless that is too large."""
    from torsor.look.replay import html

    summary = element("p", repr(motion))
    if motion.robot is None:
        return summary
    try:
        page = html(motion)
    except TorsorError as error:  # for example energies that cannot be computed: show the summary without the replay
        return element("div", summary, element("p", f"No replay: {error}"))
    if len(page) > LARGEST_PAGE:
        page = html(motion, style="skeleton", fps=15)
    if len(page) > LARGEST_PAGE:
        return element("div", summary, element("p", "The replay is large; result.replay(path) writes it to a file."))
    return element("div", summary, page_frame(page, f"Replay: {motion!r}"))
