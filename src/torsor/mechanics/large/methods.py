"""Methods of forward dynamics, by name."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import Any

from torsor.errors import UnknownName

#: name → "module:function" with the signature function(tree, q, v, tau) -> a; imported on first use
METHODS = {
    "aba": "torsor.mechanics.large.recursions:forward_dynamics",
    "constraint_force": "torsor.mechanics.large.constraint_force:constraint_force",
    "constraint_force_sequential": "torsor.mechanics.large.constraint_force:constraint_force_sequential",
    "divide_and_conquer": "torsor.mechanics.large.divide_and_conquer:divide_and_conquer",
    "sparse": "torsor.mechanics.large.sparse:forward_dynamics",
}


def forward_dynamics(method: str) -> Callable[..., Any]:
    """The function behind a name of :data:`METHODS`."""
    if method not in METHODS:
        raise UnknownName("method=", method, METHODS)
    return resolve_name(METHODS[method])
