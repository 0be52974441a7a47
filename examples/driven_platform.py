"""A Stewart platform with friction and motors in its six legs: torques of a motion, a simulation, a thousand rollouts.

Loops, friction and drives are terms of one robot; inverse dynamics gives the forces at the drives.
"""

import numpy as np

import torsor as ts
from torsor.actuators import Drive, Gearbox, Motor, friction

legs, k, R, G = [f"leg{n}" for n in range(1, 7)], 0.05, 0.5, 2 * np.pi / 0.005  # screws of 5 mm per turn: G in rad/m
motor = Motor(torque_constant=k, resistance=R, max_voltage=48.0, rotor_inertia=2e-6)
robot = (
    ts.mechanisms.stewart_platform()
    .with_friction(dict.fromkeys(legs, friction.Coulomb(20.0).smooth(0.02)))
    .with_drives(dict.fromkeys(legs, Drive(motor, Gearbox(G))), command="voltage")
    .with_actuated(legs)
)
n, rows = robot.nv, [robot.joint(name).v_slice.start for name in legs]
others = np.setdiff1d(np.arange(n), rows)
held, q, up, steady = robot.constrained(), robot.neutral(), np.full(n, 0.1), np.zeros(n)
A = held.jacobian(q)
up[others] = -np.linalg.solve(A[:, others], A[:, rows] @ up[rows])  # A v = 0: all legs extend at 0.1 m/s
steady[others] = -np.linalg.solve(A[:, others], held.drift(q, up))  # A a + Ȧv = 0
force = robot.inverse_dynamics(q, up, steady)[rows]
volts = np.zeros(n)
volts[rows] = force * R / (k * G) + k * G * up[rows]  # the current, and the back-EMF
print("forces of the legs [N]:", force.round(1), " volts:", volts[rows].round(2))

run = robot.simulate(q, up, 0.2, volts, dt=1e-3)
height = robot.pose(run.q, "plate_centre")[:, 2, 3]
print(f"the plate rises by {1e3 * np.ptp(height):.1f} mm; loops closed to {np.abs(run.residual).max():.0e} m")

many = np.tile(volts, (1000, 200, 1)) * np.random.default_rng(0).uniform(0.95, 1.05, (1000, 1, n))
moved = robot.rollout(np.tile(q, (1000, 1)), up, many, dt=1e-3, differentiable=True)
spread = robot.pose(moved.q[:, -1], "plate_centre")[:, 2, 3].std()
weights = np.zeros(moved.v.shape)  # directions of q have as many entries as v
weights[:, -1, rows[0]] = 1.0
slope = moved.gradient(q=weights).controls.sum(axis=1)[:, rows].mean(axis=0)
print(f"5 % more or less at each leg: {1e3 * spread:.1f} mm; leg 1 per volt at each leg [mm]:", (1e3 * slope).round(2))
