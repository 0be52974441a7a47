"""The inertia of a body with a given density, by integration (MR 8.24)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torsor.errors import ArgumentError
from torsor.scalar import tidy
from torsor.spatial import Inertia, Sym, Vec
from torsor.symbolic.library import expression, expressions, sympy_library


def inertia_from_density(density: Callable[..., Any] | Any, point: Sequence[Any], *ranges: Sequence[Any]) -> Inertia:
    """m = ∫ρ dV, h = ∫ρ r dV, I_o = ∫ρ (rᵀr 1 − r rᵀ) dV [kg, kg·m, kg·m²], in closed form (MR 8.24; ASADA 7.1.2).

    ``density`` is ρ [kg/m³], an expression or a function ρ(x, y, z).  ``point`` = (x, y, z) [m] are the points of the body as
    functions of three symbols, its Cartesian, polar or other coordinates; ``ranges`` are (symbol, from, to) of each, the
    innermost integral first, so that its limits may depend on the symbols after it.  dV is |∂r/∂(u₁, u₂, u₃)| du₁ du₂ du₃.

    >>> import sympy as sp
    >>> rho, r, h = sp.symbols("rho r h", positive=True)
    >>> s, f, z = sp.symbols("s f z", positive=True)
    >>> points = (s * sp.cos(f), s * sp.sin(f), z)
    >>> cylinder = inertia_from_density(rho, points, (s, 0, r), (f, 0, 2 * sp.pi), (z, -h / 2, h / 2))
    >>> sp.factor(cylinder.I.zz / cylinder.m), sp.factor(cylinder.I.xx / cylinder.m)  # MR Fig. 8.5
    (r**2/2, (h**2 + 3*r**2)/12)
    """
    sp = sympy_library()
    x, y, z = expressions("point", point, 3)
    if len(ranges) != 3 or any(len(part) != 3 or not isinstance(part[0], sp.Symbol) for part in ranges):
        raise ArgumentError(f"ranges must be three of (symbol, from, to), not {ranges!r}")
    rho = expression("density", density(x, y, z) if callable(density) else density)
    bounds = [(u, expression(f"from of {u}", low), expression(f"to of {u}", high)) for u, low, high in ranges]
    element = sp.trigsimp(sp.Matrix([x, y, z]).jacobian([u for u, _, _ in bounds]).det())
    middle = dict.fromkeys(element.free_symbols, sp.Integer(1))
    for u, low, high in reversed(bounds):
        middle[u] = ((low + high) / 2).subs(dict.fromkeys(((low + high) / 2).free_symbols, 1) | middle)
    if element == 0:
        raise ArgumentError(f"the points ({x}, {y}, {z}) have no volume: they depend on fewer than three of the symbols")

    def integral(f: Any) -> Any:
        found = sp.integrate(sp.expand(rho * f * element), *bounds)
        if found.has(sp.Integral, sp.nan, sp.oo, sp.zoo):
            raise ArgumentError(f"the integral of {f} over the body has no closed form, or is infinite: {found}")
        return sp.simplify(found)

    element = -element if element.subs(middle).is_negative else element  # whatever the order of the symbols
    xx, yy, zz, xy, xz, yz = map(integral, (x * x, y * y, z * z, x * y, x * z, y * z))
    entries = (yy + zz, -xy, -xz, xx + zz, -yz, xx + yy)  # MR 8.24
    first = map(integral, (sp.Integer(1), x, y, z))
    m, hx, hy, hz, *I = (tidy(float(e)) if e.is_number else e for e in (*first, *entries))
    return Inertia(m, Vec(hx, hy, hz), Sym(*I))
