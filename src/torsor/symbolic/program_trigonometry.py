"""Trigonometry of recorded programs: multiplied out into polynomials of sines and cosines, with c_12 for cos(θ_1 + θ_2).

The program of an algorithm is evaluated over the polynomials in cos and sin of *absolute* angles (the sum of the joint angles
along a run of parallel axes), modulo c² + s² = 1, with exact fractions.  The polynomials of a
planar chain then stay short, and at the end products are combined: c_1 c_12 + s_1 s_12 = c_2.
(:mod:`torsor.symbolic.expression_trigonometry` works on SymPy expressions instead, of any origin.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from torsor.compile.program import Program, evaluate
from torsor.model import Model
from torsor.model.joints import Prismatic, Revolute
from torsor.symbolic.library import sympy_library
from torsor.symbolic.parameters import simplest_fraction
from torsor.symbolic.trig_reduction import reduce_squares

#: limits beyond which a program is not multiplied out: terms of one polynomial, and products of terms in all
TERMS, WORK = 500, 200_000

#: the largest denominator of a part of a half turn whose sine is kept as a function
SIMPLE = 12

#: Σ coefficient × input, by input position; the arguments of sines and cosines
Angle = tuple[tuple[int, int], ...]


class TooLarge(Exception):
    """The expanded form is too long to read."""


class NotPolynomial(TooLarge):
    """The expanded form is not a polynomial of sines and cosines."""


class Atom(NamedTuple):
    """A letter of a monomial: ``c`` or ``s``, the cosine or sine of an angle, or ``x``, an input."""

    kind: str
    angle: Angle


Monomial = tuple[tuple[Atom, int], ...]
Terms = dict[Monomial, Any]


class Turn(NamedTuple):
    """A revolute joint in a run of parallel ones: ``angle`` is the absolute angle after it, ``before`` that before it."""

    angle: Angle
    before: Angle
    sign: int


def parallel_runs(model: Model) -> dict[int, Turn]:
    """{coordinate: turn} of the revolute joints, each after the parallel ones before it in the tree."""
    found: dict[int, Turn] = {}
    for i, p in model.outward():
        if not isinstance(model.joint[i], Revolute) or model.coupling[i] is not None:
            continue
        k = model.q_start[i]
        axis = model.offset[i].E.T @ model.joint[i].axis  # type: ignore[attr-defined]
        while p > 0 and isinstance(model.joint[p], Prismatic):
            axis, p = model.offset[p].E.T @ axis, model.parent[p]
        before: Angle = ()
        sign = 1
        if p > 0 and model.q_start[p] in found and isinstance(model.joint[p], Revolute) and model.coupling[p] is None:
            along = axis.dot(model.joint[p].axis)  # type: ignore[attr-defined]
            if isinstance(along, (int, float)) and abs(abs(along) - 1) < 1e-9:
                last = found[model.q_start[p]]
                before, sign = last.angle, last.sign * (1 if along > 0 else -1)
        found[k] = Turn(tuple(sorted((*before, (k, sign)))), before, sign)
    return found


@dataclass
class Polynomials:
    """The ring a program is evaluated in.

    ``constants`` are inputs with an exact value; ``turns`` the absolute angles, by input position.
    """

    program: Program
    constants: Mapping[int, Fraction]
    turns: Mapping[int, Turn]
    arguments: dict[Angle, Any] = field(default_factory=dict)  # a fresh angle → the polynomial it is

    def __post_init__(self) -> None:
        from sympy import QQ, ring

        code = self.program.code
        trig = {args[0] for op, args in code if op in ("sin", "cos")}
        direct = [code[a][1][0] for a in sorted(trig) if code[a][0] == "input"]
        fresh: list[Angle] = [((-1 - k, 1),) for k in range(len(trig) - len(direct))]  # for arguments that are not inputs
        absolute = [self.turns[k].angle if k in self.turns else ((k, 1),) for k in direct]
        known = list(dict.fromkeys([*absolute, *(t.before for k, t in self.turns.items() if k in direct and t.before), *fresh]))
        plain = [args[0] for op, args in code if op == "input" and args[0] not in self.constants]
        self.atoms = [Atom(kind, angle) for angle in known for kind in "cs"] + [Atom("x", ((k, 1),)) for k in plain]
        self.ring, *gens = ring([f"x{k}" for k in range(len(self.atoms))], QQ)
        self._gen = dict(zip(self.atoms, gens, strict=True))
        self._squares = [(2 * k + 1, 2 * k) for k in range(len(known))]
        self._fresh = iter(fresh)
        self._direct = set(direct)
        self._pairs: dict[Any, tuple[Any, Any]] = {}
        self._work = 0

    def results(self) -> list[Terms]:
        """The outputs of the program, sums of angles combined."""
        rows: dict[str, Callable[..., Any]] = {
            "add": lambda a, b: self._lift(a) + self._lift(b), "sub": lambda a, b: self._lift(a) - self._lift(b),
            "mul": self._mul, "div": self._div, "neg": lambda a: -self._lift(a),
            "sin": lambda a: self._trig(a)[1], "cos": lambda a: self._trig(a)[0],
        }  # fmt: skip
        one = {op: rows.get(op, _not_polynomial) for op in self.program.counts}
        size = sum(a.size for a in self.program.inputs)
        inputs = [self._gen.get(Atom("x", ((k, 1),)), self.constants.get(k)) for k in range(size)]
        values = evaluate(self.program, [self._lift(x) if x is not None else None for x in inputs], one)
        return [combine_angles(self._terms(self._lift(values[r]))) for r in self.program.results]

    # -- arithmetic ------------------------------------------------------------------------------------------

    def _lift(self, x: Any) -> Any:
        if isinstance(x, (int, float)):
            x = simplest_fraction(x)
        if isinstance(x, Fraction):
            return self.ring(self.ring.domain(x.numerator, x.denominator))
        return x

    def _div(self, a: Any, b: Any) -> Any:
        b = self._lift(b)
        if not b.is_ground or not b:
            raise NotPolynomial
        return self._lift(a) * (1 / b.coeff(1))

    def _mul(self, a: Any, b: Any) -> Any:
        a, b = self._lift(a), self._lift(b)
        self._work += len(a) * len(b)
        if self._work > WORK:
            raise TooLarge
        product = self.ring.from_dict(reduce_squares(a * b, self._squares))
        if len(product) > TERMS:
            raise TooLarge
        return product

    def _trig(self, a: Any) -> tuple[Any, Any]:
        """(cos, sin) of an input, by the absolute angles after and before its joint; of other values, by a new angle."""
        a = self._lift(a)
        if a not in self._pairs:
            k = next((k for k in self._direct if a == self._gen.get(Atom("x", ((k, 1),)))), None)
            if k is None:
                angle = next(self._fresh)
                self.arguments[angle] = a
                self._pairs[a] = self._pair(angle)
            elif k in self.turns and self.turns[k].before:
                turn = self.turns[k]
                (c, s), (c0, s0) = self._pair(turn.angle), self._pair(turn.before)
                self._pairs[a] = c * c0 + s * s0, (s * c0 - c * s0) * turn.sign
            else:
                self._pairs[a] = self._pair(((k, 1),))
        return self._pairs[a]

    def _pair(self, angle: Angle) -> tuple[Any, Any]:
        return self._gen[Atom("c", angle)], self._gen[Atom("s", angle)]

    def _terms(self, p: Any) -> Terms:
        return {tuple((self.atoms[k], e) for k, e in enumerate(m) if e): c for m, c in p.items()}


def _not_polynomial(*_: Any) -> Any:
    raise NotPolynomial


# -- sums of angles --------------------------------------------------------------------------------------------------


def combine_angles(terms: Terms) -> Terms:
    """c_a c_b + s_a s_b = c_{a−b}, s_a c_b − c_a s_b = s_{a−b} and p − p c² = p s², until none is left.

    >>> a, b = ((0, 1),), ((0, 1), (1, 1))
    >>> cc, ss = ((Atom("c", a), 1), (Atom("c", b), 1)), ((Atom("s", a), 1), (Atom("s", b), 1))
    >>> combine_angles({cc: 3, ss: 3})
    {((Atom(kind='c', angle=((1, 1),)), 1),): 3}
    """
    terms = {tuple(sorted(m)): c for m, c in terms.items()}
    while _difference(terms) or _square(terms):
        pass
    return terms


def _difference(terms: Terms) -> bool:
    """Replace one c_a c_b + s_a s_b by c_{a−b}, or s_a c_b − c_a s_b by s_{a−b}; False if there is none."""
    for m in sorted(terms, key=len):
        letters = [a for a, _ in m if a.kind in "cs"]
        for a in letters:
            for b in letters:
                if a.angle <= b.angle or a.kind == b.kind == "s" or not _are_related(a.angle, b.angle):
                    continue
                rest = _times(m, {a: -1, b: -1})
                other = _times(rest, {_partner(a): 1, _partner(b): 1})
                p, cosine = terms[m], a.kind == b.kind
                if terms.get(other) != (p if cosine else -p):
                    continue
                del terms[m], terms[other]
                angle, sign = _with_positive_sign(_minus(a.angle, b.angle) if a.kind == "s" else _minus(b.angle, a.angle))
                _gather(terms, _times(rest, {Atom("c" if cosine else "s", angle): 1}), p if cosine else p * sign)
                return True
    return False


def _square(terms: Terms) -> bool:
    """Replace one p − p c² by p s²; False if there is none."""
    for m, q in terms.items():
        for a, e in m:
            if a.kind == "c" and e == 2:
                less = _times(m, {a: -2})
                if terms.get(less) == -q:
                    del terms[m], terms[less]
                    _gather(terms, _times(less, {_partner(a): 2}), -q)
                    return True
    return False


def _gather(terms: Terms, m: Monomial, c: Any) -> None:
    c = terms.pop(m, 0) + c
    if c:
        terms[m] = c


def _times(m: Monomial, powers: Mapping[Atom, int]) -> Monomial:
    out = dict(m)
    for a, e in powers.items():
        out[a] = out.get(a, 0) + e
    return tuple(sorted((a, e) for a, e in out.items() if e))


def _partner(a: Atom) -> Atom:
    return Atom("s" if a.kind == "c" else "c", a.angle)


def _are_related(a: Angle, b: Angle) -> bool:
    """Whether one angle is the other with more joints added: their difference is then a sum of joint angles."""
    return a != b and (set(a) <= set(b) or set(b) <= set(a))


def _minus(a: Angle, b: Angle) -> Angle:
    out = dict(a)
    for k, n in b:
        out[k] = out.get(k, 0) - n
    return tuple(sorted((k, n) for k, n in out.items() if n))


def _with_positive_sign(a: Angle) -> tuple[Angle, int]:
    """±a with a positive first coefficient, and the sign."""
    sign = 1 if a[0][1] > 0 else -1
    return tuple((k, n * sign) for k, n in a), sign


# -- back to SymPy ---------------------------------------------------------------------------------------------


class Letters:
    """The SymPy expression of a letter: an input's symbol, or a sine or cosine; ``inputs`` are symbols or exact values."""

    def __init__(self, polynomials: Polynomials, inputs: Sequence[Any]):
        self._polynomials, self._inputs = polynomials, inputs

    def __call__(self, atom: Atom) -> Any:
        sympy = sympy_library()
        if atom.kind == "x":
            return self._inputs[atom.angle[0][0]]
        value = self._angle(atom.angle)
        function = sympy.cos(value) if atom.kind == "c" else sympy.sin(value)
        if function.free_symbols or function.is_algebraic:
            return function
        turns = value / sympy.pi
        return function if turns.is_Rational and turns.q <= SIMPLE else sympy.Rational(str(simplest_fraction(float(function))))

    def _angle(self, angle: Angle) -> Any:
        if angle[0][0] >= 0:
            return sum(self._inputs[k] * n for k, n in angle)
        poly = self._polynomials.arguments[angle]
        return poly.as_expr(*(self(a) if a.kind == "x" else sympy_library().nan for a in self._polynomials.atoms))


def to_sympy(terms: Terms, letter: Callable[[Atom], Any]) -> Any:
    """The sum, each term a product of sines and cosines with a factored coefficient."""
    sympy = sympy_library()
    parts: dict[Monomial, Terms] = {}
    for m, c in terms.items():
        trig = tuple((a, e) for a, e in m if a.kind != "x")
        parts.setdefault(trig, {})[tuple((a, e) for a, e in m if a.kind == "x")] = c
    total = []
    for trig, coefficient in parts.items():
        product = [letter(a) ** e for a, e in trig]
        total.append(sympy.Mul(*product, *_factors(coefficient, letter)))
    return sympy.Add(*total)


def _factors(terms: Terms, letter: Callable[[Atom], Any]) -> list[Any]:
    """A polynomial without trigonometry, factored if possible."""
    sympy = sympy_library()
    atoms = sorted({a for m in terms for a, _ in m})
    if not atoms:
        return [sympy.Rational(int(c.numerator), int(c.denominator)) for c in terms.values()]
    ring, *_ = sympy.ring([f"x{k}" for k in range(len(atoms))], sympy.QQ)
    poly = ring.from_dict({tuple(dict(m).get(a, 0) for a in atoms): c for m, c in terms.items()})
    letters = [letter(a) for a in atoms]
    if len(poly) == 1 or len(poly) > 60:
        return [poly.as_expr(*letters)]
    content, factors = poly.factor_list()
    number = sympy.Rational(int(content.numerator), int(content.denominator))
    return [number, *(f.as_expr(*letters) ** e for f, e in factors)]
