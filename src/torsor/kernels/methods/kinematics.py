"""Methods of Robot: poses, Jacobians, twists and accelerations of frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.kernels.compiled_mechanism import CompiledMechanism
from torsor.kernels.kernel_method import kernel_method, quantity_method
from torsor.kernels.options import FrameOptions
from torsor.kernels.quantities import QUANTITIES
from torsor.kernels.spec import without_defaults
from torsor.support.user_arrays import Array


class Kinematics(CompiledMechanism):
    """Poses, Jacobians, twists and accelerations of the frames of a mechanism.

    ``expressed_in`` names axes and a point: ``"world"``, world axes at the frame's origin; ``"body"``, the frame's axes at its
    origin; ``"space"``, world axes at the world's origin.  ``at=(x, y, z)`` is a point of the frame, in its axes [m], in
    place of its origin: an input of the kernel, ``(3,)`` or one for each state.  ``relative_to`` names a frame B of the robot
    in place of the world: results are those of an observer who moves with B.
    """

    @quantity_method
    def pose(self, q: ArrayLike, frame: str, **options: Unpack[FrameOptions]) -> Array:
        """T_world_frame = (R, p; 0, 1), ``(4, 4)`` [m]: the pose of a frame; it takes points of the frame to the world.

        With ``relative_to="B"`` it is T_B_frame, and takes them to frame B.  ``at=(x, y, z)`` is a point of the frame, in its
        axes [m], at which the origin is put; ``(3,)`` or one for each state.
        """

    @kernel_method
    def poses(
        self,
        q: ArrayLike,
        frames: Sequence[str] | None = None,
        *,
        relative_to: str | None = None,
        out: Array | None = None,
    ) -> Array:
        """T_world_frame = (R, p; 0, 1), ``(F, 4, 4)`` [m], of each name in ``frames``, by default all of ``robot.frames``.

        With ``relative_to="B"``: T_B_frame.
        """
        names = None if frames is None else tuple(frames) if isinstance(frames, (list, tuple)) else (frames,)
        if names == ():
            raise ArgumentError("frames must name at least one frame; omit it for all of robot.frames")
        for name in names or ():
            self._model.frame(name)
        return self._kernels(*without_defaults(("poses", names, relative_to), QUANTITIES))(q, out=out)

    @quantity_method
    def jacobian(self, q: ArrayLike, frame: str, expressed_in: str = "world", **options: Unpack[FrameOptions]) -> Array:
        """J(q), ``(6, nv)``: the frame's twist is (ω, v) = J v [rad/s, m/s] (MR 5.11, 5.18).

        ``expressed_in``: ``"world"`` (world axes, at the frame's origin), ``"body"`` or ``"space"`` (MR's two Jacobians).
        ``at=(x, y, z)`` is a point of the frame, in its axes [m], in place of its origin; ``(3,)`` or one for each state.
        ``relative_to="B"``: the motion relative to frame B, which takes the place of the world: ``"world"`` is then B's axes at
        the frame's origin, ``"space"`` B's axes at B's origin.
        """

    @quantity_method
    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: str = "world", **options: Unpack[FrameOptions]
    ) -> Array:
        """J̇(q, v) = dJ/dt, ``(6, nv)``, expressed as J is; J a + J̇ v is :meth:`acceleration` (MR 8.84).

        Options as for :meth:`jacobian`.
        """

    @quantity_method
    def jacobian_derivative(
        self, q: ArrayLike, frame: str, expressed_in: str = "world", **options: Unpack[FrameOptions]
    ) -> Array:
        """∂J/∂q, ``(6, nv, nv)``, at [row, i, j] the derivative of column J_i by q_j: the kinematic Hessian (MR Exercise 8.6).

        J̇ = (∂J/∂q) v; in the units of J per radian or metre.  Where v is not a rate of coordinates (floating base, spherical
        joint), the derivative is along v_j.  Options as for :meth:`jacobian`.
        """

    @quantity_method
    def analytic_jacobian(self, q: ArrayLike, frame: str, rotation: str = "rpy", **options: Unpack[FrameOptions]) -> Array:
        """J_a(q), with (ẋ, ṗ) = J_a v: rates of coordinates x of the frame's rotation, and ṗ [m/s] in world axes (MR §5.1.5).

        ``rotation="rpy"``, ``(6, nv)``: x = (roll, pitch, yaw) [rad], R = Rz(yaw) Ry(pitch) Rx(roll); at gimbal lock, a pitch
        of ±90°, it raises :class:`SingularError`.  ``"quaternion"``, ``(7, nv)``: x = (x, y, z, w) with w ≥ 0.
        ``"rotation_vector"``, ``(6, nv)``: the exponential coordinates x, R = e^[x], |x| ≤ π [rad].  R and p are those of
        :meth:`pose` with the same options.
        """

    @quantity_method
    def twist(
        self, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: str = "world", **options: Unpack[FrameOptions]
    ) -> Array:
        """V = (ω, v) = J v, ``(6,)``, of a frame [rad/s, m/s]; options as for :meth:`jacobian` (MR 8.83)."""

    @quantity_method
    def acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        frame: str,
        expressed_in: str = "world",
        *,
        kind: str | None = None,
        **options: Unpack[FrameOptions],
    ) -> Array:
        """V̇ = J a + J̇ v, ``(6,)``, the rate of :meth:`twist` [rad/s², m/s²] (MR 8.84); options as for :meth:`jacobian`.

        That is the classical acceleration (ω̇, p̈) in ``"world"``, the spatial one in ``"body"`` and ``"space"``.
        ``kind="classical"`` is the acceleration of the point of the body at the origin of the axes, in any axes;
        ``kind="spatial"`` is the same minus (0, ω × v).
        """
