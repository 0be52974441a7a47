"""Functions that need numbers where a model has symbols: errors that name the call to use instead."""

from __future__ import annotations

from torsor.errors import ArgumentError
from torsor.model.model import Model


def refuse_symbols(model: Model, what: str, instead: str = "give it numbers") -> None:
    """Raise ArgumentError for a model with symbols if ``what`` needs numbers; ``instead`` takes symbols, or is advice."""
    if not model.is_numeric:
        raise ArgumentError(f"robot {model.name!r} has symbols where {what} needs numbers; {instead}")
