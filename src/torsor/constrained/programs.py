"""What the kernels of a constrained robot compute: the rows, and the small systems they make with M and h."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from torsor.algorithms import closed_loops, crba, rnea
from torsor.algorithms.closed_loops import Saddle
from torsor.algorithms.inverse_mass import by_articulated_bodies, by_factors
from torsor.algorithms.jacobian import jacobian
from torsor.algorithms.wrenches import felt
from torsor.compile import Argument, Kernel, Program, trace
from torsor.compile.derivative import forward
from torsor.constraints.base import Constraint, Rows, State, stacked
from torsor.constraints.loop import JointConstraint
from torsor.model import Model
from torsor.model.regrouping import regrouped
from torsor.quantities import labels
from torsor.recording import FEW
from torsor.scalar import maximum, minimum
from torsor.spatial import Force
from torsor.spatial.linear import dot
from torsor.version import __version__

#: sin² of the angle between a row and those before it (in the metric M⁻¹) below which a kernel is not trusted: its result has
#: then lost eight digits
PIVOT = 1e-8
#: how much better than the smallest pivot the next must be known: below 1/SECOND it counts against the result too
SECOND = 1e3
#: by how much a row that was left out as redundant may be violated, against the sizes of its terms
REDUNDANT = 1e-6

#: F&O's methods 1 and 2, and method 2 with M⁻¹ by the sparse factors of M: (model, q, A, f, g, names) → Saddle
METHODS: dict[str, Callable[..., Saddle]] = {
    "direct": closed_loops.direct,
    "articulated": lambda m, q, *system: closed_loops.multipliers(by_articulated_bodies(m, q), *system),
    "factors": lambda m, q, *system: closed_loops.multipliers(by_factors(m, q), *system),
}


@dataclass(frozen=True)
class Inputs:
    """Which inputs a kernel has beyond the state: frames with wrenches, loops with joint forces, gains that stabilise."""

    frames: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    gains: bool = False


class Programs:
    """The recorded programs of a model under constraints."""

    def __init__(self, model: Model, constraints: Sequence[Constraint]):
        self.model, self.lean, self.constraints = model, regrouped(model), tuple(constraints)
        self.timed = any(c.timed for c in constraints)
        self.names = tuple(f"{c.name}: {label}" for c in constraints for label in c.labels())
        self.sizes = {"q": (model.nq,), "v": (model.nv,), "a": (model.nv,), "tau": (model.nv,), "t": (), "restitution": (),
                      "decay": (), "stiffness": (), "multipliers": (len(self.names),)}  # fmt: skip

    # -- kernels ---------------------------------------------------------------------------------------------

    def rows(self) -> Kernel:
        """(q, v[, t]) → φ, A, b and Ȧv − ḃ."""

        def function(g: dict[str, Any]) -> dict[str, Any]:
            r = self._stacked(g)
            return {"error": r.error, "A": r.A, "speed": r.speed, "drift": r.drift}

        return self._kernel("rows", ("q", "v"), function)

    def position(self) -> Kernel:
        """(q[, t]) → φ and A, M for their metric."""

        def function(g: dict[str, Any]) -> dict[str, Any]:
            r = self._stacked(g)
            return {"error": r.error, "A": r.A, "M": crba(self.lean, g["q"])}

        return self._kernel("position", ("q",), function)

    def jacobian_rate(self) -> Kernel:
        """(q[, t]) → ∂A/∂q, with columns for q and t."""
        p = self._program(("q",), lambda g: {"A": self._stacked(g).A})
        return self._made("jacobian_rate", forward(p, [a.name for a in p.inputs]))

    def dynamics(self, method: str, rows: Sequence[int], inputs: Inputs) -> Kernel:
        """(q, v, τ, ...) → a, λ, and the doubt: above one, the rows chosen are not enough here, or too many."""

        def program(chosen: str) -> Program:
            return self._program(("q", "v", "tau"), lambda g: self._solved(chosen, rows, g, *self._system(g, inputs)), inputs)

        return self._made(f"dynamics.{method}", self._shortest(method, program), lenient=True)

    def dynamics_terms(self, inputs: Inputs) -> Kernel:
        """(q, v, τ, ...) → M, A, f, g of M a − Aᵀλ = f, A a = g."""

        def function(g: dict[str, Any]) -> dict[str, Any]:
            A, f, right = self._system(g, inputs)
            return {"M": crba(self.lean, g["q"]), "A": A, "f": f, "g": right}

        return self._kernel("dynamics_terms", ("q", "v", "tau"), function, inputs)

    def impulse(self, method: str, rows: Sequence[int], inputs: Inputs) -> Kernel:
        """(q, v, e[, t]) → v⁺ − v, the impulses, and the doubt."""

        def program(chosen: str) -> Program:
            return self._program(("q", "v", "restitution"), lambda g: self._solved(chosen, rows, g, *self._struck(g)))

        return self._made("impulse", self._shortest(method, program), lenient=True)

    def impulse_terms(self, inputs: Inputs) -> Kernel:
        """(q, v, e[, t]) → M, A, f, g of M Δv − Aᵀι = 0, A Δv = −(1 + e)(A v − b)."""

        def function(g: dict[str, Any]) -> dict[str, Any]:
            A, f, right = self._struck(g)
            return {"M": crba(self.lean, g["q"]), "A": A, "f": f, "g": right}

        return self._kernel("impulse_terms", ("q", "v", "restitution"), function)

    def frame_terms(self, frame: str) -> Kernel:
        """(q[, t]) → A and the frame's Jacobian, in the world's axes."""

        def function(g: dict[str, Any]) -> dict[str, Any]:
            return {"A": self._stacked(g).A, "J": jacobian(self.model, g["q"], frame, "world")}

        return self._kernel(f"frame_terms.{frame}", ("q",), function)

    def reactions(self, inputs: Inputs) -> Kernel:
        """(q, v, a, λ, ...) → the wrench through every joint of the tree, then through every constraint between frames."""
        from torsor.constrained.reactions import reactions

        def function(g: dict[str, Any]) -> dict[str, Any]:
            wrenches = {name: g[f"wrenches[{name!r}]"] for name in inputs.frames}
            on_robot = wrenches, self._pushed(g, inputs)
            return reactions(self.model, self.constraints, self._state(g), g["a"], g["multipliers"], *on_robot)

        return self._kernel("reactions", ("q", "v", "a", "multipliers"), function, inputs)

    # -- what is recorded --------------------------------------------------------------------------------------

    def _stacked(self, g: dict[str, Any]) -> Rows:
        return stacked(self.constraints, self._state(g))

    def _state(self, g: dict[str, Any]) -> State:
        return State(self.model, g["q"], g.get("v"), g.get("t", 0))

    def _system(self, g: dict[str, Any], inputs: Inputs) -> tuple[list[list[Any]], list[Any], list[Any]]:
        """A, f = τ − h + Jᵀf_ext + τ_a and g = −(Ȧv − ḃ), with Baumgarte's −2α(A v − b) − β²φ where asked (F&O 15–19)."""
        state = self._state(g)
        r = stacked(self.constraints, state)
        wrenches = {name: g[f"wrenches[{name!r}]"] for name in inputs.frames}
        h = rnea(self.lean, g["q"], g["v"], [0] * self.model.nv, wrenches or None)
        f = [t - x for t, x in zip(g["tau"], h, strict=True)]
        for force in self._pushed(g, inputs):
            f = [x + y for x, y in zip(f, felt(self.model, *state.kinematics, force), strict=True)]
        right = [-d for d in r.drift]
        if inputs.gains:
            slip = [dot(row, g["v"]) - b for row, b in zip(r.A, r.speed, strict=True)]
            alpha, beta = 2 * g["decay"], g["stiffness"] * g["stiffness"]
            right = [x - alpha * s - beta * e for x, s, e in zip(right, slip, r.error, strict=True)]
        return r.A, f, right

    def _struck(self, g: dict[str, Any]) -> tuple[list[list[Any]], list[Any], list[Any]]:
        r = self._stacked(g)
        back = 1 + g["restitution"]
        return r.A, [0] * self.model.nv, [-back * (dot(row, g["v"]) - b) for row, b in zip(r.A, r.speed, strict=True)]

    def _solved(self, method: str, rows: Sequence[int], g: dict[str, Any], A: Any, f: Any, right: Any) -> dict[str, Any]:
        """The rows chosen, solved; the others, looked at."""
        chosen = [A[k] for k in rows], f, [right[k] for k in rows], [self.names[k] for k in rows]
        s = METHODS[method](self.lean, g["q"], *chosen)
        lam: list[Any] = [0] * len(A)
        for k, x in zip(rows, s.multipliers, strict=True):
            lam[k] = x
        doubt: Any = 0.0
        if rows:
            least, second = s.pivots[0], 1
            for pivot in s.pivots[1:]:
                least, second = minimum(least, pivot), minimum(second, maximum(least, pivot))
            # rounding may leave a vanishing pivot just below zero, and after one small pivot the next is known less well
            doubt = PIVOT / maximum(least * minimum(1, second * SECOND), 1e-300)
        for k in sorted(set(range(len(A))) - set(rows)):
            parts = [x * y for x, y in zip(A[k], s.x, strict=True)]
            gap, size = -right[k], abs(right[k])
            for part in parts:
                gap, size = gap + part, size + abs(part)
            doubt = maximum(doubt, abs(gap) / (size * REDUNDANT + REDUNDANT))
        return {"x": s.x, "multipliers": lam, "doubt": doubt}

    def _pushed(self, g: dict[str, Any], inputs: Inputs) -> list[dict[int, Force]]:
        """The wrenches of actuated loop joints (F&O 19's τ_a)."""
        loops = {c.name: c for c in self.constraints if isinstance(c, JointConstraint)}
        state = self._state(g)
        return [loops[name].actuated(state, g[f"loop_forces[{name!r}]"]) for name in inputs.loops]

    # -- tracing -------------------------------------------------------------------------------------------------

    def _arguments(self, names: Sequence[str], inputs: Inputs | None = None) -> list[Argument]:
        inputs = inputs or Inputs()
        all_names = [*names, *(["t"] if self.timed else []), *(["decay", "stiffness"] if inputs.gains else [])]
        out = [Argument(x, self.sizes[x], labels(self.model).get(x, ())) for x in all_names]
        out += [Argument(f"wrenches[{f!r}]", (6,)) for f in inputs.frames]
        loops = {c.name: c for c in self.constraints if isinstance(c, JointConstraint)}
        return out + [Argument(f"loop_forces[{name!r}]", (loops[name].kind.nv,)) for name in inputs.loops]

    def _given(self, arguments: Sequence[Argument], values: Sequence[Any]) -> dict[str, Any]:
        return {a.name: (x if a.shape else x[0]) for a, x in zip(arguments, values, strict=True)}

    def _program(self, names: Sequence[str], function: Callable[..., Any], inputs: Inputs | None = None) -> Program:
        arguments = self._arguments(names, inputs)
        p = trace(lambda *values: function(self._given(arguments, values)), arguments)
        if self.names:
            return p
        shapes = {"A": (0, self.model.nv)}  # no rows at all, still of nv columns
        return replace(p, outputs=tuple(Argument(o.name, shapes.get(o.name, o.shape)) for o in p.outputs))

    def _kernel(self, label: str, names: Sequence[str], function: Callable[..., Any], inputs: Inputs | None = None) -> Kernel:
        return self._made(label, self._program(names, function, inputs))

    def _made(self, label: str, program: Program, lenient: bool = False) -> Kernel:
        return Kernel(program, name=f"{self.model.name}.constrained.{label}", version=__version__, lenient=lenient)

    def _shortest(self, method: str, program: Callable[[str], Program]) -> Program:
        """F&O's method by its name; "multipliers" by whichever route to M⁻¹ takes fewer operations."""
        if method == "direct":
            return program("direct")
        if not self.model.local:
            return program("factors")
        if self.model.nv > 4 * FEW:
            return program("articulated")
        return min((program(route) for route in ("factors", "articulated")), key=lambda p: p.operations)
