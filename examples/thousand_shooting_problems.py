"""1000 shooting problems at once: each arm finds the smallest torques that take it to its own goal, at rest, in one second.

All arms are one rollout.  Four gradients of it are the rows of J, the derivative of the last state by all torques, and
u ← u + Jᵀ(J Jᵀ)⁻¹ (goal − last state), damped, is Newton's method for the torques of least norm.
"""

import numpy as np

import torsor as ts

robot = ts.robots.two_link()
N, T, DT = 1000, 50, 0.02
rng = np.random.default_rng(0)
goal = np.concatenate([rng.uniform(-1.5, 1.5, size=(N, 2)), np.zeros((N, 2))], axis=1)  # angles, then velocities


def last_state(u):
    """The state at the end, (N, 4), and its derivative by the torques, (N, 4, T·2)."""
    run = robot.rollout(np.zeros((N, 2)), np.zeros(2), u, dt=DT, differentiable=True)
    rows = []
    for k in range(4):
        weights = np.zeros((2, T, 2))
        weights[k // 2, -1, k % 2] = 1
        rows.append(run.gradient(q=weights[0], v=weights[1]).controls.reshape(N, -1))
    return np.concatenate([run.q[:, -1], run.v[:, -1]], axis=1), np.stack(rows, axis=1)


u = np.broadcast_to(robot.gravity_force(np.zeros(2)), (N, T, 2))  # the torques that hold the start
for iteration in range(13):
    x, J = last_state(u)
    miss = goal - x
    if iteration % 4 == 0:
        print(f"iteration {iteration:2}: {np.mean(np.abs(miss).max(1) < 1e-6):5.1%} of the arms arrive")
    step = 0.5 if iteration < 6 else 1.0
    multipliers = np.linalg.solve(J @ J.transpose(0, 2, 1), miss[..., None])
    u = u + step * (J.transpose(0, 2, 1) @ multipliers).reshape(u.shape)
