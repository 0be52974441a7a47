"""Methods of Robot: inverse kinematics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.robot.statics_methods import Statics
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.inverse_kinematics import InverseKinematicsResult
    from torsor.mechanics.inverse_kinematics.targets import Target
    from torsor.mechanics.inverse_kinematics.velocity_result import VelocityResult
    from torsor.robot import Robot


class Reaching(Statics):
    """A robot that is asked for a pose."""

    def inverse_kinematics(
        self,
        target: ArrayLike | Target | Mapping[str, Any],
        frame: str | None = None,
        q0: ArrayLike | None = None,
        *,
        joints: Sequence[str] | None = None,
        limits: bool = True,
        attempts: int = 64,
        seed: int = 0,
        position_tolerance: float = 1e-6,
        angle_tolerance: float = 1e-6,
        all_solutions: bool = False,
    ) -> InverseKinematicsResult:
        """q with T(q) = T*: a frame at a pose (..., 4, 4), or ``{frame: target}`` with the targets of :mod:`torsor.targets`.

        Damped least squares within the limits, from the guess q0, from a table of configurations, then from random ones of
        ``seed``: at most ``attempts``.  The first that meets all targets to ``position_tolerance`` [m] and ``angle_tolerance``
        [rad] counts, so that a target has the same answer alone and in a batch.  Where none does, ``q`` is the closest and
        ``success`` is False.  ``joints`` are those that may move, by default all that move the frames; the others stay at
        q0.  Angles with a turn or more are those nearest to q0.  Loops and other constraints of the robot hold (MR §6.2).
        ``all_solutions=True`` returns the distinct solutions (k, nq) found for one target, by their distance from q0: for an
        arm of six joints its branches, for one with more joints a sample of infinitely many.

        >>> import torsor as ts
        >>> arm = ts.robots.ur5()
        >>> there = arm.pose([0.1, -1.2, 1.4, 0.3, 0.5, 0.0], "tool0")
        >>> found = arm.inverse_kinematics(there, "tool0")
        >>> bool(found.success), bool(abs(arm.pose(found.q, "tool0") - there).max() < 1e-5)
        (True, True)
        """
        named = tuple(cast("list[str]", joints)) if joints.__class__ is list else joints
        options = frame, limits, attempts, seed, position_tolerance, angle_tolerance, named
        if target.__class__ is np.ndarray and all_solutions is False:
            try:
                first = self._first_tries.get(options)
            except TypeError:  # options that cannot be hashed
                first = None
            found: InverseKinematicsResult | None = first(cast(Array, target), q0) if first else None
            if found is not None:
                return found
        from torsor.mechanics.inverse_kinematics.first_try import FirstTry
        from torsor.mechanics.inverse_kinematics.solver import KEPT, inverse_kinematics, lanes, problem_of

        for name, x in (("position_tolerance", position_tolerance), ("angle_tolerance", angle_tolerance)):
            if not (isinstance(x, (int, float, np.number)) and 0 < x < np.inf):
                raise ArgumentError(f"{name} must be a positive number, not {x!r}")
        for name, n, least in (("attempts", attempts, 1), ("seed", seed, 0)):
            if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < least:
                raise ArgumentError(f"{name} must be a whole number from {least}, not {n!r}")
        joints = _names_of(joints)
        targets, tolerances = self._targets(target, frame), (float(position_tolerance), float(angle_tolerance))
        problem = problem_of(cast("Robot", self), targets, joints, self._limits_of_motion(limits), self._limits.angles)
        guess = None if q0 is None else self._as_configurations(q0)
        result = inverse_kinematics(
            problem, targets, guess, attempts=int(attempts), seed=int(seed), tolerances=tolerances, every=bool(all_solutions)
        )
        if target.__class__ is np.ndarray and attempts >= lanes() and problem.pose_place == 0 and len(problem.rows):
            self._first_tries[options] = FirstTry(problem, tolerances, int(attempts))
            while len(self._first_tries) > KEPT:
                self._first_tries.pop(next(iter(self._first_tries)), None)
        return result

    def differential_inverse_kinematics(
        self,
        q: ArrayLike,
        target: ArrayLike | Mapping[str, Any],
        dt: ArrayLike,
        *,
        v: ArrayLike | None = None,
        joints: Sequence[str] | None = None,
        posture: ArrayLike | None = None,
        limits: bool = True,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        inequalities: tuple[ArrayLike, ArrayLike] | None = None,
        gain: ArrayLike = 10.0,
        damping: ArrayLike = 1e-6,
        slow_down: bool = True,
    ) -> VelocityResult:
        """v (..., nv) for the next ``dt`` [s] with J v = V: twists ``{frame: V}`` (..., 6) as ``jacobian(q, frame)`` has them.

        Damped least squares within limits: where these do not permit J v = V, other joints take over, and where they cannot,
        the motion keeps its direction, J v = s V, with the largest s ≤ 1, ``scale`` of the result; ``slow_down=False`` keeps
        s = 1, and V is left as little as possible.  Targets of :mod:`torsor.targets` are approached at ``gain`` [1/s] times
        their distance; their weights and levels count, and ``posture`` (..., nq) is one of the second level.

        Limits of q hold by braking distance at ``acceleration`` [rad/s², m/s²]; ``velocity`` [rad/s, m/s] is in place of the
        robot's own.  With the present velocity ``v`` the change from it is limited, too.  Positions go before velocities and
        velocities before accelerations.  ``inequalities=(G, h)``: G v ≤ h, (..., k, nv) and (..., k).  Loops hold.

        >>> import torsor as ts
        >>> arm = ts.robots.ur5()
        >>> q = [0.1, -1.2, 1.4, 0.3, 0.5, 0.0]
        >>> found = arm.differential_inverse_kinematics(q, {"tool0": [0, 0, 0, 0.1, 0, 0]}, 0.01)
        >>> float(found.scale), bool(abs(arm.jacobian(q, "tool0") @ found.v - [0, 0, 0, 0.1, 0, 0]).max() < 1e-4)
        (1.0, True)
        """
        plain = joints is None and posture is None and inequalities is None
        options = v is None, dt, limits, velocity, acceleration, gain, damping, slow_down
        if plain and target.__class__ is dict:
            given_twists = cast("dict[str, Any]", target)
            try:
                one = self._first_tries.get((*given_twists, *options))
            except TypeError:  # options that cannot be hashed
                one = None
            answer: VelocityResult | None = one(q, v, [*given_twists.values()]) if one else None
            if answer is not None:
                return answer
        from torsor.mechanics.inverse_kinematics.differential import OneState, problem_and_inputs
        from torsor.mechanics.inverse_kinematics.solver import KEPT

        targets = self._targets(target, None, moving=True)
        problem, given = problem_and_inputs(
            cast("Robot", self),
            self._as_configurations(q),
            targets,
            dt,
            present=v,
            joints=_names_of(joints),
            posture=posture,
            limits=self._limits_of_motion(limits),
            speed=np.inf if velocity is None and not limits else velocity,
            acceleration=acceleration,
            inequalities=inequalities,
            numbers={"gain": gain, "damping": damping},
            slowest=not slow_down,
        )
        result = problem.solve(given)
        if plain and problem.answers_alone:
            with suppress(TypeError):
                self._first_tries[(*targets, *options)] = OneState(problem, given)
                while len(self._first_tries) > KEPT:
                    self._first_tries.pop(next(iter(self._first_tries)), None)
        return result

    @cached_property
    def _first_tries(self) -> dict[Any, Any]:
        """What answers further calls with the same options, the newest."""
        return {}

    def _limits_of_motion(self, wanted: bool) -> tuple[Array, Array]:
        """The limits of q, those of leaders within which their mimic joints are inside theirs, too; ±inf if not wanted."""
        if not wanted:
            return np.full(self.nq, -np.inf), np.full(self.nq, np.inf)
        lower, upper = self.lower.copy(), self.upper.copy()
        for k, intervals in self._leader_intervals.items():
            lower[k], upper[k] = intervals[0][0], intervals[-1][1]
        return lower, upper

    def _targets(self, target: Any, frame: str | None, moving: bool = False) -> dict[str, Target]:
        """The targets by frame, as users give them; arrays are poses, of a ``moving`` target twists."""
        from torsor.mechanics.inverse_kinematics import targets

        of_array = targets.twist if moving else targets.pose
        if isinstance(target, Mapping):
            if frame is not None or not target:
                raise ArgumentError("give targets as {frame: target}, at least one, without frame=")
            return {name: x if isinstance(x, targets.Target) else of_array(x) for name, x in target.items()}
        if frame is None:
            parents = {joint.parent for joint in self.description.joints}
            tips = [link.name for link in self.description.links if link.name not in parents]
            if len(tips) != 1:
                raise ArgumentError(
                    f"robot {self.name!r} has several tips ({', '.join(tips)}); name a frame: frame={tips[0]!r}"
                )
            (frame,) = tips
        return {frame: target if isinstance(target, targets.Target) else of_array(target)}


def _names_of(joints: Sequence[str] | None) -> Sequence[str] | None:
    """The joints that may move, or an error."""
    if isinstance(joints, str) or (joints is not None and not len(joints)):
        raise ArgumentError(f"joints must be a list of at least one name, ['elbow'], or None, not {joints!r}")
    return joints
