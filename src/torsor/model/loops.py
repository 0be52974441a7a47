"""Results that hold for a tree only: refused for a robot with loops, with the call that has them under loops."""

from __future__ import annotations

from torsor.errors import ArgumentError
from torsor.model.model import Model

#: the joint forces of a mechanism with loops depend on which joints have a drive
DRIVES = "robot.constrained().inverse_dynamics(q, v, a, actuated=[...])"
#: accelerations under forces, by the equations that hold under loops
CLOSED = "robot.constrained().forward_dynamics(q, v, tau, wrenches)"
#: joints with a given acceleration are constraints beside the loops
DRIVEN = "robot.constrained(torsor.constraints.driven(...)).forward_dynamics(q, v, tau)"


def refuse_loops(model: Model, what: str, instead: str = DRIVES) -> None:
    """Raise ArgumentError if the model has loops, which ``what`` would leave open; ``instead`` is the call that closes them."""
    if model.loops:
        raise ArgumentError(
            f"robot {model.name!r} has loops, and {what} would hold for its tree with the loops cut; "
            f"use {instead}, or robot.without_loops() for the tree"
        )
