"""Visible layers: one checkbox per layer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from torsor.look.viewer.drawing import Drawing

if TYPE_CHECKING:
    import viser


def add_layers(gui: viser.GuiApi, drawing: Drawing, do: Callable[..., None], notes: tuple[str, ...]) -> Any:
    """The checkboxes, and below them notes about layers that could not be drawn; returns the box of the force handle."""
    for name, shown in drawing.shown.items():
        box = gui.add_checkbox(name, shown)
        box.on_update(partial(lambda name, event: do(drawing.toggle, name, event.target.value), name))
    force = gui.add_checkbox("Force handle", True)
    force.on_update(lambda event: setattr(drawing.handle, "visible", event.target.value))
    if notes:
        lines = "".join(f"<li>{escape(note)}</li>" for note in notes[:12])
        gui.add_html(f'<div style="font-size:11.5px;padding:4px 12px;opacity:.75">not drawn:<ul>{lines}</ul></div>')
    return force
