"""A tree at one state as arrays, one row per body and one row per degree of freedom: the entries of the global matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from torsor.algorithms.kinematics import joints
from torsor.algorithms.massless import joint_without_inertia
from torsor.model import Model
from torsor.spatial.motion import six_numbers
from torsor.spatial.rigid.screws import skew
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.mechanics.large import LargeTree


@dataclass(frozen=True, eq=False)
class BodyArrays:
    """N bodies and k joint axes, each body in its own frame; k = n without mimic joints, which share a coordinate."""

    parent: Array  #: (N,) parent body, −1 for the base
    X: Array  #: (N, 6, 6) motions from λ(i) to i (MR 8.50)
    I: Array  #: (N, 6, 6) spatial inertias
    leader: Array  #: (N,) the body whose joint has the coordinates: the body itself, or the leader of a mimic joint
    rate: Array  #: (N, 6) Ṡ v, the part of ḣ q̇ beyond that of the body's own motion
    S: Array  #: (k, 6) columns of the joints' motion subspaces (F&O's h), in the order of the bodies
    body: Array  #: (k,) the body that each column belongs to
    coordinate: Array  #: (k,) the coordinate that drives it
    gain: Array  #: (k,) its ratio: 1 except for mimic joints
    armature: Array  #: (k,) the rotors' inertia
    gravity: Array  #: (3,) [m/s²], in the world
    n: int  #: coordinates
    names: tuple[str, ...] = ()  #: of the joints; () where bodies go by number
    singular: str = ""  #: error message if M of the model is singular at every configuration

    @classmethod
    def of_model(cls, model: Model, q: list[float], v: list[float]) -> BodyArrays:
        """A model at a state, from the recursions themselves."""
        X, S = joints(model, q)
        qs, vs = model.configuration(q), model.rates(v)
        own = range(1, len(model.parent))
        columns = [(i, d, s) for i in own for d, s in enumerate(S[i])]
        coupling = [model.coupling[i] for i, _, _ in columns]
        return cls(
            parent=np.array([model.parent[i] - 1 for i in own], dtype=np.int64),
            X=spatial_transforms(_floats([X[i].E for i in own], 3, 3), _floats([X[i].r for i in own], 3)),
            I=spatial_inertias(
                _floats([model.inertia[i].m for i in own]),
                _floats([model.inertia[i].h for i in own], 3),
                _floats([model.inertia[i].I for i in own], 6),
            ),
            leader=np.array([(c.leader if (c := model.coupling[i]) else i) - 1 for i in own], dtype=np.int64),
            rate=_floats([six_numbers(model.joint[i].bias(qs[i], vs[i])) for i in own], 6),
            S=_floats([six_numbers(s) for _, _, s in columns], 6),
            body=np.array([i - 1 for i, _, _ in columns], dtype=np.int64),
            coordinate=np.array([model.v_start[i] + d for i, d, _ in columns], dtype=np.int64),
            gain=_floats([1 if c is None else c.k for c in coupling]),
            armature=_floats([model.armature[i][d] for i, d, _ in columns]),
            gravity=_floats([*model.gravity], 3)[0],
            n=model.nv,
            names=tuple(model.joint_names[1:]),
            singular=joint_without_inertia(model),
        )

    @classmethod
    def of_tree(cls, tree: LargeTree, q: Array, v: Array) -> BodyArrays:
        """A large tree at a state, without a loop over its bodies."""
        E, r, S = tree.joints(q)
        return cls(
            parent=tree.parent,
            X=spatial_transforms(E, r),
            I=spatial_inertias(tree.mass, tree.h, tree.I),
            leader=np.arange(len(tree)),
            rate=tree.biases(q, v),
            S=S,
            body=tree.rows.body,
            coordinate=np.arange(tree.nv),
            gain=np.ones(tree.nv),
            armature=np.asarray(tree.armature),
            gravity=tree.gravity,
            n=tree.nv,
            names=tree.names,
        )

    def __len__(self) -> int:
        return len(self.parent)

    def name(self, i: int) -> str:
        """Name of body i in error messages."""
        return f"the child body of joint {self.names[i]!r}" if self.names else f"body {i}"


def spatial_transforms(E: Array, r: Array) -> Array:
    """X = [[E, 0], [−E[r], E]], (N, 6, 6), as :class:`torsor.spatial.Transform` has it in factors."""
    X = np.zeros((len(E), 6, 6))
    X[:, :3, :3] = X[:, 3:, 3:] = E
    X[:, 3:, :3] = -E @ skew(r)
    return X


def spatial_inertias(m: Array, h: Array, I: Array) -> Array:
    """G = [[I, [h]], [−[h], m]], (N, 6, 6) (MR 8.42); I by its six different entries."""
    G = np.zeros((len(m), 6, 6))
    G[:, :3, :3] = I[:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    G[:, :3, 3:] = skew(h)
    G[:, 3:, :3] = -G[:, :3, 3:]
    G[:, 3:, 3:] = m[:, None, None] * np.eye(3)
    return G


def _floats(rows: list, *shape: int) -> Array:
    return np.array(rows, dtype=float).reshape(-1, *shape)
