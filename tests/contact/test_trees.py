"""Contact of random trees with every joint type: impulses act through J, and fulfil the laws of Signorini and Coulomb."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

import torsor as ts
from tests.machine_code import without_machine_code
from tests.trees import random_tree, state
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.equation.step import step
from torsor.errors import TorsorError
from torsor.robot import Robot

#: so short that gravity and the motion of the axes do not count beside the impulses
DT, MU, RADIUS = 1e-7, 0.6, 0.1
CENTRE = (0.05, -0.02, 0.03)


def after_a_step(robot: Robot, q, v):
    """v⁺ and x a step later, over floats."""
    e = EquationOfMotion(robot.model)
    _, v, x = step(e, q.tolist(), v.tolist(), [0.0] * robot.nv, DT, [0.0] * len(robot.state_names))
    return np.array(v), np.array(x)


@given(seed=st.integers(0, 10**6))
@without_machine_code
def test_impulse_on_a_random_tree_acts_through_its_jacobian(seed):
    """M (v⁺ − v_f) = Jᵀ λ with J of the touching point; 0 ≤ λ_n ⊥ u_n ≥ 0, and λ_t sticks, or is μ λ_n against u_t."""
    bare, rng = Robot(random_tree(seed)), np.random.default_rng(seed)
    q, v, _ = state(bare, seed)
    n = rng.normal(size=3)
    n /= np.linalg.norm(n)
    X = bare.pose(q, "frame3")
    nearest = X[:3, :3] @ CENTRE + X[:3, 3] - RADIUS * n

    def on_ground(through) -> Robot:
        shape = ts.contacts.sphere("frame3", radius=RADIUS, at=CENTRE)
        return bare.with_contacts(shape, ts.contacts.plane(n, through), friction=MU)

    try:
        robot, free = on_ground(nearest), on_ground(nearest - 100 * n)
        (v1, x), (v_f, far) = (after_a_step(r, q, v) for r in (robot, free))
    except TorsorError:
        assume(False)  # a frame that nothing moves
    assert not far.any()
    J = bare.jacobian(q, "frame3", at=X[:3, :3].T @ (nearest - X[:3, 3]))[3:]
    M, impulse = bare.mass_matrix(q), x[:3] * DT
    size = max(abs(J.T @ impulse).max(), 1e-3)
    assert abs(M @ (v1 - v_f) - J.T @ impulse).max() < 1e-5 * size
    assert abs(robot.contact_gap(q)).max() < 1e-12
    u, left = J @ v1, x[3]  # [m/s]; the default budget solves 99 % of such contacts to 1e-5 m/s
    normal, slip = impulse @ n, u - (u @ n) * n
    push, fast = impulse - normal * n, max(np.linalg.norm(J @ v_f), 1e-3)
    near = 1e-4 * fast + 2 * left
    assert normal >= 0
    assert u @ n > -near
    assert normal == 0 or u @ n < near
    assert np.linalg.norm(push) <= MU * normal * (1 + 1e-9)
    if left < 1e-6 * fast and np.linalg.norm(push) < 0.999 * MU * normal:
        assert np.linalg.norm(slip) < near
    elif left < 1e-6 * fast and normal > 1e-6:
        assert np.linalg.norm(np.cross(push, slip)) < 1e-2 * np.linalg.norm(push) * fast
        assert push @ slip <= 1e-9
