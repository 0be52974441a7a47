"""Equations of motion under constraints: M a − Aᵀλ = f, A a = g (F&O §3.4, MR §8.7).

F&O's three ways to solve them: all at once (:mod:`~.direct`, eq. 20), the multipliers first (:mod:`~.multipliers`, eq. 21),
and the motions first (:mod:`torsor.mechanics.constraints.null_space`, eq. 22), which needs the rank and therefore numbers.
Links without mass inside a loop: :mod:`~.augmented`.
λ acts on the robot: F&O's sign, the opposite of MR's.
"""

from torsor.algorithms.closed_loops.augmented import regular_force, regular_mass, solve_augmented
from torsor.algorithms.closed_loops.direct import solve_direct
from torsor.algorithms.closed_loops.multipliers import DEPENDENT, Saddle, solve_by_multipliers

__all__ = ["DEPENDENT", "Saddle", "regular_force", "regular_mass", "solve_augmented", "solve_direct", "solve_by_multipliers"]
