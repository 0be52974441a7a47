import torsor as ts

robot = ts.robots.panda()
print(robot.inverse_dynamics(robot.neutral(), [0] * 8, [0] * 8))
