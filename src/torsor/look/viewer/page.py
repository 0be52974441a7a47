"""Layout of the page: the scene in the middle, forces and plots on the left, joints, motion and layers on the right."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.look.scene import Scene
from torsor.look.viewer.camera import view
from torsor.look.viewer.drawing import Drawing
from torsor.look.viewer.forces_panel import ForcesPanel, Pull
from torsor.look.viewer.joints_panel import Joints
from torsor.look.viewer.layers_panel import add_layers
from torsor.look.viewer.playback_panel import PlaybackPanel, Plots
from torsor.look.viewer.state import DisplayedState
from torsor.look.viewer.target_panel import TargetPanel

if TYPE_CHECKING:
    from torsor.look.viewer.viewer import Viewer

#: number of images of a motion between updates of bars, sliders and plots
NUMBERS = 3
#: time after the last move during which the user still holds the arrow [s]
HELD = 0.4
#: of a motion that is there from the start, to choose the view by
PICTURES = 12
#: of a panel [px]
WIDTH = 300


class Page:
    """The scene and the panels of a viewer."""

    def __init__(self, viewer: Viewer):
        self.viewer, self.session, self.painted = viewer, viewer.session, 0
        self.looked: DisplayedState | None = None
        server, session, do = viewer.server, viewer.session, viewer.try_in_browser
        robot, scene = session.stage.robot, session.stage.scene
        poses = session.stage.scene.poses(session.q)
        weight = float(robot.mass) * float(np.linalg.norm(robot.gravity))
        gui, names = server.gui, session.stage.names
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178), control_width="large")
        bare = scene if scene.drawn_as == "skeleton" else Scene.of(robot, style="skeleton")
        self.drawing = Drawing(server, scene, bare, view(scene, [poses, *self._motion_images()], robot.gravity), weight)
        self.drawing.move(poses)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Joints"):
            self.joints = Joints(gui, session, do)
        with tabs.add_tab("Target"):
            self.target = TargetPanel(gui, session, self._choose_target)
        with tabs.add_tab("Motion"):
            self.motion = PlaybackPanel(gui, session, do)
        with tabs.add_tab("Show"):
            self.force_box = add_layers(gui, self.drawing, do, scene.notes)
        panel = gui.add_panel()
        with panel.add_tab("Forces"):
            self.forces = ForcesPanel(gui, session, do, names)
            with gui.add_folder("Pull"):
                self.pull = Pull(gui, session, do, viewer.push)
        with panel.add_tab("Plots") as tab:
            self.plots = Plots(gui, tab, names)
        gui.main_panel.dock_right()
        panel.dock_left()
        panel.set_width(WIDTH)
        gui.main_panel.set_width(WIDTH)
        self.drawing.handle.on_update(self.on_drag)
        self.drawing.target.on_update(self.on_target)

    def _motion_images(self) -> list[Any]:
        """Some images of the motion, if there is one."""
        track = self.session.track
        if track is None:
            return []
        return [self.session.stage.scene.poses(q) for q in track.q[np.linspace(0, len(track.t) - 1, PICTURES).astype(int)]]

    def on_drag(self, event: Any) -> None:
        """The user drags the arrow's tip: the force follows from the vector from the frame to the tip."""
        if event.client_id is not None and self.looked is not None:
            self.drawing.held_until = monotonic() + HELD
            force = (np.array(event.target.position) - self.looked.origin) * self.drawing.newtons
            self.viewer.try_in_browser(setattr, self.session, "force", force)

    def on_target(self, event: Any) -> None:
        """The user drags the target: the joints follow when the page is painted, at its newest pose."""
        if event.client_id is not None:
            self.drawing.held_until = monotonic() + HELD
            self.viewer.try_in_browser(self.session.target.drag, event.target.position, event.target.wxyz)

    def _choose_target(self, frame: str, kind: str) -> None:
        """The arrow of the force would be in the way of the target; its box shows it again."""
        self.force_box.value = not frame
        self.viewer.choose_target(frame, kind)

    def paint(self) -> None:
        """Draw the current state of the session."""
        with self.viewer.lock:
            session = self.session
            session.follow()
            look = session.look()
            self.looked, force = look, np.array(session.force)
            with self.viewer.server.atomic():
                self.drawing.paint(look, force)
                self.drawing.paint_contacts(session.contacts)
                self.drawing.paint_target(session.target, session.q)
                self.motion.paint(look)
                self.painted += 1
                if session.playing and self.painted % NUMBERS:
                    return
                self.joints.paint(look)
                self.target.paint()
                self.forces.paint(look)
                self.pull.paint(look)
                self.plots.paint(session)
