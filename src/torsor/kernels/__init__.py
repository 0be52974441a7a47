"""From an equation to a kernel: tables of quantities, and the class that records, compiles and caches them.

A :class:`Quantity` is a row of a table, a :class:`Spec` identifies one kernel completely, :class:`Kernels` makes it.
May import support, scalar, spatial, compile, model and algorithms.
"""

from torsor.kernels.kernels import Kernels
from torsor.kernels.quantity import Quantity, Table
from torsor.kernels.spec import Spec

__all__ = ["Kernels", "Quantity", "Spec", "Table"]
