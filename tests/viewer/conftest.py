"""A robot whose names are markup, its viewer page, and a browser: one of each for all tests of the page."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import torsor as ts
from torsor.robot.builder import Builder

EVIL = '<img src=x onerror="window.hacked=1">'


def evil_arm():
    """Two links and two revolute joints; every name is HTML with a script."""
    built = (
        Builder(f"{EVIL}robot")
        .link("base")
        .link(f"{EVIL}link1", mass=1.0, com=(0, 0, 0.5), inertia=(0.02, 0.02, 0.01))
        .link(f"{EVIL}link2", mass=0.5, com=(0, 0, 0.5), inertia=(0.02, 0.02, 0.01))
        .joint(f"{EVIL}one", "revolute", "base", f"{EVIL}link1", axis=(0, 1, 0), lower=-2, upper=2)
        .joint(f"{EVIL}two", "revolute", f"{EVIL}link1", f"{EVIL}link2", axis=(0, 1, 0), xyz=(0, 0, 1))
        .frame(f"{EVIL}tip", f"{EVIL}link2", xyz=(0, 0, 1))
    )
    return built.build()


@pytest.fixture(scope="module")
def shown(browser):
    """``viewer``, its ``page`` in the browser, and the console messages and requests of the browser."""
    from torsor.look.viewer import view

    robot = evil_arm()
    viewer = view(robot, [0.4, -0.8], open=False)
    page = browser.new_page(viewport={"width": 860, "height": 420}, device_scale_factor=0.5)
    said, asked = [], []
    page.on("console", lambda message: said.append((message.type, message.text)))
    page.on("pageerror", lambda error: said.append(("error", str(error))))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(viewer.url)
    page.wait_for_selector("canvas")
    page.get_by_text("Joints", exact=True).first.wait_for()
    yield SimpleNamespace(viewer=viewer, robot=robot, page=page, said=said, asked=asked)
    page.close()
    viewer.close()


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()
