"""Choice of the kernel for each state: the selected rows first, the rank test where they are insufficient."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation import EquationOfMotion
from torsor.compile import Argument, Kernel
from torsor.compile.bound import BoundKernel
from torsor.errors import SingularError, require_known
from torsor.kernels import Kernels
from torsor.kernels.derivatives import NUMBERS
from torsor.kernels.spec import Spec
from torsor.mechanics.constraints.equations import kernels_of
from torsor.mechanics.constraints.local_rank import violated_rows
from torsor.mechanics.constraints.null_space import in_mass_metric, in_metric, solve_with_rank
from torsor.mechanics.constraints.rank import independent_rows
from torsor.support.locks import new_lock

METHODS = ("auto", "direct", "multipliers", "null_space")


class Inputs(NamedTuple):
    """Inputs of a kernel beyond the state: frames with wrenches, the axes of those, and further ones by name."""

    frames: tuple[str, ...] = ()
    expressed_in: str = "body"
    extra: tuple[str, ...] = ()


#: the state alone
NO_INPUTS = Inputs()


class Solver:
    """The kernels of a model under constraints, each made when first needed, and the choice between them.

    The numbers of constraints after the first ``own`` are inputs of the kernels, which all systems with constraints of the
    same structure ``share``.
    """

    def __init__(
        self,
        equations: EquationOfMotion,
        own: int,
        share: Callable[[Kernels], Kernels],
        rows: Callable[..., tuple[int, ...]],
        by_local_rank: Callable[..., tuple[np.ndarray, np.ndarray, int]],
    ):
        self.equations = equations
        slotted, numbers = equations.with_slots(own)
        self.kernels, self._numbers = share(kernels_of(slotted)), np.array(numbers)
        self._rows, self._by_local_rank = rows, by_local_rank
        self._independent: tuple[int, ...] | None = None
        self._bound: dict[Spec, Kernel] = {}
        self._lock = new_lock()

    @property
    def independent_rows(self) -> tuple[int, ...]:
        """F&O 18's rows, selected once, and cached on disk with the kernels; rows of other numbers are checked."""
        if self._independent is None:
            with self._lock:
                if self._independent is None:
                    known = tuple(self.kernels.remember("independent rows", self._rows))
                    self._independent = known if not len(self._numbers) else self._rows(known)
        return self._independent

    def kernel(self, name: str, *words: Any, inputs: Inputs = NO_INPUTS, derivative: tuple[str, ...] = ()) -> Kernel:
        """A kernel of the equations; the time is the first of its further inputs where constraints read it."""
        extra = (*self.clock, *inputs.extra)
        return self.bind(Spec(((name, *words),), inputs.frames, inputs.expressed_in, extra=extra, derivative=derivative))

    def bind(self, spec: Spec) -> Kernel:
        """The kernel of a spec, with the numbers of the constraints."""
        kernel = self._bound.get(spec)
        if kernel is None:
            kernel = self.kernels.kernel(spec)
            if len(self._numbers):
                kernel = BoundKernel(kernel, NUMBERS, self._numbers, partial(kernels_of(self.equations).program, spec))
            self._bound[spec] = kernel
        return kernel

    def rows_and_mass(self, q: ArrayLike, clock: tuple) -> tuple[np.ndarray, np.ndarray]:
        """A and M of one configuration or a batch; ``clock`` is the time, where constraints read it."""
        return self.kernel("position")(q, *clock)[1], self.kernel("mass_matrix")(q, *clock)

    @property
    def clock(self) -> tuple[str, ...]:
        """The time as an input, where constraints read it."""
        return ("t",) if self.equations.depends_on_time else ()

    def kernel_of_rows(self, what: str, method: str, inputs: Inputs = NO_INPUTS, rows: Sequence[int] | None = None) -> Kernel:
        """The kernel over the independent rows, or some others, by F&O's method 1 ("direct") or 2."""
        chosen = self.independent_rows if rows is None else tuple(rows)
        return self.kernel(f"{what}.{'direct' if method == 'direct' else 'multipliers'}", chosen, inputs=inputs)

    def solve(
        self, what: str, method: str, inputs: Inputs, values: tuple, places: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(x, λ) of a batch: by the kernel where ``doubt`` allows it, by the null space where the rank differs.

        ``places`` are the positions of these states in the caller's batch, for the error message.
        """
        require_known("method", method, METHODS)
        if method == "null_space":
            return self._by_null_space(what, inputs, values, places)[:2]
        kernel = self.kernel_of_rows(what, method, inputs)
        x, lam, doubt = kernel(*values)
        doubted = ~(np.asarray(doubt) < 1)  # True where it is not a number
        if not doubted.any():
            return x, lam
        rest = [pick(a, value, doubted) for a, value in zip(kernel.inputs, values, strict=True)]
        places = np.argwhere(doubted) if places is None else places[doubted]
        if method == "auto":
            x[doubted], lam[doubted], _ = self._by_null_space(what, inputs, tuple(rest), places)
        else:
            states = [self._with_rows_of_state(what, method, inputs, one, at) for *one, at in zip(*rest, places, strict=True)]
            x[doubted], lam[doubted] = (np.array(part) for part in zip(*states, strict=True))
        return x, lam

    def acceleration(self, spec: Spec, given: Mapping[str, Any]) -> np.ndarray:
        """a of a batch under the inputs of a robot's ``spec`` of forward dynamics, given by name."""
        inputs = Inputs(spec.frames, spec.expressed_in, tuple(name for name in spec.extra if name != "t"))
        kernel = self.kernel_of_rows("dynamics", "auto", inputs)
        return self.solve("dynamics", "auto", inputs, tuple(given[a.name] for a in kernel.inputs))[0]

    def _by_null_space(
        self, what: str, inputs: Inputs, values: Sequence[Any], places: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(x, λ, rank) with the rank that the rows have everywhere; state by state where the rank differs or rows contradict.

        ``places`` are the positions of these states in the caller's batch, for the error message.
        """
        kernel = self.kernel(f"{what}_terms", inputs=inputs)
        M, A, f, g = kernel(*values)
        w, usual = in_mass_metric(M, A, self.equations.model), len(self.independent_rows)
        clear = w.has_rank(usual)
        rank = np.where(clear, usual, 0)
        x, lam = solve_with_rank(w, f, g, rank)
        unsettled = np.asarray(~clear | violated_rows(A, x, g).any(axis=-1))
        inputs_at = [pick(a, value, unsettled) for a, value in zip(kernel.inputs, values, strict=True)]
        names = [a.name for a in kernel.inputs]
        for at, *state in zip(map(tuple, np.argwhere(unsettled)), *inputs_at, strict=True):
            try:
                x[at], lam[at], rank[at] = self._by_local_rank(
                    what, M[at], A[at], f[at], g[at], dict(zip(names, state, strict=True))
                )
            except SingularError as error:
                place = list(map(int, at if places is None else places[at[0]] if at else places))
                raise SingularError(f"state {place} of the batch: {error}" if place else str(error)) from None
        return x, lam, rank

    def _with_rows_of_state(
        self, what: str, method: str, inputs: Inputs, values: Sequence[Any], place: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """One state by a method with rows chosen for it alone."""
        rank = int(self._by_null_space(what, inputs, values, place)[2])  # raises where it is singular, or rows contradict
        M, A, _, _ = self.kernel(f"{what}_terms", inputs=inputs)(*values)
        rows = independent_rows(in_metric(M, A, self.equations.model)[1][None], rank)
        x, lam, doubt = self.kernel_of_rows(what, method, inputs, rows)(*values)
        if not doubt < 1:
            raise SingularError(
                f"method {method!r} cannot solve this state: {len(rows)} of {len(A)} constraint rows are nearly dependent "
                "here, or inconsistent with the others because of closure error; use method='null_space' or 'auto'"
            )
        return x, lam


def pick(argument: Argument, value: Any, at: np.ndarray) -> np.ndarray:
    """The rows of an input that belong to the states marked."""
    array = np.asarray(value, float)
    return np.broadcast_to(array, (*at.shape, *argument.shape))[at]
