"""Joint forces at the current state: bars by kind, one joint's by cause, and the force the user pulls with."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.look.viewer import bars
from torsor.look.viewer.controls import on_user_change
from torsor.look.viewer.session import Session
from torsor.look.viewer.state import DisplayedState
from torsor.model.names import entry_units

if TYPE_CHECKING:
    import viser

_NONE = "(no joint)"
_TEXT = "font-size:11.5px;padding:2px 12px 6px;line-height:1.45"

#: beside the bars of a robot with loops
TREE = (
    "These are the joint forces of the spanning tree (loops cut), with every joint driven. The forces of the drives alone: "
    "<code>robot.constrained().inverse_dynamics(q, v, a, actuated=[...])</code>."
)


class ForcesPanel:
    """τ = M a + c + g − Jᵀf as bars."""

    def __init__(self, gui: viser.GuiApi, session: Session, do: Callable[..., None], names: tuple[str, ...]):
        robot = session.stage.robot
        self.session, self.names = session, names
        self.units, self.limits = entry_units(robot.model)[2], robot.effort_limit.tolist()
        self.bars = gui.add_html("")
        if robot.loops:
            gui.add_html(f'<div style="{_TEXT}">{TREE}</div>')
        self.explain = gui.add_dropdown("Explain", (_NONE, *names), initial_value=_NONE, hint="one joint's force by cause")
        self.causes = gui.add_html("", visible=False)
        self.explain.on_update(lambda event: do())

    def paint(self, look: DisplayedState) -> None:
        """The bars of a look."""
        self.bars.content = bars.by_kind(self.names, self.units, look.torque, self.limits)
        chosen = self.explain.value
        self.causes.visible = chosen != _NONE
        if chosen != _NONE:
            i = self.names.index(chosen)
            self.causes.content = bars.by_cause(chosen, self.units[i], i, self.session.parts())


class Pull:
    """The frame, the force on it, the effective mass there, and a simulation under this force."""

    def __init__(self, gui: viser.GuiApi, session: Session, do: Callable[..., None], simulate: Callable[[bool], None]):
        self.session = session
        frames = tuple(session.stage.robot.frames)
        self.frame = gui.add_dropdown(
            "Frame", frames, initial_value=session.frame, hint="frame at which the force acts and the effective mass is shown"
        )
        self.force: Any = gui.add_vector3(
            "Force [N]", (0.0, 0.0, 0.0), step=0.1, hint="in world axes; or drag the arrow's tip in the scene"
        )
        self.joints = gui.add_dropdown(
            "Joints",
            ("gravity compensation", "no forces"),
            hint="during the push: with gravity compensation, or without joint forces",
        )
        self.push = gui.add_button("Push for 2 s")
        self.mass = gui.add_html("")
        self.frame.on_update(lambda event: do(setattr, session, "frame", event.target.value))
        self.push.on_click(lambda event: simulate(self.joints.value != "no forces"))
        on_user_change(self.force, lambda value: do(setattr, session, "force", np.array(value, float)))

    def paint(self, look: DisplayedState) -> None:
        """The force as a vector, the mass as numbers."""
        shown = tuple(round(float(x), 2) for x in self.session.force)
        if any(abs(a - b) > 5e-3 for a, b in zip(shown, self.force.value, strict=True)):
            self.force.value = shown
        if look.mass is None:
            text = escape(self.session.stage.massless)
        else:
            numbers = ", ".join("∞" if not np.isfinite(m) else f"{m:.3g}" for m in look.mass.kilograms)
            loops = " (of the spanning tree)" if self.session.stage.robot.loops else ""
            text = f"effective mass by direction{loops}: <b>{numbers} kg</b>"
            text += f"<br><span style='opacity:.7'>{escape(look.mass.note)}</span>" if look.mass.note else ""
        self.mass.content = f'<div style="{_TEXT}">{text}</div>'
