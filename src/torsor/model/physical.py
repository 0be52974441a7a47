"""Links with a physically impossible inertia: a warning, or with ``strict`` an error.

Published robots have such inertias, so their descriptions load.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Container

from torsor.errors import ModelError, ModelWarning
from torsor.model.description import Description
from torsor.spatial import Inertia
from torsor.spatial.rigid.physical import inertia_problems


def links_with_impossible_inertia(d: Description) -> dict[str, list[str]]:
    """The links with an inertia that is physically impossible, and the reasons."""
    found = {link.name: inertia_problems(link.inertia) for link in d.links if link.inertia != Inertia.zero()}
    return {name: why for name, why in found.items() if why}


def warn_or_refuse(d: Description, *, strict: bool = False, only: Container[str] | None = None) -> dict[str, list[str]]:
    """One ModelWarning that names every such link, of those in ``only``, or with ``strict`` a ModelError; returns them."""
    found = {name: why for name, why in links_with_impossible_inertia(d).items() if only is None or name in only}
    if found:
        named = "; ".join(f"link {name!r}: {', '.join(why)}" for name, why in found.items())
        message = f"robot {d.name!r} has a physically impossible inertia: {named}"
        if strict:
            raise ModelError(f"{message}; correct it, or load with strict=False")
        warnings.warn(f"{message}; it is used as given", ModelWarning, stacklevel=callers_level())
    return found


def callers_level() -> int:
    """The stack level of the first caller outside torsor: the line of user code that a warning should refer to."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "torsor":
        level, frame = level + 1, frame.f_back
    return level
