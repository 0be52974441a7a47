"""The equations of motion of a robot, written out: M(q), c(q, v), g(q), Γ(q) and Jacobians, as formulas.

Every formula is the recording of the algorithm that computes it (:mod:`torsor.algorithms`), with the robot's numbers as
symbols.  A small robot's is multiplied out and grouped (:mod:`torsor.symbolic.program_trigonometry`); a large robot's stays a
program with named terms (:mod:`torsor.symbolic.program_text`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from torsor import algorithms as alg
from torsor.algorithms.jacobian import EXPRESSIONS
from torsor.compile.program import Argument, Program, program
from torsor.errors import ArgumentError, UnknownName
from torsor.model import Description, Model, assemble
from torsor.model.mechanism import Mechanism
from torsor.model.refusals import CLOSED, refuse_loops
from torsor.model.regrouping import with_fewest_parameters
from torsor.scalar import Graph
from torsor.symbolic.expanded import ExpandedFormula, Letters
from torsor.symbolic.library import sympy_library
from torsor.symbolic.parameters import Parameter, Parameters
from torsor.symbolic.program_text import ProgramText
from torsor.symbolic.program_trigonometry import Polynomials, TooLarge, Turn, runs
from torsor.symbolic.sections import recorded
from torsor.symbolic.style import Name, Signature

#: degrees of freedom up to which formulas are multiplied out
FEW = 4

#: letter → (Python name, algorithm of (model, q, v), title)
QUANTITIES: dict[str, tuple[str, Callable[..., Any], str]] = {
    "M": ("mass_matrix", lambda m, q, v: alg.crba(m, q), "Mass matrix"),
    "c": ("velocity_force", alg.velocity_force, "Coriolis and centripetal forces"),
    "g": ("gravity_force", lambda m, q, v: alg.gravity_force(m, q), "Gravity"),
    "Gamma": ("christoffel_symbols", lambda m, q, v: alg.christoffel_symbols(m, q), "Christoffel symbols"),
}

#: the coordinates of a joint by type: letters of q, and of v where it is not the rate of q
_COORDINATES: dict[str, Sequence[str]] = {
    "revolute": ("theta",), "continuous": ("theta",), "helical": ("theta",), "prismatic": ("d",),
    "cylindrical": ("theta", "d"), "universal": ("theta", "theta"), "planar": ("x", "y", "theta"),
    "floating": ("x", "y", "z", "e", "e", "e", "e"), "spherical": ("e", "e", "e", "e"),
}  # fmt: skip


def symbolic(robot: Mechanism, parameters: str = "symbols", form: str = "auto") -> ClosedForm:
    """The closed-form equations of motion of a robot: M, c, g, Γ and J as formulas, in SymPy, LaTeX and Markdown.

    ``parameters="symbols"`` names the robot's numbers (m_1, l_1, ...); ``"numbers"`` puts them in.  ``form`` is ``"expanded"``
    (one formula an entry), ``"program"`` (named intermediate terms), or ``"auto"``: expanded where that is readable.

    >>> from torsor import robots
    >>> arm = symbolic(robots.two_link())
    >>> arm.form, arm.g[1]
    ('expanded', g*lc_2*m_2*cos(theta_1 + theta_2))
    """
    if parameters not in ("symbols", "numbers"):
        raise ArgumentError(f"parameters must be 'symbols' or 'numbers', not {parameters!r}")
    if form not in ("auto", "expanded", "program"):
        raise ArgumentError(f"form must be 'auto', 'expanded' or 'program', not {form!r}")
    refuse_loops(robot.model, "symbolic", CLOSED)
    return ClosedForm(robot, parameters, form)


class ClosedForm:
    """A robot's equations of motion, τ = M(q) v̇ + c(q, v) + g(q).

    ``M``, ``c``, ``g``, ``Gamma`` and ``J(frame)`` are SymPy arrays where ``form`` is ``"expanded"``, and
    :class:`~torsor.symbolic.program_text.ProgramText` where it is ``"program"``.

    >>> from torsor import robots
    >>> ClosedForm(robots.rp_arm(), "numbers").M
    Matrix([
    [d_2**2 + 1/4, 0],
    [           0, 1]])
    >>> print(ClosedForm(robots.ur5()).quantity("M"))  # doctest: +ELLIPSIS
    # Constants of the robot
    k1 = m_upper_arm*lc_upper_arm
    ...
    """

    def __init__(self, robot: Mechanism, parameters: str = "symbols", form: str = "auto"):
        sympy_library()
        self.name, self.nq, self.nv = robot.name, robot.nq, robot.nv
        self._robot, self._numbers = robot, parameters == "numbers"
        self._parameters = Parameters(robot.description)
        self._made: dict[tuple[str, ...], ExpandedFormula | ProgramText] = {}
        self._names = _coordinate_names(robot.model)
        clash = {n.python for n in self._names} & {p.name for p in self._parameters.items}
        if clash:
            raise ArgumentError(f"the model's symbol {min(clash)} has the name of a coordinate; rename it")
        self.form = form if form != "auto" else "expanded" if robot.nv <= FEW else "program"
        if self.form == "expanded":
            try:
                for name in ("c", "M", "g"):
                    self._quantity((name,))
            except TooLarge:
                if form == "expanded":
                    raise ArgumentError(
                        f"robot {self.name!r} has no expanded form that anyone could read; use form='program'"
                    ) from None
                self.form = "program"
                self._made.clear()

    # -- symbols ---------------------------------------------------------------------------------------------

    @cached_property
    def q(self) -> tuple[Any, ...]:
        """The coordinates, SymPy symbols: theta_i an angle [rad], d_i a length [m]."""
        return tuple(sympy_library().Symbol(n.python) for n in self._names[: self.nq])

    @cached_property
    def v(self) -> tuple[Any, ...]:
        """The velocities, SymPy symbols: thetadot_i, ddot_i."""
        return tuple(sympy_library().Symbol(n.python) for n in self._names[self.nq :])

    @cached_property
    def values(self) -> dict[Any, float]:
        """The number behind each symbol of the robot: ``expression.subs(values)``."""
        sympy = sympy_library()
        return {sympy.Symbol(p.name): p.number for p in self._parameters.items if p.value is not None}

    @cached_property
    def description(self) -> Description:
        """The robot the formulas are of: the one given, with the right angles of :attr:`notes` exact."""
        return self._parameters.rebuilt({p.name: p.symbol or p.number for p in self._parameters.items})

    @property
    def notes(self) -> tuple[str, ...]:
        """Numbers that were rounded in the file and are treated as exact, one line each."""
        return tuple(self._parameters.notes)

    # -- quantities ------------------------------------------------------------------------------------------

    @property
    def M(self) -> Any:
        """The mass matrix M(q) (MR 8.57)."""
        return self._public("M")

    @property
    def c(self) -> Any:
        """The Coriolis and centripetal forces c(q, v) (MR 8.10)."""
        return self._public("c")

    @property
    def g(self) -> Any:
        """The gravity forces g(q) (MR 8.10)."""
        return self._public("g")

    @property
    def Gamma(self) -> Any:
        """The Christoffel symbols Γ_ijk(q), C_ij = Σ_k Γ_ijk v_k (MR 8.17)."""
        return self._public("Gamma")

    def J(self, frame: str, expressed_in: str = "world") -> Any:
        """The Jacobian of a frame, 6×nv, (ω, v) = J v, expressed in ``"world"``, ``"body"`` or ``"space"``."""
        return self._public("J", frame, expressed_in)

    def quantity(self, name: str, *words: str) -> ExpandedFormula | ProgramText:
        """One of ``"M"``, ``"c"``, ``"g"``, ``"Gamma"``, or ``"J"`` with a frame: the object that prints itself."""
        key = (name, *words)
        if name == "J":
            if not 1 <= len(words) <= 2:
                raise ArgumentError("J needs a frame, and how it is expressed: quantity('J', 'tip', 'world')")
            self._robot.model.frame(words[0])
            if len(words) == 2 and words[1] not in EXPRESSIONS:
                raise UnknownName("way to express a frame's motion", words[1], EXPRESSIONS)
            key = ("J", words[0], words[1] if len(words) == 2 else "world")
        elif name not in QUANTITIES:
            raise UnknownName("quantity in closed form", name, (*QUANTITIES, "J"))
        try:
            return self._quantity(key)
        except TooLarge:
            raise ArgumentError(f"{name} of {self.name!r} is too long to expand; use form='program'") from None

    def evaluate(self, name: str, q: Sequence[float], v: Sequence[float] | None = None, *words: str) -> Any:
        """The formula at a state, by its own arithmetic: ``evaluate("c", q, v)``, ``evaluate("J", q, None, "tip")``.

        >>> from torsor import robots
        >>> symbolic(robots.two_link()).evaluate("g", [0.0, 0.0])
        array([29.43,  9.81])
        """
        rates = [0.0] * self.nv if v is None else v
        for label, x, n in (("q", q, self.nq), ("v", rates, self.nv)):
            if len(x) != n:
                raise ArgumentError(f"{label} must have {n} numbers, {len(x)} given")
        unknown = [p.name for p in self._parameters.items if p.value is None]
        if unknown:
            raise ArgumentError(f"the model has symbols without a number: {', '.join(unknown)}; substitute them in M, c, g")
        numbers = [p.number for p in self._parameters.items]
        return self.quantity(name, *words)(*(float(x) for x in (*q, *rates)), *numbers)

    # -- printing --------------------------------------------------------------------------------------------

    def latex(self, *names: str) -> str:
        """LaTeX of some quantities (M, c and g unless named): ``aligned`` environments, abbreviations explained."""
        return "\n\n".join(self.quantity(n).latex() for n in names or ("M", "c", "g"))

    def markdown(self, *names: str) -> str:
        """Markdown with display equations, a heading each."""
        parts = [f"### {QUANTITIES[n][2]}\n\n{self.quantity(n).markdown()}" for n in names or ("M", "c", "g")]
        return "\n\n".join(parts)

    def text(self, *names: str) -> str:
        """Plain text, a line an entry."""
        return "\n\n".join(self.quantity(n).text() for n in names or ("M", "c", "g"))

    def python(self, *names: str) -> str:
        """Python functions of the state that need only ``math``."""
        return "\n\n".join(self.quantity(n).python() for n in names or ("M", "c", "g"))

    def _repr_latex_(self) -> str:
        return "\n\n".join(self.quantity(n)._repr_latex_() for n in ("M", "c", "g"))

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        kind = "numbers" if self._numbers else "symbols"
        return f"<ClosedForm of {self.name!r}: {self.form}, nv={self.nv}, parameters as {kind}>"

    # -- making them -----------------------------------------------------------------------------------------

    def _public(self, *key: str) -> Any:
        made = self.quantity(*key)
        return made.array if isinstance(made, ExpandedFormula) else made

    def _quantity(self, key: tuple[str, ...]) -> ExpandedFormula | ProgramText:
        if key not in self._made:
            make = self._expanded if self.form == "expanded" else self._program
            self._made[key] = make(key)
        return self._made[key]

    def _function(self, key: tuple[str, ...]) -> tuple[str, Callable[..., Any]]:
        if key[0] == "J":
            return "jacobian", lambda m, q, v: alg.jacobian(m, q, *key[1:])
        return QUANTITIES[key[0]][:2]

    @cached_property
    def _inputs(self) -> tuple[Argument, ...]:
        n = len(self._parameters.items)
        return Argument("q", (self.nq,)), Argument("v", (self.nv,)), Argument("p", (n,))

    def _model(self, graph: Graph, numbers: bool) -> tuple[Model, list[list[Any]]]:
        """The model with recorded scalars for its parameters, or numbers where there are any; and the state."""
        first = self.nq + self.nv
        nodes = {p.name: graph.input(first + k) for k, p in enumerate(self._parameters.items)}
        scalars = {p.name: p.number if numbers and p.value is not None else nodes[p.name] for p in self._parameters.items}
        state = [[graph.input(k) for k in range(self.nq)], [graph.input(self.nq + k) for k in range(self.nv)]]
        return assemble(self._parameters.rebuilt(scalars)), state

    def _expanded(self, key: tuple[str, ...]) -> ExpandedFormula:
        graph = Graph()
        model, state = self._model(graph, numbers=False)
        name, function = self._function(key)
        p = program(graph, self._inputs, {key[0]: function(model, *state)})
        polynomials = Polynomials(p, self._constants(p), self._turns)
        results = polynomials.results()
        letters = Letters(self._input_names, polynomials, self._angles, self._own, self._numbers)
        return ExpandedFormula(key[0], p.outputs[0].shape, results, letters, name, self._signature(p, key))

    def _program(self, key: tuple[str, ...]) -> ProgramText:
        graph = Graph()
        model, state = self._model(graph, self._numbers)
        name, function = self._function(key)
        lean = model if key[0] == "J" else with_fewest_parameters(model)
        p, sections = recorded(lean, function, self._inputs, state, graph, key[0])
        return ProgramText(name, p, sections, self._input_names, key[0], self._signature(p, key))

    def _signature(self, p: Program, key: tuple[str, ...]) -> Signature:
        """The state, then the parameters in use, each with its number."""
        used = {args[0] for op, args in p.code if op == "input"} - set(self._constants(p))
        items = enumerate(self._parameters.items, start=self.nq + self.nv)
        defaults = [(k, None if x.value is None else x.number) for k, x in items if k in used and k not in self._angles]
        state = [("q", 0, self.nq), ("v", self.nq, self.nv)][: 2 if key[0] == "c" else 1]
        return Signature(state, defaults, f"{':'.join(key)} of {self.name}, written by torsor.")

    @cached_property
    def _input_names(self) -> list[Name]:
        return [*self._names, *(Name(p.name, p.latex) for p in self._parameters.items)]

    def _known(self) -> list[tuple[int, Parameter]]:
        return [(self.nq + self.nv + k, p) for k, p in enumerate(self._parameters.items) if p.value is not None]

    def _constants(self, p: Program) -> dict[int, Fraction]:
        """What numbers go in: all but the angles, whose sines need not be rational."""
        if not self._numbers:
            return {}
        return {k: x.value for k, x in self._known() if not x.angle and x.value is not None}

    @cached_property
    def _angles(self) -> dict[int, Any]:
        """The exact value of a fixed angle, where numbers go in."""
        if not self._numbers:
            return {}
        sympy = sympy_library()
        return {k: sympy.pi * sympy.Rational(str(x.value)) for k, x in self._known() if x.angle}

    @cached_property
    def _own(self) -> dict[int, Any]:
        """The user's symbols."""
        items = enumerate(self._parameters.items, start=self.nq + self.nv)
        return {k: p.symbol for k, p in items if p.symbol is not None}

    @cached_property
    def _turns(self) -> dict[int, Turn]:
        return runs(self._robot.model)


def _coordinate_names(model: Model) -> list[Name]:
    """θ_i, d_i, ... of q, then their rates, numbered along q and v."""
    q: list[Name] = []
    v: list[Name] = []
    for i, _ in model.outward():
        joint = model.joint[i]
        if model.coupling[i] is not None:
            continue
        letters = _COORDINATES.get(joint.name, ("q",) * joint.nq)
        for letter in letters:
            tex = rf"\{letter}" if letter == "theta" else letter
            q.append(Name(f"{letter}_{len(q) + 1}", f"{tex}_{{{len(q) + 1}}}"))
        for k in range(joint.nv):
            n = len(v) + 1
            if joint.nq == joint.nv:
                tex = rf"\{letters[k]}" if letters[k] == "theta" else letters[k]
                v.append(Name(f"{letters[k]}dot_{n}", rf"\dot{{{tex}}}_{{{n}}}"))
            else:
                v.append(Name(f"v_{n}", f"v_{{{n}}}"))
    return q + v
