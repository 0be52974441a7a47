"""Methods of Robot: equilibrium at rest, and modes of small vibrations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from numpy.typing import ArrayLike

from torsor.kernels.methods import Computed
from torsor.kernels.options import Wrenches
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.statics import Modes
    from torsor.robot import Robot


class Statics(Computed):
    """A robot at rest under all its forces."""

    def equilibrium(
        self,
        q0: ArrayLike,
        tau: ArrayLike | None = None,
        wrenches: Wrenches | None = None,
        *,
        expressed_in: str = "body",
        held: Sequence[str] = (),
    ) -> Array:
        """q ``(..., nq)`` at which the robot rests under joint forces ``tau`` [N·m, N], 0 by default: descent from q0.

        Gravity, springs, fields and all other terms count, and ``wrenches``.  ``held`` joints keep their coordinates: the sag
        of an arm with beams is ``arm.equilibrium(q0, held=arm.actuated)``.  The equilibrium is stable, unless q0 is one itself;
        SingularError is raised where none is found.

        >>> import torsor as ts
        >>> sprung = ts.robots.two_link().with_springs(ts.terms.Spring(30.0))
        >>> sprung.equilibrium([0.0, 0.0]).round(4)
        array([-0.7017, -0.2022])
        """
        from torsor.mechanics.statics import equilibrium

        return equilibrium(cast("Robot", self), self._as_configurations(q0), tau, wrenches, expressed_in, held)

    def modes(self, q: ArrayLike, *, held: Sequence[str] = ()) -> Modes:
        """Small vibrations about q: ``frequencies`` [rad/s] ``(..., nv)`` and ``shapes`` ``(..., nv, nv)``, K Φ = M Φ diag(ω²).

        K = ∂f/∂q of all forces at rest, M the mass matrix; the robot is in equilibrium at q or held there by constant joint
        forces.  ``held`` joints do not move, and have no row and column.  Without damping.

        >>> import torsor as ts
        >>> sprung = ts.robots.two_link().with_springs(ts.terms.Spring(30.0))
        >>> sprung.modes(sprung.equilibrium([0.0, 0.0])).frequencies.round(3)
        array([ 3.055, 13.766])
        """
        from torsor.mechanics.statics import modes

        return modes(cast("Robot", self), self._as_configurations(q), held)
