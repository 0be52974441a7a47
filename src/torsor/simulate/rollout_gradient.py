"""Gradients of a rollout: the scan that carries the adjoint of a step back over the stored states.

With x⁺ = Φ(x, u) and weights w of the recorded states, λ = ∂Φ/∂xᵀ (λ⁺ + w⁺) from the last step to the first: λ is the gradient
of Σ w·x by the state, and ∂Φ/∂uᵀ (λ⁺ + w⁺) that by the inputs of the step.  Gradients by q are along v.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from torsor.compile import Argument, Kernel, Scan
from torsor.compile.arrays import as_rows
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError
from torsor.kernels.derivatives import Space
from torsor.model import Model
from torsor.simulate.rollout_failures import among_all, robots
from torsor.simulate.step_adjoint import layout
from torsor.simulate.step_program import Plan, StepInput, wrench_argument
from torsor.support.locks import cached_property

#: distance from switching below which a derivative may have two sides
NEAR = 0.01


@dataclass(frozen=True, eq=False)
class RolloutGradient:
    """The gradient of Σ w·x by all that a rollout was given, each in the shape in which it was given; by q0 along v (nv)."""

    q0: np.ndarray  #: (..., nv), along v
    v0: np.ndarray  #: (..., nv)
    controls: np.ndarray | None = None  #: as the controls
    parameters: dict[str, np.ndarray] = field(default_factory=dict)  #: of the controller, by name
    vary: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)  #: by property, then by link or joint
    wrenches: dict[str, np.ndarray] = field(default_factory=dict)  #: by frame
    memory: np.ndarray | None = None  #: by the controller's memory at the start
    x: np.ndarray | None = None  #: by the first-order states at the start
    find_distances: Callable[[], np.ndarray] | None = field(default=None, repr=False)  #: runs the steps once more

    @cached_property
    def distances(self) -> np.ndarray:
        """How far contacts, stops and dry friction came to another set, (..., n): the smallest of all steps, in this order.

        Stick and slip: ||λ_t − u_t/ρ|/(μ λ_n + c) − 1|, λ_t − u_t/ρ the impulse that would stop the slip.  Open and closed: the
        velocity G_nn λ_n, or φ⁺/dt of an open contact, relative to 9.81 dt [m/s, rad/s].  0 is the edge between two sets, where
        the derivative has two sides.  NaN of robots that failed.
        """
        if self.find_distances is None:
            raise ArgumentError(
                "this gradient does not know its steps: it was pickled, or not made by a rollout; read switches or distances "
                "before"
            )
        return self.find_distances()

    @property
    def switches(self) -> np.ndarray:
        """The number of contacts, stops and joints with dry friction that were, in a step, about to switch, (...): those with
        a distance below :data:`NEAR`.  The gradient counts one side only there; 0 without contacts."""
        return (self.distances < NEAR).sum(axis=-1)

    def __getstate__(self) -> dict[str, Any]:
        """Without the rollout, whose controller may be a function that cannot be pickled."""
        return {**self.__dict__, "find_distances": None}


class StepRange(NamedTuple):
    """Consecutive steps, and the states before them: all ``(..., n + 1, size)``, or only the first, to run from again."""

    first: int
    steps: int
    states: list[np.ndarray]
    complete: bool

    def step_inputs(self, feeds: Sequence[StepInput]) -> Iterator[np.ndarray]:
        """The further inputs of these steps."""
        for f in feeds:
            axis = f.values.ndim - 1 - len(f.argument.shape)
            rows = (slice(None),) * axis + (slice(self.first, self.first + self.steps),)
            yield f.values[rows] if f.stepped else f.values


class Adjoint(NamedTuple):
    """All that the gradient of one rollout needs."""

    model: Model
    plan: Plan
    feeds: list[StepInput]
    batch: dict[str, tuple[int, ...]]  #: leading axes of q0, v0, memory and x as they were given
    forward: Scan
    backward: Scan
    ranges: list[StepRange]  #: in the order of time
    every: int
    kernel: Callable[[], Kernel] | None = None  #: of the distances from switching; None where nothing switches
    sound: np.ndarray | None = None  #: (...) the robots that did not fail, if some did: the ranges are of these

    def gradient(self, batch: tuple[int, ...], records: int, weights: dict[str, Any]) -> RolloutGradient:
        """From weights of the recorded states, by name: q, v, memory, x; None is zero."""
        state, fixed, stepped = layout(self.model, self.plan)
        given, feeds, all_robots = self._weights(weights, batch, records), self.feeds, batch
        if self.sound is not None:
            given, feeds = [w[self.sound] for w in given], inputs_of(self.feeds, self.sound)
            batch = (int(self.sound.sum()),)
        moving, dtype = sum(s.size for s in state), self.backward.dtype
        adjoint = np.zeros((*batch, moving + sum(s.size for s in fixed)), dtype)
        rows: list[np.ndarray] = []
        for part in reversed(self.ranges):
            end = part.first + part.steps
            if self.every > 1 and end % self.every == 0:  # the last step of the range was recorded
                adjoint[..., :moving] += np.concatenate([w[..., end // self.every - 1, :] for w in given], -1)
            inside = [np.zeros((part.steps, *s.shape), dtype) for s in state] if self.every > 1 else given
            before = [x[..., :-1, :] for x in self._states(part, feeds)][: len(state)]  # without the residual of rows
            try:
                found = self.backward(*before, *part.step_inputs(feeds), *inside, adjoint, steps=part.steps)
            except NotFinite as error:
                raise _not_finite(error, part.first, self.sound) from None
            adjoint, *more = found if stepped else (found,)
            rows[:0] = more
        along = np.concatenate(rows, axis=-2) if len(rows) > 1 else rows[0] if rows else np.zeros((*batch, records, 0))
        if self.sound is not None:
            adjoint, along = (among_all(x, self.sound, 0.0) for x in (adjoint, along))
        made = self._by_name(_parts((*state, *fixed), adjoint), _parts(stepped, along))
        return replace(made, find_distances=partial(self.distances, all_robots))

    def distances(self, batch: tuple[int, ...]) -> np.ndarray:
        """The smallest distances from switching over all steps, (..., n): the steps are computed once more."""
        if self.kernel is None:
            return np.zeros((*batch, 0))
        kernel, count = self.kernel(), len(layout(self.model, self.plan)[0])
        feeds = self.feeds if self.sound is None else inputs_of(self.feeds, self.sound)
        found: np.ndarray | None = None
        for part in self.ranges:
            before = [x[..., :-1, :] for x in self._states(part, feeds)][:count]
            given = []
            for f, x in zip(feeds, part.step_inputs(feeds), strict=True):
                axis = x.ndim - len(f.argument.shape)
                given.append(x if f.stepped or not axis else np.expand_dims(x, axis))
            nearest = np.asarray(kernel(*before, *given)).min(axis=-2)
            found = nearest if found is None else np.minimum(found, nearest)
        assert found is not None
        return found if self.sound is None else among_all(found, self.sound)

    def _sum(self, x: np.ndarray, lead: tuple[int, ...], own: int) -> np.ndarray:
        """The gradient by a value in the shape in which it was given: NaN where all robots that it counts for failed."""
        total = _sum_to(x, lead, own)
        if self.sound is not None:
            lost = _sum_to(self.sound.astype(int), lead, 0) == 0
            total = np.where(lost.reshape(lost.shape + (1,) * own), np.nan, total)
        return total

    def _weights(self, weights: dict[str, Any], batch: tuple[int, ...], records: int) -> list[np.ndarray]:
        """The weights (..., T, n) of q, v and the memory, checked."""
        nv, own = self.model.nv, self.plan.controller_memory
        sizes = {"q": nv, "v": nv, "memory": own, "x": self.plan.memory - own}
        out = {}
        for name, size in sizes.items():
            argument, value = Argument(name, (records, size)), weights[name]
            if value is not None and not size:
                raise ArgumentError(f"{name} is given, but this rollout has none; omit it")
            array = np.zeros(argument.shape) if value is None else as_rows(argument, value, self.backward.dtype)
            try:
                out[name] = np.broadcast_to(array, (*batch, *argument.shape))
            except ValueError:
                raise ArgumentError(
                    f"{name} has shape {array.shape}, expected {(*batch, *argument.shape)}: a row of {size} numbers for each "
                    "recorded state"
                ) from None
        memories = [out[name] for name in ("memory", "x") if sizes[name]]
        return [out["q"], out["v"], *([np.concatenate(memories, axis=-1)] if memories else ())]

    def _states(self, part: StepRange, feeds: Sequence[StepInput]) -> list[np.ndarray]:
        if part.complete:
            return part.states
        found = self.forward(*part.states, *part.step_inputs(feeds), steps=part.steps, with_start=True)
        return list(found)

    def _by_name(self, whole: dict[str, np.ndarray], along: dict[str, np.ndarray]) -> RolloutGradient:
        """Gradients in the shape of what was given: summed where one value counts for several robots."""
        out: dict[str, np.ndarray] = {}
        if self.plan.memory:
            own = self.plan.controller_memory
            whole["memory"], whole["x"] = whole["memory"][..., :own], whole["memory"][..., own:]
        for name, lead in self.batch.items():
            if name in whole:
                out[name] = self._sum(whole[name], lead, 1)
        for f in self.feeds:
            name, own = f.argument.name, len(f.argument.shape) + f.stepped
            if name in whole or name in along:
                out[name] = self._sum((along if f.stepped else whole)[name], f.values.shape[: f.values.ndim - own], own)
        vary: dict[str, dict[str, np.ndarray]] = {}
        for key in self.plan.vary:
            vary.setdefault(key.what, {})[key.name] = out[key.label]
        own, takes = self.plan.controller_memory, self.plan.controller.takes if self.plan.controller else ()
        return RolloutGradient(
            out["q0"],
            out["v0"],
            out.get("controls"),
            {p: out[label] for p in takes if (label := f"parameters[{p!r}]") in out},
            vary,
            {frame: out[wrench_argument(frame).name] for frame in self.plan.frames},
            out["memory"] if own else None,
            out["x"] if self.plan.memory > own else None,
        )


def _not_finite(error: NotFinite, first: int, sound: np.ndarray | None) -> NotFinite:
    """The error of a gradient that is not finite at a step of a range, which begins with the step ``first``."""
    at, step = error.state, first + error.step
    if sound is not None:
        at = tuple(np.argwhere(sound)[at[0]].tolist())
    robot = f" of robot {at[0] if len(at) == 1 else at}" if at else ""
    return NotFinite(
        f"the gradient{robot} is not finite at step {step}, although the motion is: the weights overflow, use smaller ones, "
        "or the derivative of a controller or an actuator does not exist there (a root at 0)",
        at, step, error.output,
    )  # fmt: skip


def _parts(by: Sequence[Space], x: np.ndarray) -> dict[str, np.ndarray]:
    """Vectors end to end as arrays by name."""
    out, start = {}, 0
    for space in by:
        out[space.argument.name] = x[..., start : start + space.size].reshape((*x.shape[:-1], *space.shape))
        start += space.size
    return out


def _sum_to(x: np.ndarray, lead: tuple[int, ...], own: int) -> np.ndarray:
    """Sum over the leading axes that ``lead`` lacks, or has with length 1; the last ``own`` axes stay."""
    batch = x.shape[: x.ndim - own]
    more = len(batch) - len(lead)
    over = (*range(more), *(more + k for k, n in enumerate(lead) if n == 1 and batch[more + k] != 1))
    return x.sum(axis=over).reshape((*lead, *x.shape[x.ndim - own :])) if over else x


# -- the states to differentiate at ---------------------------------------------------------------------------------


def run_in_ranges(
    scan: Scan, state: Sequence[np.ndarray], feeds: Sequence[StepInput], T: int, every: int, mask: bool = False
) -> tuple[list[np.ndarray], list[StepRange], np.ndarray | None]:
    """The recorded states, the ranges, and the steps at which robots failed: None if all are finite, as without ``mask``.

    One range with all states if each is recorded, else some √T from checkpoints.  If robots failed, the ranges are of the
    others, which are run again.
    """
    try:
        return *_run_in_ranges(scan, state, feeds, T, every), None
    except NotFinite:
        if not mask:
            raise
    records, failed = scan(*state, *(f.values for f in feeds), steps=T, every=every, mask=True)
    sound = failed < 0
    _, ranges = _run_in_ranges(scan, [robots(x, 1, sound) for x in state], inputs_of(feeds, sound), T, every)
    return list(records), ranges, failed


def inputs_of(feeds: Sequence[StepInput], chosen: np.ndarray) -> list[StepInput]:
    """The further inputs of the chosen robots."""
    return [f._replace(values=robots(f.values, len(f.argument.shape) + f.stepped, chosen)) for f in feeds]


def _run_in_ranges(
    scan: Scan, state: Sequence[np.ndarray], feeds: Sequence[StepInput], T: int, every: int
) -> tuple[list[np.ndarray], list[StepRange]]:
    if every == 1:
        states = list(scan(*state, *(f.values for f in feeds), steps=T, with_start=True))
        for x in states:
            x.flags.writeable = False  # the gradient is computed at these states
        return [x[..., 1:, :] for x in states], [StepRange(0, T, states, True)]
    ranges: list[StepRange] = []
    records: list[list[np.ndarray]] = []
    now, first = list(state), 0
    for steps in range_lengths(T, every):
        ranges.append(StepRange(first, steps, now, False))
        try:
            now = [x[..., -1, :] for x in scan(*now, *ranges[-1].step_inputs(feeds), steps=steps, every=steps)]
        except NotFinite as error:
            raise NotFinite(str(error), error.state, first + error.step, error.output) from None
        first += steps
        if first % every == 0:
            records.append(now)
    return [np.stack(rows, axis=-2) for rows in zip(*records, strict=True)], ranges


def range_lengths(T: int, every: int) -> list[int]:
    """Lengths of about √T that end at each recorded state: so many states are kept, and so many computed again at a time."""
    longest = max(1, math.isqrt(T))
    inside = [min(longest, every - k) for k in range(0, every, longest)]
    return inside * (T // every)
