"""From a task to kernels: its algorithms, recorded for one robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from torsor.algorithms import task_space as ts
from torsor.compile import Argument, Kernel, Program, trace
from torsor.errors import ArgumentError
from torsor.model import Model
from torsor.model.loops import CLOSED, refuse_loops
from torsor.model.regrouping import regrouped
from torsor.quantities import labels, sizes
from torsor.recording import FEW, check_configuration, numeric
from torsor.version import __version__


class Quantity(NamedTuple):
    """One row of the table: ``outputs`` name the results; ``mass`` says whether Λ is needed, ``route`` whether M⁻¹ is."""

    inputs: tuple[str, ...]
    function: Callable[..., Any]
    outputs: tuple[str, ...]
    mass: bool = False
    route: bool = False


def _kinematic(inputs: tuple[str, ...], function: Callable[..., Any], output: str) -> Quantity:
    return Quantity(inputs, function, (output,))


def _massive(inputs: tuple[str, ...], function: Callable[..., Any], *outputs: str) -> Quantity:
    return Quantity(inputs, function, outputs, mass=True, route=True)


def _forward_of_force(model: Model, targets: ts.Targets, q: Any, v: Any, F: Any, route: str) -> list[Any]:
    return ts.forward_dynamics(model, targets, q, v, ts.joint_force(model, targets, q, F), route)


QUANTITIES: dict[str, Quantity] = {
    "jacobian": _kinematic(("q",), ts.jacobian, "J"),
    "jacobian_rate": _kinematic(("q", "v"), ts.jacobian_rate, "Jdot"),
    "twist": _kinematic(("q", "v"), ts.twist, "twist"),
    "acceleration": _kinematic(("q", "v", "a"), ts.acceleration, "acceleration"),
    "joint_force": _kinematic(("q", "force"), ts.joint_force, "tau"),
    "inverse_mass_matrix": Quantity(("q",), ts.inverse_mass_matrix, ("inverse_mass_matrix",), route=True),
    "forward_dynamics": Quantity(("q", "v", "tau"), ts.forward_dynamics, ("acceleration",), route=True),
    "forward_dynamics_of_force": Quantity(("q", "v", "force"), _forward_of_force, ("acceleration",), route=True),
    "mass_matrix": _massive(("q",), ts.mass_matrix, "mass_matrix"),
    "bias_force": _massive(("q", "v"), ts.bias_force, "bias_force"),
    "velocity_force": _massive(("q", "v"), ts.velocity_force, "velocity_force"),
    "gravity_force": _massive(("q",), ts.gravity_force, "gravity_force"),
    "consistent_inverse": _massive(("q",), ts.consistent_inverse, "consistent_inverse"),
    "null_space": _massive(("q",), ts.null_space, "null_space"),
    "velocity": _massive(("q", "twist"), ts.velocity, "velocity"),
    "inverse_dynamics": _massive(("q", "v", "acceleration"), ts.inverse_dynamics, "force", "tau"),
    "inverse_dynamics_beside": _massive(("q", "v", "acceleration", "null_torque"), ts.inverse_dynamics_beside, "force", "tau"),
}


class Recording:
    """What a kernel of a task computes, over whatever scalars it is called with.

    A kernel that needs Λ either makes it itself, and then says with a last output how much Λ magnifies, or, ``given``, takes a
    matrix in its place as its last input.
    """

    def __init__(self, model: Model, targets: ts.Targets, name: str, given: bool, route: str | None = None):
        if not numeric(model):
            raise ArgumentError(
                f"robot {model.name!r} has symbols where a kernel needs numbers; torsor.algorithms.task_space takes them"
            )
        self.model, self.lean, self.targets = model, regrouped(model), targets
        self.row, self.given, self.route = QUANTITIES[name], given, route
        if self.row.route:
            refuse_loops(model, "task-space dynamics", CLOSED)
        k = sum(len(t.rows) for t in targets)
        shapes = sizes(model) | dict.fromkeys(("force", "twist", "acceleration"), (k,)) | {"null_torque": (model.nv,)}
        self.inputs = [Argument(x, shapes[x], labels(model).get(x, ())) for x in self.row.inputs]
        if given:
            self.inputs.append(Argument("Lambda", (k, k)))

    def routes(self) -> Sequence[str]:
        """Those worth recording: one is taken in the end, the shortest."""
        if self.route is not None:
            return (self.route,)
        if not self.model.local:
            return ("factors",)
        return ("articulated", "factors") if self.row.route and self.model.nv <= FEW else ("articulated",)

    def shortest(self) -> Program:
        programs = [trace(partial(self.evaluated, route=route), self.inputs) for route in self.routes()]
        return min(programs, key=lambda p: p.operations)

    def evaluated(self, *values: Any, route: str) -> dict[str, Any]:
        """The results by name, from one flat sequence of scalars an input."""
        model, targets, row = self.lean, self.targets, self.row
        options: dict[str, Any] = {"route": route} if row.route else {}
        extra = {}
        if self.given:
            *values, flat = values  # type: ignore[assignment]
            k = self.inputs[-1].shape[0]
            options["mass"] = ts.given_mass([flat[i * k : i * k + k] for i in range(k)])
        elif row.mass:
            options["mass"], extra["magnified"] = ts.exact_mass(model, targets, values[0], route)
        results = row.function(model, targets, *values, **options)
        return dict(zip(row.outputs, results if len(row.outputs) > 1 else [results], strict=True)) | extra

    def explain(self, *state: np.ndarray) -> None:
        """Why a finite state has no finite result: over floats, a vanishing pivot has a name."""
        check_configuration(self.model, "q", state[0].tolist())
        self.evaluated(*(np.ravel(x).tolist() for x in state), route=self.routes()[0])


def make_kernel(model: Model, targets: ts.Targets, name: str, given: bool = False, route: str | None = None) -> Kernel:
    """The kernel of one quantity of a task."""
    r = Recording(model, targets, name, given, route)
    label = f"{model.name}.task.{name}"
    return Kernel(r.shortest(), name=label, version=__version__, explain=r.explain)
