"""Notes on a motion that leaves the limits of its robot: positions, velocities, joint forces."""

from __future__ import annotations

import numpy as np

from torsor.model.configuration_space import ConfigurationSpace
from torsor.model.names import configuration_names, coordinate_names, displacement_units, entry_units
from torsor.support.user_arrays import Array

#: excess that counts as rounding [rad, m]; of velocities and forces, relative to 1 + limit
ROUNDING = 1e-9
#: joints that a note lists, those that leave first
LISTED = 4


def notes_on_limits(robot: ConfigurationSpace, t: Array, q: Array, v: Array, tau: Array) -> list[str]:
    """One note per kind of limit that the rows leave: each joint, its largest excess, and the first time outside.

    >>> import numpy as np, torsor as ts
    >>> arm, still = ts.robots.rp_arm(), np.zeros((2, 2))
    >>> notes_on_limits(arm, np.array([0.0, 0.1]), np.array([[0.0, 0.5], [0.0, 1.25]]), still, still)
    ['outside position limits: joint2 by up to 0.25 m from t = 0.1 s']
    """
    limits, mimics, model = robot._limits, robot._mimic_ranges, robot._model
    unit_q, unit_v, unit_tau = entry_units(model)
    led = [displacement_units(model.joint[model.joint_names.index(m.joint)])[0] for m in mimics]
    entries, names = (*configuration_names(model), *(m.joint for m in mimics)), coordinate_names(model)
    kinds = (
        ("position", limits.excess(q, mimics), ROUNDING, entries, [*unit_q, *led]),
        ("velocity", np.abs(v) - limits.velocity, ROUNDING * (1 + limits.velocity), names, unit_v),
        ("effort", np.abs(tau) - limits.effort, ROUNDING * (1 + limits.effort), names, unit_tau),
    )
    notes = []
    for kind, excess, rounding, labels, units in kinds:
        outside = excess > rounding
        if not outside.any():
            continue
        first, most = t[outside.argmax(axis=0)], excess.max(axis=0)
        found = [k for k in np.argsort(first, kind="stable") if outside[:, k].any()]
        listed = [f"{labels[k]} by up to {most[k]:.3g} {units[k]} from t = {first[k]:.4g} s" for k in found]
        more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
        notes.append(f"outside {kind} limits: {', '.join(listed[:LISTED])}{more}")
    return notes
