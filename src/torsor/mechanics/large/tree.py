"""LargeTree: a kinematic tree as arrays, one row per body, for up to a million bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.algorithms.massless import NO_INERTIA, check_inertia, generic_subspace
from torsor.errors import ModelError, SingularError, printable
from torsor.mechanics.large.joints import Group, counts, joint_states
from torsor.mechanics.large.single_freedoms import SingleFreedoms
from torsor.model.joints import JointType
from torsor.model.magnitudes import LARGEST, check_size
from torsor.model.model import Model
from torsor.model.terms.capabilities import refuse
from torsor.spatial import Inertia, Sym, Vec
from torsor.spatial.definite import lacks_inertia
from torsor.support.locks import cached_property
from torsor.support.user_arrays import Array, as_array

if TYPE_CHECKING:
    from torsor.robot import Robot


#: allowed deviation of E from a rotation: the error of six printed digits
ORTHONORMAL = 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class LargeTree:
    """A kinematic tree of N bodies; row i is a body and the joint that moves it.

    ``parent[i]`` < i is its parent body, −1 the fixed base.  ``types[kind[i]]`` is its joint type.  ``(E, r)[i]`` is the
    offset, the :class:`~torsor.spatial.Transform` from the parent's body frame to the joint frame.  ``mass`` [kg], ``h`` the
    first moment m·c [kg·m] and ``I`` the rotational inertia (xx, xy, xz, yy, yz, zz) [kg·m²] are about the body frame's
    origin.  ``armature`` (nv) is the rotors' inertia, ``names`` are the bodies' names in error messages.

    Coordinates follow the rows: joint i has q[q_start[i] : q_start[i] + nq of its type], v likewise.  Welds have no row:
    add a welded link to the body that carries it, as a Model does.

    >>> from torsor import large
    >>> tree = large.chain(3)
    >>> tree.parent
    array([-1,  0,  1])
    """

    parent: Array
    kind: Array
    types: tuple[JointType, ...]
    E: Array
    r: Array
    mass: Array
    h: Array
    I: Array
    armature: Array = None  # type: ignore[assignment]  # no rotors
    gravity: Array = (0.0, 0.0, -9.81)  # type: ignore[assignment]
    name: str = "tree"
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        put = lambda field, value: object.__setattr__(self, field, value)  # noqa: E731 the class is frozen for others
        n = len(np.atleast_1d(self.parent))
        put("parent", _as_integers(self.parent, n, "parent"))
        put("kind", _as_integers(self.kind, n, "kind"))
        put("types", tuple(self.types))
        self._check_tree()
        for field, shape in (("E", (3, 3)), ("r", (3,)), ("mass", ()), ("h", (3,)), ("I", (6,))):
            put(field, _numbers(getattr(self, field), (n, *shape), field))
        put("armature", _numbers(np.zeros(self.nv) if self.armature is None else self.armature, (self.nv,), "armature"))
        put("gravity", _numbers(self.gravity, (3,), "gravity"))
        put("names", tuple(self.names))
        self._check_bodies()

    def _check_tree(self) -> None:
        rows = np.arange(len(self.parent))
        wrong = np.flatnonzero((self.parent >= rows) | (self.parent < -1))
        if len(wrong):
            i = int(wrong[0])
            raise ModelError(f"parent[{i}] is {self.parent[i]}: the parent must be an earlier body, or -1 for the base")
        wrong = np.flatnonzero((self.kind < 0) | (self.kind >= len(self.types)))
        if len(wrong):
            i = int(wrong[0])
            raise ModelError(f"kind[{i}] is {self.kind[i]}, but there are {len(self.types)} joint types")
        for k, joint in enumerate(self.types):
            if not isinstance(joint, JointType):
                raise ModelError(f"types[{k}] must be a joint type such as torsor.joints.Revolute(axis), not {joint!r}")
            if joint.nv == 0:
                raise ModelError(f"types[{k}] is a weld ({joint.name}): add its mass to its parent body instead")
        if self.names and len(self.names) != len(self.parent):
            raise ModelError(f"{len(self.parent)} bodies need as many names, {len(self.names)} given")

    def _check_bodies(self) -> None:
        if (self.mass < 0).any():
            i = int(np.argmax(self.mass < 0))
            raise ModelError(f"the mass of {self.body_name(i)} is negative: {self.mass[i]} kg")
        if (self.armature < 0).any():
            raise ModelError(f"armature[{int(np.argmax(self.armature < 0))}] is negative")
        for rows in np.array_split(np.arange(len(self)), max(1, len(self) // 100_000)):  # little memory at a time
            E = self.E[rows]
            off = np.abs(np.einsum("nij,nkj->nik", E, E) - np.eye(3)).max(axis=(1, 2), initial=0)
            if (off > ORTHONORMAL).any():
                i = int(rows[np.argmax(off)])
                raise ModelError(f"E[{i}] is not a rotation: E Eᵀ differs from 1 by {off.max():.1e}")

    @classmethod
    def of(cls, robot: Robot | Model) -> LargeTree:
        """The rows of a robot or a model; row i is its body i + 1."""
        model: Model = robot if isinstance(robot, Model) else robot.model
        refuse(model, "large")
        types = tuple(dict.fromkeys(model.joint[1:]))
        number = {joint: k for k, joint in enumerate(types)}
        bodies = model.inertia[1:]
        n = len(bodies)
        tree = cls(
            parent=np.asarray(model.parent[1:], dtype=np.int64) - 1,
            kind=np.array([number[joint] for joint in model.joint[1:]], dtype=np.int64),
            types=types,
            E=np.array([X.E for X in model.offset[1:]], dtype=object).reshape(n, 3, 3),
            r=np.array([X.r for X in model.offset[1:]], dtype=object).reshape(n, 3),
            mass=np.array([G.m for G in bodies], dtype=object),
            h=np.array([G.h for G in bodies], dtype=object).reshape(n, 3),
            I=np.array([G.I for G in bodies], dtype=object).reshape(n, 6),
            armature=np.array([x for row in model.armature[1:] for x in row], dtype=object),
            gravity=np.array(model.gravity, dtype=object),
            name=model.name,
            names=model.joint_names[1:],
        )
        vars(tree)["_model"] = model
        return tree

    def __len__(self) -> int:
        return len(self.parent)

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(joint.name for joint in self.types))
        return f"<LargeTree {printable(self.name)}: {len(self)} bodies, {self.nv} freedoms; {kinds}>"

    def body_name(self, i: int) -> str:
        """Name of body i in error messages."""
        return f"{self.names[i]!r} (body {i})" if self.names else f"body {i}"

    # -- coordinates -----------------------------------------------------------------------------------------

    @cached_property
    def q_start(self) -> Array:
        """Index in q of the first coordinate of each joint."""
        return _starts(np.array([j.nq for j in self.types] or [0])[self.kind])

    @cached_property
    def v_start(self) -> Array:
        """Index in v of the first rate of each joint."""
        return _starts(counts(self))

    @cached_property
    def nq(self) -> int:
        return int(self.q_start[-1] + self.types[self.kind[-1]].nq) if len(self) else 0

    @cached_property
    def nv(self) -> int:
        return int(self.v_start[-1] + self.types[self.kind[-1]].nv) if len(self) else 0

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The bodies of each joint type."""
        return tuple(
            Group.of(joint, np.flatnonzero(self.kind == k), self.q_start, self.v_start, self.E, self.r)
            for k, joint in enumerate(self.types)
            if (self.kind == k).any()
        )

    @cached_property
    def tip_without_inertia(self) -> int | None:
        """A tip on a joint of several degrees of freedom whose D = SᵀIS + armature is singular at every configuration.

        A joint of one degree of freedom without inertia is found by its pivot, which is then zero.  Equal tips are checked
        once.  None if there is none.
        """
        for group in self.groups:
            tips = np.flatnonzero(~np.isin(group.bodies, self.parent))
            if group.joint.nv < 2 or not len(tips):
                continue
            bodies, S = group.bodies[tips], generic_subspace(group.joint)
            rows = np.column_stack([self.mass[bodies], self.h[bodies], self.I[bodies], self.armature[group.v[tips]]])
            different, first = np.unique(rows, axis=0, return_index=True)
            for (m, *more), i in zip(different.tolist(), bodies[first].tolist(), strict=True):
                if lacks_inertia(Inertia(m, Vec(*more[:3]), Sym(*more[3:9])), S, more[9:]):
                    return i
        return None

    def check_inertia(self) -> None:
        """Refuse a tree whose M is singular at every configuration; of a tree that no model was given for, check the tips."""
        if model := vars(self).get("_model"):
            check_inertia(model)
        elif self.tip_without_inertia is not None:
            i = self.tip_without_inertia
            raise SingularError(NO_INERTIA.format(self.names[i] if self.names else f"of body {i}"))

    @cached_property
    def is_chain(self) -> bool:
        """Whether the tree is an unbranched chain."""
        return bool((self.parent == np.arange(-1, len(self) - 1)).all())

    @cached_property
    def rows(self) -> SingleFreedoms:
        """One degree of freedom per row."""
        return SingleFreedoms.of(self)

    def neutral(self) -> Array:
        """The configuration in which every body frame coincides with its joint frame."""
        q = np.empty(self.nq)
        for g in self.groups:
            q[g.q] = g.joint.neutral()
        return q

    def random_configuration(self, rng: np.random.Generator, shape: tuple[int, ...] = ()) -> Array:
        """Coordinates drawn at random, ``(*shape, nq)``: angles within a turn, lengths within [−π, π] m."""
        q = np.empty((*shape, self.nq))
        for g in self.groups:
            free = [np.inf] * g.joint.nq
            columns = g.joint.random(rng, [-x for x in free], free, (*shape, len(g.bodies)))
            q[..., g.q] = np.stack(columns, axis=-1)
        return q

    # -- joints ----------------------------------------------------------------------------------------------

    def joints(self, q: Any) -> tuple[Array, Array, Array]:
        """(E, r, S): X = (E, r) from body λ(i) to body i (MR 8.50), and the columns of S in body frames.

        q is ``(..., nq)``; E ``(..., N, 3, 3)``, r ``(..., N, 3)``; S ``(..., nv, 6)``, whose row v_start[i] + d is column d
        of joint i's motion subspace (F&O's h).
        """
        return joint_states(self, True, check_state(q, self.nq, "q"))

    def motions(self, q: Any, v: Any, a: Any = None) -> tuple[Array, Array]:
        """(vJ, aJ), each ``(..., N, 6)``: the joints' twists S v and apparent accelerations S a + Ṡ v (F&O 4); no a: a = 0."""
        given = [check_state(x, self.nv, name) for x, name in ((v, "v"), (a, "a")) if x is not None]
        return joint_states(self, False, check_state(q, self.nq, "q"), *given)

    def biases(self, q: Any, v: Any) -> Array:
        """c = Ṡ v of each joint, ``(..., N, 6)``: the part of its acceleration beyond that of the body's own motion (F&O 4)."""
        return self.motions(q, v)[1]

    # -- dynamics --------------------------------------------------------------------------------------------

    def inverse_dynamics(self, q: Any, v: Any, a: Any) -> Array:
        """τ = M(q) a + h(q, v), ``(..., nv)``, in O(N) (RNEA; MR 8.50–8.54, F&O 3–8)."""
        from torsor.mechanics.large.recursions import inverse_dynamics

        return inverse_dynamics(self, check_state(q, self.nq, "q"), check_state(v, self.nv, "v"), check_state(a, self.nv, "a"))

    def forward_dynamics(self, q: Any, v: Any, tau: Any, method: str = "aba") -> Array:
        """a = M(q)⁻¹ (τ − h(q, v)), ``(..., nv)``.  ``method`` is one of :data:`torsor.mechanics.large.methods.METHODS`."""
        from torsor.mechanics.large.methods import forward_dynamics

        solve = forward_dynamics(method)
        self.check_inertia()
        state = check_state(q, self.nq, "q"), check_state(v, self.nv, "v"), check_state(tau, self.nv, "tau")
        return solve(self, *state) if self.nv else state[2]


def check_state(value: Any, n: int, name: str) -> Array:
    """A state variable as an array ``(..., n)`` of finite floats, or an error that names it."""
    from torsor.compile.arrays import as_rows, check_finite
    from torsor.compile.program import Argument

    argument = Argument(name, (n,))
    array = as_rows(argument, value, np.dtype(np.float64))
    if not np.isfinite(array).all():
        check_finite([argument], [array])
    return array


def each_state(method: Any, tree: LargeTree, *state: Array) -> Array:
    """One state after another: a large tree fills the lanes by itself."""
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in state))
    flat = [np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in state]
    return np.array([method(tree, *one) for one in zip(*flat, strict=True)]).reshape(*batch, tree.nv)


def massless_error(tree: LargeTree, body: int, state: tuple[int, ...] = ()) -> SingularError:
    """The error of a joint that moves no mass, in a state of a batch."""
    at = f" at batch index {state}" if state else ""
    return SingularError(
        f"the joint of {tree.body_name(int(body))} moves no mass{at}, so no torque gives it a finite acceleration; "
        "add inertia to the bodies it moves, or an armature to the joint"
    )


def _as_integers(value: Any, n: int, name: str) -> Array:
    array = np.asarray(value)
    if array.shape != (n,) or (array.dtype.kind not in "iu" and n):
        raise ModelError(f"{name} must be {n} whole numbers, one row per body, not {array.dtype} of shape {array.shape}")
    return np.ascontiguousarray(array, dtype=np.int64)


def _numbers(value: Any, shape: tuple[int, ...], name: str) -> Array:
    try:
        array = np.ascontiguousarray(as_array(name, value, dtype=np.float64)).reshape(np.shape(value))
    except (TypeError, ValueError):  # ArgumentError is a ValueError
        raise ModelError(f"{name} must be numbers of shape {shape}; symbols are not supported in a large tree") from None
    if array.shape != shape:
        raise ModelError(f"{name} has shape {array.shape}, expected {shape}")
    largest = LARGEST ** {"h": 2, "I": 3}.get(name, 1)  # m c and m c² of a mass and a length within the bound
    wrong = ~(np.abs(array) <= largest)
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        check_size(f"{name}[{', '.join(map(str, place))}]", float(array[place]), largest=largest)
    return array


def _starts(sizes: Array) -> Array:
    return np.cumsum(sizes) - sizes
