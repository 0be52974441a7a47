import roboticstoolbox as rtb

robot = rtb.models.DH.Panda()
print(robot.rne([0] * 7, [0] * 7, [0] * 7))
