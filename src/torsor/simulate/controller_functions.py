"""A controller as users write it: a function over scalars, its arguments found by name, called with recorded scalars."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torsor.compile import Argument
from torsor.compile.arrays import as_rows
from torsor.errors import ArgumentError
from torsor.scalar import Dual, Expr
from torsor.support.user_arrays import as_array

#: arguments of a controller with a fixed meaning; every other argument is a parameter
STATE = ("q", "v", "t", "u", "memory")

_HELP = (
    "a controller is recorded, so it may use + − × ÷, list comprehensions and the functions of torsor.scalar "
    "(sin, sqrt, where, ...), but no branch on a value and no function of math or numpy"
)


def record_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Declare that a controller depends on its arguments and on constants only.

    Without it, a controller is recorded again at each rollout, in case a number that it reads from elsewhere has changed.
    Random numbers are refused either way: they are parameters, ``per_robot_and_step(noise)``.

    >>> @record_once
    ... def brake(v):
    ...     return [-2.0 * x for x in v]
    """
    function.record_once = True  # type: ignore[attr-defined]
    return function


class ScalarVector(np.ndarray):
    """Scalars of any kind as a vector: + − × ÷ act element by element, with numbers, arrays and recorded scalars."""


def _operation(name: str) -> Callable[[ScalarVector, Any], Any]:
    plain = getattr(np.ndarray, name)

    def method(self: ScalarVector, other: Any) -> Any:
        return plain(self, np.array(other, object) if other.__class__ is Expr else other)

    return method


for _word in ("add", "sub", "mul", "truediv"):
    for _side in ("", "r"):
        setattr(ScalarVector, f"__{_side}{_word}__", _operation(f"__{_side}{_word}__"))


def row(scalars: Sequence[Any], shape: tuple[int, ...] | None = None) -> Any:
    """A vector or matrix of scalars; one scalar is itself."""
    if shape == ():
        return scalars[0]
    out = np.empty(len(scalars), object)
    out[:] = scalars
    return (out if shape is None else out.reshape(shape)).view(ScalarVector)


@dataclass(frozen=True, eq=False)
class Controller:
    """A control law with its numbers: a function, its parameters, and its memory at the start.

    ``function`` is over scalars, its arguments some of q, v, t, u (the controls), ``memory`` and the ``parameters``, found by
    name.  It returns the commands (nv).  A parameter is one value for all robots unless wrapped in ``per_robot``, ``per_step``
    or ``per_robot_and_step``; other values need no compilation.  With an initial ``memory`` (n,) or (..., n) the function
    returns (commands, memory of the next step); that of the beginning of the step counts.

    >>> pd = Controller(lambda q, v, kp: [-kp * x - 2 * y for x, y in zip(q, v)], parameters={"kp": 30.0})
    """

    function: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    memory: Any = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            what = ", ".join(STATE)
            raise ArgumentError(f"controller must be a function of {what} and parameters, not {type(self.function).__name__}")
        if not isinstance(self.parameters, Mapping):
            raise ArgumentError(f"parameters must be a dict from names to values, not {type(self.parameters).__name__}")

    @classmethod
    def of(cls, given: Any) -> Controller:
        """A controller as users give it: this class, or a function without parameters."""
        return given if isinstance(given, cls) else cls(given)

    @property
    def start(self) -> np.ndarray:
        """The memory at the start, (..., n); (0,) if there is none."""
        if self.memory is None:
            return np.zeros(0)
        array = as_array("memory", self.memory)
        if array.ndim == 0 or array.shape[-1] == 0:
            raise ArgumentError(f"memory must be an array of n numbers, (n,) or (..., n), not of shape {array.shape}")
        return as_rows(Argument("memory", array.shape[-1:]), array, np.dtype(float))

    def law(self, nv: int, controls: bool) -> ControlLaw:
        """Its law; unknown arguments and unused parameters, such as misspelt names, are errors."""
        name, memory = _name(self.function), self.start.shape[-1]
        arguments = _arguments(self.function, name)
        for argument, needed in arguments.items():
            if needed and argument not in (*STATE, *self.parameters):
                raise ArgumentError(
                    f"controller {name} has an argument {argument!r}, neither one of {', '.join(STATE)} nor in parameters "
                    f"({', '.join(self.parameters) or 'none given'}); write parameters={{{argument!r}: ...}}"
                )
        for parameter in self.parameters:
            if parameter in STATE or parameter not in arguments:
                takes = ", ".join(arguments) or "nothing"
                raise ArgumentError(f"parameters[{parameter!r}] is not an argument of controller {name}, which takes {takes}")
        if arguments.get("u") and not controls:
            raise ArgumentError(f"controller {name} has an argument u, the controls, but no controls are given")
        if controls and "u" not in arguments:
            raise ArgumentError(f"controls are given, but controller {name} has no argument u; add it, or omit controls")
        if arguments.get("memory") and not memory:
            raise ArgumentError(f"controller {name} has an argument memory; give its initial value, memory=np.zeros(n)")
        if memory and "memory" not in arguments:
            raise ArgumentError(f"memory is given, but controller {name} has no argument memory; add it, or omit memory=")
        missing = {word for word, has in (("u", controls), ("memory", memory)) if not has}
        known = {*STATE, *self.parameters} - missing
        return ControlLaw(self.function, tuple(a for a in arguments if a in known), nv, memory)


@dataclass(frozen=True, eq=False)
class ControlLaw:
    """τ as a function of some of q, v, t, u, memory and parameters; ``takes`` are the names of its arguments.

    With a ``memory`` of some size it returns (τ, memory of the next step).
    Laws are equal if their functions are identical or, with a ``program``, if their programs are equal: a closure
    made again is the same law, unless a number in it has changed.
    """

    function: Callable[..., Any]
    takes: tuple[str, ...]
    nv: int
    memory: int = 0
    program: tuple = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ControlLaw) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple:
        return self.program or self.function, self.takes, self.nv, self.memory

    @property
    def name(self) -> str:
        """The function's name in error messages."""
        return _name(self.function)

    @property
    def is_recorded_once(self) -> bool:
        return getattr(self.function, "record_once", False)

    def __call__(self, given: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
        """τ (nv) and the memory of the next step, from scalars by name."""
        try:
            returned = self.function(**{a: given[a] for a in self.takes})
        except (TypeError, AttributeError) as error:
            if not _recording(given):
                raise
            raise ArgumentError(f"controller {self.name} cannot be recorded: {error}; {_HELP}") from error
        if not self.memory:
            return self._check_forces(returned), []
        if not isinstance(returned, (tuple, list)) or len(returned) != 2 or not all(map(_is_vector, returned)):
            raise ArgumentError(f"controller {self.name} has a memory, so it must return the pair (joint forces, memory)")
        tau, after = returned
        if len(after) != self.memory:
            raise ArgumentError(
                f"controller {self.name} returns {len(after)} numbers of memory; it must return as many as memory= has, "
                f"{self.memory}"
            )
        return self._check_forces(tau), self._scalars(after, "memory")

    def _check_forces(self, tau: Any) -> list[Any]:
        if not _is_vector(tau):
            raise ArgumentError(
                f"controller {self.name} must return a list of {self.nv} joint forces, not {type(tau).__name__}"
            )
        if len(tau) != self.nv:
            raise ArgumentError(
                f"controller {self.name} returns {len(tau)} numbers; the robot has {self.nv} degrees of freedom"
            )
        return self._scalars(tau, "joint force")

    def _scalars(self, row: Any, word: str) -> list[Any]:
        for k, x in enumerate(row):
            if not isinstance(x, (Expr, Dual, int, float, np.integer, np.floating)):
                raise ArgumentError(f"controller {self.name} returns {type(x).__name__} as {word} {k}, not a scalar")
            if x.__class__ not in (Expr, Dual) and not math.isfinite(x):
                raise ArgumentError(f"controller {self.name} returns {x} as {word} {k}")
        return [x.item() if isinstance(x, np.number) else x for x in row]


def _is_vector(x: Any) -> bool:
    return isinstance(x, (list, tuple)) or (isinstance(x, np.ndarray) and x.ndim > 0)


def _arguments(function: Callable[..., Any], name: str) -> dict[str, bool]:
    """Argument → whether it is required (has no default)."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(f"controller {name} must be a Python function whose arguments have names") from None
    for p in parameters:
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise ArgumentError(f"controller {name} has an argument {p}; its arguments are found by name, so each needs one")
    return {p.name: p.default is p.empty for p in parameters}


def _recording(given: Mapping[str, Any]) -> bool:
    return any(x.__class__ is Expr for value in given.values() for x in np.ravel(np.asarray(value, object)))


def _name(function: Any) -> str:
    return repr(getattr(function, "__name__", None) or getattr(getattr(function, "func", None), "__name__", "controller"))
