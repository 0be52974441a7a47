"""Targets of ``torsor ik``: one of options, or a table that is read, solved and written a block of rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.cli import option_values
from torsor.cli.input_warnings import TURN
from torsor.cli.jobs import report_written
from torsor.cli.outcome import print_error
from torsor.cli.rows import NUMBERS_IN_MEMORY, first_bad_row, open_table, refuse_overwriting, table_format
from torsor.cli.writing import Block, Column, block_writer
from torsor.errors import FileError, TorsorError
from torsor.mechanics.inverse_kinematics import targets
from torsor.spatial import rigid
from torsor.support.files import label
from torsor.support.progress import Progress
from torsor.support.tables import Table, read_csv
from torsor.support.text import count
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.inverse_kinematics import InverseKinematicsResult
    from torsor.robot import Robot

#: argument of Asked.solve → its columns
GROUPS = {"xyz": ("x", "y", "z"), "rpy": ("roll", "pitch", "yaw"), "quaternion": ("qx", "qy", "qz", "qw")}
COLUMNS = "x, y, z [m], and roll, pitch, yaw or qx, qy, qz, qw"
#: failed rows that are named
NAMED = 12


class Asked:
    """A frame of a robot, the options of ``robot.inverse_kinematics``, and the unit of angles in the results."""

    def __init__(self, robot: Robot, frame: str, options: dict[str, Any], degrees: bool):
        self.robot, self.frame, self.options, self.degrees = robot, frame, options, degrees
        self._warned = False
        self.units = option_values.angle_units(robot, degrees)["q"]
        names = option_values.state_names(robot)["q"]
        # columns q[joint] would be read as rad by other commands
        entries = [f"{'q' if unit == 1.0 else 'deg'}[{name}]" for name, unit in zip(names, self.units, strict=True)]
        single = ("success", "position_error", "angle_error", "attempts")
        self.columns = [Column("q", entries), *(Column(name, [name]) for name in single)]
        self.about = {"robot": robot.name, "frame": frame, "configuration": names, **option_values.angles_in_json(degrees)}

    def solve(self, *, xyz: Any = None, rpy: Any = None, quaternion: Any = None) -> InverseKinematicsResult:
        """The frame at xyz (..., 3) [m], in an orientation; either may be omitted."""
        R = None if quaternion is None else rigid.from_quaternion(quaternion)
        if rpy is not None:
            R = rigid.from_rpy(np.radians(rpy) if self.degrees else rpy)
            self._warn_about_degrees(np.abs(rpy).max(initial=0))
        if xyz is None:
            target = targets.orientation(R)  # type: ignore[arg-type]  # there are xyz, or an orientation
        else:
            target = targets.position(xyz) if R is None else targets.pose(rigid.pose(R, xyz))
        return self.robot.inverse_kinematics({self.frame: target}, **self.options)

    def _warn_about_degrees(self, largest: float) -> None:
        if not (self.degrees or self._warned or largest <= TURN):
            print_error(
                f"warning: an angle of roll, pitch, yaw is {largest:g} rad: are these degrees? --degrees reads them as such"
            )
            self._warned = True

    def block(self, result: InverseKinematicsResult) -> Block:
        """The columns of a result, one row per configuration."""
        angle_error = np.degrees(result.angle_error) if self.degrees else result.angle_error
        single = np.asarray(result.success, int), result.position_error, angle_error, result.attempts
        rows = {c.name: np.reshape(x, -1) for c, x in zip(self.columns[1:], single, strict=True)}
        return {"q": result.q.reshape(-1, self.robot.nq) / self.units, **rows}


def compute_targets(asked: Asked, path: str, out: str | None, as_json: bool) -> bool:
    """Solve every row of a table, and write the configurations block by block; whether all targets were met."""
    table_format(path, "targets", ("csv",), "--xyz")
    refuse_overwriting(path, out)
    file, failed, rows = "<stdin>" if path == "-" else label(path), [], 0
    at_once = max(64, min(65536, NUMBERS_IN_MEMORY // (asked.robot.nq + 16)))
    bar = Progress(1.0, os.path.basename(path))
    with open_table(path, "targets") as (stream, size), closing(bar):
        results = _solved(asked, read_csv(stream, at_once, wanted=lambda column: column == "t" or bool(_group(asked, column))))
        first = next(results)  # errors in the columns are raised before any output is written
        columns = [Column("t", ["t"])] * ("t" in first) + asked.columns
        with block_writer(out, as_json, columns, asked.about) as put:
            for block in chain([first], results):
                put(block)
                failed += (rows + 1 + np.flatnonzero(block["success"] == 0)).tolist()
                rows += len(block["q"])
                if size:
                    bar(stream.tell() / size)
    report_written(out, rows, as_json, asked.about)
    if failed:
        named = ", ".join(map(str, failed[:NAMED])) + (" ..." if len(failed) > NAMED else "")
        where = f"{count(asked.options['attempts'], 'attempt')}, row{'s' * (len(failed) > 1)} {named}"
        print_error(f"{file}: {len(failed):,} of {rows:,} targets not found in {where}; q is the closest")
    return not failed


def _solved(asked: Asked, tables: Iterator[Table]) -> Iterator[Block]:
    """The results, one block at a time; an error names the row."""
    for table in tables:
        given = _targets(asked, table)

        def compute(rows: slice | int, given: dict[str, Array] = given) -> Block:
            return asked.block(asked.solve(**{name: values[rows] for name, values in given.items()}))

        try:
            block = compute(slice(None))
        except TorsorError as error:
            row, reason = first_bad_row(compute, len(next(iter(given.values()))), error)
            raise FileError(f"row {table.row + row + 1}: {reason}") from error
        times = [values for name, values in zip(table.names, table.columns, strict=True) if name == "t"]
        yield {"t": times[0], **block} if times else block


def _targets(asked: Asked, table: Table) -> dict[str, Array]:
    """The arguments of :meth:`Asked.solve` in the columns of a table."""
    names = [_plain(asked, name) for name in table.names]
    given = {}
    for group, wanted in GROUPS.items():
        some = [name for name in wanted if name in names]
        if some and len(some) < len(wanted):
            raise FileError(f"has {', '.join(some)} and no {', '.join(x for x in wanted if x not in some)}")
        if any(names.count(name) > 1 for name in some):
            raise FileError(f"has {next(x for x in some if names.count(x) > 1)} twice")
        if some:
            given[group] = np.stack([table.columns[names.index(name)] for name in wanted], axis=-1)
    if not given:
        raise FileError(f"has no targets; name its columns {COLUMNS}")
    if len(given.keys() & {"rpy", "quaternion"}) > 1:
        raise FileError("has roll, pitch, yaw and a quaternion; omit one of them")
    return given


def _plain(asked: Asked, column: str) -> str:
    """The name of a column without its frame: ``torsor pose`` writes tool0[x]."""
    return column.removeprefix(f"{asked.frame}[").removesuffix("]")


def _group(asked: Asked, column: str) -> str:
    """The argument of :meth:`Asked.solve` that a column belongs to, or nothing."""
    return next((group for group, names in GROUPS.items() if _plain(asked, column) in names), "")
