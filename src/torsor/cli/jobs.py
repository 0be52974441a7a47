"""A computation over states: one from flags, shown as a table; or a file of them, a block at a time in bounded memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from torsor.cli import words
from torsor.cli.out import emit, prose
from torsor.cli.outcome import Typed
from torsor.cli.progress import progress
from torsor.cli.writing import Column, ending, written
from torsor.errors import ArgumentError, FileError
from torsor.logs import Log, read_chunks
from torsor.logs.log import QUANTITIES
from torsor.logs.reading import FORMATS

if TYPE_CHECKING:
    from torsor.robot import Robot

Array: TypeAlias = np.ndarray
#: numbers held at a time, in and out: 64 MB of them
HELD = 1 << 23
#: what a state variable is, in complaints
MEANING = {"q": "configuration", "v": "velocity", "a": "acceleration", "tau": "joint forces"}


class Job(NamedTuple):
    """What is computed: from which state variables, into which columns."""

    inputs: tuple[str, ...]
    columns: list[Column]
    compute: Callable[..., dict[str, Array]]


class State(NamedTuple):
    """The state of the flags: each variable as given, or as it is where nothing is said; and which were given."""

    values: dict[str, Array]
    given: tuple[str, ...]


#: (robot, state, results) → what people see
Shown: TypeAlias = Callable[["Robot", dict[str, Array], dict[str, Array]], list[Any]]


def typed(robot: Robot, **texts: str | None) -> State:
    """The state variables of --q, --v ..."""
    names, rest = words.state_names(robot), words.neutral(robot)
    values = {x: rest[x] if text is None else words.state(f"--{x}", text, names[x], rest[x]) for x, text in texts.items()}
    return State(values, tuple(x for x, text in texts.items() if text is not None))


def run(
    robot: Robot, job: Job, state: State, path: str | None, out: str | None, as_json: bool, shown: Shown, **about: Any
) -> None:
    """Over a file, or at the state of the flags: a table for people, JSON, or a file."""
    about = {"robot": robot.name, "coordinates": words.state_names(robot)["v"], **about}
    if out is not None:
        ending(out)
    if path is not None:
        _over_file(robot, job, state, path, out, as_json, about)
        return
    values = {x: state.values[x] for x in job.inputs}
    results = job.compute(*values.values())
    if out is not None:
        with written(out, as_json, job.columns, about) as put:
            put({name: x[None] for name, x in results.items()})
        return
    emit(as_json, {**about, **values, **results}, *unsaid(job.inputs, state), *shown(robot, values, results))


def unsaid(inputs: Sequence[str], state: State) -> list[Any]:
    """What was taken where nothing was typed."""
    rest = ", at rest" if "v" in inputs else ""
    flags = ", ".join(f"--{x}" for x in inputs)
    return [] if state.given else [prose(f"At the zero configuration{rest}; {flags} would say otherwise.")]


def _over_file(robot: Robot, job: Job, state: State, path: str, out: str | None, as_json: bool, about: dict[str, Any]) -> None:
    """Compute for every row of a file, and write the results as they come."""
    needed = [x for x in job.inputs if x not in state.given]
    if not needed:
        raise Typed(f"the flags give all of {', '.join(job.inputs)}; nothing is left to read from {path}")
    width = robot.nq + 3 * robot.nv + sum(len(c.entries) for c in job.columns)
    with _opened(path) as (stream, size), progress(os.path.basename(path)) as show:
        logs: Any = read_chunks(stream, max(64, min(65536, HELD // width)), format=_format(path))
        with closing(logs):
            results = (_computed(robot, job, state, log, needed) for log in logs)
            first = next(results)  # what is wrong with the columns is said before anything is written
            columns = [Column("t", ["t"]), *job.columns] if "t" in first else job.columns
            with written(out, as_json, columns, about) as put:
                for block in chain([first], results):
                    put(block)
                    show(stream.tell() / size if size else None)


def _computed(robot: Robot, job: Job, state: State, log: Log, needed: list[str]) -> dict[str, Array]:
    for x in needed:
        if getattr(log, x) is None:
            name = words.state_names(robot)[x][0]
            hold = "" if x == "q" else f", or hold it with --{x} 0"
            raise FileError(f"has no {x} ({MEANING[x]}); name its columns {x}[{name}] ... or {x}1 ...{hold}")
    unread: dict[str, Any] = dict.fromkeys(x for x in QUANTITIES if x not in needed)
    states = replace(log, **unread).states(robot)
    values = [getattr(states, x) if x in needed else state.values[x] for x in job.inputs]
    try:
        results = job.compute(*map(np.ascontiguousarray, values))
    except ArgumentError as error:
        raise FileError(f"rows {log.row + 1} to {log.row + len(log)}: {error}") from error
    return results if states.t is None else {"t": states.t, **results}


# -- where states come from --------------------------------------------------------------------------------------


def _format(path: str) -> str:
    word = "csv" if path == "-" else os.path.splitext(path)[1].lower().removeprefix(".")
    if word not in FORMATS:
        raise Typed(f"{path}: states are read from .{', .'.join(FORMATS)} or from - (CSV on stdin)")
    return word


@contextmanager
def _opened(path: str) -> Iterator[tuple[IO[bytes], int | None]]:
    """The stream of a file and its size, or stdin; what is wrong in it is said with its name."""
    _format(path)
    if path != "-" and not os.path.isfile(path):
        raise Typed(f"there is no file {path}")
    try:
        if path == "-":
            yield sys.stdin.buffer, None
        else:
            with open(path, "rb") as stream:
                yield stream, os.path.getsize(path)
    except FileError as error:
        if error.file:  # another file's: that of the results
            raise
        place = "<stdin>" if path == "-" else path
        raise FileError(error.reason, file=place, line=error.line, element=error.element) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", file=path) from error
