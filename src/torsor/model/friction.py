"""Friction laws where dynamics has no place for them."""

from __future__ import annotations

from torsor.errors import ModelError
from torsor.model.model import Model


def refuse_friction(model: Model, what: str) -> None:
    """An error where ``what``, made of a robot, has no place for friction laws and would leave them out of its dynamics."""
    if laws := model.joints_with_friction:
        raise ModelError(
            f"{what} has no place for the friction laws of robot {model.name!r} ({', '.join(laws)}); "
            "robot.with_friction(None) is the robot without them"
        )
