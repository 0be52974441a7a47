"""First calls of a humanoid in a new process: cold, with an empty kernel cache, and warm, with that of the process before."""

from __future__ import annotations

import json
import tempfile

import torsor as ts
from benchmarks.processes import run_python

#: the feet of G1, held to the ground
FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
#: what is computed first, and pays for the import of llvmlite
FIRST = "gravity_force"

#: name → statement, in this order; a force is any vector of nv numbers
STATEMENTS = {
    FIRST: "robot.gravity_force(q)",
    "inverse_dynamics": "robot.inverse_dynamics(q, v, v)",
    "forward_dynamics": "robot.forward_dynamics(q, v, v)",
    "mass_matrix": "robot.mass_matrix(q)",
    "mass_matrix_inverse": "robot.mass_matrix_inverse(q)",
    "bias_force": "robot.bias_force(q, v)",
    "velocity_force": "robot.velocity_force(q, v)",
    "coriolis_matrix": "robot.coriolis_matrix(q, v)",
    "mass_matrix_rate": "robot.mass_matrix_rate(q, v)",
    "kinetic_energy": "robot.kinetic_energy(q, v)",
    "potential_energy": "robot.potential_energy(q)",
    "momentum": "robot.momentum(q, v)",
    "center_of_mass": "robot.center_of_mass(q)",
    "pose": "robot.pose(q, frame)",
    "jacobian": "robot.jacobian(q, frame)",
    "jacobian_rate": "robot.jacobian_rate(q, v, frame)",
    "twist": "robot.twist(q, v, frame)",
    "acceleration": "robot.acceleration(q, v, v, frame)",
    "poses": "robot.poses(q)",
    "integrate": "robot.integrate(q, v, 0.1)",
    "difference": "robot.difference(q, q)",
    "configuration_rate": "robot.configuration_rate(q, v)",
    "reaction_wrenches": "robot.reaction_wrenches(q, v, v)",
    "wrenches=": "robot.inverse_dynamics(q, v, v, wrenches={frame: F})",
    "hybrid_dynamics": "robot.hybrid_dynamics(q, v, v, v, [robot.joints[-1]])",
    "batch of inverse_dynamics": "robot.inverse_dynamics(np.stack([q] * 9), v, v)",
    "constrained forward_dynamics": "standing.forward_dynamics(home, still, v)",
    "rollout, semi_implicit": "robot.rollout(q, v, dt=1e-3, steps=1)",
    "rollout, rk4": "robot.rollout(q, v, dt=1e-3, steps=1, integrator='rk4')",
    "christoffel_symbols": "robot.christoffel_symbols(q)",
}

SCRIPT = """
import json, sys, time
import numpy as np
import torsor as ts
from torsor import constraints
statements, home, feet = (json.loads(x) for x in sys.argv[1:])
robot = ts.robots.humanoid()
q, v, F, frame, home = robot.neutral(), np.full(robot.nv, 0.1), np.ones(6), robot.links[-1], np.array(home)
still = np.zeros(robot.nv)
standing = robot.constrained(*(constraints.fixed_pose(foot, xyz=xyz, rpy=(0, 0, 0)) for foot, xyz in feet.items()))
seconds = {}
for name, statement in statements.items():
    start = time.perf_counter()
    eval(statement)
    seconds[name] = time.perf_counter() - start
print(json.dumps(seconds))
"""


def seconds(processes: int) -> dict[str, dict[str, float]]:
    """Seconds of each statement, cold and warm; of several processes the best."""
    home, feet = _standing_configuration()
    arguments = json.dumps(STATEMENTS), json.dumps(home), json.dumps(feet)
    runs: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
    for _ in range(processes):
        with tempfile.TemporaryDirectory() as cache:  # mkdtemp makes it 0700, as torsor demands
            for run in runs.values():
                run.append(json.loads(run_python(SCRIPT, *arguments, cache=cache)[1]))
    return {word: {name: min(times[name] for times in run) for name in STATEMENTS} for word, run in runs.items()}


def _standing_configuration() -> tuple[list[float], dict[str, list[float]]]:
    """G1 with its knees bent a little and its feet level: q, and where the feet are [m]."""
    robot = ts.robots.humanoid()
    home = robot.neutral()
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -0.4), ("knee", 0.8), ("ankle_pitch", -0.4)):
            home[robot.joint(f"{side}_{joint}_joint").q_slice] = angle
    return home.tolist(), {foot: robot.pose(home, foot)[:3, 3].tolist() for foot in FEET}
