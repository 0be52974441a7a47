"""Shared by the tests of compat: numbers, and both ways a recorded function is computed."""

from __future__ import annotations

import numpy as np
import pytest

import torsor.compat.modern_robotics as mr
from torsor.compat.modern_robotics import chain, recorded


@pytest.fixture
def rng(request):
    return np.random.default_rng(len(request.node.name))


@pytest.fixture(params=[10**9, 0], ids=["over floats", "as kernels"])
def patience(request, monkeypatch):
    """Both ways a recorded function is computed."""
    _forget()
    monkeypatch.setattr(recorded, "PATIENCE", request.param)
    yield
    _forget()


def _forget():
    chain._chain.cache_clear()
    mr.kinematics._recorded.cache_clear()
