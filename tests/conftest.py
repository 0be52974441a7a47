"""Shared by all tests: a separate kernel cache, deterministic Hypothesis profiles, and rare garbage collection."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import hypothesis
import pytest

#: in memory if /dev/shm exists: the suite stores every kernel that it compiles
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
os.environ.setdefault("TORSOR_CACHE", os.path.join(MEMORY, f"torsor-tests-{os.getuid()}"))

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # otherwise every process started by a test compiles torsor's source again

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell without job control ignore SIGINT

hypothesis.settings.register_profile("fast", max_examples=8, deadline=None, derandomize=True)
# the same examples at each run, so that the result does not depend on luck; TORSOR_NIGHT=random draws new ones
hypothesis.settings.register_profile("night", max_examples=500, deadline=None, derandomize=True)
hypothesis.settings.register_profile("random", max_examples=500, deadline=None, print_blob=True)
PROFILES = {"": "fast", "random": "random"}
hypothesis.settings.load_profile(PROFILES.get(os.environ.get("TORSOR_NIGHT", ""), "night"))


#: slow variants of tests whose other variants, or neighbours, are in the fast suite
NIGHT = frozenset(Path(__file__).with_name("night.txt").read_text(encoding="utf-8").splitlines())


#: the longest tests of the night, minutes each: they begin first, so that no worker waits for them at the end
LONGEST = (
    "test_many_fuzzed_files_load_or_raise_a_typed_error_within_3_gb",
    "test_relations_hold_on_ten_thousand_trees",
    "test_evaluations_and_relations_pass_for_every_target",
)


def pytest_collection_modifyitems(config, items):
    if os.environ.get("TORSOR_NIGHT"):
        items.sort(key=lambda item: item.originalname not in LONGEST)
        return
    skip = pytest.mark.skip(reason="the long suite: make test-all")
    for item in items:
        if item.get_closest_marker("night") or item.nodeid in NIGHT:  # keywords have the names of folders too
            item.add_marker(skip)


def pytest_collection_finish():
    """A recording has a hundred thousand small objects without cycles; garbage collection took a quarter of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.fixture(scope="module")  # session scope would keep Playwright's event loop running during other tests
def browser():
    """Headless Chromium with a dead proxy: requests to other machines fail and are visible."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert found, "the tests of the pages need Chromium: `make browser` installs it (apt-get install chromium)"
    gl = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    away = ["--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=127.0.0.1;localhost"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", *gl, *away])
        yield started
        started.close()
