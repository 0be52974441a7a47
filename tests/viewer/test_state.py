"""State of the viewer without a page: each number against an independent computation."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError
from torsor.look.viewer import bars
from torsor.look.viewer.camera import view
from torsor.look.viewer.forces_panel import ForcesPanel
from torsor.look.viewer.session import Session
from torsor.look.viewer.sliders import Sliders
from torsor.look.viewer.state import Stage
from torsor.look.viewer.track import Track
from torsor.robot.builder import Builder

NAMES = ("two_link", "ur5", "cart_pole")


def stage(name):
    return Stage(getattr(ts.robots, name)())


@pytest.mark.parametrize("name", NAMES)
def test_torque_by_kind_equals_explain(name):
    """The viewer uses kernels, explain uses the generic algorithms."""
    s, rng = stage(name), np.random.default_rng(1)
    q, v, a, f = s.robot.random_configuration(rng), *rng.normal(size=(2, s.robot.nv)), rng.normal(size=3)
    look = s.look(q, v, a, s.frame, f)
    wrench = np.concatenate((np.zeros(3), s.robot.pose(q, s.frame)[:3, :3].T @ f))
    kinds = s.robot.explain(q, v, a, {s.frame: wrench}).by_kind()
    theirs = [kinds["inertia"] + kinds["rotor"], kinds["centrifugal"] + kinds["Coriolis"], kinds["gravity"], kinds["external"]]
    for mine, yours in zip(look.torque.values(), theirs, strict=True):
        np.testing.assert_allclose(mine, yours, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(look.tau, s.robot.inverse_dynamics(q, v, a, {s.frame: wrench}), rtol=1e-11, atol=1e-11)


def test_torque_parts_at_rest_equal_explain():
    s, f = stage("ur5"), np.array([3.0, -2.0, 5.0])
    q = s.robot.random_configuration(2)
    zero = np.zeros(6)
    R = s.robot.pose(q, s.frame)[:3, :3]
    full = s.robot.explain(q, zero, zero, {s.frame: np.concatenate((np.zeros(3), R.T @ f))})
    parts = s.parts(q, zero, zero, s.wrench(q, s.frame, f))
    for part in parts:
        np.testing.assert_allclose(part.tau, full.of(part.kind, part.cause), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sum(p.tau for p in parts), full.tau, rtol=1e-12, atol=1e-12)


def test_viewer_mass_ellipsoid_is_the_inverse_of_the_task_inverse_mass():
    s = stage("ur5")
    q = s.robot.random_configuration(3)
    mass = s.look(q).mass
    x, y, z, w = mass.quaternion
    R = np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
    J = s.robot.jacobian(q, s.frame)[3:]
    inverse = J @ np.linalg.inv(s.robot.mass_matrix(q)) @ J.T
    np.testing.assert_allclose(R @ np.diag(1 / mass.kilograms) @ R.T, inverse, rtol=1e-9, atol=1e-12)


# -- sliders -------------------------------------------------------------------------------------------------


def zoo():
    """A chain with every joint type that has coordinates."""
    b = Builder("zoo").link("base")
    last = "base"
    for kind in ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "helical", "continuous"):
        more = {"pitch": 0.1} if kind == "helical" else {"second_axis": (1, 0, 0)} if kind == "universal" else {}
        b = b.link(kind, mass=1.0, com=(0, 0, 0.1), inertia=(1, 1, 1)).joint(
            f"j_{kind}", kind, last, kind, xyz=(0, 0, 0.2), **more
        )
        last = kind
    return b.build("floating")


def test_sliders_of_q_give_q_back():
    robot = zoo()
    sliders, rng = Sliders(robot, 1.0), np.random.default_rng(0)
    assert len(sliders.rows) == robot.nv
    for _ in range(20):
        q = robot.random_configuration(rng)
        back = sliders.configuration(sliders.values(q))
        np.testing.assert_allclose(robot.difference(q, back), 0, atol=1e-12)


def test_slider_limits_are_joint_limits_or_a_full_turn():
    robot = ts.robots.ur5()
    joint = robot.joint("elbow_joint")
    row = next(r for r in Sliders(robot, 1.0).rows if r.joint == "elbow_joint")
    assert (row.lower, row.upper) == (joint.lower[0], joint.upper[0])
    free = next(r for r in Sliders(ts.robots.two_link(), 1.0).rows)
    assert (free.lower, free.upper) == (-np.pi, np.pi)


def test_mimic_joints_have_no_slider_and_follow():
    b = Builder("claw").link("palm").link("left", mass=0.1, com=(0.1, 0, 0)).link("right", mass=0.1, com=(0.1, 0, 0))
    b = b.joint("grip", "prismatic", "palm", "left", axis=(0, 1, 0), lower=0.0, upper=0.04)
    robot = b.joint("other", "prismatic", "palm", "right", axis=(0, -1, 0), mimic=("grip", 1.0, 0.0)).build()
    session = Session(Stage(robot))
    assert [row.label for row in session.sliders.rows] == ["grip"]
    session.slide(0, 0.03)
    places = dict(zip(session.stage.scene.links, session.look().poses, strict=True))
    assert places["left"][1] == pytest.approx(0.03)
    assert places["right"][1] == pytest.approx(-0.03)


# -- the session ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "slider_crank"])
def test_loops_stay_closed_while_a_slider_moves(name):
    session = Session(Stage(getattr(ts.mechanisms, name)()))
    for value in np.linspace(0, 1.0, 9):
        session.slide(0, session.values[0] + 0.05)
        look = session.look()
        assert session.trouble == "", value
        assert look.closure_error < 1e-9
        np.testing.assert_allclose(look.loop_ends[:, 0], look.loop_ends[:, 1], atol=1e-9)


@pytest.mark.parametrize("robot", [ts.mechanisms.stewart_platform(), ts.robots.two_link()], ids=lambda robot: robot.name)
def test_force_bars_of_a_robot_with_loops_are_labelled_as_those_of_the_tree(robot):
    gui, session = mock.MagicMock(), Session(Stage(robot))
    ForcesPanel(gui, session, lambda *_: None, session.stage.names)
    said = " ".join(str(call.args[0]) for call in gui.add_html.call_args_list)
    assert ("spanning tree" in said) is bool(robot.loops)
    assert session.look().tau == pytest.approx(session.stage.tree.gravity_force(session.q))


def test_loop_that_cannot_close_is_reported_and_shown_open():
    session = Session(Stage(ts.mechanisms.four_bar()))
    rocker = next(k for k, row in enumerate(session.sliders.rows) if row.joint == "rocker")
    session.slide(rocker, -1.0)
    assert "closure error" in session.trouble
    assert session.look().closure_error > 1e-3
    assert np.linalg.norm(np.diff(session.look().loop_ends, axis=1)) > 1e-3
    session.slide(rocker, 0.0)
    assert session.trouble == ""
    assert session.look().closure_error < 1e-9


def test_motion_plays_scrubs_and_ends():
    robot = ts.robots.two_link()
    session = Session(Stage(robot))
    session.play()  # no motion loaded
    session.advance(1.0)
    assert not session.playing
    result = robot.simulate([0.0, 0.0], [0.0, 0.0], 1.0)
    session.load(result)
    session.speed = 0.5
    session.advance(1.0)
    assert session.playing
    assert session.time == 0.5
    np.testing.assert_allclose(session.q, result.at(0.5)[0], atol=1e-12)
    np.testing.assert_allclose(session.look().tau, 0, atol=1e-3)  # free fall; a by differences over 1 ms
    session.advance(10.0)
    assert not session.playing
    assert session.time == 1.0
    session.play()
    assert session.playing
    assert session.time == 0.0
    session.slide(0, 0.3)
    assert not session.playing
    assert not session.v.any()


def test_track_keeps_energies_and_refuses_another_robot():
    robot = ts.robots.two_link()
    result = robot.simulate([0.0, 0.0], [0.0, 0.0], 1.0)
    track = Track.of(result, robot)
    np.testing.assert_allclose(track.energies["total"], result.energy[0], atol=1e-5)
    with pytest.raises(ArgumentError, match="simulation of 'two_link'"):
        Track.of(result, ts.robots.ur5())
    with pytest.raises(ArgumentError, match="simulation of 'two_link'"):
        Track.of(result, ts.robots.two_link(m1=2.0))


def test_push_accelerates_by_the_effective_mass():
    """From rest and with gravity compensated, ẍ = Λ⁻¹ f (MR 8.20)."""
    s = stage("ur5")
    q, f = np.array([0.3, -1.0, 1.2, -0.5, 0.4, 0.0]), np.array([20.0, 5.0, -3.0])
    track = s.push(q, s.frame, f, duration=0.01)
    x = s.robot.pose(track.q[-1], s.frame)[:3, 3] - s.robot.pose(q, s.frame)[:3, 3]
    J = s.robot.jacobian(q, s.frame)[3:]
    expected = J @ np.linalg.inv(s.robot.mass_matrix(q)) @ J.T @ f
    np.testing.assert_allclose(2 * x / 0.01**2, expected, rtol=2e-2)


def test_motion_under_its_own_wrenches_is_explained_by_them():
    """The bars sum to the joint forces of the motion, independent of the present arrow."""
    s = stage("ur5")
    session = Session(s, [0.3, -1.0, 1.2, -0.5, 0.4, 0.0])
    session.load(s.push(session.q, s.frame, [20.0, 5.0, -3.0], duration=0.2))
    session.force = np.array([500.0, 0.0, 0.0])
    session.scrub(0.1)
    look, k = session.look(), session.track.index(0.1)
    np.testing.assert_allclose(look.tau, session.track.tau[k], atol=0.02)  # a by differences of 1 ms
    np.testing.assert_allclose(sum(p.tau for p in session.parts()), look.tau, atol=1e-9)


def test_viewer_refuses_invalid_configurations():
    session = Session(stage("two_link"))
    with pytest.raises(ArgumentError, match="expected \\(2,\\)"):
        session.show([0.0])
    with pytest.raises(ArgumentError):
        session.show([0.0, np.nan])


def test_default_frame_of_the_viewer_is_the_tool():
    assert stage("two_link").frame == "tip"
    assert stage("ur5").frame == "tool0"


# -- camera and bars -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two_link", "ur5", "panda"])
def test_camera_view_contains_the_whole_robot(name):
    s = stage(name)
    poses = s.scene.poses(s.robot.neutral())
    seen = view(s.scene, [poses], s.robot.gravity)
    assert np.allclose(seen.up, -s.robot.gravity / np.linalg.norm(s.robot.gravity))
    axis = (seen.target - seen.position) / np.linalg.norm(seen.target - seen.position)
    for place in poses[:, :3]:
        way = place - seen.position
        assert way @ axis > 0
        assert np.degrees(np.arccos(way @ axis / np.linalg.norm(way))) < 22.5


def test_camera_view_contains_the_whole_motion():
    s = stage("two_link")
    pictures = [s.scene.poses(q) for q in ([0.0, 0.0], [np.pi, 0.0])]
    first, all_of_it = view(s.scene, pictures[:1], s.robot.gravity), view(s.scene, pictures, s.robot.gravity)
    assert all_of_it.radius == pytest.approx(2 * first.radius, rel=0.05)
    np.testing.assert_allclose(all_of_it.floor, first.floor)


def test_bars_escape_names_and_mark_forces_beyond_limits():
    torque = {"gravity": np.array([5.0, -2.0]), "external": np.array([1.0, 0.0])}
    html = bars.by_kind(["<b>x</b>", 'y"onmouseover="'], ["N·m", "N·m"], torque, [4.0, np.inf])
    assert "<b>" not in html
    assert 'y"onm' not in html
    assert "&lt;b&gt;x" in html
    assert "limit 4 N·m" in html
    assert html.count("C0392B") == 1
    assert "6.00 N·m" in html
    assert "−2.00 N·m" in html


def test_bars_stay_inside_their_box():
    rng = np.random.default_rng(0)
    for _ in range(20):
        torque = {k: rng.normal(size=3) * 10 ** rng.uniform(-3, 3) for k in ("inertia", "velocity", "gravity", "external")}
        html = bars.by_kind(list("abc"), ["N·m"] * 3, torque, [np.inf] * 3)
        for piece in html.split("left:")[1:]:
            left = float(piece.split("%")[0])
            width = float(piece.split("width:")[1].split("%")[0]) if "width:1px" not in piece[:40] else 0.0
            assert left >= -0.01
            assert left + width <= 100.02


def test_session_goes_to_a_named_configuration_and_forgets_the_name_when_moved():
    robot = ts.robots.panda()
    session = Session(Stage(robot))
    assert session.named == ""
    session.choose("ready")
    assert (session.named, session.q.tolist()) == ("ready", robot.configuration("ready").tolist())
    session.slide(0, 0.5)
    assert session.named == ""
    with pytest.raises(ts.errors.UnknownName, match="there is no configuration named 'x'; valid names: ready"):
        session.choose("x")


def test_session_closes_the_loops_of_a_named_configuration():
    session = Session(Stage(ts.mechanisms.four_bar().with_configuration("turned", {"crank": 0.5})))
    session.choose("turned")
    assert session.look().closure_error < 1e-9


def test_camera_is_farther_away_in_a_narrow_window():
    """A sphere of the robot's radius is inside the horizontal field of view for every width."""
    from torsor.look.scene import Scene
    from torsor.look.viewer.camera import FIELD, camera_in_window, view

    robot = ts.robots.ur5()
    scene = Scene.of(robot)
    seen = view(scene, [scene.poses(robot.neutral())], robot.gravity)
    assert camera_in_window(seen, 1.8) == (seen.position, seen.target)
    for aspect in (0.46, 0.75, 0.99):
        position, point = camera_in_window(seen, aspect)
        distance = np.linalg.norm(position - point)
        assert seen.radius / distance < np.sin(np.arctan(np.tan(FIELD / 2) * aspect))
        assert (seen.target - point) @ seen.up > 0  # the robot is above the middle
        np.testing.assert_allclose((seen.target - point) @ (position - point), 0, atol=1e-12)
    assert np.isfinite(camera_in_window(seen, 0.0)).all()


def test_contacts_and_ground_are_layers():
    dog = ts.robots.quadruped()
    for surface, floors in (
        (ts.contacts.plane(), 1),
        ([ts.contacts.plane(), ts.contacts.ball(0.1)], 2),
        (ts.contacts.ball(0.1), 1),
    ):
        viewer = dog.with_ground(surface=surface).view(dog.configuration("standing"), open=False)
        layers = viewer._page.drawing.layers
        assert (len(layers["Contacts"]), len(layers["Floor"])) == (4, floors)
        viewer.close()
