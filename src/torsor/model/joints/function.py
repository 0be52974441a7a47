"""Joint given by functions: the pose of the body as functions of the coordinates (Simbody's function-based mobilizer)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torsor.errors import ModelError, TorsorError
from torsor.model.joints.base import JointType
from torsor.model.joints.composite import Composite
from torsor.model.joints.euler_angles import ORDERS
from torsor.model.joints.prismatic import Prismatic
from torsor.model.joints.revolute import Revolute
from torsor.scalar import Scalar, Scalars, tidy
from torsor.spatial import Subspace, Transform
from torsor.spatial.linear import dot
from torsor.spatial.vector import AXES
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.compile import Program

_NEEDED = "functions must be six numbers or functions (three angles, x, y, z), or one function of q that gives six"


@dataclass(frozen=True)
class FunctionJoint(JointType):
    """The pose of the body by functions of q: angles (φ₁, φ₂, φ₃) [rad] about the axes of ``order``, then (x, y, z) [m].

    ``functions`` are six in this order, each a number or a function of the ``dof`` coordinates ``f(q₁, ...)``, such as a
    :class:`Spline`; or one function of the list q that gives six.  They are written with the functions of
    ``torsor.scalar`` and do not branch on values.  R = Rot(a₁, φ₁) Rot(a₂, φ₂) Rot(a₃, φ₃), (x, y, z) in the joint
    frame, as Simbody's function-based mobilizer (order xyz).

    With y = F(q) in the joints J of six axes: S = S_J(y) F′, Ṡ = Ṡ_J(y, F′v) F′ + S_J(y) (F″v).  The derivatives F′ and F″
    come from the recorded functions.  Where F′ loses rank, M is singular.

    >>> from torsor.scalar import cos
    >>> knee = FunctionJoint((0, 0, lambda q: q, lambda q: 0.1 * cos(q), 0, 0))
    >>> knee.transform([0.0]).r, knee.nv
    (Vec(x=0.1, y=0.0, z=0.0), 1)
    """

    functions: Any
    dof: int = 1
    order: str = "xyz"
    name = "function"

    def __post_init__(self) -> None:
        if isinstance(self.dof, bool) or not isinstance(self.dof, int) or not 1 <= self.dof <= 6:
            raise ModelError(f"FunctionJoint: dof must be a whole number from 1 to 6, not {self.dof!r}")
        if self.order not in ORDERS:
            raise ModelError(f"FunctionJoint: order must be one of {', '.join(ORDERS)}, not {self.order!r}")
        if not callable(self.functions):
            if not isinstance(self.functions, (list, tuple)) or len(self.functions) != 6:
                raise ModelError(f"FunctionJoint: {_NEEDED}, not {self.functions!r}")
            object.__setattr__(self, "functions", tuple(self.functions))
        assert self._nonzero_functions  # recorded now, so that a function that cannot be recorded is reported here

    @property
    def nq(self) -> int:  # type: ignore[override]  # a class variable elsewhere
        return self.dof

    nv = nq

    def transform(self, q: Scalars) -> Transform:
        return self._axes.transform(self._values(q))

    def subspace(self, q: Scalars) -> Subspace:
        S = self._axes.subspace(self._values(q))
        return Subspace([S @ column for column in zip(*self._slopes(q), strict=True)])

    def subspace_rate(self, q: Scalars, v: Scalars) -> Subspace:
        y, slopes = self._values(q), self._slopes(q)
        S, S_rate = self._axes.subspace(y), self._axes.subspace_rate(y, [dot(row, v) for row in slopes])
        slope_rates = [[dot(row, v) for row in rows] for rows in self._curvatures(q)]
        columns = zip(zip(*slopes, strict=True), zip(*slope_rates, strict=True), strict=True)
        return Subspace([S_rate @ slope + S @ rate for slope, rate in columns])

    # -- the functions -----------------------------------------------------------------------------------------------

    def _values(self, q: Scalars) -> list[Scalar]:
        """y = F(q), the coordinates of the axes."""
        return _evaluate(self._programs[0], q, self._nonzero_functions)

    def _slopes(self, q: Scalars) -> list[list[Scalar]]:
        """F′, a row for each axis."""
        n = self.dof
        flat = _evaluate(self._programs[1], q, [k * n + i for k in self._nonzero_functions for i in range(n)])
        return [flat[k : k + n] for k in range(0, len(flat), n)]

    def _curvatures(self, q: Scalars) -> list[list[list[Scalar]]]:
        """F″, a matrix for each axis."""
        n = self.dof
        flat = _evaluate(self._programs[2], q, [k * n * n + i for k in self._nonzero_functions for i in range(n * n)])
        rows = [flat[k : k + n] for k in range(0, len(flat), n)]
        return [rows[k : k + n] for k in range(0, len(rows), n)]

    @cached_property
    def _programs(self) -> tuple[Program, Program, Program]:
        """F (6), F′ (6 × n) and F″ (6 × n × n), recorded."""
        from torsor.compile.derivative import forward
        from torsor.compile.program import Argument, record

        try:
            F = record(lambda q: {"y": self._six(q)}, [Argument("q", (self.dof,))])
        except TorsorError:
            raise
        except Exception as error:  # whatever a user's function raises for a scalar that it does not take
            raise ModelError(
                f"FunctionJoint: a function fails with {type(error).__name__}: {error}; it must take {self.dof} "
                "coordinate(s), use the functions of torsor.scalar (sin, cos, where, ...), and not branch on values"
            ) from error
        slope = forward(F, ["q"])
        return F, slope, forward(slope, ["q"])

    def _six(self, q: Scalars) -> list[Scalar]:
        """Values of the six functions: three angles, then the translation."""
        given = self.functions
        six = given(list(q)) if callable(given) else [f(*q) if callable(f) else f for f in given]
        if not isinstance(six, (list, tuple)) or len(six) != 6 or any(isinstance(x, (str, list, tuple)) for x in six):
            raise ModelError(f"FunctionJoint: {_NEEDED}, not {six!r}")
        return list(six)

    @cached_property
    def _nonzero_functions(self) -> tuple[int, ...]:
        """The functions that are not constantly zero: translations first, then angles."""
        F = self._programs[0]
        used = tuple(k for k in (3, 4, 5, 0, 1, 2) if F.code[F.results[k]] != ("const", (0.0,)))
        slope = self._programs[1]
        if all(slope.code[r] == ("const", (0.0,)) for r in slope.results):
            raise ModelError("FunctionJoint: its functions are all constant, so the joint does not move; use a fixed joint")
        return used

    @cached_property
    def _axes(self) -> Composite:
        """The prismatic and revolute joints whose coordinates the functions are."""
        turns = [Revolute(AXES["xyz".index(letter)]) for letter in self.order]
        return Composite([Prismatic(AXES[k - 3]) if k > 2 else turns[k] for k in self._nonzero_functions])


def _evaluate(p: Program, q: Scalars, which: Sequence[int]) -> list[Scalar]:
    """Some results of a program over any scalar; a constant 0 or 1 is structure, so an integer."""
    from torsor.compile.program import evaluate
    from torsor.compile.rules import RECORD

    values = evaluate(p, q, RECORD)
    places = [p.results[k] for k in which]
    return [tidy(values[r], 0.0) if p.code[r][0] == "const" else values[r] for r in places]
