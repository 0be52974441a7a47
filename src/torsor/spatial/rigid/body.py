"""One rigid body: its 6×6 inertia, momentum, energy, inverse and forward dynamics, in any frame (MR §8.2).

All quantities are in one frame fixed to the body.  With the frame at the centre of mass 8.43 is 8.40: the form is the same.
Twists, accelerations and wrenches are arrays (..., 6), leading axes a batch; the body is an Inertia or a 6×6 matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, SingularError
from torsor.scalar import Scalar
from torsor.spatial import Force, Inertia, Motion, Sym, Vec, arguments
from torsor.spatial.arguments import InertiaLike, VectorLike
from torsor.spatial.rigid import reading as read
from torsor.support.text import numbers

Body = Inertia | ArrayLike


def from_com(mass: Scalar, com: VectorLike = (0, 0, 0), *, inertia: InertiaLike = None, rpy: VectorLike = (0, 0, 0)) -> Inertia:
    """I_o = R I_c Rᵀ + m(cᵀc 1 − c cᵀ): from mass [kg], centre of mass [m] and inertia about it [kg·m²] (MR 8.26, 8.27).

    ``inertia`` is 3×3, six numbers (ixx, ixy, ixz, iyy, iyz, izz), three (the diagonal) or None (a point), in axes turned
    from the frame's by ``rpy`` [rad], as in a URDF's ``<inertial>``.  Works over any scalar.

    >>> from_com(2, (1, 0, 0)).I.yy
    2.0
    """
    return arguments.mass_properties(mass, com, inertia, rpy, "body")


def to_matrix(inertia: Inertia) -> np.ndarray:
    """G = [[I_o, [h]], [−[h], m 1]] (6×6) about the frame's origin, h = m c (MR 8.32, 8.42).

    Floats, or an array of objects where the inertia has symbols.

    >>> to_matrix(from_com(2, inertia=(3, 4, 5))).diagonal()
    array([3., 4., 5., 2., 2., 2.])
    """
    read.any_inertia(inertia)
    m, H = inertia.m, inertia.h.skew()
    below = [[m if i == j else 0 for j in range(3)] for i in range(3)]
    top = [[*a, *b] for a, b in zip(inertia.I.rows, H, strict=True)]
    return numbers([*top, *([*a, *b] for a, b in zip(H.T, below, strict=True))])


def from_matrix(G: ArrayLike) -> Inertia:
    """(m, h, I_o) of G = [[I_o, [h]], [−[h], m 1]] (6×6), checked to be of that form (MR 8.32, 8.42).

    >>> from_matrix(np.diag([3.0, 4, 5, 2, 2, 2])).I
    Sym(xx=3.0, xy=0.0, xz=0.0, yy=4.0, yz=0.0, zz=5.0)
    """
    M = read.single_array(G, (6, 6), "G")
    m = float(np.trace(M[3:, 3:])) / 3
    size = 1e-9 * float(np.abs(M).max(initial=0))
    form = "a spatial inertia is [[I, [h]], [−[h], m 1]]"
    if np.abs(M - M.T).max() > size:
        raise ArgumentError(f"G is not symmetric; {form}")
    if np.abs(M[3:, 3:] - m * np.eye(3)).max() > size:
        raise ArgumentError(f"G[3:, 3:] is not one mass for all axes; {form} (an articulated body's is not)")
    if np.abs(M[:3, 3:] + M[:3, 3:].T).max() > size:
        raise ArgumentError(f"G[:3, 3:] is not skew-symmetric; {form}")
    if m < 0:
        raise ArgumentError(f"G: mass {m} kg is negative")
    I = Sym.of(M[:3, :3].tolist())
    return Inertia(m, Vec(float(M[2, 4]), float(M[0, 5]), float(M[1, 3])), I)


def momentum(body: Body, V: ArrayLike) -> np.ndarray:
    """P = G V = (I_o ω + h × v, m v + ω × h) (..., 6) [N·m·s, N·s] (MR 8.34).

    >>> momentum(from_com(2, inertia=(3, 4, 5)), [1, 1, 1, 1, 1, 1])
    array([3., 4., 5., 2., 2., 2.])
    """
    return _six(_body(body) @ read.motion(V, "V"))


def kinetic_energy(body: Body, V: ArrayLike) -> np.ndarray:
    """K = ½ Vᵀ G V (...) [J]; at the centre of mass ½ ωᵀI_c ω + ½ m vᵀv (MR 8.33).

    >>> float(kinetic_energy(from_com(2, inertia=(3, 4, 5)), [1, 0, 0, 0, 0, 1]))
    2.5
    """
    return np.asarray(_body(body).kinetic_energy(read.motion(V, "V")), dtype=float)


def inverse_dynamics(body: Body, V: ArrayLike, dV: ArrayLike) -> np.ndarray:
    """F = G V̇ − [ad_V]ᵀ G V (..., 6) [N·m, N]: the wrench of a motion, gravity's included (MR 8.40, 8.43; SLIDES).

    ``dV`` is the derivative of the body twist's components [rad/s², m/s²], not the acceleration of a point.

    >>> inverse_dynamics(from_com(2), [0, 0, 3, 1, 0, 0], [0] * 6)  # turning takes m ω × v
    array([0., 0., 0., 0., 6., 0.])
    """
    I, V_, A = _body(body), read.motion(V, "V"), read.motion(dV, "dV")
    return _six(I @ A + V_.cross(I @ V_))  # MR 8.43; V ×* is −[ad_V]ᵀ


def forward_dynamics(body: Body, V: ArrayLike, F: ArrayLike) -> np.ndarray:
    """V̇ = G⁻¹(F + [ad_V]ᵀ G V) (..., 6) [rad/s², m/s²]: the motion of a wrench (MR 8.40, 8.43 solved; SLIDES).

    SingularError for a body without inertia about some axis (a point, a line).

    >>> forward_dynamics(from_com(2, inertia=(3, 4, 5)), [0] * 6, [3, 4, 5, 2, 4, 6])
    array([1., 1., 1., 1., 2., 3.])
    """
    I, V_ = _body(body), read.motion(V, "V")
    scale = 1e-13 * max(map(abs, (I.I.xx, I.I.yy, I.I.zz)))  # rounding error of a zero after Steiner's term
    if not I.m > 0 or np.linalg.eigvalsh(np.array(I.about_com.rows, dtype=float))[0] <= scale:
        raise SingularError(
            "the body has no inertia about some axis (a point, a line, or no mass): its acceleration is not finite"
        )
    right = _six(read.force(F, "F") - V_.cross(I @ V_))
    return np.linalg.solve(to_matrix(I), right[..., None])[..., 0]


def newton_euler(mass: float, inertia: ArrayLike, V: ArrayLike, dV: ArrayLike) -> np.ndarray:
    """m_b = I_b ω̇ + [ω] I_b ω, f_b = m(v̇ + [ω] v) (..., 6) [N·m, N], at the centre of mass (MR 8.22, 8.23; ASADA 7.1.1–7.1.3).

    The classical form, with matrices and cross products, independent of the twist form: a check of
    :func:`inverse_dynamics`.  ``inertia`` is 3×3 about the centre of mass [kg·m²].

    >>> newton_euler(2, np.diag([3, 4, 5]), [1, 1, 0, 0, 0, 0], [0] * 6)
    array([0., 0., 1., 0., 0., 0.])
    """
    I = read.single_array(inertia, (3, 3), "inertia")
    V, dV = read.array(V, (6,), "V"), read.array(dV, (6,), "dV")
    w, v = V[..., :3], V[..., 3:]
    moment = dV[..., :3] @ I.T + np.cross(w, w @ I.T)  # MR 8.23
    force = read.single_array(mass, (), "mass") * (dV[..., 3:] + np.cross(w, v))  # MR 8.22
    return np.concatenate(np.broadcast_arrays(moment, force), axis=-1)


def euler_principal(moments: ArrayLike, w: ArrayLike, dw: ArrayLike) -> np.ndarray:
    """m_x = I_xx ω̇_x + (I_zz − I_yy) ω_y ω_z and so on (..., 3) [N·m], in principal axes at the centre of mass (MR 8.25).

    >>> euler_principal([3, 4, 5], [1, 1, 0], [0, 0, 0])
    array([0., 0., 1.])
    """
    x, y, z = (float(i) for i in read.single_array(moments, (3,), "moments"))
    o, do = read.vec(w, "w"), read.vec(dw, "dw")
    return read.stack([x * do.x + (z - y) * o.y * o.z, y * do.y + (x - z) * o.x * o.z, z * do.z + (y - x) * o.x * o.y])


def _body(body: Body) -> Inertia:
    return read.numeric_inertia(body, "body") if isinstance(body, Inertia) else from_matrix(body)


def _six(x: Motion | Force) -> np.ndarray:
    return read.stack([*x[0], *x[1]])
