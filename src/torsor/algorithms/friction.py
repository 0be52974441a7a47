"""Friction at the joints as a joint force: each joint's own law, at its own velocity."""

from __future__ import annotations

from torsor.model.model import Model
from torsor.scalar import Scalar, Scalars


def friction_force(model: Model, v: Scalars, *, load: Scalars | None = None) -> list[Scalar]:
    """τ_fric(v, load) of the joints' laws (MR §8.9.4), added in inverse dynamics and subtracted in forward dynamics on request.

    ``load`` (nv) is the joint force without friction, for the laws that grow with it; without it they are unloaded.  A mimic
    joint moves at its own rate k v and takes the load of its leader's coordinate; its friction acts on that coordinate.
    A law with an internal state (LuGre) enters by its steady-state value at this velocity.
    """
    loads = [0] * model.nv if load is None else load
    rates = model.rates(v)
    tau: list[list[Scalar]] = [[] for _ in model.parent]
    for i, laws in enumerate(model.friction):
        through = loads[model.v_start[i] :]
        tau[i] = [0 if law is None else law.steady(rates[i][k], through[k]) for k, law in enumerate(laws)]
    return model.gather_forces(tau)
