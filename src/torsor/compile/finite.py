"""Values whose finiteness machine code checks, so that no result is silently NaN or infinite."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from torsor.compile.outline import CALL
from torsor.compile.program import divisors
from torsor.compile.schedule import Code

PARTIAL = frozenset({"div", "sqrt", "log", "asin", "acos"})  # operations that can make a finite value infinite or NaN
#: largest constants with which an overflow shows in the inputs, which are limited to 1e28 (single: 3e8) by the check
_CONSTANTS = {False: 1e28, True: 1e4}


class Checks(NamedTuple):
    """Values whose finiteness is checked; ``by_inputs`` if they are the inputs, scaled up."""

    by_inputs: bool
    values: set[int]


def checks(code: Code, results: Iterable[int], single: bool) -> Checks:
    """Outputs and divisors, or the inputs if these are fewer and moderate inputs cannot overflow.

    The inputs are used only for programs without divisions and large constants.
    """
    outputs = {r for r in results if code[r][0] != "const"}
    inputs = {v for v, (op, _) in enumerate(code) if op == "input"}
    partial = any(op in PARTIAL or op.startswith(CALL) for op, _ in code)
    large = any(op == "const" and abs(args[0]) > _CONSTANTS[single] for op, args in code)
    if not partial and not large and len(outputs) > len(inputs):
        return Checks(True, inputs)
    return Checks(False, outputs | divisors(code))


def scale(single: bool) -> float:
    """The factor of inputs that are checked: a finite input large enough to overflow in a later operation overflows by it."""
    return 1e30 if single else 1e280
