"""A robot's equations as files: C99 with test vectors, and plain Python over NumPy.

Both are printed from the program a kernel is compiled from: specialised to the robot, with every zero folded away.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.compile import Kernel, Program, interpret
from torsor.compile.text.c import RESERVED as C_WORDS
from torsor.compile.text.c import CFunction, c_function, c_helpers, rename_outputs
from torsor.compile.text.c_test import Case, c_test
from torsor.compile.text.names import argument_names, comment, identifier
from torsor.compile.text.python import RESERVED as PYTHON_WORDS
from torsor.compile.text.python import python_function
from torsor.errors import ArgumentError
from torsor.kernels.checked_kernel import CheckedKernel, Exportable
from torsor.kernels.methods import Computed
from torsor.kernels.quantities import QUANTITIES
from torsor.kernels.quantity import takes
from torsor.kernels.replaced import name_replacements
from torsor.kernels.spec import Spec
from torsor.support.files import write_text
from torsor.support.user_arrays import float_type
from torsor.version import __version__

if TYPE_CHECKING:
    from torsor.robot import Robot

__all__ = ["export_c", "export_python"]

#: states in the file of test vectors
VECTORS = 4
#: numbers of test states that are drawn uniformly: steps [s], a ground below the robot [m], limits, weights
BOUNDS = {
    "dt": (0.01, 0.1), "change": (0.1, 0.2), "height": (-100.0, -90.0), "lower": (-5.0, -4.0), "upper": (4.0, 5.0),
    "speed": (2.0, 3.0), "acceleration": (5.0, 9.0), "gain": (1.0, 2.0), "damping": (0.01, 0.1), "slowest": (0.0, 0.5),
}  # fmt: skip
#: quantities that external wrenches act on
WITH_WRENCHES = ("inverse_dynamics", "forward_dynamics")


def __dir__() -> list[str]:
    return list(__all__)


@name_replacements
def export_c(
    robot: Robot,
    path: str | os.PathLike[str],
    *names: Exportable,
    name: str | None = None,
    fused: bool = False,
    wrenches: Sequence[str] = (),
    expressed_in: str = "body",
    extra: Sequence[str] = (),
    dtype: Any = np.float64,
    fma: bool = False,
) -> tuple[Path, Path, Path]:
    """Write ``path.h``, ``path.c`` and ``path_test.c``, and return their paths.

    One function per spec, ``void robot_quantity(const double *q, ..., double *out)``; ``fused`` makes one function of them,
    ``robot_fused``, with one output per spec, that shares their work.  ``name`` replaces the robot's name in function names.
    ``dtype``: ``"float64"`` or ``"float32"``.  ``fma`` writes fused multiply-adds, for processors that have them.
    ``wrenches`` are frames with an external wrench, one more input each, in inverse and forward dynamics, in the frame's own
    axes or in ``expressed_in="world"``.  ``extra`` are optional inputs of the methods, such as the point ``"at"`` of a frame.
    The robot's terms act, as in the methods; the first lines of the file list them.
    The test program calls every function and returns 0 if its results agree with torsor's.
    A kernel of the robot is exported in the place of a name: a derivative, or a kernel of a task or of its constraints.

    >>> import tempfile
    >>> import torsor as ts
    >>> files = export_c(ts.robots.two_link(), tempfile.mkdtemp() + "/arm", "mass_matrix")
    >>> [file.name for file in files]
    ['arm.h', 'arm.c', 'arm_test.c']
    """
    _check_robot(robot)
    kind = float_type(dtype)
    single = kind == np.dtype(np.float32)
    base = _base(path, (".c", ".h"))
    prefix = _prefix(robot, name, C_WORDS)
    spec = _spec(robot, names, fused, wrenches, expressed_in=expressed_in, extra=extra)
    kernels = _kernels(robot, prefix, names, spec, fused)
    functions = [c_function(_outputs(k.program, fused), n, single=single, fma=fma) for n, k in kernels]
    cases = [_case(robot, k, f, kind, fused) for (_, k), f in zip(kernels, functions, strict=True)]
    lead = f'#include <math.h>\n#include "{base.name}.h"\n\n{c_helpers(functions, single)}'.rstrip()
    texts = {
        ".h": _header(_header_lines(robot), robot, base.name, prefix, functions, cases),
        ".c": "\n\n".join((f"/* see {base.name}.h */", lead, *(f.definition for f in functions))) + "\n",
        "_test.c": c_test(base.name, cases, single),
    }
    files = [base.with_name(base.name + end) for end in texts]
    for file, text in zip(files, texts.values(), strict=True):
        write_text(file, text)
    return files[0], files[1], files[2]


@name_replacements
def export_python(
    robot: Robot,
    path: str | os.PathLike[str],
    *names: Exportable,
    name: str | None = None,
    fused: bool = False,
    wrenches: Sequence[str] = (),
    expressed_in: str = "body",
    extra: Sequence[str] = (),
) -> Path:
    """Write a Python module that imports only NumPy, one function per spec, and return its path.

    Leading axes of the arguments are a batch, as in torsor.  The options are those of :func:`export_c`.

    >>> import tempfile
    >>> import torsor as ts
    >>> file = export_python(ts.robots.two_link(), tempfile.mkdtemp() + "/arm.py", "gravity_force")
    >>> namespace = {}
    >>> exec(file.read_text(), namespace)
    >>> namespace["two_link_gravity_force"]([0.0, 0.0]).round(2)
    array([29.43,  9.81])
    """
    _check_robot(robot)
    base = _base(path, (".py",))
    prefix = _prefix(robot, name, PYTHON_WORDS)
    spec = _spec(robot, names, fused, wrenches, expressed_in=expressed_in, extra=extra)
    lead = "\n".join(f"# {line}".rstrip() for line in _header_lines(robot))
    parts = [f'{lead}\n\n"""Equations of motion; leading axes of every argument are a batch."""\n\nimport numpy as np']
    for n, kernel in _kernels(robot, prefix, names, spec, fused):
        p = kernel.program
        labels = ", ".join(f"{comment(o.name)} {_size(o.shape)}".replace("\\", "/") for o in p.outputs)
        parts.append(python_function(_outputs(p, fused), n, f"{labels}: {p.operations} operations."))
    file = base.with_name(base.name + ".py")
    write_text(file, "\n\n\n".join(parts) + "\n")
    return file


# -- names -----------------------------------------------------------------------------------------------------


def _check_robot(robot: Any) -> None:
    """An error unless it is a Robot: a kernel of its task or of its constraints is given in the place of a name."""
    if not isinstance(robot, Computed):
        raise ArgumentError(
            f"only a Robot can be exported, not a {type(robot).__name__}; kernels of tasks and constrained robots are exported "
            "with their robot: export_c(robot, path, task.kernel('mass_matrix'), robot.constrained().kernel())"
        )


def _base(path: str | os.PathLike[str], ends: tuple[str, ...]) -> Path:
    """The path without its extension; its name is used in an include line."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentError(f"path must be a path, not {type(path).__name__}")
    base = Path(os.fsdecode(path))
    if base.suffix in ends:
        base = base.with_suffix("")
    if not base.name or any(c in base.name for c in '"\\?*') or not base.name.isprintable():
        raise ArgumentError(f"path must end in a name a C compiler can include, without quotes, \\, ? and *: {str(path)!r}")
    return base


def _prefix(robot: Robot, name: str | None, words: frozenset[str]) -> str:
    if name is None:
        return identifier(robot.name, words, default="robot")
    if not isinstance(name, str) or name in words or identifier(name) != name:
        raise ArgumentError(f"name must be an identifier such as {identifier(str(name), words)!r}, not {name!r}")
    return name


def _spec(robot: Robot, given: tuple[Any, ...], fused: bool, frames: Sequence[str], **options: Any) -> Spec:
    """The spec of all functions together but kernels, with losses; an error if wrenches act on no function."""
    if not given:
        raise ArgumentError(f"give one or more quantities to export: {', '.join(QUANTITIES)}")
    names = [x for x in given if not isinstance(x, (Kernel, CheckedKernel))]
    if fused and len(names) < len(given):
        raise ArgumentError("fused=True makes one function of quantities given by name; a kernel is a function of its own")
    if not names:
        if frames or options["extra"]:
            raise ArgumentError("wrenches= and extra= act on quantities given by name; a kernel is exported as it is")
        return Spec(())
    spec = robot.spec(*names, wrenches=frames, **options)
    forced = [quantity in WITH_WRENCHES for quantity, *_ in spec.quantities]
    if frames and not (all(forced) if fused else any(forced)):
        raise ArgumentError(f"wrenches act on {' and '.join(WITH_WRENCHES)}, not on {', '.join(map(str, names))}")
    return spec


def _kernels(robot: Robot, prefix: str, given: tuple[Any, ...], spec: Spec, fused: bool) -> list[tuple[str, Kernel]]:
    """The functions of an export: their names, and the kernels whose programs they print."""
    if fused:
        return [(f"{prefix}_fused", robot.kernels.kernel(spec))]
    out: list[tuple[str, Kernel]] = []
    named = zip(spec.quantities, spec.labels, strict=True)
    for x in given:
        if isinstance(x, (Kernel, CheckedKernel)):
            kernel = _own_kernel(robot, x)
            label = kernel.name.removeprefix(f"{robot.name}.")
            out.append((identifier(f"{prefix}_{label}", {taken for taken, _ in out}), kernel))
            continue
        quantity, label = next(named)
        n = identifier(f"{prefix}_{label}", {taken for taken, _ in out})
        frames, laws = (spec.frames, spec.laws) if quantity[0] in WITH_WRENCHES else ((), ())
        extra = tuple(x for x in spec.extra if takes(QUANTITIES[quantity[0]].function, x))
        out.append((n, robot.kernels.kernel(Spec((quantity,), frames, spec.expressed_in, extra, laws=laws))))
    return out


def _own_kernel(robot: Robot, given: Kernel | CheckedKernel) -> Kernel:
    """A kernel given in the place of a name, with its checks; an error if it is not one of this robot."""
    kernel = given.kernel if isinstance(given, CheckedKernel) else given
    if not kernel.name.startswith(f"{robot.name}.") or any(a.name == "q" and a.size != robot.nq for a in kernel.inputs):
        raise ArgumentError(f"{kernel.name} is not a kernel of robot {robot.name!r}; export it with its own robot")
    return kernel


def _outputs(program: Program, fused: bool) -> Program:
    """A single output is called ``out``."""
    return program if fused or len(program.outputs) > 1 else rename_outputs(program, ["out"])


def _size(shape: tuple[int, ...]) -> str:
    return f"({' x '.join(map(str, shape)) or '1'})"


# -- comments and header ----------------------------------------------------------------------------------------


def _header_lines(robot: Robot) -> list[str]:
    """The first lines of an exported file: units, coordinates, and the terms of the robot."""
    lines = [f"{comment(robot.name)}: equations of motion, written by torsor {__version__}.", ""]
    lines += [
        "SI units.  Twists (angular, linear), wrenches (moment, force), quaternions (x, y, z, w), matrices row by row.",
        "",
        f"q has {robot.nq} entries; v, a and tau have {robot.nv}:",
    ]
    for joint in map(robot.joint, robot.joints):
        if joint.mimic is None:
            lines.append(f"  {_range('q', joint.q_slice)} {_range('v', joint.v_slice)} {comment(joint.name)} ({joint.type})")
        else:
            lines.append(f"  {comment(joint.name)} ({joint.type}) mimics {comment(joint.mimic.joint)}")
    if robot.terms:
        lines += ["", "Included in inverse, forward and hybrid dynamics (friction is 0 at rest):"]
        lines += [f"  {comment(name)}: {comment(what)}" for name, what in robot.terms.items()]
    return lines


def _range(letter: str, s: slice) -> str:
    if s.stop - s.start == 1:
        return f"{letter}[{s.start}]"
    return f"{letter}[{s.start}..{s.stop - 1}]"


def _header(lead: list[str], robot: Robot, base: str, prefix: str, functions: list[CFunction], cases: list[Case]) -> str:
    guard = f"{identifier(base, default='torsor').upper()}_H"
    about = [*lead, ""]
    about += ["C99, needs only math.h, no allocation, no state: thread-safe.  An output must not overlap"]
    about += [
        "an input or another output.  Inputs are not checked: NaN in, NaN out.  Stack bytes are an upper bound without math.h."
    ]
    up = prefix.upper()
    lines = ["/* " + about[0], *(f" * {line}".rstrip() for line in about[1:]), " */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [f"#define {up}_NQ {robot.nq}", f"#define {up}_NV {robot.nv}", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for f, case in zip(functions, cases, strict=True):
        shapes = ", ".join(f"{n} {_size(a.shape)}" for n, a in zip(case.names, case.arguments, strict=True))
        lines += [f"/* {comment(case.label)}: {shapes}."]
        lines += [f" * {f.operations} operations, {f.calls} of them calls of math.h; {f.stack} bytes of stack. */"]
        lines += [f"{f.declaration};", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


# -- test vectors ----------------------------------------------------------------------------------------------


def _case(robot: Robot, kernel: Kernel, function: CFunction, kind: np.dtype, fused: bool) -> Case:
    """Random states, their results by torsor, and the tolerance of each output."""
    program = kernel.program
    rng = np.random.default_rng(0)
    states = []
    for a in program.inputs:
        if a.name in ("q", "q0", "q1"):
            x = robot.random_configuration(rng, VECTORS)
        else:
            x = rng.uniform(*BOUNDS[a.name], (VECTORS, *a.shape)) if a.name in BOUNDS else rng.normal(size=(VECTORS, *a.shape))
        states.append(x.astype(kind).astype(np.float64))
    expected = interpret(program, states)
    if not all(np.isfinite(x).all() for x in expected):
        kernel(*states)  # raises, and names the cause
    tolerances = []
    for exact, rounded in zip(expected, interpret(program, states, kind.type), strict=True):
        scale = float(np.abs(exact).max(initial=0)) or 1.0
        if kind == np.float64:
            tolerances.append(1e-10 * scale)
        else:  # the rounding error of this program in single precision, with a margin
            tolerances.append(16 * float(np.abs(rounded - exact).max(initial=0)) + 1e-5 * scale)
    arguments = [*program.inputs, *_outputs(program, fused).outputs]
    names = argument_names(arguments, {*C_WORDS, function.name})
    label = " + ".join(o.name for o in program.outputs)
    return Case(function.name, label, arguments, names, states, expected, tolerances)
