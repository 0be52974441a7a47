"""First-order states x of a robot with constraints: they act in forward dynamics as they do on the tree."""

from __future__ import annotations

import numpy as np

import torsor as ts
from tests.tolerance import assert_close
from torsor import constraints
from torsor.model import friction


def test_forward_dynamics_with_constraints_uses_the_given_x():
    """a = a₀ + M⁻¹Aᵀλ with A a = 0, where a₀ is that of the tree at the same x and A = e₃ᵀ − e₄ᵀ is constant."""
    law = friction.LuGre(friction.Stribeck(2.0, 1.0, 1.0, v_stribeck=0.2), stiffness=1e4, damping=10.0)
    tree = ts.robots.ur5()
    tree = tree.with_friction({tree.joints[0]: law})
    robot = tree.with_constraints(constraints.coupling(tree.joints[3], tree.joints[4]))
    q, v, tau = np.full(6, 0.3), np.full(6, 0.2), np.linspace(-1.0, 1.0, 6)
    A, inverse = np.array([[0.0, 0.0, 0.0, 1.0, -1.0, 0.0]]), tree.mass_matrix_inverse(q)
    found = []
    for z in (0.0, 1e-4, 1e-3):
        free = tree.forward_dynamics(q, v, tau, x=[z])
        multiplier = np.linalg.solve(A @ inverse @ A.T, -A @ free)
        found.append(robot.forward_dynamics(q, v, tau, x=[z]))
        assert_close(found[-1], free + inverse @ A.T @ multiplier, 1e-11)
    assert abs(found[1] - found[0]).max() > 1e-3
    batch = robot.forward_dynamics(q, v, tau, x=np.array([[0.0], [1e-4], [1e-3]]))
    assert (batch == np.array(found)).all()
