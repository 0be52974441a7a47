"""``python -m benchmarks.more_peers``: one call of UR5's inverse dynamics by Drake and roboticstoolbox, and whether they agree.

They do not share an environment with the others: ``pip install . drake roboticstoolbox-python`` in one of its own.
"""

from __future__ import annotations

import re
import timeit
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.resources import files

import numpy as np

import torsor as ts

URDF = files("torsor") / "data" / "ur5.urdf"
#: calls in a round, and rounds: short ones, so that some of them are not interrupted
CALLS, ROUNDS = 20, 500


def microseconds(f: Callable[[], object], calls: int = CALLS, rounds: int = ROUNDS) -> float:
    """Of one call; the best round counts."""
    return 1e6 * min(timeit.repeat(f, number=calls, repeat=rounds)) / calls


def drake(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Callable[[], np.ndarray]:
    """Inverse dynamics with the state set and gravity counted, as a user writes it."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces

    plant = MultibodyPlant(0.0)
    bare = re.sub(r"<(visual|collision)>.*?</\1>", "", URDF.read_text(), flags=re.DOTALL)
    Parser(plant).AddModelsFromString(bare, "urdf")
    plant.Finalize()
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)

    def call() -> np.ndarray:
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, a, forces)

    return call


def main() -> None:
    """A line each: version, microseconds, difference from torsor [N·m]."""
    import roboticstoolbox as rtb

    warnings.simplefilter("ignore")
    robot = ts.load(str(URDF))
    q, v, a = np.random.default_rng(0).uniform(-1, 1, size=(3, 6))
    tau, toolbox, puma = robot.inverse_dynamics(q, v, a), rtb.ERobot.URDF(str(URDF)), rtb.models.DH.Puma560()
    with_drake = drake(q, v, a)
    rows = {
        f"torsor {ts.__version__}": (lambda: robot.inverse_dynamics(q, v, a), CALLS, ROUNDS),
        f"Drake {version('drake')}": (with_drake, CALLS, ROUNDS),
        f"roboticstoolbox {version('roboticstoolbox-python')}, from URDF, in Python": (lambda: toolbox.rne(q, v, a), 1, 40),
    }
    for name, (f, calls, rounds) in rows.items():
        print(f"{name:52}{microseconds(f, calls, rounds):10.2f} µs   {np.abs(f() - tau).max():.0e} N·m off")
    print(f"{'roboticstoolbox, Puma 560 from DH, in C':52}{microseconds(lambda: puma.rne(q, v, a)):10.2f} µs")


if __name__ == "__main__":
    main()
