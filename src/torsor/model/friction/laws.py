"""The six laws of MR Figure 8.15, in its order and with its letters.

Constants are numbers or any scalars: b_static and b_kinetic [N·m or N], b_viscous [N·m·s/rad or N·s/m].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from torsor.errors import ArgumentError, ModelError
from torsor.model.friction.law import Friction, Levels, check
from torsor.scalar import Scalar, exp, is_zero


class FigureLaw(Friction):
    """Dry friction of b_static at rest and b_kinetic in motion (b_static where a law has no b_kinetic), and b_viscous v.

    A law of the figure has some of these constants as its fields; the parts without a constant are 0.
    """

    b_static: Scalar
    b_kinetic: Scalar
    b_viscous: Scalar

    def __post_init__(self) -> None:
        check(self, *(f.name for f in fields(self) if f.name.startswith("b_")))  # type: ignore[arg-type]  # a dataclass
        static, kinetic = (getattr(self, name, None) for name in ("b_static", "b_kinetic"))
        if isinstance(static, (int, float)) and isinstance(kinetic, (int, float)) and static < kinetic:
            raise ModelError(
                f"{type(self).__name__}: b_static ({static}) must be at least b_kinetic ({kinetic}): "
                "static friction is never below kinetic friction"
            )

    def breakaway(self, load: Scalar = 0) -> Levels:
        level = getattr(self, "b_static", 0)
        return Levels(level, level)

    def kinetic(self, v: Scalar, load: Scalar = 0) -> Levels:
        return Levels(self.b_kinetic, self.b_kinetic) if hasattr(self, "b_kinetic") else self.breakaway(load)

    def drag(self, v: Scalar) -> Scalar:
        return self.b_viscous * v if hasattr(self, "b_viscous") else 0


@dataclass(frozen=True)
class Viscous(FigureLaw):
    """τ = b_viscous v (MR Fig. 8.15 a).

    >>> Viscous(0.5).force(-2.0)
    -1.0
    """

    b_viscous: Scalar
    formula = "b_viscous v"
    figure = "MR Fig. 8.15 a"


@dataclass(frozen=True)
class Coulomb(FigureLaw):
    """τ = b_static sgn(v); at rest any value in [−b_static, b_static] (MR Fig. 8.15 b).

    >>> law = Coulomb(3.0)
    >>> law.force(0.1), law.force(0.0), law.breakaway()
    (3.0, 0.0, Levels(backward=3.0, forward=3.0))
    """

    b_static: Scalar
    formula = "b_static sgn(v)"
    figure = "MR Fig. 8.15 b"


@dataclass(frozen=True)
class StaticViscous(FigureLaw):
    """τ = b_static sgn(v) + b_viscous v (MR Fig. 8.15 c).  Equivalent to URDF's ``<dynamics friction damping>``.

    >>> StaticViscous(3.0, 0.5).force(-2.0)
    -4.0
    """

    b_static: Scalar
    b_viscous: Scalar
    formula = "b_static sgn(v) + b_viscous v"
    figure = "MR Fig. 8.15 c"


@dataclass(frozen=True)
class StaticKinetic(FigureLaw):
    """τ = b_kinetic sgn(v) once more than b_static has set the joint off (MR Fig. 8.15 d).

    Where b_static > b_kinetic the force jumps at break-away, whose time simulations do not locate: they are of first order.

    >>> law = StaticKinetic(3.0, 2.0)
    >>> law.breakaway().forward, law.force(1e-9)
    (3.0, 2.0)
    """

    b_static: Scalar
    b_kinetic: Scalar
    formula = "b_kinetic sgn(v), up to b_static at rest"
    figure = "MR Fig. 8.15 d"


@dataclass(frozen=True)
class StaticKineticViscous(FigureLaw):
    """τ = b_kinetic sgn(v) + b_viscous v once more than b_static has set the joint off (MR Fig. 8.15 e).

    Where b_static > b_kinetic the force jumps at break-away, whose time simulations do not locate: they are of first order.

    >>> StaticKineticViscous(3.0, 2.0, 0.5).force(2.0)
    3.0
    """

    b_static: Scalar
    b_kinetic: Scalar
    b_viscous: Scalar
    formula = "b_kinetic sgn(v) + b_viscous v, up to b_static at rest"
    figure = "MR Fig. 8.15 e"


@dataclass(frozen=True)
class Stribeck(FigureLaw):
    """τ = [b_kinetic + (b_static − b_kinetic) exp(−(|v|/v_stribeck)ⁿ)] sgn(v) + b_viscous v (MR Fig. 8.15 f).

    At low speed friction falls as speed grows.  ``v_stribeck`` [rad/s or m/s] is the velocity scale; n is 2 (a bell, the
    default) or 1, or any positive whole number.  Bo & Pavelescu 1982; Armstrong-Hélouvry, Dupont & Canudas de Wit 1994.

    >>> law = Stribeck(3.0, 2.0, 0.5, v_stribeck=0.1)
    >>> law.force(1e-12), round(law.force(1.0), 9)
    (3.0000000000005, 2.5)
    """

    b_static: Scalar
    b_kinetic: Scalar
    b_viscous: Scalar
    v_stribeck: Scalar
    n: int = 2
    formula = "[b_kinetic + (b_static − b_kinetic) exp(−(|v|/v_stribeck)ⁿ)] sgn(v) + b_viscous v"
    figure = "MR Fig. 8.15 f"

    def __post_init__(self) -> None:
        super().__post_init__()
        check(self, "v_stribeck", positive=True)
        if not isinstance(self.n, int) or self.n < 1:
            raise ModelError(f"Stribeck: n must be a positive whole number, not {self.n!r}")

    def kinetic(self, v: Scalar, load: Scalar = 0) -> Levels:
        x = v / self.v_stribeck if self.n % 2 == 0 else abs(v) / self.v_stribeck  # an even power needs no modulus
        level = self.b_kinetic + (self.b_static - self.b_kinetic) * exp(-(x**self.n))
        return Levels(level, level)

    @property
    def scale(self) -> float:
        return 5 * float(self.v_stribeck)


def of_joints(source: str, joints: Iterable[Any]) -> dict[str, tuple[Friction | None, ...]]:
    """The laws that a description's own numbers make: ``friction`` dry and ``damping`` viscous, joint by joint."""
    if source != "urdf":
        raise ArgumentError(
            f"friction is a dict of laws by joint, or 'urdf' for the friction and damping of the description, not {source!r}"
        )
    rows = {}
    for j in joints:
        none = (0,) * j.kind.nv
        if j.kind.nv:
            rows[j.name] = tuple(of_numbers(c, b) for c, b in zip(j.friction or none, j.damping or none, strict=True))
    return rows


def of_numbers(friction: Scalar, damping: Scalar) -> Friction | None:
    """The simplest law with this dry friction and this damping: (a), (b) or (c) of the figure, or none.

    >>> of_numbers(3.0, 0), of_numbers(0, 0)
    (Coulomb(b_static=3.0), None)
    """
    dry, viscous = (not is_zero(x) for x in (friction, damping))
    if dry and viscous:
        return StaticViscous(friction, damping)
    return Coulomb(friction) if dry else Viscous(damping) if viscous else None
