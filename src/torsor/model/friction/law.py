"""FrictionLaw: force at a velocity, breakaway force at rest, dissipated power (MR §8.9.4)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from torsor.errors import ModelError
from torsor.scalar import Scalar, sign

if TYPE_CHECKING:
    from torsor.model.friction.smooth import Smooth


#: loads [N·m or N] at which dry friction is looked for: a law may depend on the sign
LOADS = (1.0, -1.0)


class Levels(NamedTuple):
    """Levels of dry friction in each direction of motion [N·m or N], both positive."""

    backward: Scalar
    forward: Scalar

    def along(self, s: Scalar) -> Scalar:
        """The force for a direction s of motion: ``forward`` at s = 1, −``backward`` at s = −1, 0 at s = 0.

        F̄ s + ½(F₊ − F₋) s² with F̄ the mean of the two: no branch, and as smooth in s as s is in v.
        """
        mean, half = (self.forward + self.backward) / 2, (self.forward - self.backward) / 2
        return mean * s + half * (s * s)

    def at(self, s: Scalar) -> Scalar:
        """The level itself, positive: ``forward`` at s = 1, ``backward`` at s = −1, their mean at s = 0."""
        return (self.forward + self.backward) / 2 + (self.forward - self.backward) / 2 * s


class Described:
    """A law with a formula: what :meth:`describe` prints of its constants, which are the fields of a dataclass."""

    #: the formula in one line, and the book's figure
    formula: ClassVar[str] = ""
    figure: ClassVar[str] = ""
    #: number of internal states: 0 if the force depends on the velocity alone
    states: ClassVar[int] = 0

    @property
    def numeric(self) -> bool:
        """Whether every constant is a number."""
        return all(_is_numeric(getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]  # each law is a dataclass

    def describe(self) -> str:
        """The law, its figure in MR, its formula and its constants."""
        constants = ", ".join(f"{f.name}={_word(getattr(self, f.name))}" for f in fields(self))  # type: ignore[arg-type]
        figure = f" ({self.figure})" if self.figure else ""
        return f"{type(self).__name__}{figure}: {self.formula}; {constants}"


class Friction(Described, ABC):
    """A law τ_fric(v), as inverse dynamics adds it: τ = M a + h + τ_fric(v), so it has the sign of v and opposes the motion.

    A law is made of two parts, over any scalar: dry friction, whose levels :meth:`kinetic` and :meth:`breakaway` give, and
    :meth:`drag`, which grows with speed from 0.  ``load`` is the force through the joint without friction [N·m or N];
    most laws ignore it.  A custom law defines :meth:`breakaway` and overrides others as needed.
    """

    @abstractmethod
    def breakaway(self, load: Scalar = 0) -> Levels:
        """Range of static friction: at v = 0 friction takes any value in [−backward, forward]."""

    def kinetic(self, v: Scalar, load: Scalar = 0) -> Levels:
        """The levels of dry friction while sliding at speed |v|, either way; at v = 0 those that motion starts with."""
        return self.breakaway(load)

    @property
    def holds(self) -> bool:
        """Whether the law has dry friction, under some load: it can hold its joint at rest."""
        return any(any(self.breakaway(load)) or any(self.kinetic(0.0, load)) for load in LOADS)

    def drag(self, v: Scalar) -> Scalar:
        """The part that grows with speed and vanishes at rest: b v."""
        return 0

    def force(self, v: Scalar, *, load: Scalar = 0) -> Scalar:
        """τ_fric(v) [N·m or N].  At rest 0, one of the values it may have there: see :meth:`breakaway`."""
        return self.kinetic(v, load).along(sign(v)) + self.drag(v)

    def steady(self, v: Scalar, load: Scalar = 0) -> Scalar:
        """Steady-state force at velocity v: :meth:`force` itself, for a law without internal state."""
        return self.force(v, load=load)

    def power(self, v: Scalar, *, load: Scalar = 0) -> Scalar:
        """τ_fric(v) v ≥ 0 [W]: dissipated power."""
        return self.force(v, load=load) * v

    def smooth(self, width: Scalar, kind: str = "tanh") -> Smooth:
        """The law with sgn(v) replaced by a smooth function that is steep over ``width``: see :class:`Smooth`."""
        from torsor.model.friction.smooth import Smooth

        return Smooth(self, width, kind)

    @property
    def scale(self) -> float:
        """A speed that covers the law's features; the range of :meth:`plot` [rad/s or m/s]."""
        return 1.0

    def plot(self, speed: float | None = None, load: float = 0.0, *, ax: Any = None, **style: Any) -> Any:
        """Plot force over velocity, with its range at rest; returns matplotlib's axes.  Needs the extra ``plot``."""
        from torsor.model.friction.drawing import draw

        return draw(self, speed, load, ax, style)


class WrappedLaw(Friction):
    """A law made of another one, ``law``, whose drag and features it keeps."""

    law: Friction

    def drag(self, v: Scalar) -> Scalar:
        return self.law.drag(v)

    @property
    def scale(self) -> float:
        return self.law.scale


def _word(x: Any) -> str:
    return f"{x:g}" if isinstance(x, (int, float)) else f"[{x.describe()}]" if hasattr(x, "describe") else str(x)


def _is_numeric(x: Any) -> bool:
    return isinstance(x, (int, float, str)) or bool(getattr(x, "numeric", False))


def check(law: Any, *names: str, positive: bool = False) -> None:
    """Raise for constants that are not valid for friction; scalars that are not numbers pass."""
    for name in names:
        x = getattr(law, name)
        if getattr(x, "ndim", None) == 0:  # a number of NumPy, as one of Python
            x = x.item()
            object.__setattr__(law, name, x)
        if isinstance(x, (list, tuple, complex)):
            raise ModelError(f"{type(law).__name__}: {name} must be a number, not {x!r}")
        if isinstance(x, (int, float)) and not (0 <= x < math.inf and (x > 0 or not positive)):
            must = "positive" if positive else "not negative"
            raise ModelError(f"{type(law).__name__}: {name} must be finite and {must}, not {x!r}")
