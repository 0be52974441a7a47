"""Methods of Robot: readings of its sensors."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import quantity_method
from torsor.kernels.options import ForceOptionsOut, TimeOptions, Wrenches
from torsor.support.user_arrays import Array


class Sensors(CompiledMechanism):
    """Gyroscope, accelerometer, force/torque and joint torque of a mechanism.

    >>> import torsor as ts
    >>> ts.robots.two_link().accelerometer([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], "tip").round(2)
    array([0.  , 9.81, 0.  ])
    """

    @quantity_method
    def gyroscope(self, q: ArrayLike, v: ArrayLike, frame: str, **options: Unpack[TimeOptions]) -> Array:
        """y = Rᵀω, ``(3,)``: the angular velocity of a frame, in its own axes [rad/s]; an ideal gyroscope (MR 8.51)."""

    @quantity_method
    def accelerometer(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, **options: Unpack[TimeOptions]) -> Array:
        """y = Rᵀ(p̈ − g), ``(3,)``, of a frame's origin, in its own axes [m/s²]; an ideal accelerometer (MR 8.52).

        p̈ is the classical acceleration in the world.  At rest it reads 9.81 m/s² upwards, in free fall 0.
        """

    @quantity_method
    def force_torque(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        at: str,
        wrenches: Wrenches | None = None,
        **options: Unpack[ForceOptionsOut],
    ) -> Array:
        """F = (m, f), ``(6,)``: the wrench through the joint or weld that carries a link [N·m, N] (MR 8.53).

        It acts on the link and all that the link carries; the opposite acts on the other side.  ``at`` is a link, a named
        frame or a joint, also a fixed one: the wrench is in the axes of that frame, at its origin; of a joint, in its child
        link's frame, where it is the row of :meth:`reaction_wrenches`.  At the root of a fixed base the world carries it.
        ``wrenches`` as for :meth:`inverse_dynamics`.
        """

    @quantity_method
    def joint_torque_sensor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None, **options: Unpack[ForceOptionsOut]
    ) -> Array:
        """τ_s = SᵀF, ``(nv,)``: the joint forces on the link side of the drives [N·m, N] (MR 8.54, 8.111).

        τ of :meth:`inverse_dynamics` without the forces on the motor side: armature, rotor and friction.
        """
