"""Swing-up of the acrobot by iLQR; only the elbow has a motor.  `linearize` gives A, B of all steps in one batch."""

import numpy as np

import torsor as ts

robot, dt, steps, limit = ts.robots.acrobot(), 0.02, 200, 30.0  # torques up to 30 N·m
goal, weight, effort = np.array([np.pi / 2, 0, 0, 0]), np.diag([300.0, 300, 30, 30]), 0.01 * dt
sizes = 0.6 ** np.arange(10)  # of the line search, simulated as a batch


def simulate(change, gain, x, u):
    """States and torques of u + size·change + gain (x − x_before), and their costs: one column per size."""
    X, U = np.tile(x[0], (steps + 1, len(sizes), 1)), np.empty((steps, len(sizes)))
    for k in range(steps):
        U[k] = np.clip(u[k] + sizes * change[k] + (X[k] - x[k]) @ gain[k], -limit, limit)
        tau = np.stack([np.zeros(len(sizes)), U[k]], axis=-1)
        X[k + 1] = np.concatenate(robot.step(X[k, :, :2], X[k, :, 2:], tau, dt), axis=-1)
    error = X[-1] - goal
    return X, U, np.einsum("si,ij,sj->s", error, weight, error) / 2 + effort * (U**2).sum(axis=0) / 2


u, x, best, damping = 0.1 * np.sin(3 * dt * np.arange(steps)), np.tile([-np.pi / 2, 0, 0, 0], (steps + 1, 1)), np.inf, 1.0
change, gain = np.zeros(steps), np.zeros((steps, 4))
for iteration in range(82):
    X, U, cost = simulate(change, gain, x, u)
    size, better = np.argmin(cost), cost.min() < best
    if better:
        x, u, best = X[:, size], U[:, size], cost[size]
    damping *= 0.5 if better else 4.0
    A, B = robot.linearize(x[:-1, :2], x[:-1, 2:], np.stack([0 * u, u], axis=-1), dt=dt)
    B, s, S = B[..., 1], weight @ (x[-1] - goal), weight  # s, S: gradient and Hessian of the cost to go
    for k in reversed(range(steps)):
        Quu, Qux = effort * (1 + damping) + B[k] @ S @ B[k], B[k] @ S @ A[k]
        change[k], gain[k] = -(effort * u[k] + B[k] @ s) / Quu, -Qux / Quu
        s, S = A[k].T @ s + Qux * change[k], A[k].T @ S @ A[k] + np.outer(Qux, gain[k])
    if iteration % 20 == 1:
        print(f"iteration {iteration:2d}: cost {best:8.3f}")
print(f"after {steps * dt:g} s the links are {np.degrees(abs(x[-1, :2] - goal[:2]).max()):.1f}° from upright")
