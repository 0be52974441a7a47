"""Motions of robots with flexible links, simulated or imported; saved as records, shown as a replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.support.locks import cached_property
from torsor.support.user_arrays import as_array

if TYPE_CHECKING:
    from torsor.look.replay import ReplayPage
    from torsor.look.replay.replay_data import ReplayData
    from torsor.mechanics.flexible.flexible_robot import FlexibleRobot

Array = np.ndarray
Law = Callable[[float, Array, Array], ArrayLike]

#: default |λ| dt of the fastest motion; RK4 is stable up to about 2.8
RESOLVED = 0.6
STABLE = 2.8
#: largest number of steps; more would take hours, and their records would fill the memory
STEPS_AT_MOST = 1e7


@dataclass(frozen=True, eq=False)
class FlexibleResult:
    """A motion, one row per time: ``t`` (T,) [s], ``q`` (T, nq) and ``v`` (T, nv) of (joints, η), ``tau`` (T, nv of the robot).

    Made by :func:`simulate_flexible`, or from other records; without v and τ it can still be shown.
    """

    robot: FlexibleRobot
    t: Array
    q: Array
    v: Array | None = None
    tau: Array | None = None
    wrenches: Mapping[str, Array] = field(default_factory=dict)  #: external, (T, 6) by frame

    def __post_init__(self) -> None:
        flexible, rows = self.robot, len(np.asarray(self.t, float))
        for name, width in (("q", flexible.nq), ("v", flexible.nv), ("tau", flexible.robot.nv)):
            given = getattr(self, name)
            if given is None and name != "q":
                continue
            array = as_array(name, given, dtype=float).copy()
            if array.shape != (rows, width):
                raise ArgumentError(f"{name} has shape {array.shape}, expected ({rows}, {width}): one row per time")
            if not np.isfinite(array).all():
                raise ArgumentError(f"{name} has numbers that are not finite")
            object.__setattr__(self, name, array)
        object.__setattr__(self, "t", np.array(self.t, float))
        if not rows or (np.diff(self.t) <= 0).any():
            raise ArgumentError("t must have one time or more, each after the one before")

    def __repr__(self) -> str:
        return f"<FlexibleResult of {self.robot.robot.name!r}: {self.t[-1] - self.t[0]:g} s, {len(self.t)} records>"

    def _repr_html_(self) -> str:
        from torsor.simulate.html import of_motion

        return of_motion(self)

    @cached_property
    def energies(self) -> dict[str, Array]:
        """``kinetic``, ``potential`` (of gravity) and ``elastic``, (T,) each [J]; needs v."""
        if self.v is None:
            raise ArgumentError("energies need velocities: FlexibleResult(robot, t, q, v)")
        return dict(zip(("kinetic", "potential", "elastic"), self.robot.energy(self.q, self.v), strict=True))

    @cached_property
    def energy_error(self) -> float:
        """Largest error of dE = work − dissipated [J], with integrals by trapezoids; large if the steps are too long."""
        robot, n = self.robot, self.robot.robot.nv
        if self.v is None or self.tau is None:
            raise ArgumentError("the balance of energy needs velocities and forces: FlexibleResult(robot, t, q, v, tau)")
        power = np.einsum("ti,ti->t", self.tau, self.v[:, :n]) - robot.dissipation(self.q, self.v)
        for frame, F in self.wrenches.items():
            power += np.einsum("ti,tij,tj->t", F, robot.jacobian(self.q, frame, "body"), self.v)
        work = np.concatenate(([0.0], np.cumsum(np.diff(self.t) * (power[1:] + power[:-1]) / 2)))
        energy = np.sum(list(self.energies.values()), axis=0)
        return float(np.abs(energy - energy[0] - work).max())

    def at(self, t: ArrayLike) -> Array:
        """(joints, η) at times between the records: joints along their manifold, η interpolated linearly."""
        from torsor.simulate import Result

        n, rigid, t = self.robot.robot.nq, self.robot.robot, np.asarray(t, float)
        still = np.zeros((len(self.t), rigid.nv))
        joints, _ = Result(self.t, self.q[:, :n], still, still, robot=rigid).at(t)
        eta = [np.interp(t, self.t, column) for column in self.q[:, n:].T]
        return np.concatenate((joints, np.stack(eta, axis=-1)), axis=-1)

    def replay(
        self,
        path: str | PathLike[str] | None = None,
        *,
        style: str = "auto",
        roots: Sequence[str | PathLike[str]] = (),
        fps: float = 30.0,
    ) -> ReplayPage:
        """The motion as one page of HTML that opens from disk, beams bending, as :meth:`torsor.simulate.Result.replay`."""
        from torsor.look.replay import open_in_browser, write

        if path is None:
            return open_in_browser(self, style=style, roots=roots, fps=fps)
        return write(self, path, style=style, roots=roots, fps=fps)

    def replay_data(self, style: str, roots: Sequence[str | PathLike[str]], fps: float) -> ReplayData:
        """The images and curves of a replay page."""
        from torsor.simulate.replay_data import replay_data_of_flexible

        return replay_data_of_flexible(self, style, roots, fps)


def simulate_flexible(
    flexible: FlexibleRobot,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    control: ArrayLike | Law | None = None,
    *,
    wrenches: Mapping[str, ArrayLike | Law] | None = None,
    dt: float | None = None,
) -> FlexibleResult:
    """The motion from (q, v), joints and η, over ``duration`` seconds, by the RK4 method.

    ``control``: joint forces (nv of the robot), or a function τ(t, q, v); ``wrenches={frame: F}`` act on it, F (6,) in the
    frame, or a function of (t, q, v).  ``dt`` [s] follows the fastest of vibrations, damping and feedback unless given.

    >>> import torsor as ts
    >>> from torsor.flexible import FlexibleRobot, beam
    >>> arm = FlexibleRobot.of(ts.robots.two_link(), {"link1": beam(1.0, mass_per_length=1.0, EI_z=50.0, modes=(2, 0, 0))})
    >>> fall = simulate_flexible(arm, arm.neutral(), [0.0] * arm.nv, 0.1)
    >>> energy = sum(fall.energies.values())
    >>> bool(abs(energy - energy[0]).max() < 1e-6)
    True
    """
    from torsor.simulate.quantities import QUANTITIES
    from torsor.simulate.stages import advance, stages

    q, v = as_array("q", q, dtype=float).copy(), as_array("v", v, dtype=float).copy()
    force = _law(control, np.zeros(flexible.robot.nv), "control")
    acting = {frame: _law(F, np.zeros(6), f"wrenches[{frame!r}]") for frame, F in (wrenches or {}).items()}

    def acceleration(t: float, q: Array, v: Array) -> Array:
        return flexible.forward_dynamics(q, v, force(t, q, v), {f: law(t, q, v) for f, law in acting.items()})

    fastest = _fastest(flexible, acceleration, q, v)
    dt = min(RESOLVED / max(fastest, 1e-9), 1e-3) if dt is None else dt
    if not (0 < duration < np.inf and 0 < dt < np.inf):
        raise ArgumentError(f"duration and dt must be positive, not {duration!r} and {dt!r}")
    if fastest * dt > STABLE:
        why = "vibrations, damping or feedback this fast"
        raise ArgumentError(f"steps of {dt:g} s are too long for {why}, {fastest:.4g} rad/s: below {STABLE / fastest:.2g} s")
    if duration / dt > STEPS_AT_MOST:
        raise ArgumentError(
            f"{duration:g} s in steps of {dt:.2g} s are {duration / dt:.0e} steps; at most {STEPS_AT_MOST:.0e}; "
            "fewer modes, or beams without their stiffest direction, allow longer steps"
        )
    table = flexible.robot.kernels.of(QUANTITIES)
    kernels = stages(table, (1.0,) * len(flexible.modes), "rk4")  # η behind the joints, by addition
    step = advance(kernels, "rk4", acceleration)
    t = np.linspace(0.0, duration, int(np.ceil(duration / dt - 1e-9)) + 1)
    laws = (force, *acting.values())
    rows = [(q, v, *(law(0.0, q, v) for law in laws))]
    for start, end in pairwise(t.tolist()):
        q, v = step(q, v, start, end - start, acceleration(start, q, v))
        rows.append((q, v, *(law(end, q, v) for law in laws)))
    q, v, tau, *F = map(np.array, zip(*rows, strict=True))
    return FlexibleResult(flexible, t, q, v, tau, dict(zip(acting, F, strict=True)))


def _fastest(flexible: FlexibleRobot, acceleration: Any, q: Array, v: Array) -> float:
    """The largest |λ| [rad/s] of small motions about the start, with all that acts: by differences of the acceleration."""
    n, h, unit = flexible.nv, 1e-4, np.eye(flexible.nv)
    columns = []
    for k in range(n):
        ahead, behind = (acceleration(0.0, flexible.integrate(q, s * unit[k]), v) for s in (h, -h))
        quick, slow = (acceleration(0.0, q, v + s * unit[k]) for s in (h, -h))
        columns.append(((ahead - behind) / (2 * h), (quick - slow) / (2 * h)))
    by_q, by_v = (np.stack(side, axis=-1) for side in zip(*columns, strict=True))
    return float(np.abs(np.linalg.eigvals(np.block([[0 * unit, unit], [by_q, by_v]]))).max())


def _law(given: Any, none: Array, name: str) -> Callable[[float, Array, Array], Array]:
    """The given forces as a function of (t, q, v)."""
    from torsor.simulate.callbacks import as_vector, guarded_law

    if callable(given):
        return guarded_law(given, name, len(none), "forces and moments [N, N·m]")
    constant = none if given is None else as_vector(given, name, len(none), "forces and moments [N, N·m]", ("is", "be"))
    return lambda t, q, v: constant
