"""The replay page in a real browser, opened from disk: drawing, motion, no requests, and names only as text."""

from __future__ import annotations

import io

import numpy as np
import pytest

import torsor as ts
from tests.replay.conftest import EVIL, evil_run


@pytest.fixture(scope="module")
def evil(opened):
    return opened(evil_run())


def picture(seen) -> np.ndarray:
    """Image of the stage while paused; during motion software rendering omits shadows."""
    from PIL import Image

    seen.page.evaluate("""new Promise((done) => {
        const look = () => requestAnimationFrame(document.torsor.stage.fine ? done : look);
        requestAnimationFrame(look);
    })""")
    png = seen.page.locator(".stage").screenshot()
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), float)


def differing(a: np.ndarray, b: np.ndarray) -> int:
    return int((np.abs(a - b).max(axis=-1) > 30).sum())


def seek(seen, t: float) -> None:
    seen.page.locator("#scrub").evaluate("(it, t) => { it.value = t; it.dispatchEvent(new Event('input')) }", t)


def test_robot_is_drawn_and_moves_when_scrubbed(evil):
    seek(evil, 0.0)
    first = picture(evil)
    evil.page.evaluate("document.getElementById('view').hidden = true")
    without = picture(evil)
    evil.page.evaluate("document.getElementById('view').hidden = false")
    seek(evil, 0.5)
    assert differing(first, without) > 400
    assert differing(first, picture(evil)) > 200


PLACES = "() => document.torsor.stage.links.map(({ position: p, quaternion: q }) => [p.x, p.y, p.z, q.x, q.y, q.z, q.w])"


def test_named_configurations_are_a_menu_that_poses_the_robot(opened, evil):
    arm = ts.robots.two_link().with_configuration(f"{EVIL}bent", [0.5, 1.5]).with_configuration("up", [1.5, 0.0])
    seen = opened(arm)
    menu, links = seen.page.locator("#configuration"), seen.page.evaluate("() => document.torsor.stage.film.links")
    assert menu.locator("option").all_text_contents() == ["neutral", *arm.configurations]
    neutral = seen.page.evaluate(PLACES)
    for name in (f"{EVIL}bent", "up"):
        menu.select_option(label=name)
        for link, (*p, _, _, _, _) in zip(links, seen.page.evaluate(PLACES), strict=True):
            assert p == pytest.approx(arm.pose(arm.configuration(name), link)[:3, 3], abs=1e-6)
    menu.select_option(label="neutral")
    np.testing.assert_allclose(seen.page.evaluate(PLACES), neutral, atol=1e-6)
    assert seen.said == []
    assert evil.page.locator("#posed").is_hidden()  # it has none


@pytest.mark.night
def test_menu_of_configurations_interrupts_a_motion_until_time_goes_on(opened):
    dog = ts.robots.quadruped()
    seen = opened(dog.simulate(dog.neutral(), np.zeros(dog.nv), 0.2))
    menu = seen.page.locator("#configuration")
    assert menu.locator("option").first.text_content() == "motion"
    seek(seen, 0.1)
    moving, first = seen.page.evaluate(PLACES), picture(seen)
    menu.select_option(label="standing")
    assert differing(first, picture(seen)) > 200
    seek(seen, 0.1)
    assert menu.input_value() == "-1"
    np.testing.assert_allclose(seen.page.evaluate(PLACES), moving, atol=1e-6)
    assert differing(first, picture(seen)) < first.shape[0] * first.shape[1] / 20
    menu.select_option(label="standing")
    seen.page.locator("#play").click()
    seen.page.locator("#time", has_text="0.20 / 0.20 s").wait_for()
    assert menu.input_value() == "-1"
    assert seen.said == []


def test_playing_moves_time_and_stops_at_the_end(evil):
    seek(evil, 0.9)
    evil.page.keyboard.press(" ")
    evil.page.locator("#time", has_text="1.00 / 1.00 s").wait_for()
    evil.page.wait_for_selector("#play[aria-label=Play]")


def test_software_rendering_is_coarse_in_motion_and_fine_when_paused(evil):
    """Chromium renders in software in these tests."""
    how = "({ stage: s }) => [s.software, s.fine, s.sun.castShadow, s.renderer.getPixelRatio()].join()"
    last = f"requestAnimationFrame(() => done(({how})(document.torsor)))"
    drawn = f"() => new Promise((done) => requestAnimationFrame(() => {last}))"
    seek(evil, 0.2)
    assert evil.page.evaluate(drawn) == "true,false,false,1"
    evil.page.wait_for_timeout(1000)
    assert evil.page.evaluate(drawn) == "true,true,true,2"
    rest = picture(evil)
    seek(evil, 0.2)
    assert differing(rest, picture(evil)) < rest.shape[0] * rest.shape[1] / 20  # smooth edges and a shadow


def test_vertices_are_shared_where_a_surface_is_smooth(evil):
    """Normals have unit length; an ellipsoid has one per vertex, the cylinder of a joint has several along its edges."""
    shapes = evil.page.evaluate("""() => document.torsor.stage.links.flatMap(({ children }) => children).map((it) => {
      const { geometry: g, material: m } = it;
      const n = g.attributes.normal.array, p = g.attributes.position.array, places = new Set(), lengths = [];
      for (let i = 0; i < n.length; i += 3) {
        places.add(p.slice(i, i + 3).join());
        lengths.push(Math.hypot(n[i], n[i + 1], n[i + 2]));
      }
      return { glass: m.transparent, corners: places.size, made: n.length / 3, used: new Set(g.index.array).size,
               low: Math.min(...lengths), high: Math.max(...lengths) };
    })""")
    assert {s["made"] == s["corners"] for s in shapes if s["glass"]} == {True}
    assert any(s["made"] > s["corners"] for s in shapes if not s["glass"])
    assert all(s["made"] == s["used"] for s in shapes)
    assert all(s["low"] > 1 - 1e-6 and s["high"] < 1 + 1e-6 for s in shapes)


def test_keys_step_through_time(evil):
    seek(evil, 0.0)
    for key in ("ArrowRight", "Shift+ArrowRight", "ArrowLeft"):
        evil.page.keyboard.press(key)
    assert evil.page.locator("#time").text_content() == "0.05 / 1.00 s"
    evil.page.keyboard.press("End")
    assert evil.page.locator("#time").text_content() == "1.00 / 1.00 s"


def test_curves_can_be_switched_off(evil):
    ink = "() => [...document.querySelectorAll('.area canvas')].map((c) => c.toDataURL())"
    before = evil.page.evaluate(ink)
    evil.page.locator(".chip").click()
    after = evil.page.evaluate(ink)
    evil.page.locator(".chip").click()
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, False, True]  # energy has no joint curve
    assert evil.page.evaluate(ink) == before


def test_dragging_over_a_plot_scrubs(evil):
    box = evil.page.locator(".area").nth(1).bounding_box()
    evil.page.locator(".area").nth(1).click(position={"x": 46 + (box["width"] - 56) / 2, "y": 50})
    assert evil.page.locator("#time").text_content().startswith("0.50")


def test_replay_readout_shows_the_recorded_value(evil):
    run = evil_run()
    seek(evil, 1.0)
    shown = [float(x) for x in evil.page.locator(".plot:nth-child(1) .value").all_text_contents()]
    assert shown == pytest.approx(run.q[-1], rel=1e-3)


def test_replay_page_shows_names_as_text_everywhere(evil):
    assert evil.page.evaluate("window.hacked") is None
    assert evil.page.locator("img").count() == 0
    assert evil.page.title().startswith("</script>")
    for place, name in (("#name", "robot"), (".chip", "hinge"), (".event", "down"), ("#notes", "tip")):
        assert EVIL + name in evil.page.locator(place).first.text_content()


def test_event_button_goes_to_the_event(evil):
    run = evil_run()
    seek(evil, 0.0)
    evil.page.locator(".event").first.click()
    assert evil.page.evaluate("document.torsor.time") == pytest.approx(run.events[0].t, abs=1e-6)


def test_replay_page_makes_no_requests_and_logs_no_errors(evil):
    assert evil.said == []
    assert evil.asked == [evil.path.as_uri()]


def test_content_policy_blocks_other_scripts(evil):
    """Must run after the test above, since it causes browser errors."""
    evil.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')")
    evil.page.evaluate("const it = document.createElement('script'); it.text = 'window.hacked=2'; document.body.append(it)")
    evil.page.wait_for_timeout(50)
    assert evil.page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in text for text in evil.said)


@pytest.mark.parametrize("robot", ["panda", pytest.param("humanoid", marks=pytest.mark.night)])
def test_replay_page_draws_the_meshes_of_bundled_robots(opened, robot):
    seen = opened(getattr(ts.robots, robot)())
    solid = picture(seen)
    seen.page.evaluate("document.getElementById('view').hidden = true")
    assert differing(solid, picture(seen)) > 3000
    assert seen.said == []
    seen.page.close()


def test_vibrating_beam_changes_the_pixels_of_the_replay(opened, vibration):
    seen = opened(vibration)
    seek(seen, 0.125)
    up = picture(seen)
    seek(seen, 0.375)
    down = picture(seen)
    seek(seen, 0.625)
    assert differing(up, down) > 300
    assert differing(up, picture(seen)) < 20  # one period later
    assert seen.said == []
    seen.page.close()


@pytest.mark.night
def test_distant_small_parts_do_not_change_the_view(opened, panda_run):
    """The fingers of this Panda have no joint forces and fall several metres."""
    seen = opened(panda_run)
    assert np.abs(panda_run.q[:, 7]).max() > 3
    assert seen.page.evaluate("document.torsor.stage.radius") < 2.0
    seen.page.close()


def test_replay_page_fits_a_phone_and_has_dark_colours_and_labels(swing, browser):
    page = browser.new_context(viewport={"width": 390, "height": 700}, color_scheme="dark", reduced_motion="reduce").new_page()
    page.goto(swing.as_uri())
    page.wait_for_selector("body.ready")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 24, 29)"
    assert page.locator(".plot").nth(3).evaluate("(it) => it.getBoundingClientRect().top") > 400  # plots below the robot
    for button in page.locator("button, select, input").all():
        assert button.evaluate("(it) => it.ariaLabel || it.textContent.trim() || it.labels?.[0]?.textContent")
    page.close()


def test_page_without_webgl_shows_plots_and_a_note(swing, browser):
    context = browser.new_context(reduced_motion="reduce")
    only = "return kind === '2d' ? get.call(this, kind, ...rest) : null"
    taken = f"all.getContext = function (kind, ...rest) {{ {only} }}"
    context.add_init_script(f"{{ const all = HTMLCanvasElement.prototype, get = all.getContext; {taken} }}")
    page = context.new_page()
    page.goto(swing.as_uri())
    page.wait_for_selector("body.ready")
    assert "cannot be drawn" in page.locator("#notes").text_content()
    assert page.locator(".plot").count() == 4
    context.close()


def test_ground_of_contacts_takes_the_place_of_the_floor(opened):
    """A level plane is the floor at its height; other ground is drawn, and then there is no floor beside it."""
    dog, floor = (
        ts.robots.quadruped(),
        "() => [document.torsor.stage.grid, document.torsor.stage.ground].map(({ visible }) => visible)",
    )
    level = opened(dog.with_ground(surface=ts.contacts.plane(through=(0, 0, -0.7))))
    picture(level)
    assert level.page.evaluate("() => document.torsor.stage.grid.position.z") == pytest.approx(-0.7)
    assert level.page.evaluate(floor) == [True, True]
    hills = opened(dog.with_ground(surface=ts.contacts.grid([[0, 0.1], [0, 0]], 2.0, at=(-1, -1, -0.5))))
    shown = picture(hills)
    assert hills.page.evaluate(floor) == [False, False]
    world = "document.torsor.stage.links[document.torsor.stage.film.links.indexOf('world')]"
    assert hills.page.evaluate(
        f"() => {world}.children.map(({{ castShadow, receiveShadow }}) => [castShadow, receiveShadow])"
    ) == [[False, True]]
    hills.page.evaluate(f"{world}.visible = false; document.torsor.stage.changed()")
    assert differing(shown, picture(hills)) > 1000
    assert level.said == hills.said == []


def test_arrows_of_contacts_have_the_scale_of_the_weight(opened):
    """A ball at rest: its weight is two units long, and drawn over the ball."""
    from tests.contact import bodies

    ball = bodies.ball(friction=0.5)
    seen = opened(ball.simulate(bodies.at_height(ball, 0.1), np.zeros(6), 0.2))
    seek(seen, 0.1)
    looked = "document.torsor.stage.arrows.map(({ arrow }) => [arrow.visible, arrow.scale.y / document.torsor.stage.reach])"
    found = seen.page.evaluate(looked)
    np.testing.assert_allclose(found, [[True, 2.0]], atol=1e-5)
    assert "robot's weight, 9.81 N" in seen.page.locator("#notes").inner_text()
    assert "external force" not in seen.page.locator("#notes").inner_text()
    assert not seen.said
