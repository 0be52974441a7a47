"""A computation over states: one state given by options, printed as a table; or a file of states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from torsor.cli import option_values
from torsor.cli.input_warnings import find_input_warning
from torsor.cli.out import emit, prose
from torsor.cli.outcome import UsageError, print_error
from torsor.cli.rows import compute_file
from torsor.cli.showing import check_file_kind
from torsor.cli.writing import WRITERS, Column, block_writer
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.robot import Robot


class Job(NamedTuple):
    """A computation: its state variables and its result columns."""

    inputs: tuple[str, ...]
    columns: list[Column]
    compute: Callable[..., dict[str, Array]]


class StateFlags(NamedTuple):
    """The state given by options, with defaults for the others, the names of those given, and the units they are printed in."""

    values: dict[str, Array]
    given: tuple[str, ...]
    units: dict[str, Array]


class FileJob(NamedTuple):
    """Input of states and output of results; None where not given."""

    path: str | None
    out: str | None
    topic: str | None
    cutoff: float | None = None  #: of the filter of accelerations [Hz]


#: (robot, state, results) → printed output
Display: TypeAlias = Callable[["Robot", dict[str, Array], dict[str, Array]], list[Any]]


def state_from_flags(robot: Robot, degrees: bool = False, **texts: str | None) -> StateFlags:
    """The state variables of --q, --v ...; q and v in degrees if so given."""
    names, values = option_values.state_names(robot), option_values.neutral(robot)
    values, units = {x: values[x] for x in texts}, option_values.angle_units(robot, degrees)
    for x, text in texts.items():
        if text is not None and x == "q":
            values[x] = option_values.configuration(robot, "--q", text, values[x], degrees)
        elif text is not None:
            values[x] = option_values.state(f"--{x}", text, names[x], values[x], units.get(x, 1.0))
    return StateFlags(values, tuple(x for x, text in texts.items() if text is not None), units)


def run(robot: Robot, job: Job, state: StateFlags, table: FileJob, as_json: bool, shown: Display, **about: Any) -> None:
    """Compute for the states of a file or of the options: a printed table, JSON, or a file."""
    about = {"robot": robot.name, "coordinates": option_values.state_names(robot)["v"], **about}
    check_file_kind("--out", table.out, WRITERS)
    if table.path is not None:
        report_written(table.out, compute_file(robot, job, state, table, as_json, about), as_json, about)
        return
    if table.topic is not None:
        raise UsageError("--topic needs an MCAP file; give the file after the robot")
    if table.cutoff is not None:
        raise UsageError("--cutoff needs a table of states; give the file after the robot")
    values = {x: state.values[x] for x in job.inputs}
    results = job.compute(*values.values())
    if found := find_input_warning(robot, values["q"][None]):
        print_error(f"warning: {found.says}")
    if table.out is not None:
        with block_writer(table.out, as_json, [c for c in job.columns if c.name in results], about) as put:
            put({name: x[None] for name, x in results.items()})
        report_written(table.out, 1, as_json, about)
        return
    values = {x: value / state.units.get(x, 1.0) for x, value in values.items()}
    emit(as_json, {**about, **values, **results}, *defaults_note(robot, job.inputs, state), *shown(robot, values, results))


def defaults_note(robot: Robot, inputs: Sequence[str], state: StateFlags) -> list[Any]:
    """Note about default values."""
    if not robot.nv:
        return [prose(f"Robot {robot.name!r} has no moving joint.")]
    where = "a configuration with closed loops" if robot.loops else "the zero configuration"
    rest = ", at rest" if "v" in inputs else ""
    flags = ", ".join(f"--{x}" for x in inputs)
    return [] if state.given else [prose(f"At {where}{rest}; {flags} to change it.")]


def report_written(out: str | None, rows: int, as_json: bool, about: dict[str, Any]) -> None:
    """Report the written file; no report if results were printed."""
    if out is not None:
        emit(as_json, {**about, "file": out, "rows": rows}, f"wrote {out}: {rows:,} row{'s' if rows != 1 else ''}")
