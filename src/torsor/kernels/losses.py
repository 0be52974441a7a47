"""Joint losses: whether the damping of a model, or its friction laws, count in an equation of motion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.algorithms import damping_force
from torsor.algorithms.friction import friction_force
from torsor.errors import ArgumentError
from torsor.model import Description, Model

if TYPE_CHECKING:
    from torsor.robot import Robot


class Losses(NamedTuple):
    """The losses that count: D v of the model, or the friction laws of its joints; never both."""

    damping: bool = False
    friction: bool = False

    def force(self, model: Model, v: Sequence[Any], load: Sequence[Any]) -> list[Any]:
        """The lost joint force (nv), over any scalar: inverse dynamics adds it, forward dynamics subtracts it from τ."""
        return friction_force(model, v, load=load) if self.friction else damping_force(model, v)


#: loads [N·m or N] at which dry friction is looked for: a law may depend on the sign
LOADS = (1.0, -1.0)
#: the rigid-body equations alone
NO_LOSSES = Losses()


def losses_of(model: Model, damping: Any = False, friction: Any = None) -> Losses:
    """The losses that ``damping=`` and ``friction=`` select; friction None counts the laws of a model that has some."""
    for name, value, allowed in (("damping", damping, (True, False)), ("friction", friction, (True, False, None))):
        if not any(value is x for x in allowed) and not isinstance(value, np.bool_):
            words = ", ".join(map(str, allowed[:-1]))
            raise ArgumentError(f"{name} must be {words} or {allowed[-1]}, not {_show(value)}")
    laws = model.joints_with_friction
    if friction and not laws:
        raise ArgumentError(
            f"friction=True, but no joint of robot {model.name!r} has a friction law; robot.with_friction({{joint: law}}) "
            "adds them, robot.with_friction('urdf') reads friction and damping from the description"
        )
    counted = bool(laws) if friction is None else bool(friction)
    if damping and counted:
        raise ArgumentError(
            f"damping=True, but the friction laws of robot {model.name!r} ({_first_names(laws)}) are included, and a law has "
            "the viscous part; omit damping, or omit the laws with friction=False"
        )
    return Losses(bool(damping), counted)


def notes_on_omitted_losses(description: Description, losses: Losses, elastic: bool = False) -> list[str]:
    """Notes on the damping and the dry friction of a description that ``losses`` leave out."""
    others = [j for j in description.joints if not (losses.friction and any(law is not None for law in j.laws))]
    damped = [j.name for j in others if any(j.damping) and not losses.damping]
    rubbing = [j.name for j in others if any(j.friction)]
    by_law = "a friction law of the joint includes it"
    rows = (
        ("damping", damped, by_law if losses.friction else "damping=True includes it"),
        ("dry friction", rubbing, by_law if losses.friction else "robot.with_friction('urdf') includes it"),
    )
    return [
        f"the {what} of {_first_names(names)} is left out; {'springs= cannot include it' if elastic else how}"
        for what, names, how in rows
        if names
    ]


def subtract_friction(robot: Robot, v: Any, tau: Any, friction: bool | None) -> Any:
    """τ − τ_fric(v, τ), the joint forces that accelerate a robot; τ itself if no laws count."""
    counts = friction is not False and losses_of(robot.model, friction=friction).friction
    return np.subtract(tau, robot.friction_force(v, load=tau)) if counts else tau


def refuse_laws(model: Model, friction: Any, what: str) -> None:
    """An error if ``what`` does not support the friction laws of a model, unless friction=False omits them."""
    if losses_of(model, friction=friction).friction:
        raise ArgumentError(
            f"{what} does not support friction laws, but robot {model.name!r} has some "
            f"({_first_names(model.joints_with_friction)}); friction=False omits them"
        )


def sticking_joints(model: Model) -> tuple[str, ...]:
    """The joints whose law can hold them at rest: dry friction, under a load of either sign, or bristles (LuGre)."""
    return tuple(name for name, law in _laws(model) if law.states or any(any(law.breakaway(load)) for load in LOADS))


def jumping_joints(model: Model) -> tuple[str, ...]:
    """The joints whose law jumps at v = 0: they can stick, or dry friction begins with the motion."""
    sticking = sticking_joints(model)
    return tuple(name for name, law in _laws(model) if name in sticking or any(any(law.kinetic(0.0, load)) for load in LOADS))


def _laws(model: Model) -> Iterator[tuple[str, Any]]:
    """The friction laws, each with the name of its joint."""
    for name, laws in zip(model.joint_names, model.friction, strict=False):
        yield from ((name, law) for law in laws if law is not None)


def refuse_sticking(model: Model, losses: Losses, what: str) -> None:
    """An error if friction laws count by which a joint can stick, and ``what`` cannot hold a joint at rest."""
    if losses.friction and (sticks := sticking_joints(model)):
        raise ArgumentError(
            f"joint {sticks[0]!r} has a friction law by which it can stick, and {what} cannot hold a joint at rest; "
            "use law.smooth(width), which cannot stick, friction=False to omit the laws, or robot.simulate"
        )


def refuse_jumps(model: Model) -> None:
    """An error if a friction law of the model jumps where the joint changes its direction: it has no derivative there."""
    if jumps := jumping_joints(model):
        raise ArgumentError(
            f"joint {jumps[0]!r} has a friction law that jumps at v = 0 and has no derivative there; use law.smooth(width), or "
            "friction=False to omit the laws"
        )


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _show(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return repr(value)[:60] if shape is None else f"an array of shape {tuple(shape)}"
