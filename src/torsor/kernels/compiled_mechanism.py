"""A mechanism and its kernels: one per method, and kernels of several quantities that share their work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.limits import clip, limit_violation, total
from torsor.compile import Argument, Kernel, Program
from torsor.compile.layout import PRESENT
from torsor.errors import ArgumentError
from torsor.kernels.checked_kernel import CheckedKernel
from torsor.kernels.checks import WorldAxes, check_configuration, wrenches_at
from torsor.kernels.functions import function_kernel
from torsor.kernels.kernels import Kernels
from torsor.kernels.options import Frames, KernelOptionsExtra, Wrenches
from torsor.kernels.quantities import OPTIONAL_INPUTS, kernels_of
from torsor.kernels.quantity import takes
from torsor.kernels.replaced import name_replacements
from torsor.kernels.spec import OPTIONAL, Name, Spec, as_frames, as_names, as_words, split_name
from torsor.model import Description
from torsor.model.editing import Editing
from torsor.model.limits import Limits
from torsor.model.names import configuration_names
from torsor.scalar import Scalars
from torsor.support.locks import new_lock
from torsor.support.user_arrays import float_type

#: methods with two results, each a separate quantity
PAIRS: dict[str, tuple[tuple[str, ...], ...]] = {
    "_hybrid": (("hybrid_acceleration",), ("hybrid_force",)),
    "motor_torques": (("motor_torque",), ("gear_torque",)),
}
#: methods whose results are A and B of a linearized quantity
LINEARIZED = {"_linearize_motion": "forward_dynamics", "_linearize_step": "step"}
#: methods whose results are derivatives of a quantity by its inputs; by a recursion, where terms act joint by joint
DERIVATIVES = {
    "inverse_dynamics_derivatives": "inverse_dynamics",
    "forward_dynamics_derivatives": "forward_dynamics",
}
#: methods that read the limits of joints
LIMITS = ("clip", "_limit_violation")


@name_replacements
class CompiledMechanism(Editing):
    """A mechanism that has kernels."""

    def __init__(self, description: Description):
        super().__init__(description)
        self._kernels = kernels_of(self._model, self._with_independent_rows)
        self._lock = new_lock()
        self._limit_kernels: dict[str, Kernel] = {}
        self._checked_kernels: dict[Spec, CheckedKernel] = {}

    @property
    def kernels(self) -> Kernels:
        """The kernels of the methods, recorded, compiled and cached."""
        return self._kernels

    def kernel(self, *names: Name, **options: Unpack[KernelOptionsExtra]) -> Kernel | CheckedKernel:
        """Several results in one kernel that shares their common work; called with the state variables they need.

        A quantity is a method's name, with its options after colons: ``"mass_matrix"``, ``"pose:tool0"``,
        ``"jacobian:tool0:body"``, ``"center_of_mass:torso"`` (below that link), ``"center_of_mass::moving"``; or a tuple,
        ``("pose", "tool:0")``, if a frame's name contains a colon.
        ``wrenches`` are frames with an external wrench, one more input each after the state, in the axes of ``expressed_in``;
        or a dict {frame: function of t, or None for an input}.  Where such a function, or a term of the robot, depends on time,
        the kernel has an input t [s] after the state.
        ``extra`` are optional arrays of the methods, one more input each after the state, such as ``extra=["at"]`` for
        ``"jacobian:tool0"``.

        >>> import torsor as ts
        >>> robot = ts.robots.two_link()
        >>> M, g = robot.kernel("mass_matrix", "gravity_force")([0.0, 0.5])
        """
        return self._checked(self.spec(*names, **options))

    def spec(
        self,
        *names: Name,
        dtype: Any = np.float64,
        wrenches: Frames = (),
        expressed_in: str = "body",
        extra: Sequence[str] = (),
    ) -> Spec:
        """The Spec of the kernel that :meth:`kernel` makes from the same arguments; hashable."""
        if not names:
            raise ArgumentError(f"give one or more quantities of the kernel: {', '.join(self._kernels.table)}")
        quantities = tuple(split_name(name, self._kernels.table) for name in names)
        (frames, laws), more = as_frames(wrenches), as_names("extra", extra)
        for name in more:
            rows = [self._kernels.table[quantity] for quantity, *_ in quantities]
            if name not in OPTIONAL_INPUTS or not any(takes(row.function, name) for row in rows):
                raise ArgumentError(f"{name!r} is not an optional input of {', '.join(':'.join(q) for q in quantities)}")
        clock = ("t",) if laws or self._kernels.reads_time(*(quantity for quantity, *_ in quantities)) else ()
        return Spec(quantities, frames, expressed_in, (*self._extra(more), *clock), dtype=float_type(dtype).name, laws=laws)

    def program(self, *names: Name) -> Program:
        """The recorded program of a kernel: operations, counts, code."""
        return self.kernel(*names).program

    def _checked(self, spec: Spec) -> Kernel | CheckedKernel:
        """The kernel of a spec, which refuses the states in which its results do not pass their checks."""
        kernel, table = self._kernels.kernel(spec), self._kernels.table  # an error for words that are not hashable
        if spec in self._checked_kernels:
            return self._checked_kernels[spec]
        checks = [name for quantity, *_ in spec.quantities for name in table[quantity].checks]
        if not checks or spec.derivative[:1] == ("second",):
            return kernel
        made = CheckedKernel(kernel, dict.fromkeys(checks, 1.0), partial(self._refuse_states, spec))
        return self._checked_kernels.setdefault(spec, made)

    def _with_independent_rows(self, equation: EquationOfMotion) -> EquationOfMotion:
        """The equation of motion with the rows of its constraints that are independent."""
        raise NotImplementedError  # implemented by Robot

    def _refuse_states(self, spec: Spec, given: dict[str, Any], bad: np.ndarray | None) -> list[np.ndarray] | None:
        """Raise the reason why the results of some states do not pass their checks, or return those of another way."""
        raise NotImplementedError  # implemented by Robot

    def _extra(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names of optional inputs; a floating base has no other motion than v and a."""
        extra = tuple(names)
        if self._description.floats and (moving := [name for name in extra if name.startswith("base_")]):
            raise ArgumentError(f"{moving[0]} needs a fixed base; the velocity of a floating base is in v and a")
        return extra

    def _run(
        self,
        name: str,
        values: tuple,
        wrenches: Wrenches | None = None,
        *,
        time: ArrayLike | None = None,
        extra: Mapping[str, ArrayLike] | None = None,
        out: Any = None,
        **words: Any,
    ) -> Any:
        """Call the kernel of a method: with optional arrays, the time where terms read it, and the wrenches at that time."""
        if isinstance(wrenches, WorldAxes):
            wrenches, words["expressed_in"] = wrenches.wrenches, "world"
        on, extra = wrenches_at(self._model, wrenches, time), dict(extra or {})
        if self._reads_time(name):
            if time is None:
                timed = ", ".join(repr(term.name) for term in self._model.terms if term.depends_on_time)
                raise ArgumentError(f"these terms of robot {self.name!r} depend on time, so time= is needed: {timed}")
            extra["time"] = time
        elif time is not None and not any(map(callable, (wrenches or {}).values())):
            raise ArgumentError(f"time= is given, but no term of robot {self.name!r} and no wrench depends on it in {name}")
        kernel = self._kernel_of(name, tuple(on), **dict.fromkeys(extra, PRESENT), **words)
        return kernel(*values, *extra.values(), *on.values(), out=out)

    def _reads_time(self, method: str) -> bool:
        return self._kernels.reads_time(*(name for name, *_ in PAIRS.get(method, ((LINEARIZED.get(method, method),),))))

    def _limit_kernel(self, name: str) -> Kernel:
        """The kernel of a method that reads the limits of joints, made once."""
        limits, model = self._limits, self._model
        if name not in self._limit_kernels:
            function: Callable[..., Any] = partial(clip, limits, self._leader_intervals)
            if name == "_limit_violation":
                function = partial(limit_violation, limits, self._mimic_ranges)
            inputs, explain = [Argument("q", (model.nq,), configuration_names(model))], partial(check_configuration, model, "q")
            made = function_kernel(f"{self.name}.{name.strip('_')}", partial(_with_total, function, limits), inputs, explain)
            self._limit_kernels[name] = made
        return self._limit_kernels[name]

    def _kernel_for(self, name: str, wrenches: tuple[str, ...] = (), **words: Any) -> Kernel | None:
        """The kernel that a method runs; None if its results have checks, or are more than the method's own.

        Also where the time is given and not needed, or the other way round: the Python method then raises the error.
        """
        if (name == "step" and self.state_names) or (words.get("time") is PRESENT) != self._reads_time(name):
            return None
        kernel = self._kernel_of(name, wrenches, **words)
        return None if isinstance(kernel, CheckedKernel) else kernel

    def _kernel_of(self, name: str, wrenches: tuple[str, ...] = (), **words: Any) -> Kernel | CheckedKernel:
        """The kernel of a method for the given options, in their order; for ``wrenches`` the option is the frames.

        Optional arrays that are given are ``PRESENT``.
        """
        if name in LIMITS:
            return self._limit_kernel(name)
        clock = ("t",) if words.pop("time", None) is PRESENT else ()
        derivative: tuple[str, ...] = ("linearization", "q", "v", "tau") if name in LINEARIZED else ()
        if name in DERIVATIVES and self._model.has_rows:
            name = DERIVATIVES[name]
            derivative = "jacobian", *(a.name for a in self._kernels.inputs(Spec(((name,),))))
        name = LINEARIZED.get(name, name)
        own = () if name in PAIRS else self._kernels.table[name].words
        given = {word: words.get(word) for word in own if word in words or word in OPTIONAL}
        quantities = PAIRS.get(name) or ((name, *as_words(given)),)
        axes = "body" if "expressed_in" in own else words.get("expressed_in", "body")
        extra = self._extra(name for name in OPTIONAL_INPUTS if words.get(name) is PRESENT)
        return self._checked(Spec(quantities, wrenches, axes, (*extra, *clock), derivative))


def _with_total(function: Callable[..., Any], limits: Limits, q: Scalars) -> dict[str, Any]:
    """The result of a function of the limits, and a number that is finite where q is valid."""
    return {"result": function(q), "total": total(limits, q)}
