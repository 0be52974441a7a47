"""Log: times and joint states by name, one row per time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.errors import ArgumentError, FileError
from torsor.io.logs.columns import refuse_duplicates
from torsor.io.shared.notes import short_list
from torsor.model.names import configuration_names, coordinate_names
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot

QUANTITIES = ("q", "v", "a", "tau")


class States(NamedTuple):
    """Columns in a robot's order: t (T,) [s], q (T, nq), v, a and tau (T, nv); None where missing in the log."""

    t: Array | None
    q: Array | None
    v: Array | None
    a: Array | None
    tau: Array | None


@dataclass(frozen=True, eq=False)
class Log:
    """One row per time: ``t`` (T,) [s], and ``q``, ``v``, ``a``, ``tau`` (T, n); None where missing.

    ``names["q"]`` are the coordinates of q's columns: the joint's name, and ``base[3]`` where a joint has several.  A quantity
    without names is in the robot's order.  ``start`` is the time of t = 0, in nanoseconds since 1970 (0: unknown); ``row``
    the number of the first row in the file; ``ignored`` the columns that were not used.

    >>> log = Log(t=[0.0, 0.1], q=[[1.0, 2.0], [3.0, 4.0]], names={"q": ("elbow", "shoulder")})
    >>> log
    <Log: 2 rows, 0.1 s, q of 2 coordinates>
    """

    t: Array | None = None
    q: Array | None = None
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    start: int = 0
    row: int = 0
    ignored: tuple[str, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        given = {k: getattr(self, k) for k in ("t", *QUANTITIES) if getattr(self, k) is not None}
        if not given:
            raise FileError("has none of t, q, v, a, tau: name its columns such as t, q[elbow], v[elbow]", file=self.source)
        for k, x in given.items():
            array = self._numbers(k, x)
            if array.ndim != (1 if k == "t" else 2):
                shape = "(T,)" if k == "t" else "(T, n)"
                raise FileError(f"{k} must have shape {shape}, not {array.shape}", file=self.source)
            object.__setattr__(self, k, array)
        object.__setattr__(self, "names", {k: tuple(x) for k, x in self.names.items() if k in given and k != "t"})
        lengths = {k: len(getattr(self, k)) for k in given}
        if len(set(lengths.values())) > 1:
            raise FileError(f"its quantities differ in length: {lengths}", file=self.source)
        for k, names in self.names.items():
            refuse_duplicates(k, names, self.source)
            if len(names) != getattr(self, k).shape[1]:
                raise FileError(f"{k} has {getattr(self, k).shape[1]} columns and {len(names)} names", file=self.source)

    def _numbers(self, k: str, x: Array) -> Array:
        try:
            array = np.asarray(x)
        except ValueError:
            raise FileError(f"the rows of {k} differ in length", file=self.source) from None
        if array.dtype.kind not in "biuf" and array.size:
            raise FileError(f"{k} must hold real numbers, not {array.dtype}", file=self.source)
        return array.astype(np.float64, copy=False)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the quantities present, of q, v, a, tau."""
        return tuple(k for k in QUANTITIES if getattr(self, k) is not None)

    def __len__(self) -> int:
        return len(next(x for x in (self.t, self.q, self.v, self.a, self.tau) if x is not None))

    def __repr__(self) -> str:
        time = f", {self.t[-1] - self.t[0]:g} s" if self.t is not None and len(self) else ""
        what = ", ".join(f"{k} of {getattr(self, k).shape[1]} coordinates" for k in self.quantities) or "no states"
        return f"<Log: {len(self)} rows{time}, {what}>"

    def states(self, robot: Robot, needs: Sequence[str] = ()) -> States:
        """The columns in the robot's order; those of other joints are omitted (:meth:`unused` lists them).

        ``needs`` are quantities that must be there.  A missing column, a NaN or an infinity is an error that names the
        joint and which row.
        """
        for k in needs:
            if k not in QUANTITIES or getattr(self, k) is None:
                raise FileError(f"has no {k}; it has {', '.join(self.quantities) or 'no states'}", file=self.source)
        wanted = coordinates(robot)
        return States(self.t, *(self._in_order(k, wanted[k]) if k in self.quantities else None for k in QUANTITIES))

    def _in_order(self, k: str, wanted: tuple[str, ...]) -> Array:
        x, names = getattr(self, k), self.names.get(k)
        if names is None:
            if x.shape[1] != len(wanted):
                raise FileError(
                    f"{k} has {x.shape[1]} columns without names, and the robot {len(wanted)} coordinates: "
                    f"{_list_names(wanted)}",
                    file=self.source,
                )
        else:
            place = {name: n for n, name in enumerate(names)}
            missing = [name for name in wanted if name not in place]
            if missing:
                raise FileError(f"has no {k} of {_list_names(missing)}; it has {_list_names(names)}", file=self.source)
            x = x[:, [place[name] for name in wanted]]
        if not np.isfinite(x).all():
            self._refuse(k, x, wanted)
        return x

    def _refuse(self, k: str, x: Array, wanted: tuple[str, ...]) -> None:
        row, column = np.argwhere(~np.isfinite(x))[0]
        when = f" (t = {self.t[row]:g} s)" if self.t is not None else ""
        never = "in every row" if not np.isfinite(x[:, column]).any() else ""
        raise FileError(
            f"{k} of {wanted[column]!r} is {x[row, column]} in row {self.row + row + 1}{when}{never}", file=self.source
        )

    def unused(self, robot: Robot) -> tuple[str, ...]:
        """Columns that :meth:`states` leaves out: ``q[gripper]`` of a robot without that joint, and other columns."""
        wanted = {k: set(names) for k, names in coordinates(robot).items()}
        own = [f"{k}[{name}]" for k, names in self.names.items() for name in names if name not in wanted[k]]
        return (*own, *self.ignored)

    def write(self, path: str | PathLike[str]) -> None:
        """Write to .csv, .npz, .parquet or .mcap, by the extension, completely or not at all."""
        from torsor.io.logs.writing import Writer

        with Writer(path) as out:
            out.append(self)


def coordinates(robot: Robot) -> dict[str, tuple[str, ...]]:
    """Names of the robot's columns, by quantity."""
    v = coordinate_names(robot.model)
    return {"q": configuration_names(robot.model), "v": v, "a": v, "tau": v}


def concatenate(logs: Sequence[Log]) -> Log:
    """Pieces of one file as one log."""
    if not logs:
        raise ArgumentError("no logs to join")
    first = logs[0]
    if len(logs) == 1:
        return first
    columns = {k: np.concatenate([getattr(x, k) for x in logs]) for k in ("t", *QUANTITIES) if getattr(first, k) is not None}
    return Log(**columns, names=first.names, start=first.start, row=first.row, ignored=first.ignored, source=first.source)


def _list_names(names: Sequence[str]) -> str:
    return short_list([repr(name) for name in names], 12)
