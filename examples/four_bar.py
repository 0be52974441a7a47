"""A four-bar linkage: assemble the loop, turn the crank, compute the motor torque at constant speed."""

import numpy as np

import torsor as ts

linkage = ts.mechanisms.four_bar(ground=1.0, crank=0.4, coupler=0.9, rocker=0.8)
system = linkage.constrained()
print(linkage)
print(system.mobility(linkage.neutral()))

rate, angles, q = 6.0, np.linspace(0, 2 * np.pi, 25), linkage.neutral()
print("\ncrank [°]   rocker [°]   motor [N·m]   pin [N]")
for angle in angles:
    q = system.assemble([angle, *q[1:]], fixed=["crank"], attempts=0)  # the last closure is the guess: the branch is kept
    A = system.jacobian(q)
    v = rate * np.append(1.0, -np.linalg.pinv(A[:, 1:]) @ A[:, 0])  # A v = 0
    a0, a1 = (system.forward_dynamics(q, v, [tau, 0, 0]).a for tau in (0.0, 1.0))
    motor = a0[0] / (a0[0] - a1[0])  # acceleration is affine in the torque: torque for zero acceleration of the crank
    pin = np.linalg.norm(system.reactions(q, v, [motor, 0, 0])["pin"][3:])
    print(f"{np.degrees(angle):9.0f}{np.degrees(q[2]):13.1f}{motor:14.2f}{pin:10.1f}")

run = linkage.simulate(q, v, 2.0, dt=5e-3)  # the motor is switched off
print(f"\nswitched off: the loop stays closed to {np.abs(run.residual).max():.0e} m, energy to {run.audit().worst:.0e} J")
