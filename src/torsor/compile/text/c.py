"""A program as C99: no allocation, only math.h, cut into static functions like the machine code.

The cuts and the scratch slots are those of :mod:`torsor.compile.schedule`: a C compiler's time and stack grow faster than
linearly with the length of a function, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from torsor.compile.program import Argument, Program
from torsor.compile.schedule import CHUNK, Schedule, schedule
from torsor.compile.text.language import LIBRARY, c_language
from torsor.compile.text.lines import Lines
from torsor.compile.text.names import argument_names, comment, entry_names

_C_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr const_cast
continue decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast restrict return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
errno main sin cos sqrt tanh exp log asin acos atan2 fabs fma sinf cosf sqrtf tanhf expf logf asinf acosf atan2f fabsf
fmaf INFINITY NAN torsor_min torsor_max torsor_sign NOINLINE
"""
#: words a parameter cannot have: those of C99 and C++, and the functions the text calls
RESERVED = frozenset(_C_KEYWORDS.split())
#: operations without an operator or function in C; NaN propagates as in NumPy
HELPERS = {
    "min": "static {T} torsor_min({T} a, {T} b) {{ return a < b || a != a ? a : b; }}",
    "max": "static {T} torsor_max({T} a, {T} b) {{ return a > b || a != a ? a : b; }}",
    "sign": "static {T} torsor_sign({T} a) {{ return a > 0 ? 1 : a < 0 ? -1 : a * 0; }}",
}
#: bytes of a call in addition to its named values: return addresses, saved registers, arguments [two calls deep]
FRAMES = 512


@dataclass(frozen=True)
class CFunction:
    """``declaration`` ends without a semicolon.  ``stack`` is an upper bound in bytes, without math.h."""

    name: str
    declaration: str
    definition: str
    operations: int
    calls: int
    stack: int
    helpers: frozenset[str]


def c_function(
    program: Program,
    name: str,
    *,
    single: bool = False,
    fma: bool = False,
    chunk: int = CHUNK,
    entries: Sequence[str] = (),
) -> CFunction:
    """The program as ``void name(const double *input, ..., double *output, ...)``.

    A scalar input is passed by value.  ``fma`` writes sums of products as calls of ``fma``.
    ``entries`` are names for the entries of the inputs.

    >>> from torsor.compile import Argument, record
    >>> p = record(lambda x: {"y": [2 * x[0] * x[1]]}, [Argument("x", (2,))])
    >>> print(c_function(p, "twice").definition)
    void twice(const double *x, double *y)
    {
        const double x_0 = x[0];
        const double x_1 = x[1];
        y[0] = x_1 * (x_0 * 2.0);
    }
    """
    places = [(o, k) for o in range(len(program.outputs)) for k in range(program.outputs[o].size)]
    s = schedule(program, fma, [[p] for p in range(len(places))], chunk)
    return _Printer(program, name, s, places, single, entries).function()


class _Printer:
    def __init__(
        self, program: Program, name: str, s: Schedule, places: list[tuple[int, int]], single: bool, entries: Sequence[str]
    ):
        self.program, self.name, self.s = program, name, s
        self.T, self.size = ("float", 4) if single else ("double", 8)
        self.arguments = [*program.inputs, *program.outputs]
        self.names = argument_names(self.arguments, {*RESERVED, name})
        outputs = self.names[len(program.inputs) :]

        def store(position: int, text: str) -> str:
            o, k = places[position]
            return f"{outputs[o]}[{k}] = {text}"

        local = entry_names(entries, {*RESERVED, *self.names, name, "scratch"})
        self.lines = Lines(s, program.inputs, self.names, c_language(single), store, local)

    def function(self) -> CFunction:
        program, s = self.program, self.s
        head = f"void {self.name}({', '.join(map(self.parameter, range(len(self.names)))) or 'void'})"
        chunks = [self.lines.chunk(c) for c in range(len(s.cuts) - 1)]
        locals_ = max(n for _, n in chunks)
        if len(chunks) == 1:
            text = self.block(head, chunks[0][0], self.unused_arguments(chunks[0][0]))
        else:
            parts = [self.part(c, lines) for c, (lines, _) in enumerate(chunks)]
            calls = ([f"{self.T} scratch[{s.slots}]"] if s.slots else []) + [call for _, call in parts]
            text = "\n".join([*(part for part, _ in parts), self.block(head, calls, self.unused_arguments(calls))])
        calls_ = sum(program.counts[op] for op in LIBRARY)
        stack = self.size * (s.slots + locals_) + 8 * 2 * (len(self.names) + 2) + FRAMES
        return CFunction(
            self.name, head, text, program.operations, calls_, -(-stack // 16) * 16, frozenset(program.counts) & set(HELPERS)
        )

    def parameter(self, k: int) -> str:
        a, name = self.arguments[k], self.names[k]
        if k >= len(self.program.inputs):
            return f"{self.T} *{name}"
        return f"const {self.T} *{name}" if a.shape else f"{self.T} {name}"

    def part(self, c: int, lines: list[str]) -> tuple[str, str]:
        """One chunk as a static function of the arguments it touches, and the call of it."""
        words = _identifiers(lines)
        mine = [k for k, name in enumerate(self.names) if name in words]
        scratch = "scratch" in words
        parameters = [*map(self.parameter, mine), *([f"{self.T} *scratch"] if scratch else [])]
        values = [*(self.names[k] for k in mine), *(["scratch"] if scratch else [])]
        name = f"{self.name}__part{c + 1}"  # no exported name has two underscores
        head = f"static NOINLINE void {name}({', '.join(parameters) or 'void'})"
        return self.block(head, lines, []), f"{name}({', '.join(values)})"

    def unused_arguments(self, lines: list[str]) -> list[str]:
        """Arguments that are neither read nor written."""
        words = _identifiers(lines)
        return [name for name in self.names if name not in words]

    def block(self, head: str, lines: list[str], unused: list[str]) -> str:
        body = [*lines, *(f"(void){name}" for name in unused)]
        return "\n".join((head, "{", *(f"    {line};" for line in body), "}"))


def _identifiers(lines: list[str]) -> set[str]:
    """The identifiers in some lines."""
    return {word for line in lines for word in re.findall(r"[A-Za-z_]\w*", line)}


def c_helpers(functions: list[CFunction], single: bool) -> str:
    """Macros and helper functions that these functions use."""
    lines = []
    if any("NOINLINE" in f.definition for f in functions):
        lines += ["#if defined(__GNUC__) || defined(__clang__)", "#define NOINLINE __attribute__((noinline))", "#else"]
        lines += ["#define NOINLINE", "#endif", ""]
    used = sorted(set().union(*(f.helpers for f in functions)))
    lines += [HELPERS[op].format(T="float" if single else "double") for op in used]
    return "\n".join(lines)


def c_file(functions: Sequence[tuple[str, CFunction]]) -> str:
    """Functions in double precision, each below its comment, after the includes and helpers they need."""
    helpers = c_helpers([f for _, f in functions], single=False).strip()
    parts = ["#include <math.h>", *([helpers] if helpers else [])]
    return "\n\n".join([*parts, *(f"/* {comment(about)} */\n{f.definition}" for about, f in functions)]) + "\n"


def rename_outputs(program: Program, names: list[str]) -> Program:
    """The same program with other names for its outputs."""
    outputs = tuple(Argument(name, o.shape) for name, o in zip(names, program.outputs, strict=True))
    return Program(program.inputs, outputs, program.code, program.results, program.rays)
