"""Inverse dynamics along a trajectory: joint torques of a motion, compared with the effort limits."""

import numpy as np

import torsor as ts

robot = ts.robots.ur5()
start, goal, T = np.array([0, -1.2, 1.0, -0.8, -1.5, 0]), np.array([1.5, -0.6, 1.6, -1.4, -1.0, 1.0]), 1.2

t = np.linspace(0, T, 1001)
x = (t / T)[:, None]
s, ds, dds = 10 * x**3 - 15 * x**4 + 6 * x**5, 30 * x**2 - 60 * x**3 + 30 * x**4, 60 * x - 180 * x**2 + 120 * x**3

step = robot.difference(start, goal)
q, v, a = start + s * step, ds * step / T, dds * step / T**2  # a fifth-order polynomial: at rest at both ends
tau = robot.inverse_dynamics(q, v, a)  # all 1001 states in one call
power = (tau * v).sum(axis=1)

print(f"{'joint':22}{'peak torque':>14}{'limit':>10}")
for name in robot.joints:
    j = robot.joint(name)
    print(f"{name:22}{np.abs(tau[:, j.v_slice]).max():10.2f} N·m{j.effort_limit[0]:6.0f} N·m")

energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
work = ((power[1:] + power[:-1]) * np.diff(t)).sum() / 2
print(f"\nwork of the motors {work:.6f} J, change of energy {energy[-1] - energy[0]:.6f} J")
