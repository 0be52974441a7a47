"""Configurations of a mechanism: neutral, random and named ones, and the limits of its joints."""

from __future__ import annotations

import math
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.model.description import FLOATING_BASE, Description, find
from torsor.model.joints.base import bounds
from torsor.model.limits import Interval, Limits, MimicRange, mimic_ranges
from torsor.model.model import Model
from torsor.model.named_configurations import entries
from torsor.model.names import configuration_names
from torsor.model.terms.springs import motors_of
from torsor.support.locks import cached_property
from torsor.support.user_arrays import as_array


class ConfigurationSpace:
    """The configurations of a description and its numbered model."""

    _description: Description
    _model: Model

    def neutral(self) -> np.ndarray:
        """The zero configuration, ``(nq,)``: zero coordinates [rad, m], identity rotations (0, 0, 0, 1)."""
        return np.array([x for i in self._model.own_joints for x in self._model.joint[i].neutral()], dtype=np.float64)

    # -- named configurations --------------------------------------------------------------------------------

    @property
    def configurations(self) -> tuple[str, ...]:
        """Names of the configurations given with the robot: SRDF group states, MJCF keyframes, :meth:`with_configuration`."""
        return tuple(c.name for c in self._description.configurations)

    def configuration(self, name: str) -> np.ndarray:
        """A named configuration, ``(nq,)`` [rad, m]; joints that it does not name are neutral.

        >>> import torsor as ts
        >>> robot = ts.robots.panda()
        >>> robot.configurations, robot.configuration("ready").round(2)
        (('ready',), array([ 0.  , -0.79,  0.  , -2.36,  0.  ,  1.57,  0.79,  0.  ]))
        """
        q, found = self.neutral(), find("configuration", name, self._description.configurations)
        for at, values in entries(found, self._model):
            q[at] = values
        return self._motors_with_joints(q)

    # -- limits ----------------------------------------------------------------------------------------------

    @cached_property
    def _limits(self) -> Limits:
        return Limits.of(self._description.complete, self._model)

    @cached_property
    def _mimic_ranges(self) -> tuple[MimicRange, ...]:
        return tuple(mimic_ranges(self._description, self._model))

    @cached_property
    def _leader_intervals(self) -> dict[int, list[Interval]]:
        return self._limits.of_leaders(self._mimic_ranges)

    @property
    def lower(self) -> np.ndarray:
        """Lower joint limits [rad, m], ``(nq,)``, read-only; −inf for none, −1 for the entries of a quaternion.

        The −1 is the range of a unit quaternion's entries, not a limit.  Limits of mimic joints are not in it: those are in
        ``robot.joint(name).lower``; :meth:`within_limits` and :meth:`clip` respect them.
        """
        return self._limits.lower

    @property
    def upper(self) -> np.ndarray:
        """Upper joint limits [rad, m], ``(nq,)``, read-only; inf for none, 1 for the entries of a quaternion (see lower)."""
        return self._limits.upper

    @property
    def velocity_limit(self) -> np.ndarray:
        """Largest speeds of the joints [rad/s, m/s], ``(nv,)``, read-only; inf for none."""
        return self._limits.velocity

    @property
    def effort_limit(self) -> np.ndarray:
        """Largest joint forces [N·m, N], ``(nv,)``, read-only; inf for none."""
        return self._limits.effort

    def wrap(self, q: ArrayLike) -> np.ndarray:
        """q with angles changed by whole turns into [−π, π), ``(..., nq)``: the same poses.

        Where that is outside the joint limits, the nearest turn within them; where no turn is within them, the angle stays.
        Angles are those of revolute, continuous, cylindrical, universal and planar joints, Euler angles, roll, pitch and yaw.
        Helical joints stay (a turn moves them along their axis), and so do joints that a mimic joint follows.

        >>> import torsor as ts
        >>> ts.robots.acrobot().wrap([7.0, -4.0]).round(4)
        array([0.7168, 2.2832])
        """
        return self._limits.wrap(self._as_configurations(q))

    # -- random ----------------------------------------------------------------------------------------------

    def random_configuration(
        self, rng: np.random.Generator | int | None = None, size: int | tuple[int, ...] = ()
    ) -> np.ndarray:
        """``(*size, nq)``: uniform within the joint limits and [−π, π] (rad or m); orientations uniform.

        A leader is drawn so that its mimic joints are within their limits, if its own limits allow it.  Motors behind
        springs are where their joints are.
        """
        generator, shape = _generator(rng), _shape(size)
        lower, upper = self.lower.copy(), self.upper.copy()
        of_leaders = self._leader_intervals if self._model.is_numeric else {}
        for k, intervals in of_leaders.items():
            lower[k], upper[k] = intervals[0][0], intervals[-1][1]
        q: list[np.ndarray] = []
        for i in self._model.own_joints:
            kind, start = self._model.joint[i], self._model.q_start[i]
            mine = slice(start, start + kind.nq)
            q += kind.random(generator, lower[mine].tolist(), upper[mine].tolist(), shape)
            if len(intervals := of_leaders.get(start, [])) > 1:
                q[-1] = _draw_from(generator, intervals, shape)
        return self._motors_with_joints(np.stack(q, axis=-1) if q else np.zeros((*shape, 0)))

    def random_velocity(self, rng: np.random.Generator | int | None = None, size: int | tuple[int, ...] = ()) -> np.ndarray:
        """``(*size, nv)``: uniform within ± ``velocity_limit``, and within ±1 [rad/s, m/s] where a joint has no limit."""
        most = np.where(np.isfinite(self.velocity_limit), self.velocity_limit, 1.0)
        v: np.ndarray = _generator(rng).uniform(-1.0, 1.0, (*_shape(size), self._model.nv)) * most
        return v

    # -- whole states ----------------------------------------------------------------------------------------

    def _complete(self, word: str, given: ArrayLike | None, zero: np.ndarray) -> np.ndarray:
        """q or v of all coordinates, ``zero`` by default; one of the joints of the description alone is completed."""
        if given is None:
            return zero
        names, size = {j.name for j in self._description.joints} | {FLOATING_BASE}, "nq" if word == "q" else "nv"
        tree = sum(getattr(self._model.joint[i], size) for i in self._model.own_joints if self._model.joint_names[i] in names)
        x = as_array(word, given, dtype=np.float64)
        if not np.isfinite(x).all():
            raise ArgumentError(f"{word} has numbers that are not finite: {x}")
        if x.ndim and x.shape[-1] == len(zero):
            return x
        if not x.ndim or x.shape[-1] != tree:
            raise ArgumentError(
                f"{word} has shape {x.shape}, expected (..., {len(zero)}) of all coordinates"
                + (f", or (..., {tree}) of the joints without motors and modes" if tree < len(zero) else "")
            )
        full = np.broadcast_to(zero, (*x.shape[:-1], len(zero))).copy()
        full[..., :tree] = x
        return self._motors_with_joints(full, word)

    def _motors_with_joints(self, x: np.ndarray, word: str = "q") -> np.ndarray:
        """q or v with the motors behind springs at the coordinates of their joints."""
        starts = self._model.q_start if word == "q" else self._model.v_start
        for joint, motor in motors_of(self._model):
            x[..., starts[motor]] = x[..., starts[joint]]
        return x

    # -- helpers ---------------------------------------------------------------------------------------------

    def _as_configurations(self, q: ArrayLike) -> np.ndarray:
        """One configuration or a batch, as an array of finite numbers with valid quaternions."""
        nq = self._model.nq
        array: np.ndarray = as_array("q", q, configuration_names(self._model), np.float64, f"an array of shape (..., {nq})")
        if not array.ndim or array.shape[-1] != nq:
            raise ArgumentError(f"q has shape {array.shape}, expected (..., {nq}): one configuration, or a batch of them")
        if not np.isfinite(array).all():
            place = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
            raise ArgumentError(f"q[{', '.join(map(str, place))}] is {array[place]}; all numbers must be finite")
        for part in self._limits.quaternions:
            if not array[..., part].any(axis=-1).all():
                raise ArgumentError(f"q[..., {part.start}:{part.stop}] is a zero quaternion, which is not a rotation")
        return array


def _generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ArgumentError(f"rng must be a NumPy Generator, a seed from 0, or None, not {rng!r}") from None


def _shape(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a batch of random configurations or velocities."""
    try:
        shape = tuple(map(index, size)) if isinstance(size, (tuple, list)) else (index(size),)
    except TypeError:
        shape = (-1,)
    if any(n < 0 for n in shape):
        raise ArgumentError(f"size must be a whole number from 0, or a tuple of them, not {size!r}")
    return shape


def _draw_from(rng: np.random.Generator, intervals: list[Interval], shape: tuple[int, ...]) -> np.ndarray:
    """Uniform over the union of disjoint intervals in ascending order, cut to [−π, π] where some of it is there."""
    inside = [(max(a, -math.pi), min(b, math.pi)) for a, b in intervals if a <= math.pi and b >= -math.pi]
    low, high = np.array(inside or [bounds(*x) for x in intervals]).T
    ends = np.cumsum(high - low)
    x = rng.uniform(0.0, ends[-1], size=shape)
    k = np.minimum(np.searchsorted(ends, x, side="right"), len(ends) - 1)
    found: np.ndarray = np.clip(high[k] - (ends[k] - x), low[k], high[k])
    return found
