"""SymPy expressions as programs: an expression is evaluated over any scalar, also over the one that records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torsor import scalar as s
from torsor.compile import Argument, Kernel, Program, record
from torsor.errors import ArgumentError
from torsor.kernels.functions import function_kernel
from torsor.symbolic.library import leaves, nested_list, sympy_library

#: functions by the name of their SymPy class
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": s.sin,
    "cos": s.cos,
    "tan": lambda x: s.sin(x) / s.cos(x),
    "cot": lambda x: s.cos(x) / s.sin(x),
    "sec": lambda x: 1 / s.cos(x),
    "csc": lambda x: 1 / s.sin(x),
    "asin": s.asin,
    "acos": s.acos,
    "atan": lambda x: s.atan2(x, 1.0),
    "atan2": s.atan2,
    "exp": s.exp,
    "log": s.log,
    "tanh": s.tanh,
    "sinh": lambda x: (s.exp(x) - s.exp(-x)) * 0.5,
    "cosh": lambda x: (s.exp(x) + s.exp(-x)) * 0.5,
    "Abs": s.absolute,
    "sign": s.sign,
}
#: relations: (first, second, whether equality counts) of a ≤ or <
RELATIONS = {
    "StrictLessThan": lambda a, b: a < b,
    "LessThan": lambda a, b: a <= b,
    "StrictGreaterThan": lambda a, b: b < a,
    "GreaterThan": lambda a, b: b <= a,
}


def evaluate(expression: Any, values: Mapping[Any, Any]) -> Any:
    """The value of a SymPy expression over any scalar of torsor; ``values`` maps each symbol to its scalar.

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y")
    >>> evaluate(sp.sqrt(x**2 + y**2) / 2, {x: 3.0, y: 4.0})
    2.5
    """
    return _Evaluation(values)(sympy_library().sympify(expression))


class _Evaluation:
    """One evaluation; an expression that occurs twice is computed once."""

    def __init__(self, values: Mapping[Any, Any]):
        self.known = dict(values)

    def __call__(self, e: Any) -> Any:
        value = self.known.get(e)
        if value is None:
            value = self.known[e] = self._value(e)
        return value

    def _value(self, e: Any) -> Any:
        if e.is_Integer:
            return int(e)
        if e.is_number and e.is_real and not e.free_symbols:
            return float(e)
        if e.is_Add:
            return self._sum(e)
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(*e.as_base_exp())
        name = type(e).__name__
        if name in FUNCTIONS:
            return FUNCTIONS[name](*map(self, e.args))
        if name in RELATIONS:
            return RELATIONS[name](*map(self, e.args))
        if name in ("Min", "Max"):
            pick = s.minimum if name == "Min" else s.maximum
            first, *rest = map(self, e.args)
            for x in rest:
                first = pick(first, x)
            return first
        if name == "Piecewise" and e.args[-1].cond == True:  # noqa: E712  (SymPy's true)
            value = self(e.args[-1].expr)
            for piece in reversed(e.args[:-1]):
                value = s.where(self(piece.cond), self(piece.expr), value)
            return value
        if e.is_Symbol:
            raise ArgumentError(f"{e} has no value; symbols with a value: {self._names()}")
        raise ArgumentError(f"{e} cannot be computed: {name} is not supported; use {', '.join(sorted(FUNCTIONS))}")

    def _names(self) -> str:
        return ", ".join(sorted(str(x) for x in self.known if x.is_Symbol)) or "none"

    def _sum(self, e: Any) -> Any:
        total: Any = 0
        for term in e.as_ordered_terms():
            k, rest = term.as_coeff_Mul()
            total = total - self(-term) if k.is_negative and rest != 1 else total + self(term)
        return total

    def _product(self, e: Any) -> Any:
        sp = sympy_library()
        k, rest = e.as_coeff_Mul()
        total: Any = 1
        below: Any = 1
        for factor in sp.Mul.make_args(rest):
            base, exponent = factor.as_base_exp()
            if exponent.is_Rational and exponent < 0:
                below = below * self(base**-exponent)
            else:
                total = total * self(factor)
        return total * self(k) / below

    def _power(self, base: Any, exponent: Any) -> Any:
        sp = sympy_library()
        if base is sp.E:
            return s.exp(self(exponent))
        if exponent.is_Integer:
            x = self(base)
            return x ** int(exponent) if exponent > 0 else 1 / x ** int(-exponent)
        if exponent.is_Rational and exponent.q == 2:
            x = s.sqrt(self(base))
            return x ** int(exponent.p) if exponent > 0 else 1 / x ** int(-exponent.p)
        return s.exp(self(exponent) * s.log(self(base)))


def recorder(expressions: Mapping[str, Any], inputs: Mapping[str, Sequence[Any]]) -> Callable[..., dict[str, Any]]:
    """A function of scalars, one flat list per input, that computes the expressions; common parts are computed once (CSE).

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y")
    >>> recorder({"r": [x + y, (x + y) ** 2]}, {"q": [x, y]})([1.0, 2.0])
    {'r': [3.0, 9.0]}
    """
    sp = sympy_library()
    nested = {name: nested_list(e) for name, e in expressions.items()}
    flat = [x for e in nested.values() for x in leaves(e)]
    known = {x for group in inputs.values() for x in group}
    refuse_symbols(sorted({str(x) for e in flat for x in e.free_symbols - known}))
    steps, reduced = sp.cse(flat, order="none")

    def function(*lists: Sequence[Any]) -> dict[str, Any]:
        value = _Evaluation(
            {x: v for group, vs in zip(inputs.values(), lists, strict=True) for x, v in zip(group, vs, strict=True)}
        )
        for name, e in steps:
            value.known[name] = value(e)
        results = iter([value(e) for e in reduced])
        return {name: _fill(e, results) for name, e in nested.items()}

    return function


def refuse_symbols(names: Sequence[str]) -> None:
    """An error if any symbols have no number."""
    if names:
        raise ArgumentError(
            f"{', '.join(names)} {'is a symbol' if len(names) == 1 else 'are symbols'} where a kernel needs numbers; "
            "give them with .with_values({symbol: number})"
        )


def to_program(expressions: Mapping[str, Any], inputs: Mapping[str, Sequence[Any]]) -> Program:
    """The Program of SymPy expressions: ``{name: expression, list or matrix}`` of ``{input: symbols}``.

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y")
    >>> to_program({"z": x * sp.sin(y)}, {"q": [x, y]}).operations
    2
    """
    return record(recorder(expressions, inputs), [Argument(name, (len(group),)) for name, group in inputs.items()])


def compile_expression(expressions: Mapping[str, Any], inputs: Mapping[str, Sequence[Any]], name: str = "expression") -> Kernel:
    """SymPy expressions as machine code: one state or a batch.

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y")
    >>> compile_expression({"z": [x * y, x - y]}, {"q": [x, y]})([[3.0, 2.0], [1.0, 1.0]])
    array([[6., 1.],
           [1., 0.]])
    """
    return function_kernel(name, recorder(expressions, inputs), [Argument(k, (len(x),)) for k, x in inputs.items()])


def _fill(e: Any, results: Any) -> Any:
    return [_fill(part, results) for part in e] if isinstance(e, list) else next(results)
