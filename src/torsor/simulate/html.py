"""Motions in a notebook: the replay page in a sandboxed iframe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torsor.errors import TorsorError
from torsor.support.html import LARGEST_PAGE, Markup, element, facts, page_frame

if TYPE_CHECKING:
    from torsor.simulate import Result


def of_result(result: Result) -> Markup:
    from torsor.look.replay import html
    from torsor.simulate.replay_data import facts_of

    if result.robot is None:
        return element("p", repr(result))
    try:
        page = html(result)
    except TorsorError as error:  # for example energies that cannot be computed: show the summary without the replay
        return element("div", element("p", repr(result)), element("p", f"No replay: {error}"))
    if len(page) > LARGEST_PAGE:
        page = html(result, style="skeleton", fps=15)
    if len(page) > LARGEST_PAGE:
        large = element("p", "The replay is large; result.replay(path) writes it to a file.")
        return element("div", element("p", repr(result)), facts(facts_of(result)), large)
    return element("div", element("p", repr(result)), page_frame(page, f"Replay of {result.info.get('robot', 'a robot')}"))
