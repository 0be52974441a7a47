"""Make docs/images/viewer.png again, in headless Chromium: ``python docs/screenshots.py`` (the extra `test`, `make browser`).

``python docs/screenshots.py phone.png 390 844`` photographs another window, for a look at it.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import numpy as np

import torsor as ts
from torsor.look.viewer import view

#: the Panda that holds against a pull at its tool [rad, m; N]
Q = [0.2, -0.5, 0.1, -2.0, 0.1, 1.6, 0.8, 0.03]
FORCE = np.array([60.0, 60.0, 40.0])
FRAME, EXPLAINED = "panda_hand_tcp", "panda_joint2"


def main(path: str | Path = Path(__file__).parent / "images" / "viewer.png", width: str = "1280", height: str = "720") -> None:
    """Draw the viewer's page and write it as a PNG of 256 colours."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with view(ts.robots.panda(), Q, open=False) as viewer, sync_playwright() as play:
        viewer.do(lambda: viewer.session.__dict__.update(frame=FRAME, force=FORCE))
        viewer._page.forces.explain.value = EXPLAINED
        for layer in ("Centre of mass", "Mass at the frame"):
            viewer.do(viewer._page.drawing.toggle, layer, True)
        options = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        page = browser.new_page(viewport={"width": int(width), "height": int(height)})
        page.goto(viewer.url)
        page.wait_for_selector("canvas")
        page.get_by_text("Software WebGL").locator("xpath=../..").locator("button").click(timeout=60_000)  # viser's warning
        time.sleep(20.0)  # a software renderer draws a few images per second
        page.screenshot(path=str(path))
        browser.close()
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
