"""Uses of a rollout's arrays: joint forces at its records, plots, files, and its forms in a REPL and a notebook."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation import EquationOfMotion
from torsor.errors import ArgumentError
from torsor.model.terms.contacts import contact_places
from torsor.simulate import contact_outputs
from torsor.simulate.rollout_failures import Failure, Failures, among_all, evaluate_before_failures, rows_before
from torsor.simulate.step_program import Plan, StepInput, at_records
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.compile import Scan
    from torsor.look.replay import ReplayPage
    from torsor.robot import Robot
    from torsor.simulate.result import Result
    from torsor.simulate.rollout_gradient import Adjoint, RolloutGradient

#: numbers of a quantity above which a notebook shows a plot of some of the robots only
SHOWN = 200_000


class RolloutInputs(NamedTuple):
    """Data from which the joint forces of a rollout follow: the inputs at its records, and how it was run."""

    robot: Robot
    integrator: str
    dt: float
    steps: int
    plan: Plan | None  #: None if the joint forces are the controls
    values: Sequence[np.ndarray] = ()  #: the inputs of the plan, or the controls if there are any
    memory: Callable[[], np.ndarray] | None = None  #: (..., T, n + m) of the controller, then x
    failures: Failures | None = None  #: None if every robot is finite


def memory_rows(
    scan: Scan, state: Sequence[np.ndarray], feeds: Sequence[StepInput], steps: int, every: int, found: np.ndarray
) -> Callable[[], np.ndarray]:
    """The memory at the records, (..., T, m), as a function: if only the last was kept, it runs the rollout again.

    ``feeds`` are arrays of our own; ``state`` may be the caller's, so it is copied.
    """
    if scan.with_all_rows is scan:
        return lambda: found
    if every == steps:
        return lambda: found[..., None, :]
    start = [np.array(x) for x in state]

    def again() -> np.ndarray:
        (_, _, memory, *_), _ = scan.with_all_rows(*start, *(f.values for f in feeds), steps=steps, every=every, mask=True)
        return np.asarray(memory)

    return again


def inputs_at_records(
    robot: Robot, plan: Plan, feeds: Sequence[StepInput], dt: float, steps: int, every: int, t: np.ndarray,
    memory: Callable[[], np.ndarray] | None,
) -> RolloutInputs:  # fmt: skip
    """Copies of the inputs at the records, so that the arrays of the caller may change."""
    moving = plan.vary or robot.model.depends_on_time  # surfaces: of varied heights, of a base in motion
    computed = (
        plan.controller is not None or EquationOfMotion(robot.model).transmits or (moving and contact_places(robot.model)[0])
    )
    kept = feeds if computed else [f for f in feeds if f.argument.name == "controls"]
    values = [at_records(f, every, t) for f in kept]
    copies = [x if f.stepped else x.copy() for f, x in zip(kept, values, strict=True)]
    return RolloutInputs(robot, plan.integrator, dt, steps, plan if computed else None, copies, memory)


@dataclass(frozen=True, eq=False, repr=False)
class Rollout:
    """Robots over time: ``q[..., k, :]`` and ``v[..., k, :]`` are the state at ``t[k]``, without the initial state.

    Leading axes are those of the start: none for one robot, (N,) for many.
    """

    t: np.ndarray  #: (T,) [s]
    q: np.ndarray  #: (..., T, nq)
    v: np.ndarray  #: (..., T, nv)
    sensors: dict[str, np.ndarray] = field(default_factory=dict)  #: readings, (..., T, n) by name
    inputs: RolloutInputs | None = None  #: for tau and the memory
    adjoint: Adjoint | None = None  #: for the gradient, if ``differentiable=True``
    #: (..., 3) under constraints: the largest |φ| [m, rad], |A v − b| [m/s, rad/s] and doubt of all steps
    residual: np.ndarray | None = None

    @cached_property
    def memory(self) -> np.ndarray | None:
        """Memory of the controller at the recorded states, ``(..., T, n)``; None if it has none.

        A rollout that is neither differentiable nor read by sensors keeps the last memory only: with several records, the
        first access runs it again, with the same bits.
        """
        return self._part_of_memory(slice(0, self._controller_memory))

    @cached_property
    def x(self) -> np.ndarray | None:
        """First-order states at the recorded states, ``(..., T, n)``, computed as :attr:`memory`; None if there are none."""
        return self._part_of_memory(slice(self._controller_memory, None))

    @cached_property
    def failed(self) -> tuple[Failure, ...]:
        """The robots that were masked (``on_failure="mask"``): index, step, and the reason, which is found at the first access.

        Their q, v and memory are NaN from that step on; so are joint forces and the readings of sensors of the step itself.
        """
        return self.inputs.failures.explained() if self.inputs and self.inputs.failures else ()

    @cached_property
    def tau(self) -> np.ndarray:
        """Joint forces at the recorded states, ``(..., T, nv)`` [N·m; N for prismatic joints], computed at the first access.

        They are those of the controls, the controller and the actuators in the step that follows the record, after the last
        step those of the last; without losses.
        """
        given, good = self._require_inputs("tau"), self._before_failures
        if given.plan is None:
            tau = np.array(np.broadcast_to(given.values[0] if given.values else np.zeros(()), self.v.shape), self.v.dtype)
            return tau if good is None else among_all(tau[good], good)
        return self._at_records("joint forces", given, given.plan)

    @cached_property
    def contact_forces(self) -> np.ndarray | None:
        """Forces of the contacts on the robot in the step before each record, ``(..., T, contacts, 3)`` [N], in world axes.

        The contacts are in the order of ``robot.terms`` and of their points; None if the robot has none.
        """
        if not self._contact_places[0]:
            return None
        found = self.x[..., self._contact_places[0]]  # type: ignore[index]
        return found.reshape(*found.shape[:-1], -1, 3)

    @cached_property
    def contact_normal_force(self) -> np.ndarray | None:
        """The parts of ``contact_forces`` along the normals of the surfaces, ``(..., T, contacts)`` [N], or None."""
        if (forces := self.contact_forces) is None:
            return None
        return contact_outputs.normal_force(self._require_inputs("contact_normal_force").robot, self.q, self.t, forces)

    @cached_property
    def contact_gap(self) -> np.ndarray | None:
        """Distances φ of the contacts at the records, ``(..., T, contacts)`` [m], negative inside; None without contacts."""
        if not self._contact_places[0]:
            return None
        from torsor.kernels import Spec

        given, good, kind = self._require_inputs("contact_gap"), self._before_failures, self.dtype.name
        if given.plan is None:
            kernel = given.robot.kernels.kernel(Spec((("contact_gap",),), dtype=kind))
            return evaluate_before_failures(kernel, (self.q,), [1], good)
        return self._at_records("contact gaps", given, given.plan)

    @cached_property
    def contact_residual(self) -> np.ndarray | None:
        """Largest violation of the laws of contact in the step before each record, ``(..., T)`` [m/s]; None without contacts.

        It is 0 where impulses push, stick and slip as they should: min(u_n, G_nn λ_n) and λ_t − Π(λ_t − u_t/ρ), as velocities.
        """
        return self.x[..., self._contact_places[1]].max(axis=-1) if self._contact_places[1] else None  # type: ignore[index]

    @cached_property
    def info(self) -> dict[str, Any]:
        """Names and units of the columns, and the integrator, dt [s] and number of steps."""
        from torsor.simulate.result import names_of

        given = self._require_inputs("info")
        return {**names_of(given.robot), "integrator": given.integrator, "dt": given.dt, "steps": given.steps}

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading axes: () for one robot, (N,) for many."""
        return self.q.shape[:-2]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Floating-point type of q, v and tau: float64, or float32 if chosen by ``dtype=``."""
        return self.q.dtype

    def plot(self, axes: Any = None, *, robot: int | tuple[int, ...] | None = None) -> Any:
        """q, v and τ over time, and the normal forces of contacts; needs matplotlib.  Returns the axes.

        Of many robots, the median, and a band from the smallest to the largest value; ``robot`` chooses one by its index.
        """
        from torsor.support.panels import motion_panels, plot_panels

        chosen = () if robot is None else robot
        try:
            q, v, tau = (x[chosen] for x in (self.q, self.v, self.tau))
            normal = None if (found := self.contact_normal_force) is None else found[chosen]
            if q.ndim < 2:
                raise IndexError
        except (IndexError, TypeError):
            raise ArgumentError(f"robot must be an index into the batch {self.batch}, not {robot!r}") from None
        if not q.size:
            raise ArgumentError("this Rollout has no robots or no records to plot")
        panels = [*motion_panels(self.info, q, v, tau), *contact_outputs.contact_panels(self.info, normal)]
        return plot_panels(self.t, panels, axes)

    def result(self, robot: int | tuple[int, ...] | None = None) -> Result:
        """The motion of one robot as a :class:`Result`, to replay, view and save: its records, without the initial state.

        ``robot`` is its index, where there are several.  A robot that failed has the records before.  ``result.robot`` is the
        robot of the call, without what ``vary`` changes; there is no energy audit.

        >>> import numpy as np, torsor as ts
        >>> arm = ts.robots.two_link()
        >>> arm.rollout(np.zeros((3, 2)), np.zeros(2), dt=1e-3, steps=50).result(1)
        <Simulation of 'two_link': 0.05 s, semi_implicit, 50 steps, 50 records>
        """
        from torsor.simulate.rollout_result import result_of

        return result_of(self, robot)

    def replay(
        self, path: str | PathLike[str] | None = None, *, robot: int | tuple[int, ...] | None = None, **options: Any
    ) -> ReplayPage:
        """The motion of one robot as a page of HTML; options as for :meth:`Result.replay`."""
        return self.result(robot).replay(path, **options)

    def gradient(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        memory: ArrayLike | None = None,
        x: ArrayLike | None = None,
    ) -> RolloutGradient:
        """The gradient of a loss by all that the rollout was given: λ = ∂Φ/∂xᵀ (λ⁺ + w⁺), from the last step to the first.

        The arguments are the gradient w of the loss by the recorded states, with the rows of ``rollout.q`` and ``rollout.v``;
        those by q and by q0 are tangent vectors (nv), and the default is zero.  The rollout must have been made with
        ``differentiable=True``.  The gradient is that of the rollout as it was, also if arrays have changed since.  If its
        ``record`` is not "all", states are computed again from about √T checkpoints.

        >>> import numpy as np, torsor as ts
        >>> arm = ts.robots.two_link()
        >>> run = arm.rollout(np.zeros(2), np.zeros(2), np.zeros((50, 2)), dt=1e-3, differentiable=True)
        >>> w = np.zeros((50, 2)); w[-1, 0] = 1  # the loss is the last angle of the first joint
        >>> run.gradient(q=w).controls.shape
        (50, 2)
        """
        if self.adjoint is None:
            raise ArgumentError(
                "this rollout keeps nothing to differentiate; make it with differentiable=True, and compute its gradient "
                "before it is pickled or saved"
            )
        given = {"q": q, "v": v, "memory": memory, "x": x}
        return self.adjoint.gradient(self.batch, self.q.shape[-2], given)

    def save(self, path: str | PathLike[str]) -> None:
        """Write to .npz, .csv or .parquet, by extension; :func:`torsor.simulate.load_rollout` reads it back.

        A table has one row per record and robot, with a column of the robot's index.
        """
        from torsor.simulate.rollout_files import save

        save(self, path)

    def __repr__(self) -> str:
        many = f"{math.prod(self.batch)} robots, " if self.batch else ""
        of = f" of {self.info['robot']!r}" if "info" in self.__dict__ or self.inputs else ""
        end = f"{self.t[-1]:g} s" if len(self.t) else "0 s"
        failures = self.inputs.failures if self.inputs else None
        count = len(self.__dict__.get("failed", ())) or (0 if failures is None else int((failures.steps >= 0).sum()))
        lost = f", {count} failed" if count else ""
        touching = ", contact_forces" if self._contact_places[0] or self.__dict__.get("contact_forces") is not None else ""
        return f"<Rollout{of}: {many}{len(self.t)} records to {end}{lost}, {self.q.dtype}; t, q, v, tau{touching}>"

    def _repr_html_(self) -> str:
        from torsor.simulate.rollout_html import of_rollout

        return of_rollout(self)

    def __getstate__(self) -> dict[str, Any]:
        """The arrays alone: controllers may be functions that cannot be pickled, so their forces are computed now."""
        if self.inputs is None:
            return {**self.__dict__, "adjoint": None}
        names = ("tau", "info", "memory", "x", "failed", *contact_outputs.IN_FILES)
        computed = {name: getattr(self, name) for name in names}
        return {**self.__dict__, **computed, "inputs": None, "adjoint": None}

    @cached_property
    def _memory(self) -> np.ndarray | None:
        """The memory at the records, of the controller and then x."""
        return None if self.inputs is None or self.inputs.memory is None else self.inputs.memory()

    @cached_property
    def _before_failures(self) -> np.ndarray | None:
        """The records before the failures of their robots; None if there are none."""
        if self.inputs is None or not self.inputs.failures:
            return None
        return rows_before(self.inputs.failures.steps, (np.arange(len(self.t)) + 1) * (self.inputs.steps // len(self.t)))

    @cached_property
    def _contact_places(self) -> tuple[list[int], list[int]]:
        return contact_places(self.inputs.robot.model) if self.inputs else ([], [])

    def _at_records(self, name: str, given: RolloutInputs, plan: Plan) -> np.ndarray:
        """A quantity of the plan at the records."""
        from torsor.kernels import Spec
        from torsor.simulate.quantities import QUANTITIES

        memory = () if self._memory is None else (self._memory,)
        kernel = given.robot.kernels.of(QUANTITIES).kernel(Spec(((name, plan),), dtype=self.dtype.name))
        arrays = (self.q, self.v, *memory, *given.values)
        return evaluate_before_failures(kernel, arrays, [len(a.shape) for a in kernel.inputs], self._before_failures)

    @property
    def _controller_memory(self) -> int:
        return self.inputs.plan.controller_memory if self.inputs and self.inputs.plan else 0

    def _part_of_memory(self, part: slice) -> np.ndarray | None:
        rows = None if self._memory is None else self._memory[..., part]
        return rows if rows is not None and rows.shape[-1] else None

    def _require_inputs(self, name: str) -> RolloutInputs:
        if self.inputs is None:
            raise ArgumentError(f"this Rollout has no {name}: it was not made by robot.rollout or load_rollout")
        return self.inputs
