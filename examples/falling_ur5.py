"""MR Exercise 8.15: simulation of a falling UR5 for three seconds, with energy audit and plot."""

import numpy as np

import torsor as ts

robot = ts.robots.ur5()
fall = robot.simulate(robot.neutral(), np.zeros(6), 3.0)
print(fall)

k = int(fall.energies["kinetic"].argmax())
print(f"fastest after {fall.t[k]:.2f} s: {fall.energies['kinetic'][k]:.1f} J, joints at {np.abs(fall.v[k]).max():.1f} rad/s")
print(f"energy error of the integrator: {fall.audit().worst:.1e} J")

print("\ntorque of shoulder lift at that time, by kind:")
a = robot.forward_dynamics(fall.q[k], fall.v[k], np.zeros(6))
print(robot.explain(fall.q[k], fall.v[k], a).table("shoulder_lift_joint", by="kind"))

fall.save("fall.npz")  # ts.simulate.load_result reads it back bit for bit
try:
    fall.plot()[0].figure.savefig("fall.svg")
    print("\nfall.svg has the curves")
except ts.TorsorError as missing:
    print(f"\nno plot: {missing}")
