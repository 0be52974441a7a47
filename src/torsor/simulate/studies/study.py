"""Study: a function of the point, or of a robot and the point."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.compile.parcel import Parcel
from torsor.errors import ArgumentError, UnknownName
from torsor.simulate.studies.points import Point
from torsor.simulate.studies.record import Record, encode


@dataclass(frozen=True)
class Study:
    """``function(**point)``, or with a robot ``function(robot, **point)`` or one of its methods by name."""

    function: Callable[..., Any] | str
    robot: Any = None

    def __call__(self, point: Point) -> Any:
        point = {name: x.copy() if isinstance(x, np.ndarray) else x for name, x in point.items()}  # points share arrays
        if self.robot is None:
            return self.function(**point)  # type: ignore[operator]
        if isinstance(self.function, str):
            return getattr(self.robot, self.function)(**point)
        return self.function(self.robot, **point)

    def outcome(self, point: Point) -> Record:
        """The point and its value, or the point and its error."""
        try:
            return encode({"point": point, "value": self(point)}, "outcome")
        except (Exception, SystemExit) as error:
            return record_failure(point, type(error).__name__, str(error), traceback.format_exc())


def study_of(subject: Any, study: Callable[..., Any] | str | None) -> Study:
    """The study that two arguments of ``sweep`` describe."""
    robotic = hasattr(subject, "description") and hasattr(subject, "nv")
    if not robotic:
        if not callable(subject) or study is not None:
            raise ArgumentError("sweep takes a function of the parameters, or a robot and study=")
        return Study(subject)
    if study is None:
        raise ArgumentError("a sweep with a robot needs study=, a function of (robot, **point) or a method's name")
    if isinstance(study, str) and not hasattr(subject, study):
        raise UnknownName("method", study, [n for n in dir(subject) if not n.startswith("_")])
    return Study(study, subject)


def record_failure(point: Point, kind: str, message: str, trace: str = "") -> Record:
    """The record of a point that failed."""
    return encode({"point": point, "error": {"type": kind, "message": message, "traceback": trace}})


def record_lost_point(point: Point) -> Record:
    """The record of a point at which every worker died."""
    why = "every worker process that had this point died: killed from outside, out of memory, or crashed"
    return record_failure(point, "WorkerLost", why)


def compute(parcel: Parcel, point: Point) -> Record:
    """The record of one point, computed by a worker."""
    return parcel.unpack().outcome(point)
