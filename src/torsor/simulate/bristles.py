"""Friction with bristles (LuGre) at the recorded rows of a simulation, over any scalar; z are their deflections."""

from __future__ import annotations

from torsor.algorithms.equation import At, EquationOfMotion, Term
from torsor.algorithms.equation.contact import contact_terms
from torsor.algorithms.equation.equation import by_body
from torsor.algorithms.equation.step import smooth_terms
from torsor.compile import Argument
from torsor.kernels.quantities import sizes
from torsor.model import Model
from torsor.scalar import Dual, Scalar, Scalars, rate
from torsor.spatial.linear import dot


def inputs(model: Model, more: tuple[str, ...] = ()) -> list[Argument]:
    """q, v, τ and z, if there are bristles, and more state variables."""
    known = sizes(model) | {"z": (sum(term.states(model).size for term in _bristles(model)),)}
    return [Argument(name, known[name]) for name in ("q", "v", "tau", *(["z"] if known["z"][0] else []), *more)]


def load(e: EquationOfMotion, q: Scalars, v: Scalars, tau: Scalars, z: Scalars = ()) -> list[Scalar]:
    """ℓ (nv) behind the friction with bristles alone: ℓ + φ(v, z, ℓ) = τ."""
    e = e.with_terms(_bristles(e.model))
    return e.load(_deflected(e, q, v, z), tau)


def losses(e: EquationOfMotion, q: Scalars, v: Scalars, tau: Scalars, z: Scalars = ()) -> list[Scalar]:
    """Heat of all friction, (τ − ℓ)·v − Ė [W], and the energy E of bent bristles [J].

    Dry friction of a robot with contacts is in the impulses of its steps, and not here.
    """
    if contact_terms(e.terms):
        e = e.with_terms(smooth_terms(e))
    at = _deflected(e, q, v, z)
    behind = e.load(at, tau)
    at.load = by_body(at.model, e.loads(behind))
    heat: Scalar = dot([x - y for x, y in zip(tau, behind, strict=True)], v)
    stored: Scalar = 0
    for term in _bristles(e.model):
        moving = at.with_x(term, [Dual(x, dx) for x, dx in zip(at.x_of(term), term.rate(at), strict=True)])
        heat, stored = heat - rate(term.energy(moving)), stored + term.energy(at)
    return [heat, stored]


def later(e: EquationOfMotion, q: Scalars, v: Scalars, tau: Scalars, z: Scalars, there: Scalars, h: Scalar) -> list[Scalar]:
    """z after h [s], where the robot has moved from q to ``there``."""
    begin, now = _deflected(e, q, v, z), e.at(there)
    begin.load = by_body(begin.model, e.loads(e.load(begin, tau)))
    return [x for term in _bristles(e.model) for x in term.follow(begin, now, h)]


def _bristles(model: Model) -> list[Term]:
    """The friction with states."""
    return [term for term in model.terms if term.kind == "friction" and term.states(model).size]


def _deflected(e: EquationOfMotion, q: Scalars, v: Scalars, z: Scalars) -> At:
    """The robot at a state, with bristles at their deflections."""
    at = e.at(q, v)
    for term in _bristles(e.model):
        size = term.states(e.model).size
        at.put(term, z[:size])
        z = z[size:]
    return at
