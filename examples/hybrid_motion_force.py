"""Hybrid motion–force control (MR §8.7, §11.6): a UR5 presses on a wall with 20 N while its tool moves up and down along it.

The wall x = const takes away one direction of the tool, A V = 0 with A = (0 0 0 1 0 0).  P is what is left for motion:

    τ = Jᵀ ( P (Λ V̇_d) + (1 − P) F_d + η ),   P = 1 − Aᵀ (A Λ⁻¹ Aᵀ)⁻¹ A Λ⁻¹     (MR 8.100 in the task space, 11.61)
"""

import numpy as np

import torsor as ts

robot = ts.robots.ur5()
tool = robot.task("tool0")
wall = robot.task("tool0", ("vx",))  # the row constrained by the wall: its Λ is (A Λ⁻¹ Aᵀ)⁻¹

A = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
F_d = 20.0 * A[0]  # on the wall [N]
Kp, Kd, dt = 400.0, 40.0, 1e-3
q, v = np.array([0.0, -1.3, 1.6, -1.9, -1.57, 0.0]), np.zeros(6)
start = robot.pose(q, "tool0")

print("   t    height [mm]   desired   force [N]   off the wall [µm]")
for k in range(2001):
    t = k * dt
    wanted, rate, second = 0.1 * np.array([1 - np.cos(2 * t), 2 * np.sin(2 * t), 4 * np.cos(2 * t)])
    T = robot.pose(q, "tool0")

    X_e = np.concatenate([0.5 * np.cross(T[:3, :3].T, start[:3, :3].T).sum(axis=0), start[:3, 3] + [0, 0, wanted] - T[:3, 3]])
    V_e = np.array([0, 0, 0, 0, 0, rate]) - tool.twist(q, v)
    V_d = np.array([0, 0, 0, 0, 0, second]) + Kp * X_e + Kd * V_e

    P = np.eye(6) - A.T @ wall.mass_matrix(q) @ A @ tool.inverse_mass_matrix(q)
    F = P @ tool.mass_matrix(q) @ V_d + (np.eye(6) - P) @ F_d + tool.bias_force(q, v)
    tau = tool.joint_force(q, F)
    f = -wall.mass_matrix(q) @ wall.forward_dynamics(q, v, tau=tau)  # a rigid wall: the force that stops the tool
    if k % 400 == 0:
        off, _, height = T[:3, 3] - start[:3, 3]
        print(f"{t:5.2f}   {1e3 * height:9.2f}   {1e3 * wanted:8.2f}   {-f[0]:8.3f}   {1e6 * off:8.2f}")
    v = v + robot.forward_dynamics(q, v, tau + wall.joint_force(q, f)) * dt
    q = robot.integrate(q, v, dt)
