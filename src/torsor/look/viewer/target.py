"""The target that the user drags, and the configuration that brings a frame to it; no browser, no viser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import TorsorError, require_known
from torsor.look.viewer.state import Stage
from torsor.mechanics.inverse_kinematics import targets
from torsor.mechanics.inverse_kinematics.quantities import ANGLE
from torsor.model.description import FLOATING_BASE
from torsor.spatial import rigid
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.inverse_kinematics import InverseKinematicsResult

#: which part of the target's pose counts
KINDS = ("pose", "position", "orientation")
#: attempts to meet a target: from the present configuration, then from others
ATTEMPTS = 4
#: added to a pose so that it is out of reach [m]
AWAY = np.pad(np.full((3, 1), 1e3), ((0, 1), (3, 0)))


class Target:
    """A target for ``frame`` ("": none): its pose T, dragged or that of the frame; ``message`` where it is not met.

    A floating base keeps still; all other joints that move the frame may move.

    >>> import torsor as ts
    >>> target = Target(Stage(ts.robots.two_link()))
    >>> target.choose("tip", "position")
    >>> target.drag((1.0, 1.0, 0.0), (1, 0, 0, 0))
    >>> bool(abs(target.follow([0.3, 0.5]) - [0, 1.570796]).max() < 1e-5), target.met
    (True, True)
    """

    def __init__(self, stage: Stage):
        self.stage, self.frame, self.kind = stage, "", KINDS[0]
        self.dragged: Array | None = None
        self.moved, self.message = False, ""

    @property
    def frames(self) -> tuple[str, ...]:
        """Frames that a joint moves; none of a robot with beams, whose frames also depend on how they bend."""
        return () if self.stage.beams else tuple(name for name in self.stage.robot.frames if self._joints(name))

    @property
    def met(self) -> bool:
        return not self.message

    def prepare(self, frame: str, kind: str, q: ArrayLike) -> None:
        """Compile the kernels of a target, also that of failures, so that the robot follows at once when it is dragged."""
        if frame:
            require_known("frame", frame, self.frames)
            require_known("target", kind, KINDS)
            T = self.stage.robot.pose(q, frame)
            for place in (T, T + AWAY):
                self._solve(np.array(q, float), frame, kind, place, ATTEMPTS)

    def choose(self, frame: str, kind: str) -> None:
        """A target at the frame, as the robot is; "" for none."""
        self.frame, self.kind = frame, kind
        self.release()

    def drag(self, position: ArrayLike, wxyz: ArrayLike) -> None:
        """Move the target [m]; ArgumentError if it is not a pose, as the page may send any numbers."""
        turned = rigid.from_quaternion(np.roll(wxyz, -1))
        self.dragged, self.moved = rigid.pose(turned, position), bool(self.frame)

    def release(self) -> None:
        """Put the target back to the frame: the robot was moved by other means."""
        self.dragged, self.moved, self.message = None, False, ""

    def pose(self, q: ArrayLike) -> Array | None:
        """Where the target is drawn, (4, 4)."""
        if not self.frame or self.dragged is not None:
            return self.dragged
        T: Array = self.stage.robot.pose(q, self.frame)
        return T

    def follow(self, q: Array) -> Array:
        """The configuration that meets the target, else the one closest to it that is found from q."""
        self.moved = False
        assert self.dragged is not None
        try:
            found = self._solve(q, self.frame, self.kind, self.dragged, ATTEMPTS)
            self.message = "" if found.success else found.message
            if found.success:
                return found.q
            near = self._solve(q, self.frame, self.kind, self.dragged, 1).q  # others would jump from one to another
        except TorsorError as error:
            self.release()
            self.message = str(error)
            return q
        return near if self._distance(near) < self._distance(q) else q

    def _distance(self, q: Array) -> float:
        """|p − p*| + 0.3 θ of what counts: how far the frame is from the target [m]."""
        off = rigid.inverse_pose(self.stage.robot.pose(q, self.frame)) @ self.dragged
        length, angle = np.linalg.norm(off[:3, 3]), ANGLE * np.linalg.norm(rigid.log3(off[:3, :3]))
        return float(length * (self.kind != "orientation") + angle * (self.kind != "position"))

    def _solve(self, q: Array, frame: str, kind: str, T: Array, attempts: int) -> InverseKinematicsResult:
        robot = self.stage.robot
        target: Any = T  # as an array, which is the fastest
        if kind != "pose":
            target = targets.position(T[:3, 3]) if kind == "position" else targets.orientation(T[:3, :3])
        joints = self._joints(frame) if robot.description.floats else None
        return robot.inverse_kinematics(target, frame, q, joints=joints, attempts=attempts)

    def _joints(self, frame: str) -> list[str]:
        """The joints that may move: those between the base and the frame, or with loops all."""
        robot, model = self.stage.robot, self.stage.robot.model
        between = {model.joint_names[i] for i in model.path(model.frame(frame).body)}
        leaders = {mimic.joint if (mimic := robot.joint(name).mimic) else name for name in between}
        every = [name for i in model.own_joints if (name := model.joint_names[i]) != FLOATING_BASE]
        mine = [name for name in every if name in leaders]
        return every if robot.loops and mine else mine
