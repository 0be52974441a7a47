"""Mobility of a mechanism: degrees of freedom, redundant rows, independent coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from torsor.errors import printable
from torsor.mechanics.constraints.local_rank import local_rank
from torsor.mechanics.constraints.rank import independent_rows
from torsor.model.names import coordinate_names
from torsor.spatial.rigid.basis import null_space_basis

if TYPE_CHECKING:
    from torsor.mechanics.constraints.constrained_robot import ConstrainedRobot


@dataclass(frozen=True, eq=False)
class Mobility:
    """Mobility of a constrained robot at one configuration.

    ``generic_freedom`` is that of nearby configurations on the same closure: where fewer rows are independent here, the
    configuration is singular and the mechanism has more instantaneous motions than finite ones.

    ``motions`` are the same on every machine: the first moves the first independent coordinate in the positive direction and no
    other independent one, the second likewise; then each is made orthogonal, in the metric of M, to those before it.
    """

    coordinates: int  #: nv of the spanning tree
    rows: int  #: of all constraints
    rank: int  #: independent rows here
    generic_rank: int  #: independent rows near here
    redundant: tuple[str, ...]  #: rows that follow from the others here
    independent: tuple[str, ...]  #: the first coordinates that the others follow from
    motions: np.ndarray  #: (freedom, nv): velocities that keep every constraint, canonical and orthonormal in the metric of M

    @property
    def freedom(self) -> int:
        """Degrees of freedom here: nv − rank."""
        return self.coordinates - self.rank

    @property
    def generic_freedom(self) -> int:
        """Degrees of freedom near here."""
        return self.coordinates - self.generic_rank

    @property
    def redundancy(self) -> int:
        """Number of redundant rows (degree of overconstraint)."""
        return self.rows - self.rank

    @property
    def count(self) -> int:
        """nv − rows: the mobility by counting alone (Grübler)."""
        return self.coordinates - self.rows

    @property
    def singular(self) -> bool:
        """Whether the rank drops here."""
        return self.rank < self.generic_rank

    def __str__(self) -> str:
        lines = [
            f"{self.freedom} degree{'s' * (self.freedom != 1)} of freedom: {self.coordinates} coordinates, "
            f"{self.rank} independent of {self.rows} constraint rows",
        ]
        if self.redundancy:
            lines.append(f"overconstrained by {self.redundancy}: {', '.join(self.redundant)}")
        if self.singular:
            lines.append(f"singular here: nearby, {self.generic_rank} rows are independent")
        if self.independent:
            lines.append(f"the motion follows from {', '.join(self.independent)}")
        return "\n".join(map(printable, lines))


def mobility_at(system: ConstrainedRobot, q: np.ndarray, time: float | None) -> Mobility:
    """Mobility at q, or at the configuration next to q that closes the loops."""
    local = local_rank(system, q, time)
    M = local.rows.C @ local.rows.C.T
    motions, pivots = null_space_basis(local.motions, M)
    needed = independent_rows(local.rows.unit[None], local.here)
    return Mobility(
        coordinates=system.robot.nv,
        rows=len(system.rows),
        rank=local.here,
        generic_rank=local.near,
        redundant=tuple(name for i, name in enumerate(system.rows) if i not in needed),
        independent=tuple(coordinate_names(system.robot.model)[i] for i in pivots),
        motions=motions.T,
    )
