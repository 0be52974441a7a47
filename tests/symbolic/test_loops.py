"""Symbolic equations of robots with loops or with force elements: none of them is left out without an error."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import torsor as ts
from torsor import mechanisms, symbolic
from torsor.errors import ArgumentError, ModelError

#: functions of a robot in torsor.symbolic whose results are the equations of motion or a part of them
EQUATIONS = {
    "lagrange_of": lambda r: symbolic.lagrange_of(r),
    "lagrange_of a model": lambda r: symbolic.lagrange_of(r.model),
    "kane_of": lambda r: symbolic.kane_of(r),
}


@pytest.mark.parametrize("name", EQUATIONS)
@pytest.mark.parametrize("mechanism", ["four_bar", "five_bar"])
def test_equations_without_rows_of_a_robot_with_loops_are_refused(mechanism, name):
    robot = getattr(mechanisms, mechanism)()
    with pytest.raises(ArgumentError, match=r"does not have (Lagrange|Kane)'s equations.*without_terms"):
        EQUATIONS[name](robot)


def test_lagrange_of_the_tree_with_multipliers_is_the_motion_of_the_loops():
    """M a + h = τ + Aᵀλ (MR 8.93) with the generalized forces Aᵀλ as symbols, at a state of the closed four-bar."""
    robot = mechanisms.four_bar()
    held = robot.constrained()
    q = robot.assemble([0.9, -0.6, 1.2])
    v, tau = held.project_velocity(q, [1.0, 0, 0]), np.array([0.3, -0.2, 0.5])
    a, multipliers = held.forward_dynamics(q, v, tau)
    Q = sp.symbols("Q1:4")
    eom = symbolic.lagrange_of(robot.without_loops(), forces=Q, simplify=False)
    values = dict(zip([*eom.q, *eom.v, *eom.a, *Q], [*q, *v, *a, *(held.jacobian(q).T @ multipliers)], strict=True))
    assert np.allclose([float(x.subs(values)) for x in eom.tau], tau, rtol=0, atol=1e-11)


def test_lagrange_of_has_the_force_elements_of_the_potential_energy_and_refuses_drag():
    arm = ts.robots.two_link()
    light = arm.with_forces({"link1": ts.forces.GravityCompensation()})
    eom, q = symbolic.lagrange_of(light), [0.3, 0.4]
    found = [float(x.subs(dict(zip(eom.q, q, strict=True)))) for x in eom.g]
    assert np.allclose(found, light.gravity_force(q), rtol=0, atol=1e-13)
    with pytest.raises(ModelError, match=r"Drag at link1 of robot 'two_link' does not have Lagrange's equations"):
        symbolic.lagrange_of(arm.with_forces({"link1": ts.forces.Drag(linear=2.0)}))
