"""rollout with the parts of a Controller, and of Fixed, as arguments: short forms for tables of tests."""

from __future__ import annotations

from typing import Any

import torsor as ts
from torsor.simulate import Rollout
from torsor.simulate import rollout as plain


def controlled(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a rollout: ``parameters`` and ``memory`` in its controller, ``on_failure`` in its integrator."""
    parts = {name: options.pop(name) for name in ("parameters", "memory") if name in options}
    if parts:
        options["controller"] = ts.Controller(options["controller"], **parts)
    if "on_failure" in options:
        method = options.get("integrator", "semi_implicit")
        options["integrator"] = ts.Fixed(method, on_failure=options.pop("on_failure"))
    return options


def rollout(robot: ts.Robot, *values: Any, **options: Any) -> Rollout:
    return plain(robot, *values, **controlled(options))
