"""The viewer page in a real browser: it loads, draws, follows the sliders, logs no errors and makes no other requests."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from tests.viewer.conftest import EVIL

#: JavaScript that returns the pixels of the scene at low resolution
PIXELS = """() => {
  const canvas = [...document.querySelectorAll("canvas")].sort((a, b) => b.width * b.height - a.width * a.height)[0];
  const small = document.createElement("canvas");
  small.width = small.height = 48;
  small.getContext("2d").drawImage(canvas, 0, 0, 48, 48);
  return [...small.getContext("2d").getImageData(0, 0, 48, 48).data];
}"""


def pixels(page):
    return np.array(page.evaluate(PIXELS), float).reshape(48, 48, 4)[..., :3]


def eventually(happens, seconds=30.0):
    """Whether a condition becomes true within a time limit, which is generous for slow machines."""
    end = time.monotonic() + seconds
    while not happens():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_viewer_page_draws_the_robot(shown):
    assert eventually(lambda: np.ptp(pixels(shown.page)) > 60)  # more than one colour: the robot is darker than the background
    assert shown.page.url.startswith("http://127.0.0.1:")


def test_dragging_a_slider_moves_the_robot(shown):
    assert eventually(lambda: np.ptp(pixels(shown.page)) > 60)
    before, values = pixels(shown.page), list(shown.viewer.session.values)
    track = shown.page.locator(".mantine-Slider-track").first.bounding_box()
    shown.page.mouse.click(track["x"] + 0.9 * track["width"], track["y"] + track["height"] / 2)
    assert eventually(lambda: shown.viewer.session.values[0] != values[0])
    assert np.allclose(shown.viewer.session.values[0], -2 + 0.9 * 4, atol=0.15)
    assert eventually(lambda: np.abs(pixels(shown.page) - before).max() > 40)


def test_script_moves_the_sliders_of_the_page(shown):
    shown.viewer.show([-0.25, 0.5])
    first = shown.page.get_by_role("slider").first
    assert eventually(lambda: first.get_attribute("aria-valuenow") == "-0.25")


def test_menu_of_named_configurations_moves_the_sliders(shown):
    shown.viewer.show([-0.25, 0.5])
    menu = shown.page.get_by_label("Configuration").first
    menu.click()
    shown.page.get_by_role("option", name=f"{EVIL}home").click()
    assert eventually(lambda: shown.viewer.session.values == [1.5, 0.0])
    assert eventually(lambda: menu.input_value() == f"{EVIL}home")
    shown.viewer.show([-0.25, 0.5])  # no longer the named one
    assert eventually(lambda: menu.input_value() == "–")


def test_viewer_page_plays_a_simulation_and_shows_its_plots(shown):
    shown.viewer.play(shown.robot.simulate([0.4, 0.0], [0.0, 0.0], 0.4, dt=2e-3, progress=False))
    assert eventually(lambda: not shown.viewer.session.playing)
    assert shown.viewer.session.time == shown.viewer.session.track.duration
    shown.page.get_by_text("Plots", exact=True).click()
    shown.page.get_by_text("energy [J]").wait_for()
    shown.page.get_by_text("Forces", exact=True).click()


def test_target_chosen_in_the_page_is_dragged_and_turns_red_where_it_is_not_met(shown):
    viewer, page, tip = shown.viewer, shown.page, f"{EVIL}tip"
    drawing, target = viewer._page.drawing, viewer.session.target

    def drag(*p):
        viewer._page.on_target(SimpleNamespace(client_id=0, target=SimpleNamespace(position=p, wxyz=(1.0, 0.0, 0.0, 0.0))))

    viewer.show([0.4, -0.8])
    page.get_by_role("tab", name="Target").press("Enter")  # a message of viser may lie above it, where clicks go
    menu = page.get_by_label("Frame").last
    menu.wait_for()
    menu.dispatch_event("click")
    page.get_by_role("option", name=tip).last.dispatch_event("click")
    assert eventually(lambda: target.frame == tip and drawing.target.visible and not drawing.handle.visible)
    viewer.choose_target(tip, "position")
    p = shown.robot.pose([0.5, -1.0], tip)[:3, 3]
    drag(*p)
    assert eventually(lambda: np.allclose(shown.robot.pose(viewer.session.q, tip)[:3, 3], p, atol=2e-6))
    met = tuple(drawing._ball.color)
    drag(*(p + 5))
    page.get_by_text("not found in").wait_for()
    assert eventually(lambda: tuple(drawing._ball.color) != met)
    drag(np.nan, 0.0, 0.0)  # the page may send anything
    assert eventually(lambda: "finite" in viewer.session.trouble)
    viewer.choose_target("", "pose")
    viewer.show([0.4, -0.8])
    assert eventually(lambda: not drawing.target.visible)
    page.get_by_role("tab", name="Joints").press("Enter")


def test_dragged_arrow_is_a_force_that_pushes_the_robot(shown):
    """The tip of the arrow is moved along x̂; then the button is clicked."""
    page, session = shown.viewer._page, shown.viewer.session
    shown.viewer.show([0.4, -0.8])
    origin = shown.robot.pose([0.4, -0.8], session.frame)[:3, 3]
    assert eventually(lambda: page.looked is not None and np.allclose(page.looked.origin, origin))
    page.on_drag(SimpleNamespace(client_id=0, target=SimpleNamespace(position=origin + np.array([0.2, 0, 0]))))
    np.testing.assert_allclose(session.force, [0.2 * page.drawing.newtons, 0, 0], atol=1e-9)
    g, J = shown.robot.gravity_force([0.4, -0.8]), shown.robot.jacobian([0.4, -0.8], session.frame)[3:]
    np.testing.assert_allclose(session.look().tau, g - J.T @ session.force, rtol=1e-12)  # the present joint forces
    before = session.track
    shown.page.get_by_text("Push for 2 s").click()
    assert eventually(lambda: session.track is not before)
    assert session.track.duration == 2.0
    session.playing = False


def test_layer_is_switched_by_a_click(shown):
    shown.page.get_by_text("Show", exact=True).click()
    shown.page.get_by_label("Centre of mass").click()
    assert eventually(lambda: shown.viewer._page.drawing.shown["Centre of mass"])
    shown.page.get_by_text("Joints", exact=True).first.click()


def test_viewer_page_shows_names_with_markup_as_text(shown):
    session = shown.viewer.session
    shown.page.get_by_text(f"{EVIL}robot").first.wait_for()  # as literal text
    shown.viewer._page.forces.explain.value = session.stage.names[0]
    shown.page.get_by_text(f"gravity {EVIL}link1").first.wait_for()
    assert shown.page.evaluate("window.hacked") is None
    assert shown.page.locator("img[src=x]").count() == 0


@pytest.mark.night  # loads a second page; test_guard.py has the script that it runs
def test_viewer_page_is_dark_where_the_browser_prefers_it(shown, browser):
    scheme = "document.documentElement.dataset.mantineColorScheme"
    assert shown.page.evaluate(scheme) == "light"
    page = browser.new_page(color_scheme="dark")
    page.goto(shown.viewer.url)
    page.get_by_text("Joints", exact=True).first.wait_for()
    assert page.evaluate(scheme) == "dark"
    page.close()


def test_viewer_page_logs_no_errors_and_makes_no_external_requests(shown):
    assert [text for kind, text in shown.said if kind == "error"] == []
    here = shown.viewer.url.split("/")[2]
    own = (shown.viewer.url, f"blob:http://{here}/", "data:", f"ws://{here}/")
    assert shown.asked
    assert [url for url in shown.asked if not url.startswith(own)] == []
