"""Force elements of a link: gravity compensation, buoyancy, drag in a fluid at rest; and the wrench of a thruster.

``robot.with_forces({"hull": [Buoyancy(0.2), Drag(linear=30.0)]})`` attaches them.  They act in inverse, forward and hybrid
dynamics, in steps, rollouts and simulations, and so in h(q, v) = c + g + d: lift is a part of g(q) and of the potential
energy, drag d is dissipative.  M, C and c(q, v) are those of the bodies alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.errors import ModelError
from torsor.model.magnitudes import check_size
from torsor.scalar import Scalar, is_zero
from torsor.scalar.ops import absolute
from torsor.spatial import Force, Inertia, Motion, Transform, Vec
from torsor.spatial import arguments as read
from torsor.spatial.vector import ZERO
from torsor.support.lazy import lazy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from torsor.model.terms.fields import field

__all__ = ["Buoyancy", "Drag", "GravityCompensation", "field", "thrust"]

#: fresh water [kg/m³]
WATER = 1000.0


if not TYPE_CHECKING:  # a field is a term, which needs models
    __getattr__ = lazy(__name__, {"field": "torsor.model.terms.fields"})


def __dir__() -> list[str]:
    return list(__all__)


class Element:
    """A force element of a link: a weight that it carries, or a drag; by default neither."""

    def carried_mass(self, link: Inertia) -> tuple[Scalar, Vec]:
        """The mass whose weight is carried [kg], and its first moment [kg·m] in the link's frame."""
        return 0, ZERO

    def drag(self, V: Motion) -> Force:
        """The wrench of drag, in the frame of the element; V is the twist of this frame."""
        return Force.zero()

    def _set(self, name: str, negative: bool = False) -> None:
        checked = _number(f"{type(self).__name__}: {name}", getattr(self, name), negative)
        object.__setattr__(self, name, checked)


@dataclass(frozen=True)
class GravityCompensation(Element):
    """f = −k m g at the centre of mass of a link: a weight that is carried, to a share k (1: all of it).

    m is the link's own mass, with payloads and rotors on it, without links that are welded to it.
    """

    share: Scalar = 1

    def __post_init__(self) -> None:
        self._set("share", negative=True)

    def carried_mass(self, link: Inertia) -> tuple[Scalar, Vec]:
        return link.m * self.share, link.h * self.share


@dataclass(frozen=True)
class Buoyancy(Element):
    """f = −ρ V g at the centre of the displaced ``volume`` V [m³], fully immersed; ``center`` [m], ``density`` ρ [kg/m³]."""

    volume: Scalar
    center: Sequence[Scalar] = (0, 0, 0)
    density: Scalar = WATER

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", tuple(read.vector(self.center, "Buoyancy: center")))
        check_size("Buoyancy: center", self.center)
        self._set("volume")
        self._set("density")

    def carried_mass(self, link: Inertia) -> tuple[Scalar, Vec]:
        """The displaced mass ρ V [kg], and its first moment [kg·m]."""
        m = self.volume * self.density
        return m, Vec(*self.center) * m


@dataclass(frozen=True)
class Drag(Element):
    """F_i = −(l_i + c_i |V_i|) V_i: drag at a frame's origin and along its axes, in a fluid at rest.

    ``linear`` l [N·m·s/rad, N·s/m] and ``quadratic`` c [N·m·s²/rad², N·s²/m²]: six numbers, angular part first; three or one
    act on the velocity of the origin alone.  c = ½ ρ C_d A of a bluff body.
    """

    linear: Any = 0
    quadratic: Any = 0

    def __post_init__(self) -> None:
        for name in ("linear", "quadratic"):
            given = read.as_nested_lists(getattr(self, name))
            values = tuple(given) if isinstance(given, (list, tuple)) else (given,) * 3
            if len(values) not in (3, 6):
                raise ModelError(f"Drag: {name} must be one, three or six numbers, not {len(values)}")
            six = (0,) * (6 - len(values)) + tuple(_number(f"Drag: {name}", x) for x in values)
            object.__setattr__(self, name, six)

    def drag(self, V: Motion) -> Force:
        rows = zip(self.linear, self.quadratic, (*V.w, *V.v), strict=True)
        return Force.of([-(x * v) - (c * (absolute(v) * v) if not is_zero(c) else 0) for x, c, v in rows])


class ForceRow(NamedTuple):
    """A force element of the numbered tree, in the frame X of a body; ``m`` and ``h`` are the mass whose weight it carries."""

    name: str  # the link or frame
    link: str
    body: int
    X: Transform
    element: Element
    m: Scalar
    h: Vec

    def wrench(self, V: Motion, g: Vec) -> Force:
        """On the body, in the frame's axes at its origin; V is the frame's twist and g gravity, both in its axes."""
        return self.element.drag(V) - Force(self.h.cross(g), g * self.m)


def thrust(force: ArrayLike, axis: ArrayLike = (0, 0, 1), ratio: float = 0.0) -> np.ndarray:
    """(κ f u, f u), ``(..., 6)``: the wrench of a thruster of force f [N] along ``axis`` u, with its moment ``ratio`` κ [m].

    It acts at a frame: ``robot.forward_dynamics(q, v, tau, wrenches={"rotor1": thrust(5.0, ratio=0.016)})``.

    >>> thrust(5.0, ratio=0.1)
    array([0. , 0. , 0.5, 0. , 0. , 5. ])
    """
    import numpy as np  # robots without thrusters need no arrays here

    def finite(name: str, x: Any) -> np.ndarray:
        try:
            array = np.asarray(x, dtype=float)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        if not np.isfinite(array).all():
            raise ModelError(f"thrust: {name} must be finite numbers, not {x!r}")
        return array

    u = finite("axis", axis)
    if u.shape != (3,) or not u.any():
        raise ModelError(f"thrust: axis must be three numbers, not all zero, not {axis!r}")
    u = u / np.abs(u).max()  # first, since squares of very small or large numbers are lost
    given = finite("force", force)[..., None], finite("ratio", ratio)[..., None]
    try:
        f, k = np.broadcast_arrays(*given)
    except ValueError:
        raise ModelError(f"thrust: shapes of force {np.shape(force)} and ratio {np.shape(ratio)} do not fit") from None
    f = f * (u / np.linalg.norm(u))
    return np.concatenate([f * k, f], axis=-1)


def _number(what: str, x: Any, negative: bool = False) -> Scalar:
    """A constant of an element; an exact zero is the integer, which vanishes from a recording."""
    x = read.scalar(x, what)
    check_size(what, (x,))
    if isinstance(x, (int, float)) and not negative and x < 0:
        raise ModelError(f"{what} must not be negative, not {x!r}")
    return 0 if is_zero(x) else x
