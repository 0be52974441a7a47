"""The same robot in Pinocchio, if installed: :func:`torsor.bridges.to_pinocchio`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from torsor.bridges import states, to_pinocchio
from torsor.checks.certify.comparison import Array, Comparison, Skip
from torsor.checks.certify.peers import (
    Peer,
    same_acceleration,
    same_force,
    same_mass,
    skip_unsupported,
    without_losses_and_shapes,
)
from torsor.checks.certify.rounding import EPS
from torsor.checks.certify.subject import Samples
from torsor.model import Description, Model
from torsor.model.joints import Continuous, Fixed, Prismatic, Revolute

#: the bridge shifts inertias to the centre of mass, and turns frames so that planes and screw axes are those of Pinocchio
BRIDGE = 8 * EPS


class PinocchioModel(Peer):
    """The robot as a ``pinocchio.Model``, with Pinocchio's mimic joints where these are correct, else independent joints."""

    @classmethod
    def of(cls, s: Samples) -> PinocchioModel:
        from torsor.robot import Robot

        with skip_unsupported("Pinocchio"):
            d = without_losses_and_shapes(s)
            model = to_pinocchio(Robot(d if supports_mimics(s.model) else uncouple(d)))
            return cls(model, model.createData(), states.pinocchio(s.tree, model), s)

    def each(self, function: Callable[..., Array], *columns: Array) -> Array:
        """A function of Pinocchio's, one sample after another."""
        return np.array([np.array(function(self.model, self.data, *one)) for one in zip(*columns, strict=True)])


def supports_mimics(model: Model) -> bool:
    """Whether Pinocchio computes the couplings of a robot, if any.

    Where other joints than hinges and sliders take part, 4.1 crashes, or its crba contradicts its rnea.
    """
    return not any(model.coupling) or all(isinstance(kind, (Fixed, Revolute, Prismatic)) for kind in model.joint)


def uncouple(d: Description) -> Description:
    """Every mimic joint independent, with its angle as q: (cos, sin) of continuous joints in Pinocchio is not linear in T."""
    plain = {j.name: Revolute(j.kind.axis) for j in d.joints if j.mimic and isinstance(j.kind, Continuous)}
    return replace(d, joints=tuple(replace(j, mimic=None, kind=plain.get(j.name, j.kind)) for j in d.joints))


def inverse_dynamics(s: Samples) -> Comparison:
    """τ of pinocchio.rnea"""
    t = s.twin(PinocchioModel)
    import pinocchio as pin

    return same_force(s, t.force(t.each(pin.rnea, t.q, t.v, t.a)), BRIDGE)


def mass_matrix(s: Samples) -> Comparison:
    """M of pinocchio.crba, which fills the upper triangle; with mimic joints, of the columns of pinocchio.rnea."""
    t = s.twin(PinocchioModel)
    import pinocchio as pin

    if t.model.nvExtended > t.model.nv:  # mimic joints: 4.1's crba contradicts its rnea beyond one (seed 85449 of the tests)
        return same_mass(s, t.mass(_by_columns(t)), BRIDGE)._replace(note="by columns of rnea: crba errs beyond mimic joints")
    upper = np.triu(t.each(pin.crba, t.q))
    return same_mass(s, t.mass(upper + np.swapaxes(np.triu(upper, 1), 1, 2)), BRIDGE)


def _by_columns(t: PinocchioModel) -> Array:
    """M column by column: M eₖ = rnea(q, 0, eₖ) without gravity."""
    import pinocchio as pin

    model = t.model.copy()
    model.gravity = pin.Motion.Zero()
    data, still = model.createData(), np.zeros(model.nv)
    columns = [[pin.rnea(model, data, q, still, unit).copy() for unit in np.eye(model.nv)] for q in t.q]
    return np.swapaxes(np.array(columns), 1, 2)


def forward_dynamics(s: Samples) -> Comparison:
    """a of pinocchio.aba"""
    t = s.twin(PinocchioModel)
    import pinocchio as pin

    for name, c in zip(s.model.joint_names, s.model.coupling, strict=True):
        if c is not None:
            raise Skip(
                f"{name!r} is a mimic joint of {s.model.joint_names[c.leader]!r}, which Pinocchio's aba does not support"
            )
    return same_acceleration(s, t.acceleration(t.each(pin.aba, t.q, t.v, t.tau)), BRIDGE)
