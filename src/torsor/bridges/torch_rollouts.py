"""Rollouts as functions of tensors: forward the time loop in machine code, backward its adjoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from torsor.bridges.array_functions import ArrayFunction
from torsor.bridges.torch_functions import common_precision, read_tensor
from torsor.errors import ArgumentError
from torsor.kernels.axes import Spread, with_axes
from torsor.kernels.checks import WorldAxes, with_their_axes
from torsor.kernels.options import Wrenches

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Controller

#: the place of a tensor among the arguments: ("q0",), ("parameters", "gain"), ("vary", "mass", "link")
Place = tuple[str, ...]
#: the places of the tensors, each with its axes (robots, steps) if ``per_robot`` or another function has named them
Places = tuple[tuple[Place, tuple[bool, bool] | None], ...]


@dataclass(frozen=True)
class TorchRollout:
    """``q, v = f(q0, v0, controls)``: tensors ``(..., T, nq)`` and ``(..., T, nv)``, differentiable by every tensor given.

    ``parameters`` and ``memory`` as for :class:`~torsor.Controller`, in place of those that the controller has, ``wrenches``
    and ``vary`` as for :meth:`Robot.rollout`; each value a tensor, or ``per_robot(tensor)``, ``per_step(tensor)`` or
    ``per_robot_and_step(tensor)``.
    """

    robot: Robot
    controller: Controller | None
    options: Mapping[str, Any]
    in_world: bool = False  #: the axes of the wrenches of a call

    def __call__(
        self,
        q0: Any,
        v0: Any,
        controls: Any = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        wrenches: Wrenches | None = None,
        vary: Mapping[str, Mapping[str, Any]] | None = None,
        memory: Any = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if self.controller:
            parameters = {**self.controller.parameters, **(parameters or {})}
            memory = self.controller.memory if memory is None else memory
        elif parameters or memory is not None:
            raise ArgumentError("parameters and memory are those of a controller: give torch_rollout(robot, controller=...)")
        on, axes = with_their_axes(wrenches)
        given = {"q0": q0, "v0": v0, "controls": controls, "parameters": parameters, "wrenches": on, "vary": vary,
                 "memory": memory}  # fmt: skip
        leaves = list(_leaves(given))
        values = [x.values if isinstance(x, Spread) else x for _, x in leaves]
        places = tuple((place, x[1:] if isinstance(x, Spread) else None) for place, x in leaves)
        tensors = [read_tensor(_name(place), x) for (place, _), x in zip(leaves, values, strict=True)]
        kind = common_precision(values)
        q, v = _Run.apply(replace(self, in_world=axes == "world"), places, *(x.to(torch.float64) for x in tensors))
        return q.to(kind), v.to(kind)

    def along_v(self, q: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """N(q)ᵀ w: weights of the velocities, from those of the coordinates."""
        rate = ArrayFunction(self.robot.kernels, self.robot.spec("configuration_rate")).pull(["v"])
        return np.asarray(rate.evaluate("float64", q, np.zeros(self.robot.nv), weights)[0])

    def in_coordinates(self, q: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """N⁺(q)ᵀ γ: the gradient by the coordinates, from that along v."""
        change = ArrayFunction(self.robot.kernels, self.robot.spec("difference")).pull(["q1"])
        return np.asarray(change.evaluate("float64", q, q, gradient)[0])


class _Run(torch.autograd.Function):
    """The rollout; what its gradient needs is kept with the graph."""

    @staticmethod
    def forward(ctx: Any, function: TorchRollout, places: Places, *tensors: torch.Tensor) -> Any:
        arguments: dict[str, Any] = {}
        for (place, axes), x in zip(places, tensors, strict=True):
            inner = arguments
            for name in place[:-1]:
                inner = inner.setdefault(name, {})
            inner[place[-1]] = x.detach().numpy() if axes is None else with_axes(_name(place), Spread(x.detach(), *axes))
        if function.in_world:
            arguments["wrenches"] = WorldAxes(arguments.get("wrenches", {}))
        numbers = {name: arguments.pop(name, empty) for name, empty in (("parameters", {}), ("memory", None))}
        controller = replace(function.controller, **numbers) if function.controller else None
        options = {**function.options, "differentiable": any(ctx.needs_input_grad)}
        run = function.robot.rollout(**arguments, **options, controller=controller)
        ctx.function, ctx.places, ctx.run = function, places, run
        ctx.save_for_backward(*tensors)
        # copies: the run's own states stay as they are for the gradient; torch.tensor would copy number by number
        return torch.from_numpy(np.array(run.q)), torch.from_numpy(np.array(run.v))

    @staticmethod
    def backward(ctx: Any, *weights: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        found = _Gradient.apply(ctx.function, ctx.places, ctx.run, *weights, *ctx.saved_tensors)
        needed = ctx.needs_input_grad[2:]
        return None, None, *(g if wanted else None for g, wanted in zip(found, needed, strict=True))


class _Gradient(torch.autograd.Function):
    """The gradient of a rollout, which has no derivative itself."""

    @staticmethod
    def forward(ctx: Any, function: TorchRollout, places: Places, run: Any, *tensors: torch.Tensor) -> Any:
        wq, wv = (np.ascontiguousarray(w.detach().numpy()) for w in tensors[:2])
        found = run.gradient(q=function.along_v(run.q, wq), v=wv)
        rows = []
        for (place, _), x in zip(places, tensors[2:], strict=True):
            value = found
            for name in place:
                value = value[name] if isinstance(value, Mapping) else getattr(value, name)
            if place == ("q0",):
                value = function.in_coordinates(x.detach().numpy(), value)
            rows.append(torch.as_tensor(value, dtype=torch.float64))
        return tuple(rows)

    @staticmethod
    def backward(ctx: Any, *weights: torch.Tensor) -> Any:
        raise ArgumentError("a rollout has first derivatives only; use torch_function(robot, 'step') for second derivatives")


def _leaves(given: Mapping[str, Any], place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The tensors of nested dictionaries, by their places."""
    for name, x in given.items():
        if isinstance(x, Mapping):
            yield from _leaves(x, (*place, name))
        elif x is not None:
            yield (*place, name), x


def _name(place: Place) -> str:
    """The place as errors print it: parameters['gain']."""
    return place[0] + "".join(f"[{name!r}]" for name in place[1:])
