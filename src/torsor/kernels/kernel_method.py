"""Methods that become machine code the first time they are called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from torsor.compile import entry
from torsor.compile.layout import SignatureInfo
from torsor.kernels.replaced import name_replacements
from torsor.support.locks import cached_property

P = ParamSpec("P")
R = TypeVar("R")

#: annotations of parameters that are inputs of the kernel, or may be; of options that select a kernel
INPUTS, OPTIONAL, WORDS = ("ArrayLike",), ("ArrayLike | None",), ("str", "str | None", "bool", "bool | None")
#: annotations of dicts, whose keys select a kernel and whose values are inputs of it, and of lists of names that select one
BY_FRAME = ("Wrenches | None", "Sequence[str] | None")


def kernel_method_of(
    result: type | None = None, guards: Mapping[str, float] | None = None
) -> Callable[[Callable[Concatenate[Any, P], R]], kernel_method[P, R]]:
    """A :class:`kernel_method` with several results, a NamedTuple class, or with guards.

    ``guards={output: limit}`` are the last outputs of the kernel, one number each, which are not returned: if one is not below
    its limit, the Python method is called.
    """
    return partial(kernel_method, result=result, guards=guards)


class kernel_method(Generic[P, R]):
    """Turns a Python method into one whose common call is a built-in function.

    The decorated method has the documentation, the signature and the checks.  Looking it up puts a built-in function into
    the instance's ``__dict__``, which the next lookup finds before this descriptor; this does not compile.  The first call
    compiles the kernel that ``robot._kernel_for(name, **words)`` returns; from then on ``robot.inverse_dynamics(q, v, a)`` runs
    no Python code at all.  Words are parameters such as ``frame`` and ``damping``, whose annotations are among ``WORDS``;
    of ``wrenches={"frame": F}`` the frames are words, as a tuple, and of ``links=["foot"]`` the links.  An array that may be
    None, such as ``at``, is a further input where it is given, and the word ``PRESENT`` (:mod:`torsor.compile.layout`).

    ``result`` and ``guards`` are those of :meth:`torsor.compile.Kernel.builtin`, for every kernel that may be chosen;
    calls that the kernel does not support run the decorated method.
    """

    def __init__(
        self,
        method: Callable[Concatenate[Any, P], R],
        result: type | None = None,
        guards: Mapping[str, float] | None = None,
    ):
        self.method, self.result, self.guards = name_replacements(method), result, guards
        self.name = method.__name__
        self.__doc__ = method.__doc__
        self.__wrapped__ = method

    @overload
    def __get__(self, robot: None, owner: type) -> Callable[Concatenate[Any, P], R]: ...
    @overload
    def __get__(self, robot: object, owner: type) -> Callable[P, R]: ...
    def __get__(self, robot: Any, owner: type) -> Any:
        if robot is None:
            return self.method
        careful = self.method.__get__(robot)
        if not entry.available():
            return careful

        def choose(words: dict[str, Any]) -> Any:
            return robot._kernel_for(self.name, **words)

        made = entry.Entry(careful, self._signature, choose, self.result, self.guards)
        return robot.__dict__.setdefault(self.name, made.builtin(self.name, self._documentation))

    @cached_property
    def _parameters(self) -> list[inspect.Parameter]:
        """The parameters after ``self``."""
        return list(inspect.signature(self.method).parameters.values())[1:]

    @cached_property
    def _signature(self) -> SignatureInfo:
        """The parameters as machine code reads them."""
        given = [p for p in self._parameters if p.name != "out"]
        return SignatureInfo(
            [p.name for p in given],
            inputs=sum(p.annotation in INPUTS for p in given),
            positional=sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in given),
            defaults={p.name: p.default for p in given if p.default is not p.empty},
            choosing=[p.name for p in given if p.annotation in WORDS],
            by_frame=next((p.name for p in given if p.annotation in BY_FRAME), ""),
            takes_out=len(given) < len(self._parameters),
            optional=[p.name for p in given if p.annotation in OPTIONAL],
        )

    @cached_property
    def _documentation(self) -> str:
        """The docstring after a signature line, from which Python reads the signature of a built-in function."""
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in self._parameters]
        return f"{self.name}{inspect.Signature(bare)}\n--\n\n{inspect.cleandoc(self.__doc__ or '')}"


class quantity_method(kernel_method[P, R]):
    """A :class:`kernel_method` without statements of its own: it runs the kernel of the quantity that has its name.

    Its arrays are the inputs, optional arrays that are given are further ones, and all other parameters are options.
    """

    def __init__(self, method: Callable[Concatenate[Any, P], R], result: type | None = None):
        @wraps(method)
        def run(robot: Any, *values: Any, **named: Any) -> Any:
            method(robot, *values, **named)  # a TypeError unless the arguments fit
            signature = self._signature
            given = {**signature.defaults, **dict(zip(signature.order, values, strict=False)), **named}
            inputs = tuple(given.pop(name) for name in signature.order[: signature.inputs])
            optional = {name: given.pop(name) for name in signature.order if name in signature.extra and name != "time"}
            extra = {name: x for name, x in optional.items() if x is not None}
            found = robot._run(self.name, inputs, extra=extra, **given)
            return found if result is None else result(*found)

        super().__init__(run, result)


def quantity_method_of(result: type) -> Callable[[Callable[Concatenate[Any, P], R]], quantity_method[P, R]]:
    """A :class:`quantity_method` with several results, a NamedTuple class."""
    return partial(quantity_method, result=result)
