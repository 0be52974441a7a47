"""ElasticJoints: a robot whose motors drive their links through springs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor import algorithms
from torsor.algorithms.dynamics import forward_dynamics_by_factors
from torsor.errors import ArgumentError, ModelError, UnknownName, printable
from torsor.kernels import Kernels, Quantity, Table
from torsor.kernels.quantities import labels
from torsor.mechanics.flexible import joint_equations as equations
from torsor.mechanics.flexible.energy import Energy
from torsor.mechanics.flexible.frequencies import frequencies
from torsor.mechanics.flexible.joint_equations import ElasticModel, MotorMotion, Transmission
from torsor.mechanics.flexible.springs import Spring, SpringLaw
from torsor.model.refusals import refuse_friction, refuse_symbols
from torsor.model.regrouping import with_fewest_parameters
from torsor.model.rotor import refuse_rotors

if TYPE_CHECKING:
    from torsor.kernels.compiled_mechanism import Wrenches
    from torsor.robot import Robot


def elastic_joints(robot: Robot, springs: Mapping[str, Spring | SpringLaw] | Spring | SpringLaw) -> ElasticJoints:
    """The robot with springs between some motors and their links, ``{"elbow": Spring(...)}``, or with one for every joint.

    >>> import torsor as ts
    >>> arm = elastic_joints(ts.robots.two_link(), Spring(stiffness=5000.0, rotor_inertia=0.2))
    >>> arm.joints
    ('joint1', 'joint2')
    """
    if not isinstance(springs, Mapping):
        model = robot.model
        single = [i for i, _ in model.outward() if model.joint[i].nq == 1 and model.coupling[i] is None]
        springs = {model.joint_names[i]: springs for i in single}
    return ElasticJoints(robot, springs)


class ElasticJoints:
    """Motor and link positions as separate states: M q̈ + h = τ_e, B θ̈ + τ_e = τ, τ_e = K (θ − q) + D (θ̇ − q̇) or a law.

    Link states q, v, a have the robot's sizes; motor states ``theta``, ``omega``, ``alpha`` have one entry for each of
    ``joints``, the elastic ones, measured behind the gear.  τ (nv) is of the motors where a joint is elastic, and of the joint
    itself where it is not.  ``(..., n)`` in, ``(..., n)`` out, as for a Robot.

    A rotor's energy is that of its own spin: the additional energy from the rotation of its link is neglected, as is usual
    for high gear ratios (Spong 1987).  The armature of an elastic joint in the model is its rotor, and moves to the motor side.

    MR §8.9.5; De Luca & Tomei 1996.
    """

    def __init__(self, robot: Robot, springs: Mapping[str, Spring | SpringLaw]):
        refuse_rotors(robot.model, "a robot with elastic joints")
        refuse_friction(robot.model, "a robot with elastic joints")
        if robot.loops:
            raise ModelError(
                f"robot {robot.name!r} has loops, which are not supported with elastic joints; use robot.without_loops()"
            )
        refuse_symbols(robot.model, "a robot with springs", "torsor.mechanics.flexible.joint_equations takes them")
        self._robot, self._springs = robot, dict(springs)
        self._elastic = _elastic(robot, self._springs)
        self._damped = tuple(t.joint for t in self._elastic.transmissions if t.spring.has_damping)
        self._kernels = Kernels(
            robot.name, self._elastic, QUANTITIES, self._shapes(), labels(robot.model), _with_fewest_parameters
        )

    # -- properties ------------------------------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The robot itself, with rigid joints."""
        return self._robot

    @property
    def joints(self) -> tuple[str, ...]:
        """The elastic joints, in the order of ``theta``: that of the robot's joints."""
        return tuple(t.joint for t in self._elastic.transmissions)

    @property
    def elastic(self) -> ElasticModel:
        """The argument of the functions in :mod:`torsor.mechanics.flexible.joint_equations`, over any scalar."""
        return self._elastic

    def __repr__(self) -> str:
        return f"<ElasticJoints of {self._robot.name!r}: {printable(', '.join(self.joints))}>"

    def __reduce__(self) -> Any:
        return ElasticJoints, (self._robot, self._springs)

    # -- dynamics --------------------------------------------------------------------------------------------

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        theta: ArrayLike,
        omega: ArrayLike,
        tau: ArrayLike,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
    ) -> tuple[np.ndarray, np.ndarray]:
        """(a, alpha): the accelerations of links and motors under τ, in O(N)."""
        return self._kernels.run("forward_dynamics", q, v, theta, omega, tau, wrenches=wrenches, expressed_in=expressed_in)

    def joint_force(self, q: ArrayLike, v: ArrayLike, theta: ArrayLike, omega: ArrayLike) -> np.ndarray:
        """τ_e of each elastic joint, as measured by a torque sensor after the gear."""
        return self._kernels.run("joint_force", q, v, theta, omega)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        jerk: ArrayLike,
        snap: ArrayLike,
        *,
        theta: ArrayLike | None = None,
    ) -> MotorMotion:
        """τ = τ_e + B θ̈, and the rotors' motion θ, ω, α, of a motion of the links with its third and fourth derivative.

        Across a damped spring the deflection is a state, and ``theta`` gives the motor positions; see
        :func:`torsor.mechanics.flexible.joint_equations.inverse_dynamics`.
        """
        laws = [t.joint for t in self._elastic.transmissions if t.spring.has_damping and isinstance(t.spring, SpringLaw)]
        if laws:
            raise ArgumentError(f"joint {laws[0]!r} has a law with damping, whose rate does not follow from its force")
        if theta is None:
            if self._damped:
                raise ArgumentError(
                    f"joint {self._damped[0]!r} has a damped spring, so the motor position does not follow from the motion; "
                    "give theta="
                )
            theta = np.zeros(len(self.joints))
        return MotorMotion(*self._kernels.run("inverse_dynamics", q, v, a, jerk, snap, theta))

    def equilibrium(self, q: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(theta, tau) that hold the links still at q."""
        return self._kernels.run("equilibrium", q)

    # -- energy ----------------------------------------------------------------------------------------------

    def energy(self, q: ArrayLike, v: ArrayLike, theta: ArrayLike, omega: ArrayLike) -> Energy:
        """Kinetic energy of links and rotors, potential energy of gravity, energy of the springs [J]."""
        return Energy(*self._kernels.run("energy", q, v, theta, omega))

    def dissipation(self, q: ArrayLike, v: ArrayLike, theta: ArrayLike, omega: ArrayLike) -> Any:
        """Power dissipated by the dampers [W]: dE/dt = τᵀω − dissipation."""
        return self._kernels.run("dissipation", q, v, theta, omega)

    # -- small motions ---------------------------------------------------------------------------------------

    def stiffness(self, q: ArrayLike, theta: ArrayLike) -> np.ndarray:
        """∂(g − τ_e, τ_e)/∂(q, θ), ``(nv + ne, nv + ne)``."""
        return self._kernels.run("stiffness", q, theta)

    def frequencies(self, q: ArrayLike, motors: str = "free") -> np.ndarray:
        """Angular frequencies [rad/s] of small undamped vibrations about equilibrium at q, ascending.

        ``motors``: ``"free"``, under constant torque, or ``"locked"``, held in place by stiff controllers.  Motion without any
        restoring force has 0; motion that is unstable under gravity has −√|λ|, its growth rate with a minus sign.
        """
        if motors not in ("free", "locked"):
            raise UnknownName("motors=", motors, ("free", "locked"))
        K = self.stiffness(q, self.equilibrium(q)[0])
        M = np.zeros_like(K)
        n, motor = self._robot.nv, range(self._robot.nv, K.shape[-1])
        M[..., :n, :n] = self._kernels.run("mass_matrix", q)
        M[..., motor, motor] = [t.B for t in self._elastic.transmissions]
        keep = n if motors == "locked" else K.shape[-1]
        return frequencies(M[..., :keep, :keep], K[..., :keep, :keep])

    # -- kernels ---------------------------------------------------------------------------------------------

    @property
    def kernels(self) -> Kernels:
        """The compiled kernels behind the methods, by name."""
        return self._kernels

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        n, m = (self._robot.nv,), (len(self.joints),)
        return {"q": (self._robot.nq,), "v": n, "a": n, "jerk": n, "snap": n, "tau": n, "theta": m, "omega": m}


# -- the table -----------------------------------------------------------------------------------------------


def _with_fewest_parameters(elastic: ElasticModel) -> ElasticModel:
    """The same dynamics with fewest inertial parameters."""
    return replace(elastic, model=with_fewest_parameters(elastic.model))


def _mass_matrix(elastic: ElasticModel, q: Any) -> list[list[Any]]:
    return algorithms.crba(elastic.model, q)


def _energies(elastic: ElasticModel, q: Any, v: Any, theta: Any, omega: Any) -> tuple[Any, Any, Any]:
    kinetic = equations.kinetic_energy(elastic, q, v, omega)
    return kinetic, algorithms.potential_energy(elastic.model, q), equations.elastic_energy(elastic, q, theta)


STATE = ("q", "v", "theta", "omega")
_BY_FACTORS = (partial(equations.forward_dynamics, rigid=forward_dynamics_by_factors),)

QUANTITIES = Table(
    "torsor.mechanics.flexible.elastic_joints:QUANTITIES",
    {
        "forward_dynamics": Quantity(
            (*STATE, "tau"), equations.forward_dynamics, (), ("a", "alpha"), _BY_FACTORS, joint_space=True
        ),
        "joint_force": Quantity(STATE, equations.joint_force),
        "inverse_dynamics": Quantity(
            ("q", "v", "a", "jerk", "snap", "theta"), equations.inverse_dynamics, (), MotorMotion._fields, joint_space=True
        ),
        "equilibrium": Quantity(("q",), equations.equilibrium, (), ("theta", "tau"), joint_space=True),
        "energy": Quantity(STATE, _energies, (), Energy._fields),
        "dissipation": Quantity(STATE, equations.dissipation),
        "stiffness": Quantity(("q", "theta"), equations.stiffness, joint_space=True),
        "mass_matrix": Quantity(("q",), _mass_matrix, joint_space=True),
    },
    title="elastic",
    symbols="torsor.mechanics.flexible.joint_equations takes them",
)


def _elastic(robot: Robot, springs: Mapping[str, Spring | SpringLaw]) -> ElasticModel:
    """The transmissions in the robot's order, and the model without their rotors."""
    for name in springs:
        robot.joint(name)  # refuses an unknown one
    model = robot.model
    armature, found = list(model.armature), []
    for i, _ in model.outward():
        name = model.joint_names[i]
        if name not in springs:
            continue
        spring, joint = springs[name], model.joint[i]
        if not isinstance(spring, (Spring, SpringLaw)):
            raise ArgumentError(f"joint {name!r} needs a Spring or a Law, not {spring!r}")
        if model.coupling[i] is not None or joint.nv != 1 or joint.nq != 1:
            why = "follows another joint" if model.coupling[i] is not None else f"is {joint.name}"
            raise ModelError(f"joint {name!r} {why}; an elastic joint needs exactly one coordinate")
        B = armature[i][0] if spring.rotor_inertia is None else spring.rotor_inertia
        if not B:
            raise ArgumentError(
                f"joint {name!r} has no armature in the model; give the rotor inertia: Spring(..., rotor_inertia=B)"
            )
        found.append(Transmission(name, model.q_start[i], model.v_start[i], spring, B))
        armature[i] = (0,)
    return ElasticModel(replace(model, armature=tuple(armature)), tuple(found))
