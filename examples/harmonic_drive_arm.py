"""An arm with harmonic drives: springs, friction, rotors and windings are terms of one robot, in every method.

The flexsplines are springs between motors and links, so q and v have the motors behind the joints; x has the currents.
"""

import numpy as np

import torsor as ts
from torsor.actuators import Drive, Gearbox, Motor, friction
from torsor.flexible import SeriesSpring

arm = ts.robots.two_link()
winding = Motor(torque_constant=0.1, resistance=0.5, inductance=1e-3, max_voltage=48.0)
rotor = {"mass": 0.3, "inertia": (5e-5, 5e-5, 8e-5), "ratio": 100.0, "axis": (0, 0, 1)}
robot = (
    arm.with_rotors(dict.fromkeys(arm.joints, rotor))
    .with_springs(SeriesSpring(4e3, 5.0))
    .with_friction({name: friction.Coulomb(2.0).smooth(0.1) for name in arm.joints})
    .with_drives(dict.fromkeys(arm.joints, Drive(winding, Gearbox(100))), command="voltage")
)
print(robot)
print("x:", ", ".join(robot.state_names))

q, v, x = robot.state([-1.0, 0.5], motors="equilibrium")  # the springs hold the arm
hold = robot.inverse_dynamics(q, v, np.zeros(4))
print("motor torques that hold it [N·m]:", hold[2:].round(1), " springs turned by", (q[2:] - q[:2]).round(4), "rad")
print("vibrations with the motors locked [rad/s]:", robot.modes(q, held=robot.joints[2:]).frequencies.round(1))

volts = np.zeros((200, 4))
volts[:, 2:] = hold[2:] * 0.5 / (0.1 * 100) + [4.0, -2.0]  # R τ/(k G), and some more
run = robot.rollout(q, v, volts, x=x, dt=1e-3, integrator="rk4", differentiable=True)
print("after 0.2 s: link", run.q[-1, :2].round(3), " motor", run.q[-1, 2:].round(3), " currents [A]", run.x[-1].round(1))

weights = np.zeros(run.q.shape)
weights[-1, 1] = 1.0
slope = run.gradient(q=weights).controls[:, 2:].sum(axis=0)
print("its elbow moves by", slope.round(4), "rad per volt at each motor")
