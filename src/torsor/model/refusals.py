"""Functions that do not support a robot's loops, friction laws or symbols: errors that name the call to use instead."""

from __future__ import annotations

from torsor.errors import ArgumentError, ModelError
from torsor.model.model import Model

#: the joint forces of a mechanism with loops depend on which joints have a drive
CONSTRAINED_INVERSE_DYNAMICS = "robot.constrained().inverse_dynamics(q, v, a, actuated=[...])"
#: accelerations under forces, by the equations that hold under loops
CONSTRAINED_FORWARD_DYNAMICS = "robot.constrained().forward_dynamics(q, v, tau, wrenches)"
#: joints with a given acceleration are constraints in addition to the loops
PRESCRIBED_FORWARD_DYNAMICS = "robot.constrained(torsor.constraints.prescribed(...)).forward_dynamics(q, v, tau)"

#: wrenches through the joints, by the forces of the loops
REACTIONS = "robot.constrained().reactions(q, v, tau)"


def refuse_loops(model: Model, what: str, instead: str = CONSTRAINED_INVERSE_DYNAMICS) -> None:
    """Raise ArgumentError if the model has rows, which ``what`` would ignore; ``instead`` is the call that satisfies them."""
    if model.has_rows:
        kind, tree = ("loops", "without_loops()") if model.loops else ("constraints", "without_terms('constraint')")
        raise ArgumentError(
            f"robot {model.name!r} has {kind}, and {what} would ignore them; use {instead}, or robot.{tree} for the tree"
        )


def refuse_friction(model: Model, what: str) -> None:
    """Raise ArgumentError if ``what``, made of a robot, does not support its friction laws and would ignore them."""
    if laws := model.joints_with_friction:
        raise ModelError(
            f"{what} does not support the friction laws of robot {model.name!r} ({', '.join(laws)}); "
            "use robot.with_friction(None)"
        )


def refuse_forces(model: Model, what: str) -> None:
    """Raise ModelError if ``what``, made of a robot, does not support its force elements and would ignore them."""
    if model.forces:
        names = ", ".join(dict.fromkeys(row.name for row in model.forces))
        raise ModelError(
            f"{what} does not support the force elements of robot {model.name!r} ({names}); use robot.with_forces(None)"
        )


def refuse_symbols(model: Model, what: str, instead: str = "give it numbers") -> None:
    """Raise ArgumentError for a model with symbols if ``what`` needs numbers; ``instead`` takes symbols, or is advice."""
    if not model.is_numeric:
        raise ArgumentError(f"robot {model.name!r} has symbols where {what} needs numbers; {instead}")
