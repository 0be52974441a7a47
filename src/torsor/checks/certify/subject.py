"""The subject of a certificate: a robot, random states, and the results of its kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from torsor import algorithms as alg
from torsor.checks.certify.comparison import Array, Skip, per_sample, times
from torsor.checks.certify.rounding import EPS, deviations
from torsor.errors import ArgumentError
from torsor.model.names import coordinate_names
from torsor.model.refusals import refuse_symbols
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.checks.certify.loops import LoopSamples
    from torsor.robot import Robot

Twin = TypeVar("Twin")


def _tree_with_all_coordinates(robot: Robot) -> Robot:
    """The robot without terms other than constraints; motors and sections of beams stay, as joints like others."""
    d = robot.description
    rows = tuple(term for term in d.terms if term.kind == "constraint")
    return type(robot)(replace(d.complete, terms=rows)) if d.terms else robot


class Samples:
    """A robot at random states, ``(samples, n)``: q within its limits, v and a normal with unit deviation [rad/s, m/s ...].

    ``tree`` is the robot with its loops cut open, which most checks use.  Neither has friction laws or force elements, which
    are not part of the rigid-body equations: ``rubbing`` is the tree with them, ``given`` the robot with all terms.
    Quantities that several checks need are computed once.
    """

    def __init__(self, robot: Robot, samples: int, seed: int, thorough: bool = False):
        refuse_symbols(robot.model, "a certificate")
        if robot.nv == 0:
            raise ArgumentError(f"robot {robot.name!r} has no moving joint, so there is no dynamics to verify")
        if samples < 1:
            raise ArgumentError(f"samples must be 1 or more, not {samples}")
        self.given = robot
        robot = _tree_with_all_coordinates(robot)
        self.rubbing = robot.without_loops() if robot.loops else robot
        own = [name for name in robot.terms if name not in robot.loops]
        self.robot = robot.without_terms(*own).with_forces(None) if own or robot.forces else robot
        self.tree = self.robot.without_loops() if robot.loops else self.robot
        self.thorough, self.seed = thorough, seed
        self.model = self.tree.model
        rng = np.random.default_rng(seed)
        self.q = self.tree.random_configuration(rng, samples)
        self.v, self.a = rng.normal(size=(2, samples, robot.nv))
        self.names = coordinate_names(robot.model)
        self._twins: dict[type, Any] = {}

    @cached_property
    def tip(self) -> str:
        """The frame furthest out, where quantities of a frame are looked at."""
        depth = [len(list(self.model.path(frame.body))) for frame in self.model.frames.values()]
        return list(self.model.frames)[int(np.argmax(depth))]

    # -- by kernel -------------------------------------------------------------------------------------------

    def kernel(self, spec: str | tuple[str, ...], *state: Array) -> Array:
        """Result of the compiled kernel for the whole batch."""
        return np.asarray(self.tree.kernel(spec)(*state))

    def sigma(self, spec: str | tuple[str, ...], *state: Array) -> Array:
        """The standard deviation of that kernel's rounding errors."""
        return deviations(self.tree.kernel(spec).program, state)[0]

    @cached_property
    def tau(self) -> Array:
        """τ of the motion: inverse dynamics."""
        return self.kernel("inverse_dynamics", self.q, self.v, self.a)

    @cached_property
    def prescribed(self) -> Array:
        """The coordinates whose acceleration is given to hybrid dynamics: every other one, and in the next state the others."""
        return (np.add.outer(np.arange(len(self.q)), np.arange(self.robot.nv)) % 2).astype(float)

    @cached_property
    def h(self) -> Array:
        """h = c + g: inverse dynamics at a = 0."""
        return self.kernel("inverse_dynamics", self.q, self.v, np.zeros_like(self.a))

    @cached_property
    def g(self) -> Array:
        return self.kernel("gravity_force", self.q)

    @cached_property
    def M(self) -> Array:
        return self.kernel("mass_matrix", self.q)

    @cached_property
    def tau_sigma(self) -> Array:
        return self.sigma("inverse_dynamics", self.q, self.v, self.a)

    @cached_property
    def h_sigma(self) -> Array:
        return self.sigma("inverse_dynamics", self.q, self.v, np.zeros_like(self.a))

    @cached_property
    def M_sigma(self) -> Array:
        return self.sigma("mass_matrix", self.q)

    @cached_property
    def acceleration(self) -> Array:
        """a of forward dynamics, under the τ of inverse dynamics; an error names the joint that moves no mass."""
        return self.kernel("forward_dynamics", self.q, self.v, self.tau)

    def acceleration_sigma(self, force_sigma: Array) -> Array:
        """σ of a: of forward dynamics itself, and |M⁻¹| times that of the forces; the condition of M counts where it acts."""
        own = self.sigma("forward_dynamics", self.q, self.v, self.tau)
        return own + times(np.abs(np.linalg.inv(self.M)), force_sigma)

    @cached_property
    def condition(self) -> Array:
        """cond(M), ``(samples,)``."""
        return np.linalg.cond(self.M)

    # -- by source -------------------------------------------------------------------------------------------

    def source(self, function: Callable[..., Any], *state: Array, **words: Any) -> Array:
        """An algorithm over arrays, with one array ``(samples,)`` per scalar: no recording, no compiler."""
        return as_array(function(self.model, *(list(x.T) for x in state), **words), len(self.q))

    @cached_property
    def C(self) -> Array:
        """The Coriolis matrix, ``(samples, nv, nv)``."""
        return self.source(alg.coriolis_matrix, self.q, self.v)

    # -- under loops, and in other libraries ------------------------------------------------------------------

    @cached_property
    def loop_samples(self) -> LoopSamples:
        """States that keep the loops."""
        from torsor.checks.certify.loops import LoopSamples

        return LoopSamples.of(self)

    def twin(self, kind: type[Twin]) -> Twin:
        """The robot in another library, made once; an error in making it is raised each time."""
        if kind not in self._twins:
            try:
                self._twins[kind] = kind.of(self)  # type: ignore[attr-defined]
            except Skip as reason:
                self._twins[kind] = reason
        if isinstance(found := self._twins[kind], Skip):
            raise found
        return found

    # -- sizes -----------------------------------------------------------------------------------------------

    @cached_property
    def force_sizes(self) -> Array:
        """Σ|M_ij a_j| + Σ|C_ij v_j| + |g_i|, ``(samples, nv)``: the terms of τ before they cancel."""
        return times(np.abs(self.M), np.abs(self.a)) + times(np.abs(self.C), np.abs(self.v)) + np.abs(self.g)

    @cached_property
    def source_sigma(self) -> Array:
        """σ of a force computed outside kernels, ``(samples, 1)``: ε of the largest term, once for each body."""
        return EPS * len(self.model.parent) * per_sample(self.force_sizes)[:, None]


def as_array(nested: Any, samples: int) -> Array:
    """Nested lists of numbers and columns ``(samples,)``, as ``(samples, ...)``."""
    if isinstance(nested, (list, tuple)):
        return np.stack([as_array(x, samples) for x in nested], axis=1) if nested else np.zeros((samples, 0))
    return np.broadcast_to(np.asarray(nested, float), (samples,))
