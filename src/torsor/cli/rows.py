"""A computation over a file of states: read, computed and written a block of rows at a time, in bounded memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from torsor.cli import option_values
from torsor.cli.input_warnings import find_input_warning
from torsor.cli.outcome import UsageError, name_in_errors, print_error
from torsor.cli.writing import Column, block_writer
from torsor.errors import FileError, TorsorError
from torsor.io.logs import Log, read_chunks, with_accelerations
from torsor.io.logs.log import QUANTITIES, concatenate
from torsor.io.logs.reading import FORMATS
from torsor.support.files import label, open_regular
from torsor.support.progress import Progress
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.cli.jobs import FileJob, Job, StateFlags
    from torsor.robot import Robot

#: numbers held in memory at a time, input and output: 64 MB
NUMBERS_IN_MEMORY = 1 << 23
#: names of the state variables in error messages
VARIABLE_NAMES = {"q": "configuration", "v": "velocity", "a": "acceleration", "tau": "joint forces"}


def compute_file(robot: Robot, job: Job, state: StateFlags, table: FileJob, as_json: bool, about: dict[str, Any]) -> int:
    """Compute for every row of a file, and write the results block by block; returns their number."""
    path, out, topic, cutoff = table
    assert path is not None
    format, needed = table_format(path), [x for x in job.inputs if x not in state.given]
    if not needed:
        raise UsageError(f"the options give all of {', '.join(job.inputs)}; nothing remains to be read from {label(path)}")
    if not robot.nv:
        raise UsageError(f"robot {robot.name!r} has no moving joint; nothing can be read from {path}")
    refuse_overwriting(path, out)
    if topic is not None and format != "mcap":
        raise UsageError(f"--topic needs an MCAP file; {path} is not one")
    width = robot.nq + 3 * robot.nv + sum(len(c.entries) for c in job.columns)
    rows_at_once = max(64, min(65536, NUMBERS_IN_MEMORY // width))
    bar, file = Progress(1.0, os.path.basename(path)), "<stdin>" if path == "-" else label(path)
    with open_table(path) as (stream, size), closing(bar):
        logs: Any = read_chunks(stream, rows_at_once, format=format, topic=topic)
        with closing(logs):
            moving = logs if "a" not in needed or "v" in state.given else _differentiated(robot, logs, cutoff, file, about)
            results = _compute_blocks(robot, job, state, moving, needed, file)
            first = next(results)  # errors in the columns are raised before any output is written
            columns = [Column("t", ["t"]), *job.columns] if "t" in first else job.columns
            columns = [c for c in columns if c.name in first]
            rows, squares = 0, np.zeros((2, robot.nv))
            with block_writer(out, as_json, columns, about) as put:
                for block in chain([first], results):
                    put(block)
                    rows += len(next(iter(block.values())))
                    if "residual" in block:
                        squares += [(block[x] ** 2).sum(axis=0) for x in ("residual", "tau")]
                    if size:
                        bar(stream.tell() / size)
    if rows and "residual" in first:
        _report_residual(robot, file, np.sqrt(squares / rows))
    return rows


def _differentiated(robot: Robot, logs: Iterator[Log], cutoff: float | None, file: str, about: dict[str, Any]) -> Iterator[Log]:
    """The logs; of a file without accelerations, which is then read whole, with the derivative of its velocities."""
    first = next(logs)
    if first.a is not None or first.t is None or (first.v is None and first.q is None):
        if cutoff is not None:
            raise UsageError("--cutoff needs a table with t and without a, which is then differentiated")
        yield from chain([first], logs)
        return
    whole, at_once = concatenate([first, *logs]), len(first)
    log, chosen, of = with_accelerations(whole, robot, cutoff)
    about["cutoff"] = chosen
    names = option_values.state_names(robot)["v"]
    said = f"{cutoff:g} Hz" if cutoff else ", ".join(f"{n} {f:.3g}" for n, f in zip(names, chosen, strict=True)) + " Hz"
    how = "" if cutoff else " (least estimated error; --cutoff HZ sets it)"
    print_error(f"note: {file}: has no a; it is the derivative of {of} by a zero-phase filter, cutoff {said}{how}")
    for start in range(0, len(log), at_once):
        part = slice(start, start + at_once)
        yield replace(log, row=start, **{x: getattr(log, x)[part] for x in ("t", *log.quantities)})


def _report_residual(robot: Robot, file: str, rms: Array) -> None:
    """The difference between the joint forces of the table and the computed ones, by joint, on stderr."""
    names = option_values.state_names(robot)["tau"]
    parts = [f"{name} {x:.3g} of {size:.3g}" for name, x, size in zip(names, *rms, strict=True)]
    print_error(f"note: {file}: rms of the residual, tau of the table − computed, by joint: {', '.join(parts)} [N·m, N]")


def _compute_blocks(
    robot: Robot, job: Job, state: StateFlags, logs: Iterator[Log], needed: list[str], file: str
) -> Iterator[dict[str, Array]]:
    """The results, one block at a time; a caution is printed once."""
    warned = False
    for log in logs:
        compare = "residual" in (c.name for c in job.columns) and log.tau is not None
        states = _states(robot, log, [*needed, "tau"] if compare else needed)
        results = _block(job, state, log, states)
        if compare:
            results["residual"] = states["tau"] - results["tau"]
        if "q" in states and not warned and (found := find_input_warning(robot, states["q"])):
            print_error(f"warning: {file}: row {log.row + found.row + 1}: {found.says}")
            warned = True
        yield results if log.t is None else {"t": log.t, **results}


def _states(robot: Robot, log: Log, needed: list[str]) -> dict[str, Array]:
    """The variables that are needed, in the robot's order."""
    for x in needed:
        if getattr(log, x) is None:
            name = option_values.state_names(robot)[x][0]
            hold = "" if x == "q" else f", or hold it with --{x} 0"
            if x == "a":
                hold = ", add times t to differentiate v, or hold it with --a 0 if the velocity is constant"
            raise FileError(f"has no {x} ({VARIABLE_NAMES[x]}); name its columns {x}[{name}] ... or {x}1 ...{hold}")
    unread: dict[str, Any] = dict.fromkeys(x for x in QUANTITIES if x not in needed)
    states = replace(log, **unread).states(robot)
    return {x: np.ascontiguousarray(getattr(states, x)) for x in needed}


def _block(job: Job, state: StateFlags, log: Log, states: dict[str, Array]) -> dict[str, Array]:
    """The results of some rows; an error names the row."""

    def compute(rows: slice | int) -> dict[str, Array]:
        return job.compute(*(states[x][rows] if x in states else state.values[x] for x in job.inputs))

    try:
        return compute(slice(None))
    except TorsorError as error:
        row, reason = first_bad_row(compute, len(log), error)
        when = "" if log.t is None else f" (t = {log.t[row]:g} s)"
        raise FileError(f"row {log.row + row + 1}{when}: {reason}") from error


def first_bad_row(compute: Callable[[slice | int], Any], count: int, error: TorsorError) -> tuple[int, TorsorError]:
    """The first row that cannot be computed, found by bisection, and its error."""
    first, last = 0, count
    while last - first > 1:
        middle = (first + last) // 2
        try:
            compute(slice(first, middle))
        except TorsorError:
            last = middle
        else:
            first = middle
    try:
        compute(first)
    except TorsorError as alone:
        return first, alone
    return first, error


# -- sources of states, and of targets ---------------------------------------------------------------------------


def table_format(path: str, what: str = "states", formats: Iterable[str] = FORMATS, option: str = "--q") -> str:
    """The format of a table, by its name; ``option`` takes the numbers that were typed in place of a file."""
    word = "csv" if path == "-" else os.path.splitext(path)[1].lower().removeprefix(".")
    if word in formats:
        return word
    if option_values.NUMBERS.fullmatch(path):
        raise UsageError(f"{path} is not a file of {what}; did you mean {option} {path}?")
    raise UsageError(f"{label(path) or what.upper()}: {what} are read from .{', .'.join(formats)} or from - (CSV on stdin)")


def refuse_overwriting(path: str, out: str | None) -> None:
    """An error where the results would replace the table that is read."""
    if out is not None and os.path.exists(path) and os.path.exists(out) and os.path.samefile(path, out):
        raise UsageError(f"--out {label(out)} is also the input file; give another name")


@contextmanager
def open_table(path: str, what: str = "states") -> Iterator[tuple[IO[bytes], int | None]]:
    """The stream of a file and its size, or stdin; errors in it are reported with its name."""
    if path != "-" and not os.path.isfile(path):
        problem = (
            f"is a directory; give a file of {what}" if os.path.isdir(path) else "is not a regular file; pipe it to stdin (-)"
        )
        raise UsageError(f"{label(path)} {problem}" if os.path.exists(path) else f"there is no file {label(path)}")
    try:
        with name_in_errors("<stdin>" if path == "-" else label(path)):  # not those of the file of the results
            if path == "-":
                yield sys.stdin.buffer, None
            else:
                with open_regular(path) as stream:
                    yield stream, os.path.getsize(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", file=label(path)) from error
