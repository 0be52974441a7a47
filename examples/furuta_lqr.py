"""LQR balances the Furuta pendulum of MR Exercise 8.4 upright; only the arm has a motor.

A, B of one step are those of `linearize` about the upright rest; K solves the discrete Riccati equation.
"""

import numpy as np

import torsor as ts

robot, dt = ts.robots.furuta(), 0.01
upright = robot.configuration("upright")
A, B = robot.linearize(upright, [0.0, 0.0], [0.0, 0.0], dt=dt)
B = B[:, :1]  # the torque of joint1

Q, R = np.diag([1.0, 10.0, 0.1, 0.1]) * dt, np.array([[0.01]]) * dt
P = Q
for _ in range(5000):  # P = Q + Aᵀ P (A − B K)
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    P = Q + A.T @ P @ (A - B @ K)
print("poles without control", np.sort(abs(np.linalg.eigvals(A))).round(3))
print("poles with control   ", np.sort(abs(np.linalg.eigvals(A - B @ K))).round(3))

start = robot.integrate(upright, [0.0, 0.2])  # the pendulum leans by 0.2 rad


def control(t, q, v):
    """τ = −K x for the motor, x = (q ⊖ upright, v)."""
    x = np.concatenate([robot.difference(upright, q), v])
    return np.array([-(K @ x)[0], 0.0])


motion = robot.simulate(start, [0.0, 0.0], 8.0, control, dt=dt)
for k in range(0, len(motion.t), 100):
    print(f"t = {motion.t[k]:3.1f} s   arm {motion.q[k, 0]:+.3f} rad   pendulum {motion.q[k, 1]:+.4f} rad")
