"""Replay pages of several robots, and one browser for all of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import torsor as ts
from torsor import replay
from torsor.flexible import beam
from torsor.robot.builder import Builder
from torsor.simulate import Result

EVIL = '</script><img src=x onerror="window.hacked=1">&\u2028'


def evil_run():
    """A pendulum whose names are HTML with scripts, with an external wrench and an event."""
    arm = (
        Builder(f"{EVIL}robot")
        .link("base")
        .link(f"{EVIL}rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.01))
        .joint(f"{EVIL}hinge", "revolute", "base", f"{EVIL}rod", axis=(0, 1, 0))
        .frame(f"{EVIL}tip", f"{EVIL}rod", xyz=(0, 0, -1))
        .build()
    )
    down = ts.simulate.Event(lambda t, q, v: q[0], name=f"{EVIL}down")
    return arm.simulate([1.0], [0.0], 1.0, wrenches={f"{EVIL}tip": [0, 0, 0, 2, 0, 0]}, events=down)


@pytest.fixture(scope="session")
def panda_run():
    arm = ts.robots.panda()
    return arm.with_damping(True).simulate([0, -0.6, 0, -2, 0, 1.5, 0.7, 0.02], np.zeros(arm.nv), 5.0)


@pytest.fixture(scope="session")
def vibration():
    """Joints at rest, and a beam that vibrates at 2 Hz."""
    arm = ts.robots.two_link().with_beams({"link1": beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(1, 0, 0))})
    t, w = np.linspace(0, 1, 101), 4 * np.pi
    q, v = (np.stack((0 * t, 0 * t, y), axis=-1) for y in (0.1 * np.sin(w * t), 0.1 * w * np.cos(w * t)))
    return Result(t, q, v, 0 * v, robot=arm)


@pytest.fixture(scope="session")
def swing(tmp_path_factory):
    """A page without meshes, on disk."""
    run = ts.robots.two_link().simulate([0.5, 0.0], [0.0, 0.0], 0.5)
    return replay.write(run, tmp_path_factory.mktemp("page") / "swing.html")


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """``opened(shown)`` opens the replay page from disk, paused, with the console messages and requests of the browser."""

    def look(shown, **how):
        path = replay.write(shown, tmp_path_factory.mktemp("page") / "replay.html", **how)
        context = browser.new_context(viewport={"width": 900, "height": 480}, reduced_motion="reduce")
        page, said, asked = context.new_page(), [], []
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("body.ready")
        return SimpleNamespace(page=page, said=said, asked=asked, path=path)

    return look
