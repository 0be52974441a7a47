"""rollout with the parts of a Controller as arguments: a short form for tables of tests."""

from __future__ import annotations

from typing import Any

import torsor as ts
from torsor.simulate import Rollout
from torsor.simulate import rollout as plain


def controlled(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a rollout, ``parameters`` and ``memory`` in its controller."""
    parts = {name: options.pop(name) for name in ("parameters", "memory") if name in options}
    if parts:
        options["controller"] = ts.Controller(options["controller"], **parts)
    return options


def rollout(robot: ts.Robot, *values: Any, **options: Any) -> Rollout:
    return plain(robot, *values, **controlled(options))
