"""Mechanisms with one degree of freedom by hand: poses of the bodies as functions of the crank angle, and θ̈ from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import mpmath as mp


class Body(NamedTuple):
    """A body in the plane."""

    mass: float
    inertia: float  #: about the centre of mass
    x: mp.mpf
    y: mp.mpf
    angle: mp.mpf


def crank_acceleration(bodies: Callable[[mp.mpf], list[Body]], theta: float, rate: float, torque: float, g: float) -> float:
    """θ̈ of J(θ)θ̈ + ½J′(θ)θ̇² + V′(θ) = τ, with J = Σ m(x′² + y′²) + I φ′² by velocity coefficients (Lagrange)."""
    with mp.workdps(40):
        inertia = centrifugal = weight = mp.mpf(0)
        for k, body in enumerate(bodies(mp.mpf(theta))):
            for size, place in ((body.mass, "x"), (body.mass, "y"), (body.inertia, "angle")):
                _, first, second = mp.taylor(lambda t, k=k, place=place: getattr(bodies(t)[k], place), theta, 2)
                second = 2 * second
                inertia += size * first**2
                centrifugal += size * first * second
                weight += body.mass * g * first if place == "y" else 0
        return float((torque - centrifugal * rate**2 - weight) / inertia)
