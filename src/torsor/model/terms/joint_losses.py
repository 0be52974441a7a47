"""Friction laws and viscous damping at the joints (MR §8.9.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torsor.model.terms.term import AtJoint, Effort, States, Term
from torsor.scalar import Scalar, Scalars, is_zero

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.description import Description, Joint
    from torsor.model.model import Model


@dataclass(frozen=True)
class JointFriction(AtJoint):
    """φ(v, ℓ) of the joint's laws, one per degree of freedom; bristles (LuGre) have a state z each.

    The laws are those of the model, at the joint's own velocity: a mimic joint moves at k v, with the load of its leader.
    """

    joint: str
    dry: bool = field(default=True, kw_only=True)  #: whether dry friction is in the force, or in the impulses of a step
    kind = "friction"

    def describe(self, model: Model) -> str:
        return ", ".join(str(law) for law in self._laws(model) if law is not None)

    def is_dry(self, model: Model) -> bool:
        """Whether a law can hold the joint at rest."""
        return any(law is not None and not law.states and law.holds for law in self._laws(model))

    def row(self, model: Model) -> str:
        return "dry friction" if self.is_dry(model) else self.kind

    def states(self, model: Model) -> States:
        count = len(self._bristles(model))
        return States((f"{self.joint} z",) * count, (0.0,) * count)

    def friction(self, at: At, load: Sequence[Scalars]) -> Effort:
        i = at.body_of(self.joint)
        z, force = iter(at.x_of(self)), []
        for law, v, through in zip(at.model.friction[i], at.vs[i], load[i], strict=True):
            if law is None:
                force.append(0)
            elif law.states and (bristle := next(z, None)) is not None:
                force.append(law.force(bristle, v, load=through))
            elif not self.dry and law.holds:
                force.append(law.drag(v))
            else:
                force.append(law.steady(v, through))
        return Effort({i: force})

    # -- bristles --------------------------------------------------------------------------------------------

    def rate(self, at: At) -> list[Scalar]:
        i = at.body_of(self.joint)
        rows = zip(at.x_of(self), self._bristles(at.model), strict=True)
        return [law.state_rate(z, at.vs[i][d], at.load[i][d]) for z, (d, law) in rows]

    def follow(self, begin: At, now: At, h: Scalar) -> list[Scalar]:
        """z after h at the mean velocity of the step so far, under the load of its beginning.

        That is exact at constant velocity, and z = z₀ + δ wherever bristles only bend, so each integrator keeps its own order
        there; elsewhere it is of order 2 at most, and no step is too long for stiff bristles.
        """
        i = now.body_of(self.joint)
        w, load = now.mean_rates(begin, h)[i], begin.load[i]
        return [law.step(z, w[d], h, load[d]) for z, (d, law) in zip(begin.x_of(self), self._bristles(now.model), strict=True)]

    def rest(self, at: At, load: Sequence[Scalars]) -> list[Scalar]:
        i = at.body_of(self.joint)
        return [law.steady_state(at.vs[i][d], load[i][d]) for d, law in self._bristles(at.model)]

    def energy(self, at: At) -> Scalar:
        total: Scalar = 0
        for z, (_, law) in zip(at.x_of(self), self._bristles(at.model), strict=False):
            total = total + law.stiffness * z * z / 2
        return total

    def _laws(self, model: Model) -> tuple[Any, ...]:
        return model.friction[model.joint_names.index(self.joint)]

    def _bristles(self, model: Model) -> list[tuple[int, Any]]:
        """The laws with a state, each with its degree of freedom."""
        return [(d, law) for d, law in enumerate(self._laws(model)) if law is not None and law.states]


@dataclass(frozen=True)
class Damping(Term):
    """−D v of the model's joints, of all or of those named [N·m, N]."""

    joints: tuple[str, ...] | None = None
    name: str = "damping"
    kind = "damping"
    places = ("joints",)
    joint_by_joint = True

    def describe(self, model: Model) -> str:
        return f"−D v of {'all joints' if self.joints is None else ', '.join(self.joints)}"

    def force(self, at: At) -> Effort:
        m = at.model
        bodies = range(1, len(m.parent)) if self.joints is None else map(at.body_of, self.joints)
        damped = [i for i in bodies if not all(map(is_zero, m.damping[i]))]
        return Effort({i: [-d * x for d, x in zip(m.damping[i], at.vs[i], strict=True)] for i in damped})

    def heat(self, at: At) -> Scalar:
        return -sum(x * v for i, force in self.force(at).joints.items() for x, v in zip(force, at.vs[i], strict=True))


def notes_on_omitted_losses(d: Description) -> list[str]:
    """Notes on the damping and the dry friction of a file that do not act: no term has them."""
    damped = [j.name for j in d.joints if any(j.damping) and not _acts(d, j)]
    rubbing = [j.name for j in d.joints if any(j.friction) and not any(law is not None for law in j.laws)]
    rows = (("damping", damped, "robot.with_damping(True)"), ("dry friction", rubbing, "robot.with_friction('urdf')"))
    return [
        f"the {what} of {', '.join(names[:3])}{', ...' if len(names) > 3 else ''} is left out; {how} includes it"
        for what, names, how in rows
        if names
    ]


def _acts(d: Description, j: Joint) -> bool:
    """Whether viscous damping of a joint acts: by its own law, or as damping."""
    damping = [term for term in d.terms if isinstance(term, Damping)]
    return any(law is not None for law in j.laws) or any(x.joints is None or j.name in x.joints for x in damping)
