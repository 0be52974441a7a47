"""Lagrange's equations: τ = d/dt ∂L/∂q̇ − ∂L/∂q with L = K − P (MR 8.3, ASADA 7.2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torsor import algorithms
from torsor.algorithms.equation import EquationOfMotion
from torsor.errors import ArgumentError, UnknownName
from torsor.symbolic.equations import EquationsOfMotion, make_equations
from torsor.symbolic.expression_trigonometry import is_identical, simplify_trigonometry
from torsor.symbolic.library import expression, expressions, sympy_library
from torsor.symbolic.rational import ExactModel, model_of
from torsor.symbolic.state_symbols import coordinate_symbols, time_symbol, triples


def lagrange(
    kinetic: Any,
    potential: Any,
    coordinates: Sequence[Any],
    *,
    forces: Any = None,
    time: Any = None,
    simplify: bool = True,
) -> EquationsOfMotion:
    """τ + Q = d/dt ∂L/∂q̇ − ∂L/∂q, L = K(q, q̇) − P(q): the equations of motion from given energies (MR 8.3, ASADA 7.2.2).

    ``kinetic``, ``potential`` SymPy expressions [J].  ``coordinates`` pairs (q, q̇) of symbols, as :func:`coordinate_symbols`
    makes them, triples (q, q̇, q̈), or functions of time (``dynamicsymbols``), which become symbols of the same names.
    ``forces`` are generalized forces Q(q, q̇) that act besides τ: friction, J_rᵀF; a sequence, or ``{q: Q}``.  Floating-point
    numbers are read as the fractions they print as.  ``simplify=False`` leaves the entries as differentiated.

    M = ∂²K/∂q̇², c = q̇ᵀΓ(q)q̇ (MR 8.13–8.18), g = ∂P/∂q.  Where K has terms of lower order in q̇ (a driven frame), those without q̇
    are added to P, and those linear in it, bᵀq̇, add their gyroscopic force to c; C q̇ = c holds without them.

    ``time`` is the symbol of explicit time in K (a support moved as A sin Ωt); of ``dynamicsymbols`` it is their argument.
    Then ∂M/∂t q̇ is part of c and ∂b/∂t part of g.

    >>> import sympy as sp
    >>> from torsor.symbolic import coordinate_symbols
    >>> [(th, w)] = coordinates = coordinate_symbols("theta")
    >>> m, L, g, b = sp.symbols("m L g b")
    >>> pendulum = lagrange(m * L**2 * w**2 / 2, -m * g * L * sp.cos(th), coordinates, forces=[-b * w])
    >>> print(pendulum.text("tau"))
    tau[1] = L**2*m*thetaddot + L*g*m*sin(theta) + b*thetadot
    """
    sp = sympy_library()
    coordinates, symbols, clock = _without_time(coordinates)
    q, v, a = triples(coordinates)
    K, P = (expression(n, _substitute(x, symbols)) for n, x in (("kinetic", kinetic), ("potential", potential)))
    Q = [expression(f"forces[{i}]", _substitute(x, symbols)) for i, x in enumerate(force_list(forces, q, symbols))]
    _check(K, P, Q, q, v, a)
    t = time_symbol(clock if time is None else time, (*q, *v, *a), {"kinetic": K})
    short = simplify_trigonometry if simplify else sp.expand
    n, rest = range(len(q)), dict.fromkeys(v, sp.Integer(0))
    M = [[short(K.diff(v[i], v[j])) for j in n] for i in n]
    if any(m.has(*v) for row in M for m in row):
        raise ArgumentError("kinetic must be a polynomial of at most second degree in the rates: ½ q̇ᵀM q̇ + bᵀq̇ + K₀")
    b = [K.diff(x).xreplace(rest) for x in v]
    K0 = K.xreplace(rest)
    if not is_identical(K, sum(M[i][j] * v[i] * v[j] for i in n for j in n) / 2 + sum(b[i] * v[i] for i in n) + K0):
        raise ArgumentError("kinetic must be a polynomial of at most second degree in the rates: ½ q̇ᵀM q̇ + bᵀq̇ + K₀")

    def velocity(i: int) -> Any:
        """d/dt ∂K/∂q̇ᵢ − ∂K/∂qᵢ without q̈: the terms quadratic and linear in q̇ (MR 8.15, 8.16)."""
        quadratic = sum((M[i][j].diff(q[k]) - M[j][k].diff(q[i]) / 2) * v[j] * v[k] for j in n for k in n)
        linear = sum((b[i].diff(q[j]) - b[j].diff(q[i])) * v[j] for j in n)
        return quadratic + linear + (0 if t is None else sum(M[i][j].diff(t) * v[j] for j in n))

    at_rest = [(P - K0).diff(q[i]) + (0 if t is None else b[i].diff(t)) for i in n]
    parts = {"M": M, "c": [velocity(i) for i in n], "g": at_rest, "forces": Q}
    if t is not None:
        parts["M_t"] = [[m.diff(t) for m in row] for row in M]
    return make_equations(q, v, a, parts, simplify=simplify)


def lagrange_of(
    robot: Any, *, coordinates: Sequence[Any] | None = None, forces: Any = None, simplify: bool = True
) -> EquationsOfMotion:
    """Lagrange's equations of a Robot or Model, from its energies alone (MR 8.55, 8.3): no recursion for forces is used.

    Joint coordinates are q1, q2, ... unless ``coordinates`` are given.  The robot's numbers become fractions; its parameters
    may be symbols.  The energies of springs count; damping, dampers and friction laws are left out: give them as ``forces``.
    A robot with loops is refused; those of its tree, ``robot.without_loops()``, with Aᵀλ as ``forces`` are the equations with
    multipliers (MR §8.7).
    For small robots: with six joints in general position there are too many terms to read.

    >>> import sympy as sp
    >>> import torsor as ts
    >>> m1, m2, L1, L2, g = sp.symbols("m1 m2 L1 L2 g")
    >>> lagrange_of(ts.robots.two_link(m1=m1, m2=m2, L1=L1, L2=L2, g=g)).g[0]
    g*(L1*(m1 + m2)*cos(q1) + L2*m2*cos(q1 + q2))
    """
    model = model_of(robot, "lagrange_of", "lagrange", "energies")
    pairs = joint_coordinates(model, coordinates)
    q, v, _ = triples(pairs)
    robot_, at = ExactModel(model.tree), EquationOfMotion(model).at(q)
    K = robot_.fractions(algorithms.kinetic_energy(robot_.model, q, v))
    P = robot_.fractions(algorithms.potential_energy(robot_.model, q) + sum(term.energy(at) for term in model.terms))
    return lagrange(K, P, pairs, forces=forces, simplify=simplify)


def joint_coordinates(model: Any, coordinates: Sequence[Any] | None) -> Sequence[Any]:
    """The coordinates given, one for each of the model's, or q1, q2, ... with their rates.

    >>> import torsor as ts
    >>> joint_coordinates(ts.robots.two_link().model, None)
    [(q1, qdot_1), (q2, qdot_2)]
    """
    if model.nv == 0:
        raise ArgumentError(f"robot {model.name!r} has no moving joint, hence no equations of motion")
    if coordinates is None:
        return coordinate_symbols([f"q{i + 1}" for i in range(model.nv)])
    if len(triples(coordinates)[0]) != model.nv:
        raise ArgumentError(f"coordinates must be {model.nv}, one for each of {model.name!r}, {len(coordinates)} given")
    return coordinates


# -- arguments ------------------------------------------------------------------------------------------


def _without_time(coordinates: Any) -> tuple[Any, dict[Any, Any], Any]:
    """Pairs of symbols for functions of time, the table of replacements, and the symbol of time; pairs stay as they are."""
    from sympy.core.function import AppliedUndef

    if not isinstance(coordinates, Sequence) or not any(isinstance(x, AppliedUndef) for x in coordinates):
        return coordinates, {}, None
    if not all(isinstance(x, AppliedUndef) and len(x.args) == 1 and x.args == coordinates[0].args for x in coordinates):
        raise ArgumentError("coordinates must all be functions of one time, or all pairs (q, v) of symbols")
    pairs = coordinate_symbols([x.func.__name__ for x in coordinates])
    table: dict[Any, Any] = {}
    for f, (q, v) in zip(coordinates, pairs, strict=True):
        table |= {f.diff(f.args[0]): v, f: q}
    return pairs, table, coordinates[0].args[0]


def _substitute(x: Any, symbols: Mapping[Any, Any]) -> Any:
    return sympy_library().sympify(x).subs(list(symbols.items())) if symbols else x


def force_list(forces: Any, q: Sequence[Any], symbols: Mapping[Any, Any] | None = None) -> list[Any]:
    """Q, one per coordinate, from a sequence, ``{q: Q}`` or None; ``symbols`` replace coordinates that are functions of time.

    >>> x, y, F = sympy_library().symbols("x y F")
    >>> force_list({y: F}, [x, y])
    [0, F]
    """
    symbols = symbols or {}
    if forces is None:
        return [0] * len(q)
    if isinstance(forces, Mapping):
        given = {symbols.get(k, k): x for k, x in forces.items()}
        for k in given:
            if k not in q:
                raise UnknownName("coordinate", str(k), q)
        return [given.get(k, 0) for k in q]
    return expressions("forces", forces, len(q))


def _check(K: Any, P: Any, Q: Sequence[Any], q: Any, v: Any, a: Any) -> None:
    """Errors for energies and forces that depend on accelerations, or on functions of time that are not coordinates."""
    from sympy.core.function import AppliedUndef

    sp = sympy_library()
    own = {str(x): x for x in (*q, *v, *a)}
    for e in (K, P, *Q):
        if stray := [x for x in e.free_symbols if own.get(str(x), x) != x]:
            raise ArgumentError(
                f"the energies or forces have a {stray[0]} that is not the {stray[0]} of the coordinates: SymPy distinguishes "
                "symbols of one name by their assumptions (real, positive); make it once and use it everywhere"
            )
    if P.has(*v):
        raise ArgumentError(f"potential depends on the rates {v}; a potential is a function of the coordinates {q}")
    for name, e in (("kinetic", K), ("potential", P), *((f"forces[{i}]", f) for i, f in enumerate(Q))):
        if e.has(*a):
            raise ArgumentError(f"{name} depends on an acceleration; it is a function of coordinates and rates")
        if e.has(sp.Derivative, AppliedUndef):
            raise ArgumentError(
                f"{name} has functions or derivatives that are not coordinates: {e.atoms(sp.Derivative, AppliedUndef)}"
            )
