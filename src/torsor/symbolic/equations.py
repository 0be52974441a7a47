"""Equations of motion as an object: τ = M(q) a + c(q, v) + g(q) − Q, to read, to print, to compile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.compile import Argument, Kernel
from torsor.errors import ArgumentError, SingularError, UnknownName
from torsor.kernels.functions import function_kernel
from torsor.spatial import factor, solve
from torsor.symbolic.library import expressions, sympy_library
from torsor.symbolic.printing import c_source, dotted, latex_equations, python_source
from torsor.symbolic.recorded import compile_expression, recorder
from torsor.symbolic.trig_normal_form import shorter, simplify_trigonometry

#: a part of the equations → (the function that computes it, what that reads, its LaTeX)
PARTS = {
    "tau": ("inverse_dynamics", "qva", r"\tau"),
    "M": ("mass_matrix", "q", "M"),
    "c": ("velocity_force", "qv", "c"),
    "g": ("gravity_force", "q", "g"),
    "h": ("bias_force", "qv", "h"),
    "C": ("coriolis_matrix", "qv", "C"),
    "Gamma": ("christoffel_symbols", "q", r"\Gamma"),
    "M_rate": ("mass_matrix_rate", "qv", r"\dot{M}"),
}


def coordinate_symbols(names: str | Sequence[str]) -> list[tuple[Any, Any]]:
    """[(q, q̇), ...]: real symbols for coordinates and their rates, as :func:`lagrange` takes them.

    The rate of ``theta1`` is ``thetadot_1``, which SymPy prints with its dot.

    >>> coordinate_symbols("x theta1")
    [(x, xdot), (theta1, thetadot_1)]
    """
    sp = sympy_library()
    q = sp.symbols(" ".join(names) if not isinstance(names, str) else names, real=True, seq=True)
    return [(x, sp.Symbol(_dotted_name(x, "dot"), real=True)) for x in q]


def _dotted_name(q: Any, dots: str) -> str:
    name = str(q)
    base = name.rstrip("0123456789")
    index = name[len(base) :]
    return f"{base.rstrip('_')}{dots}" + (f"_{index}" if index else "")


def triples(coordinates: Any) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """q, v, a of coordinates given as pairs (q, v) or triples (q, v, a); an acceleration left out is made.

    >>> triples(coordinate_symbols("x"))
    ((x,), (xdot,), (xddot,))
    """
    sp = sympy_library()
    wanted = "coordinates must be pairs (q, v) or triples (q, v, a) of SymPy symbols, as coordinate_symbols makes them"
    if isinstance(coordinates, str) or not isinstance(coordinates, Sequence) or not coordinates:
        raise ArgumentError(f"{wanted}; {coordinates!r} given")
    rows = []
    for row in coordinates:
        if not isinstance(row, Sequence) or len(row) not in (2, 3) or not all(isinstance(x, sp.Symbol) for x in row):
            raise ArgumentError(f"{wanted}; {row!r} is none")
        rows.append(row if len(row) == 3 else (*row, sp.Symbol(_dotted_name(row[0], "ddot"), real=True)))
    q, v, a = zip(*rows, strict=True)
    if len({*q, *v, *a}) < 3 * len(q):
        raise ArgumentError(f"a symbol stands for two things among coordinates {q}, rates {v} and accelerations {a}")
    return q, v, a


def time_symbol(time: Any, own: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """The symbol of explicit time: ``time``, checked; None where nothing given depends on a symbol called t.

    Without ``time`` such a symbol is refused: its derivative d/dt would be missing from the equations.

    >>> import sympy as sp
    >>> time_symbol(sp.Symbol("t"), [sp.Symbol("x")], {})
    t
    """
    sp = sympy_library()
    if time is not None and (not isinstance(time, sp.Symbol) or time in own):
        raise ArgumentError(f"time must be a SymPy symbol other than the coordinates and their rates, not {time!r}")
    for name, expression in given.items() if time is None else ():
        if stray := [x for x in expression.free_symbols if str(x) == "t" and x not in own]:
            raise ArgumentError(f"{name} depends on {stray[0]}: give time={stray[0]} if that is time, else rename the symbol")
    return time


@dataclass(frozen=True)
class EquationsOfMotion:
    """τ = M(q) a + c(q, v) + g(q) − Q (MR 8.1, 8.10): what :func:`lagrange` and :func:`kane` return.

    ``q``, ``v``, ``a`` are symbols; ``M``, ``c``, ``g`` and ``forces`` (Q, what acts besides τ) SymPy matrices.  ``Gamma``,
    ``C``, ``h``, ``tau`` and ``M_rate`` follow from them.  Methods take numbers, one state or a batch, and run machine code.
    Where they depend on time explicitly (a driven support), c has the term ∂M/∂t q̇, g all that is left at q̇ = 0, and ``M_t``
    is ∂M/∂t; time is a parameter: ``with_values({t: 0.3})``.

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
    M: Any
    c: Any
    g: Any
    forces: Any
    M_t: Any = None

    # -- what follows ----------------------------------------------------------------------------------------

    @cached_property
    def Gamma(self) -> Any:
        """Γ_ijk = ½(∂m_ij/∂q_k + ∂m_ik/∂q_j − ∂m_jk/∂q_i), n×n×n (MR 8.17)."""
        M, q, n = self.M, self.q, range(len(self.q))
        rows = [
            [[simplify_trigonometry((M[i, j].diff(q[k]) + M[i, k].diff(q[j]) - M[j, k].diff(q[i])) / 2) for k in n] for j in n]
            for i in n
        ]
        return sympy_library().ImmutableDenseNDimArray(rows)

    @cached_property
    def three_index_symbols(self) -> Any:
        """C_ijk = ∂H_ij/∂q_k − ½ ∂H_jk/∂q_i, n×n×n (ASADA 7.2.22); Γ_ijk is its symmetric part, ½(C_ijk + C_ikj)."""
        M, q, n = self.M, self.q, range(len(self.q))
        rows = [[[simplify_trigonometry(M[i, j].diff(q[k]) - M[j, k].diff(q[i]) / 2) for k in n] for j in n] for i in n]
        return sympy_library().ImmutableDenseNDimArray(rows)

    @cached_property
    def C(self) -> Any:
        """C_ij = Σ_k Γ_ijk v_k (MR 8.19)."""
        n = range(len(self.q))
        return _matrix([[simplify_trigonometry(sum(self.Gamma[i, j, k] * self.v[k] for k in n)) for j in n] for i in n])

    @cached_property
    def centrifugal(self) -> Any:
        """Σ_j C_ijj v_j² (ASADA 7.2.23, first sum)."""
        n = range(len(self.q))
        return _matrix([simplify_trigonometry(sum(self.Gamma[i, j, j] * self.v[j] ** 2 for j in n)) for i in n])

    @cached_property
    def coriolis(self) -> Any:
        """Σ_j≠k C_ijk v_j v_k (ASADA 7.2.23, second sum)."""
        n = range(len(self.q))
        return _matrix(
            [simplify_trigonometry(sum(self.Gamma[i, j, k] * self.v[j] * self.v[k] for j in n for k in n if j != k)) for i in n]
        )

    @cached_property
    def M_rate(self) -> Any:
        """Ṁ = Σ_k ∂M/∂q_k v_k + ∂M/∂t."""
        moved = self.M.applyfunc(lambda m: sum(m.diff(q) * v for q, v in zip(self.q, self.v, strict=True)))
        return (moved if self.M_t is None else moved + self.M_t).applyfunc(simplify_trigonometry)

    @cached_property
    def h(self) -> Any:
        """h = c + g − Q, everything but M a (MR 8.1)."""
        return self.c + self.g - self.forces

    @cached_property
    def tau(self) -> Any:
        """τ = M a + h (MR 8.1)."""
        sp = sympy_library()
        rows = [sp.Add(*(self.M[i, j] * x for j, x in enumerate(self.a)), self.h[i]) for i in range(len(self.q))]
        return _matrix([shorter(row) for row in rows])

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The symbols that are neither coordinates nor rates: masses, lengths, what forces depend on."""
        found = set().union(*(part.free_symbols for part in (self.M, self.c, self.g, self.forces)))
        return tuple(sorted(found - {*self.q, *self.v, *self.a}, key=str))

    def with_values(self, values: Mapping[Any, Any]) -> EquationsOfMotion:
        """The same equations with numbers or expressions for parameters, ``{m: 2.0}`` or ``{"m": 2.0}``."""
        names = {str(p): p for p in self.parameters}
        for key in values:
            if str(key) not in names:
                raise UnknownName("parameter of these equations", str(key), names)
        made = expressions("values", list(values.values()), len(values))
        table = dict(zip((names[str(key)] for key in values), made, strict=True))
        given = {name: getattr(self, name) for name in ("M", "c", "g", "forces", "M_t")}
        parts = {name: part.xreplace(table) for name, part in given.items() if part is not None}
        return replace(self, **parts)

    # -- to read ---------------------------------------------------------------------------------------------

    def latex(self, *parts: str) -> str:
        """The equations as LaTeX: ``"tau"`` (the default, a line a joint), or ``"M"``, ``"c"``, ``"g"``, ``"h"``, ``"C"``."""
        names = {x: dotted(q, 1) for q, x in zip(self.q, self.v, strict=True)}
        names |= {x: dotted(q, 2) for q, x in zip(self.q, self.a, strict=True)}
        rows: dict[str, Any] = {}
        for part in self._parts(parts or ("tau",)):
            if part == "tau":
                rows |= {rf"\tau_{{{i + 1}}}": t for i, t in enumerate(self.tau)}
            else:
                rows[PARTS[part][2]] = getattr(self, part)
        return latex_equations(rows, names=names)

    def python(self, *parts: str) -> str:
        """The source of Python functions: ``inverse_dynamics``, ``mass_matrix``, ``bias_force``, or of the parts named."""
        sources = [
            python_source(*self._signature(p), comment=self._comment(p)) for p in self._parts(parts or ("tau", "M", "h"))
        ]
        return _joined(sources, "import math\n\n\n", "\n\n")

    def c_source(self, *parts: str, prefix: str = "") -> str:
        """The source of C99 functions, as :meth:`python`; ``prefix`` goes before their names."""
        sources = []
        for part in self._parts(parts or ("tau", "M", "h")):
            name, arguments, results = self._signature(part)
            sources.append(c_source(prefix + name, arguments, results, comment=self._comment(part)))
        return _joined(sources, "#include <math.h>\n\n", "\n")

    def _parts(self, parts: Sequence[str]) -> Sequence[str]:
        for part in parts:
            if part not in PARTS:
                raise UnknownName("part of the equations of motion", part, PARTS)
        return parts

    def _signature(self, part: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
        name, reads, _ = PARTS[part]
        return name, {x: getattr(self, x) for x in reads}, {part: getattr(self, part)}

    def _comment(self, part: str) -> str:
        name, reads, _ = PARTS[part]
        order = "; ".join(f"{x} = ({', '.join(map(str, getattr(self, x)))})" for x in reads)
        return f"{part}({', '.join(reads)}), {name.replace('_', ' ')}: {order}."

    # -- to run ----------------------------------------------------------------------------------------------

    def kernel(self, part: str) -> Kernel:
        """The machine code of one part: ``kernel("tau")(q, v, a)``; also ``"forward_dynamics"``."""
        found = self._kernels.get(part)
        if found is None:
            found = self._kernels[part] = self._made(part)
        return found

    @cached_property
    def _kernels(self) -> dict[str, Kernel]:
        return {}

    def _run(self, part: str, *state: Any) -> Any:
        return self.kernel(part)(*state)

    def _made(self, part: str) -> Kernel:
        if part == "forward_dynamics":
            return self._forward_kernel()
        self._parts([part])
        name, arguments, results = self._signature(part)
        return compile_expression(results, arguments, name)

    def _forward_kernel(self) -> Kernel:
        """M a = τ − h, M = L D Lᵀ factored over the recording scalars (MR 8.2)."""
        record = recorder({"M": self.M, "h": self.h}, {"q": self.q, "v": self.v})

        def forward(q: Any, v: Any, tau: Any) -> dict[str, Any]:
            parts = record(q, v)
            return {
                "a": solve(factor(parts["M"], [str(x) for x in self.q]), [t - h for t, h in zip(tau, parts["h"], strict=True)])
            }

        def explain(*state: Any) -> None:
            raise SingularError(f"M is singular or overflows at q = {np.asarray(state[0]).tolist()}; no acceleration follows")

        arguments = [Argument(name, (len(self.q),)) for name in ("q", "v", "tau")]
        return function_kernel("forward_dynamics", forward, arguments, explain)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """τ = M a + h, ``(..., n)`` (MR 8.1)."""
        return self._run("tau", q, v, a)

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """a = M⁻¹ (τ − h), ``(..., n)`` (MR 8.2)."""
        return self._run("forward_dynamics", q, v, tau)

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """M(q), ``(..., n, n)``."""
        return self._run("M", q)

    def bias_force(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """h(q, v) = c + g − Q, ``(..., n)``."""
        return self._run("h", q, v)

    def velocity_force(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """c(q, v), ``(..., n)``."""
        return self._run("c", q, v)

    def gravity_force(self, q: ArrayLike) -> np.ndarray:
        """g(q), ``(..., n)``."""
        return self._run("g", q)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """C(q, v), ``(..., n, n)``."""
        return self._run("C", q, v)

    # -- being an object -------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def __str__(self) -> str:
        return "\n".join(f"tau{i + 1} = {t}" for i, t in enumerate(self.tau))


def _matrix(rows: Any) -> Any:
    return sympy_library().ImmutableDenseMatrix(rows)


def _joined(sources: Sequence[str], head: str, between: str) -> str:
    return head + between.join(source.removeprefix(head) for source in sources)


def assembled(q: Any, v: Any, a: Any, parts: Mapping[str, Any], *, simplify: bool) -> EquationsOfMotion:
    """The equations from matrices M, c, g and forces, each entry neat unless told not to.

    >>> import sympy as sp
    >>> x, v, a, m = sp.symbols("x v a m")
    >>> assembled([x], [v], [a], {"M": [[m]], "c": [0], "g": [m * x], "forces": [0]}, simplify=True).tau[0]
    m*(a + x)
    """
    short = simplify_trigonometry if simplify else lambda e: e
    made = {name: _matrix(part).applyfunc(short) for name, part in parts.items()}
    if "M_t" in made and made["M_t"].is_zero_matrix:
        del made["M_t"]  # M does not depend on time explicitly
    return EquationsOfMotion(tuple(q), tuple(v), tuple(a), **made)
