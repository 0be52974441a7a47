"""The recursive Newton–Euler algorithm body by body, as a table to follow with the book open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms import rotors
from torsor.algorithms.kinematics import velocities
from torsor.algorithms.rnea import inward, outward
from torsor.errors import printable, require_known
from torsor.kernels.one_state import one_state, one_wrench_each
from torsor.kernels.options import Wrenches
from torsor.model.description import FLOATING_BASE
from torsor.spatial import Motion, Transform
from torsor.spatial.rigid.reading import pose_matrix
from torsor.spatial.vector import IDENTITY
from torsor.support.text import columns, vector

if TYPE_CHECKING:
    from torsor.robot import Robot

#: symbols in the books for the pose of the parent, the twist, the acceleration, the wrench, the joint force
LETTERS = {"MR": ("T", "V", "V̇", "F", "τ"), "Featherstone": ("X", "v", "a", "f", "τ")}
PLACES = ("link", "com")
#: smaller values are shown as zero
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class NewtonEulerRow:
    """One body of the recursion: number, joint, link, parent λ(i); arrays in the body's frame, angular part first."""

    i: int
    joint: str
    link: str
    parent: int
    T: np.ndarray  #: T_{i,λ(i)}, 4×4: the parent's frame seen from this one (MR 8.50)
    V: np.ndarray  #: twist (ω, v) (MR 8.51, F&O 3)
    A: np.ndarray  #: its rate, gravity as an upward acceleration of the base (MR 8.52, F&O 4)
    F: np.ndarray  #: wrench (m, f) through the joint (MR 8.53, F&O 7)
    tau: np.ndarray  #: joint force, SᵀF (MR 8.54, F&O 8)
    rotor: np.ndarray  #: additional joint force for its armature and its rotor (MR 8.112)


@dataclass(frozen=True, eq=False)
class NewtonEulerTable:
    """The recursion at one state.  ``rows[i − 1]`` is body i; ``tau`` (nv) is M a + h, inverse dynamics of the tree."""

    robot: str
    rows: tuple[NewtonEulerRow, ...]
    tau: np.ndarray

    def table(self, letters: str = "MR", *, digits: int = 4) -> str:
        """The recursion as text, in the letters of ``"MR"`` or ``"Featherstone"``.

        MR: T_{i,λ} = (R, p), V_i, V̇_i, F_i, τ_i.  Featherstone: X_{i,λ} = plux(E, r), v_i, a_i, f_i, τ_i.
        """
        require_known("letters=", letters, LETTERS)
        out = [f"{printable(self.robot)}: recursive Newton–Euler, each body in its own frame"]
        for row in self.rows:
            where = f"on body {row.parent}" if row.parent else "on the base"
            head = [f"body {row.i}: {row.joint}, {row.link}, {where}", "x", "y", "z", "x", "y", "z"]
            lines = [[f"  {name}", *(_number(x, digits) for x in numbers)] for name, numbers in self._lines(row, letters)]
            out.append(columns(head, [[*line, *[""] * (7 - len(line))] for line in lines]))
        return "\n".join(out)

    def _lines(self, row: NewtonEulerRow, letters: str) -> list[tuple[str, Any]]:
        T, V, A, F, t = LETTERS[letters]
        i, p, R = row.i, row.parent, row.T[:3, :3]
        origin, names = (row.T[:3, 3], "(R, p)") if letters == "MR" else (-R.T @ row.T[:3, 3], "(E, r)")
        pose = [(f"{T}_{i},{p}  {names}" if k == 0 else "", [*R[k], origin[k]]) for k in range(3)]
        vectors = [(f"{V}_{i}  (ω, v)", row.V), (f"{A}_{i}  (ω̇, v̇)", row.A), (f"{F}_{i}  (m, f)", row.F)]
        return [*pose, *vectors, (f"{t}_{i}", row.tau), *([(f"{t}_{i}  rotor", row.rotor)] if row.rotor.any() else [])]

    def _repr_html_(self) -> str:
        from torsor.look.explain.html import of_newton_euler_table

        return of_newton_euler_table(self)

    def __repr__(self) -> str:
        bodies = "1 body" if len(self.rows) == 1 else f"{len(self.rows)} bodies"
        return f"<NewtonEulerTable of {self.robot!r}: {bodies}, τ = {vector(self.tau)} [N·m, N]; print() shows them>"

    def __str__(self) -> str:
        return self.table()


def newton_euler_table(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    at: str = "link",
    expressed_in: str = "body",
) -> NewtonEulerTable:
    """T_{i,λ(i)}, V_i, V̇_i, F_i, τ_i of every body, from the recursion's own steps (MR 8.50–8.54, F&O 3–8).

    ``at`` selects the frame of a body: ``"link"``, the frame of the link as described, or ``"com"``, with its axes and at the
    body's centre of mass, as MR chooses.  Links welded together are one body, named by the first with mass.  The base is the
    world's frame, at rest, with acceleration (0, −g).  ``expressed_in`` are the axes of the wrenches, "body" or "world".
    The recursion is that of the tree with its force elements: τ = M a + h, with or without loops and other terms.

    >>> import torsor as ts
    >>> trace = newton_euler_table(ts.robots.two_link(), [0.0, 0.0], [1.0, 0.0], [0.0, 0.0])
    >>> trace.rows[1].V, trace.tau.round(2)
    (array([0., 0., 1., 0., 1., 0.]), array([29.43,  9.81]))
    """
    require_known("at=", at, PLACES)
    model = robot.model
    qs, vs, acc = one_state(robot, q=q, v=v, a=a)
    X, S, A, F = outward(model, qs, vs, acc, one_wrench_each(robot, wrenches, qs, expressed_in))
    V = velocities(model, X, S, vs)
    F = inward(model, X, F)
    tau, rotor = [list(S[i].T @ F[i]) for i in range(len(S))], rotors.joint_forces(model, A, acc)
    links = _links(robot)
    Y = [Transform.identity(), *(_place(robot, i, links[i], at) for i, _ in model.outward())]
    rows = []
    for i, p in model.outward():
        seen = Y[i] @ X[i] @ Y[p].inverse
        spatial = Motion(A[i].alpha, A[i].a - A[i].w.cross(V[i].v))
        parts = {"V": Y[i] @ V[i], "A": Y[i] @ spatial, "F": Y[i].inverse.T @ F[i]}
        six = {name: np.array([*x[0], *x[1]], float) for name, x in parts.items()}
        own = {"tau": np.array(tau[i], float), "rotor": np.array(rotor[i], float)}
        rows.append(NewtonEulerRow(i, model.joint_names[i], links[i], p, pose_matrix(*seen.inverse.pose), **six, **own))
    total = model.gather_forces([[t + r for t, r in zip(*pair, strict=True)] for pair in zip(tau, rotor, strict=True)])
    return NewtonEulerTable(robot.name, tuple(rows), np.array(total, float))


def _links(robot: Robot) -> list[str]:
    """A link of each body: the child link of its joint, or the body's first link with mass if that one is massless."""
    model, description = robot.model, robot.description.complete
    moved = {FLOATING_BASE: description.root} | {j.name: j.child for j in description.joints}
    out = [""]
    for i, _ in model.outward():
        name = moved[model.joint_names[i]]
        heavy = [x.name for x in description.links if x.inertia.m and model.frame(x.name).body == i]
        out.append(name if name in heavy or not heavy else heavy[0])
    return out


def _place(robot: Robot, i: int, link: str, at: str) -> Transform:
    """From body i's frame to the one its row is written in."""
    X = robot.model.frame(link).X
    if at == "link":
        return X
    c = (X.inverse.T @ robot.model.inertia[i]).com
    return Transform(IDENTITY, c) @ X


def _number(x: float, digits: int) -> str:
    return f"{x if abs(x) > ROUNDING else 0:.{digits}g}"
