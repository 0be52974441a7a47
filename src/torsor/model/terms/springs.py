"""Springs at joints: parallel to a joint, or in series between its motor and its link (MR §8.9.5; Spong 1987)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, InitVar, dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from torsor.compile.recorded_function import RecordedFunction
from torsor.errors import ArgumentError, ModelError
from torsor.model.description import Description, Joint, Link, find
from torsor.model.joints import Prismatic, Revolute
from torsor.model.names import displacement_units
from torsor.model.terms.term import Effort, Term
from torsor.scalar import Scalar, maximum, minimum
from torsor.spatial import Vec
from torsor.spatial import arguments as read

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.model import Model

#: deflections [rad, m] at which a user's law is tried
PROBES = (-0.02, -1e-3, 0.0, 1e-3, 0.02)
#: fields of a joint that belong to its motor
OF_MOTOR = ("armature", "effort_limit", "actuator")


@dataclass(frozen=True)
class Spring:
    """τ = K (rest − q) − D q̇ + preload on a joint, a length or a tendon: a linear spring and damper parallel to it.

    ``stiffness`` K [N·m/rad, N/m], ``damping`` D [N·m·s/rad, N·s/m], ``rest`` [rad, m], ``preload`` [N·m, N].  With
    ``rest=(lower, upper)`` the spring is slack in between.  Between a motor and its link, θ and q, it is the law of a
    :class:`SeriesSpring`: K (θ − q) + D (θ̇ − q̇).

    >>> Spring(1000.0, 2.0).torque(0.01, 0.5)
    11.0
    """

    stiffness: float
    damping: float = 0
    _: KW_ONLY
    rest: float | tuple[float, float] = 0
    preload: float = 0
    rotor_inertia: InitVar[Any] = None

    def __post_init__(self, rotor_inertia: Any) -> None:
        if rotor_inertia is not None:
            raise ArgumentError(
                "a Spring acts in parallel to its joint and has no rotor; a motor that drives its link through a spring is "
                f"SeriesSpring({self.stiffness!r}, {self.damping!r}, rotor_inertia={rotor_inertia!r})"
            )
        for word in ("stiffness", "damping", "rest", "preload"):
            x, signed = getattr(self, word), word in ("rest", "preload")
            rule = "finite" if signed else "finite and not negative"
            for y in x if word == "rest" and isinstance(x, tuple) else (x,):
                if not (read.is_number(y) and math.isfinite(y) and (signed or y >= 0)):
                    raise ArgumentError(f"a spring's {word} must be a number, {rule}, not {y!r}")
        if isinstance(self.rest, tuple) and not (len(self.rest) == 2 and self.rest[0] <= self.rest[1]):
            raise ArgumentError(f"a spring's rest must be a number or (lower, upper), not {self.rest!r}")
        if not (self.stiffness or self.damping or self.preload):
            raise ArgumentError("a spring needs a stiffness, a damping or a preload that is not 0")

    @property
    def has_damping(self) -> bool:
        """Whether the force depends on the rate."""
        return self.damping > 0

    stores = True

    def torque(self, d: Any, rate: Any) -> Any:
        """K (δ + rest) + D δ̇ + preload, with the deflection δ = −q, or θ − q in series."""
        tau = self._stretch(d) * self.stiffness + (rate * self.damping if self.damping else 0)
        return tau + self.preload if self.preload else tau

    def _stretch(self, d: Any) -> Any:
        """δ + rest; 0 where the spring is slack."""
        if isinstance(self.rest, tuple):
            return maximum(d + self.rest[0], 0) + minimum(d + self.rest[1], 0)
        return d + self.rest if self.rest else d

    def deflection(self, tau: Any) -> Any:
        """δ of a force at rest: (τ − preload) / K − rest."""
        if isinstance(self.rest, tuple) or not self.stiffness:
            raise ArgumentError(
                f"the deflection of {self} does not follow from its force: give a stiffness and one rest length"
            )
        return (tau - self.preload) / self.stiffness - self.rest

    def energy(self, d: Any) -> Any:
        """½ K (δ + rest)² + preload δ."""
        return self._stretch(d) * self._stretch(d) * self.stiffness / 2 + d * self.preload


@dataclass(frozen=True)
class SpringLaw:
    """τ = torque(δ, δ̇): a custom spring and damper, written with ``+ - * /`` and :mod:`torsor.scalar`.

    δ is θ − q in series, −q parallel to a joint.  ``inverse`` gives δ of a force at rest, which the motion of motors and
    equilibria need; ``stored`` the energy of a deflection [J].

    >>> stiffening = SpringLaw(lambda d, rate: 1000 * d + 4e6 * d * d * d, stored=lambda d: 500 * d * d + 1e6 * d**4)
    >>> stiffening.torque(0.01, 0.0)
    14.0
    """

    law: Callable[[Any, Any], Any]
    _: KW_ONLY
    inverse: Callable[[Any], Any] | None = None
    stored: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        for word, inputs in (("law", 2), ("inverse", 1), ("stored", 1)):
            if (given := getattr(self, word)) is not None and not isinstance(given, RecordedFunction):
                object.__setattr__(self, word, RecordedFunction.of(f"the {word} of a SpringLaw", given, inputs, outputs=1))
        if self.inverse is None:
            return
        for d in PROBES:
            back = self.deflection(self.torque(d, 0.0))
            if not math.isclose(back, d, rel_tol=1e-6, abs_tol=1e-9):
                raise ArgumentError(f"inverse(torque(δ, 0)) must be δ; at δ = {d} it is {back}")

    @property
    def has_damping(self) -> bool:
        """Whether the force depends on the rate."""
        return ("input", (1,)) in self.law.code  # type: ignore[attr-defined]

    @property
    def stores(self) -> bool:
        """Whether the energy of a deflection is known."""
        return self.stored is not None

    def torque(self, d: Any, rate: Any) -> Any:
        """The user's law."""
        return self.law(d, rate)[0]

    def deflection(self, tau: Any) -> Any:
        """δ of a force at rest, by ``inverse``."""
        if self.inverse is None:
            raise ArgumentError("the deflection of a force is needed: give the inverse, SpringLaw(torque, inverse=...)")
        return self.inverse(tau)[0]

    def energy(self, d: Any) -> Any:
        """Energy of a deflection, by ``stored``."""
        if self.stored is None:
            raise ArgumentError("the energy of a deflection is needed: give the integral, SpringLaw(torque, stored=...)")
        return self.stored(d)[0]


@dataclass(frozen=True)
class SeriesSpring:
    """An elastic joint: its motor θ drives the link through a spring, M q̈ + h = τ_e, B θ̈ + τ_e = τ (Spong 1987).

    ``stiffness`` and ``damping`` as of a :class:`Spring`, or a Spring or :class:`SpringLaw` in place of both.
    ``rotor_inertia`` B [kg·m², kg] is reflected to the link side, gear ratio² × the rotor's; default: the joint's armature.
    A rotor's energy is that of its own spin: the additional energy from the rotation of its link is neglected, as is usual
    for high gear ratios.

    >>> SeriesSpring(5000.0, rotor_inertia=0.2).law
    Spring(stiffness=5000.0, damping=0, rest=0, preload=0)
    """

    stiffness: float | Spring | SpringLaw
    damping: float = 0
    _: KW_ONLY
    rotor_inertia: float | None = None

    def __post_init__(self) -> None:
        B = self.rotor_inertia
        if B is not None and not (read.is_number(B) and 0 < B < math.inf):
            raise ArgumentError(
                f"a rotor's inertia must be positive and finite, not {B!r}; a joint without a rotor must be rigid"
            )
        if self.damping and isinstance(self.stiffness, (Spring, SpringLaw)):
            raise ArgumentError("give the damping in the spring's own law, or a stiffness and a damping")
        if isinstance(self.law, Spring) and not self.law.stiffness:
            raise ArgumentError(f"the stiffness between a motor and its link must be positive, not {self.law.stiffness!r}")

    @property
    def law(self) -> Spring | SpringLaw:
        """The force of the deflection θ − q."""
        return self.stiffness if isinstance(self.stiffness, (Spring, SpringLaw)) else Spring(self.stiffness, self.damping)


def curve(force: Callable[[Any, Any], Any], energy: Callable[[Any], Any] | None = None) -> SpringLaw:
    """A law f = force(L, L̇) of a joint's q, a length or a tendon L, in the direction in which L grows; with its energy(L) [J].

    >>> from torsor.scalar import maximum
    >>> cable = curve(lambda length, rate: -500.0 * maximum(length - 1.0, 0.0))
    """
    stored = None if energy is None else lambda d: energy(-d)
    return SpringLaw(lambda d, rate: force(-d, -rate), stored=stored)


def as_law(what: str, law: Any, allowed: str = "a Spring, a SpringLaw or a function force(length, rate)") -> Spring | SpringLaw:
    """A spring's law; a function of L and L̇ is one too."""
    if not isinstance(law, (Spring, SpringLaw)) and not (callable(law) and not isinstance(law, type)):
        raise ArgumentError(f"{what} needs {allowed}, not {law!r}")
    return law if isinstance(law, (Spring, SpringLaw)) else curve(law)


class SpringTerm(Term):
    """A law at a place: a deflection δ with its rate, and the force that the law makes of them."""

    law: Spring | SpringLaw
    kind = "spring"

    def row(self, model: Model) -> str:
        return self.kind if self.law.stores else "spring without energy"

    @abstractmethod
    def deflection(self, at: At) -> tuple[Scalar, Scalar]:
        """δ and δ̇."""

    def energy(self, at: At) -> Scalar:
        """The energy of the deflection [J]; 0 of a law that does not give it, whose force does work instead."""
        energy: Scalar = self.law.energy(self.deflection(at)[0]) if self.law.stores else 0
        return energy

    def heat(self, at: At) -> Scalar:
        """(τ(δ, δ̇) − τ(δ, 0)) δ̇ [W], which is D δ̇² of a linear damper."""
        d, rate = self.deflection(at)
        heat: Scalar = (self.law.torque(d, rate) - self.law.torque(d, 0)) * rate
        return heat

    def power(self, at: At) -> Scalar:
        """−τ(δ, 0) δ̇ [W] of a law that does not give its energy."""
        d, rate = self.deflection(at)
        return 0 if self.law.stores else -self.law.torque(d, 0) * rate


@dataclass(frozen=True)
class JointSpring(SpringTerm):
    """τ = law(δ, δ̇) on a joint, δ = −q; with a ``motor``, δ = θ − q and −τ on the motor, a joint of its own.

    The motor is a body on the root link without mass, whose joint ``elbow/motor`` has the rotor's inertia B as its armature.
    The joint's armature, effort limit and actuator are the motor's; so is its geared rotor (:meth:`Robot.with_rotors`), which
    spins on its mount with the energy of both motions.
    """

    joint: str
    law: Spring | SpringLaw
    motor: Joint | None = None

    places = ("joint",)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the term."""
        return f"{self.joint} {'spring' if self.motor is None else 'series spring'}"

    @property
    def wound(self) -> tuple[str, ...]:
        """The joints on which it acts, the motor last."""
        return (self.joint,) if self.motor is None else (self.joint, self.motor_name)

    @property
    def added(self) -> tuple[str, ...]:
        """The name of the motor's joint."""
        return () if self.motor is None else (self.motor_name,)

    @property
    def passive(self) -> tuple[str, ...]:
        """The joint, if its motor has the drive."""
        return () if self.motor is None else (self.joint,)

    @property
    def motor_name(self) -> str:
        """The name of the motor's joint; "" without a motor."""
        return "" if self.motor is None else f"{self.joint}/motor"

    def coordinates(self, description: Description) -> Description:
        """The description with the motor after its other joints."""
        if self.motor is None or any(j.name == self.motor_name for j in description.joints):
            return description
        j = next((j for j in description.joints if j.name == self.joint), None)
        if j is None or j.mimic is not None or j.kind.nq != 1 or j.kind.nv != 1:
            refuse_joint(description, self.joint)
        rotor = next((r for r in description.rotors if r.joint == self.joint), None)
        given = {word: getattr(self.motor, word) or getattr(j, word) for word in OF_MOTOR}
        if not any(given["armature"]) and rotor is None:
            raise ArgumentError(
                f"joint {self.joint!r} has no armature in the model; give the rotor inertia: SeriesSpring(..., rotor_inertia=B)"
            )
        mount = description.root if rotor is None else rotor.link
        kind = (Revolute if displacement_units(j.kind) == ["rad"] else Prismatic)(Vec(0, 0, 1))
        motor = replace(self.motor, name=self.motor_name, kind=kind, parent=mount, child=self.motor_name, **given)
        nothing: dict[str, Any] = dict.fromkeys(OF_MOTOR, ())
        link_side = replace(j, **nothing)
        joints = (*(link_side if x is j else x for x in description.joints), motor)
        rotors = tuple(replace(r, joint=self.motor_name) if r is rotor else r for r in description.rotors)
        return replace(description, links=(*description.links, Link(self.motor_name)), joints=joints, rotors=rotors)

    def with_joint_fields(self, changes: Mapping[str, Mapping[str, Any]]) -> JointSpring:
        """The term with other fields of its motor: friction, limits, armature."""
        fields = changes.get(self.motor_name)
        return replace(self, motor=replace(self.motor, **fields)) if self.motor is not None and fields else self

    def describe(self, model: Model) -> str:
        """Its law, and the motor."""
        return f"{self.law} at {self.joint}" + (f", driven by {self.motor_name}" if self.motor is not None else "")

    def force(self, at: At) -> Effort:
        """τ on the joint and −τ on its motor."""
        i = at.body_of(self.joint)
        tau = self.law.torque(*self.deflection(at))
        return Effort({i: [tau]} if self.motor is None else {i: [tau], at.body_of(self.motor_name): [-tau]})

    def deflection(self, at: At) -> tuple[Scalar, Scalar]:
        """δ and δ̇."""
        i = at.body_of(self.joint)
        if self.motor is None:
            return -at.qs[i][0], -at.vs[i][0]
        k = at.body_of(self.motor_name)
        return at.qs[k][0] - at.qs[i][0], at.vs[k][0] - at.vs[i][0]


def motors_of(model: Model) -> list[tuple[int, int]]:
    """The elastic joints and their motors, as numbers of bodies."""
    pairs = [term.wound for term in model.terms if isinstance(term, JointSpring) and term.motor is not None]
    return [(model.joint_names.index(joint), model.joint_names.index(motor)) for joint, motor in pairs]


def with_springs(d: Description, springs: Any) -> Description:
    """The robot with springs at the named joints in place of those there; None removes them.  Pairs of frames are not read.

    >>> from torsor import robots
    >>> elastic = {"joint2": SeriesSpring(900.0, rotor_inertia=0.2)}
    >>> with_springs(robots.description("two_link"), elastic).complete.joints[-1].name
    'joint2/motor'
    """
    single = {j.name: j for j in d.joints if j.kind.nq == j.kind.nv == 1 and j.mimic is None}
    named = springs if isinstance(springs, Mapping) else dict.fromkeys(single, springs)
    given = {name: spring for name, spring in named.items() if not isinstance(name, tuple)}
    for name in given:
        if name not in single:
            refuse_joint(d, name)
    made = [joint_spring(name, given[name]) for name in single if given.get(name) is not None]
    terms = [term for term in d.terms if not (isinstance(term, JointSpring) and term.joint in given)]
    return d.with_note(f"springs at {', '.join(given)}", terms=(*terms, *made)) if given else d


def joint_spring(joint: str, spring: Any) -> JointSpring:
    """The term of a spring at a joint: a :class:`Spring` or :class:`SpringLaw` parallel to it, or a :class:`SeriesSpring`."""
    if not isinstance(spring, SeriesSpring):
        return JointSpring(joint, as_law(f"joint {joint!r}", spring, "a Spring, a SpringLaw or a SeriesSpring"))
    B = spring.rotor_inertia
    return JointSpring(joint, spring.law, Joint("", Revolute(Vec(0, 0, 1)), "", "", armature=() if B is None else (B,)))


def refuse_joint(d: Description, name: str) -> NoReturn:
    """Raise the error of a joint that cannot have a spring."""
    j = find("joint", name, d.joints)
    why = "follows another joint" if j.mimic is not None else f"is {j.kind.name}"
    raise ModelError(f"joint {name!r} {why}; a spring needs a joint with exactly one coordinate")
