"""Without the libraries, the adapters say what to install."""

from __future__ import annotations

import sys

import pytest

import torsor as ts
from torsor import adapters


@pytest.mark.parametrize("name", ["casadi", "jax", "torch"])
def test_a_library_that_is_not_there(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)  # import of it then fails
    with pytest.raises(ts.TorsorError, match=f"{name} is not installed.*pip install {name}, or torsor\\[adapters\\]"):
        getattr(adapters, f"{name}_function")(ts.robots.ur5(), "mass_matrix")
