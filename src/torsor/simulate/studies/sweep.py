"""``ts.sweep``: the same study at many points, on processes or a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor.compile.parcel import Parcel
from torsor.compile.threads import threads
from torsor.errors import ArgumentError, TorsorError, UnknownName
from torsor.simulate.studies.fingerprint import fingerprint
from torsor.simulate.studies.points import Point, points_of
from torsor.simulate.studies.record import Record, decode, digest, encode
from torsor.simulate.studies.store import Folder, Memory, Store
from torsor.simulate.studies.study import Study, study_of
from torsor.support.progress import Progress
from torsor.version import __version__


class Failure(NamedTuple):
    """The error of a point that failed: its type, message and traceback, as text."""

    type: str
    message: str
    traceback: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a point: its ``value``, or None and the ``failure``."""

    point: Point
    value: Any = None
    failure: Failure | None = None

    @classmethod
    def of(cls, record: Record) -> Outcome:
        held = decode(record)
        failure = Failure(**held["error"]) if "error" in held else None
        return cls(held["point"], held.get("value"), failure)


def sweep(
    subject: Any,
    parameters: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    study: Callable[..., Any] | str | None = None,
    *,
    workers: Any = None,
    results: str | os.PathLike[str] | None = None,
    version: str | None = None,
    errors: str = "keep",
    progress: bool | None = None,
) -> Sweep:
    """The value of a function at many points, ``function(**point)``; with a robot, ``study(robot, **point)``.

    ``parameters``: a dict of lists is a grid, a list of dicts the points themselves.  ``study`` may name a method of the robot.
    ``workers``: a number of processes (None: one per core; 0: compute in this process), or a Dask cluster by its address, its
    ``Client`` or itself.  ``results``: a folder where each outcome is saved; the same sweep later computes only missing points.
    ``version`` replaces the digest of the study's code: a new version gives new results.  ``errors``: "keep" them
    with their points, or "raise" the first.  ``progress``: a bar on stderr; None: if that is a terminal.

    The call itself computes no points: iterate over the :class:`Sweep` for outcomes as they are done; ``.run()`` gives all in
    order.

    >>> import torsor as ts
    >>> robot = ts.robots.two_link()
    >>> study = sweep(robot, {"q": [(0.0, 0.0), (1.5, 0.0)]}, "potential_energy", workers=0)
    >>> study.array().round(2)
    array([ 0.  , 29.36])
    """
    if errors not in ("keep", "raise"):
        raise UnknownName("way to treat errors", errors, ("keep", "raise"))
    made = study_of(subject, study)
    points, shape = points_of(parameters)
    if results is None:
        return Sweep(made, points, shape, Memory(), "", _check_workers(workers), errors, progress)
    identity = version if version is not None else fingerprint(made) + __version__
    return Sweep(made, points, shape, Folder(results), digest(_name(made), identity), _check_workers(workers), errors, progress)


class Sweep:
    """A study, its points and their outcomes; made by :func:`torsor.sweep`.

    No outcome is lost if a loop over it is left or interrupted, or if a worker dies: iterating again gives the outcomes so far
    first, then computes the rest.  A point that failed is tried again by the next sweep over the same folder.
    """

    def __init__(
        self,
        study: Study,
        points: list[Point],
        shape: tuple[int, ...],
        store: Store,
        name: str,
        workers: Any,
        errors: str,
        progress: bool | None,
    ):
        self.points, self.shape = points, shape
        self._study, self._store, self._workers = study, store, workers
        self._raise, self._progress = errors == "raise", progress
        self._tried: set[str] = set()
        self._keys = [digest(name, encode(point, "the point")) for point in points]

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        return f"<Sweep of {_name(self._study)} over {len(self)} points>"

    def __iter__(self) -> Iterator[Outcome]:
        """Outcomes as they are done, those already computed first; one outcome for equal points."""
        return (outcome for _, outcome in self._outcomes())

    def _outcomes(self) -> Iterator[tuple[str, Outcome]]:
        todo = dict(zip(self._keys, self.points, strict=True))
        total = len(todo)
        for key in list(todo):
            record = self._store.get(key)
            if record is None:
                continue
            outcome = Outcome.of(record)
            if outcome.failure is None or key in self._tried:
                del todo[key]
                yield key, outcome
        if todo:
            yield from self._compute(todo, total - len(todo))

    def _compute(self, todo: dict[str, Point], known: int) -> Iterator[tuple[str, Outcome]]:
        failed = 0
        progress = Progress(known + len(todo), "computed", "points", wanted=self._progress)
        completed = self._as_completed(list(todo.items()))
        try:
            for done, (key, record) in enumerate(completed, start=known + 1):
                self._store.put(key, record)
                self._tried.add(key)
                outcome = Outcome.of(record)
                failed += outcome.failure is not None
                progress(done, f"{failed} failed" if failed else "")
                if self._raise and outcome.failure is not None:
                    raise TorsorError(_failure_message(outcome))
                yield key, outcome
        finally:
            progress.close()
            completed.close()  # ends the workers

    def _as_completed(self, tasks: list[tuple[str, Point]]) -> Any:
        """(key, outcome) from this process, worker processes or a cluster."""
        if self._workers == 0:
            return ((key, self._study.outcome(point)) for key, point in tasks)
        parcel = Parcel(self._study)
        if isinstance(self._workers, int):
            from torsor.simulate.studies import processes

            return processes.compute_all(parcel, tasks, self._workers)
        from torsor.simulate.studies import cluster

        return cluster.compute_all(self._workers, parcel, tasks)

    def run(self) -> list[Outcome]:
        """Every outcome, in the order of the points; computes those that are missing."""
        found = dict(self._outcomes())
        return [found[key] for key in self._keys]

    def array(self, name: str | None = None) -> np.ndarray:
        """The values, or the entry ``name`` of each, in the shape of the grid: ``(*shape, *shape of a value)``."""
        outcomes = self.run()
        for outcome in outcomes:
            if outcome.failure is not None:
                raise TorsorError(_failure_message(outcome))
            if name is not None and (not isinstance(outcome.value, dict) or name not in outcome.value):
                raise UnknownName("entry of the results", name, outcome.value if isinstance(outcome.value, dict) else ())
        values = np.array([o.value if name is None else o.value[name] for o in outcomes])
        return values.reshape(*self.shape, *values.shape[1:])


def _check_workers(workers: Any) -> Any:
    if workers is None:
        return threads.count()
    if isinstance(workers, bool) or (isinstance(workers, int) and workers < 0):
        raise ArgumentError(f"workers is a number of processes from 0, or a Dask cluster, not {workers!r}")
    return workers


def _name(study: Study) -> str:
    function = study.function
    if isinstance(function, str):
        return f"{type(study.robot).__name__}.{function}"
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def _failure_message(outcome: Outcome) -> str:
    failure = outcome.failure
    assert failure is not None
    return f"the study failed at {outcome.point}: {failure.type}: {failure.message}\n{failure.traceback}".rstrip()
