"""Methods that become machine code the first time they are looked up."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from torsor.errors import TorsorError

P = ParamSpec("P")
R = TypeVar("R")


class kernel_method(Generic[P, R]):
    """Turns a careful method into one whose common call is a built-in function.

    The decorated method is the documentation, the signature and the careful path.  On first use the kernel of the same name
    is compiled and a built-in function is put into the instance's ``__dict__``, where attribute look-up finds it before this
    descriptor: from then on ``robot.inverse_dynamics(q, v, a)`` runs no Python code at all.
    """

    def __init__(self, method: Callable[Concatenate[Any, P], R]):
        self.method = method
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
        try:
            fast = robot.kernel(self.name).builtin(self.name, self._documentation(), careful)
        except TorsorError:
            return careful  # looking a method up is no reason to fail; calling it raises this again
        robot.__dict__[self.name] = fast
        return fast

    def _documentation(self) -> str:
        """The docstring behind a signature line, which is where Python looks for a built-in function's signature."""
        parameters = list(inspect.signature(self.method).parameters.values())[1:]
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
        return f"{self.name}{inspect.Signature(bare)}\n--\n\n{inspect.cleandoc(self.__doc__ or '')}"
