"""Sums of angles in a recorded program that stays a program: cos(a + b) in place of c_a c_b − s_a s_b.

``evaluate(program, inputs, ANGLE_SUMS)`` records a program again with these rules in place of sums and products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from torsor.compile.rules import RECORD
from torsor.scalar import Expr


def _sum(a: Any, b: Any, sign: int = 1) -> Any:
    """a ± b, where f (c_a c_b − s_a s_b) is f c_{a+b}, f (s_a c_b + c_a s_b) is f s_{a+b}, and so for differences."""
    if isinstance(b, Expr) and b.op == "neg":
        return _sum(a, b.args[0], -sign)
    if isinstance(a, Expr) and a.op == "neg":
        return -_sum(a.args[0], b, -sign)
    if isinstance(a, Expr) and isinstance(b, Expr) and a.op == b.op == "mul":
        rest_a, rest_b = _factors(a), _factors(b)
        common = [x for x in rest_a if any(x is y for y in rest_b)]
        for x in common:
            rest_a.remove(x)
            if not any(x is y for y in rest_b):
                return a + b if sign > 0 else a - b  # a square: not a product of two angles
            rest_b.remove(x)
        found = _combine(rest_a, rest_b, sign)
        if found is not None:
            for x in common:
                found = found * (x.args[0] if x.op == "const" else x)
            return found
    (a, k), (b, m) = _split_constant(a), _split_constant(b)
    rest = a + b if sign > 0 else a - b
    return rest + (k + m * sign)


def _product(a: Any, b: Any) -> Any:
    """a b, with factors ½ and 2 of a and b taken out, so that they cancel."""
    (a, k), (b, m) = _split_factor(a), _split_factor(b)
    return a * b * (k * m)


def _split_factor(x: Any) -> tuple[Any, float]:
    """x = rest × (½, 2 or 1)."""
    if isinstance(x, Expr) and x.op == "mul":
        for a, b in (x.args, x.args[::-1]):
            if a.op == "const" and a.args[0] in (0.5, 2.0):
                return b, a.args[0]
    return x, 1


def _split_constant(x: Any) -> tuple[Any, float]:
    """x = rest + constant."""
    if not isinstance(x, Expr):
        return 0, x
    if x.op in ("add", "sub"):
        a, b = x.args
        if a.op == "const":
            return b if x.op == "add" else -b, a.args[0]
        if b.op == "const":
            return a, b.args[0] if x.op == "add" else -b.args[0]
    return x, 0


def _combine(x: list[Expr], y: list[Expr], sign: int) -> Any:
    """The sine or cosine that equals x₁x₂ ± y₁y₂, products of sines and cosines; None if there is none."""
    if len(x) != 2 or len(y) != 2 or not all(e.op in ("sin", "cos") and _is_sum(e.args[0]) for e in (*x, *y)):
        return None
    (f, p), (g, q) = ((e.op, e.args[0]) for e in x)
    (h, r), (k, s) = ((e.op, e.args[0]) for e in y)
    if r is not p:
        h, r, k, s = k, s, h, r
    if p is q or r is not p or s is not q:
        return None
    if f == g and h == k != f:  # c c ± s s, or s s ± c c
        angle, _ = _angle(p, q, -sign)
        found = None if angle is None else angle.function("cos")
        return -found if found is not None and sign < 0 and f == "sin" else found
    if f != g and h != k and f != h:  # s_p c_q ± c_p s_q, or c_p s_q ± s_p c_q
        angle, lead = _angle(p, q, sign)
        found = None if angle is None else angle.function("sin")
        return -found if found is not None and lead * (sign if f == "cos" else 1) < 0 else found
    return None


def _angle(p: Expr, q: Expr, sign: int) -> tuple[Any, int]:
    """p ± q = lead × angle, a sum of inputs in their order, the first positive; None if an input occurs twice in it."""
    counts: Counter[Expr] = Counter()
    for x, n in (*_addends(p, 1), *_addends(q, sign)):
        counts[x] += n
    items = sorted(((x, n) for x, n in counts.items() if n), key=lambda item: item[0].args[0])
    if not items or any(abs(n) > 1 for _, n in items):
        return None, 1
    angle, lead = items[0]
    for x, n in items[1:]:
        angle = angle + x if n == lead else angle - x
    return angle, lead


def _addends(x: Expr, sign: int) -> list[tuple[Expr, int]]:
    if x.op == "input":
        return [(x, sign)]
    if x.op == "neg":
        return _addends(x.args[0], -sign)
    return _addends(x.args[0], sign) + _addends(x.args[1], sign if x.op == "add" else -sign)


def _factors(x: Expr) -> list[Expr]:
    """The factors of a product, at most three or four."""
    if x.op != "mul":
        return [x]
    left, right = x.args
    return [*_factors(left), *_factors(right)] if right.op != "mul" or left.op != "mul" else [left, right]


def _is_sum(x: Expr) -> bool:
    return x.op == "input" or (x.op in ("add", "sub", "neg") and all(_is_sum(a) for a in x.args))


#: rules for :func:`torsor.compile.program.evaluate`
ANGLE_SUMS: dict[str, Callable[..., Any]] = {**RECORD, "add": _sum, "sub": lambda a, b: _sum(a, b, -1), "mul": _product}
