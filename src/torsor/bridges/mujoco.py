"""From a model that MuJoCo has compiled to a Robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torsor.errors import ArgumentError
from torsor.robot import Robot


def from_mujoco(
    model: Any, *, body: str | None = None, mimic: bool = True, strict: bool = False, terms: Sequence[str] = ()
) -> Robot:
    """The robot of an ``mujoco.MjModel``, with the numbers it has now: masses, ``qpos0``, gravity and flags you changed too.

    q and v are ``qpos`` and ``qvel`` joint by joint, but quaternions end with w, and a floating base has its twist (ω, v) in
    its own axes: :mod:`torsor.bridges.states` converts.  ``body`` selects that body with its descendants and ancestors.
    With ``terms=["spring"]`` springs act.
    :mod:`torsor.io.mjcf.reader` lists the elements that are read, ``robot.report`` those omitted.  Needs the extra ``mujoco``.

    >>> import mujoco
    >>> pendulum = '<mujoco><worldbody><body name="bob"><joint/><geom size=".1" pos="0 0 -1"/></body></worldbody></mujoco>'
    >>> from_mujoco(mujoco.MjModel.from_xml_string(pendulum)).nv
    1
    """
    from torsor.io.mjcf.compiling import mujoco
    from torsor.io.mjcf.reader import translate

    if not isinstance(model, mujoco("reading a model of MuJoCo").MjModel):
        raise ArgumentError(f"model must be a mujoco.MjModel, not {type(model).__name__}; ts.load reads files")
    return Robot(translate(model, body=body, mimic=mimic, strict=strict, terms=terms))
