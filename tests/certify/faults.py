"""Deliberate errors for the tests of verify: wrong results and wrong constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torsor.compile import Kernel, Program
from torsor.kernels.quantities import QUANTITIES
from torsor.robot import Robot


def failed_rows(certificate) -> set[str]:
    return {row.name for row in certificate.failures}


def change_result(monkeypatch, quantity: str, change) -> None:
    """Change the result of a quantity in every kernel that is recorded from now on."""
    row = QUANTITIES[quantity]
    monkeypatch.setitem(QUANTITIES, quantity, row._replace(function=lambda *a, **k: change(row.function(*a, **k))))


def corrupt_kernel(robot: Robot, quantity: str, off: float) -> Robot:
    """Multiply one constant of a kernel by 1 + off: the constant to which the results are most sensitive."""
    healthy = robot.kernel(quantity)
    q, v, a = (np.random.default_rng(0).normal(size=n) for n in (robot.nq, robot.nv, robot.nv))
    state = {"q": q, "v": v, "a": a, "tau": a}
    inputs = [state[i.name] for i in healthy.program.inputs]
    constants = [k for k, (op, args) in enumerate(healthy.program.code) if op == "const" and not float(args[0]).is_integer()]
    programs = [_with_constant(healthy.program, k, 1 + off) for k in constants]
    felt = [np.abs(Kernel(p)(*inputs) - healthy(*inputs)).max() for p in programs]
    robot.kernels._kernels[robot.spec(quantity)] = Kernel(programs[int(np.argmax(felt))], name=healthy.name)
    return robot


def _with_constant(program: Program, k: int, factor: float) -> Program:
    code = list(program.code)
    code[k] = ("const", (code[k][1][0] * factor,))
    return replace(program, code=tuple(code))
