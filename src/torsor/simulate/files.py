"""Results in files: NPZ, CSV, Parquet.  Numbers and names only, bit for bit; no pickle; files are written completely or not."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from torsor.errors import ArgumentError, FileError, UnknownName
from torsor.simulate.contact_outputs import titles
from torsor.simulate.events import Occurrence
from torsor.simulate.result import Result
from torsor.support import parquet, tables
from torsor.support.digests import DamagedFile
from torsor.support.files import label, read_bytes, replace_file
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

Built = TypeVar("Built")
VERSION = 1
#: kind of a group of arrays, "kind:name" → the field of a Result that has them by name
KINDS = {"wrench": "wrenches", "state": "states", "sensor": "sensors"}
#: quantities of contacts, beside the forces and residuals, which are states
IN_FILES = ("contact_normal_force", "contact_gap")
#: quantities that a file keeps, as far as a result has them
STORED = ("kinetic", "potential", "elastic", "bristles", "residual", "multipliers", *IN_FILES)


def save(result: Result, path: str | PathLike[str]) -> None:
    """Write a result to .npz, .csv or .parquet, completely or not at all."""
    groups = _groups(result)
    write_groups(path, groups, _meta(result), lambda: groups)


def load_result(path: str | PathLike[str], robot: Robot | None = None) -> Result:
    """Read a result back; with its ``robot``, it can be audited and replayed again."""
    return read_groups(path, ("torsor_simulation", VERSION, "simulation"), lambda groups, meta: _result(groups, meta, robot))


def write_groups(
    path: str | PathLike[str], groups: dict[str, Array], meta: dict[str, Any], table: Callable[[], dict[str, Array]]
) -> None:
    """Write arrays by name with their metadata: to .npz as they are, to .csv and .parquet as ``table()``, (T,) or (T, n)."""
    ending = _format(path)
    with replace_file(path) as stream:
        stream.write(FORMATS[ending][0](groups if ending == ".npz" else table(), meta))


def read_groups(
    path: str | PathLike[str], kind: tuple[str, int, str], build: Callable[[dict[str, Array], dict[str, Any]], Built]
) -> Built:
    """``build(groups, meta)`` of a file; ``kind`` is the key of its version, the version, and the word for it in errors."""
    key, version, what = kind
    data = read_bytes(path, tables.UNPACKED)
    try:
        groups, meta = FORMATS[_format(path)][1](data)
        if meta.get(key) != version:
            raise ValueError("its version is unknown")
        return build(groups, meta)
    except DamagedFile as error:
        raise DamagedFile(error.reason, file=label(path)) from None
    except (KeyError, IndexError, ValueError, TypeError, OSError, EOFError) as error:
        why = error.reason if isinstance(error, FileError) else error
        raise FileError(f"is not a {what} saved by torsor: {why}", file=label(path)) from error


def _groups(result: Result) -> dict[str, Array]:
    """All arrays of a result by name, (T,) or (T, n)."""
    named = {f"{kind}:{name}": x for kind, field in KINDS.items() for name, x in getattr(result, field).items()}
    rows = {"residual": result.residual, "multipliers": result.multipliers} if result.residual.shape[1] else {}
    states = {"t": result.t, "q": result.q, "v": result.v, "tau": result.tau}
    flows = result.flows if result.robot is None or result.info.get("rollout") else result.summed_flows
    contact = {} if result.contact_forces is None else {k: getattr(result, k) for k in IN_FILES}
    return {**states, **named, **result.energies, **rows, **flows, **contact}


def _meta(result: Result) -> dict[str, Any]:
    events = [{"name": e.name, "t": e.t, "q": e.q.tolist(), "v": e.v.tolist()} for e in result.events]
    return {"torsor_simulation": VERSION, "info": result.info, "events": events}


def _result(groups: dict[str, Array], meta: dict[str, Any], robot: Robot | None) -> Result:
    info = meta["info"]
    if robot is not None and (robot.nq, robot.nv) != (groups["q"].shape[1], groups["v"].shape[1]):
        raise ArgumentError(f"the simulation is of robot {info.get('robot')!r}, which does not match {robot.name!r}")
    events = [Occurrence(e["name"], e["t"], np.array(e["q"]), np.array(e["v"])) for e in meta["events"]]
    parts: dict[str, Any] = {k: groups[k] for k in ("t", "q", "v", "tau")}
    for kind, field in KINDS.items():
        parts[field] = {k.removeprefix(f"{kind}:"): x for k, x in groups.items() if k.startswith(f"{kind}:")}
    stored, flows = ({k: groups[k] for k in names if k in groups} for names in (STORED, ("work", "lost")))
    return Result(**parts, events=events, info=info, robot=robot, stored=stored, flows=flows)


# -- formats -------------------------------------------------------------------------------------------------


def _from_npz(data: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    return tables.read_npz(io.BytesIO(data))


def _flat(groups: dict[str, Array], meta: dict[str, Any]) -> tuple[list[str], list[Array], dict[str, Any]]:
    """One column per number, and the shapes to reassemble arrays."""
    names, columns = [], []
    own_names = {
        "q": meta["info"].get("configuration"),
        "v": meta["info"].get("coordinates"),
        "tau": meta["info"].get("coordinates"),
        "multipliers": meta["info"].get("rows"),
        **{f"state:{k}": names for k, names in meta["info"].get("states", {}).items()},
        **titles(meta["info"]),
    }
    for group, x in groups.items():
        if x.ndim == 1:
            names.append(group)
            columns.append(x)
            continue
        own = own_names.get(group) or [str(k) for k in range(x.shape[1])]
        names += [f"{group}[{name}]" for name in own]
        columns += list(x.T)
    return names, columns, meta | {"groups": {k: None if x.ndim == 1 else x.shape[1] for k, x in groups.items()}}


def _group(columns: list[Array], meta: dict[str, Any]) -> dict[str, Array]:
    groups, k = {}, 0
    for name, width in meta["groups"].items():
        groups[name] = columns[k] if width is None else np.stack(columns[k : k + width], axis=1)
        k += 1 if width is None else width
    return groups


def _to_csv(groups: dict[str, Array], meta: dict[str, Any]) -> bytes:
    return tables.table_bytes(tables.csv_writer, *_flat(groups, meta))


def _from_csv(data: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    rows = data.count(b"\n") + 1  # all rows in one block
    (table,) = tables.read_csv(io.BytesIO(data), rows)
    return _of_table(table)


def _to_parquet(groups: dict[str, Array], meta: dict[str, Any]) -> bytes:
    return tables.table_bytes(parquet.parquet_writer, *_flat(groups, meta))


def _from_parquet(data: bytes) -> tuple[dict[str, Array], dict[str, Any]]:
    pieces = list(parquet.read_parquet(io.BytesIO(data), 65536))
    columns = [np.concatenate(parts) for parts in zip(*(p.columns for p in pieces), strict=True)]
    return _of_table(pieces[0]._replace(columns=columns))


def _of_table(table: tables.Table) -> tuple[dict[str, Array], dict[str, Any]]:
    return _group(table.columns, table.meta), table.meta


#: by file extension
FORMATS = {".npz": (tables.npz_bytes, _from_npz), ".csv": (_to_csv, _from_csv), ".parquet": (_to_parquet, _from_parquet)}


def _format(path: str | PathLike[str]) -> str:
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in FORMATS:
        raise UnknownName("file format", ending, FORMATS)
    return ending
