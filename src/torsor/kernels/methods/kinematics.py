"""Methods of Robot: poses, Jacobians, twists and accelerations of frames."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from torsor.errors import ArgumentError
from torsor.kernels.compiled_mechanism import Array, CompiledMechanism
from torsor.kernels.kernel_method import kernel_method


class Kinematics(CompiledMechanism):
    """Poses, Jacobians, twists and accelerations of the frames of a mechanism."""

    @kernel_method
    def pose(self, q: ArrayLike, frame: str, *, out: Array | None = None) -> Array:
        """T_world_frame = (R, p; 0, 1), ``(4, 4)`` [m]: the pose of a frame; it takes points of the frame to the world."""
        return self._at_frame(("pose", frame), (q,), out)

    @kernel_method
    def poses(self, q: ArrayLike, frames: Sequence[str] | None = None, *, out: Array | None = None) -> Array:
        """T_world_frame = (R, p; 0, 1), ``(F, 4, 4)`` [m], of each name in ``frames``, by default all of ``robot.frames``."""
        if frames is None:
            return self._run("poses", (q,), out=out)
        names = tuple(frames) if isinstance(frames, (list, tuple)) else (frames,)
        if not names:
            raise ArgumentError("frames must name at least one frame; omit it for all of robot.frames")
        for name in names:
            self._model.frame(name)
        return self._kernels("poses", names)(q, out=out)

    @kernel_method
    def jacobian(self, q: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None) -> Array:
        """J(q), ``(6, nv)``: the frame's twist is (ω, v) = J v [rad/s, m/s] (MR 5.11, 5.18).

        ``expressed_in``: ``"world"`` (world axes, at the frame's origin), ``"body"`` or ``"space"`` (MR's two Jacobians).
        """
        return self._at_frame(("jacobian", frame, expressed_in), (q,), out)

    @kernel_method
    def jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None
    ) -> Array:
        """J̇(q, v) = dJ/dt, ``(6, nv)``, expressed as J is; J a + J̇ v is :meth:`acceleration` (MR 8.84)."""
        return self._at_frame(("jacobian_rate", frame, expressed_in), (q, v), out)

    @kernel_method
    def twist(self, q: ArrayLike, v: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None) -> Array:
        """V = (ω, v) = J v, ``(6,)``, of a frame [rad/s, m/s]; ``expressed_in`` as for :meth:`jacobian` (MR 8.83)."""
        return self._at_frame(("twist", frame, expressed_in), (q, v), out)

    @kernel_method
    def acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, expressed_in: str = "world", *, out: Array | None = None
    ) -> Array:
        """V̇ = J a + J̇ v, ``(6,)``, the rate of :meth:`twist` [rad/s², m/s²] (MR 8.84).

        Classical (ω̇, p̈) in ``"world"``, spatial in ``"body"`` and ``"space"``.
        """
        return self._at_frame(("acceleration", frame, expressed_in), (q, v, a), out)
