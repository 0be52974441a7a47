"""Play, pause, scrub; torque and energy over time, drawn as far as the motion has come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.look.viewer.controls import on_user_change
from torsor.look.viewer.session import SPEEDS, Session
from torsor.look.viewer.state import DisplayedState
from torsor.look.viewer.track import Track
from torsor.support.plotting import COLORS
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    import viser


#: curves in one plot, points a curve
CURVES, POINTS = 8, 400


class PlaybackPanel:
    """The player.  It is disabled until there is a motion: of ``robot.view(result=...)``, ``viewer.play`` or a push."""

    def __init__(self, gui: viser.GuiApi, session: Session, do: Callable[..., None]):
        self.session = session
        self.button = gui.add_button("Play", disabled=True)
        self.scrub: Any = gui.add_slider("Time [s]", 0.0, 1.0, 0.01, 0.0, disabled=True)
        self.speed = gui.add_dropdown("Speed", tuple(f"{s:g}×" for s in SPEEDS), initial_value="1×")
        self.button.on_click(lambda event: do(self._toggle))
        self.speed.on_update(lambda event: do(setattr, session, "speed", float(event.target.value.rstrip("×"))))
        on_user_change(self.scrub, lambda time: do(self._scrub, time))

    def _toggle(self) -> None:
        if self.session.playing:
            self.session.playing = False
        else:
            self.session.play()

    def _scrub(self, time: float) -> None:
        self.session.playing = False
        self.session.scrub(time)

    def paint(self, look: DisplayedState) -> None:
        """The button and the slider as the session is."""
        session = self.session
        if session.track is None:
            return
        self.button.disabled = self.scrub.disabled = False
        label = "Pause" if session.playing else "Play"
        if self.button.label != label:
            self.button.label = label
        if abs(self.scrub.max - session.track.duration) > 1e-9:
            self.scrub.max = max(session.track.duration, 0.01)
        time = round(session.time, 2)
        if abs(self.scrub.value - time) > 5e-3:
            self.scrub.value = min(time, self.scrub.max)


class Plots:
    """Two plots of a track: the largest joint forces, and the energies."""

    def __init__(self, gui: viser.GuiApi, tab: viser.GuiTabHandle, names: tuple[str, ...]):
        self.gui, self.tab, self.names = gui, tab, names
        self.track: Track | None = None
        self.hint = gui.add_html('<div style="font-size:11.5px;padding:4px 12px;opacity:.65">no motion yet: use Push</div>')
        self.plots: list[tuple[Any, Array, list[Array]]] = []

    def paint(self, session: Session) -> None:
        """The curves up to the present time."""
        if session.track is None:
            return
        if session.track is not self.track:
            self._make(session.track)
        for plot, t, curves in self.plots:
            future = t > session.time + 1e-9
            plot.data = (t, *(np.where(future, np.nan, curve) for curve in curves))

    def _make(self, track: Track) -> None:
        for plot, _, _ in self.plots:
            plot.remove()
        self.track, self.hint.visible = track, False
        some = np.unique(np.linspace(0, len(track.t) - 1, POINTS).astype(int))
        t = track.t[some] - track.t[0]
        largest = sorted(np.argsort(-np.abs(track.tau).max(axis=0))[:CURVES].tolist())
        forces = {self.names[i]: track.tau[some, i] for i in largest}
        energies = {name: values[some] for name, values in track.energies.items()}
        self.plots = [(self._plot(t, title, curves), t, list(curves.values())) for title, curves in
                      (("joint force [N·m, N]", forces), ("energy [J]", energies))]  # fmt: skip

    def _plot(self, t: Array, title: str, curves: dict[str, Array]) -> Any:
        low = min(float(np.nanmin(c)) for c in curves.values())
        high = max(float(np.nanmax(c)) for c in curves.values())
        room = 0.06 * (high - low) or 1.0
        series: list[Any] = [{"label": "t [s]"}]
        series += [{"label": name, "stroke": COLORS[k % len(COLORS)], "width": 1.5} for k, name in enumerate(curves)]
        with self.tab:
            return self.gui.add_uplot(
                (t, *(np.full_like(t, np.nan) for _ in curves)), tuple(series), title=title, height=210,
                scales={"x": {"time": False, "range": (0.0, float(t[-1]) or 1.0)}, "y": {"range": (low - room, high + room)}},
                axes=({"size": 32}, {"size": 46}), legend={"show": True},
            )  # fmt: skip
