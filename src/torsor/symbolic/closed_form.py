"""The equations of motion of a robot, written out: M(q), c(q, v), g(q), Γ(q) and Jacobians, as formulas.

Every formula is the recording of the algorithm that computes it (:mod:`torsor.algorithms`), with the robot's numbers as
symbols.  A small robot's is multiplied out and grouped (:mod:`torsor.symbolic.program_trigonometry`); a large robot's stays a
program with named terms (:mod:`torsor.symbolic.named_terms`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from torsor import algorithms as alg
from torsor.algorithms.jacobian import EXPRESSIONS
from torsor.compile.program import Argument, program
from torsor.errors import ArgumentError, UnknownName
from torsor.model import Description, Model, assemble
from torsor.model.mechanism import Mechanism
from torsor.model.refusals import CONSTRAINED_FORWARD_DYNAMICS, refuse_forces, refuse_loops
from torsor.model.regrouping import with_fewest_parameters
from torsor.model.terms.capabilities import refuse
from torsor.scalar import Graph
from torsor.support.locks import cached_property
from torsor.symbolic.equations import PARTS, EquationsOfMotion
from torsor.symbolic.formula import ExpandedFormula, Formula, Part, ProgramText
from torsor.symbolic.library import sympy_library
from torsor.symbolic.notation import Name, latex_rate
from torsor.symbolic.parameters import Parameters
from torsor.symbolic.program_trigonometry import Letters, Polynomials, TooLarge, parallel_runs, to_sympy
from torsor.symbolic.rational import check_coordinates
from torsor.symbolic.sections import record_sections

#: degrees of freedom up to which formulas are multiplied out
FEW = 4

#: letter of a part → algorithm of (model, q, v, a)
ALGORITHMS: dict[str, Callable[..., Any]] = {
    "M": lambda m, q, v, a: alg.crba(m, q),
    "c": lambda m, q, v, a: alg.velocity_force(m, q, v),
    "g": lambda m, q, v, a: alg.gravity_force(m, q),
    "forces": lambda m, q, v, a: [0] * m.nv,
    "h": lambda m, q, v, a: alg.bias_force(m, q, v),
    "tau": alg.rnea,
    "C": lambda m, q, v, a: alg.coriolis_matrix(m, q, v),
    "Gamma": lambda m, q, v, a: alg.christoffel_symbols(m, q),
    "M_rate": lambda m, q, v, a: alg.mass_matrix_rate_by_coriolis_matrix(m, q, v),
}
JACOBIAN = Part("J", "jacobian", "q", 2, "J", "Jacobian")

#: the coordinates of a joint by type: letters of q, and of v where it is not the rate of q
_COORDINATES: dict[str, Sequence[str]] = {
    "revolute": ("theta",), "continuous": ("theta",), "helical": ("theta",), "prismatic": ("d",),
    "cylindrical": ("theta", "d"), "universal": ("theta", "theta"), "planar": ("x", "y", "theta"),
    "translation": ("x", "y", "z"), "euler": ("theta", "theta", "theta"),
    "floating_rpy": ("x", "y", "z", "phi", "theta", "psi"),
    "floating": ("x", "y", "z", "e", "e", "e", "e"), "spherical": ("e", "e", "e", "e"),
}  # fmt: skip


def symbolic(robot: Mechanism, parameters: str = "symbols", form: str = "auto") -> ClosedForm:
    """τ = M(q) a + c(q, v) + g(q) of a robot as formulas (MR 8.10), without damping and friction; also Γ, C and Jacobians.

    ``parameters="symbols"`` names the robot's numbers (m_1, l_1, ...); ``"numbers"`` puts them in.  ``form`` is ``"expanded"``
    (one formula per entry), ``"program"`` (named intermediate terms), or ``"auto"``: expanded if that is readable.

    >>> from torsor import robots
    >>> arm = symbolic(robots.two_link())
    >>> arm.form, arm.g[1]
    ('expanded', g*lc_2*m_2*cos(theta_1 + theta_2))
    """
    if parameters not in ("symbols", "numbers"):
        raise ArgumentError(f"parameters must be 'symbols' or 'numbers', not {parameters!r}")
    if form not in ("auto", "expanded", "program"):
        raise ArgumentError(f"form must be 'auto', 'expanded' or 'program', not {form!r}")
    refuse(robot.model, "symbols")
    refuse_forces(robot.model, "symbolic")
    refuse_loops(robot.model, "symbolic", CONSTRAINED_FORWARD_DYNAMICS)
    return ClosedForm(robot, parameters, form)


class ClosedForm(EquationsOfMotion):
    """The equations of motion of a robot, recorded from its algorithms: also Jacobians, ``J(frame)``.

    Its parts are SymPy arrays where ``form`` is ``"expanded"``, and :class:`~torsor.symbolic.formula.ProgramText` where it is
    ``"program"``.  ``values`` has the number behind each symbol of the robot: ``expression.subs(values)``.

    >>> from torsor import robots
    >>> symbolic(robots.rp_arm(), "numbers").M
    Matrix([
    [d_2**2 + 1/4, 0],
    [           0, 1]])
    >>> print(symbolic(robots.ur5()).quantity("M"))  # doctest: +ELLIPSIS
    # Constants
    k1 = m_upper_arm*lc_upper_arm
    ...
    """

    def __init__(self, robot: Mechanism, parameters: str = "symbols", form: str = "auto"):
        sp = sympy_library()
        self._robot, self._numbers, self._parameters = robot, parameters == "numbers", Parameters(robot.description.complete)
        items = self._parameters.items
        self._names = [*_coordinate_names(robot.model), *(Name(p.name, p.latex) for p in items)]
        self.name, n = robot.name, robot.nq + 2 * robot.nv
        if clash := {name.python for name in self._names[:n]} & {p.name for p in items}:
            raise ArgumentError(f"the model's symbol {min(clash)} has the name of a coordinate; rename it")
        self._symbols = [*(sp.Symbol(name.python) for name in self._names[:n]), *(p.symbol or sp.Symbol(p.name) for p in items)]
        q, v, a = (tuple(self._symbols[i:j]) for i, j in pairwise((0, robot.nq, robot.nq + robot.nv, n)))
        numbers = {s: p.number for s, p in zip(self._symbols[n:], items, strict=True) if p.value is not None}
        super().__init__(q, v, a, {}, numbers)
        self.form = form if form != "auto" else "expanded" if robot.nv <= FEW else "program"
        if self.form == "expanded":
            try:
                for part in ("c", "M", "g"):
                    self._formulas[part,] = self._formula((part,))
            except TooLarge:
                if form == "expanded":
                    raise ArgumentError(f"robot {self.name!r} has no readable expanded form; use form='program'") from None
                self.form = "program"
                self._formulas.clear()

    def J(self, frame: str, expressed_in: str = "world") -> Any:
        """The Jacobian of a frame, 6×nv, (ω, v) = J v, expressed in ``"world"``, ``"body"`` or ``"space"``."""
        return self.quantity("J", frame, expressed_in).expression

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The symbols of the robot: its numbers by name, and the user's own."""
        symbols = self._symbols[self.nq + 2 * self.nv :]
        return tuple(s for s in symbols if not (self._numbers and s in self.values))

    def with_values(self, values: Mapping[Any, Any]) -> EquationsOfMotion:
        """The expanded equations with numbers or expressions for parameters, ``{"m_1": 2.0}``."""
        self.check_expressions("with_values")
        return super().with_values(values)

    def check_expressions(self, caller: str, rates: bool = False) -> None:
        """An error unless the form is expanded and, with ``rates``, v = dq/dt for every joint."""
        if self.form == "program":
            raise ArgumentError(f"{caller} needs SymPy expressions; use robot.symbolic(form='expanded')")
        if rates:
            check_coordinates(self._robot.model, caller)

    @cached_property
    def description(self) -> Description:
        """The robot behind the formulas: the one given, with the right angles of :attr:`notes` exact."""
        return self._parameters.rebuild({p.name: p.symbol or p.number for p in self._parameters.items})

    @property
    def notes(self) -> tuple[str, ...]:
        """Rounded numbers of the file that are replaced by exact values, one line each."""
        return tuple(self._parameters.notes)

    def __repr__(self) -> str:
        kind = "numbers" if self._numbers else "symbols"
        return f"<ClosedForm of {self.name!r}: {self.form}, nv={self.nv}, parameters as {kind}>"

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __reduce__(self) -> Any:
        return ClosedForm, (self._robot, "numbers" if self._numbers else "symbols", self.form)

    # -- recording -------------------------------------------------------------------------------------------

    def _key(self, part: str, *words: str) -> tuple[str, ...]:
        if part != "J":
            if part not in ALGORITHMS:
                raise UnknownName("part of the equations of motion", part, (*ALGORITHMS, "J"))
            return super()._key(part, *words)
        if not 1 <= len(words) <= 2:
            raise ArgumentError("J needs a frame and its axes: quantity('J', 'tip', 'world')")
        self._robot.model.frame(words[0])
        if len(words) == 2 and words[1] not in EXPRESSIONS:
            raise UnknownName("expressed_in", words[1], EXPRESSIONS)
        return "J", words[0], words[1] if len(words) == 2 else "world"

    def quantity(self, part: str, *words: str) -> Formula:
        """One part as a formula that can be printed and called with numbers; also ``quantity("J", "tip", "world")``."""
        try:
            return super().quantity(part, *words)
        except TooLarge:
            raise ArgumentError(f"{part} of {self.name!r} is too long to expand; use form='program'") from None

    def _formula(self, key: tuple[str, ...]) -> Formula:
        part = JACOBIAN if key[0] == "J" else PARTS[key[0]]
        function = (lambda m, q, v, a: alg.jacobian(m, q, key[1], key[2])) if key[0] == "J" else ALGORITHMS[key[0]]
        make = self._expand if self.form == "expanded" else self._name_terms
        return make(part, function, f"{':'.join(key)} of {self.name}, written by torsor.")

    def _record(self, numbers: bool) -> tuple[Graph, Model, list[list[Any]]]:
        """A graph, the model with its parameters as inputs (or as numbers if they have values), and the state q, v, a."""
        graph = Graph()
        nodes = [graph.input(k) for k in range(len(self._symbols))]
        q, v, a, p = (nodes[i:j] for i, j in pairwise(self._starts))
        items = zip(self._parameters.items, p, strict=True)
        scalars = {x.name: x.number if numbers and x.value is not None else node for x, node in items}
        return graph, assemble(self._parameters.rebuild(scalars)), [q, v, a]

    def _expand(self, part: Part, function: Callable[..., Any], about: str) -> ExpandedFormula:
        """Multiplied out: one SymPy expression per entry."""
        sp = sympy_library()
        graph, model, state = self._record(numbers=False)
        p = program(graph, self._inputs, {part.letter: function(model, *state)})
        known = [(k, x) for k, x in enumerate(self._parameters.items, start=self._starts[3]) if self._numbers]
        constants = {k: x.value for k, x in known if x.value is not None and not x.angle}  # an angle's sine may be irrational
        angles = {k: sp.pi * sp.Rational(str(x.value)) for k, x in known if x.angle}
        polynomials = Polynomials(p, constants, parallel_runs(self._robot.model))
        letters = Letters(polynomials, [angles.get(k, symbol) for k, symbol in enumerate(self._symbols)])
        entries = [to_sympy(terms, letters) for terms in polynomials.results()]
        shape = p.outputs[0].shape
        cube = len(shape) > 2
        array = sp.ImmutableDenseNDimArray(entries, shape) if cube else sp.ImmutableMatrix(shape[0], (*shape, 1)[1], entries)
        state_symbols = {x: getattr(self, x) for x in part.reads}
        numbers = {x: self.values.get(x) for x in self.parameters}
        latex = {symbol: name.latex for symbol, name in zip(self._symbols, self._names, strict=True)}
        return ExpandedFormula(part, array, state_symbols, numbers, latex, decimals=self._numbers, about=about)

    def _name_terms(self, part: Part, function: Callable[..., Any], about: str) -> ProgramText:
        """A program of named terms, of the model with the fewest parameters."""
        graph, model, state = self._record(self._numbers)
        lean = model if part is JACOBIAN else with_fewest_parameters(model)
        p, sections = record_sections(lean, function, self._inputs, state, graph, part.letter)
        used = {args[0] for op, args in p.code if op == "input"}
        arguments = [a for a in self._inputs if a.name in part.reads]
        kept = [k for i, x in enumerate("qva") if x in part.reads for k in range(self._starts[i], self._starts[i + 1])]
        for k, x in enumerate(self._parameters.items, start=self._starts[3]):
            if k in used:
                kept.append(k)
                arguments.append(Argument(x.name, (), (), None if x.value is None else x.number))
        place = {k: n for n, k in enumerate(kept)}
        code = tuple((op, (place[args[0]],)) if op == "input" else (op, args) for op, args in p.code)
        short = replace(p, inputs=tuple(arguments), code=code)
        return ProgramText(part, short, [self._names[k] for k in kept], sections, about)

    @property
    def _starts(self) -> tuple[int, ...]:
        """The first input of q, v, a and the parameters, and the number of inputs."""
        return 0, self.nq, self.nq + self.nv, self.nq + 2 * self.nv, len(self._symbols)

    @property
    def _inputs(self) -> tuple[Argument, ...]:
        return tuple(Argument(name, (j - i,)) for name, (i, j) in zip("qvap", pairwise(self._starts), strict=True))


def _coordinate_names(model: Model) -> list[Name]:
    """θ_i, d_i, ... of q, then their rates and accelerations, numbered along q and v."""
    q: list[Name] = []
    v: list[Name] = []
    a: list[Name] = []
    for i, _ in model.outward():
        joint = model.joint[i]
        if model.coupling[i] is not None:
            continue
        letters = _COORDINATES.get(joint.name, ("q",) * joint.nq)
        q += [_name(letter, len(q) + k) for k, letter in enumerate(letters, start=1)]
        same = joint.nq == joint.nv  # the velocity is the rate of the coordinates
        for letter in letters if same else ("v",) * joint.nv:
            n = len(v) + 1
            v.append(_name(letter, n, same))
            a.append(_name(letter, n, same + 1))
    return [*q, *v, *a]


def _name(letter: str, n: int, dots: int = 0) -> Name:
    """A coordinate, its rate (one dot) or its acceleration (two)."""
    latex = rf"\{letter}_{{{n}}}" if letter == "theta" else f"{letter}_{{{n}}}"
    rate = f"{'d' * dots}ot" if dots else ""
    return Name(f"{letter}{rate}_{n}", latex_rate(latex, dots) if dots else latex)
