"""Energy balance of a simulation: work, losses, change of energy, and the discrepancy between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from torsor.simulate.term_states import IMPULSE_WORK
from torsor.support.user_arrays import Array

if TYPE_CHECKING:
    from torsor.simulate.result import Result


@dataclass(frozen=True, eq=False)
class Audit:
    """dE = work − dissipated + contact, each (T,) [J] since the start; ``discrepancy``: the difference, the integrator's error.

    ``work`` is that of the joint forces and the external wrenches, ``dissipated`` that of damping, friction, springs' dampers
    and ``impacts``.  ``contact`` is the work of the ground on a robot with contacts, negative where these take energy: that of
    all impulses, λᵀ(u⁻ + u⁺)/2 in each step, with stops and dry friction of joints, which such a robot has in its steps.  All
    are summed over all steps (:mod:`torsor.simulate.energy_flows`), so they do not depend on ``record=``; the arrays are at the
    recorded times.
    """

    t: Array
    energy: Array
    work: Array
    dissipated: Array
    impacts: float  #: of ``dissipated``, at hard stops [J]
    discrepancy: Array
    contact: Array | None = None  #: None of a robot without contacts

    @property
    def worst(self) -> float:
        """The largest discrepancy at a recorded time [J]."""
        return float(np.abs(self.discrepancy).max(initial=0.0))

    @property
    def relative(self) -> float:
        """The largest discrepancy, relative to the largest change of a term of the balance."""
        terms = (self.energy, self.work, self.dissipated, self.contact)
        scale = max(float(np.ptp(x)) for x in terms if x is not None)
        return self.worst / scale if scale else self.worst

    def __repr__(self) -> str:
        return f"<Audit: {self}>"

    def _repr_html_(self) -> str:
        from torsor.support.html import element, facts

        by_contact = [] if self.contact is None else [("+ work of contacts, stops and dry friction", self.contact[-1])]
        rows = (
            ("change of energy", self.energy[-1] - self.energy[0]),
            ("= work of joint forces and wrenches", self.work[-1]),
            ("− dissipated", self.dissipated[-1]),
            *([("   of this at impacts", self.impacts)] if self.contact is None else by_contact),
            ("largest discrepancy", self.worst),
        )
        title = element("p", element("b", "Energy balance"), f" over {self.t[-1] - self.t[0]:g} s")
        return element("div", title, facts((name, f"{value + 0.0:.4g} J") for name, value in rows))

    def __str__(self) -> str:
        change = self.energy[-1] - self.energy[0]
        rest = f"(impacts {self.impacts:.3g})" if self.contact is None else f"+ contact {self.contact[-1]:.6g}"
        return (
            f"dE = {change:.6g} J = work {self.work[-1]:.6g} − dissipated {self.dissipated[-1]:.6g} {rest}; "
            f"largest discrepancy {self.worst:.2g} J"
        )


def audit(result: Result) -> Audit:
    """dE − work + dissipated − contact at each record; energy jumps at impacts at stops are instantaneous, and dissipated."""
    energy, flows = result.energy, result.summed_flows
    contact = result.states[IMPULSE_WORK][:, 0] if IMPULSE_WORK in result.states else None
    jumps = np.where(np.diff(result.t) > 0, 0.0, -np.diff(energy))
    dissipated = flows["lost"] + np.concatenate([[0.0], np.cumsum(jumps)])
    left = energy - energy[0] - flows["work"] + dissipated - (0.0 if contact is None else contact)
    return Audit(result.t, energy, flows["work"], dissipated, float(jumps.sum()), left, contact)
