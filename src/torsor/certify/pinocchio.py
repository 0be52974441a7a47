"""The same robot in Pinocchio, where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from torsor.certify.comparison import Array, Comparison, Skip
from torsor.certify.peers import (
    Place,
    Translated,
    refuse_couplings,
    same_acceleration,
    same_force,
    same_mass,
    translated,
    unused_name,
    urdf,
)
from torsor.certify.rounding import EPS
from torsor.certify.subject import Subject

#: reading a file turns roll, pitch and yaw into a rotation and back, and shifts inertias to the centre of mass and back
READING = 8 * EPS


@dataclass(frozen=True)
class Twin:
    """The robot in Pinocchio's hands, and the samples in its coordinates."""

    model: Any
    data: Any
    state: Translated

    @classmethod
    def of(cls, s: Subject) -> Twin:
        if find_spec("pinocchio") is None:
            raise Skip("Pinocchio is not installed: pip install pin")
        import pinocchio as pin

        bare, text = urdf(s)
        free = bare.base == "floating"
        try:
            root = (pin.JointModelFreeFlyer(), unused_name(bare)) if free else ()
            model = pin.buildModelFromXML(text, *root)
        except (ValueError, RuntimeError) as error:
            raise Skip(f"Pinocchio does not read it: {error}") from error
        model.gravity.linear = np.array(bare.gravity, float)
        places, angles = [Place(0, 0)], []
        for i, _ in s.model.outward():
            joint = model.joints[1 if free and i == 1 else model.getJointId(s.model.joint_names[i])]
            places.append(Place(joint.idx_q, joint.idx_v))
            if joint.nq == 2:
                angles.append(joint.idx_q)
            model.armature[joint.idx_v : joint.idx_v + joint.nv] = _armature(s, i)
        state = translated(s, places, model.nq, model.nv)
        for k in angles:  # a continuous joint has (cos, sin)
            state.q[:, k], state.q[:, k + 1] = np.cos(state.q[:, k]), np.sin(state.q[:, k])
        return cls(model, model.createData(), state)

    def each(self, function: Callable[..., Array], *columns: Array) -> Array:
        """A function of Pinocchio's, one sample after another."""
        return np.array([np.array(function(self.model, self.data, *one)) for one in zip(*columns, strict=True)])


def _armature(s: Subject, i: int) -> list[float]:
    """In Pinocchio's order: linear before angular."""
    own = [float(x) for x in s.model.armature[i]]
    return own[3:] + own[:3] if s.model.joint[i].name == "floating" else own


def inverse_dynamics(s: Subject) -> Comparison:
    """τ of pinocchio.rnea"""
    t = s.twin(Twin)
    import pinocchio as pin

    x = t.state
    tau = t.each(pin.rnea, x.q, x.velocity(s.v), x.acceleration(s.a))
    return same_force(s, x.force(tau), READING)


def mass_matrix(s: Subject) -> Comparison:
    """M of pinocchio.crba, which fills the upper triangle."""
    t = s.twin(Twin)
    import pinocchio as pin

    upper = np.triu(t.each(pin.crba, t.state.q))
    return same_mass(s, t.state.mass(upper + np.swapaxes(np.triu(upper, 1), 1, 2)), READING)


def forward_dynamics(s: Subject) -> Comparison:
    """a of pinocchio.aba"""
    refuse_couplings(s)
    t = s.twin(Twin)
    import pinocchio as pin

    x = t.state
    a = t.each(pin.aba, x.q, x.velocity(s.v), x.force_there(s.tau))
    return same_acceleration(s, x.acceleration_back(a), READING)
