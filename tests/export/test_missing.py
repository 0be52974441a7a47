"""Without their libraries, the adapters name the extra to install."""

from __future__ import annotations

import sys

import pytest

import torsor as ts
from torsor import adapters


@pytest.mark.parametrize("name", ["casadi", "jax", "torch"])
def test_adapter_without_its_library_names_the_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)  # importing it then fails
    with pytest.raises(ts.MissingExtra, match=f"{name}_function needs {name}, .*pip install '.\\[adapters\\]'"):
        getattr(adapters, f"{name}_function")(ts.robots.ur5(), "mass_matrix")
