"""Rollouts in files: NPZ with arrays as they are, CSV and Parquet with one row per record and robot; no pickle."""

from __future__ import annotations

import math
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.simulate.contact_outputs import contact_columns, from_columns
from torsor.simulate.files import read_groups, write_groups
from torsor.simulate.rollout import Rollout
from torsor.simulate.rollout_failures import Failure

if TYPE_CHECKING:
    from torsor.simulate.rollout_output import Rollout

VERSION = 1
KEY = "torsor_rollout"


def save(rollout: Rollout, path: str | PathLike[str]) -> None:
    """Write a rollout to .npz, .csv or .parquet, completely or not at all."""
    meta = {KEY: VERSION, "info": rollout.info, "batch": list(rollout.batch), "dtype": rollout.q.dtype.name}
    meta |= {"failed": rollout.failed} if rollout.failed else {}
    groups = _groups(rollout)
    write_groups(path, groups, meta, lambda: _rows(groups, rollout.batch))


def load_rollout(path: str | PathLike[str]) -> Rollout:
    """Read a rollout that :meth:`Rollout.save` wrote, bit for bit."""
    return read_groups(path, (KEY, VERSION, "rollout"), _rollout)


def _groups(rollout: Any) -> dict[str, np.ndarray]:
    """All arrays of a rollout by name: t (T,), the others (..., T, n)."""
    memories = {k: x for k in ("memory", "x") if (x := getattr(rollout, k)) is not None}
    sensors = {f"sensor:{k}": x for k, x in rollout.sensors.items()}
    return {
        "t": rollout.t,
        "q": rollout.q,
        "v": rollout.v,
        "tau": rollout.tau,
        **memories,
        **sensors,
        **contact_columns(rollout),
    }


def _rows(groups: dict[str, np.ndarray], batch: tuple[int, ...]) -> dict[str, np.ndarray]:
    """The arrays as a table: (rows,) or (rows, n), the robots one after the other, with the index of each."""
    T, count = len(groups["t"]), math.prod(batch)
    index = np.unravel_index(np.repeat(np.arange(count), T), batch) if batch else ()
    names = ["robot"] if len(batch) == 1 else [f"robot[{k}]" for k in range(len(batch))]
    table = {name: np.asarray(x, float) for name, x in zip(names, index, strict=False)}
    table["t"] = np.tile(groups["t"], count)
    return table | {k: x.reshape(count * T, x.shape[-1]).astype(float) for k, x in groups.items() if k != "t"}


def _rollout(groups: dict[str, np.ndarray], meta: dict[str, Any]) -> Rollout:
    batch, kind = tuple(int(n) for n in meta["batch"]), np.dtype(meta["dtype"])
    if kind not in (np.float64, np.float32) or min(batch, default=0) < 0 or not isinstance(meta["info"], dict):
        raise ValueError("its metadata are not those of a rollout")
    q = groups["q"]
    T = q.shape[-2] if q.ndim == len(batch) + 2 else len(q) // max(1, math.prod(batch))
    arrays = {k: x.reshape(*batch, T, x.shape[-1]).astype(kind, copy=False) for k, x in groups.items() if x.ndim > 1}
    sensors = {k.removeprefix("sensor:"): x for k, x in arrays.items() if k.startswith("sensor:")}
    memories = {name: arrays.get(name) for name in ("memory", "x")}
    made = Rollout(groups["t"][:T].astype(float), arrays["q"], arrays["v"], sensors)
    failed = tuple(Failure(tuple(at) if isinstance(at, list) else at, step, why) for at, step, why in meta.get("failed", ()))
    made.__dict__.update(tau=arrays["tau"], info=meta["info"], failed=failed, **memories, **from_columns(arrays))
    return made
