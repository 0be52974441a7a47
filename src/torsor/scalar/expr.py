"""Recorded scalars: expressions as nodes of a graph.

An :class:`Expr` is a node of a :class:`Graph`.  Equal nodes are one node (hash-consing), constants fold, and the
algebra of 0, 1 and minus signs is applied while recording: a robot's zero offsets and right angles vanish here.
A constant result is returned as a plain Python number, so everything downstream of a structural zero is free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from torsor.scalar.scalar import is_constant

Number = int | float

UNARY: dict[str, Callable[[float], float]] = {
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tanh": math.tanh,
    "exp": math.exp,
    "log": math.log,
    "sign": lambda a: float(a > 0) - float(a < 0),
    "asin": math.asin,
    "acos": math.acos,
}
BINARY: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "min": min,
    "max": max,
    "atan2": math.atan2,
    "lt": lambda a, b: float(a < b),
    "le": lambda a, b: float(a <= b),
    "eq": lambda a, b: float(a == b),
}
COMMUTATIVE = frozenset({"add", "mul", "min", "max", "eq"})


class Graph:
    """The nodes of one recording.  ``graph.input(k)`` is the k-th input; arithmetic on it adds nodes.

    ``rays`` are groups of inputs whose common factor has no effect on any result (quaternions): see :func:`torsor.scalar.ray`.
    ``inverses`` are pairs of a matrix and its recorded inverse, ``solutions`` are (A, B, X) with A X = B: see
    :func:`torsor.scalar.note_inverse` and :func:`torsor.scalar.note_solution`.
    ``stretches`` are functions that occur several times, and ``recording`` is True inside one; ``repeat``, if there is one,
    records such a function in another way than by copies: see :func:`torsor.scalar.repeatable`.
    """

    __slots__ = ("__weakref__", "inverses", "nodes", "rays", "recording", "repeat", "solutions", "stretches", "table")

    def __init__(self) -> None:
        self.inverses: list[tuple[Any, Any]] = []
        self.solutions: list[tuple[Any, Any, Any]] = []
        self.rays: dict[tuple[int, ...], None] = {}  # a set that keeps its order
        self.nodes: list[Expr] = []
        self.stretches: list[Any] = []
        self.recording = False
        self.repeat: Callable[[Callable[..., list[Any]], Sequence[Sequence[Any]]], list[Any]] | None = None
        self.table: dict[tuple[Any, ...], Expr] = {}

    def clear(self) -> None:
        """Forget all nodes: each refers to the graph, so together they would wait for garbage collection."""
        for part in (self.inverses, self.solutions, self.nodes, self.stretches, self.table):
            part.clear()
        self.repeat = None

    def input(self, k: int) -> Expr:
        return self.node("input", (k,), (k,))

    def constant(self, value: Number) -> Expr:
        value = float(value)
        return self.node("const", (value,), (value, math.copysign(1.0, value)))

    def node(self, op: str, args: tuple[Any, ...], key: tuple[Any, ...]) -> Expr:
        key = (op, *key)
        found = self.table.get(key)
        if found is None:
            found = Expr(self, op, args, len(self.nodes))
            self.table[key] = found
            self.nodes.append(found)
        return found

    def lift(self, x: Any) -> Expr:
        """The node of a number or of an Expr of this graph."""
        if x.__class__ is Expr:
            if x.graph is not self:
                raise TypeError("two recordings are being mixed: these Exprs come from different graphs")
            return x
        return self.constant(x)

    def apply(self, op: str, *args: Any) -> Expr:
        """A node without algebra: the operands as they are."""
        nodes = tuple([a if a.__class__ is Expr and a.graph is self else self.lift(a) for a in args])
        if op in COMMUTATIVE and nodes[0].index > nodes[1].index:
            nodes = nodes[::-1]
        return self.node(op, nodes, tuple([n.index for n in nodes]))


class Expr:
    """One recorded scalar; behaves like a float in arithmetic.

    >>> x = Graph().input(0)
    >>> 0 * x, (1 * x) is x, x - x
    (0, True, 0)
    """

    __slots__ = ("args", "graph", "index", "op")
    __array_ufunc__ = None  # numpy scalars and arrays defer to the methods below

    def __init__(self, graph: Graph, op: str, args: tuple[Any, ...], index: int):
        self.graph, self.op, self.args, self.index = graph, op, args, index

    # -- arithmetic: each result is an Expr, or the plain number that it folds to ------------------------------

    def __add__(self, other: Any) -> Any:
        if other.__class__ is Expr:
            if other.op == "neg":
                return self - other.args[0]
        elif not is_constant(other):
            return NotImplemented
        elif other == 0:
            return self
        if self.op == "neg":
            return other - self.args[0]
        return self.graph.apply("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if other is self:
            return 0
        if other.__class__ is Expr:
            if other.op == "neg":
                return self + other.args[0]
            if self.op == "neg":
                return -(self.args[0] + other)
            return self.graph.apply("sub", self, other)
        if not is_constant(other):
            return NotImplemented
        if other == 0:
            return self
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        if not is_constant(other):
            return NotImplemented
        if other == 0:
            return -self
        if self.op == "neg":
            return self.args[0] + other
        return self.graph.apply("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is Expr:
            if self.op == "neg":
                return -(self.args[0] * other)
            if other.op == "neg":
                return -(self * other.args[0])
            return self.graph.apply("mul", self, other)
        if not is_constant(other):
            return NotImplemented
        if other == 0:
            return 0
        if other == 1:
            return self
        if other < 0:  # one sign convention, so that c·x and −c·x are one node
            return -(self * -other)
        if self.op == "neg":
            return -(self.args[0] * other)
        if self.op == "mul" and self.args[0].op == "const":
            return self.args[1] * (self.args[0].args[0] * other)
        if self.op == "mul" and self.args[1].op == "const":
            return self.args[0] * (self.args[1].args[0] * other)
        return self.graph.apply("mul", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if other is self:
            return 1
        if other.__class__ is Expr:
            if self.op == "neg":
                return -(self.args[0] / other)
            return self.graph.apply("div", self, other)
        if not is_constant(other):
            return NotImplemented
        return self * (1 / other)

    def __rtruediv__(self, other: Any) -> Any:
        if not is_constant(other):
            return NotImplemented
        if other == 0:
            return 0
        return self.graph.apply("div", other, self)

    def __neg__(self) -> Any:
        if self.op == "neg":
            return self.args[0]
        if self.op == "sub":
            return self.args[1] - self.args[0]
        return self.graph.apply("neg", self)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return self.graph.apply("abs", self.args[0] if self.op == "neg" else self)

    def __pow__(self, n: Any) -> Any:
        if not isinstance(n, int):
            if n == 0.5:
                return self.function("sqrt")
            raise TypeError(f"a recorded scalar can be raised to a whole power or 0.5, not to {n!r}")
        if n < 0:
            return 1 / self ** (-n)
        result: Any = 1
        base: Any = self
        while n:
            if n & 1:
                result = result * base
            n >>= 1
            if n:
                base = base * base
        return result

    # -- functions and comparisons ---------------------------------------------------------------------------

    def function(self, op: str) -> Expr:
        """sin, cos, sqrt, ... of this scalar, with the symmetry of the function applied."""
        found: Expr
        if self.op == "neg" and op == "cos":
            found = self.args[0].function(op)
        elif self.op == "neg" and op in ("sin", "tanh", "sign"):
            found = -self.args[0].function(op)
        else:
            found = self.graph.apply(op, self)
        return found

    def __lt__(self, other: Any) -> Expr:
        return self.graph.apply("lt", self, other)

    def __le__(self, other: Any) -> Expr:
        return self.graph.apply("le", self, other)

    def __gt__(self, other: Any) -> Expr:
        return self.graph.apply("lt", other, self)

    def __ge__(self, other: Any) -> Expr:
        return self.graph.apply("le", other, self)

    def __bool__(self) -> bool:
        raise TypeError(
            "a recorded scalar has no value while recording, so it cannot decide a branch; "
            "use torsor.scalar.where(condition, a, b)"
        )

    def __float__(self) -> float:
        raise TypeError("a recorded scalar has no value yet; use the functions of torsor.scalar instead of math or numpy")

    def __repr__(self) -> str:
        if self.op == "const":
            return repr(self.args[0])
        if self.op == "input":
            return f"x{self.args[0]}"
        return f"{self.op}({', '.join(f'%{a.index}' for a in self.args)})"
