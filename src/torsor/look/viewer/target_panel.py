"""The target's frame, what of its pose counts, and the message where it is not met."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from torsor.look.viewer.session import Session
from torsor.look.viewer.target import KINDS

if TYPE_CHECKING:
    import viser

#: the entry of the menu without a target
NONE = "–"
_TEXT = "font-size:12px;padding:4px 12px;line-height:1.45"
HINT = "Drag the arrows and rings in the scene: the joints follow, within their limits. A target that is not met is red."


class TargetPanel:
    """Menus of frames and of kinds; ``choose`` takes their values, "" for no frame."""

    def __init__(self, gui: viser.GuiApi, session: Session, choose: Callable[[str, str], None]):
        self.session, self.choose = session, choose
        self.frame = gui.add_dropdown("Frame", (NONE, *session.target.frames), initial_value=NONE, hint="frame to be moved")
        self.kind = gui.add_dropdown("Target", KINDS, initial_value=KINDS[0], hint="what of the target counts")
        self.text = gui.add_html("")
        self.frame.on_update(lambda event: self._choose())
        self.kind.on_update(lambda event: self._choose())

    def _choose(self) -> None:
        self.text.content = f'<div style="{_TEXT}">preparing ...</div>'
        self.choose("" if self.frame.value == NONE else self.frame.value, self.kind.value)

    def paint(self) -> None:
        """The message of the target, or the hint."""
        target = self.session.target
        color = "" if target.met else ";color:#C0392B"
        self.text.content = f'<div style="{_TEXT}{color}">{escape(target.message or (HINT if target.frame else ""))}</div>'
