"""The equations of motion of a robot, written out: M(q), c(q, v), g(q), Γ(q), Jacobians, terms and rows, as formulas.

Every formula is the recording of the algorithm that computes it (:mod:`torsor.algorithms`), with the robot's numbers as
symbols.  A small robot's is multiplied out and grouped (:mod:`torsor.symbolic.program_trigonometry`); a large robot's stays a
program with named terms (:mod:`torsor.symbolic.named_terms`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from torsor import algorithms as alg
from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.jacobian import EXPRESSIONS
from torsor.algorithms.terms import force_of_term
from torsor.compile.program import Argument, program
from torsor.compile.text.names import identifier
from torsor.errors import ArgumentError, UnknownName
from torsor.model import Description, Model, assemble
from torsor.model.forces import Drag
from torsor.model.mechanism import Mechanism
from torsor.model.regrouping import with_fewest_parameters
from torsor.model.terms.capabilities import refuse
from torsor.model.terms.term import Term
from torsor.scalar import Graph
from torsor.spatial import Inertia
from torsor.spatial.vector import ZERO
from torsor.support.locks import cached_property
from torsor.symbolic.equations import PARTS, EquationsOfMotion
from torsor.symbolic.formula import ExpandedFormula, Formula, Part, ProgramText, Statement
from torsor.symbolic.library import sympy_library
from torsor.symbolic.notation import Name, latex_rate, latex_text
from torsor.symbolic.parameters import Parameters
from torsor.symbolic.program_trigonometry import Letters, NotPolynomial, Polynomials, TooLarge, parallel_runs, to_sympy
from torsor.symbolic.rational import check_coordinates
from torsor.symbolic.sections import record_sections

#: degrees of freedom up to which formulas are multiplied out
FEW = 4

#: letter of a part → algorithm of (model, q, v, a, inputs of the terms)
ALGORITHMS: dict[str, Callable[..., Any]] = {
    "M": lambda m, q, *_: alg.crba(m, q),
    "c": lambda m, q, v, *_: alg.velocity_force(m, q, v),
    "g": lambda m, q, *_: alg.gravity_force(m, q),
    "forces": lambda m, q, v, *_: drag_force(m, q, v),
    "h": lambda m, q, v, *_: alg.bias_force(m, q, v),
    "tau": lambda m, q, v, a, _: alg.rnea(m, q, v, a),
    "C": lambda m, q, v, *_: alg.coriolis_matrix(m, q, v),
    "Gamma": lambda m, q, *_: alg.christoffel_symbols(m, q),
    "M_rate": lambda m, q, v, *_: alg.mass_matrix_rate_by_coriolis_matrix(m, q, v),
}
JACOBIAN = Part("J", "jacobian", "q", 2, "J", "Jacobian")
#: the rows of constraints: φ = 0, A v = b, A a + Ȧv − ḃ = 0
ROWS = {
    "phi": (Part("phi", "constraint_error", "q", 1, r"\varphi", "Closure of the constraints"), "error"),
    "A": (Part("A", "constraint_jacobian", "q", 2, "A", "Constraints"), "A"),
    "drift": (Part("drift", "constraint_drift", "qv", 1, r"\dot{A}v", "Drift of the constraints"), "drift"),
}

#: the coordinates of a joint by type: letters of q, and of v where it is not the rate of q
_COORDINATES: dict[str, Sequence[str]] = {
    "revolute": ("theta",), "continuous": ("theta",), "helical": ("theta",), "prismatic": ("d",),
    "cylindrical": ("theta", "d"), "universal": ("theta", "theta"), "planar": ("x", "y", "theta"),
    "translation": ("x", "y", "z"), "euler": ("theta", "theta", "theta"),
    "floating_rpy": ("x", "y", "z", "phi", "theta", "psi"),
    "floating": ("x", "y", "z", "e", "e", "e", "e"), "spherical": ("e", "e", "e", "e"),
}  # fmt: skip


def symbolic(robot: Mechanism, parameters: str = "symbols", form: str = "auto") -> ClosedForm:
    """M(q) a + c(q, v) + g(q) = τ + Q + Σ f + Aᵀλ, A a + Ȧv = ḃ of a robot as formulas (MR 8.10, §8.7); also Γ, C and J.

    M, c, g, h and τ = M a + h are those of the tree; Q is the drag of its force elements.  f of each term by its name is
    ``quantity("force", name)``: of friction under the joint forces load_1, ..., with its states state_1, ..., at the time t.
    Rows are A, Ȧv − ḃ (``drift``) and their closure ``phi``, and are not solved for.

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
        items, state, read = self._parameters.items, _coordinate_names(robot.model), _inputs_of_terms(robot.model)
        self._names = [*state, *(Name(p.name, p.latex) for p in items), *read]
        self.name, n = robot.name, robot.nq + 2 * robot.nv
        if clash := {name.python for name in (*state, *read)} & {p.name for p in items}:
            raise ArgumentError(
                f"the model's symbol {min(clash)} has the name of a coordinate or an input of a term; rename it"
            )
        given = {p.name: p.symbol for p in items if p.symbol is not None}
        self._symbols = [given.get(name.python) or sp.Symbol(name.python) for name in self._names]
        q, v, a = (tuple(self._symbols[i:j]) for i, j in pairwise((0, robot.nq, robot.nq + robot.nv, n)))
        numbers = {s: p.number for s, p in zip(self._symbols[n:], items, strict=False) if p.value is not None}
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
        symbols = self._symbols[slice(*self._starts[3:5])]
        return tuple(s for s in symbols if not (self._numbers and s in self.values))

    @cached_property
    def terms(self) -> dict[str, Formula]:
        """The force f (nv) of each term of the robot that has one, by its name [N·m, N]."""
        return {term.name: self.quantity("force", term.name) for term in self._robot.model.terms if _has_force(term)}

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
        model = self._robot.model
        if part == "force" and len(words) == 1:
            if words[0] not in (names := [term.name for term in model.terms if _has_force(term)]):
                raise UnknownName("term with a force", words[0], names)
            return part, *words
        if part != "J":
            known = (*ALGORITHMS, *(ROWS if model.has_rows else ()))
            if part not in known:
                raise UnknownName("part of the equations of motion", part, (*known, "J", *(["force"] if self.terms else [])))
            return (part,) if part in ROWS and not words else super()._key(part, *words)
        if not 1 <= len(words) <= 2:
            raise ArgumentError("J needs a frame and its axes: quantity('J', 'tip', 'world')")
        model.frame(words[0])
        if len(words) == 2 and words[1] not in EXPRESSIONS:
            raise UnknownName("expressed_in", words[1], EXPRESSIONS)
        return "J", words[0], words[1] if len(words) == 2 else "world"

    def quantity(self, part: str, *words: str) -> Formula:
        """One part as a formula that can be printed and called with numbers; also ``quantity("J", "tip", "world")``.

        A part that is not a polynomial of sines and cosines (the length of a spring) is a program of named terms in each form.
        """
        try:
            return super().quantity(part, *words)
        except NotPolynomial:
            key = self._key(part, *words)
            return self._formulas.setdefault(key, self._name_terms(*self._recipe(key)))
        except TooLarge:
            raise ArgumentError(f"{part} of {self.name!r} is too long to expand; use form='program'") from None

    def _formula(self, key: tuple[str, ...]) -> Formula:
        return (self._expand if self.form == "expanded" else self._name_terms)(*self._recipe(key))

    def _recipe(self, key: tuple[str, ...]) -> tuple[Part, Callable[..., Any], str]:
        """A part, its function of (model, q, v, a, inputs of the terms), and a comment."""
        about = f"{':'.join(key)} of {self.name}, written by torsor."
        if key[0] == "J":
            return JACOBIAN, lambda m, q, *_: alg.jacobian(m, q, key[1], key[2]), about
        if key[0] == "force":
            latex = f"f^{{{latex_text(key[1])}}}"
            part = Part(key[1], identifier(f"{key[1]}_force"), "qv", 1, latex, f"Force of {key[1]}")
            return part, partial(_force, key[1]), about
        if key[0] in ROWS:
            part, field = ROWS[key[0]]
            return part, partial(_rows, field), about
        return PARTS[key[0]], ALGORITHMS[key[0]], about

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        drag = [("forces",)] if any(isinstance(row.element, Drag) for row in self._robot.model.forces) else []
        rows = [("A",), ("drift",)] if self._robot.model.has_rows else []
        return ("M",), ("c",), ("g",), *drag, *(("force", name) for name in self.terms), *rows

    @property
    def _statement(self) -> Statement | None:
        """The equation that the parts belong to, with rows as a saddle system; None of a bare tree."""
        parts = self.parts
        if len(parts) == 3:
            return None
        right = [self.quantity(*key).part for key in parts[3:] if key[0] in ("forces", "force")]
        plain = " + ".join(["M a + c + g = tau", *(part.letter for part in right)])
        terms = "".join(f" + {part.latex}" for part in right)
        if not self._robot.model.has_rows:
            return Statement(plain, rf"M a + \mathbf{{c}} + \mathbf{{g}} = \tau{terms}")
        matrix, unknown = r"\begin{bmatrix} M & -A^T \\ A & 0 \end{bmatrix}", r"\begin{bmatrix} a \\ \lambda \end{bmatrix}"
        force = rf"\begin{{bmatrix}} \tau{terms} - \mathbf{{c}} - \mathbf{{g}} \\ -\dot{{A}}v \end{{bmatrix}}"
        return Statement(f"{plain} + A^T lambda\nA a + drift = 0", f"{matrix} {unknown} = {force}")

    def _record(self, numbers: bool) -> tuple[Graph, Model, list[list[Any]]]:
        """A graph, the model with its parameters as inputs (or as numbers if they have values), q, v, a and inputs of terms."""
        graph = Graph()
        nodes = [graph.input(k) for k in range(len(self._symbols))]
        q, v, a, p, more = (nodes[i:j] for i, j in pairwise(self._starts))
        items = zip(self._parameters.items, p, strict=True)
        scalars = {x.name: x.number if numbers and x.value is not None else node for x, node in items}
        return graph, assemble(self._parameters.rebuild(scalars)), [q, v, a, more]

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
        numbers = {x: self.values.get(x) for x in (*self.parameters, *self._symbols[self._starts[4] :])}
        latex = {symbol: name.latex for symbol, name in zip(self._symbols, self._names, strict=True)}
        return ExpandedFormula(part, array, state_symbols, numbers, latex, decimals=self._numbers, about=about)

    def _name_terms(self, part: Part, function: Callable[..., Any], about: str) -> ProgramText:
        """A program of named terms, of the model with the fewest parameters."""
        graph, model, state = self._record(self._numbers)
        lean = with_fewest_parameters(model) if part.letter in PARTS else model
        p, sections = record_sections(lean, function, self._inputs, state, graph, part.letter)
        used = {args[0] for op, args in p.code if op == "input"}
        arguments = [a for a in self._inputs if a.name in part.reads]
        kept = [k for i, x in enumerate("qva") if x in part.reads for k in range(self._starts[i], self._starts[i + 1])]
        defaults = {p.name: p.number for p in self._parameters.items if p.value is not None}
        for k, name in enumerate(self._names[self._starts[3] :], start=self._starts[3]):
            if k in used:
                kept.append(k)
                arguments.append(Argument(name.python, (), (), defaults.get(name.python)))
        place = {k: n for n, k in enumerate(kept)}
        code = tuple((op, (place[args[0]],)) if op == "input" else (op, args) for op, args in p.code)
        short = replace(p, inputs=tuple(arguments), code=code)
        return ProgramText(part, short, [self._names[k] for k in kept], sections, about)

    @property
    def _starts(self) -> tuple[int, ...]:
        """The first input of q, v, a, the parameters and the inputs of terms, and the number of inputs."""
        n = self.nq + 2 * self.nv
        return 0, self.nq, self.nq + self.nv, n, n + len(self._parameters.items), len(self._symbols)

    @property
    def _inputs(self) -> tuple[Argument, ...]:
        return tuple(Argument(name, (j - i,)) for name, (i, j) in zip("qvapx", pairwise(self._starts), strict=True))


# -- terms and rows ------------------------------------------------------------------------------------------


def drag_force(model: Model, q: Any, v: Any) -> list[Any]:
    """Q (nv): the drag of the force elements, which is h of bodies without mass and weight."""
    if not model.forces:
        return [0] * model.nv
    light = replace(model, inertia=(Inertia.zero(),) * len(model.inertia), gravity=ZERO, rotors=())
    return [-x for x in alg.bias_force(light, q, v)]


def _inputs_of_terms(model: Model) -> list[Name]:
    """The inputs that terms read beside q and v: the time, their states, and the joint forces that friction grows with."""
    x = range(1, 1 + sum(term.states(model).size for term in model.terms))
    load = range(1, 1 + (model.nv if model.joints_with_friction else 0))
    clock = [Name("t", "t")] if model.depends_on_time else []
    return [
        *clock,
        *(Name(f"state_{k}", rf"\mathrm{{x}}_{{{k}}}") for k in x),
        *(Name(f"load_{k}", rf"\ell_{{{k}}}") for k in load),
    ]


def _split(model: Model, more: Sequence[Any]) -> tuple[Any, Sequence[Any] | None, Sequence[Any]]:
    """t, x and the loads, from the inputs of terms."""
    first = int(model.depends_on_time)
    last = first + sum(term.states(model).size for term in model.terms)
    return more[0] if first else None, more[first:last] or None, more[last:] or [0] * model.nv


def _has_force(term: Term) -> bool:
    kind = type(term)
    return kind.force is not Term.force or kind.friction is not Term.friction or kind.base is not Term.base


def _force(name: str, model: Model, q: Any, v: Any, a: Any, more: Sequence[Any]) -> list[Any]:
    """f − φ(v, ℓ) of the term with this name."""
    t, x, load = _split(model, more)
    e = EquationOfMotion(model)
    at, term = e.at(q, v, t, x), next(term for term in e.terms if term.name == name)
    lost = e.friction(at, e.loads(load), [term])
    return [y - z for y, z in zip(force_of_term(e, term, at, [0] * model.nv), lost, strict=True)]


def _rows(field: str, model: Model, q: Any, v: Any, a: Any, more: Sequence[Any]) -> Any:
    e = EquationOfMotion(model)
    return getattr(e.stack_rows(e.at(q, v, _split(model, more)[0])), field)


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
