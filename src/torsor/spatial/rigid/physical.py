"""Can a body have this inertia?  Its density, wherever it is, is not negative; that is all that is asked (MR §8.2.1).

Then the principal moments about the centre of mass are not negative and none exceeds the sum of the other two.
"""

from __future__ import annotations

import numpy as np

from torsor.scalar import is_constant
from torsor.spatial import Inertia
from torsor.spatial.vector import flat
from torsor.support.text import short

#: what is forgiven, against the largest moment: files carry six digits or so
TOLERANCE = 1e-6


def inertia_problems(inertia: Inertia) -> list[str]:
    """Why no body has this inertia, in words; nothing if one may.  Inertias that are not numbers are not judged."""
    if not all(is_constant(x) for x in flat(inertia)):
        return []
    if inertia.m == 0 and any(inertia.h):
        return ["it has a first moment of mass and no mass"]
    a, b, c = (float(x) for x in np.linalg.eigvalsh(np.array(inertia.about_com.rows, dtype=float)))
    # taking Steiner's part away again costs some digits of the inertia about the origin
    rounding = 1e-14 * max(map(abs, (inertia.I.xx, inertia.I.yy, inertia.I.zz)))
    margin = TOLERANCE * max(abs(a), abs(c)) + rounding
    moments = f"{short(a)}, {short(b)}, {short(c)} kg·m²"
    if a < -margin:
        return [f"a principal moment is negative ({moments})"]
    if c > a + b + margin:
        return [f"a principal moment exceeds the sum of the other two ({moments})"]
    return []
