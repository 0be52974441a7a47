"""Energies of a flexible robot."""

from __future__ import annotations

from typing import Any, NamedTuple


class Energy(NamedTuple):
    """Kinetic, in the field of gravity, and elastic [J]; each a number, or an array over the batch."""

    kinetic: Any
    gravity: Any
    elastic: Any

    @property
    def total(self) -> Any:
        """Their sum: constant while the motors do no work and there is no dissipation."""
        return self.kinetic + self.gravity + self.elastic
