"""One robot of a rollout as the result of a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.errors import ArgumentError
from torsor.simulate.result import Result

if TYPE_CHECKING:
    from torsor.simulate.rollout_output import Rollout


def result_of(rollout: Rollout, robot: int | tuple[int, ...] | None) -> Result:
    """The records of one robot, up to its failure."""
    if rollout.inputs is None:
        raise ArgumentError("this rollout was pickled or loaded, without its robot; make its result before")
    place = () if robot is None else tuple(np.atleast_1d(np.asarray(robot)).tolist())
    if len(place) != len(rollout.batch) or not all(
        isinstance(k, int) and -n <= k < n for k, n in zip(place, rollout.batch, strict=True)
    ):
        raise ArgumentError(f"robot must be an index into the batch {rollout.batch}, not {robot!r}")
    good = np.isfinite(rollout.q[place]).all(axis=-1) & np.isfinite(rollout.tau[place]).all(axis=-1)
    if not good.any():
        raise ArgumentError("this robot has no records that are finite")

    def rows(x: np.ndarray) -> np.ndarray:
        return np.asarray(x[place][good], float)

    states: dict[str, Any] = {}
    info = {**rollout.info, "duration": float(rollout.t[good][-1]), "held": True, "rollout": True}
    if (forces := rollout.contact_forces) is not None and (left := rollout.contact_residual) is not None:
        own = rows(forces)
        states = {f"f{axis}": own[..., k] for k, axis in enumerate("xyz")} | {"residual": rows(left)[:, None]}
        info["states"] = dict.fromkeys(("fx", "fy", "fz"), info["contacts"]) | {"residual": ["largest"]}
    sensors = {name: rows(x) for name, x in rollout.sensors.items()}
    return Result(
        rollout.t[good], rows(rollout.q), rows(rollout.v), rows(rollout.tau), {}, sensors, states, info=info,
        robot=rollout.inputs.robot,
    )  # fmt: skip
