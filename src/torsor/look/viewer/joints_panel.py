"""The joint sliders."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from torsor.look.viewer.controls import on_user_change
from torsor.look.viewer.session import Session
from torsor.look.viewer.sliders import Slider
from torsor.look.viewer.state import DisplayedState

if TYPE_CHECKING:
    import viser

#: decimals that a slider shows, and its smallest step [rad, m]
DIGITS = 3
#: the entry of the menu at a configuration without a name
NONE = "–"


class Joints:
    """One slider each, a note if the loops do not close, a menu of the named configurations, buttons for neutral and random."""

    def __init__(self, gui: viser.GuiApi, session: Session, do: Callable[..., Any]):
        self.session = session
        self.note = gui.add_html("", visible=False)
        named = session.stage.robot.configurations
        self.menu: Any = gui.add_dropdown("Configuration", (NONE, *named), initial_value=NONE) if named else None
        if self.menu is not None:
            on_user_change(self.menu, lambda name: name == NONE or do(session.choose, name))
        self.sliders = [self._slider(gui, k, row, do) for k, row in enumerate(session.sliders.rows)]
        buttons = gui.add_button_group("Pose", ("neutral", "random"))
        buttons.on_click(lambda event: do(session.reset if event.target.value == "neutral" else session.shuffle))

    def _slider(self, gui: viser.GuiApi, k: int, row: Slider, do: Callable[..., None]) -> Any:
        lower, upper = round(row.lower, DIGITS), round(row.upper, DIGITS)
        upper = max(upper, lower + 10**-DIGITS)
        slider = gui.add_slider(
            row.label, lower, upper, 10**-DIGITS, min(max(round(self.session.values[k], DIGITS), lower), upper),
            marks=((lower, f"{lower:.3g}"), (upper, f"{upper:.3g}")), hint=f"{row.label} [{row.unit}]",
        )  # fmt: skip
        on_user_change(slider, lambda value: do(self.session.slide, k, value))
        return slider

    def paint(self, look: DisplayedState) -> None:
        """Set the sliders to the joints and the menu to the configuration, and show the current error."""
        if self.menu is not None and self.menu.value != (self.session.named or NONE):
            self.menu.value = self.session.named or NONE
        for slider, value in zip(self.sliders, self.session.values, strict=True):
            shown = min(max(round(value, DIGITS), slider.min), slider.max)
            if abs(shown - slider.value) > 0.5 * 10**-DIGITS:
                slider.value = shown
        self.show_error(self.session.trouble)

    def show_error(self, trouble: str) -> None:
        """Show an error in red above the sliders; hide it if empty."""
        self.note.visible = bool(trouble)
        if trouble:
            self.note.content = f'<div style="padding:4px 12px;color:#C0392B;font-size:12px">{escape(trouble)}</div>'
