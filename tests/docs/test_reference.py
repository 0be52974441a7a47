"""The reference states equations and units of methods; names in the pages link to their definition."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from torsor import Robot
from torsor.kernels.quantities import QUANTITIES

COMPUTED = [name for name in QUANTITIES if hasattr(Robot, name)]
#: an equation, or ⊕ and ⊖ of the manifold
EQUATION = re.compile("[=⊕⊖]")
#: [N·m], ``(nv, nv)`` in the units of another, dt [s]
UNITS = re.compile(r"\[[^\]]*(?:m|N|s|kg|rad|J)\b[^\]]*\]|\bunits? of\b|second")


@pytest.mark.parametrize("name", COMPUTED)
def test_quantity_docstrings_have_equation_and_units(name):
    said = inspect.getdoc(inspect.getattr_static(Robot, name)) or ""
    assert EQUATION.search(said), f"Robot.{name}: no equation in {said!r}"
    if name not in WITHOUT_UNITS:
        assert UNITS.search(said), f"Robot.{name}: no units in {said!r}"


#: methods whose units are those of their arguments
WITHOUT_UNITS = {"configuration_rate", "jacobian_rate"}


@pytest.fixture(scope="module")
def names():
    pytest.importorskip("sphinx", reason="the docs extra is not installed")
    docs = str(Path(__file__).parents[2] / "docs")
    sys.path.insert(0, docs)
    try:
        from extensions.crosslinks import Names
    finally:
        sys.path.remove(docs)
    kinds = {
        "torsor.load": "function",
        "torsor.Robot": "class",
        "torsor.Robot.rollout": "method",
        "torsor.ClosureError": "exception",
        "torsor.rigid.box": "function",
        "torsor.flexible.box": "function",
        "torsor.rigid.cone": "function",
        "torsor.compile.forward": "function",
        "torsor.model.part_views.JointView.damping": "attribute",
    }
    places = {full: SimpleNamespace(objtype=kind, aliased=False) for full, kind in kinds.items()}
    places["torsor.errors.ClosureError"] = SimpleNamespace(objtype="exception", aliased=True)
    return Names(SimpleNamespace(domains={"py": SimpleNamespace(data={"objects": places})}))


@pytest.mark.night  # importing Sphinx is slow
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("robot.rollout", "torsor.Robot.rollout"),
        ("robot.rollout(q0, v0, dt=1e-3)", "torsor.Robot.rollout"),
        ('ts.load("robot.urdf")', "torsor.load"),
        ("torsor.rigid.box", "torsor.rigid.box"),
        ("ClosureError", "torsor.ClosureError"),  # although autodoc has two names for it
        ("cone(radius, height)", "torsor.rigid.cone"),
        ("box(x, y, z)", None),  # ambiguous: there are two
        ("forward", None),  # could be a direction
        ("damping", None),  # an attribute's name is an ordinary word
        ("arm.rollout", None),
        ("q[:7]", None),
    ],
)
def test_name_in_a_page_links_to_its_unique_target(names, written, meant):
    assert names.full_name(written) == meant
