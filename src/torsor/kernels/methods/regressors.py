"""Methods of Robot: regressors, by which joint forces and energies are linear in the inertial parameters of the links."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.regressors import inertial_parameters, inertias_of_parameters
from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import quantity_method
from torsor.model.numbers_surgery import with_body_inertias
from torsor.spatial import arguments as read
from torsor.support.user_arrays import Array


class Regressors(CompiledMechanism):
    """Y with τ = Y π, for the identification of inertial parameters."""

    @property
    def inertial_parameters(self) -> Array:
        """π, ``(10 N,)``: (m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz) [kg, kg·m, kg·m²] for each joint.

        N is the number of ``joints``; the body is the joint's child link with the links welded to it and the rotors that it
        carries, moments and centre in that link's frame, about its origin; the order is Pinocchio's.

        >>> import torsor as ts
        >>> ts.robots.two_link().inertial_parameters[:4].round(6).tolist()  # 1 kg at the end of a link of 1 m
        [1.0, 1.0, 0.0, 0.0]
        """
        return np.array(inertial_parameters(self._model))

    def with_inertial_parameters(self, parameters: ArrayLike) -> Self:
        """The robot with other inertial parameters π, ``(10 N,)``: the inverse of :attr:`inertial_parameters`.

        The numbers are those of whole bodies: the child link of a joint gets the change, and the links welded to it and the
        rotors on it keep theirs.  Where no inertia of a body would be left for it, it gets the whole, and the links welded to
        it none.  A negative mass is an error; another physically impossible inertia is used, with a warning.

        >>> import torsor as ts
        >>> robot = ts.robots.ur5()
        >>> robot.with_inertial_parameters(2 * robot.inertial_parameters).mass_matrix(robot.neutral()).round(3)[5, 5]
        np.float64(0.034)
        """
        given = read.as_list(parameters, 10 * len(self.joints), "parameters: ten for each of robot.joints")
        numbers = [read.scalar(x, f"parameters[{k}]") for k, x in enumerate(given)]
        return self._with_description(with_body_inertias(self._description, self._model, inertias_of_parameters(numbers)))

    @quantity_method
    def inverse_dynamics_regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q, v, a), ``(nv, 10 N)``, with τ = Y π [N·m, N] for the parameters π of :attr:`inertial_parameters`.

        Armature, rotors, force elements, damping and friction are not in it (Atkeson, An & Hollerbach 1986).

        >>> import numpy as np, torsor as ts
        >>> robot = ts.robots.ur5()
        >>> q, v, a = np.random.default_rng(0).normal(size=(3, 6))
        >>> Y = robot.inverse_dynamics_regressor(q, v, a)
        >>> Y.shape, np.allclose(Y @ robot.inertial_parameters, robot.inverse_dynamics(q, v, a))
        ((6, 60), True)
        """

    @quantity_method
    def kinetic_energy_regressor(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """y(q, v), ``(10 N,)``, with K = y·π [J] for the parameters π of :attr:`inertial_parameters`.

        The energy of armatures and of spinning rotors is not in it.
        """

    @quantity_method
    def potential_energy_regressor(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """y(q), ``(10 N,)``, with P = y·π [J] for the parameters π of :attr:`inertial_parameters`, without force elements."""

    @quantity_method
    def center_of_mass_regressor(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """Y(q), ``(3, 10 N)``, with Σ m_i c_i = Y π [kg·m] for the parameters π of :attr:`inertial_parameters`.

        The sum is over the moving links, in world axes: m c of :meth:`center_of_mass` with ``moving=True``.  The columns of the
        moments of inertia are zero (Pinocchio's static regressor is without them).
        """

    @quantity_method
    def body_regressor(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, *, out: Array | None = None) -> Array:
        """Y(q, v, a), ``(6, 10)``, with F = Y π [N·m, N]: the wrench on a body that moves with a frame, weight included.

        π are the ten parameters of that body in the frame's axes, about its origin, in the order of
        :attr:`inertial_parameters`; F is in the same axes, at the same origin: the reading of a wrist sensor
        that carries a payload.

        >>> import numpy as np, torsor as ts
        >>> robot = ts.robots.ur5()
        >>> q, v, a = np.random.default_rng(0).normal(size=(3, 6))
        >>> load = robot.with_payload("tool0", mass=2.0, com=(0, 0, 0.1))
        >>> change = load.force_torque(q, v, a, "tool0") - robot.force_torque(q, v, a, "tool0")
        >>> np.allclose(robot.body_regressor(q, v, a, "tool0") @ [2, 0, 0, 0.2, 0.02, 0, 0.02, 0, 0, 0], change)
        True
        """
