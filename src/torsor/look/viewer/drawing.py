"""The robot in viser's scene: nodes made once, moved by every look."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.look.scene import Scene
from torsor.look.scene.triangles import sphere
from torsor.look.viewer.bars import round_up_scale
from torsor.look.viewer.camera import FIELD, View, camera_in_window
from torsor.look.viewer.state import OPEN_LOOP, DisplayedState
from torsor.look.viewer.target import Target
from torsor.spatial.rigid.motions import to_quaternion
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    import viser


#: a layer's name and whether it is shown at first; "Robot" is meshes where there are any, else the skeleton
LAYERS = (
    "Robot",
    "Skeleton",
    "Inertia ellipsoids",
    "Loops",
    "Contacts",
    "Contact forces",
    "Centre of mass",
    "Link frames",
    "Mass at the frame",
    "Floor",
)
_KINDS = {
    "visual": "Robot", "skeleton": "Skeleton", "ellipsoid": "Inertia ellipsoids", "loop": "Loops", "contact": "Contacts",
    "ground": "Floor",
}  # fmt: skip
#: kinds of the skeleton beside meshes
_BARE = ("skeleton", "ellipsoid")

CENTER, FORCE, MASS, GAP, CLOSED = (230, 159, 0), (204, 121, 167), (0, 114, 178), (213, 30, 30), (178, 56, 115)
MET, MISSED, TOUCH = (0, 158, 115), (213, 30, 30), (230, 159, 0)
#: length of the robot's weight as the force of a contact, of its size; longest arrow in weights; force that is drawn
OF_WEIGHT, LONGEST, LEAST = 0.8, 1.5, 0.01


class Drawing:
    """Nodes by layer, in a scene about ``radius`` large."""

    def __init__(self, server: viser.ViserServer, scene: Scene, bare: Scene, view: View, weight: float):
        self.server, self.scene, self.radius = server, scene, view.radius
        #: newtons a metre of the force's arrow
        self.newtons = round_up_scale(max(weight, 1.0) / view.radius)
        self.weight = weight
        self.layers: dict[str, list[Any]] = {name: [] for name in LAYERS}
        #: the user drags the arrow or the target until then, and it is not reset [s]
        self.held_until = 0.0
        self._surroundings(view)
        self.links = [server.scene.add_frame(f"/robot/{k}", show_axes=False) for k in range(len(scene.links))]
        self._parts(scene, bare)
        self._extras()
        first = {
            "Robot",
            "Floor",
            "Loops",
            "Contacts",
            "Contact forces",
            *(() if scene.drawn_as == "mesh" else ("Skeleton", "Inertia ellipsoids")),
        }
        self.shown = {name: name in first for name, nodes in self.layers.items() if nodes}
        for name, shown in self.shown.items():
            self.toggle(name, shown)

    def toggle(self, layer: str, shown: bool) -> None:
        """Shows or hides a layer."""
        self.shown[layer] = shown
        for node in self.layers[layer]:
            node.visible = shown

    def paint(self, look: DisplayedState, force: Array) -> None:
        """Draw everything for a Look."""
        with self.server.atomic():
            self.move(look.poses)
            self._center.position = look.center_of_mass
            places = look.poses[: len(self.scene.robot.links)].astype(np.float32)  # not of the pieces of beams
            self._axes.batched_positions, self._axes.batched_wxyzs = places[:, :3], places[:, [6, 3, 4, 5]]
            self._mass(look)
            self._loops(look)
            tip = look.origin + force / self.newtons
            if monotonic() > self.held_until:
                self.handle.position = tip
            self._arrow.points = np.array([[look.origin, tip]], np.float32)
            self._arrow.visible = bool(np.linalg.norm(tip - look.origin) > 0.02 * self.radius)

    def paint_contacts(self, contacts: tuple[Array, Array] | None) -> None:
        """Arrows of the forces of contacts, from their points; the weight has a length of its own, and longer ones are cut."""
        if contacts is None or not self.shown.get("Contact forces"):
            self._pushes.visible = False
            return
        points, forces = contacts
        size = np.linalg.norm(forces, axis=1)
        unit = self.weight or float(size.max(initial=0.0)) or 1.0
        seen = size > LEAST * unit
        self._pushes.visible = bool(seen.any())
        if seen.any():
            way = forces[seen] * (OF_WEIGHT * self.radius / unit * np.minimum(1, LONGEST * unit / size[seen]))[:, None]
            self._pushes.points = np.stack([points[seen], points[seen] + way], axis=1).astype(np.float32)

    def paint_target(self, target: Target, q: Array) -> None:
        """The target at its pose, in another colour where it is not met; hidden if there is none."""
        T = target.pose(q)
        self.target.visible = T is not None
        if T is not None:
            self._ball.color = MET if target.met else MISSED
            self.target.disable_rotations = target.kind == "position"
            if monotonic() > self.held_until:
                self.target.position, self.target.wxyz = T[:3, 3], to_quaternion(T[:3, :3])[[3, 0, 1, 2]]

    def move(self, poses: Array) -> None:
        """The links at their poses."""
        for node, place in zip(self.links, poses, strict=True):
            node.position, node.wxyz = place[:3], place[[6, 3, 4, 5]]

    # -- making nodes ----------------------------------------------------------------------------------------

    def _surroundings(self, view: View) -> None:
        s, r = self.server, view.radius
        s.scene.set_up_direction(view.up)
        cell = round_up_scale(r / 5)
        floor = s.scene.add_grid(
            "/floor", width=100 * cell, height=100 * cell, cell_size=cell, section_size=5 * cell, infinite_grid=True,
            fade_distance=10 * r, fade_strength=1.6, cell_color=(176, 182, 190), section_color=(140, 147, 156),
            position=view.floor[:3], wxyz=view.floor[[6, 3, 4, 5]], shadow_opacity=0.12,
        )  # fmt: skip
        if self.scene.has_ground and self.scene.floor is None:  # ground of another form takes its place
            floor.remove()
        else:
            self.layers["Floor"].append(floor)
        camera = s.initial_camera
        camera.position, camera.look_at, camera.up = view.position, view.target, view.up
        camera.near, camera.far, camera.fov = 0.01 * r, 200 * r, FIELD
        s.on_client_connect(lambda client: _fit_window(client, view))
        s.scene.world_axes.visible = False
        s.scene.configure_environment_map(None)  # a photograph of a square, sent to every page and slow to prepare
        s.scene.configure_default_lights(False)
        s.scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(190, 195, 205), intensity=1.9)
        for name, k, towards in (("key", 2.3, (0.6, -0.8, 1.2)), ("fill", 0.9, (-1.0, 0.5, 0.4))):
            s.scene.add_light_directional(f"/light/{name}", intensity=k, position=towards, cast_shadow=False)

    def _parts(self, scene: Scene, bare: Scene) -> None:
        """The scene's parts, and beside meshes the skeleton under them, hidden at first."""
        parts = [*scene.parts, *(part for part in bare.parts if scene.drawn_as == "mesh" and part.kind in _BARE)]
        for n, part in enumerate(parts):
            r, g, b, opacity = part.surface.color
            node = self.server.scene.add_mesh_simple(
                f"/robot/{scene.links.index(part.link)}/{n}",
                part.surface.vertices, part.surface.faces, color=(r, g, b), opacity=None if opacity >= 1 else opacity,
                side="double" if part.kind == "visual" else "front",
                cast_shadow=opacity >= 1 and part.kind != "ground", receive_shadow=False,
            )  # fmt: skip
            self.layers[_KINDS[part.kind]].append(node)

    def _extras(self) -> None:
        s, r = self.server.scene, self.radius
        n = len(self.scene.robot.links)
        self._center = s.add_icosphere("/center_of_mass", 0.03 * r, color=CENTER, cast_shadow=False)
        self._axes = s.add_batched_axes(
            "/frames", np.tile((1.0, 0, 0, 0), (n, 1)), np.zeros((n, 3)), axes_length=0.12 * r, axes_radius=0.006 * r
        )
        ball = sphere(1.0)
        self._ellipsoid = s.add_mesh_simple("/mass", ball.vertices, ball.faces, color=MASS, opacity=0.25, cast_shadow=False)
        self._gaps = s.add_line_segments("/loops", np.zeros((1, 2, 3)), colors=CLOSED, thickness=0.012 * r)
        self._arrow = s.add_arrows(
            "/force/arrow", np.zeros((1, 2, 3)), colors=FORCE,
            shaft_radius=0.012 * r, head_radius=0.03 * r, head_length=0.07 * r,
        )  # fmt: skip
        self._pushes = s.add_arrows(
            "/contact_forces", np.zeros((1, 2, 3)), colors=TOUCH,
            shaft_radius=0.009 * r, head_radius=0.022 * r, head_length=0.05 * r, visible=False,
        )  # fmt: skip
        self.handle = s.add_transform_controls(
            "/force/handle", scale=0.22 * r, disable_rotations=True, depth_test=False, opacity=0.8, line_width=2.0
        )
        self.target = s.add_transform_controls("/target", scale=0.3 * r, depth_test=False, line_width=2.5, visible=False)
        self._ball = s.add_icosphere("/target/ball", 0.035 * r, color=MET, opacity=0.8, cast_shadow=False)
        self.layers["Centre of mass"].append(self._center)
        self.layers["Link frames"].append(self._axes)
        self.layers["Mass at the frame"].append(self._ellipsoid)
        if self.scene.robot.contacts:
            self.layers["Contact forces"].append(self._pushes)
        if self.scene.robot.loops:
            self.layers["Loops"].append(self._gaps)
        else:
            self._gaps.visible = False

    # -- moving them -----------------------------------------------------------------------------------------

    def _mass(self, look: DisplayedState) -> None:
        """The longest finite axis is drawn as a third of the robot's size; an infinite axis slightly longer."""
        if look.mass is None or not self.shown["Mass at the frame"]:
            self._ellipsoid.visible = False
            return
        finite = look.mass.kilograms[np.isfinite(look.mass.kilograms)]
        longest = float(finite.max(initial=0)) or 1.0
        radii = np.minimum(look.mass.kilograms / longest, 1.5) * 0.33 * self.radius
        x, y, z = np.maximum(radii, 0.003 * self.radius).tolist()
        self._ellipsoid.scale = (x, y, z)
        self._ellipsoid.position, self._ellipsoid.wxyz = look.mass.position, look.mass.quaternion[[3, 0, 1, 2]]
        self._ellipsoid.visible = True

    def _loops(self, look: DisplayedState) -> None:
        if len(look.loop_ends):
            self._gaps.points = look.loop_ends.astype(np.float32)
            self._gaps.colors = np.array(GAP if look.closure_error > OPEN_LOOP else CLOSED, np.uint8)


def _fit_window(client: viser.ClientHandle, view: View) -> None:
    """Move the camera of a new page so that the robot fits into a narrow window."""
    if client.camera.aspect < 1:
        # in this order: viser moves the point looked at along with the position
        client.camera.position, client.camera.look_at = camera_in_window(view, client.camera.aspect)
