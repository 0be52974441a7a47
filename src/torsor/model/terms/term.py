"""Term: a part of the equation of motion M a + h = τ + Σ f + Aᵀλ, A a = g: a law at a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

from torsor.model.terms.capabilities import TABLE
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.description import Description
    from torsor.model.joints.moving import Moving
    from torsor.model.model import Model


class Effort(NamedTuple):
    """Forces on the robot: ``joints`` {body: force of its joint (its nv)}, ``wrenches`` {body: wrench, in the body's frame}."""

    joints: Mapping[int, Scalars] = {}
    wrenches: Mapping[int, Force] = {}


class States(NamedTuple):
    """Entries of x, the first-order states, that belong to a term: one name each, and their values at the start."""

    names: tuple[str, ...] = ()
    start: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.names)


class ConstraintRows(NamedTuple):
    """k rows of a constraint at a state: A v = speed, A a = −drift, and φ = 0 where the row can be integrated."""

    error: list[Any]  #: φ(q, t); 0 where the row is nonholonomic
    A: list[list[Any]]  #: k × nv
    speed: list[Any]  #: b(t), the right-hand side of a rheonomic constraint, else 0
    drift: list[Any]  #: Ȧ v − ḃ


class Term:
    """A part of the equation of motion.  A term of one's own is a frozen dataclass that overrides some of these methods.

    All are functions over any scalar, without branches on values.  ``kind`` is a word for its class, such as "friction"; terms
    are left out of a robot by name or kind (:meth:`Robot.without_terms`).  ``places`` are its fields that name joints, links
    or frames: editing renames them, and drops the term, with a note, where one of them is gone.
    """

    name: str
    kind: ClassVar[str] = "term"
    places: ClassVar[tuple[str, ...]] = ()
    NUMBERS: ClassVar[tuple[str, ...]] = ()  #: fields whose floats are inputs of kernels (:mod:`.numbers`)
    #: whether the force on a joint depends on this joint's velocity and load alone
    joint_by_joint: ClassVar[bool] = False

    @property
    def default_name(self) -> str | None:
        """The name that is made from its places where none is given: it changes with them."""
        return None

    def assembled(self, description: Description) -> Term:
        """The term as it acts: with the numbers of the description that it needs."""
        return self

    def check(self, model: Model) -> None:
        """Raise an error if the term cannot act on the model."""

    def describe(self, model: Model) -> str:
        """One line about the term."""
        return self.kind

    def row(self, model: Model) -> str:
        """Its row in the table of capabilities (:mod:`torsor.model.terms.capabilities`)."""
        own = "term of one's own" if type(self).energy is Term.energy else "term of one's own with energy"
        return self.kind if self.kind in TABLE else own

    def cannot(self, model: Model) -> Mapping[str, str]:
        """The capabilities that the term lacks, each with the reason."""
        return TABLE[self.row(model)]

    # -- what it owns ----------------------------------------------------------------------------------------

    def coordinates(self, description: Description) -> Description:
        """The description with the joints that the term adds."""
        return description

    @property
    def added(self) -> tuple[str, ...]:
        """The names of the joints that it adds."""
        return ()

    @property
    def wound(self) -> tuple[str, ...]:
        """The joints of which a whole turn is another configuration for this term."""
        return ()

    def with_joint_fields(self, changes: Mapping[str, Mapping[str, Any]]) -> Self:
        """The term with other fields of the joints that it adds, by name."""
        return self

    def states(self, model: Model) -> States:
        """The entries of x that are the term's."""
        return States()

    def in_steps(self, dt: float) -> Term:
        """The term in a motion by steps of dt [s]; another one where the number of its states depends on dt."""
        return self

    @property
    def depends_on_time(self) -> bool:
        """Whether the term reads the time (rheonomic)."""
        return False

    @property
    def passive(self) -> tuple[str, ...]:
        """Joints that have no drive because of the term: the link side of a spring behind a motor."""
        return ()

    def base(self, t: Scalar) -> Moving | None:
        """Pose, twist and acceleration of the base at a time, if the term moves it; one term of a robot may."""
        return None

    def on_edited(self, model: Model) -> Self | None:
        """The term on an edited robot that has all its places: without the parts that cannot act; None if none is left."""
        return self

    # -- parts of the equation -------------------------------------------------------------------------------

    def force(self, at: At) -> Effort:
        """Forces on the robot at a state."""
        return Effort()

    def friction(self, at: At, load: Sequence[Scalars]) -> Effort:
        """φ(v, ℓ), forces against the robot's motion that may grow with the load ℓ, given by body: τ = ℓ + φ."""
        return Effort()

    def labels(self) -> tuple[str, ...]:
        """The motion that each row constrains, one word per row: ``("vx", "vy", "wx")``; () for a term without rows."""
        return ()

    def rows(self, at: At) -> ConstraintRows:
        """The rows at a state."""
        return ConstraintRows([], [], [], [])

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.labels())

    def transmit(self, at: At, command: Scalars) -> Scalars:
        """Joint forces (nv) from commands (nv): those of an actuator or a drive; terms follow one another as attached."""
        return command

    # -- the motion of x -------------------------------------------------------------------------------------

    def rate(self, at: At) -> list[Scalar]:
        """ẋ of its states."""
        return []

    def follow(self, begin: At, now: At, h: Scalar) -> list[Scalar]:
        """Its states h [s] after the beginning of a step, where the robot is ``now``.

        Stiff terms have a closed form, stable for any h; here it is the trapezoidal rule of ẋ, with a guess by Euler's.
        """
        start, before = begin.x_of(self), self.rate(begin)
        guess = now.with_x(self, [x + h * y for x, y in zip(start, before, strict=True)])
        return [x + (y + z) * (h / 2) for x, y, z in zip(start, before, self.rate(guess), strict=True)]

    def tick(self, begin: At, dt: Scalar) -> list[Scalar]:
        """Sampled states: those of the next step of dt [s], from its beginning; within a step they are constant."""
        raise NotImplementedError

    def rest(self, at: At, load: Sequence[Scalars]) -> list[Scalar]:
        """Its states where ẋ = 0."""
        return [0] * self.states(at.model).size

    # -- energies --------------------------------------------------------------------------------------------

    def readings(self, at: At) -> Mapping[str, Scalar]:
        """What a simulation records of it, by name: here its states."""
        return dict(zip(self.states(at.model).names, at.x_of(self), strict=True))

    def energy(self, at: At) -> Scalar:
        """The stored energy [J]."""
        return 0

    def heat(self, at: At) -> Scalar:
        """The dissipated power [W]."""
        return 0

    def power(self, at: At) -> Scalar:
        """The power of its force on the robot that neither its energy nor its heat counts [W]: all of it without these."""
        if type(self).energy is not Term.energy or type(self).heat is not Term.heat:
            return 0
        joints, wrenches = self.force(at)
        pushed = [f * v for body, force in joints.items() for f, v in zip(force, at.vs[body], strict=True)]
        return sum((*pushed, *(F.dot(at.twists[body]) for body, F in wrenches.items())))


class AtJoint(Term):
    """A term at one joint, which depends on this joint alone: it is named by the joint and its kind."""

    joint: str
    places = ("joint",)
    joint_by_joint = True

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.joint} {self.kind}"


AnyTerm = TypeVar("AnyTerm", bound=Term)


def with_fields(t: AnyTerm, change: Callable[[AnyTerm], dict[str, Any]]) -> AnyTerm:
    """A term with other fields; a constraint that it contains is changed likewise."""
    made = change(t)
    if isinstance(inner := getattr(t, "constraint", None), Term):
        made["constraint"] = with_fields(inner, change)  # type: ignore[arg-type]
    return replace(t, **made) if made else t  # type: ignore[type-var]
