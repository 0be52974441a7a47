"""Equations as text: LaTeX to read, Python and C to run.  Common parts are computed once, as x0, x1, ...

>>> import sympy as sp
>>> q, m = sp.symbols("q m")
>>> print(latex_equations({r"\\tau": m * sp.cos(q)}))
\\begin{aligned}
\\tau &= m \\cos{\\left(q \\right)}
\\end{aligned}
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torsor.errors import ArgumentError
from torsor.symbolic.library import sympy_library

#: words a generated file may not use for a variable
_RESERVED = {
    *keyword.kwlist, "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed", "sizeof",
    "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "math", "pi",
    "sin", "cos", "tan", "sqrt", "exp", "log", "pow", "fabs", "main", "y0", "y1", "yn", "j0", "j1", "jn", "gamma",
}  # fmt: skip


def latex_equations(equations: Mapping[str, Any], *, names: Mapping[Any, str] | None = None) -> str:
    """Equations one below the other: ``{left side as LaTeX: expression, list or matrix}``; ``names`` are symbols' own LaTeX.

    >>> import sympy as sp
    >>> v = sp.Symbol("v")
    >>> print(latex_equations({"p": 2 * v}, names={v: r"\\dot{x}"}))
    \\begin{aligned}
    p &= 2 \\dot{x}
    \\end{aligned}
    """
    sp = sympy_library()
    rows = []
    for left, right in equations.items():
        right = sp.Matrix(right) if isinstance(right, (list, tuple)) else right
        rows.append(f"{left} &= {sp.latex(right, symbol_names=dict(names or {}), mat_delim='[')}")
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def dotted(symbol: Any, dots: int) -> str:
    """The LaTeX of a coordinate's rate (one dot) or acceleration (two).

    >>> import sympy as sp
    >>> dotted(sp.Symbol("theta1"), 2)
    '\\\\ddot{\\\\theta}_{1}'
    """
    base, _, index = sympy_library().latex(symbol).partition("_")
    return f"\\{'d' * dots}ot{{{base}}}" + (f"_{index}" if index else "")


class _Code:
    """What both languages share: identifiers, arguments, common subexpressions."""

    def __init__(self, arguments: Mapping[str, Sequence[Any]], results: Mapping[str, Any], comment: str):
        sp = sympy_library()
        self.comment = comment
        self.shapes = {name: _shape(value) for name, value in results.items()}
        self.flat = {name: _flat(value) for name, value in results.items()}
        used = {x for values in self.flat.values() for e in values for x in e.free_symbols}
        given = [x for group in arguments.values() for x in group]
        if len(set(given)) < len(given):
            raise ArgumentError(f"a symbol stands twice among the arguments: {given}")
        self.arguments = {name: list(group) for name, group in arguments.items()}
        self.parameters = sorted(used - set(given), key=str)
        self.taken = {*arguments, *results} | _RESERVED
        self.names = {x: sp.Symbol(self._free(_identifier(str(x)))) for x in (*given, *self.parameters)}
        self.used = used
        temporaries = (sp.Symbol(self._free(f"x{k}")) for k in _count())
        flat = [e for values in self.flat.values() for e in values]
        steps, reduced = sp.cse([e.xreplace(self.names) for e in flat], symbols=temporaries)
        self.steps, rest = steps, iter(reduced)
        self.values = {name: [next(rest) for _ in values] for name, values in self.flat.items()}

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def reads(self) -> Iterator[tuple[str, str, int]]:
        """(variable, argument, index) of what is read from the arguments."""
        for name, group in self.arguments.items():
            for k, x in enumerate(group):
                if x in self.used:
                    yield self.names[x].name, name, k


def python_source(name: str, arguments: Mapping[str, Sequence[Any]], results: Mapping[str, Any], *, comment: str = "") -> str:
    """A Python function of plain floats: sequences in, symbols that are in no argument as keywords, nested lists out.

    >>> import sympy as sp
    >>> x, m = sp.symbols("x m")
    >>> print(python_source("force", {"q": [x]}, {"f": [m * sp.sin(x)]}))
    import math
    <BLANKLINE>
    <BLANKLINE>
    def force(q, *, m):
        x = q[0]
        f = [m*math.sin(x)]
        return f
    <BLANKLINE>
    """
    from sympy.printing.pycode import PythonCodePrinter

    code = _Code(arguments, results, comment)
    printer = PythonCodePrinter({"fully_qualified_modules": True, "standard": "python3"})
    head = ", ".join([*code.arguments, *(["*"] if code.parameters else []), *(code.names[p].name for p in code.parameters)])
    lines = [f"def {name}({head}):"] + ([f'    """{comment}"""'] if comment else [])
    lines += [f"    {variable} = {argument}[{k}]" for variable, argument, k in code.reads()]
    lines += [f"    {x} = {printer.doprint(e)}" for x, e in code.steps]
    for result, shape in code.shapes.items():
        entries = iter([printer.doprint(e) for e in code.values[result]])
        lines.append(f"    {result} = {_nested(shape, entries)}")
    lines.append(f"    return {', '.join(results)}")
    return "import math\n\n\n" + "\n".join(lines) + "\n"


def c_source(name: str, arguments: Mapping[str, Sequence[Any]], results: Mapping[str, Any], *, comment: str = "") -> str:
    """A C99 function, no allocation, ``math.h`` only: arrays in, symbols that are in no argument as doubles, arrays out.

    >>> import sympy as sp
    >>> x, m = sp.symbols("x m")
    >>> print(c_source("force", {"q": [x]}, {"f": [m * sp.sin(x)]}))
    #include <math.h>
    <BLANKLINE>
    void force(const double q[1], double m, double f[1])
    {
        const double x = q[0];
        f[0] = m*sin(x);
    }
    <BLANKLINE>
    """
    from sympy.codegen.rewriting import create_expand_pow_optimization
    from sympy.printing.c import C99CodePrinter

    code = _Code(arguments, results, comment)
    printer, products = C99CodePrinter(), create_expand_pow_optimization(4)  # x*x, not pow(x, 2)
    head = [f"const double {a}[{len(group)}]" for a, group in code.arguments.items()]
    head += [f"double {code.names[p].name}" for p in code.parameters]
    head += [f"double {r}{''.join(f'[{n}]' for n in shape or (1,))}" for r, shape in code.shapes.items()]
    lines = [f"/* {comment} */"] if comment else []
    lines += [f"void {name}({', '.join(head)})", "{"]
    read = {argument for _, argument, _ in code.reads()}
    lines += [f"    (void){a};" for a in code.arguments if a not in read]
    lines += [f"    const double {variable} = {argument}[{k}];" for variable, argument, k in code.reads()]
    lines += [f"    const double {x} = {printer.doprint(products(e))};" for x, e in code.steps]
    for result, shape in code.shapes.items():
        for k, e in enumerate(code.values[result]):
            lines.append(f"    {result}{_index(k, shape)} = {printer.doprint(products(e))};")
    return "#include <math.h>\n\n" + "\n".join([*lines, "}"]) + "\n"


def _count() -> Iterator[int]:
    k = 0
    while True:
        yield k
        k += 1


def _identifier(name: str) -> str:
    """A name that Python and C accept: letters, digits and underscores."""
    made = re.sub(r"_+", "_", re.sub(r"[^0-9A-Za-z_]", "_", name)).strip("_")
    return made if made and not made[0].isdigit() else f"p_{made}"


def _shape(value: Any) -> tuple[int, ...]:
    sp = sympy_library()
    if isinstance(value, sp.MatrixBase) and value.shape[1] == 1:
        return (value.shape[0],)
    if isinstance(value, (sp.MatrixBase, sp.NDimArray)):
        return tuple(int(n) for n in value.shape)
    return (len(value), *(_shape(value[0]) if value else ())) if isinstance(value, (list, tuple)) else ()


def _flat(value: Any) -> list[Any]:
    sp = sympy_library()
    if isinstance(value, (sp.MatrixBase, sp.NDimArray)):
        return list(sp.flatten(value.tolist()))
    return [x for v in value for x in _flat(v)] if isinstance(value, (list, tuple)) else [sp.sympify(value)]


def _nested(shape: tuple[int, ...], entries: Iterator[str]) -> str:
    return f"[{', '.join(_nested(shape[1:], entries) for _ in range(shape[0]))}]" if shape else next(entries)


def _index(k: int, shape: tuple[int, ...]) -> str:
    indices = []
    for n in reversed(shape or (1,)):
        indices.append(f"[{k % n}]")
        k //= n
    return "".join(reversed(indices))
