"""At: a robot at a state, from which terms take what they need."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.algorithms.configuration import configuration_rate, difference, integrate
from torsor.algorithms.kinematics import from_world, joints, velocities
from torsor.model.model import Model
from torsor.scalar import Dual, Scalar, Scalars, is_zero, where
from torsor.spatial import Motion, Subspace, Transform, Vec
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.model.terms.term import Term


class Inputs(NamedTuple):
    """The inputs of an equation of motion beside (q, v) and joint forces: the time [s], x, and wrenches by frame.

    Wrenches are in the ``axes`` of their frames, "body", or of the "world".
    """

    t: Any = None
    x: Scalars | None = None
    wrenches: Mapping[str, Any] | None = None
    axes: str = "body"


#: no wrenches, x where it rests, and terms that do not depend on time
ALONE = Inputs()


class At:
    """A model at (q, v, x, t), over any scalar; quantities shared by several terms are computed once.

    ``x`` are the first-order states by the name of their term.  ``near``: the rows are nearly fulfilled here, so that a shorter
    function with the same zero, and the same rate there, may serve as their φ.  ``commands`` are those that arrive at a term,
    by its name, and ``load`` are the joint forces ℓ by body, once they are known (:meth:`EquationOfMotion.transmit`); ``dt`` is
    the length of the step that the state is in, ``wrenches`` are those of a call, by frame, in its axes, and ``impulses`` those
    of contacts in the step, by the name of their term.
    """

    def __init__(
        self,
        model: Model,
        q: Scalars,
        v: Scalars | None = None,
        t: Any = 0,
        x: Mapping[str, Scalars] | None = None,
        near: bool = False,
    ):
        self.model, self.q, self.t, self._x, self.near = model, q, t, dict(x or {}), near
        self.commands: dict[str, Scalars] = {}
        self.load: list[Scalars] = []
        self.dt: Scalar = 0
        self.wrenches: Mapping[str, Any] = {}
        self.impulses: Mapping[str, Scalars] = {}
        self.v: Scalars = [0] * model.nv if v is None else v
        self.qs, self.vs = model.configuration(q), model.rates(self.v)  #: by body; a mimic joint's own k q + b and k v

    def lifted(self) -> At:
        """The same state as constants of another level of dual numbers: what it contains may itself be dual."""
        q, v = ([Dual(x, 0) for x in row] for row in (self.q, self.v))
        return At(self.model, q, v, Dual(self.t, 0), {name: [Dual(y, 0) for y in x] for name, x in self._x.items()})

    @cached_property
    def at_rest(self) -> At:
        """The same configuration and time with v = 0."""
        rest = At(self.model, self.q, None, self.t)
        vars(rest)["kinematics"] = self.kinematics
        return rest

    def x_of(self, term: Term) -> Scalars:
        """The states of a term; () where they are not given, and the term is where they rest."""
        return self._x.get(term.name, ())

    def put(self, term: Term, x: Scalars) -> None:
        """Set the states of a term."""
        self._x[term.name] = x

    def with_x(self, term: Term, x: Scalars) -> At:
        """The same with other states of a term."""
        other = copy(self)
        other._x = self._x | {term.name: x}
        return other

    def command_of(self, term: Term) -> Scalars:
        """The commands (nv) that arrive at a term."""
        return self.commands.get(term.name, [0] * self.model.nv)

    def mean_rates(self, begin: At, h: Scalar) -> list[list[Scalar]]:
        """The mean velocity by body since the beginning of a step, h [s] ago: (q ⊖ q₀)/h, v at h = 0."""
        width = where(h > 0, h, 1)
        moved = difference(self.model, begin.q, self.q)
        return self.model.rates([where(h > 0, dq / width, v) for dq, v in zip(moved, self.v, strict=True)])

    def body_of(self, joint: str) -> int:
        """The number of the body that a joint moves: the key of ``qs``, ``vs`` and of joint forces."""
        return self.model.joint_names.index(joint)

    @cached_property
    def kinematics(self) -> tuple[list[Transform], list[Subspace]]:
        """X, S of every joint (MR 8.50)."""
        return joints(self.model, self.q)

    @cached_property
    def from_world(self) -> list[Transform]:
        """The transform from the world to each body."""
        return from_world(self.model, self.kinematics[0])

    @cached_property
    def twists(self) -> list[Motion]:
        """V of each body, in its frame (MR 8.51)."""
        return velocities(self.model, *self.kinematics, self.v)

    @cached_property
    def moving(self) -> list[Any]:
        """q as dual numbers: a function of them has its rate along v."""
        if all(map(is_zero, self.v)):
            return list(self.q)
        return [Dual(x, dx) for x, dx in zip(self.q, configuration_rate(self.model, self.q, self.v), strict=True)]

    def pose(self, frame: str) -> Transform:
        """The transform from the world to a frame."""
        body, X = self.model.frame(frame)
        return X @ self.from_world[body]

    def position(self, frame: str) -> Vec:
        """The origin of a frame, in the world's axes [m]."""
        return self.pose(frame).pose[1]

    def twist(self, frame: str) -> Motion:
        """The twist of a frame, in its axes."""
        body, X = self.model.frame(frame)
        return X @ self.twists[body]

    def integrate(self, v: Scalars, dt: Scalar) -> list[Scalar]:
        """q ⊕ v dt."""
        return integrate(self.model, self.q, v, dt)
