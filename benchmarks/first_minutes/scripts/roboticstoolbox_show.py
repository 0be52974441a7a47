import roboticstoolbox as rtb

robot = rtb.models.DH.Panda()
motion = robot.nofriction().fdyn(5, [0] * 7, dt=0.01)
robot.plot(motion.q[::10], backend="pyplot", movie="panda.gif", block=False)
print("panda.gif")
