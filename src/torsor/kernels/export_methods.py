"""Methods of Robot that write its equations as source code."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from torsor.kernels.checked_kernel import Exportable
from torsor.kernels.replaced import name_replacements

if TYPE_CHECKING:
    from torsor.robot import Robot


class PythonOptions(TypedDict, total=False):
    """Options of :func:`torsor.export.export_python`."""

    name: str | None
    fused: bool
    wrenches: Sequence[str]
    expressed_in: str
    extra: Sequence[str]


class COptions(PythonOptions, total=False):
    """Options of :func:`torsor.export.export_c`."""

    dtype: Any
    fma: bool


@name_replacements
class Exports:
    """Equations as C99 and as Python."""

    def export_c(self, path: str | PathLike[str], *names: Exportable, **options: Unpack[COptions]) -> tuple[Path, Path, Path]:
        """Write quantities as C99: ``path.h``, ``path.c`` and a test program; options as for :func:`torsor.export.export_c`."""
        from torsor.kernels.export import export_c

        return export_c(cast("Robot", self), path, *names, **options)

    def export_python(self, path: str | PathLike[str], *names: Exportable, **options: Unpack[PythonOptions]) -> Path:
        """Write quantities as a Python module that needs NumPy alone; options as for :func:`torsor.export.export_python`."""
        from torsor.kernels.export import export_python

        return export_python(cast("Robot", self), path, *names, **options)
