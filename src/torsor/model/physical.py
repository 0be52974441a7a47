"""Can a body have this inertia?  Its density, wherever it is, is not negative; that is all that is asked (MR §8.2.1).

Then the principal moments about the centre of mass are not negative and none exceeds the sum of the other two.  Robots
ship with inertias that fail this, so a description with one loads; it is told, or refused when asked to be strict.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

from torsor.errors import ModelError, ModelWarning
from torsor.model.description import Description
from torsor.scalar import is_constant
from torsor.spatial import Inertia
from torsor.spatial.vector import flat

#: what is forgiven, against the largest moment: files carry six digits or so
TOLERANCE = 1e-6


def problems(inertia: Inertia) -> list[str]:
    """Why no body has this inertia, in words; nothing if one may.  Inertias that are not numbers are not judged."""
    if not all(is_constant(x) for x in flat(inertia)):
        return []
    if inertia.m == 0 and any(inertia.h):
        return ["it has a first moment of mass and no mass"]
    a, b, c = (float(x) for x in np.linalg.eigvalsh(np.array(inertia.about_com.rows, dtype=float)))
    # taking Steiner's part away again costs some digits of the inertia about the origin
    rounding = 1e-14 * max(map(abs, (inertia.I.xx, inertia.I.yy, inertia.I.zz)))
    margin = TOLERANCE * max(abs(a), abs(c)) + rounding
    moments = f"{_short(a)}, {_short(b)}, {_short(c)} kg·m²"
    if a < -margin:
        return [f"a principal moment is negative ({moments})"]
    if c > a + b + margin:
        return [f"a principal moment exceeds the sum of the other two ({moments})"]
    return []


def nonphysical(d: Description) -> dict[str, list[str]]:
    """The links whose inertia no body has, and why."""
    found = {link.name: problems(link.inertia) for link in d.links if link.inertia != Inertia.zero()}
    return {name: why for name, why in found.items() if why}


def warn_or_refuse(d: Description, *, strict: bool = False) -> dict[str, list[str]]:
    """One ModelWarning that names every such link, or with ``strict`` a ModelError; returns them."""
    found = nonphysical(d)
    if found:
        named = "; ".join(f"link {name!r}: {', '.join(why)}" for name, why in found.items())
        message = f"robot {d.name!r} has an inertia that no body can have: {named}"
        if strict:
            raise ModelError(f"{message}; correct it, or load with strict=False")
        warnings.warn(f"{message}; it is used as given", ModelWarning, stacklevel=callers_level())
    return found


def callers_level() -> int:
    """The stack level of the first caller outside torsor: the line of the user's that a warning should point at."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "torsor":
        level, frame = level + 1, frame.f_back
    return level


def _short(x: float) -> str:
    return format(x, ".4g")
