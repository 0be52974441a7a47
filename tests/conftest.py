"""Shared by all tests: a cache of our own, and deterministic Hypothesis profiles."""

from __future__ import annotations

import os
import tempfile

import hypothesis
import pytest

os.environ.setdefault("TORSOR_CACHE", os.path.join(tempfile.gettempdir(), f"torsor-tests-{os.getuid()}"))

hypothesis.settings.register_profile("fast", max_examples=15, deadline=None, derandomize=True)
hypothesis.settings.register_profile("night", max_examples=500, deadline=None)
hypothesis.settings.load_profile("night" if os.environ.get("TORSOR_NIGHT") else "fast")


def pytest_collection_modifyitems(config, items):
    if os.environ.get("TORSOR_NIGHT"):
        return
    skip = pytest.mark.skip(reason="the long suite: make test-all")
    for item in items:
        if "night" in item.keywords:
            item.add_marker(skip)
