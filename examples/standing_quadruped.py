"""1000 quadrupeds with joint friction stand on held feet and are pushed: one rollout, and its gradient tunes their servos.

Friction, feet and servos are terms of the robot.  The gains are inputs of the kernel, the same for all robots.
"""

import numpy as np

import torsor as ts
from torsor.actuators import PositionServo, friction

dog, N, T = ts.robots.quadruped(), 1000, 100
legs = [name for name in dog.joints if name != "floating_base"]
stance = dog.neutral()
for name in legs:
    stance[dog.joint(name).q_slice] = {"HAA": 0.0, "HFE": 0.8, "KFE": -1.6}[name[-3:]]
feet = [ts.constraints.point_at(foot, dog.pose(stance, foot)[:3, 3]) for foot in dog.frames if foot.endswith("_FOOT")]
robot = dog.with_friction(dict.fromkeys(legs, friction.Coulomb(0.1).smooth(0.1))).with_constraints(*feet).with_actuated(legs)
hold = robot.inverse_dynamics(stance, np.zeros(18), np.zeros(18))  # at the legs alone, of least norm
print(len(robot.constrained().rows), "rows of the feet; torques that hold a leg [N·m]:", hold[6:9].round(2))

pushes = np.hstack([np.random.default_rng(0).normal(scale=0.3, size=(N, 6)), np.zeros((N, 12))])
start = np.tile(stance, (N, 1)), robot.constrained().project_velocity(stance, pushes)
kp, kv = 2.0, np.full(12, 0.02)
target = np.append(np.zeros(6), stance[7:] + hold[6:] / kp)  # a servo holds by its error
servos = robot.with_actuators(dict.fromkeys(legs, PositionServo(kp, kv[0])))
for _ in range(5):
    gains = {name: PositionServo(kp, k) for name, k in zip(legs, kv, strict=True)}
    run = servos.rollout(*start, target, dt=1e-3, steps=T, vary={"actuators": gains}, differentiable=True)
    twist = run.v[:, :, :6]
    cost, closed = (twist**2).sum() / (N * T), run.residual[:, 0].max() < 1e-12
    print(f"mean square twist {cost:.4f}; dampings of a leg {kv[:3].round(3)} N·m·s/rad; feet in place: {closed}")
    weights = np.concatenate([2 * twist, np.zeros((N, T, 12))], axis=-1) / (N * T)
    slopes = run.gradient(v=weights).vary["actuators"]
    kv *= [1.5 if slopes[name][1] < 0 else 1 / 1.5 for name in legs]  # each a step downhill
