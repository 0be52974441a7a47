"""A page looked at in headless Chromium until something on it moves."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any


def seen_moving(address: str, picture: Path, patience: float) -> dict[str, Any]:
    """Seconds until the first picture that is not blank and the first that differs from it; the last one is kept."""
    from playwright.sync_api import sync_playwright

    start = time.perf_counter()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        launched = time.perf_counter()
        page = browser.new_page(viewport={"width": 900, "height": 600})
        page.goto(address, wait_until="load", timeout=patience * 1000)
        first: bytes | None = None
        record: dict[str, Any] = {"browser_start": round(launched - start, 2), "moving": False}
        while time.perf_counter() - start < patience:
            now = page.screenshot()
            if first is None and not _blank(now):
                first = now
                record["seconds_to_drawn"] = round(time.perf_counter() - launched, 2)
            elif first is not None and now != first:
                record |= {"moving": True, "seconds_to_moving": round(time.perf_counter() - launched, 2)}
                break
        time.sleep(0.5)
        picture.write_bytes(page.screenshot())
        browser.close()
    return record


def _blank(png: bytes) -> bool:
    """A picture of one colour compresses to next to nothing."""
    return len(png) < 6000
