"""Contests of rollouts of closed mechanisms with MuJoCo, whose equality constraints (``connect``) close the loops softly.

Each step of torsor ends on the constraints ("projection"), or has b − φ/dt on its right-hand side ("velocity").  MuJoCo's loops
are open by some 1e-4 m, so both motions can agree only that well: before anything is timed, the configurations in which they
end must agree to ``AGREEMENT`` of the largest distance moved, and torsor's loops must be closed to ``CLOSED``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks import translated
from benchmarks.constrained import DISTINCT, Held, four_bar, stewart
from benchmarks.rollouts import OFF, THEIRS, operations
from benchmarks.timing import Contest, Disagreement
from torsor.simulate import rollout

SECTION = "closed rollout"
#: steps, and seconds of a step
STEPS, DT = 50, 1e-3
#: the closure error that a rollout may have [m]; with "velocity" it is that of MuJoCo's constraints
CLOSED = {"projection": 1e-8, "velocity": 1e-3}
#: error of the motions above which nothing is timed: the softness of MuJoCo's constraints
AGREEMENT = 5e-3

OURS = "kept = rollout(robot, q, v, dt=dt, steps=steps)"


def contests() -> Iterator[list[Contest]]:
    """One list per mechanism, both ways to stay closed against both ways to step MuJoCo."""
    try:
        import mujoco.rollout  # noqa: F401
    except ImportError as error:
        print(f"  MuJoCo is left out: {error}")
        return
    for make in (four_bar, stewart):
        held = make()
        yield [contest(held, way, peer) for way in CLOSED for peer in THEIRS]


def contest(held: Held, way: str, peer: str) -> Contest:
    names = statement_names(held, way)

    def ends() -> tuple[np.ndarray, ...]:
        """1 + (q − q_peer)/(largest distance moved) of the last configurations, and 1; closure errors are checked."""
        exec(f"{OURS}\n{THEIRS[peer]}", names)
        model, kept = held.system.robot.model, names["kept"]
        theirs = names["states"][:, -1, 1 : held.system.robot.nq + 1] if peer == "MuJoCo rollout" else names["ends"]
        other = np.array([translated.configuration_of_mujoco(model, q) for q in theirs])
        ours, gap = float(kept.residual[:, 0].max()), float(np.abs(held.system.residual(other)).max())
        names["closure"] |= {"closure_m": ours, "peer_closure_m": gap}
        if ours > CLOSED[way] or ours > gap:
            raise Disagreement(f"loops are open by {ours:.1e} m, those of the peer by {gap:.1e} m")
        moved = kept.q[:, -1] - names["q"]
        off = (kept.q[:, -1] - other) / np.abs(moved).max()
        return tuple(np.repeat(1 + x, STEPS, axis=0) for x in (off, 0 * off))  # one row per step, as counted

    return Contest(
        SECTION, way, held.name, peer, ours=OURS, theirs=THEIRS[peer], names=names | {"ends_of": ends}, states=DISTINCT * STEPS,
        our_answer="ends_of()[0]", answer="ends_of()[1]", agreement=AGREEMENT,
        extra={"operations": operations(names["robot"], "semi_implicit"), "closure": names["closure"]},
    )  # fmt: skip


def statement_names(held: Held, way: str) -> dict[str, Any]:
    """Everything the statements use: the same states in both libraries."""
    import mujoco as mj
    import mujoco.rollout

    robot, (q, v, _) = held.system.robot, held.states
    m = mj.MjModel.from_xml_string(translated.mujoco_xml(robot.model, held.system.constraints))
    for word in OFF:
        if word != "CONSTRAINT":
            m.opt.disableflags |= int(getattr(mj.mjtDisableBit, f"mjDSBL_{word}"))
    m.opt.timestep = DT
    theirs = [translated.mujoco_state(robot.model, a, b, np.zeros(robot.nv)) for a, b in zip(q, v, strict=True)]
    starts, ends = np.array([np.concatenate([[0.0], x["qm"], x["vm"]]) for x in theirs]), np.empty_like(q)
    return {
        "rollout": rollout, "robot": robot.with_constraints(stabilization=way), "q": q, "v": v, "dt": DT, "steps": STEPS,
        "mj": mj, "m": m, "d": mj.MjData(m), "full": mj.mjtState.mjSTATE_FULLPHYSICS,
        "threadless": mujoco.rollout.Rollout(nthread=0), "closure": {},
        "starts": starts, "ends": ends, "rows": list(zip(starts, ends, strict=True)),
    }  # fmt: skip
