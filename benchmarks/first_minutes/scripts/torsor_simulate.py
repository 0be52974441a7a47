import torsor as ts

robot = ts.robots.panda()
print(robot.simulate(robot.neutral(), [0] * 8, 5.0).q[-1])
