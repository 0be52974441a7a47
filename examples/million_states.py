"""A million states in one call: the largest holding torques of a UR5 over its workspace."""

import time

import numpy as np

import torsor as ts

robot = ts.robots.ur5()
N = 1_000_000
rng = np.random.default_rng(0)
q = rng.uniform(-np.pi, np.pi, size=(N, 6))

robot.gravity_force(q[:8])  # the first call compiles, or loads code compiled by an earlier process
start = time.perf_counter()
g = robot.gravity_force(q)
seconds = time.perf_counter() - start

print(f"{N:,} states in {seconds:.3f} s on {ts.threads.count()} threads: {seconds / N * 1e9:.0f} ns per state")
for name, limit in ((n, robot.joint(n).effort_limit[0]) for n in robot.joints):
    worst = np.abs(g[:, robot.joint(name).v_slice]).max()
    print(f"{name:22}{worst:8.2f} N·m at rest, limit {limit:.0f}")

alone = robot.gravity_force(q[123_456])
print("state 123456 alone gives the same bits:", bool((alone == g[123_456]).all()))
