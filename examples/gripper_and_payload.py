"""Attach a gripper to an arm and a payload to the gripper; joint torques for each."""

import numpy as np

import torsor as ts

arm = ts.robots.ur5()
hand = ts.robots.panda().subtree("panda_hand")  # the hand of a Panda, as a separate robot
with_hand = arm.attach(hand, at="tool0", prefix="hand_")
loaded = with_hand.with_payload("hand_panda_hand_tcp", mass=1.5, com=(0, 0, 0.05), inertia=(0.004, 0.004, 0.002))
closed = loaded.lock({"hand_panda_finger_joint1": 0.02})  # the second finger mimics the first, so it is locked too

print(with_hand)
print("\nchanges:", *closed.report, sep="\n  ")

pose = {"shoulder_lift_joint": -0.6, "elbow_joint": 1.2, "wrist_1_joint": -0.6, "wrist_2_joint": -1.57}
print("\ntorque at rest [N·m]")
for label, robot in (("arm", arm), ("with hand", with_hand), ("with load", closed)):
    q = robot.neutral()
    for name, angle in pose.items():
        q[robot.joint(name).q_slice] = angle
    g = robot.gravity_force(q)
    shown = "".join(f"{float(g[robot.joint(n).v_slice][0]):9.2f}" for n in arm.joints)
    print(f"{label:10}{shown}   {robot.mass:.2f} kg, nq = {robot.nq}")

F = np.array([0, 0, 0, 0, 0, -10.0])  # the hand presses on the floor with 10 N; the reaction acts on the robot
q = closed.neutral()
more = closed.inverse_dynamics(q, np.zeros(6), np.zeros(6), {"tool0": F}) - closed.gravity_force(q)
print("\n10 N against the tool's z axis adds [N·m]:", more.round(2))
