"""Kernels: maps a Spec to a kernel.  The only class that records, compiles and caches quantities."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.massless import check_inertia, least_pivots
from torsor.algorithms.wrenches import in_frame_axes
from torsor.compile import Argument, Kernel, Program, Scan, cache, record_shortest
from torsor.compile.program import Empty
from torsor.compile.recorded import RecordedProgram
from torsor.compile.rolled import DeferredInverse
from torsor.errors import SingularError, TorsorError
from torsor.kernels.checks import check_configuration
from torsor.kernels.columns import ColumnKernel, is_by_columns
from torsor.kernels.coordinate_derivatives import COORDINATES, coordinate_program
from torsor.kernels.derivatives import CONFIGURATIONS, NUMBERS, derivative_program
from torsor.kernels.digest import digest, source_digest
from torsor.kernels.quantity import FEW, Quantity, Table, gather_inputs, takes
from torsor.kernels.spec import Spec
from torsor.kernels.spec_checks import check_spec
from torsor.model import Model
from torsor.support.locks import cached_property, new_lock

#: the fields of a spec that its program depends on
PROGRAM = ("quantities", "frames", "expressed_in", "extra", "derivative", "laws")
#: options that select one of the algorithms of a row
SELECTORS = ("route", "method")
#: the method of each mode of a derivative, for names of kernels
METHODS = {
    "jvp": "jvp", "vjp": "vjp", "jacobian": "derivative", "linearization": "linearize", "second": "second_derivatives",
}  # fmt: skip
#: number of scans cached for one subject
KEPT = 64
#: directions and weights of derivatives beyond this overflow when multiplied
HUGE = 1e100


class Kernels:
    """The kernels of one subject, from its table of quantities.

    The ``subject`` is the first argument of the table's functions: a model, or an object with an attribute ``model``.  Of an
    equation of motion, functions of the tree have the model.  ``complete`` makes the subject when it is first needed.
    A subject with slots for ``numbers`` has them as the last input: ``subject.with_numbers(x)`` fills the slots.
    ``reduced`` makes the subject from which joint-space results are recorded.  ``shapes`` and ``labels`` are those of the
    inputs.  Kernels are cached in memory by their specs; on disk under digests of subject, spec and torsor's source, unless
    they contain a user's code.
    """

    def __init__(
        self,
        name: str,
        subject: Any,
        table: Table,
        shapes: Mapping[str, tuple[int, ...]],
        labels: Mapping[str, tuple[str, ...]] | None = None,
        reduced: Callable[[Any], Any] | None = None,
        complete: Callable[[Any], Any] | None = None,
    ):
        self.name, self.model, self.table = name, subject if isinstance(subject, Model) else subject.model, table
        self._given, self._complete = subject, complete
        self._shapes, self._labels, self._reduced = shapes, labels or {}, reduced
        self._kernels: dict[Spec, Kernel] = {}
        self._scans: dict[Any, Scan] = {}
        self._beside: dict[Any, Kernels] = {}
        self._origin: Kernels | None = None  # the kernels of another table of the same subject
        self._lock = new_lock()

    def __reduce__(self) -> Any:
        return Kernels, (self.name, self.subject, self.table, self._shapes, self._labels, self._reduced)

    @property
    def equation(self) -> EquationOfMotion:
        """The equation of motion of the subject, before its independent rows are selected."""
        return self._given if isinstance(self._given, EquationOfMotion) else EquationOfMotion(self.model)

    @cached_property
    def subject(self) -> Any:
        """The first argument of the table's functions that follow the terms."""
        return self._given if self._complete is None else self._complete(self._given)

    def of(self, table: Table, shapes: Mapping[str, tuple[int, ...]] | None = None) -> Kernels:
        """The kernels of another table of the same subject, made once; ``shapes`` are the shapes of further inputs."""
        key, sizes = (id(table), *(shapes or {}).items()), {**self._shapes, **(shapes or {})}
        with self._lock:
            if key not in self._beside:
                made = Kernels(self.name, self._given, table, sizes, self._labels, self._reduced, lambda _: self.subject)
                self._beside[key] = made
                self._beside[key]._origin = self
            return self._beside[key]

    def share(self, made: Kernels) -> Kernels:
        """Kernels of another subject: equal ones that were shared before, or these; the newest are kept."""
        key = made._digest
        if key is None:
            return made
        with self._lock:
            found = self._beside.pop(key, made)
            self._beside[key] = found
            for old in [k for k in self._beside if isinstance(k, str)][:-KEPT]:
                del self._beside[old]
            return found

    # -- a spec's kernel, program and inputs -----------------------------------------------------------------

    def kernel(self, spec: Spec) -> Kernel:
        """The kernel of a spec, made once."""
        try:
            kernel = self._kernels.get(spec)
        except TypeError:  # an option that cannot be hashed
            check_spec(self.model, self.table, spec)
            raise
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get(spec) or self._kernels.setdefault(spec, self._make(spec))
        return kernel

    def scan(
        self,
        spec: Spec,
        carry: Mapping[str, str],
        fixed: tuple[str, ...],
        check: Callable[[], Any] | None = None,
        last: tuple[str, ...] = (),
        reverse: bool = False,
    ) -> Scan:
        """The program of a spec, repeated in time; only the newest scans are cached, since their specs may contain users' code.

        ``check`` is called before a scan is made.  All outputs but those in ``last`` are kept at each step.
        """
        key = spec, tuple(carry.items()), fixed, last, reverse
        scan = self._scans.get(key)
        if scan is None:
            if check is not None:
                check()
            name, program = ".".join((self.name, spec.label)), self.recording(spec)
            each = [out.name for out in program.facts.outputs if out.name not in last] if last else None
            made = Scan(
                program, carry=carry, fixed=fixed, each=each, last=last, reverse=reverse, name=name, dtype=spec.dtype
            )  # fmt: skip
            with self._lock:
                scan = self._scans.setdefault(key, made)
                while len(self._scans) > KEPT:
                    del self._scans[next(iter(self._scans))]
        return scan

    def __call__(self, name: str, *words: Any, **options: Any) -> Kernel:
        """The kernel of one quantity with its words; ``options`` are those of a :class:`Spec`."""
        return self.kernel(Spec(((name, *words),), **options))

    def remember(self, name: str, compute: Callable[[], Any]) -> Any:
        """A value of numbers and lists computed from the subject; cached on disk with the kernels, if those are."""
        if self._digest is None:
            return compute()
        file = cache.key(source_digest(), self._digest, name)
        kept = cache.load(file)
        if kept is not None:
            return json.loads(kept)
        value = compute()
        cache.store(file, json.dumps(value).encode())
        return value

    def recording(self, spec: Spec) -> RecordedProgram:
        """The program of a spec, recorded when it is needed."""
        check_spec(self.model, self.table, spec)
        return RecordedProgram(partial(self.program, spec), self._key(spec))

    def program(self, spec: Spec) -> Program:
        """The program of a spec, by the algorithms with the fewest operations."""
        if spec.derivative:
            return (coordinate_program if spec.derivative[0] == COORDINATES else derivative_program)(self, spec)
        rows = [self.table[name] for name, *_ in spec.quantities]
        if len(rows) == 1 and rows[0].inverse_of and self.model.nv > FEW and not self._may_be_singular:
            matrix = self.program(replace(spec, quantities=((rows[0].inverse_of,),)))
            return DeferredInverse(matrix, spec.label, partial(self.straight_program, spec))
        return self.straight_program(spec)

    @property
    def _may_be_singular(self) -> bool:
        """Whether pivots of M may vanish, which only a recorded factorization checks."""
        check_inertia(self.model)
        return any(map(any, least_pivots(self.model)))

    def straight_program(self, spec: Spec) -> Program:
        """The same, with every operation recorded."""
        rows = [self.table[name] for name, *_ in spec.quantities]
        choices = max((1 + len(row.alternatives) for row in rows if self._may_choose(spec, row)), default=1)
        return record_shortest((partial(self.evaluate, spec, choice=k) for k in range(choices)), self.inputs(spec))

    def inputs(self, spec: Spec) -> list[Argument]:
        """The arguments of a spec's kernel: those of its quantities, then optional ones, then wrenches."""
        state = {a.name: a for quantity in spec.quantities for a in self._arguments(*quantity)}
        state |= {name: self._argument(name) for name in spec.extra}
        wrenches = [Argument(f"wrenches[{frame!r}]", (6,)) for frame in spec.frames]
        count = getattr(self._given, "numbers", 0)
        return [*state.values(), *wrenches, *([Argument(NUMBERS, (count,))] if count else [])]

    def reads_time(self, *names: str) -> bool:
        """Whether results depend on the time, an input of their kernels: those in which terms count that read it."""
        rows = [self.table[name] for name in names if name in self.table] if self.model.depends_on_time else []
        return any(row.in_world or takes(row.function, "t") for row in rows)

    def _arguments(self, name: str, *words: Any) -> list[Argument]:
        """The arguments of one quantity."""
        inputs = self.table[name].inputs
        return (
            list(inputs(self.model if isinstance(self._given, EquationOfMotion) else self.subject, *words))
            if callable(inputs)
            else [self._argument(x) for x in inputs]
        )

    def _argument(self, name: str) -> Argument:
        return Argument(name, self._shapes[name], self._labels.get(name, ()))

    # -- over any scalar -------------------------------------------------------------------------------------

    def evaluate(self, spec: Spec, *values: Sequence[Any], choice: int = 0) -> dict[str, Any]:
        """Every result by name, from one flat sequence of scalars per input; ``choice`` selects among the alternatives."""
        given = {a.name: (x if a.shape else x[0]) for a, x in zip(self.inputs(spec), values, strict=True)}
        wrenches = spec.wrenches(given)
        subject = self.subject_at(given) if NUMBERS in given else None
        results: dict[str, Any] = {}
        for label, (name, *words) in zip(spec.labels, spec.quantities, strict=True):
            row = self.table[name]
            state = {a.name: given[a.name] for a in self._arguments(name, *words)}
            function = self._function(spec, row, choice)
            options: dict[str, Any] = dict(zip(row.words, words, strict=False))
            alone = len(spec.quantities) == 1 and not (spec.laws or row.in_world)  # the function may not read the time
            options |= {x: given[x] for x in spec.extra if alone or takes(function, x)}
            options |= {"wrenches": wrenches | dict(spec.laws) if "dt" in state else wrenches} if wrenches else {}
            place = self.subject.model_at(given.get("t")) if row.in_world else self.subject_of(row, subject)
            if wrenches:
                options = self._with_wrenches(spec, function, state, options, place)
            result = function(place, *state.values(), **gather_inputs(function, options))
            several = len(row.outputs) > 1
            if row.empty and not self.model.nv:
                result = [Empty(row.empty)] * len(row.outputs) if several else Empty(row.empty)
            results |= dict(zip(row.outputs, result, strict=True)) if several else {(*row.outputs, label)[0]: result}
        checks = [name for quantity, *_ in spec.quantities for name in self.table[quantity].checks]
        return {name: x for name, x in results.items() if name not in checks} | {name: results[name] for name in checks}

    def subject_at(self, given: Mapping[str, Any]) -> Any:
        """The subject, with its numbers where these are inputs."""
        return self.subject.with_numbers(given[NUMBERS]) if NUMBERS in given else self.subject

    def _function(self, spec: Spec, row: Quantity, choice: int) -> Callable[..., Any]:
        """The algorithm of a row: the first, or an alternative if the row has one."""
        functions = row.function, *row.alternatives
        return functions[choice] if choice < len(functions) and self._may_choose(spec, row) else row.function

    def subject_of(self, row: Quantity, subject: Any = None) -> Any:
        """The first argument of a row's function: the equation of motion, or its tree; with few parameters where possible."""
        if not row.follows_terms and isinstance(self._given, EquationOfMotion):
            return self.lean_tree if row.joint_space else self.model
        return self.lean if row.joint_space else self.subject if subject is None else subject

    def _with_wrenches(
        self, spec: Spec, function: Any, state: dict[str, Any], options: dict[str, Any], subject: Any
    ) -> dict[str, Any]:
        """The options of a function: with wrenches in frame axes, unless the function rotates them itself or takes none."""
        if not takes(function, "wrenches"):
            return {word: x for word, x in options.items() if word != "wrenches"}  # M and others do not depend on wrenches
        if spec.expressed_in == "body":
            return options
        if takes(function, "axes"):
            return {**options, "axes": spec.expressed_in}
        model = subject if isinstance(subject, Model) else self.model
        turned = {f: in_frame_axes(model, state["q"], f, F) for f, F in options["wrenches"].items()}
        return {**options, "wrenches": turned}

    # -- making ----------------------------------------------------------------------------------------------

    @cached_property
    def lean(self) -> Any:
        """The subject from which joint-space results are recorded."""
        return self.subject if self._reduced is None else self._reduced(self.subject)

    @cached_property
    def lean_tree(self) -> Model:
        """The tree from which joint-space results are recorded."""
        return self.model if self._reduced is None else self._reduced(self.model)

    def _key(self, spec: Spec) -> str | None:
        """The digest of all inputs of a program; None if some of them are a user's code."""
        rows = [self.table[name] for name, *_ in spec.quantities]
        functions = [(row.inputs, row.function, row.alternatives, row.words, row.outputs) for row in rows]
        chosen = digest(functions, *(getattr(spec, name) for name in PROGRAM))
        whole = self._digest if any(row.follows_terms or row.in_world for row in rows) else self._tree_digest
        return digest(source_digest(), whole, chosen) if whole and chosen else None

    @cached_property
    def _digest(self) -> str | None:
        """The digest of the inputs of all programs besides their specs and the rows of the table."""
        same = self._subject_digest
        return digest(same, dict(self._shapes), dict(self._labels)) if same else None

    @cached_property
    def _tree_digest(self) -> str | None:
        """The same, for programs of the tree alone: a robot with another friction law has the same."""
        return digest(self.model.tree, dict(self._labels)) if isinstance(self._given, EquationOfMotion) else self._digest

    @cached_property
    def _subject_digest(self) -> str | None:
        return digest(self.subject) if self._origin is None else self._origin._subject_digest

    def _may_choose(self, spec: Spec, row: Quantity) -> bool:
        """Whether the alternatives of a row are recorded too, and the shortest program is used: unless the spec selects one."""
        places = [1 + row.words.index(word) for word in SELECTORS if word in row.words]
        selects = any(len(quantity) > k for k in places for quantity in spec.quantities if self.table[quantity[0]] is row)
        return bool(row.alternatives) and self.model.nv <= row.few and not selects

    def _make(self, spec: Spec) -> Kernel:
        rows = [self.table[name] for name, *_ in spec.quantities]
        name = ".".join(filter(None, (self.name, self.table.title, *map(METHODS.get, spec.derivative[:1]), spec.label)))
        if is_by_columns(spec, self.model.nv):
            return ColumnKernel(self, spec, name)
        return Kernel(
            self.recording(spec),
            name=name,
            dtype=spec.dtype,
            explain=partial(self.explain, spec),
            lenient=any(row.lenient and not (row.checks and spec.derivative[:1] == (COORDINATES,)) for row in rows),
        )

    def explain(self, spec: Spec, *state: np.ndarray) -> None:
        """Raise the cause of a result that is not finite at a finite state; evaluation over floats names a zero pivot."""
        differentiated, guarded = bool(spec.derivative), spec.derivative[:1] == (COORDINATES,)
        spec = replace(spec, derivative=())
        state, factors = state[: len(self.inputs(spec))], state[len(self.inputs(spec)) :]
        for argument, x in zip(self.inputs(spec), state, strict=True):
            if argument.name in CONFIGURATIONS:
                check_configuration(self.model, argument.name, x.tolist())
        try:
            found = self.evaluate(spec, *(np.ravel(x).tolist() for x in state))
        except (ArithmeticError, ValueError) as error:  # of Python's math, which overflows with an error
            if isinstance(error, TorsorError):
                raise
            return
        checks = [name for quantity, *_ in spec.quantities for name in self.table[quantity].checks] if guarded else []
        if failed := [name for name in checks if not found[name] < 1]:
            raise SingularError(
                f"{spec.label} is not valid at this state: {failed[0]} is {float(found[failed[0]]):.3g}, not below 1; the "
                "method of the robot with the same numbers names the cause"
            )
        if any(np.abs(x).max(initial=0) > HUGE for x in factors):  # directions or weights: their products overflow
            return
        if differentiated and all(np.isfinite(np.array(x, float)).all() for x in found.values()):
            raise SingularError(f"{spec.label} is finite at this state, but has no finite derivative there (a kink, or a cusp)")
