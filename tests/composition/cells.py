"""Cells: a method of the machine with one feature or two; their outcomes, and the cells that have no meaning."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tests.composition.case import Refused, case_of
from tests.composition.features import FEATURES
from tests.composition.methods import METHODS
from tests.composition.more_methods import MORE_METHODS
from torsor.errors import TorsorError
from torsor.model.terms.capabilities import TABLE

Features = tuple[str, ...]
ALL_METHODS = METHODS | MORE_METHODS

_CALLS = ("wrench", "wrench of time", "wrench per robot", "controller parameters")
_INSTANTS = tuple(name for name, m in ALL_METHODS.items() if m.kind == "instant" and name not in ("URDF", "MJCF"))
#: methods, features and the reason why these cells have no meaning
MEANINGLESS = (
    (("M, h, g", "symbolic", "verify", "URDF", "MJCF"), _CALLS, "it belongs to a call, not to the robot"),
    (_INSTANTS, ("controller parameters",), "a controller acts over time"),
    (_INSTANTS, ("sensor",), "a sensor does not change the motion; it is read where there is a motion"),
    (
        ("simulate", "simulate, adaptive", "simulate, events", "replay", "explain", "symbolic", "verify", "URDF", "MJCF"),
        ("float32",),
        "computed in double precision",
    ),
    (
        tuple(name for name, m in ALL_METHODS.items() if m.kind not in ("rollout", "simulate")),
        ("varied constants",),
        "vary= is an argument of rollouts and simulations; parameters as inputs of other methods come with identification",
    ),
)


#: method → the capability that it needs
CAPABILITY = {
    **dict.fromkeys(("vjp", "jvp", "derivatives", "linearize"), "derivatives"),
    "symbolic": "symbols",
}
#: why files do not hold a feature, so that saving it warns and the machine read back differs
OF_FILES = "the format has no place for it, and `ts.save` warns"


def reason(feature: str, method: str) -> str:
    """Why a single cell is refused: from torsor's table of capabilities, or because a file has no place for the feature."""
    return OF_FILES if method in ("URDF", "MJCF") else TABLE[feature][CAPABILITY[method]]


def cells(size: int) -> Iterator[tuple[Features, str]]:
    """All cells with meaning of one feature and any method, or of two features and the methods of pairs."""
    for features in combinations(FEATURES, size):
        yield from ((features, method) for method in (METHODS if size > 1 else ALL_METHODS) if has_meaning(features, method))


def has_meaning(features: Features, method: str) -> bool:
    """Of pairs, only the cells in which constants vary have none: the other reasons are of single features."""
    rows = MEANINGLESS if len(features) == 1 else MEANINGLESS[-1:]
    return not any(method in methods and set(features) & set(named) for methods, named, _ in rows)


def outcome(features: Features, method: str) -> str:
    """ "works", or the error by which torsor refuses the cell; a wrong result or an untyped error is raised."""
    row = ALL_METHODS[method]
    try:
        case = case_of([FEATURES[name] for name in features])
        case.check_said(row.kind)
        row.check(case)
    except (Refused, TorsorError) as error:
        return f"{type(error).__name__}: {error}"
    return "works"
