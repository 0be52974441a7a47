"""Fixtures of the compat tests: random numbers, and both ways to compute a function (over floats, as kernels)."""

from __future__ import annotations

import numpy as np
import pytest

import torsor.bridges.modern_robotics as mr
from torsor.bridges.modern_robotics import chain


@pytest.fixture
def rng(request):
    return np.random.default_rng(len(request.node.name))


@pytest.fixture(params=[10**9, 0], ids=["over floats", "as kernels"])
def patience(request, monkeypatch):
    """Compute functions of compat over floats, then as kernels."""
    _forget()
    monkeypatch.setattr("torsor.bridges.modern_robotics.patience.PATIENCE", request.param)
    yield
    _forget()


def _forget():
    chain._chain.cache_clear()
    mr.kinematics._kernel.cache_clear()
