"""Symbolic equations of motion: Lagrange, Kane, closed forms, their LaTeX, Python and C.

SymPy (``pip install '.[symbolic]'``) is imported when the first expression is made; :mod:`torsor.symbolic.forces`, in
numbers, does not need it.
May import every folder up to kernels.
"""

from __future__ import annotations

from torsor.support.lazy import lazy

# two functions have the name of their module, so they are imported here and now: later, the module would hide them
from torsor.symbolic.kane import kane as kane
from torsor.symbolic.lagrange import lagrange as lagrange

#: a name → the module of this package that has it
_HOMES = {
    "KaneBody": "kane",
    "ClosedForm": "closed_form",
    "EquationsOfMotion": "equations",
    "centrifugal_and_coriolis": "forces",
    "change_coordinates": "coordinates",
    "compile_expression": "expression_program",
    "coordinate_symbols": "state_symbols",
    "evaluate": "expression_program",
    "generalized_force": "coordinates",
    "inertia_from_density": "density",
    "is_identical": "expression_trigonometry",
    "kane_of": "kane",
    "lagrange_of": "lagrange",
    "simplify_trigonometry": "expression_trigonometry",
    "passivity_matrix": "forces",
    "point_force": "forces",
    "symbolic": "closed_form",
    "three_index_symbols": "forces",
    "to_program": "expression_program",
    "virtual_work": "coordinates",
}

__all__ = ["kane", "lagrange", *_HOMES]


__getattr__ = lazy(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})


def __dir__() -> list[str]:
    return sorted(__all__)
