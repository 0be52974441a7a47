"""A C program that calls exported functions with stored arguments and compares the results with stored ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.compile.program import Argument
from torsor.compile.text.c import c_number


@dataclass(frozen=True)
class Case:
    """One function: its arguments (inputs, then outputs) and their names; states and results, one array each, batch first."""

    function: str
    label: str
    arguments: list[Argument]
    names: list[str]
    states: list[np.ndarray]
    expected: list[np.ndarray]
    tolerances: list[float]


_LEAD = """\
/* Calls every function of {base}.h with stored arguments; returns 0 if the results are those stored.
 *
 *     cc -std=c99 -O2 {base}.c {base}_test.c -lm -o {base}_test && ./{base}_test
 */
#include <math.h>
#include <stdio.h>
#include "{base}.h"

static int failures = 0;

static void compare(const char *name, const {T} *got, const {T} *expected, int n, double tolerance)
{{
    double worst = 0.0;
    int k, bad = 0;
    for (k = 0; k < n; k++) {{
        const double error = fabs((double)got[k] - (double)expected[k]);
        if (!(error <= tolerance))
            bad = 1;
        if (error > worst)
            worst = error;
    }}
    printf("%s: error %.1e, allowed %.1e: %s\\n", name, worst, tolerance, bad ? "WRONG" : "ok");
    failures += bad;
}}
"""


def c_test(base: str, cases: list[Case], single: bool) -> str:
    """The text of ``base_test.c``."""
    T = "float" if single else "double"
    parts = [_LEAD.format(base=base, T=T)]
    calls: list[str] = []
    for i, case in enumerate(cases):
        tables, lines = _case(i, case, T, single)
        parts += tables
        calls += lines
    parts.append("\n".join(("int main(void)", "{", "    int k;", *calls, "    return failures ? 1 : 0;", "}", "")))
    return "\n".join(parts)


def _case(i: int, case: Case, T: str, single: bool) -> tuple[list[str], list[str]]:
    """Tables of one function, and the lines of main that call and compare."""
    count = len(case.states)
    tables, arguments, compares = [], [], []
    rows = len(case.states[0]) if case.states else 1
    for k, (a, array) in enumerate(zip(case.arguments, (*case.states, *case.expected), strict=True)):
        table = f"x{i}_{k}"
        size = max(a.size, 1)  # C has no empty arrays
        tables.append(_table(f"static const {T} {table}[{rows}][{size}]", np.reshape(array, (rows, -1)), single))
        if k < count:
            arguments.append(f"{table}[k]" if a.shape else f"{table}[k][0]")
        else:
            tables.append(f"static {T} y{i}_{k}[{rows}][{size}];\n")
            arguments.append(f"y{i}_{k}[k]")
            name = case.function if len(case.expected) == 1 else f"{case.function}, {case.names[k]}"
            tolerance = f"{case.tolerances[k - count]:.3e}"
            compares.append(f'    compare("{name}", y{i}_{k}[0], {table}[0], {rows * a.size}, {tolerance});')
    loop = [f"    for (k = 0; k < {rows}; k++)", f"        {case.function}({', '.join(arguments)});"]
    return tables, loop + compares


def _table(head: str, array: np.ndarray, single: bool) -> str:
    lines = [f"{head} = {{"]
    for row in array:
        numbers = [c_number(float(x), single) for x in row] or ["0"]
        lines.append("    {" + ",\n     ".join(", ".join(numbers[k : k + 5]) for k in range(0, len(numbers), 5)) + "},")
    return "\n".join([*lines, "};", ""])
