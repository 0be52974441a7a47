"""Quantity: one row of a table, a result and the algorithms that compute it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from inspect import signature
from typing import Any, NamedTuple

from torsor.algorithms.equation.at import Inputs
from torsor.compile import Argument

#: largest number of degrees of freedom at which alternative algorithms are recorded, to choose the shortest
FEW = 20
#: options of quantities that sum over links; None, or False, is as if not given
PART = ("below", "moving", "links")


class Quantity(NamedTuple):
    """``function(subject, *inputs, **words)`` over any scalar: a result, or, with ``outputs``, as many as they name.

    ``inputs`` are the arrays it reads, or a function of subject and words that makes their arguments.  ``words`` are the names
    of the further arguments that a spec may give, in order.  ``alternatives`` are other algorithms for the same result: a
    kernel uses the one with the fewest operations up to ``few`` degrees of freedom, and ``function`` above.  A spec with the
    word "route" or "method" selects the algorithm itself.
    ``joint_space`` results do not depend on the link to which mass on the axis of a revolute joint is assigned, so kernels are
    recorded from the model with fewest inertial parameters (:mod:`torsor.model.regrouping`).
    Functions of results that ``follows_terms`` have the :class:`~torsor.algorithms.equation.EquationOfMotion` as subject, the
    others its tree, on a base that moves as a term says where the result is ``in_world``.
    A robot with a part that lacks its ``capability`` (:mod:`torsor.model.terms.capabilities`) has no kernel for the result.
    ``inverse_of`` is the quantity, of the same inputs, whose inverse is the result: a kernel needs only that one.
    ``configurations`` are the outputs that are configurations ("" the only one): derivatives of these are velocities.
    ``implicit(kernels, spec, choice)`` makes the derivative of a result that is the solution of an equation, from that equation
    (:mod:`torsor.kernels.implicit`).  ``checks`` are the last outputs if these are checks of the others: they are
    not differentiated, and a derivative has them too.
    ``no_derivative`` is the reason why a result has none, if so.
    ``lenient`` kernels return results that are not finite; the caller checks them.
    ``empty`` is the shape of each output of a robot without joints, where nested lists have no numbers to show it: (0, 0).
    """

    inputs: tuple[str, ...] | Callable[..., Sequence[Argument]]
    function: Callable[..., Any]
    words: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    alternatives: tuple[Callable[..., Any], ...] = ()
    few: int = FEW
    joint_space: bool = False
    follows_terms: bool = False
    in_world: bool = False
    capability: str = ""
    inverse_of: str = ""
    configurations: tuple[str, ...] = ()
    implicit: Callable[..., Any] | None = None
    checks: tuple[str, ...] = ()
    no_derivative: str = ""
    lenient: bool = False
    empty: tuple[int, ...] = ()


class Table(dict[str, Quantity]):
    """Quantities by name.  It is pickled as the name of the module's variable that holds it, ``path`` "module:variable".

    ``title`` is a prefix of the names of its kernels; ``symbols`` is the advice in errors about models with symbols.
    """

    def __init__(
        self,
        path: str,
        rows: Mapping[str, Quantity],
        title: str = "",
        symbols: str = "torsor.algorithms take them: crba(robot.model, q)",
    ):
        super().__init__(rows)
        self.__module__, self._variable = path.split(":")
        self.title, self.symbols = title, symbols

    def __reduce__(self) -> Any:
        return self._variable


def takes(function: Callable[..., Any], word: str) -> bool:
    """Whether a function has a parameter of that name, or ``inputs`` that have it."""
    return word in _parameters(function)


def gather_inputs(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a call of a function: those of :class:`Inputs` as one value if the function has ``inputs``."""
    if not takes(function, "inputs"):
        return dict(options)
    given = {word: x for word, x in options.items() if word in Inputs._fields}
    return {word: x for word, x in options.items() if word not in given} | {"inputs": Inputs(**given)}


@lru_cache(maxsize=256)
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    own = frozenset(signature(function).parameters)
    return own.union(Inputs._fields) if "inputs" in own else own
