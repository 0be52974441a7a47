import roboticstoolbox as rtb

robot = rtb.models.DH.Panda()
print(robot.nofriction().fdyn(5, [0] * 7, dt=0.01).q[-1])
