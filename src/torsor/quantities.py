"""The table of everything a Robot can compute: which algorithm, which inputs, what its result is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torsor import algorithms as alg
from torsor.algorithms.friction import friction_force
from torsor.errors import ArgumentError, UnknownName
from torsor.model import Model
from torsor.model.loops import CLOSED, DRIVEN, DRIVES


class Quantity(NamedTuple):
    """One row.  ``inputs`` are the state variables it reads; ``options`` the words it takes after them.

    ``alternative`` is another algorithm for the same result: a kernel is made of the one that takes fewer operations.
    ``joint_space`` results do not depend on which link carries a needle of mass along a hinge's axis, so their kernels are
    recorded from the model with fewest inertial parameters (:mod:`torsor.model.regrouping`).  In ``lossy`` results damping or
    friction laws count (:mod:`torsor.losses`): "tau" is reduced by the lost force before an acceleration is computed from it,
    and the lost force is added to a result that is a joint force.
    ``under_loops`` is for results that hold for the spanning tree only, its loops cut (joint forces, M⁻¹, reactions): the call
    that has the result with the loops closed.  A robot with loops has no kernel for them.
    ``inverse_of`` is the quantity, of the same inputs, whose inverse the result is.
    """

    inputs: tuple[str, ...]
    function: Callable[..., Any]
    options: tuple[str, ...] = ()
    alternative: Callable[..., Any] | None = None
    joint_space: bool = False
    lossy: bool = False
    under_loops: str = ""
    inverse_of: str = ""


def _frame_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """An algorithm of a frame refuses an unknown one before anything else."""

    def checked(model: Model, *args: Any, **options: Any) -> Any:
        if "frame" not in options:
            raise ArgumentError(f"{function.__name__} needs a frame: write '{function.__name__}:frame_name'")
        return function(model, *args, **options)

    return checked


FRAME = ("frame", "expressed_in")
HYBRID = ("q", "v", "a", "tau", "led")

QUANTITIES: dict[str, Quantity] = {
    "inverse_dynamics": Quantity(("q", "v", "a"), alg.rnea, joint_space=True, lossy=True, under_loops=DRIVES),
    "forward_dynamics": Quantity(
        ("q", "v", "tau"),
        alg.forward_dynamics,
        alternative=alg.forward_dynamics_by_factors,
        joint_space=True,
        lossy=True,
        under_loops="robot.constrained().kernel()",
    ),
    "hybrid_acceleration": Quantity(HYBRID, alg.hybrid_acceleration, joint_space=True, lossy=True, under_loops=DRIVEN),
    "hybrid_force": Quantity(HYBRID, alg.hybrid_force, joint_space=True, lossy=True, under_loops=DRIVEN),
    "mass_matrix": Quantity(("q",), alg.crba, joint_space=True),
    "mass_matrix_inverse": Quantity(
        ("q",), alg.mass_matrix_inverse, joint_space=True, under_loops=CLOSED, inverse_of="mass_matrix"
    ),
    "bias_force": Quantity(("q", "v"), alg.bias_force, joint_space=True, under_loops=DRIVES),
    "velocity_force": Quantity(("q", "v"), alg.velocity_force, joint_space=True, under_loops=DRIVES),
    "gravity_force": Quantity(("q",), alg.gravity_force, joint_space=True, under_loops=DRIVES),
    "motor_torque": Quantity(("q", "v", "a"), alg.motor_torque, joint_space=True, under_loops=DRIVES),
    "gear_torque": Quantity(("q", "v", "a"), alg.gear_torque, joint_space=True, under_loops=DRIVES),
    "damping_force": Quantity(("v",), alg.damping_force),
    "friction_force": Quantity(("v",), friction_force),
    "coriolis_matrix": Quantity(("q", "v"), alg.coriolis_matrix, joint_space=True),
    "mass_matrix_rate": Quantity(
        ("q", "v"), alg.mass_matrix_rate, alternative=alg.mass_matrix_rate_by_coriolis_matrix, joint_space=True
    ),
    "christoffel_symbols": Quantity(("q",), alg.christoffel_symbols, joint_space=True),
    "kinetic_energy": Quantity(("q", "v"), alg.kinetic_energy, joint_space=True),
    "potential_energy": Quantity(("q",), alg.potential_energy),
    "momentum": Quantity(("q", "v"), alg.momentum),
    "center_of_mass": Quantity(("q",), alg.center_of_mass),
    "pose": Quantity(("q",), _frame_first(alg.pose), ("frame",)),
    "jacobian": Quantity(("q",), _frame_first(alg.jacobian), FRAME),
    "jacobian_rate": Quantity(("q", "v"), _frame_first(alg.jacobian_rate), FRAME),
    "twist": Quantity(("q", "v"), _frame_first(alg.twist), FRAME),
    "acceleration": Quantity(("q", "v", "a"), _frame_first(alg.acceleration), FRAME),
    "integrate": Quantity(("q", "v", "dt"), alg.integrate),
    "difference": Quantity(("q0", "q1"), alg.difference),
    "configuration_rate": Quantity(("q", "v"), alg.configuration_rate),
    "reaction_wrenches": Quantity(
        ("q", "v", "a"), alg.reaction_wrenches, under_loops="robot.constrained().reactions(q, v, tau)"
    ),
}


def sizes(model: Model) -> dict[str, tuple[int, ...]]:
    """The shape of each state variable."""
    q, v = (model.nq,), (model.nv,)
    return {"q": q, "q0": q, "q1": q, "v": v, "a": v, "tau": v, "led": v, "load": v, "dt": (),
            "base_velocity": (6,), "base_acceleration": (6,)}  # fmt: skip


def labels(model: Model) -> dict[str, tuple[str, ...]]:
    """Names of the entries of q and v, by which labelled tables are read: the joint's, with a number where it has several."""
    q: list[str] = []
    v: list[str] = []
    for i, _ in model.outward():
        if model.coupling[i] is None:
            name, kind = model.joint_names[i], model.joint[i]
            q += [name] if kind.nq == 1 else [f"{name}[{k}]" for k in range(kind.nq)]
            v += [name] if kind.nv == 1 else [f"{name}[{k}]" for k in range(kind.nv)]
    of_q, of_v = tuple(q), tuple(v)
    return {"q": of_q, "q0": of_q, "q1": of_q, "v": of_v, "v0": of_v, "a": of_v, "tau": of_v, "load": of_v}


#: a quantity and its words: "jacobian:tool0:body", or the tuple where a name contains a colon
Spec = str | tuple[str, ...]


def parse(spec: Spec) -> tuple[str, dict[str, str]]:
    """``"jacobian:tool0:body"`` → ("jacobian", {"frame": "tool0", "expressed_in": "body"})."""
    words_only = isinstance(spec, tuple) and spec and all(isinstance(word, str) for word in spec)
    if not isinstance(spec, str) and not words_only:
        raise ArgumentError(f"a quantity is a name such as 'mass_matrix' or 'pose:tool0', or a tuple of words, not {spec!r}")
    name, *words = spec.split(":") if isinstance(spec, str) else spec
    if name not in QUANTITIES:
        raise UnknownName("quantity", name, QUANTITIES)
    options = QUANTITIES[name].options
    if len(words) > len(options):
        takes = ":".join((name, *options)) if options else f"{name}, without options"
        raise ArgumentError(f"{spec!r} has too many parts; the form is {takes}")
    return name, dict(zip(options, words, strict=False))
