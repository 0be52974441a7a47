"""The robots of the benchmark, each loaded by torsor and by Pinocchio from the same file."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pinocchio as pin

import torsor as ts


@dataclass(frozen=True)
class Source:
    """Where a robot's URDF is in example-robot-data, and the frame whose Jacobian is timed."""

    name: str
    path: str
    frame: str
    base: str = "fixed"


SOURCES = (
    Source("ur5", "ur_description/urdf/ur5_robot.urdf", "tool0"),
    Source("panda", "panda_description/urdf/panda.urdf", "panda_hand"),
    Source("solo12", "solo_description/robots/solo12.urdf", "HR_FOOT", "floating"),
    Source("g1", "g1_description/urdf/g1_29dof_rev_1_0.urdf", "right_rubber_hand", "floating"),
    Source("talos", "talos_data/robots/talos_full_v2.urdf", "right_sole_link", "floating"),
)


def folder() -> Path:
    """The robots of the example-robot-data wheel, which installs them beside Pinocchio."""
    spec = importlib.util.find_spec("pinocchio")
    for parent in Path(spec.origin).resolve().parents if spec and spec.origin else ():
        for tail in ("share/example-robot-data/robots", "cmeel.prefix/share/example-robot-data/robots"):
            if (parent / tail).is_dir():
                return parent / tail
    raise FileNotFoundError("example-robot-data is not installed beside pinocchio: pip install example-robot-data")


class Case:
    """One robot in both libraries.  Mimic joints are free in both: that is what Pinocchio does unless asked otherwise."""

    def __init__(self, source: Source):
        self.source, self.name, self.path = source, source.name, folder() / source.path

    @cached_property
    def robot(self) -> ts.Robot:
        return ts.load(self.path, base=self.source.base, mimic=False)

    @cached_property
    def model(self) -> Any:
        if self.source.base == "floating":
            return pin.buildModelFromUrdf(str(self.path), pin.JointModelFreeFlyer())
        return pin.buildModelFromUrdf(str(self.path))


def cases(names: str = "") -> list[Case]:
    """The cases of a comma-separated list of names; all of them where it is empty."""
    wanted = [n for n in names.split(",") if n]
    known = {s.name: s for s in SOURCES}
    unknown = [n for n in wanted if n not in known]
    if unknown:
        raise SystemExit(f"no such robot: {', '.join(unknown)}; there are {', '.join(known)}")
    return [Case(known[n]) for n in wanted or known]
