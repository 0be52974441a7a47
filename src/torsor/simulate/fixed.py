"""Fixed: an integrator of fixed steps, with how a rollout computes them."""

from __future__ import annotations

from dataclasses import dataclass

from torsor.algorithms.equation.stiff import check_method
from torsor.errors import ArgumentError, UnknownName

#: values of ``on_failure``
WAYS = ("raise", "mask")


@dataclass(frozen=True)
class Fixed:
    """An ``integrator=`` of fixed steps: its method, and the treatment of robots that do not stay finite.

    ``on_failure="raise"`` raises :class:`NotFinite` for the first such robot; with "mask" it is listed in ``rollout.failed``,
    and its states are NaN from that step on.  The other robots have the same bits as without it.

    >>> Fixed("rk4", on_failure="mask")
    Fixed(method='rk4', on_failure='mask')
    """

    method: str = "semi_implicit"
    on_failure: str = "raise"

    def __post_init__(self) -> None:
        check_method(self.method)
        if self.on_failure not in WAYS:
            raise UnknownName("on_failure", self.on_failure, WAYS)

    @classmethod
    def of(cls, given: object) -> Fixed:
        """An integrator as users give it: this class, or the name of a method."""
        if isinstance(given, Fixed):
            return given
        if not isinstance(given, str):
            raise ArgumentError(f"integrator must be a name or ts.Fixed(name, ...), not {type(given).__name__}")
        return cls(given)
