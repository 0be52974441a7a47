"""Names of a package that are imported when first used, and modules that have a short name beside their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from torsor.support.locks import new_lock

#: threads that import parts of one package at once wait for each other, and Python resolves that by importing half of a module
ONE_AT_A_TIME = new_lock()


def lazy(package: str, homes: Mapping[str, str], modules: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package; ``homes`` has the module of each name, ``modules`` the names that are modules.

    A name must not be that of a module of the same package that holds it: importing the module would hide it.
    """
    rooms = modules or {}

    def getattr_(name: str) -> Any:
        if name not in homes and name not in rooms:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with ONE_AT_A_TIME:
            found = import_module(rooms[name]) if name in rooms else getattr(import_module(homes[name]), name)
        vars(sys.modules[package])[name] = found  # the next time it is simply there
        return found

    return getattr_


class ShortNames(MetaPathFinder):
    """Finds modules by a short name too: ``import torsor.constraints`` gives ``torsor.mechanics.constraints``.

    It is the same module object under both names; its code is executed once.  Modules inside it have their own name only.
    """

    def __init__(self, homes: Mapping[str, str]):
        self.homes = homes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module given by its short name; None for other names."""
        if fullname in self.homes:
            return _spec(fullname, self.homes[fullname])
        parent, _, name = fullname.rpartition(".")
        if parent in self.homes:  # the finder of paths would load it a second time
            raise ModuleNotFoundError(f"No module named {fullname!r}; {self.homes[parent]}.{name} may be it", name=fullname)
        return None


def _spec(short: str, home: str) -> ModuleSpec:
    """From the file's place alone: a finder runs under Python's import lock, where an import would wait for other threads."""
    root, *names = home.split(".")
    folder = Path(str(sys.modules[root].__file__)).parent.joinpath(*names)
    package = folder.is_dir()
    file = folder / "__init__.py" if package else folder.with_suffix(".py")
    spec = ModuleSpec(short, _SameModule(home), origin=str(file), is_package=package)
    spec.has_location = True
    return spec


class _SameModule(Loader):
    """Loads a module under a second name."""

    def __init__(self, home: str):
        self.home = home
        self.spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        with ONE_AT_A_TIME:
            module = import_module(self.home)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # the import system wrote that of the second name

    def get_code(self, fullname: str) -> CodeType:
        """The code object, needed by ``python -m``."""
        loader: Any = find_spec(self.home).loader  # type: ignore[union-attr]
        return loader.get_code(self.home)
