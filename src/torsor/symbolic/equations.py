"""Equations of motion as an object: τ = M(q) a + c(q, v) + g(q) − Q, with printing and compiled functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.compile import Argument, Kernel
from torsor.compile.program import Program, evaluate
from torsor.compile.rules import RECORD
from torsor.compile.text.c import c_file
from torsor.compile.text.python import math_import
from torsor.errors import ArgumentError, SingularError, UnknownName, require_known
from torsor.kernels.functions import function_kernel
from torsor.spatial import factor, solve
from torsor.support.locks import cached_property
from torsor.symbolic import derivatives
from torsor.symbolic.derivatives import DERIVED
from torsor.symbolic.expression_trigonometry import simplify_trigonometry
from torsor.symbolic.formula import ExpandedFormula, Formula, Part, Statement
from torsor.symbolic.library import expressions, sympy_library
from torsor.symbolic.notation import latex_rate

#: the parts of the equations of motion.  c and g are bold in LaTeX, as c_1 is a cosine and g a number
PARTS = {
    part.letter: part
    for part in (
        Part("tau", "inverse_dynamics", "qva", 1, r"\tau", "Joint forces"),
        Part("M", "mass_matrix", "q", 2, "M", "Mass matrix"),
        Part("c", "velocity_force", "qv", 1, r"\mathbf{c}", "Coriolis and centripetal forces"),
        Part("g", "gravity_force", "q", 1, r"\mathbf{g}", "Gravity"),
        Part("forces", "applied_force", "qv", 1, "Q", "Applied forces"),
        Part("h", "bias_force", "qv", 1, "h", "Bias forces"),
        Part("C", "coriolis_matrix", "qv", 2, "C", "Coriolis matrix"),
        Part("Gamma", "christoffel_symbols", "q", 3, r"\Gamma", "Christoffel symbols"),
        Part("M_rate", "mass_matrix_rate", "qv", 2, r"\dot{M}", "Rate of the mass matrix"),
    )
}


def _part(letter: str, doc: str) -> Any:
    """A part as an attribute."""
    return property(lambda self: self.quantity(letter).expression, doc=doc)


@dataclass(frozen=True)
class EquationsOfMotion:
    """τ = M(q) a + c(q, v) + g(q) − Q (MR 8.1, 8.10): the result of ``lagrange``, ``kane`` and ``robot.symbolic()``.

    ``q``, ``v``, ``a`` are symbols; ``M``, ``c``, ``g`` and ``forces`` (Q, forces that act besides τ) SymPy matrices.
    ``Gamma``, ``C``, ``h``, ``tau`` and ``M_rate`` follow from them.  ``values`` are the numbers of parameters that have one.

    As text: ``text``, ``latex``, ``markdown``; as code: ``python``, ``c_source``.  Each takes the names of parts: M, c, g and
    nonzero forces by default.  Other methods take numbers, one state or a batch, and run machine code.

    Where they depend on time explicitly (a driven support), c has the term ∂M/∂t q̇, g all terms that remain at q̇ = 0, and
    ``M_t`` is ∂M/∂t; time is a parameter: ``with_values({t: 0.3})``.

    >>> import sympy as sp
    >>> from torsor.symbolic import coordinate_symbols, lagrange
    >>> [(x, v)] = coordinates = coordinate_symbols("x")
    >>> m, g = sp.symbols("m g")
    >>> eom = lagrange(m * v**2 / 2, m * g * x, coordinates)
    >>> eom.tau[0], eom.with_values({m: 2, g: 10}).inverse_dynamics([0.0], [0.0], [1.0])
    (m*(g + xddot), array([22.]))
    """

    q: tuple[Any, ...]
    v: tuple[Any, ...]
    a: tuple[Any, ...]
    #: M, c, g and forces, and M_t where M depends on time explicitly
    given: Mapping[str, Any] = field(hash=False)
    values: Mapping[Any, float] = field(default_factory=dict, compare=False)

    M = _part("M", "M(q), n×n (MR 8.57).")
    c = _part("c", "c(q, v), the Coriolis and centripetal forces (MR 8.10).")
    g = _part("g", "g(q), the gravity forces (MR 8.10).")
    forces = _part("forces", "Q(q, v), forces that act besides τ.")
    h = _part("h", "h = c + g − Q, all terms except M a (MR 8.1).")
    tau = _part("tau", "τ = M a + h (MR 8.1).")
    C = _part("C", "C_ij = Σ_k Γ_ijk v_k (MR 8.19).")
    Gamma = _part("Gamma", "Γ_ijk = ½(∂m_ij/∂q_k + ∂m_ik/∂q_j − ∂m_jk/∂q_i), n×n×n (MR 8.17).")
    M_rate = _part("M_rate", "Ṁ = Σ_k ∂M/∂q_k v_k + ∂M/∂t.")

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.q)

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return len(self.v)

    @property
    def M_t(self) -> Any:
        """∂M/∂t, None where M does not depend on time explicitly."""
        return self.given.get("M_t")

    @cached_property
    def three_index_symbols(self) -> Any:
        """C_ijk = ∂H_ij/∂q_k − ½ ∂H_jk/∂q_i, n×n×n (ASADA 7.2.22); Γ_ijk is its symmetric part, ½(C_ijk + C_ikj)."""
        self.check_expressions("three_index_symbols", rates=True)
        return derivatives.three_index_symbols(self)

    @property
    def centrifugal(self) -> Any:
        """Σ_j C_ijj v_j² (ASADA 7.2.23, first sum)."""
        return self._velocity_force_parts[0]

    @property
    def coriolis(self) -> Any:
        """Σ_j≠k C_ijk v_j v_k (ASADA 7.2.23, second sum)."""
        return self._velocity_force_parts[1]

    @cached_property
    def _velocity_force_parts(self) -> tuple[Any, Any]:
        self.check_expressions("coriolis")
        return derivatives.velocity_force_parts(self)

    # -- parameters ------------------------------------------------------------------------------------------

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The symbols that are neither coordinates nor rates: masses, lengths, parameters of forces."""
        found = set().union(*(part.free_symbols for part in (self.M, self.c, self.g, self.forces)))
        return tuple(sorted(found - {*self.q, *self.v, *self.a}, key=str))

    def check_expressions(self, caller: str, rates: bool = False) -> None:
        """An error unless the parts are SymPy expressions and, with ``rates``, v = dq/dt.  Here they are, always."""

    def with_values(self, values: Mapping[Any, Any]) -> EquationsOfMotion:
        """The same equations with numbers or expressions for parameters, ``{m: 2.0}`` or ``{"m": 2.0}``."""
        names = {str(p): p for p in self.parameters}
        for key in values:
            if str(key) not in names:
                raise UnknownName("parameter of these equations", str(key), names)
        made = expressions("values", list(values.values()), len(values))
        table = dict(zip((names[str(key)] for key in values), made, strict=True))
        parts = {name: getattr(self, name) for name in ("M", "c", "g", "forces", "M_t")}
        given = {name: part.xreplace(table) for name, part in parts.items() if part is not None}
        rest = {symbol: number for symbol, number in self.values.items() if symbol not in table}
        return EquationsOfMotion(self.q, self.v, self.a, given, rest)

    # -- text ------------------------------------------------------------------------------------------------

    def quantity(self, part: str, *words: str) -> Formula:
        """One part as a formula that can be printed and called with numbers: ``quantity("c")(q, v)``."""
        key = self._key(part, *words)
        if key not in self._formulas:
            self._formulas[key] = self._formula(key)
        return self._formulas[key]

    def text(self, *parts: str) -> str:
        """Plain text, one line per entry."""
        return "\n\n".join(formula.text() for formula in self._shown(parts))

    def latex(self, *parts: str) -> str:
        """LaTeX: ``aligned`` environments, abbreviations explained."""
        return "\n\n".join(formula.latex() for formula in self._shown(parts))

    def markdown(self, *parts: str) -> str:
        """Markdown with display equations, a heading for each part."""
        return "\n\n".join(f"### {formula.part.title}\n\n{formula.markdown()}" for formula in self._shown(parts))

    def python(self, *parts: str) -> str:
        """Python functions of the state that need only ``math``; parameters are keywords."""
        chosen = self._select(parts)
        functions = [formula.python_function() for formula in chosen]
        return math_import(*(formula.program for formula in chosen)) + "\n\n\n".join(functions) + "\n"

    def c_source(self, *parts: str, prefix: str = "") -> str:
        """C99 functions that need only ``math.h``; parameters are doubles.  ``prefix`` is put before their names."""
        return c_file([(formula.about, formula.c_function(prefix)) for formula in self._select(parts)])

    def _select(self, parts: Sequence[str]) -> list[Formula]:
        return [self.quantity(*key) for key in ([(part,) for part in parts] or self.parts)]

    def _shown(self, parts: Sequence[str]) -> list[Formula]:
        """The parts that are printed; all of them with the equation that they belong to, where it has more than M, c and g."""
        return [*self._select(parts), *([] if parts or self._statement is None else [self._statement])]

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The parts that are printed unless others are named, each as the arguments of :meth:`quantity`."""
        return ("M",), ("c",), ("g",), *([("forces",)] if any(self.given.get("forces", ())) else [])

    @property
    def _statement(self) -> Statement | None:
        return None

    def _key(self, part: str, *words: str) -> tuple[str, ...]:
        require_known("part of the equations of motion", part, PARTS)
        if words:
            raise ArgumentError(f"{part} takes no further arguments; given: {', '.join(words)}")
        return (part,)

    def _formula(self, key: tuple[str, ...]) -> Formula:
        sp = sympy_library()
        part = PARTS[key[0]]
        names = {x: latex_rate(sp.latex(q), 1) for q, x in zip(self.q, self.v, strict=True)}
        names |= {x: latex_rate(sp.latex(q), 2) for q, x in zip(self.q, self.a, strict=True)}
        state = {x: getattr(self, x) for x in part.reads}
        order = "; ".join(f"{x} = ({', '.join(map(str, symbols))})" for x, symbols in state.items())
        about = f"{part.letter}({', '.join(part.reads)}), {part.function.replace('_', ' ')}: {order}."
        expression = self.given[part.letter] if part.letter in self.given else DERIVED[part.letter](self)
        others = expression.free_symbols - {*self.q, *self.v, *self.a}
        numbers = {x: self.values.get(x) for x in sorted(others, key=str)}
        return ExpandedFormula(part, expression, state, numbers, names, about=about)

    @cached_property
    def _formulas(self) -> dict[tuple[str, ...], Formula]:
        return {}

    # -- machine code ----------------------------------------------------------------------------------------

    def kernel(self, part: str, *words: str) -> Kernel:
        """The machine code of one part: ``kernel("tau")(q, v, a)``; also ``"forward_dynamics"``."""
        key = (part, *words) if part == "forward_dynamics" else self._key(part, *words)
        if key not in self._kernels:
            self._kernels[key] = self._forward_kernel() if part == "forward_dynamics" else self._part_kernel(key)
        return self._kernels[key]

    @cached_property
    def _kernels(self) -> dict[tuple[str, ...], Kernel]:
        return {}

    def _part_kernel(self, key: tuple[str, ...]) -> Kernel:
        formula = self.quantity(*key)
        function = partial(_evaluate_parts, {formula.part.letter: (formula.program, tuple(formula.numbers()))})
        return function_kernel(formula.part.function, function, [a for a in formula.program.inputs if a.shape])

    def _forward_kernel(self) -> Kernel:
        """M a = τ − h, M = L D Lᵀ factored over the recording scalars (MR 8.2)."""
        programs = {name: (f.program, tuple(f.numbers())) for name in "Mh" if (f := self.quantity(name))}
        names = self.q if self.nq == self.nv else self.v
        function = partial(_solve_for_acceleration, programs, [str(x) for x in names])

        def explain(*state: Any) -> None:
            raise SingularError(f"M is singular or overflows at q = {np.asarray(state[0]).tolist()}; no acceleration follows")

        arguments = [Argument("q", (self.nq,)), Argument("v", (self.nv,)), Argument("tau", (self.nv,))]
        return function_kernel("forward_dynamics", function, arguments, explain)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """τ = M a + h, ``(..., n)`` (MR 8.1)."""
        return self.kernel("tau")(q, v, a)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """a = M⁻¹ (τ − h), ``(..., n)`` (MR 8.2)."""
        return self.kernel("forward_dynamics")(q, v, tau)

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """M(q), ``(..., n, n)``."""
        return self.kernel("M")(q)

    def bias_force(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """h(q, v) = c + g − Q, ``(..., n)``."""
        return self.kernel("h")(q, v)

    def velocity_force(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """c(q, v), ``(..., n)``."""
        return self.kernel("c")(q, v)

    def gravity_force(self, q: ArrayLike) -> np.ndarray:
        """g(q), ``(..., n)``."""
        return self.kernel("g")(q)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """C(q, v), ``(..., n, n)``."""
        return self.kernel("C")(q, v)

    # -- comparison, display ---------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def _repr_latex_(self) -> str:
        return "\n\n".join(formula._repr_latex_() for formula in self._shown(()))

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __str__(self) -> str:
        return self.text()


def _evaluate_parts(parts: Mapping[str, tuple[Program, tuple[float, ...]]], *state: Sequence[Any]) -> dict[str, Any]:
    """Programs of (a leading part of) the state and of parameters with these numbers, over any scalars; nested lists."""
    made = {}
    for name, (program, numbers) in parts.items():
        count = sum(bool(a.shape) for a in program.inputs)
        values = evaluate(program, [*(x for group in state[:count] for x in group), *numbers], RECORD)
        made[name] = _nest([values[r] for r in program.results], program.outputs[0].shape)
    return made


def _nest(flat: list[Any], shape: Sequence[int]) -> Any:
    for n in reversed(shape[1:]):
        flat = [flat[k : k + n] for k in range(0, len(flat), n)]
    return flat


def _solve_for_acceleration(parts: Mapping[str, Any], names: Sequence[str], q: Any, v: Any, tau: Any) -> dict[str, Any]:
    made = _evaluate_parts(parts, q, v)
    return {"a": solve(factor(made["M"], names), [t - h for t, h in zip(tau, made["h"], strict=True)])}


def make_equations(q: Any, v: Any, a: Any, parts: Mapping[str, Any], *, simplify: bool) -> EquationsOfMotion:
    """The equations from matrices M, c, g and forces, each entry simplified unless ``simplify=False``.

    >>> import sympy as sp
    >>> x, v, a, m = sp.symbols("x v a m")
    >>> make_equations([x], [v], [a], {"M": [[m]], "c": [0], "g": [m * x], "forces": [0]}, simplify=True).tau[0]
    m*(a + x)
    """
    short = simplify_trigonometry if simplify else lambda e: e
    made = {name: sympy_library().ImmutableDenseMatrix(part).applyfunc(short) for name, part in parts.items()}
    if "M_t" in made and made["M_t"].is_zero_matrix:
        del made["M_t"]  # M does not depend on time explicitly
    return EquationsOfMotion(tuple(q), tuple(v), tuple(a), made)
