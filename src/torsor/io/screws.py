"""A serial robot from its screw axes, as Modern Robotics writes it: home poses, spatial inertias, screws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.errors import ModelError
from torsor.io.shared.chain import ChainRow, chain
from torsor.io.shared.poses import snap_rotation
from torsor.model.description import EARTH, Description
from torsor.model.joints import Helical, JointType, Prismatic, Revolute
from torsor.model.magnitudes import LARGEST, check_size
from torsor.scalar import tidy
from torsor.spatial import Inertia, Motion, Sym, Transform, Vec
from torsor.spatial import arguments as read
from torsor.spatial.vector import IDENTITY

#: a pitch [m/rad] or an axis component below this times its size is rounding
_ROUNDING = 1e-12


def from_mr(Mlist: Any, Glist: Any, Slist: Any, name: str = "robot", gravity: Any = EARTH) -> Description:
    """T_{i−1,i} = M_{i−1,i} e^{[A_i]θ_i}: the lists of Modern Robotics ch. 8 as a robot.

    ``Mlist`` n+1 home poses M_{i−1,i} (4×4) of frame {i} in {i−1}, the last one the end-effector's; ``Glist`` n spatial
    inertias (6×6) in {i}; ``Slist`` (6×n) screw axes in the space frame at home.  A full G, of a frame {i} away from the centre
    of mass, is read as [[I, [h]], [−[h], m]].  ω = 0 is a prismatic joint, ω·v ≠ 0 a helical one, else a revolute one.

    Links are ``base``, ``link1``, ..., with {i} as their frame; joints ``joint1``, ...; the last pose is that of frame
    ``end_effector``.

    >>> M = np.eye(4)
    >>> d = from_mr([M, M], [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T)
    >>> [j.name for j in d.joints], d.link("link1").inertia.m
    (['joint1', 'joint1_axis_weld'], 2.0)
    """
    S = np.asarray(read.as_nested_lists(Slist), dtype=float)
    if S.ndim != 2 or S.shape[0] != 6 or S.shape[1] == 0:
        raise ModelError(f"Slist must have shape (6, n), one screw axis per column; its shape is {S.shape}")
    check_size("Slist", *S.ravel().tolist())
    n = S.shape[1]
    if len(Mlist) != n + 1:
        raise ModelError(f"Mlist must have n + 1 = {n + 1} poses for {n} screws (the last one the tip's), not {len(Mlist)}")
    if len(Glist) != n:
        raise ModelError(f"Glist must have {n} inertias for {n} screws, not {len(Glist)}")
    steps = [_pose(M, f"Mlist[{i}]") for i, M in enumerate(Mlist)]
    home, local = Transform.identity(), []
    for i, step in enumerate(steps[:-1]):
        home = step @ home
        local.append(home @ Motion.of([float(x) for x in S[:, i]]))  # A_i = [Ad_{M_i⁻¹}] S_i (MR §8.3.1)
    return _chain(name, steps, local, [_inertia(G, f"Glist[{i}]") for i, G in enumerate(Glist)], gravity)


def from_screws(
    screws: Sequence[Any],
    poses: Sequence[Any],
    inertias: Sequence[Any],
    tip: Any = None,
    name: str = "robot",
    gravity: Any = EARTH,
) -> Description:
    """T_i(θ) = e^{[S_1]θ_1} ⋯ e^{[S_i]θ_i} M_i (MR 4.14): every link's home pose and the screws that move it.

    ``screws`` n screw axes S_i = (ω, v), a row each; ``poses`` the home poses M_i (4×4) of the link frames; both in the space
    frame.  ``inertias`` one per link: a 6×6 matrix in the link frame, or (mass, com, inertia about the com).  ``tip`` is the
    home pose of frame ``end_effector``, that of the last link unless given.
    """
    n = len(screws)
    if not n or len(poses) != n or len(inertias) != n:
        raise ModelError(f"{n} screws need {n} poses and {n} inertias (and n > 0); {len(poses)} and {len(inertias)} given")
    homes = [_pose(M, f"poses[{i}]") for i, M in enumerate(poses)]
    homes.append(homes[-1] if tip is None else _pose(tip, "tip"))
    before = [Transform.identity(), *homes]
    steps = [X @ B.inverse for X, B in zip(homes, before, strict=False)]
    local = []
    for i, s in enumerate(screws):
        six = [read.scalar(x, f"screws[{i}]") for x in read.as_list(s, 6, f"screws[{i}]")]
        check_size(f"screws[{i}]", *six)
        local.append(homes[i] @ Motion.of(six))
    return _chain(name, steps, local, [_inertia(G, f"inertias[{i}]") for i, G in enumerate(inertias)], gravity)


def _chain(name: str, steps: list[Transform], local: list[Motion], inertias: list[Inertia], gravity: Any) -> Description:
    """Links and joints of a chain, from the steps between link frames and each joint's screw in its link's frame."""
    rows, notes = [], list[str]()
    for i, (A, G) in enumerate(zip(local, inertias, strict=True), start=1):
        kind, on_axis = _joint(A, i, notes)
        # the joint frame has {i}'s axes and its origin on the screw axis; ``back`` leads to {i}
        back = Transform(IDENTITY, -on_axis)
        rows.append(ChainRow(kind, G, back.inverse @ steps[i - 1], back))
    return chain(name, rows, steps[-1], gravity, notes)


def _joint(A: Motion, i: int, notes: list[str]) -> tuple[JointType, Vec]:
    """The joint of a screw, and the point of its axis nearest the origin: ω × v (MR 3.3.2.2); the pitch is ω·v."""
    numbers = [float(x) for x in (*A.w, *A.v)]
    scale = max(1.0, *map(abs, numbers))
    w, v = (np.array([0.0 if abs(x) < _ROUNDING * scale else x for x in part]) for part in (numbers[:3], numbers[3:]))
    turning = bool(w.any())
    size = float(np.linalg.norm(w if turning else v))
    if abs(size - 1) > 1e-4:
        part = "|ω|" if turning else "|v|"
        raise ModelError(f"screw {i} is not normalised: {part} = {size:g}, and must be 1 for θ to be its angle or distance")
    if abs(size - 1) > 1e-9:
        notes.append(f"screw {i} normalised: its length was {size:.12g}")
    axis = Vec(*(tidy(float(x)) for x in (w if turning else v) / size))
    if not turning:
        return Prismatic(axis), Vec(0, 0, 0)
    w, v = w / size, v / size
    pitch = float(w @ v)
    point = Vec(*(0 if abs(x) < _ROUNDING * scale else tidy(float(x), 0.0) for x in np.cross(w, v)))
    return (Revolute(axis) if abs(pitch) < _ROUNDING * scale else Helical(axis, pitch)), point


def _pose(M: Any, what: str) -> Transform:
    """A 4×4 home pose, checked to be one."""
    T = _matrix(M, 4, what)
    R = T[:3, :3]
    if np.abs(R.T @ R - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0 or np.abs(T[3] - [0, 0, 0, 1]).max() > 1e-9:
        raise ModelError(f"{what} is not a rigid motion: its upper 3×3 must be a rotation and its last row (0, 0, 0, 1)")
    return Transform.of_pose(snap_rotation(R), read.vector(T[:3, 3], what))


def _matrix(given: Any, n: int, what: str, largest: float = LARGEST) -> np.ndarray:
    """An n×n matrix of finite numbers, checked to be one."""
    M = np.asarray(read.as_nested_lists(given), dtype=float)
    if M.shape != (n, n) or not np.isfinite(M).all():
        raise ModelError(f"{what} must be a {n}×{n} matrix of finite numbers; its shape is {M.shape}")
    check_size(what, *M.ravel().tolist(), largest=largest)
    return M


def _inertia(G: Any, what: str) -> Inertia:
    """[[I, [h]], [−[h], m]] (MR 8.32, or F&O's form where the frame is away from the centre), or (mass, com, inertia)."""
    if isinstance(G, Inertia):
        return G
    if isinstance(G, (list, tuple)) and len(G) == 3:
        return read.mass_properties(G[0], G[1], G[2], (0, 0, 0), what)
    M = _matrix(G, 6, what, LARGEST**3)
    H, m = M[:3, 3:], float(np.trace(M[3:, 3:])) / 3
    size = 1e-9 * max(float(np.abs(M).max()), math.ulp(0.0))
    if np.abs(M - M.T).max() > size or np.abs(M[3:, 3:] - m * np.eye(3)).max() > size or np.abs(H + H.T).max() > size:
        raise ModelError(f"{what} is not a spatial inertia [[I, [h]], [−[h], m 1]]: symmetric, [h] skew, one mass for all axes")
    if m < 0:
        raise ModelError(f"{what}: mass {m} kg is negative")
    h = Vec(*(read.scalar(x, what) for x in (H[2, 1], H[0, 2], H[1, 0])))
    return Inertia(read.scalar(m, what), h, Sym.of([[read.scalar(x, what) for x in row] for row in M[:3, :3]]))
