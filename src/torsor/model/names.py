"""Names of the entries of q and v: the joint's, with a number where it has several."""

from __future__ import annotations

from collections.abc import Iterator

from torsor.model.model import Model


def configuration_names(model: Model) -> tuple[str, ...]:
    """A name for each entry of q."""
    return tuple(_names(model, "nq"))


def coordinate_names(model: Model) -> tuple[str, ...]:
    """A name for each entry of v, a and τ."""
    return tuple(_names(model, "nv"))


def _names(model: Model, size: str) -> Iterator[str]:
    for i, _ in model.outward():
        if model.coupling[i] is None:
            name, n = model.joint_names[i], getattr(model.joint[i], size)
            yield from [name] if n == 1 else (f"{name}[{k}]" for k in range(n))
