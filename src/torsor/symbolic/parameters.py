"""A robot's numbers as named symbols: m_1, l_1, lc_1, I_1, g, from the description, without zeros.

A name has the quantity and the link or joint: ``m`` mass, ``lc`` centre of mass, ``I`` inertia about it, ``l`` offset to the
next joint or frame, ``J`` reflected rotor inertia, ``alpha`` a fixed angle.  A single component has no letter for its axis:
``l_1`` instead of ``lx_1``.  Lengths ``l`` and ``lc`` are positive: a point at z = −0.5 m is at −lc, lc = 0.5 m.  Equal numbers
have different names, since 1 kg and 1 m are equal by accident.  A symbol that the user put into the description keeps its name,
and is one symbol wherever it occurs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import takewhile
from typing import Any

from torsor.errors import ArgumentError
from torsor.model.description import Description, Joint, Link
from torsor.scalar import is_zero
from torsor.spatial import Inertia, Mat, Sym, Transform, Vec, about
from torsor.spatial.rotation import about_coordinate_axis, to_rpy
from torsor.spatial.vector import AXES, IDENTITY, flat
from torsor.symbolic.expression_program import evaluate
from torsor.symbolic.library import sympy_library

#: quantities whose numbers are positive: a component against its axis has its sign in the equations
LENGTHS = ("l", "lc")
#: tolerance for right angles and simple fractions of a turn, which files round [rad, or an entry of a rotation]
SNAP = 1e-9


@dataclass(frozen=True)
class Parameter:
    """A number of the robot: its name, its LaTeX, and its exact value (None for a symbol that the user put in).

    An angle's value is in half turns, [π rad].
    """

    name: str
    latex: str
    value: Fraction | None
    angle: bool = False
    symbol: Any = None  # the user's own

    @property
    def number(self) -> float:
        """The value as a float, in SI units."""
        if self.value is None:
            raise ArgumentError(f"{self.name} is a symbol of the model and has no value")
        return float(self.value) * (math.pi if self.angle else 1.0)


class Parameters:
    """Every nonzero number of a description, by name.

    >>> from torsor import robots
    >>> [p.name for p in Parameters(robots.description("two_link")).items]
    ['m_1', 'lc_1', 'm_2', 'lc_2', 'l_1', 'l_tip', 'g']
    """

    def __init__(self, description: Description):
        self.description = description
        self.notes: list[str] = []
        self._found: dict[str, Parameter] = {}
        self._reserved: set[str] = set()
        self._walk(self._register)
        self._found.clear()
        self._walk(self._register)  # again, with names that differ from the user's symbols found in the first pass

    @property
    def items(self) -> tuple[Parameter, ...]:
        """The parameters, in the order of the description."""
        return tuple(self._found.values())

    def rebuild(self, scalars: dict[str, Any]) -> Description:
        """The description with the scalar ``scalars[name]`` in place of each named number."""

        def scalar(p: Parameter, expression: Any) -> Any:
            if expression is None:
                return scalars[p.name]
            return evaluate(expression, {symbol: scalars[symbol.name] for symbol in expression.free_symbols})

        return self._walk(scalar)

    # -- the walk --------------------------------------------------------------------------------------------

    def _register(self, p: Parameter, expression: Any) -> Any:
        if expression is None:
            self._found[p.name] = p
        else:
            sympy = sympy_library()
            for symbol in sorted(expression.free_symbols, key=str):
                self._reserved.add(symbol.name)
                known = self._found.setdefault(symbol.name, Parameter(symbol.name, sympy.latex(symbol), None, symbol=symbol))
                if known.symbol not in (None, symbol):
                    raise ArgumentError(f"two symbols of the model are named {symbol.name}, with different assumptions")
        return 1

    def _walk(self, new: Callable[[Parameter, Any], Any]) -> Description:
        d, self._used = self.description, set[str]()
        self._new = new
        bodies = _labels([link.name for link in d.links])
        hinges = _labels([j.name for j in d.joints])
        links = tuple(self._link(link, bodies[link.name]) for link in d.links)
        fans = [j.parent for j in d.joints if not all(is_zero(x) for x in j.origin.r)]
        joints = []
        for j in d.joints:
            owner = bodies[j.parent] if fans.count(j.parent) == 1 else hinges[j.name]
            joints.append(self._joint(j, owner, hinges[j.name]))
        tips = _labels([f.name for f in d.frames])
        frames = tuple(replace(f, origin=self._place(f.origin, tips[f.name], tips[f.name], f.name)) for f in d.frames)
        rebuilt = replace(d, links=links, joints=tuple(joints), frames=frames, gravity=self._gravity(d.gravity))
        self.notes = list(dict.fromkeys(self.notes))
        return rebuilt

    def _link(self, link: Link, label: str) -> Link:
        G = link.inertia
        if all(is_zero(x) for x in flat(G)) or (is_zero(G.m) and not all(is_zero(x) for x in G.h)):
            return link
        scale = max((abs(x) for x in G.I if isinstance(x, (int, float))), default=0.0)
        mass = self._scalar("m", "m", label, G.m)
        com = self._components("lc", "l_c", label, "xyz", G.com)
        I = self._components("I", "I", label, ("xx", "xy", "xz", "yy", "yz", "zz"), G.about_com, scale)
        return replace(link, inertia=Inertia.of(mass, Vec(*com), Sym(*I)))

    def _joint(self, j: Joint, owner: str, label: str) -> Joint:
        axes = "123456"[: len(j.armature)]
        armature = tuple(self._components("J", "J", label, axes, j.armature))
        return replace(j, origin=self._place(j.origin, owner, label, j.name), armature=armature)

    def _place(self, X: Transform, owner: str, label: str, whose: str) -> Transform:
        r = self._components("l", "l", owner, "xyz", X.r)
        return Transform.of_pose(self._rotation(X.E.T, label, whose), Vec(*r))

    def _gravity(self, g: Vec) -> Vec:
        at = [k for k, x in enumerate(g) if not is_zero(x)]
        if len(at) != 1 or not isinstance(g[at[0]], (int, float)):
            return Vec(*self._components("g", "g", "", "xyz", g))
        x = self._scalar("g", "g", "", abs(g[at[0]]))
        return Vec(*((-x if g[k] < 0 else x) if k == at[0] else 0 for k in range(3)))

    def _rotation(self, R: Mat, label: str, whose: str) -> Mat:
        """Right angles as whole numbers, other angles by name: R = Rz(yaw) Ry(pitch) Rx(roll)."""
        if not all(isinstance(x, (int, float)) for row in R for x in row):
            return Mat(*(Vec(*(self._scalar_of_symbol(x, 0.0) for x in row)) for row in R))
        whole = Mat(*(Vec(*(round(float(x)) if abs(x - round(float(x))) < SNAP else x for x in row)) for row in R))
        if any(a != b and abs(a - b) > 4e-16 for p, q in zip(R, whole, strict=True) for a, b in zip(p, q, strict=True)):
            self.notes.append(f"{whose}: its rotation is within {SNAP:g} of right angles, which are taken as exact")
        if all(isinstance(x, int) for row in whole for x in row):
            return whole
        out = IDENTITY
        angles = [float(x) for x in to_rpy(whole)]
        count = sum(_quarter(a) is None for a in angles)
        for axis, word, angle in zip((2, 1, 0), ("yaw", "pitch", "roll"), angles[::-1], strict=True):
            quarter = _quarter(angle)
            if quarter is not None:
                c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarter % 4]
                turn = about_coordinate_axis(axis, c, s)
            else:
                name = "alpha" if count == 1 else word
                p = self._new_name(
                    name, r"\alpha" if count == 1 else rf"\mathrm{{{word}}}", label, _half_turns(angle), angle=True
                )
                turn = about(AXES[axis], self._new(p, None))
            out = out @ turn
        return out

    # -- names -----------------------------------------------------------------------------------------------

    def _components(
        self, name: str, latex: str, label: str, axes: Sequence[str], values: Sequence[Any], scale: float = 0.0
    ) -> list[Any]:
        """Scalars for the nonzero components, named with the letter of their axis where there are several."""
        given = [_exact(x, scale) for x in values]
        several = sum(x != 0 for x in given) > 1
        out = []
        for axis, x in zip(axes, given, strict=True):
            letter = axis if several else ""
            backwards = name in LENGTHS and isinstance(x, Fraction) and x < 0
            made = 0 if x == 0 else self._scalar(name + letter, latex, label, -x if backwards else x, letter)
            out.append(-made if backwards else made)
        return out

    def _scalar(self, name: str, latex: str, label: str, value: Any, letter: str = "") -> Any:
        value = _exact(value)
        if value == 0:
            return 0
        if not isinstance(value, Fraction):
            return self._scalar_of_symbol(value, 0.0)
        return self._new(self._new_name(name, latex, label, value, letter), None)

    def _scalar_of_symbol(self, x: Any, scale: float) -> Any:
        """The caller's scalar for an expression with symbols; a number unchanged."""
        x = x if isinstance(x, (int, float)) else _exact(x, scale)
        return self._new(Parameter("", "", None), x) if hasattr(x, "free_symbols") and x.free_symbols else x

    def _new_name(self, name: str, latex: str, label: str, value: Fraction, letter: str = "", angle: bool = False) -> Parameter:
        full = f"{name}_{label}" if label else name
        while full in self._used or full in self._reserved:
            full += "_"
        self._used.add(full)
        base, _, lower = latex.partition("_")
        parts = [lower + letter, _subscript(label)]
        sub = ",".join(x for x in parts if x) if letter or not label.isdigit() else "".join(parts)
        return Parameter(full, f"{base}_{{{sub}}}" if sub else base, value, angle)


def _labels(names: list[str]) -> dict[str, str]:
    """Short names that still differ: link1 → 1, upper_arm_link → upper_arm, panda_link3 → 3, joint2_axis_weld → 2."""
    short = {}
    pairs = takewhile(lambda two: two[0] == two[1], zip(min(names), max(names), strict=False)) if len(names) > 1 else ()
    shared = "".join(a for a, _ in pairs).rpartition("_")[0]
    for name in names:
        s = re.sub(r"(_axis)?(_weld)?$", "", name.removeprefix(f"{shared}_") if shared else name)
        s = re.sub(r"^(link|joint|body)_?(?=\d)|_(link|joint|body)$", "", s)
        short[name] = re.sub(r"\W+", "_", s) or re.sub(r"\W+", "_", name)
    taken = list(short.values())
    return {name: s if taken.count(s) == 1 else re.sub(r"\W+", "_", name) for name, s in short.items()}


def _subscript(label: str) -> str:
    return label if len(label) <= 2 or label.isdigit() else rf"\mathrm{{{label.replace('_', chr(92) + ',')}}}"


def _exact(x: Any, scale: float = 0.0) -> Any:
    """A number as it was written (:func:`simplest_fraction`); an expression with symbols simplified."""
    if isinstance(x, Fraction):
        return x
    if isinstance(x, (int, float)):
        return simplest_fraction(x, scale)
    if not type(x).__module__.startswith("sympy"):
        raise ArgumentError(f"a closed form needs numbers or SymPy symbols in the model, not {type(x).__name__}")
    sympy = sympy_library()
    x = sympy.nsimplify(sympy.cancel(x), rational=True)
    return Fraction(int(x.p), int(x.q)) if x.is_Rational else x


def simplest_fraction(x: float, scale: float = 0.0) -> Fraction:
    """The shortest decimal or simple fraction within rounding of x; ``scale`` is the size of the numbers x is a difference of.

    >>> simplest_fraction(0.1), simplest_fraction(0.4**2 * 5 / 12), simplest_fraction(1e-17, scale=1.0)
    (Fraction(1, 10), Fraction(1, 15), Fraction(0, 1))
    """
    near = 1e-15 * max(abs(x), scale)
    if abs(x) <= near and scale:
        return Fraction(0)
    for digits in range(1, 18):
        if digits == 13:
            simple = Fraction(x).limit_denominator(10_000)
            if abs(float(simple) - x) <= near:
                return simple
        decimal = Fraction(format(x, f".{digits}g"))
        if abs(float(decimal) - x) <= near:
            return decimal
    return Fraction(x)


def _quarter(angle: float) -> int | None:
    n = round(angle / (math.pi / 2))
    return n if abs(angle - n * math.pi / 2) < SNAP else None


def _half_turns(angle: float) -> Fraction:
    """angle/π, as a simple fraction if it is within a file's rounding of one."""
    simple = Fraction(angle / math.pi).limit_denominator(180)
    return simple if abs(float(simple) * math.pi - angle) < SNAP else Fraction(angle / math.pi)
