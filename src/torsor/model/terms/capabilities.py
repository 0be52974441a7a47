"""What terms cannot do: errors with the reason of the term."""

from __future__ import annotations

from torsor.errors import ArgumentError
from torsor.model.model import Model

#: capabilities, as errors name them
CAPABILITIES = {
    "derivatives": "a derivative",
    "step": "a step of fixed length in a kernel",
    "symbols": "symbolic equations",
    "statics": "an equilibrium and modes",
    "energies": "an energy",
    "copy": "a copy in another library",
}


def refuse(model: Model, capability: str) -> None:
    """Raise ArgumentError if a term of the model lacks a capability, with the reason and what to do."""
    for term in model.terms:
        if reason := term.cannot(model).get(capability):
            raise ArgumentError(f"{term.name} of robot {model.name!r} does not have {CAPABILITIES[capability]}: {reason}")
