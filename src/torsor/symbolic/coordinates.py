"""Other generalized coordinates, and the generalized forces that belong to them (ASADA 7.2.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torsor.errors import ArgumentError, UnknownName
from torsor.symbolic.equations import EquationsOfMotion, make_equations
from torsor.symbolic.expression_trigonometry import simplify_trigonometry
from torsor.symbolic.library import expression, expressions, sympy_library
from torsor.symbolic.state_symbols import time_symbol, triples


def virtual_work(position: Sequence[Any], force: Sequence[Any], coordinates: Sequence[Any]) -> Any:
    """Q = J_rᵀ F, J_r = dr/dq: generalized force of a force F at the point r(q) (ASADA 7.2.31, 7.2.32).

    δWork = Fᵀδr = Qᵀδq.  The endpoint or any other point, in two or three dimensions; ``coordinates`` as for
    :func:`torsor.lagrange`.  Give the result to ``lagrange(..., forces=Q)``.

    >>> import sympy as sp
    >>> from torsor.symbolic import coordinate_symbols
    >>> [(th, _)] = coordinates = coordinate_symbols("theta")
    >>> L, F = sp.symbols("L F")
    >>> virtual_work((L * sp.cos(th), L * sp.sin(th)), (0, F), coordinates)
    Matrix([[F*L*cos(theta)]])
    """
    sp = sympy_library()
    q, _, _ = triples(coordinates)
    r = expressions("position", position, len(position))
    F = expressions("force", force, len(r))
    return sp.ImmutableDenseMatrix(sp.Matrix(r).jacobian(q).T * sp.Matrix(F)).applyfunc(simplify_trigonometry)


def generalized_force(old: Mapping[Any, Any], coordinates: Sequence[Any], forces: Sequence[Any]) -> Any:
    """Q = Jᵀτ, J = ∂q_old/∂q_new: the forces τ of old coordinates as forces of new ones (ASADA 7.2.26–7.2.30).

    ``old`` gives each old coordinate as a function of the new, ``{theta1: phi1, theta2: phi2 - phi1}``; ``forces`` belong to
    them, in that order.  The work is the same in both: Qᵀδq_new = τᵀδq_old.

    >>> import sympy as sp
    >>> from torsor.symbolic import coordinate_symbols
    >>> (p1, _), (p2, _) = new = coordinate_symbols("phi1 phi2")
    >>> th1, th2, t1, t2 = sp.symbols("theta1 theta2 tau1 tau2")
    >>> generalized_force({th1: p1, th2: p2 - p1}, new, [t1, t2]).T
    Matrix([[tau1 - tau2, tau2]])
    """
    sp = sympy_library()
    q, _, _ = triples(coordinates)
    if not isinstance(old, Mapping):
        raise ArgumentError(f"old must be a dict {{old coordinate: function of the new}}, not {old!r}")
    tau = expressions("forces", forces, len(old))
    J = sp.Matrix([expression(f"old[{k}]", x) for k, x in old.items()]).jacobian(q)
    return sp.ImmutableDenseMatrix(J.T * sp.Matrix(tau)).applyfunc(simplify_trigonometry)


def change_coordinates(
    equations: EquationsOfMotion,
    old: Mapping[Any, Any],
    coordinates: Sequence[Any],
    *,
    time: Any = None,
    simplify: bool = True,
) -> EquationsOfMotion:
    """M' = JᵀMJ, c' = Jᵀ(c + M J̇ q̇'), g' = Jᵀg, τ' = Jᵀτ: the same motion in other coordinates, J = ∂q/∂q' (ASADA Example 7.2).

    ``old`` gives each coordinate of the equations as a function of the new ones.  The new τ' are the forces of the
    new coordinates: :func:`generalized_force` gives them in terms of the old.  There may be fewer new coordinates than old:
    then the motion is constrained to the configurations they describe, and constraint forces do not appear.  ``time`` is the
    symbol of explicit time in ``old`` (a rotating frame): then q̇ = J q̇' + ∂q/∂t, and the part of c' left at q̇' = 0 is in g'.

    >>> import sympy as sp
    >>> import torsor as ts
    >>> from torsor.symbolic import coordinate_symbols, lagrange_of
    >>> eom = lagrange_of(ts.robots.two_link(**{x: sp.Symbol(x) for x in ("m1", "m2", "L1", "L2", "g")}))
    >>> (p1, _), (p2, _) = new = coordinate_symbols("phi1 phi2")
    >>> q1, q2 = eom.q
    >>> change_coordinates(eom, {q1: p1, q2: p2 - p1}, new).M[0, 1]
    L1*L2*m2*cos(phi1 - phi2)
    """
    sp = sympy_library()
    if not isinstance(equations, EquationsOfMotion):
        raise ArgumentError(f"equations must be EquationsOfMotion, not {type(equations).__name__}")
    equations.check_expressions("change_coordinates", rates=True)
    if not isinstance(old, Mapping):
        raise ArgumentError(f"old must be a dict {{old coordinate: function of the new}}, not {old!r}")
    q, v, a = triples(coordinates)
    for k in old:
        if k not in equations.q:
            raise UnknownName("coordinate of the equations", str(k), equations.q)
    if missing := [str(k) for k in equations.q if k not in old]:
        raise ArgumentError(f"old has no {missing[0]}; give each of {equations.q} as a function of the new coordinates")
    if clash := {*q, *v, *a} & {*equations.q, *equations.v, *equations.a}:
        raise ArgumentError(f"new coordinates must have new names; {sorted(map(str, clash))} are in use")
    position = sp.Matrix([expression(f"old[{k}]", old[k]) for k in equations.q])
    t = time_symbol(time, (*q, *v, *a), {f"old[{k}]": x for k, x in zip(equations.q, position, strict=True)})
    J = position.jacobian(q)
    speed = J * sp.Matrix(v) + (sp.zeros(len(position), 1) if t is None else position.diff(t))
    bias = speed.jacobian(q) * sp.Matrix(v) + (sp.zeros(len(position), 1) if t is None else speed.diff(t))  # q̈ − J q̈'
    table = dict(zip((*equations.q, *equations.v), (*position, *speed), strict=True))
    M, c, g, Q = (part.xreplace(table) for part in (equations.M, equations.c, equations.g, equations.forces))
    parts = {"M": J.T * M * J, "c": J.T * (c + M * bias), "g": J.T * g, "forces": J.T * Q}
    if t is not None:
        left = parts["c"].xreplace(dict.fromkeys(v, sp.Integer(0)))
        parts |= {"c": parts["c"] - left, "g": parts["g"] + left, "M_t": parts["M"].diff(t)}
    elif equations.M_t is not None:
        parts["M_t"] = J.T * equations.M_t.xreplace(table) * J
    return make_equations(q, v, a, parts, simplify=simplify)
