"""Computed torque control (MR §11.4) of a two-link arm with a load that is missing in the controller's model.

τ = M(q) (a_d + Kp e + Kd ė) + h(q, v): with a perfect model the error obeys ë + Kd ė + Kp e = 0.
"""

import numpy as np

import torsor as ts

model = ts.robots.two_link()  # model of the controller
plant = model.with_payload("tip", mass=0.05)  # the real arm
law = model.kernel("mass_matrix", "bias_force")  # common terms are computed once

Kp, Kd, dt = 400.0, 40.0, 1e-3
q, v = np.array([0.3, -0.5]), np.zeros(2)

print("   t      error [rad]")
for k in range(2001):
    t = k * dt
    desired = np.array([np.sin(2 * t), 0.5 * np.cos(3 * t)])
    desired_v = np.array([2 * np.cos(2 * t), -1.5 * np.sin(3 * t)])
    desired_a = np.array([-4 * np.sin(2 * t), -4.5 * np.cos(3 * t)])

    e, de = model.difference(q, desired), desired_v - v
    M, h = law(q, v)
    tau = M @ (desired_a + Kp * e + Kd * de) + h

    if k % 250 == 0:
        print(f"{t:5.2f}   {np.abs(e).max():.6f}")
    v = v + plant.forward_dynamics(q, v, tau) * dt  # semi-implicit Euler
    q = plant.integrate(q, v, dt)
