"""Two joints with different friction laws: every law acts in simulate, whatever the law of the other joint is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq

import torsor as ts
from tests.machine_code import without_machine_code
from torsor.model.friction import (
    Coulomb,
    Directional,
    LoadDependent,
    LuGre,
    StaticKinetic,
    StaticKineticViscous,
    StaticViscous,
    Stribeck,
    Viscous,
)

ARM = ts.robots.two_link()
Q, TAU = np.array([0.3, 0.5]), np.array([3.0, 4.0])


#: name → (law, τ_fric(v, load) written out); LuGre and Dahl friction start with unbent bristles, z = 0 and ż = v
LAWS = {
    "smooth": (Coulomb(3.0).smooth(0.7), lambda v, load: 3 * np.tanh(v / 0.7)),
    "smooth root": (StaticViscous(2.0, 0.5).smooth(0.3, "root"), lambda v, load: 2 * v / np.hypot(0.3, v) + 0.5 * v),
    "sticking": (Coulomb(1.0), lambda v, load: np.sign(v)),
    "static and kinetic": (StaticKinetic(2.0, 1.5), lambda v, load: 1.5 * np.sign(v)),
    "static, kinetic, viscous": (StaticKineticViscous(2.0, 1.5, 0.2), lambda v, load: 1.5 * np.sign(v) + 0.2 * v),
    "Stribeck": (
        Stribeck(3.0, 2.0, 0.5, v_stribeck=0.8),
        lambda v, load: (2 + np.exp(-((v / 0.8) ** 2))) * np.sign(v) + 0.5 * v,
    ),
    "smooth Stribeck": (
        Stribeck(3.0, 2.0, 0.5, v_stribeck=0.8).smooth(0.4),
        lambda v, load: (2 + np.exp(-((v / 0.8) ** 2))) * np.tanh(v / 0.4) + 0.5 * v,
    ),
    "viscous": (Viscous(0.6), lambda v, load: 0.6 * v),
    "load dependent": (LoadDependent(Coulomb(0.5), mu=0.2), lambda v, load: (0.5 + 0.2 * abs(load)) * np.sign(v)),
    "smooth load dependent": (
        LoadDependent(Coulomb(0.5), mu=0.2).smooth(0.5),
        lambda v, load: (0.5 + 0.2 * abs(load)) * np.tanh(v / 0.5),
    ),
    "by direction": (
        Directional(forward=Coulomb(1.2), backward=Viscous(0.9)),
        lambda v, load: np.where(v > 0, 1.2, 0.9 * v),
    ),
    "LuGre": (LuGre(Stribeck(1.5, 1.0, 0.4, v_stribeck=0.1), 1e3, 2.0), lambda v, load: 2 * v + 0.4 * v),
    "Dahl": (LuGre(Coulomb(1.5), 1e3), lambda v, load: 0.0 * v),
}


def friction_of(name, v, tau):
    """φ(v, ℓ) with ℓ + φ(v, ℓ) = τ, the load behind the friction, by bisection."""
    return tau - brentq(lambda load: load + float(LAWS[name][1](v, load)) - tau, -100, 100, xtol=1e-14, rtol=1e-14)


def first_acceleration(robot, v, **options):
    """(v₁ − v₀)/dt of one step of Euler's method: the acceleration at the start."""
    run = robot.simulate(Q, v, 1e-3, TAU, integrator="euler", dt=1e-3, **options)
    assert not run.events
    return (run.v[-1] - v) / 1e-3


def assert_newton(a, v, friction):
    """M a + h + τ_fric = τ, with M and h of the robot without friction."""
    expected = np.linalg.solve(ARM.mass_matrix(Q), TAU - ARM.bias_force(Q, v) - friction)
    np.testing.assert_allclose(a, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def directions():
    """Every pair of laws; the fast suite tries one of two, each law beside some others and in both directions."""
    for (a, first), (b, second), (c, (v, way)) in product(
        enumerate(LAWS), enumerate(LAWS), enumerate((((1.0, 1.5), "same direction"), ((-0.8, 0.6), "opposite directions")))
    ):
        yield pytest.param(first, second, v, id=f"{first}-{second}-{way}", marks=[pytest.mark.night] * ((a + b + c) % 2))


@without_machine_code
@pytest.mark.parametrize(("first", "second", "v"), list(directions()))
def test_both_laws_of_a_pair_act(first, second, v):
    robot, v = ARM.with_friction({"joint1": LAWS[first][0], "joint2": LAWS[second][0]}), np.array(v)
    friction = np.array([friction_of(name, v[k], TAU[k]) for k, name in enumerate((first, second))])
    assert_newton(first_acceleration(robot, v), v, friction)


@without_machine_code
@pytest.mark.parametrize("other", LAWS)
def test_law_acts_while_the_other_joint_sticks(other):
    """Joint 1 is held at rest by 100 N·m of dry friction: a₁ = 0 and M₂₂ a₂ + h₂ + τ_fric = τ₂."""
    v = np.array([0.0, 1.5])
    robot = ARM.with_friction({"joint1": Coulomb(100.0), "joint2": LAWS[other][0]})
    a = first_acceleration(robot, v)
    expected = (TAU - ARM.bias_force(Q, v))[1] - friction_of(other, v[1], TAU[1])
    assert a[0] == 0
    assert a[1] * ARM.mass_matrix(Q)[1, 1] == pytest.approx(expected, rel=1e-11)


@without_machine_code
@pytest.mark.parametrize("name", ["sticking", "smooth", "LuGre", "viscous"])
def test_damping_of_the_model_acts_without_laws_and_beside_them(name):
    v = np.array([1.0, 1.5])
    damped = ts.Builder("damped").link("ground").link("a", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    damped = damped.link("b", mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    damped = damped.joint("joint1", "revolute", "ground", "a", axis=(0, 0, 1), damping=0.7)
    damped = damped.joint("joint2", "revolute", "a", "b", xyz=(1, 0, 0), axis=(0, 0, 1), damping=0.3).build()
    robot = damped.with_friction({"joint1": LAWS[name][0]})
    a = first_acceleration(robot.with_damping(True).without_terms("friction"), v)
    np.testing.assert_allclose(damped.mass_matrix(Q) @ a + damped.bias_force(Q, v) + np.array([0.7, 0.3]) * v, TAU, rtol=1e-11)
    a = first_acceleration(robot.with_damping(True), v)
    lost = np.array([0.7, 0.3]) * v + [LAWS[name][1](v[0], TAU[0]), 0.0]
    np.testing.assert_allclose(damped.mass_matrix(Q) @ a + damped.bias_force(Q, v) + lost, TAU, rtol=1e-11)
    run = robot.simulate(Q, v, 1e-3, TAU)
    assert any("damping of joint2" in note for note in run.notes)  # that of joint1 is part of its law


@pytest.mark.parametrize("pair", list(product(["smooth", "smooth Stribeck"], ["sticking", "LuGre"])), ids="/".join)
def test_energy_balance_of_a_smooth_law_beside_another(pair):
    """The work of a smooth law beside a sticking or LuGre joint is in the motion and in the audit."""
    robot = ARM.with_friction({"joint2": LAWS[pair[0]][0], "joint1": LAWS[pair[1]][0]})
    audit = robot.simulate(Q, [1.0, 1.5], 0.3, TAU, dt=5e-4).audit()
    assert audit.dissipated[-1] > 0.1
    assert audit.relative < (1e-9 if pair[1] == "sticking" else 1e-4)  # LuGre's bristles are of second order
