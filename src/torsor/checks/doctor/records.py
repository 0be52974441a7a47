"""A link and a joint as given, before any check."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torsor.model.description import Geometry, Joint, Link, Mimic
from torsor.spatial import Inertia, Sym, Vec
from torsor.spatial.vector import flat
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array


@dataclass(frozen=True)
class LinkRecord:
    """A link: mass [kg], centre of mass [m] and inertia about it [kg·m²] in the axes of the link.

    ``mass`` is None if not given.  ``axes`` are those of the <inertial> origin, in which the file gives the inertia.
    ``element`` is the link's in the XML tree, or None.
    """

    name: str
    mass: float | None = None
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    axes: Array = field(default_factory=lambda: np.eye(3))
    geometry: tuple[Geometry, ...] = ()
    element: Any = None

    kind = "link"

    @classmethod
    def of(cls, link: Link, element: Any = None) -> LinkRecord:
        G = link.inertia
        given = any(x != 0 for x in flat(G))
        com, inertia = np.array(G.com, float), np.array(G.about_com.rows, float)
        return cls(link.name, float(G.m) if given else None, com, inertia, geometry=link.geometry, element=element)

    @property
    def kilograms(self) -> float:
        """The mass [kg]; 0 if not given."""
        return self.mass or 0.0

    @property
    def massive(self) -> bool:
        return self.kilograms > 0

    @cached_property
    def second_moment(self) -> Array:
        """Σ about the centre of mass [kg·m²]."""
        return second_moment(self.inertia)

    @property
    def spatial_inertia(self) -> Inertia:
        """G about the link's origin."""
        return spatial_inertia(self.kilograms, self.com, self.inertia)


def second_moment(inertia: Array) -> Array:
    """Σ = ∫ r rᵀ dm = ½ tr(I) 1 − I [kg·m²]."""
    return np.trace(inertia) / 2 * np.eye(3) - inertia


def spatial_inertia(mass: float, com: Array, inertia: Array) -> Inertia:
    """G about the link's origin, of the inertia about the centre of mass."""
    return Inertia.of(float(mass), Vec(*map(float, com)), Sym.of(inertia.tolist()))


def inertia_without_mass(inertia: Array) -> Inertia:
    """G of an inertia without mass: the difference of two inertias about the same centre."""
    return spatial_inertia(0.0, np.zeros(3), inertia)


@dataclass(frozen=True)
class JointRecord:
    """A joint: limits as given, None if missing; ``axis`` as written, of any length."""

    name: str
    type: str
    parent: str
    child: str
    axis: tuple[float, ...] | None = None
    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    velocity: float | None = None
    limited: bool = False  # whether there is a <limit> at all
    mimic: Mimic | None = None
    element: Any = None

    kind = "joint"

    @classmethod
    def of(cls, j: Joint) -> JointRecord:
        def only(values: tuple) -> float | None:
            return float(values[0]) if len(values) == 1 else None

        lower, upper, effort, velocity = map(only, (j.lower, j.upper, j.effort_limit, j.velocity_limit))
        limited = any(x is not None for x in (lower, upper, effort, velocity))
        return cls(
            j.name, j.kind.name, j.parent, j.child, None, lower, upper, effort, velocity, limited=limited, mimic=j.mimic
        )  # fmt: skip


Record = LinkRecord | JointRecord
