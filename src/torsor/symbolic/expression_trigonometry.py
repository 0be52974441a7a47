"""Trigonometry of SymPy expressions: a normal form that decides equality, and a short form to read.

Every sine and cosine of a sum of angles is a polynomial in sᵢ = sin qᵢ, cᵢ = cos qᵢ.  Modulo sᵢ² + cᵢ² = 1 it has exactly one
form with every sᵢ to a power of at most one: two expressions are the same function if and only if these forms are equal.
(:mod:`torsor.symbolic.program_trigonometry` works on recorded programs instead, and gives expressions.)
"""

from __future__ import annotations

from math import lcm
from typing import Any

from torsor.symbolic.library import exact, leaves, sympy_library
from torsor.symbolic.trig_reduction import reduce_squares


class _Angles:
    """The base angles of an expression: each argument of a sine or cosine is an integer combination of them."""

    def __init__(self, expression: Any):
        sp = sympy_library()
        self.functions = expression.atoms(sp.sin, sp.cos)
        parts: dict[Any, int] = {}
        for f in self.functions:
            for term in sp.Add.make_args(sp.expand(f.args[0])):
                k, angle = term.as_coeff_Mul(rational=True)
                parts[angle] = lcm(parts.get(angle, 1), k.q)
        self.sines = {a: (sp.Dummy(f"s_{a}"), sp.Dummy(f"c_{a}"), d) for a, d in parts.items()}
        self.generators = [x for s, c, _ in self.sines.values() for x in (s, c)]

    def polynomial(self) -> dict[Any, Any]:
        """Each sine and cosine as a polynomial in the base angles'."""
        sp = sympy_library()
        return {f: self._cos_and_sin(f.args[0])[0 if isinstance(f, sp.cos) else 1] for f in self.functions}

    def _cos_and_sin(self, argument: Any) -> tuple[Any, Any]:
        """(cos, sin) of a sum, one angle after the other: (c + is)(C + iS)."""
        sp = sympy_library()
        c, s = sp.Integer(1), sp.Integer(0)
        for term in sp.Add.make_args(sp.expand(argument)):
            k, angle = term.as_coeff_Mul(rational=True)
            S, C, d = self.sines[angle]
            count = int(k * d)
            S = S if count > 0 else -S
            for _ in range(abs(count)):
                c, s = sp.expand(c * C - s * S), sp.expand(s * C + c * S)
        return c, s

    def functions_of_symbols(self) -> dict[Any, Any]:
        """The base angles' sines and cosines, as functions again."""
        sp = sympy_library()
        table: dict[Any, Any] = {}
        for angle, (s, c, d) in self.sines.items():
            table |= {s: sp.sin(angle / d), c: sp.cos(angle / d)}
        return table


def _reduce(p: Any, pairs: list[tuple[Any, Any]]) -> Any:
    """A Poly with s² = 1 − c² put in, for each pair (s, c)."""
    at = {x: k for k, x in enumerate(p.gens)}
    terms = reduce_squares(p.as_dict(native=True), [(at[s], at[c]) for s, c in pairs])
    return sympy_library().Poly.from_dict(dict(terms), *p.gens, domain=p.domain)


def _normal_form(expression: Any) -> tuple[Any, _Angles]:
    """The normal form as a Poly in the sines and cosines of the base angles; raises PolynomialError if there is none."""
    sp = sympy_library()
    angles = _Angles(expression)
    raw = expression.xreplace(angles.polynomial())
    p = sp.Poly(sp.expand(raw), *angles.generators, sp.Dummy("one"))
    if any(c.has(*angles.generators) for c in p.coeffs()) if angles.generators else False:
        raise sp.PolynomialError("a sine inside another function")
    return _reduce(p, [(s, c) for s, c, _ in angles.sines.values()]), angles


def is_identical(a: Any, b: Any) -> bool:
    """Whether a(q) = b(q) for every q: exact, by the normal form of a − b modulo sin² + cos² = 1.

    Matrices and nested lists are compared entry by entry.  Outside trigonometric polynomials and their quotients SymPy's
    ``simplify`` decides, and ``False`` may then mean that it could not show it.

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y")
    >>> is_identical(sp.cos(x) * sp.cos(y) - sp.sin(x) * sp.sin(y), sp.cos(x + y)), is_identical(sp.sin(x), sp.cos(x))
    (True, False)
    """
    sp = sympy_library()
    flat_a, flat_b = leaves(a), leaves(b)
    if len(flat_a) != len(flat_b):
        return False
    for x, y in zip(flat_a, flat_b, strict=True):
        difference = sp.expand(exact(x) - exact(y))
        if difference == 0:
            continue
        numerator = sp.fraction(sp.together(difference))[0]
        try:
            zero = all(sp.cancel(c) == 0 for c in _normal_form(numerator)[0].coeffs())
        except sp.PolynomialError:
            zero = sp.simplify(difference) == 0
        if not zero:
            return False
    return True


def simplify_trigonometry(expression: Any) -> Any:
    """The same function, shorter: equal trigonometry grouped, cos(q₁+q₂) instead of its expansion, sin² + cos² = 1 applied.

    Exact for trigonometric polynomials; all other expressions are simplified by SymPy's ``simplify``.

    >>> import sympy as sp
    >>> m, L, x, y = sp.symbols("m L x y")
    >>> simplify_trigonometry(m * L * (sp.cos(x) * sp.cos(x + y) + sp.sin(x) * sp.sin(x + y)))
    L*m*cos(y)
    """
    sp = sympy_library()
    expression = exact(expression)
    if not expression.atoms(sp.sin, sp.cos):
        return _factor(expression)
    try:
        p, angles = _normal_form(expression)
    except sp.PolynomialError:
        return sp.simplify(expression)
    table = angles.functions_of_symbols()
    groups: dict[Any, dict[Any, Any]] = {}  # a factor without angles → its trigonometric coefficient
    for powers, coefficient in zip(p.monoms(), p.coeffs(), strict=True):
        monomial = sp.Mul(*(g**k for g, k in zip(p.gens, powers, strict=True) if k))
        for term, k in sp.expand(coefficient).as_coefficients_dict().items():
            group = groups.setdefault(term, {})
            group[monomial] = group.get(monomial, 0) + k
    collected: dict[Any, Any] = {}  # a short trigonometric factor → its coefficient
    for term, group in groups.items():
        for k, factor in _shortest_form(group, angles, table):
            collected[factor] = collected.get(factor, 0) + k * term
    made = shorter(sp.Add(*(_factor(k) * f for f, k in collected.items())))
    return made if made.count_ops() <= expression.count_ops() else expression


def _shortest_form(group: dict[Any, Any], angles: _Angles, table: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """[(number, factor)]: a trigonometric polynomial with the fewest operations among its usual forms."""
    from sympy.simplify.fu import TR8

    sp = sympy_library()
    polynomial = sp.Add(*(m * k for m, k in group.items()))
    forms = [polynomial.xreplace(table)]
    if angles.generators:
        p = sp.Poly(polynomial, *angles.generators)
        forms.append(_reduce(p, [(c, s) for s, c, _ in angles.sines.values()]).as_expr().xreplace(table))
    forms.append(sp.expand(TR8(forms[0])))
    best = min(forms, key=lambda f: (f.count_ops(), sp.default_sort_key(f)))
    return [(k, f) for f, k in sp.expand(best).as_coefficients_dict().items()]


def shorter(expression: Any) -> Any:
    """Common factors in front if that is shorter; sums are not multiplied out.

    >>> import sympy as sp
    >>> m, x, y = sp.symbols("m x y")
    >>> shorter(m * x + m * y)
    m*(x + y)
    """
    made = _rebuild(sympy_library().factor_terms(expression))
    return made if made.count_ops() <= expression.count_ops() else expression


def _rebuild(e: Any) -> Any:
    """The expression built again, so that 2(x + y), which SymPy keeps only unevaluated, stays the same in later steps."""
    return e.func(*map(_rebuild, e.args)) if e.args else e


def _factor(expression: Any) -> Any:
    """A polynomial with its common factors in front; other expressions unchanged."""
    sp = sympy_library()
    try:
        made = sp.factor(expression)
    except sp.PolynomialError:
        return expression
    return made if made.count_ops() <= expression.count_ops() else expression
