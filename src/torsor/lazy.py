"""Names of a package that are imported when first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package; ``homes`` has the module of each name, or the module that the name is itself.

    A name must not be that of a module of the same package that holds it: importing the module would hide it.
    """

    def getattr_(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(homes[name])
        found = module if homes[name] == f"{package}.{name}" else getattr(module, name)
        vars(sys.modules[package])[name] = found  # the next time it is simply there
        return found

    return getattr_
