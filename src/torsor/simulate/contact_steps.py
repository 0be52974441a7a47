"""Steps of a simulation through contact: those of a rollout, repeated from their own impulses until these are converged.

A step begins the search of its impulses with the forces in x.  The same step with the forces that it found goes on with the
search, so that no other kernel is needed.  The kernel is that of ``robot.step`` with the work of the impulses, for the audit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.model.terms.contacts import contact_places
from torsor.simulate.events import StepInterval
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.simulate.term_states import TermStates
    from torsor.simulate.time_loop import Run

#: residual [m/s] at which impulses are converged, and above which a note says that they are not, as rounding may hold them up
CONVERGED, NOTED = 1e-10, 1e-9
#: searches after which a step is taken as it is
MOST = 200
#: searches without a smaller residual after which rounding, or a contact that has no solution, is the reason
STALLED = 8


class ContactStep:
    """Steps of first order as a source of intervals; between its ends a step has the velocity of its end."""

    def __init__(self, run: Run, integrator: str, states: TermStates):
        self.run, self.states, self.robot = run, states, run.system.robot
        self.kernel = self.robot.kernel(("step_and_work", integrator), wrenches=run.system.frames)
        self.forces, self.residuals = contact_places(self.robot.model)
        self.worst, self.time = 0.0, 0.0  #: the largest residual [m/s], and its time

    def restart(self) -> None:
        """One-step methods have no history."""

    def settle(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """Each step is on the constraints already."""
        return q, v

    def advance(self, t: float, q: Array, v: Array, stop: float) -> StepInterval:
        u = self.states.command(t, q, v)
        more = *([t] if self.run.system.timed else []), *self.run.wrenches(t, q, v)
        x = np.array(self.states.x)

        def search(x: Array) -> Any:
            return self.kernel(q, v, u, stop - t, x, *more)

        found = best = search(x)
        left = least = self._residual(found[2])
        stalled = 0
        for _ in range(MOST):
            if left <= CONVERGED or stalled >= STALLED:
                break
            x[self.forces] = found[2][self.forces]
            found = search(x)
            left = self._residual(found[2])
            stalled = 0 if left < least else stalled + 1
            if left < least:
                best, least = found, left
        if least > self.worst:
            self.worst, self.time = least, t
        end, fast, x, work = best
        self.states.x, self.states.work = x.tolist(), self.states.work + float(work)

        def at(s: float) -> tuple[Array, Array]:
            return self.robot.integrate(q, fast, s - t), fast

        def along(times: Array) -> tuple[Array, Array]:
            return self.robot.integrate(q, fast, times - t), np.broadcast_to(fast, (len(times), len(fast)))

        return StepInterval(stop, end, fast, at, along)

    def notes(self) -> list[str]:
        """A line about steps whose impulses did not converge."""
        if self.worst <= NOTED:
            return []
        return [
            f"contact impulses are solved to {self.worst:.2g} m/s at worst, at t = {self.time:.4g} s, and to {CONVERGED:g} m/s "
            "elsewhere at best: redundant points, or impacts that have no unique solution"
        ]

    def _residual(self, x: Array) -> float:
        return float(x[self.residuals].max())
