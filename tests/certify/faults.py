"""Faults to plant: what a slip of the pen, a wrong bit or a wrong constant would do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torsor.compile import Kernel, Program
from torsor.kernels.quantities import QUANTITIES
from torsor.robot import Robot


def failing(certificate) -> set[str]:
    return {row.name for row in certificate.failures}


def changed(monkeypatch, quantity: str, change) -> None:
    """The source of a quantity, its result changed: every kernel recorded from now on has the fault."""
    row = QUANTITIES[quantity]
    monkeypatch.setitem(QUANTITIES, quantity, row._replace(function=lambda *a, **k: change(row.function(*a, **k))))


def corrupted(robot: Robot, quantity: str, off: float) -> Robot:
    """A robot whose kernel has one constant off by this share: the one that the results feel most."""
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
