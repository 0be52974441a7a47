"""First calls of composed machines: seconds and kernels of each statement of the examples of stacks.

``python -m benchmarks.stacks`` runs each example in a new process with an empty kernel cache, and in a second one with the
cache of the first.  A statement is listed if it compiles kernels: processor seconds in both processes, and the number of
kernels (one for single states and one for batches are two).
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.processes import run_python
from benchmarks.report import table

EXAMPLES = Path(__file__).parents[1] / "examples"
#: machine → its example
STACKS = {
    "harmonic-drive arm": "harmonic_drive_arm.py",
    "standing quadrupeds, 1000": "standing_quadruped.py",
    "Stewart platform with drives": "driven_platform.py",
}

SCRIPT = """
import ast, contextlib, io, json, sys, time
import torsor
from torsor.compile.llvm import native
compiled, names, found = [], {"__name__": "__main__"}, []
def compile_ir(ir, original=native.compile_ir):
    compiled.append(ir)
    return original(ir)
torsor.robots.two_link().mass_matrix([0.0, 0.0])  # llvmlite is imported before
native.compile_ir = compile_ir
source = open(sys.argv[1], encoding="utf-8").read()
for node in ast.parse(source).body:
    code, before, start = compile(ast.Module([node], []), sys.argv[1], "exec"), len(compiled), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)
    found.append((ast.get_source_segment(source, node), time.process_time() - start, len(compiled) - before))
print(json.dumps(found))
"""


def measure(example: Path) -> list[dict[str, Any]]:
    """The statements that compile kernels, with their processor seconds in a cold and in a warm process."""
    with tempfile.TemporaryDirectory() as cache:  # mkdtemp makes it 0700, as torsor demands
        cold, warm = (json.loads(run_python(SCRIPT, str(example), cache=cache)[1]) for _ in range(2))
    return [
        {"statement": text, "cold_s": seconds, "warm_s": again, "kernels": kernels}
        for (text, seconds, kernels), (_, again, _) in zip(cold, warm, strict=True)
        if kernels
    ]


def main() -> None:
    for machine, example in STACKS.items():
        found = measure(EXAMPLES / example)
        rows = [[_line(r["statement"]), f"{r['cold_s']:.2f}", f"{r['warm_s']:.2f}", str(r["kernels"])] for r in found]
        total = [sum(r[key] for r in found) for key in ("cold_s", "warm_s", "kernels")]
        rows.append(["together", f"{total[0]:.2f}", f"{total[1]:.2f}", str(total[2])])
        print("\n" + table([machine, "cold [s]", "warm [s]", "kernels"], rows), flush=True)


def _line(statement: str) -> str:
    """A statement on one short line."""
    text = " ".join(statement.split())
    return text if len(text) <= 80 else text[:77] + "..."


if __name__ == "__main__":
    main()
