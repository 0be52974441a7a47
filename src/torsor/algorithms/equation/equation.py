"""EquationOfMotion: a model and its terms as one equation, read forwards, backwards and in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from torsor.algorithms.equation.at import At
from torsor.algorithms.friction import NEWTON_STEPS
from torsor.algorithms.reactions import joint_forces_of_wrenches, reaction_wrenches
from torsor.algorithms.wrenches import in_frame_axes
from torsor.model.model import Model
from torsor.model.moving_base import on_moving_base
from torsor.model.regrouping import with_fewest_parameters
from torsor.model.terms.constraint import PROJECTION, Constraint, Settling
from torsor.model.terms.loop import JointConstraint
from torsor.model.terms.numbers import put_numbers, take_numbers
from torsor.model.terms.term import ConstraintRows, Effort, Term
from torsor.scalar import Dual, Scalar, Scalars, is_zero, rate, value
from torsor.spatial import Force
from torsor.support.locks import cached_property


class Applied(NamedTuple):
    """Forces that act on the tree: joint forces (nv), and wrenches by frame or body."""

    tau: list[Scalar]
    wrenches: dict[Any, Any]


@dataclass(frozen=True)
class EquationOfMotion:
    """M a + h = τ − φ + Σ f + Jᵀf + Aᵀλ, A a = −(Ȧv − ḃ): a model with its terms.

    ``rows`` are the rows that the others follow from, in configurations that fulfil the constraints (F&O 18's L).
    ``numbers`` of the constraints are slots, to be given as inputs of the kernels.
    """

    model: Model
    rows: tuple[int, ...] = ()
    numbers: int = 0

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms, in the order in which they were attached."""
        return self.model.terms

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """The terms with rows."""
        return tuple(c for c in self.terms if isinstance(c, Constraint))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The motion that each row constrains, ``"loop: vx"``, in the order of A and λ."""
        return tuple(f"{c.name}: {label}" for c in self.constraints for label in c.labels())

    @property
    def depends_on_time(self) -> bool:
        """Whether a term reads the time."""
        return self.model.depends_on_time

    @property
    def loops(self) -> dict[str, JointConstraint]:
        """The joints that close loops, by name."""
        return {c.name: c for c in self.constraints if isinstance(c, JointConstraint)}

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """The names of the entries of x."""
        return tuple(name for term in self.terms for name in term.states(self.model).names)

    @cached_property
    def settling(self) -> Any:
        """How steps of fixed length stay on the rows (:class:`~torsor.model.terms.constraint.Settling`)."""
        return next((term.method for term in self.terms if isinstance(term, Settling)), PROJECTION)

    @cached_property
    def lean(self) -> EquationOfMotion:
        """The equation of the model with fewest inertial parameters."""
        return replace(self, model=with_fewest_parameters(self.model))

    def of_model(self, model: Model) -> EquationOfMotion:
        """The equation of a model whose constants may be inputs: with fewest parameters already."""
        other = replace(self, model=model)
        vars(other).update(lean=other)
        return other

    def with_terms(self, terms: Iterable[Term]) -> EquationOfMotion:
        """The equation of the same bodies with other terms."""
        return replace(self, model=self.model.with_same_mass_matrix(terms=tuple(terms)))

    @cached_property
    def _rubs(self) -> bool:
        """Whether a term has friction."""
        return any(type(term).friction is not Term.friction for term in self.terms)

    # -- first-order states x, and commands ----------------------------------------------------------------------

    @cached_property
    def start(self) -> tuple[float, ...]:
        """x at the start, where it is not given."""
        return tuple(x for term in self.terms for x in term.states(self.model).start)

    @cached_property
    def transmits(self) -> bool:
        """Whether joint forces are not the commands: a term has an actuator or a drive."""
        return any(type(term).transmit is not Term.transmit for term in self.terms)

    def transmit(self, at: At, command: Scalars, begin: At | None = None, h: Scalar = 0) -> list[Scalar]:
        """τ (nv), the joint forces from commands; the states that are followed are first those h [s] after ``begin``."""
        at.dt = at.dt if begin is None else begin.dt
        for term in self.terms if self.transmits or self.state_names else ():
            at.commands[term.name] = command
            if begin is not None and term.states(self.model).size:
                ticks = type(term).tick is not Term.tick
                at.put(term, begin.x_of(term) if ticks or is_zero(h) else term.follow(begin, at, h))
            command = term.transmit(at, command)
        if begin is None and self.state_names:
            at.load = by_body(at.model, self.loads(self.load(at, command)))
        return list(command)

    def x_of(self, at: At) -> list[Scalar] | None:
        """x, from the states by term; None where there are none."""
        return [x for term in self.terms for x in at.x_of(term)] if self.state_names else None

    def next_states(self, begin: At, end: At, command: Scalars, dt: Scalar) -> list[Scalar]:
        """x at the end of a step of dt [s]."""
        self.transmit(end, command, begin, dt)
        for term in self.terms:
            if type(term).tick is not Term.tick:
                end.put(term, term.tick(begin, dt))
        return self.x_of(end) or []

    # -- slots for numbers ---------------------------------------------------------------------------------------

    def with_slots(self, first: int) -> tuple[EquationOfMotion, tuple[float, ...]]:
        """The equation with slots for the numbers of the constraints from ``first`` on, and the numbers."""
        slotted, numbers = take_numbers(self.constraints[first:])
        return self._with_constraints((*self.constraints[:first], *slotted), len(numbers)), numbers

    def with_numbers(self, numbers: Sequence[Any]) -> EquationOfMotion:
        """The equation with numbers in the slots; the names of rows are those of the slots."""
        filled = self._with_constraints(put_numbers(self.constraints, numbers), 0)
        vars(filled).update(names=self.names)
        return filled

    def _with_constraints(self, constraints: Sequence[Constraint], numbers: int) -> EquationOfMotion:
        new = iter(constraints)
        terms = tuple(next(new) if isinstance(term, Constraint) else term for term in self.terms)
        return replace(self.with_terms(terms), numbers=numbers)

    # -- forces --------------------------------------------------------------------------------------------------

    def model_at(self, t: Any = None) -> Model:
        """The tree at a time: with its base in motion, if a term moves it."""
        moved = [motion for term in self.terms if (motion := term.base(0 if t is None else t)) is not None]
        return on_moving_base(self.model, moved[0]) if moved else self.model

    def at(
        self,
        q: Scalars,
        v: Scalars | None = None,
        t: Any = None,
        x: Scalars | None = None,
        wrenches: Mapping[str, Any] | None = None,
        axes: str = "body",
    ) -> At:
        """The robot at a state, with its :class:`Inputs`; without x, terms with states are where these rest."""
        rest = iter(x or ())
        named = {term.name: list(islice(rest, term.states(self.model).size)) for term in self.terms} if x else {}
        at = At(self.model_at(t), q, v, 0 if t is None else t, named)
        on = wrenches or {}
        at.wrenches = on if axes == "body" else {frame: in_frame_axes(at.model, q, frame, F) for frame, F in on.items()}
        return at

    def stack_rows(self, at: At) -> ConstraintRows:
        """φ, A, b and Ȧv − ḃ of all constraints."""
        return stack_rows(self.constraints, at)

    def constraint_wrenches(self, at: At, multipliers: Scalars) -> dict[int, Force]:
        """T λ of constraints between frames, by body; those in joint coordinates act within joints."""
        rest = iter(multipliers)
        return sum_wrenches(c.wrenches(at, list(islice(rest, c.size))) or {} for c in self.constraints)

    def forces(self, at: At) -> Effort:
        """Σ f of all terms: joint forces (nv) and wrenches by body."""
        efforts = [term.force(at) for term in self.terms]
        return Effort({0: joint_forces(at.model, [e.joints for e in efforts])}, sum_wrenches(e.wrenches for e in efforts))

    def friction(self, at: At, load: Scalars, terms: Sequence[Term] | None = None) -> list[Scalar]:
        """φ(v, ℓ) (nv) of all terms, or of some."""
        m = at.model
        loads = by_body(m, load)
        return joint_forces(m, [term.friction(at, loads).joints for term in (self.terms if terms is None else terms)])

    def load(self, at: At, tau: Scalars) -> list[Scalar]:
        """ℓ, the joint force behind friction: ℓ + φ(v, ℓ) = τ, by Newton's method where a law depends on ℓ (MR §8.9.4)."""
        load = list(tau)
        if not self._rubs:
            return load
        there = at.lifted()
        for _ in range(NEWTON_STEPS):
            phi = self.friction(there, [x if is_zero(x) else Dual(x, 1) for x in self.loads(load)])  # by its own load
            if all(is_zero(rate(x)) for x in phi):
                return [t - value(x) for t, x in zip(tau, phi, strict=True)]
            load = [l - (l + value(x) - t) / (1 + rate(x)) for l, x, t in zip(load, phi, tau, strict=True)]
        return load

    def loads(self, load: Scalars) -> list[Scalar]:
        """ℓ, 0 at joints without a drive."""
        return [0 if i in self.model.passive else x for i, x in enumerate(load)]

    def before_friction(self, at: At, load: Scalars) -> list[Scalar]:
        """τ = ℓ + φ(v, ℓ)."""
        return [x + y for x, y in zip(load, self.friction(at, self.loads(load)), strict=True)] if self._rubs else list(load)

    def applied(self, at: At, tau: Scalars) -> Applied:
        """The forces on the tree under joint forces τ and the wrenches of a call."""
        force, on = self.applied_without_friction(at)
        return Applied([x + y for x, y in zip(self.load(at, tau), force, strict=True)], on)

    def net_force(self, q: Scalars, v: Scalars, tau: Scalars, t: Any = None, x: Scalars | None = None) -> list[Scalar]:
        """ℓ + Σ f (nv): the joint force on the tree, under joint forces τ, that has the effect of all terms without rows."""
        at = self.at(q, v, t, x)
        return [y + z for y, z in zip(self.load(at, tau), self._own_force(at), strict=True)]

    def needed_force(self, q: Scalars, v: Scalars, net: Scalars, t: Any = None, x: Scalars | None = None) -> list[Scalar]:
        """τ (nv) under which the joint force on the tree is ``net``: the inverse of :meth:`net_force`."""
        at = self.at(q, v, t, x)
        return self.before_friction(at, [y - z for y, z in zip(net, self._own_force(at), strict=True)])

    def _own_force(self, at: At) -> list[Scalar]:
        """Σ f (nv) of all terms, those of wrenches as joint forces."""
        force, on = self.applied_without_friction(at)
        pushed = joint_forces_of_wrenches(at.model, *at.kinematics, on) if on else [0] * self.model.nv
        return [y + z for y, z in zip(force, pushed, strict=True)]

    def applied_without_friction(self, at: At) -> Applied:
        """The same without joint forces: those of the terms and the wrenches of a call."""
        own = self.forces(at)
        return Applied(list(own.joints[0]), {**at.wrenches, **own.wrenches})


def by_body(model: Model, load: Scalars) -> list[Scalars]:
    """Joint forces (nv) by body; those of a mimic joint are its leader's."""
    return [load[model.v_start[i] : model.v_start[i] + model.joint[i].nv] for i in range(len(model.parent))]


def sum_wrenches(parts: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    """The sum of wrenches by body."""
    on: dict[Any, Any] = {}
    for part in parts:
        for body, F in part.items():
            on[body] = on[body] + F if body in on else F
    return on


def joint_reactions(e: EquationOfMotion, at: At, a: Scalars, wrenches: Mapping[Any, Any]) -> list[list[Scalar]]:
    """The wrench of each joint on its child link, drive and bearing together; without that of a moving base."""
    found = reaction_wrenches(at.model, at.q, at.v, a, wrenches)
    return found[len(at.model.parent) - len(e.model.parent) :]


def stack_rows(constraints: Sequence[Constraint], at: At) -> ConstraintRows:
    """All rows, one under the other."""
    parts = [ConstraintRows([], [], [], []), *(c.rows(at) for c in constraints)]
    return ConstraintRows(*([x for column in columns for x in column] for columns in zip(*parts, strict=True)))


def joint_forces(model: Model, by_term: Sequence[Mapping[int, Scalars]]) -> list[Scalar]:
    """The sum of joint forces (nv); a mimic joint's force counts k times on its leader."""
    total: list[list[Scalar]] = [[] for _ in model.parent]
    for joints in by_term:
        for body, force in joints.items():
            total[body] = [x + y for x, y in zip(total[body], force, strict=True)] if total[body] else list(force)
    return model.gather_forces(total)
