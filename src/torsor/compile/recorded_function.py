"""A user's function of scalars as the operations that it records: data, which can be compared, kept and pickled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torsor.compile.program import Argument, Operation, Program, evaluate, flatten, record
from torsor.compile.rules import RECORD
from torsor.errors import ArgumentError
from torsor.scalar import tidy

_HELP = (
    "a function that is recorded may use + − × ÷ and the functions of torsor.scalar (sin, sqrt, where, ...), but no branch on "
    "a value and no function of math or numpy"
)


@dataclass(frozen=True)
class RecordedFunction:
    """The operations of a function of some scalars; equal ones share kernels, also on disk.  ``name`` is used in errors.

    >>> twice = RecordedFunction.of("twice", lambda t: [2 * t, 1])
    >>> twice(3.0), twice == RecordedFunction.of("again", lambda t: [t * 2, 1])
    ([6.0, 1], True)
    """

    name: str = field(compare=False)
    code: tuple[Operation, ...]
    results: tuple[int, ...]

    @classmethod
    def of(cls, name: str, function: Callable[..., Any], inputs: int = 1, outputs: int | None = None) -> RecordedFunction:
        """The operations of a function of so many scalars; one that reads random numbers or a clock is refused."""

        def run(*values: list[Any]) -> dict[str, Any]:
            returned = function(*(x for (x,) in values))
            return {"result": flatten(returned.tolist() if hasattr(returned, "tolist") else returned)[0]}

        arguments = [Argument(f"x{k}", ()) for k in range(inputs)]
        try:
            first, second = (record(run, arguments) for _ in range(2))
        except (TypeError, AttributeError, ValueError) as error:
            raise ArgumentError(f"{name} cannot be recorded: {error}; {_HELP}") from error
        if (first.code, first.results) != (second.code, second.results):
            raise ArgumentError(
                f"{name} gave another result when recorded a second time: it reads random numbers, a clock or a counter, whose "
                "first value would count in every call"
            )
        if outputs is not None and len(first.results) != outputs:
            raise ArgumentError(f"{name} must return {outputs} number{'s' * (outputs != 1)}, not {len(first.results)}")
        return cls(name, first.code, first.results)

    def reads(self, k: int) -> bool:
        """Whether the results depend on scalar k."""
        return ("input", (k,)) in self.code

    def __call__(self, *scalars: Any) -> list[Any]:
        """The results, over any scalar."""
        values = evaluate(Program((), (), self.code, self.results), scalars, RECORD)
        return [tidy(values[k], 0) if self.code[k][0] == "const" else values[k] for k in self.results]
