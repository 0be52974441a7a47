"""Run a test without machine code: a kernel that is called once for one random tree takes longer to compile than to interpret.

Whether compiled and interpreted kernels agree is tested in tests/evaluations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

from torsor.compile import build, kernel, scan


def without_machine_code(test: Callable[..., Any]) -> Callable[..., Any]:
    """The test with kernels that NumPy runs."""

    @functools.wraps(test)
    def run(*args: Any, **named: Any) -> Any:
        with ExitStack() as patches:
            for module in (build, kernel, scan):
                patches.enter_context(patch.object(module, "available", lambda: None))
            return test(*args, **named)

    return run
