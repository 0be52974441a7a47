"""Result of a simulation: times, states, forces, energies, residuals; plots, replay pages and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, TorsorError
from torsor.model.names import configuration_names, coordinate_names, units_of
from torsor.model.terms.term import Term
from torsor.simulate import contact_outputs
from torsor.simulate.events import Occurrence
from torsor.support.locks import cached_property
from torsor.support.text import count
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.look.replay import ReplayPage
    from torsor.look.replay.replay_data import ReplayData
    from torsor.mechanics.constraints import ConstrainedRobot
    from torsor.robot import Robot
    from torsor.simulate.audit import Audit


class SimulationStopped(TorsorError, ArithmeticError):
    """A simulation that cannot continue: ``time`` [s], ``step``, ``joint``; ``result`` is the motion so far."""

    def __init__(self, message: str, result: Result, time: float, step: int, joint: str):
        super().__init__(message)
        self.result, self.time, self.step, self.joint = result, time, step, joint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.result, self.time, self.step, self.joint)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation: ``time`` [s], ``step``; ``result`` is the motion so far.

    It is a KeyboardInterrupt, not a TorsorError, so that ``except Exception`` does not catch it.
    """

    def __init__(self, message: str, result: Result, time: float, step: int):
        super().__init__(message)
        self.result, self.time, self.step = result, time, step

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.result, self.time, self.step)


class Poses(NamedTuple):
    """Times [s], evenly spaced, and, by frame, the poses (T, 4, 4) in the world, for a viewer of your own."""

    t: Array
    poses: dict[str, Array]

    def __repr__(self) -> str:
        return f"<Poses: {count(len(self.t), 'image')} to {self.t[-1]:g} s, poses of {count(len(self.poses), 'frame')}>"

    def _repr_html_(self) -> str:
        from torsor.support.html import element, facts

        shown = [("images", str(len(self.t))), ("times", f"{self.t[0]:g} to {self.t[-1]:g} s")]
        shown += [("poses", f"({len(self.t)}, 4, 4) of each frame"), ("frames", ", ".join(self.poses))]
        return element("div", element("p", element("b", "Poses")), facts(shown))


@dataclass(eq=False)
class Result:
    """A simulated motion, one row per recorded time: ``t`` (T,) [s], ``q`` (T, nq), ``v`` and ``tau`` (T, nv).

    ``events`` are in order of time; ``tau`` is the joint force after the limits of drives.  At an impact the time appears
    twice, before and after.
    """

    t: Array
    q: Array
    v: Array
    tau: Array
    wrenches: dict[str, Array] = field(default_factory=dict)  #: external, (T, 6) by frame
    sensors: dict[str, Array] = field(default_factory=dict)  #: readings, (T, n) by name
    states: dict[str, Array] = field(default_factory=dict)  #: internal states, (T, n): "z", "current", "voltage", ...
    events: list[Occurrence] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)
    robot: Robot | None = None
    held: ConstrainedRobot | None = None
    stored: dict[str, Array] = field(default_factory=dict)  #: energies and residuals read from a file
    flows: Mapping[str, Array] = field(default_factory=dict)  #: "work" and "lost" (T,) [J]; empty where every step is recorded

    def __repr__(self) -> str:
        how = f"{self.info.get('integrator', '?')}, {self.info.get('steps', '?')} steps"
        happened = f", {count(len(self.events), 'event')}" if self.events else ""
        names = self.info.get("contacts") if "fx" in self.states else None
        touching = f", {count(len(names), 'contact')}" if names else ""
        listed = "".join(f"; {note.partition(': ')[0]}" for note in self.notes)
        shown = f"{self.t[-1]:g} s, {how}, {len(self.t)} records{touching}{happened}{listed}"
        return f"<Simulation of {self.info.get('robot', '?')!r}: {shown}>"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes, one line each: damping and dry friction of the robot's file that were left out; limits that recorded states
        are outside of, with joint, largest excess and first time; constraints that pull, with the first time; contacts that
        begin inside their surfaces, and the residual of impulses that did not converge."""
        return tuple(self.info.get("notes", ()))

    def _repr_html_(self) -> str:
        from torsor.simulate.html import of_motion

        return of_motion(self)

    # -- contacts --------------------------------------------------------------------------------------------

    @property
    def contact_forces(self) -> Array | None:
        """Forces of the contacts on the robot in the step before each record, (T, contacts, 3) [N], in world axes, or None.

        Adaptive steps have those at the record.  The contacts are in the order of ``robot.terms`` and of their points.
        """
        return np.stack([self.states[f"f{axis}"] for axis in "xyz"], axis=-1) if "fx" in self.states else None

    @cached_property
    def contact_normal_force(self) -> Array | None:
        """The parts of ``contact_forces`` along the normals of the surfaces, (T, contacts) [N]; None without contacts."""
        if "contact_normal_force" in self.stored or (forces := self.contact_forces) is None:
            return self.stored.get("contact_normal_force")
        return contact_outputs.normal_force(self.require_robot(), self.q, self.t, forces)

    @property
    def contact_residual(self) -> Array | None:
        """Largest violation of the laws of contact in the step before each record, (T,) [m/s]; None without contacts."""
        return self.states["residual"].max(axis=1) if self.contact_forces is not None else None

    @cached_property
    def contact_gap(self) -> Array | None:
        """Distances of the contacts at the records, (T, contacts) [m], negative inside; None without contacts."""
        if "contact_gap" in self.stored or self.contact_forces is None:
            return self.stored.get("contact_gap")
        robot = self.require_robot()
        return robot.contact_gap(self.q, time=self.t if robot.model.depends_on_time else None)

    def contact_images(self, times: Array) -> contact_outputs.ContactImages | None:
        """Points and mean forces of the contacts in images at evenly spaced times; None without contacts."""
        return contact_outputs.images(self, times, self.at(times)[0])

    # -- energies --------------------------------------------------------------------------------------------

    @cached_property
    def energies(self) -> dict[str, Array]:
        """``kinetic``, ``potential`` and, with springs, ``elastic``, with LuGre friction, ``bristles``, (T,) each [J]."""
        if self.stored:
            return {k: self.stored[k] for k in ("kinetic", "potential", "elastic", "bristles") if k in self.stored}
        robot = self.require_robot()
        if any(type(term).energy is not Term.energy for term in robot.model.terms):
            kernel = robot.kernel("term_energies")
            found = kernel(*(getattr(self, x.name) for x in kernel.inputs))
            both = {"kinetic": found[:, 0], "potential": found[:, 1], "elastic": found[:, 2:].sum(axis=1)}
        else:
            rigid = robot.kernel("kinetic_energy", "potential_energy")(self.q, self.v)
            both = dict(zip(("kinetic", "potential"), rigid, strict=True))
        if "z" not in self.states:
            return both
        from torsor.simulate.energy_flows import friction_losses

        return both | {"bristles": friction_losses(self)[:, 1]}

    @property
    def energy(self) -> Array:
        """Total energy, the sum of ``energies``, (T,) [J]."""
        return np.sum(list(self.energies.values()), axis=0)

    @cached_property
    def residual(self) -> Array:
        """Closure errors φ of the constraints, (T, k) [m, rad]; (T, 0) without constraints (F&O 16)."""
        if "residual" in self.stored:
            return self.stored["residual"]
        if self.held is None:
            return np.zeros((len(self.t), 0))
        return self.held.residual(self.q, time=self.t if self.held.solver.equations.depends_on_time else None)

    @cached_property
    def multipliers(self) -> Array:
        """Forces λ of the constraints on the robot, M a + h = τ + Aᵀλ, (T, k) [N, N·m]; columns as ``info["rows"]``.

        Without Baumgarte's terms.  Where rows are redundant λ is not unique: one of them is zero.
        """
        from torsor.simulate.constraint_forces import multipliers

        return self.stored["multipliers"] if "multipliers" in self.stored else multipliers(self)

    @cached_property
    def summed_flows(self) -> Mapping[str, Array]:
        """``work`` of joint forces and wrenches, and energy ``lost`` between impacts, (T,) each [J], summed over all steps."""
        from torsor.simulate.energy_flows import summed_flows

        return self.flows or summed_flows(self)

    def audit(self) -> Audit:
        """dE = work − dissipated + contact, summed over all steps, recorded or not; the discrepancy is the integrator's error.

        ``contact`` is the work of contacts, stops and dry friction, of a robot with contacts.
        """
        if self.info.get("rollout"):
            raise ArgumentError("a rollout has no energy audit: it does not sum work; robot.simulate does")
        return self._audit

    @cached_property
    def _audit(self) -> Audit:
        from torsor.simulate.audit import audit

        return audit(self)

    # -- display ---------------------------------------------------------------------------------------------

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """(q, v) at times between the records: along the manifold at constant velocity, v interpolated linearly."""
        robot, wanted = self.require_robot(), np.asarray(t, float)
        if wanted.size and (wanted.min() < self.t[0] or wanted.max() > self.t[-1]):
            asked = f"{wanted.min():g} to {wanted.max():g} s"
            raise ArgumentError(f"times from {asked} are outside the simulation, {self.t[0]:g} to {self.t[-1]:g} s")
        k, after, s = between_records(self.t, wanted)
        q = robot.integrate(self.q[k], robot.difference(self.q[k], self.q[after]), s)
        return q, self.v[k] + (self.v[after] - self.v[k]) * s[..., None]

    def poses(self, frames: Sequence[str] | None = None, *, fps: float = 30.0, speed: float = 1.0) -> Poses:
        """Poses of the frames (by default every link) for a viewer of your own that shows ``fps`` images per second.

        :meth:`replay` shows the motion in the browser.
        """
        robot = self.require_robot()
        for name, value in (("fps", fps), ("speed", speed)):
            if not (isinstance(value, (int, float)) and 0 < value < np.inf):
                raise ArgumentError(f"{name} must be a positive number, not {value!r}")
        count = max(1, int((self.t[-1] - self.t[0]) * fps / speed) + 1)
        times = np.minimum(self.t[0] + np.arange(count) * speed / fps, self.t[-1])
        q, _ = self.at(times)
        return Poses(times, {f: robot.pose(q, f) for f in (robot.links if frames is None else frames)})

    def plot(self, axes: Any = None) -> Any:
        """Positions, velocities, forces and energies over time; needs matplotlib.  Returns the axes.

        With contacts also their forces along the normals.
        """
        from torsor.support.panels import Panel, motion_panels, plot_panels

        energies = {**self.energies, "total": self.energy}
        panels = motion_panels(self.info, self.q, self.v, self.tau)
        panels += contact_outputs.contact_panels(self.info, self.contact_normal_force)
        return plot_panels(
            self.t, [*panels, Panel("energy [J]", tuple(energies), np.stack(list(energies.values()), axis=-1))], axes
        )

    def replay(
        self,
        path: str | PathLike[str] | None = None,
        *,
        style: str = "auto",
        roots: Sequence[str | PathLike[str]] = (),
        fps: float = 30.0,
    ) -> ReplayPage:
        """The motion as one page of HTML that opens from disk; options as for :func:`torsor.replay.html`.

        Without a path the page is written to a temporary file and opened in the browser.  A notebook shows the returned path
        as the page.
        """
        from torsor.look.replay import open_in_browser, write

        if path is None:
            return open_in_browser(self, style=style, roots=roots, fps=fps)
        return write(self, path, style=style, roots=roots, fps=fps)

    def replay_data(self, style: str, roots: Sequence[str | PathLike[str]], fps: float) -> ReplayData:
        """The images and curves of a replay page."""
        from torsor.simulate.replay_data import replay_data_of_result

        return replay_data_of_result(self, style, roots, fps)

    # -- files -----------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write to .npz, .csv or .parquet, by extension; :func:`torsor.simulate.load_result` reads it back."""
        from torsor.simulate.files import save

        save(self, path)

    def require_robot(self) -> Robot:
        """The robot; ArgumentError if the result was loaded without it."""
        if self.robot is None:
            raise ArgumentError("this result was loaded without its robot; use ts.simulate.load_result(path, robot=robot)")
        return self.robot


def between_records(t: Array, wanted: Array) -> tuple[Array, Array, Array]:
    """(k, k⁺, s) with wanted = t[k] + s (t[k⁺] − t[k]): the records around each time, and the share of the way between them.

    A time that is recorded twice is the second record, except at the end.
    """
    k = np.clip(np.searchsorted(t, wanted, side="right") - 1, 0, max(len(t) - 2, 0))
    after = np.minimum(k + 1, len(t) - 1)
    width = t[after] - t[k]
    return k, after, np.where(width > 0, (wanted - t[k]) / np.where(width > 0, width, 1.0), 0.0)


def names_of(robot: Robot) -> dict[str, Any]:
    """The robot's name, and the names and units of the columns of q, v and τ."""
    q, v, units = configuration_names(robot.model), coordinate_names(robot.model), units_of(robot.model)
    contacts = {"contacts": list(names)} if (names := robot.contacts) else {}
    return {"robot": robot.name, "configuration": list(q), "coordinates": list(v), "units": units._asdict(), **contacts}


def records_from_columns(columns: Sequence[Array], frames: Sequence[str], state_names: Sequence[str]) -> Mapping[str, Any]:
    """The columns of a Result; ``state_names``: the internal states at the end."""
    t, q, v, tau, *rest = columns
    F, others = rest[: len(frames)], dict(zip(state_names, rest[len(frames) :], strict=True))
    return {"t": t, "q": q, "v": v, "tau": tau, "wrenches": dict(zip(frames, F, strict=True)), "states": others}
