"""A case: the machine with some features, as torsor's calls have them and as the equation composed by hand has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import torsor as ts
from tests.composition.equation import Equation, State
from tests.composition.machine import POSE, TWIST, Q, U, V, entries, machine

if TYPE_CHECKING:
    from tests.composition.features import Feature

#: the step of all motions [s], and their number
DT, STEPS = 1e-3, 8
#: the number of robots where features differ by robot
ROBOTS = 3


class Refused(Exception):
    """A combination that no call of torsor expresses today."""


@dataclass
class Case:
    """``options`` are keywords of every method of the equation of motion, ``simulate`` and ``rollout`` those of these two.

    ``wrenches`` are constant, by frame.  ``unsaid`` are the kinds of methods in which a feature cannot be expressed, and why.
    ``tolerance`` is relative to the largest entry; features that are integrated by another method than the machine raise it.
    """

    robot: ts.Robot
    equation: Equation
    options: dict[str, Any] = field(default_factory=dict)
    simulate: dict[str, Any] = field(default_factory=dict)
    rollout: dict[str, Any] = field(default_factory=dict)
    wrenches: dict[str, np.ndarray] = field(default_factory=dict)
    rest: dict[str, np.ndarray] = field(default_factory=dict)  #: x where ẋ = 0, of instant methods
    unsaid: dict[str, str] = field(default_factory=dict)
    tolerance: float = 1e-9
    feedback: Any = None  #: u(state) where a controller acts, else the constant commands
    dtype: str = "float64"

    def cannot(self, why: str, *kinds: str) -> None:
        """Note kinds of methods ("instant", "simulate", "rollout") in which a feature cannot be expressed today."""
        self.unsaid |= dict.fromkeys(kinds, why)

    def check_said(self, kind: str) -> None:
        if kind in self.unsaid:
            raise Refused(self.unsaid[kind])

    # -- the state -------------------------------------------------------------------------------------------------

    @cached_property
    def instant(self) -> State:
        """The state of instant methods, on the constraints, with x at rest."""
        return self.equation.project(self._state(self.rest))

    @cached_property
    def start(self) -> State:
        """The state in which motions begin."""
        return self.equation.project(self._state(self.equation.start))

    @cached_property
    def commands(self) -> np.ndarray:
        return self.equation.drives() @ entries(self.equation.tree, U, (0.0,) * 6)

    def command(self, s: State) -> np.ndarray:
        """u at a state."""
        return self.commands if self.feedback is None else self.feedback(s)

    @property
    def place(self) -> np.ndarray:
        """q of the tree, where constraints are placed."""
        return entries(self.equation.tree, Q, POSE)

    def _state(self, x: dict[str, np.ndarray]) -> State:
        e = self.equation
        q, v = entries(e.tree, Q, POSE), entries(e.tree, V, TWIST)
        seats = [m.joint for m in e.motors]  # motors begin with their joints
        return State(np.concatenate([q, q[[e.tree.nq - e.tree.nv + k for k in seats]]]), np.concatenate([v, v[seats]]), dict(x))

    def on_tree(self, s: State) -> tuple[np.ndarray, np.ndarray]:
        """q and v of the bare tree, without motors."""
        return s.q[: self.equation.tree.nq], s.v[: self.equation.tree.nv]


def case_of(features: Sequence[Feature]) -> Case:
    """The machine with features: those that change the tree first, then the others in the order given."""
    build = {key: value for f in features for key, value in f.build.items()}
    robot = machine(**build)
    tree = machine(**build | {key: value for f in features for key, value in f.tree.items()})
    for f in features:
        robot, tree = f.change(robot), f.change_tree(tree)
    case = Case(robot, Equation(tree))
    for f in sorted(features, key=lambda f: f.order):
        f.add(case)
    return case
