"""Lagrange's equations by differentiating the Lagrangian, for any joint: no Newton–Euler, no S, no cross products.

From a configuration q₀ the robot moves along q = q₀ ⊕ x, with coordinates x that are plain numbers wherever q₀ is, quaternions
included.  Then MR 8.3 holds in its printed form:

    τ = d/dt ∂L/∂ẋ − ∂L/∂x,   L(x, ẋ) = K − P      at x = 0, ẋ = v, ẍ = a

ẍ is a there, because v = ẋ along every straight line x = u t.  K is made of the velocities of points alone, ½ Σ tr(Ṫ J Ṫᵀ) with
the pose T and the pseudo-inertia J of each body (Uicker 1965, Kahn 1969), and Ṫ, ∂/∂ẋ and d/dt are three nested duals
(:class:`torsor.scalar.Dual`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor import algorithms as alg
from torsor.algorithms import rotors
from torsor.algorithms.kinematics import from_world, joints
from torsor.checks.certify.comparison import Array
from torsor.checks.certify.subject import as_array
from torsor.model import Model
from torsor.scalar import Dual, rate
from torsor.scalar.dual import value
from torsor.spatial import Inertia, Mat, Motion, Vec
from torsor.spatial.vector import ZERO


def lagrange(model: Model, q: Array, v: Array, a: Array) -> Array:
    """τ = d/dt ∂L/∂ẋ − ∂L/∂x (MR 8.3), ``(samples, nv)``, exact except for rounding.

    >>> import torsor as ts
    >>> lagrange(ts.robots.two_link().model, np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2))).round(2)
    array([[29.43,  9.81]])
    """
    # a scalar is an array (samples, nv): every ∂/∂x_k at once
    qs, vs, accelerations = (list(x.T[:, :, None]) for x in (q, v, a))
    each = list(np.eye(model.nv))
    moving = [Dual(Dual(0, vk)) for vk in vs]
    rates = [Dual(Dual(vk, ak), e) for vk, ak, e in zip(vs, accelerations, each, strict=True)]
    momentum_rate: Any = rate(rate(lagrangian(model, qs, moving, rates)))  # d/dt ∂L/∂ẋ
    displaced = [Dual(0, e) for e in each]
    gradient = rate(lagrangian(model, qs, displaced, [Dual(vk) for vk in vs]))  # ∂L/∂x
    # flywheels: they have no L where v is not a rate of coordinates
    armatures = model.gather_forces(model.rotor_forces(list(a.T)))
    return momentum_rate - gradient + as_array(armatures, len(q))


def lagrangian(model: Model, q: Sequence[Any], x: Sequence[Any], xdot: Sequence[Any]) -> Any:
    """L = K − P at the configuration q ⊕ x, moving at ẋ."""
    path = alg.integrate(model, q, [Dual(a, b) for a, b in zip(x, xdot, strict=True)], 1)
    poses = [X.pose for X in from_world(model, joints(model, path)[0])]
    L: Any = 0
    for i, _ in model.outward():
        (R, p), G = poses[i], model.inertia[i]
        L = L + _kinetic(G, _rates(R), Vec(*map(rate, p))) - _potential(G, _values(R), Vec(*map(value, p)), model.gravity)
    return L + _spins(model, path, poses)


def _kinetic(G: Inertia, R: Mat, p: Vec) -> Any:
    """½ ∫ |ṗ + Ṙ r|² dm = ½ m ṗ² + ṗ·Ṙh + ½ tr(Ṙ Σ Ṙᵀ), with Σ = ∫ r rᵀ dm = ½ tr(I) 1 − I."""
    half = (G.I.xx + G.I.yy + G.I.zz) * 0.5
    second = Mat(*(Vec(*(half * (i == j) - x for j, x in enumerate(row))) for i, row in enumerate(G.I.rows)))
    turning = sum((row.dot(second @ row) for row in R), start=0)
    return p.dot(p) * (G.m * 0.5) + p.dot(R @ G.h) + turning * 0.5


def _potential(G: Inertia, R: Mat, p: Vec, gravity: Vec) -> Any:
    """−m g·c"""
    return -gravity.dot(p * G.m + R @ G.h)


def _spins(model: Model, path: Sequence[Any], poses: Sequence[tuple[Mat, Vec]]) -> Any:
    """Kinetic energy of the rotors' spin (MR §8.9.2)."""
    if not model.rotors:
        return 0
    v = [rate(x) for x in alg.difference(model, [Dual(value(x)) for x in path], path)]  # ẋ as a joint velocity
    return rotors.kinetic_energy(model, [Motion(_angular_velocity(R), ZERO) for R, _ in poses], v)


def _angular_velocity(R: Mat) -> Vec:
    """ω in the body, of [ω] = RᵀṘ."""
    W = _values(R).T @ _rates(R)
    return Vec(W.z.y, W.x.z, W.y.x)


def _rates(R: Mat) -> Mat:
    return Mat(*(Vec(*map(rate, row)) for row in R))


def _values(R: Mat) -> Mat:
    return Mat(*(Vec(*map(value, row)) for row in R))
