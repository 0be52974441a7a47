"""Physical consistency of ten inertial parameters: the pseudo-inertia P must be positive semidefinite.

P = ∫ (r, 1)(r, 1)ᵀ dm = [[Σ, h], [hᵀ, m]] (4×4), Σ = ∫ r rᵀ dm = ½ tr(I_o) 1 − I_o.  P ⪰ 0 implies that the mass and the
principal moments are not negative and that no moment exceeds the sum of the other two (MR §8.2.1 has the first half; P is
Wensing, Kim & Slotine, "Linear matrix inequalities for physically consistent inertial parameter identification", 2018).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.errors import ArgumentError, ModelError
from torsor.spatial import Inertia, Sym, Vec
from torsor.spatial.rigid import physical
from torsor.spatial.rigid import reading as read


def pseudo_inertia(inertia: Inertia) -> np.ndarray:
    """P = [[Σ, h], [hᵀ, m]] (4×4), Σ = ½ tr(I_o) 1 − I_o [kg·m², kg·m, kg]; P_a = T_ab P_b T_abᵀ in another frame.

    >>> from torsor.rigid import from_com
    >>> pseudo_inertia(from_com(2, inertia=(3, 4, 5))).diagonal()
    array([3., 2., 1., 2.])
    """
    I = read.numeric_inertia(inertia)
    P = np.empty((4, 4))
    P[:3, :3] = _second_moment(np.array(I.I.rows, dtype=float))
    P[:3, 3] = P[3, :3] = I.h
    P[3, 3] = I.m
    return P


def from_pseudo_inertia(P: ArrayLike) -> Inertia:
    """m, h, I_o = tr(Σ) 1 − Σ from P = [[Σ, h], [hᵀ, m]] (4×4): the inverse of :func:`pseudo_inertia`.

    >>> from_pseudo_inertia(np.diag([3, 2, 1, 2])).I
    Sym(xx=3.0, xy=0.0, xz=0.0, yy=4.0, yz=0.0, zz=5.0)
    """
    A = read.single_array(P, (4, 4), "P")
    if np.abs(A - A.T).max() > 1e-9 * np.abs(A).max():
        raise ArgumentError("P must be symmetric")
    return Inertia(float(A[3, 3]), Vec(*A[:3, 3].tolist()), Sym.of(_rotational(A[:3, :3]).tolist()))


def inertia_problems(inertia: Inertia) -> list[str]:
    """Reasons why the inertia is physically impossible; empty if it is possible: m ≥ 0, λ_i ≥ 0, λ_3 ≤ λ_1 + λ_2 (MR §8.2.1).

    The tolerance is a millionth of the largest moment, as when a robot is loaded: files have about six digits.

    >>> from torsor.rigid import from_com
    >>> inertia_problems(from_com(1, inertia=(1, 1, 3)))
    ['a principal moment exceeds the sum of the other two (1, 1, 3 kg·m²)']
    """
    I = read.numeric_inertia(inertia)
    return [f"its mass is negative ({I.m:.4g} kg)"] if I.m < 0 else physical.inertia_problems(I)


def is_consistent(inertia: Inertia) -> bool:
    """P ⪰ 0: whether the inertia is physically possible; :func:`inertia_problems` gives the reasons if not.

    >>> from torsor.rigid import from_com
    >>> is_consistent(from_com(1, inertia=(1, 1, 2))), is_consistent(from_com(1, inertia=(1, 1, 3)))
    (True, False)
    """
    return not inertia_problems(inertia)


class Correction(NamedTuple):
    """Result of :func:`nearest_consistent`: the inertia, its distance from the given one [kg·m²], and a list of changes."""

    inertia: Inertia
    distance: float
    changes: tuple[str, ...]


def nearest_consistent(inertia: Inertia, *, smallest: float = 0.0) -> Correction:
    """min ‖P′ − P‖_F over P′ ⪰ 0 with the mass and the centre of mass held: the nearest inertia that a body can have.

    Held so, only Σ_c = ½ tr(I_c) 1 − I_c, the second moment about the centre of mass, may change, and the result is Σ_c with
    its eigenvalues below ``smallest`` [kg·m²] raised to it.  This norm is in kg·m² throughout, and the result is the same body
    whatever frame the inertia is given in; a free projection of P would add kilograms to kg·m² and depend on the frame.
    ``smallest`` above zero gives a body that is thick in every direction.  A negative mass raises ModelError.
    Without mass, the first moment of mass becomes zero, too.

    >>> from torsor.rigid import from_com
    >>> fixed = nearest_consistent(from_com(1, inertia=(1, 1, 3)))
    >>> fixed.inertia.I, fixed.distance, fixed.changes
    (Sym(xx=1.5, xy=0.0, xz=0.0, yy=1.5, yz=0.0, zz=3.0), 0.5, ('principal moments 1, 1, 3 → 1.5, 1.5, 3 kg·m²',))
    """
    I = read.numeric_inertia(inertia)
    if I.m < 0:
        raise ModelError(f"inertia: mass {I.m} kg is negative, and the nearest inertia keeps the mass; correct it first")
    if not smallest >= 0 or not np.isfinite(smallest):
        raise ArgumentError(f"smallest: a finite number, zero or more, expected, not {smallest!r}")
    changes, moved = [], 0.0
    if I.m == 0 and any(I.h):
        h = np.array(I.h, dtype=float)
        moved = 2 * float(np.square(h).sum())  # h occurs in P twice
        changes.append(f"first moment of mass {_list_numbers(h)} → 0, 0, 0 kg·m")
        I = Inertia(I.m, Vec(0, 0, 0), I.I)
    about_com = np.array(I.about_com.rows, dtype=float)
    values, axes = np.linalg.eigh(_second_moment(about_com))
    raised = np.maximum(values, smallest)
    # for a flat body, a zero within the rounding error of subtracting Steiner's term counts as zero
    rounding = 1e-14 * max(map(abs, (I.I.xx, I.I.yy, I.I.zz)))
    if values[0] < smallest - rounding:
        now = _rotational(axes * raised @ axes.T)
        before, after = np.linalg.eigvalsh(about_com), np.linalg.eigvalsh(now)
        changes.append(f"principal moments {_list_numbers(before)} → {_list_numbers(after)} kg·m²")
        moved += float(np.square(raised - values).sum())
        I = Inertia.of(I.m, I.com, Sym.of(now.tolist()))
    return Correction(I, float(np.sqrt(moved)), tuple(changes))


def _second_moment(I: np.ndarray) -> np.ndarray:
    S: np.ndarray = np.trace(I) / 2 * np.eye(3) - I
    return S


def _rotational(S: np.ndarray) -> np.ndarray:
    I: np.ndarray = np.trace(S) * np.eye(3) - S
    return I


def _list_numbers(values: ArrayLike) -> str:
    return ", ".join(format(x + 0.0, ".4g") for x in np.asarray(values, dtype=float))
