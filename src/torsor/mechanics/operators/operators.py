"""The equation of motion of all bodies at once (F&O §3.5): P, H, I, S, T as sparse matrices, eqs. 23–29 made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.forces import add_element_wrenches
from torsor.algorithms.kinematics import joints
from torsor.algorithms.wrenches import wrenches_on_bodies
from torsor.errors import SingularError, require_known
from torsor.kernels.options import Wrenches
from torsor.mechanics.operators import assembly
from torsor.mechanics.operators.bodies import Array, BodyArrays
from torsor.mechanics.operators.elimination import Elimination, eliminate, is_flat, kkt_matrix
from torsor.mechanics.operators.equations import Equations, check_equations
from torsor.model.terms.capabilities import refuse
from torsor.spatial.rigid.screws import ad_transpose, lie_bracket
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.robot import Robot

FRAMES = ("body", "world")


@dataclass(frozen=True, eq=False)
class Operators:
    """N bodies as one system, at one state: sparse matrices in F&O's letters, and eqs. 23–29.

    MR's stacked form (:mod:`torsor.algorithms.stacked`) has the same matrices, dense and over any scalar: 𝒲 = 1 − P, 𝒜 = H,
    𝒢 = I.  Rows 6i … 6i + 5 belong to body i, (ω, v) or (m, f), in its own frame, or all in the world's
    (``frame="world"``).  F&O write absolute coordinates, where P has blocks 1 and −1; in the frames of the bodies the −1 at
    (i, λ(i)) becomes −X_i, which takes motions from λ(i) to i.  A rotor (a joint's armature) is one more body, of one row
    after the 6N: its inertia is a number, and only a gear connects it, to its joint.  Then M = SᵀIS has the
    armatures in it.

    Accelerations are those of the bodies, gravity is a force among f_a.  A mimic joint's axis is added to its leader's
    column.  The system is that of the tree with its force elements; loops and other terms are not in it.
    """

    bodies: BodyArrays
    P: Any  #: incidence, lower triangular; P⁻¹ is φᵀ of the spatial operator algebra (F&O 29)
    H: Any  #: motion subspaces, [rows × n] (F&O 29)
    I: Any  #: inertias, block diagonal (F&O 23)
    T_joint: Any  #: wrenches through the joints that do no work: an orthonormal complement of H, T_Jᵀ H = 0
    dual: Any  #: joint forces → wrenches through the joints, Hᵀ dual = 1
    constrained: Array  #: which body each column of T_joint is counted with
    qd: Array  #: q̇ [n]
    tau: Array  #: joint forces [n]
    external: Array  #: wrenches on the bodies, those of force elements too [rows]
    v: Array  #: velocities, P⁻¹ H q̇ [rows]
    c: Array  #: Ḣ q̇, the velocity products of the joints [rows] (F&O 29)
    v_Iv: Array  #: v × I v, those of the bodies [rows] (F&O 23)
    gravity: Array  #: the acceleration of free fall [rows]
    frame: str = "body"

    def __repr__(self) -> str:
        rows, n = self.H.shape
        return f"<Operators: {rows} rows, nv={n}, frame={self.frame!r}>"

    # -- derived quantities ------------------------------------------------------------------------------

    @cached_property
    def S(self) -> Any:
        """S = P⁻¹H, [rows × n]: every body's Jacobian, one under the other (F&O 24).

        P = 1 − W, and W, from parents to children, is nilpotent: P⁻¹ = … (1 + W⁴)(1 + W²)(1 + W), as many factors as the depth
        has binary digits, each as sparse as P.
        """
        S, W = self.H, (assembly.scipy_sparse().eye_array(self.P.shape[0]) - self.P).tocsr()
        while W.nnz:
            S, W = S + W @ S, W @ W
        return S.tocsr()

    @cached_property
    def T(self) -> Any:
        """T = Pᵀ T_J, [rows × (rows − n)]: from constraint forces to wrenches on the bodies, TᵀS = 0 (F&O 27).

        A wrench through joint i acts on body i, and its reaction on λ(i): that is Pᵀ.
        """
        return (self.P.T @ self.T_joint).tocsr()

    @cached_property
    def M(self) -> Any:
        """M = SᵀIS = HᵀP⁻ᵀIP⁻¹H, the mass matrix, sparse where the tree branches: the Newton–Euler factorization."""
        return (self.S.T @ self.I @ self.S).tocsr()

    @cached_property
    def a0(self) -> Array:
        """a₀ = P⁻¹ Ḣq̇: the accelerations at constant q̇ (F&O 24)."""
        return self.from_base(self.c)

    @cached_property
    def f_a(self) -> Array:
        """f_a: the active forces on the bodies, of joints (Pᵀ dual τ), weights and external wrenches (F&O 25)."""
        return self.P.T @ (self.dual @ self.tau) + self.I @ self.gravity + self.external

    @cached_property
    def K(self) -> Any:
        """[[I, T], [Tᵀ, 0]], the matrix of F&O 27."""
        return kkt_matrix(self.I, self.T)

    @cached_property
    def elimination(self) -> Elimination:
        """The factors of K in its perfect elimination order, in O(N)."""
        self._check_inertia()
        return eliminate(self.bodies, self.I, self.T, self.constrained)

    def from_base(self, x: Array) -> Array:
        """P⁻¹ x, by substitution from the base to the tips (F&O 3)."""
        return assembly.scipy_sparse().linalg.spsolve_triangular(self.P, x, lower=True, unit_diagonal=True)

    def to_base(self, x: Array) -> Array:
        """P⁻ᵀ x, by substitution from the tips to the base (F&O 7)."""
        return assembly.scipy_sparse().linalg.spsolve_triangular(self.P.T.tocsr(), x, lower=False, unit_diagonal=True)

    # -- the equations ---------------------------------------------------------------------------------------

    def net_force(self, a: ArrayLike) -> Array:
        """f = I a + v × I v (F&O 23)."""
        return self.I @ np.asarray(a, float) + self.v_Iv

    def acceleration(self, qdd: ArrayLike) -> Array:
        """a = a₀ + S α, with α = q̈ for a tree (F&O 24)."""
        return self.a0 + self.from_base(self.H @ np.asarray(qdd, float))

    def constraint_force(self, a: ArrayLike) -> Array:
        """f_c = I a + v × I v − f_a, constraint forces of the joints on the bodies (F&O 25)."""
        return self.net_force(a) - self.f_a

    def by_projection(self) -> Array:
        """α = q̈ of SᵀIS α = Sᵀ(f_a − I a₀ − v × I v) (F&O 26)."""
        self._check_inertia()
        force = self.S.T @ (self.f_a - self.I @ self.a0 - self.v_Iv)
        return assembly.scipy_sparse().linalg.spsolve(self.M.tocsc(), force)

    def by_elimination(self) -> tuple[Array, Array]:
        """(a, β) of I a − T β = f_a − v × I v, Tᵀa = Tᵀa₀, in O(N) (F&O 27).

        Tᵀa₀ = T_Jᵀ Ḣq̇ needs no recursion: each joint contributes its own part.
        """
        return self.elimination.solve(self.f_a - self.v_Iv, self.T_joint.T @ self.c)

    def by_constraint_forces(self) -> Array:
        """β of TᵀI⁻¹T β = Tᵀa₀ − TᵀI⁻¹(f_a − v × I v) (F&O 28); every body needs an inertia that has an inverse.

        Joints of one body are coupled in this matrix: block tridiagonal for a chain, full where many joints share one body.
        """
        inverse = self._inertia_inverse()
        A = (self.T.T @ inverse @ self.T).tocsc()
        rate = self.T.T @ (self.a0 - inverse @ (self.f_a - self.v_Iv))
        return assembly.scipy_sparse().linalg.splu(A, "MMD_AT_PLUS_A", options={"SymmetricMode": True}).solve(rate)

    def joint_acceleration(self, a: ArrayLike) -> Array:
        """q̈ of P a = H q̈ + Ḣq̇ (F&O 29), for accelerations a that the joints allow."""
        return self.dual.T @ (self.P @ np.asarray(a, float) - self.c)

    def equations(self) -> Equations:
        """Eqs. 23–29 with both sides computed, each from the solution of another; ``print`` makes a table of it."""
        return check_equations(self)

    def _check_inertia(self) -> None:
        if self.bodies.singular:
            raise SingularError(self.bodies.singular)

    def _inertia_inverse(self) -> Any:
        b, flat = self.bodies, is_flat(self.bodies)
        if flat.any():
            raise SingularError(
                f"F&O 28 needs I⁻¹, and {b.name(int(np.argmax(flat)))} has no rotational inertia about some axis, or no mass; "
                "F&O 26 and 27 (by_projection, by_elimination) need only that every joint moves some inertia"
            )
        blocks = np.linalg.inv(self.I[: 6 * len(b), : 6 * len(b)].tobsr((6, 6)).data)
        rotor = np.divide(1.0, b.armature, out=np.zeros_like(b.armature), where=b.armature != 0)
        return assembly.inertia(replace(b, I=blocks, armature=rotor))


def operators(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    wrenches: Wrenches | None = None,
    expressed_in: str = "body",
    frame: str = "body",
) -> Operators:
    """P, H, I, S, T of a robot's tree at one state, and F&O 23–29 made of them.  Needs the extra ``sparse`` (SciPy).

    ``v`` and ``tau`` are zero unless given; ``wrenches`` act on the robot, each at its frame, in its own axes or in
    ``expressed_in="world"``.  ``frame`` is "body", each row in its body's own frame, or "world", the absolute coordinates of
    F&O, in which P has blocks 1 and −1 only.

    >>> import torsor as ts
    >>> o = operators(ts.robots.two_link(), [0.0, 0.5])
    >>> (o.P.shape, o.H.shape, o.T.shape)
    ((12, 12), (12, 2), (12, 10))
    >>> o.M.toarray().round(3)
    array([[4.755, 1.878],
           [1.878, 1.   ]])
    """
    from torsor.kernels.one_state import one_state, one_wrench_each

    require_known("frame=", frame, FRAMES)
    refuse(robot.model, "operators")
    zero = np.zeros(robot.nv)
    q, v, t = one_state(robot, q=q, v=zero if v is None else v, tau=zero if tau is None else tau)
    on = wrenches_on_bodies(robot.model, one_wrench_each(robot, wrenches, q, expressed_in))
    f = add_element_wrenches(robot.model, on, *joints(robot.model, q), v)
    external = np.array([[*F.m, *F.f] for F in f[1:]], dtype=float).ravel()
    body = of_bodies(BodyArrays.of_model(robot.model, q, v), np.array(v), np.array(t), external)
    return body if frame == "body" else in_world(body)


def of_bodies(b: BodyArrays, v: Array, tau: Array, external: Array | None = None) -> Operators:
    """The operators of a tree given as arrays, in the frames of its bodies."""
    P, H, I = assembly.incidence(b), assembly.freedoms(b), assembly.inertia(b)
    T_joint, constrained = assembly.joint_constraints(b)
    solve = assembly.scipy_sparse().linalg.spsolve_triangular
    joint = H @ v
    V = solve(P, joint, lower=True, unit_diagonal=True)  # F&O 3, all at once

    rows, cut = P.shape[0], 6 * len(b)
    c, v_Iv, fall, pushed = np.zeros((4, rows))
    c[:cut] = (lie_bracket(_rows(V, b), _rows(joint, b)) + b.rate).ravel()  # F&O 4: ḣ q̇ = v × h q̇ + Ṡ q̇
    v_Iv[:cut] = -ad_transpose(_rows(V, b), _rows(I @ V, b)).ravel()
    pushed[:cut] = 0.0 if external is None else external
    first = np.flatnonzero(b.parent < 0)
    fall[assembly.body_rows(first)] = b.X[first, :, 3:] @ b.gravity
    return Operators(
        bodies=b, P=P, H=H, I=I, T_joint=T_joint, dual=assembly.joint_forces(b), constrained=constrained,
        qd=v, tau=tau, external=pushed, v=V, c=c, v_Iv=v_Iv, gravity=solve(P, fall, lower=True, unit_diagonal=True),
    )  # fmt: skip


def in_world(o: Operators) -> Operators:
    """The same system in absolute coordinates, F&O's own: P has blocks 1 and −1."""
    b, sp = o.bodies, assembly.scipy_sparse()
    first = np.flatnonzero(b.parent < 0)
    base = np.zeros((o.P.shape[0], 6))
    base[assembly.body_rows(first)] = b.X[first]
    X0 = o.from_base(base)[: 6 * len(b)].reshape(-1, 6, 6)  # from the world to each body: P X0 = X of the first
    back = np.roll(X0.transpose(0, 2, 1), (3, 3), axis=(1, 2))  # X⁻¹ is Xᵀ with its halves exchanged
    rotor = sp.eye_array(len(assembly.rotors(b)))
    every = assembly.body_rows(np.arange(len(b)))
    shape = (6 * len(b), 6 * len(b))
    motion = sp.block_diag([assembly.from_blocks(back, every, every, shape), rotor], format="csr")
    force = sp.block_diag([assembly.from_blocks(X0.transpose(0, 2, 1), every, every, shape), rotor], format="csr")
    return Operators(
        bodies=b, P=assembly.incidence(b, np.broadcast_to(np.eye(6), b.X.shape)), H=(motion @ o.H).tocsr(),
        I=(force @ o.I @ force.T).tocsr(), T_joint=(force @ o.T_joint).tocsr(), dual=force @ o.dual, constrained=o.constrained,
        qd=o.qd, tau=o.tau, external=force @ o.external, v=motion @ o.v, c=motion @ o.c, v_Iv=force @ o.v_Iv,
        gravity=motion @ o.gravity, frame="world",
    )  # fmt: skip


def _rows(x: Array, b: BodyArrays) -> Array:
    """The part of the bodies, (N, 6), without the rotors."""
    return x[: 6 * len(b)].reshape(-1, 6)
