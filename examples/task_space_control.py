"""Computed torque in the task space (MR §8.6, §11.4.3): the tool of a UR5 tracks a circle with constant orientation.

F = Λ (V̇_d + Kp X_e + Kd V_e) + η, τ = JᵀF: with a perfect model the tool's error obeys Ẍ_e + Kd Ẋ_e + Kp X_e = 0.
"""

import numpy as np

import torsor as ts

robot = ts.robots.ur5()
tool = robot.task("tool0")  # (ω, ṗ) in the world's axes

Kp, Kd, dt = 400.0, 40.0, 1e-3
radius, rate = 0.1, 2.0

q, v = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0]), np.zeros(6)
start = robot.pose(q, "tool0")
center = start[:3, 3] - [0.0, radius, 0.0]

print(f"condition of J M^-½ at the start: {tool.report(q).condition:.3g}")
print("   t     error [mm]   error [mrad]")
for k in range(2001):
    t = k * dt
    turn = np.array([0.0, np.cos(rate * t), np.sin(rate * t)])
    along = np.array([0.0, -np.sin(rate * t), np.cos(rate * t)])
    T = robot.pose(q, "tool0")

    turned = 0.5 * np.cross(T[:3, :3].T, start[:3, :3].T).sum(axis=0)  # the rotation error, to second order
    X_e = np.concatenate([turned, center + radius * turn - T[:3, 3]])
    V_e = np.concatenate([np.zeros(3), radius * rate * along]) - tool.twist(q, v)
    feedforward = np.concatenate([np.zeros(3), -radius * rate**2 * turn])
    tau = tool.inverse_dynamics(q, v, feedforward + Kp * X_e + Kd * V_e).tau  # MR 8.89

    if k % 400 == 0:
        print(f"{t:5.2f}   {1e3 * np.linalg.norm(X_e[3:]):8.3f}   {1e3 * np.linalg.norm(X_e[:3]):8.3f}")
    v = v + robot.forward_dynamics(q, v, tau) * dt  # semi-implicit Euler
    q = robot.integrate(q, v, dt)
