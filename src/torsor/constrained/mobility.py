"""How a mechanism can move: degrees of freedom, redundant rows, coordinates that may be chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Mobility:
    """The freedom of a constrained robot at one configuration.

    ``generic_freedom`` is that of nearby configurations on the same closure: where fewer rows are independent here, the
    configuration is singular and the mechanism can move, for a moment, in more ways than it can keep up.
    """

    coordinates: int  #: nv of the spanning tree
    rows: int  #: of all constraints
    rank: int  #: independent rows here
    generic_rank: int  #: independent rows near here
    redundant: tuple[str, ...]  #: rows that follow from the others here
    independent: tuple[str, ...]  #: coordinates that the others follow from
    motions: np.ndarray  #: (freedom, nv): velocities that keep every constraint, orthonormal in the metric of M

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
        """Rows that say nothing new: how far the mechanism is overconstrained."""
        return self.rows - self.rank

    @property
    def count(self) -> int:
        """nv − rows, what counting alone (Grübler) would give."""
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
            lines.append(f"singular here: near by, {self.generic_rank} rows are independent")
        if self.independent:
            lines.append(f"the motion follows from {', '.join(self.independent)}")
        return "\n".join(lines)
