"""A case: the machine with some features, as torsor's calls have them and as the equation composed by hand has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import torsor as ts
from tests.composition.equation import Equation, State
from tests.composition.machine import ETA, POSE, TWIST, Q, U, V, entries, machine
from torsor.kernels.axes import Spread

if TYPE_CHECKING:
    from tests.composition.features import Feature

#: the step of all motions [s], and their number
DT, STEPS = 1e-3, 8
#: the time of instant methods [s]
INSTANT = 0.004
#: the number of robots where features differ by robot
ROBOTS = 3


class Refused(Exception):
    """A combination that no call of torsor expresses today."""


@dataclass
class Case:
    """``options`` are keywords of every method of the equation of motion, ``simulate`` and ``rollout`` those of these two.

    ``wrenches`` are those of every method, by frame: arrays, functions of t, ``per_robot``.  ``unsaid`` are kinds of methods
    in which a feature cannot be expressed, and why.
    ``tolerance`` is relative to the largest entry; features that are integrated by another method than the machine raise it.
    """

    robot: ts.Robot
    equation: Equation
    tree_with: Callable[..., ts.Robot]  #: the bare tree with further arguments of the machine
    options: dict[str, Any] = field(default_factory=dict)
    simulate: dict[str, Any] = field(default_factory=dict)
    rollout: dict[str, Any] = field(default_factory=dict)
    wrenches: dict[str, Any] = field(default_factory=dict)
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
        return self.equation.project(self._state(self.rest)._replace(t=INSTANT))

    @property
    def clock(self) -> dict[str, float]:
        """The time of instant methods, where something reads it."""
        read = self.robot.model.depends_on_time or any(map(callable, self.wrenches.values()))
        return {"time": INSTANT} if read else {}

    def wrenches_of_first(self) -> dict[str, Any] | None:
        """The wrenches of the first robot."""
        return {f: F.values[0] if isinstance(F, Spread) else F for f, F in self.wrenches.items()} or None

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
        """q where constraints are placed."""
        return self._state({}).q

    def _state(self, x: dict[str, np.ndarray]) -> State:
        e = self.equation
        q, v = entries(e.tree, Q, POSE), entries(e.tree, V, TWIST)
        seats = [m.joint for m in e.motors]  # motors begin with their joints
        motors = q[[e.tree.nq - e.tree.nv + k for k in seats]], v[seats]
        eta, rate = np.array(ETA)[:, : e.modes]
        eta = eta * (not self.robot.loops)  # the loop is closed where the arm is straight
        return State(np.concatenate([q, motors[0], eta]), np.concatenate([v, motors[1], rate]), dict(x))

    def on_tree(self, s: State) -> tuple[np.ndarray, np.ndarray]:
        """q and v of the bare tree, without motors."""
        return s.q[: self.equation.tree.nq], s.v[: self.equation.tree.nv]


def case_of(features: Sequence[Feature]) -> Case:
    """The machine with features: those that change the tree first, then the others in the order given."""
    build = {key: value for f in features for key, value in f.build.items()}
    robot = machine(**build)
    for f in features:
        robot = f.change(robot)

    def tree_with(**more: Any) -> ts.Robot:
        tree = machine(**build | {key: value for f in features for key, value in f.tree.items()} | more)
        for f in features:
            tree = f.change_tree(tree)
        return tree

    case = Case(robot, Equation(tree_with()), tree_with)
    for f in sorted(features, key=lambda f: f.order):
        f.add(case)
    if case.equation.modes and case.equation.rates:
        case.tolerance *= 20  # with fast modes, x differs more: at dt/8 both are within 2e-6 of a fine solution
    return case
