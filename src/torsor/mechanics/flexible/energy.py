"""Where the energy of a flexible robot is."""

from __future__ import annotations

from typing import Any, NamedTuple


class Energy(NamedTuple):
    """Kinetic, in the field of gravity, and elastic [J]; a number each, or an array over the batch."""

    kinetic: Any
    gravity: Any
    elastic: Any

    @property
    def total(self) -> Any:
        """Their sum: constant while no motor works and nothing dissipates."""
        return self.kinetic + self.gravity + self.elastic
