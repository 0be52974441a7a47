"""Physical consistency of an inertia: the density must not be negative anywhere (MR §8.2.1).

Then the principal moments about the centre of mass are not negative and none exceeds the sum of the other two.
"""

from __future__ import annotations

import numpy as np

from torsor.scalar import is_constant
from torsor.spatial import Inertia
from torsor.spatial.vector import flat
from torsor.support.text import short

#: tolerance relative to the largest moment: files have about six digits
TOLERANCE = 1e-6


def inertia_problems(inertia: Inertia) -> list[str]:
    """Reasons why the inertia is physically impossible; empty if it is possible.  Symbolic inertias are not checked."""
    if not all(is_constant(x) for x in flat(inertia)):
        return []
    if inertia.m == 0 and any(inertia.h):
        return ["it has a first moment of mass and no mass"]
    a, b, c = (float(x) for x in np.linalg.eigvalsh(np.array(inertia.about_com.rows, dtype=float)))
    # subtracting Steiner's term loses some digits of the inertia about the origin
    rounding = 1e-14 * max(map(abs, (inertia.I.xx, inertia.I.yy, inertia.I.zz)))
    margin = TOLERANCE * max(abs(a), abs(c)) + rounding
    moments = f"{short(a)}, {short(b)}, {short(c)} kg·m²"
    if a < -margin:
        return [f"a principal moment is negative ({moments})"]
    if c > a + b + margin:
        return [f"a principal moment exceeds the sum of the other two ({moments})"]
    return []
