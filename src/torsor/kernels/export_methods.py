"""Methods of Robot that write its equations as source code."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from torsor.kernels.checked_kernel import Exportable
from torsor.kernels.replaced import name_replacements

if TYPE_CHECKING:
    from torsor.robot import Robot


@name_replacements
class Exports:
    """Equations as C99 and as Python."""

    def export_c(
        self,
        path: str | PathLike[str],
        *names: Exportable,
        dtype: Any = "float64",
        name: str | None = None,
        fused: bool = False,
        fma: bool = False,
        wrenches: Sequence[str] = (),
        expressed_in: str = "body",
        extra: Sequence[str] = (),
    ) -> tuple[Path, Path, Path]:
        """Write quantities as C99: ``path.h``, ``path.c`` and a test program; options as for :func:`torsor.export.export_c`."""
        from torsor.kernels.export import export_c

        return export_c(
            cast("Robot", self), path, *names, dtype=dtype, name=name, fused=fused, fma=fma, wrenches=wrenches,
            expressed_in=expressed_in, extra=extra,
        )  # fmt: skip

    def export_python(
        self,
        path: str | PathLike[str],
        *names: Exportable,
        name: str | None = None,
        fused: bool = False,
        wrenches: Sequence[str] = (),
        expressed_in: str = "body",
        extra: Sequence[str] = (),
    ) -> Path:
        """Write quantities as a Python module that needs NumPy alone; options as for :func:`torsor.export.export_python`."""
        from torsor.kernels.export import export_python

        return export_python(
            cast("Robot", self), path, *names, name=name, fused=fused, wrenches=wrenches, expressed_in=expressed_in,
            extra=extra,
        )  # fmt: skip
