"""Forward dynamics of a large tree by F&O 27: one sparse matrix, factored in its perfect elimination order in O(N)."""

from __future__ import annotations

import numpy as np

from torsor.errors import SingularError
from torsor.mechanics.large.tree import Array, LargeTree, each_state
from torsor.mechanics.operators.bodies import BodyArrays
from torsor.mechanics.operators.operators import of_bodies


def forward_dynamics(tree: LargeTree, q: Array, v: Array, tau: Array) -> Array:
    """a = M(q)⁻¹ (τ − h(q, v)) from [[I, T], [Tᵀ, 0]] [a; −β] = [f_a − v × I v; Tᵀa₀] (F&O 27), ``(..., nv)``.

    Everything is filled and solved without a loop over bodies; states of a batch are solved one after the other.  Memory is
    linear, about 10 kB per body during the call.  Needs the extra ``sparse`` (SciPy).

    >>> import numpy as np
    >>> from torsor import large
    >>> rope = large.chain(3)
    >>> forward_dynamics(rope, rope.neutral(), np.zeros(3), np.zeros(3))  # it hangs
    array([0., 0., 0.])
    """
    return each_state(_solve_one_state, tree, q, v, tau)


def _solve_one_state(tree: LargeTree, q: Array, v: Array, tau: Array) -> Array:
    system = of_bodies(BodyArrays.of_tree(tree, q, v), v, tau)
    qdd = system.joint_acceleration(system.by_elimination()[0])
    if not np.isfinite(qdd).all():
        k = int(np.argmin(np.isfinite(qdd)))
        raise SingularError(
            f"the acceleration of coordinate {k} is not finite: its joint moves no mass, or the numbers overflow"
        )
    return qdd
