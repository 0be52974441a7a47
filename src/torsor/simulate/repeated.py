"""One step of a rollout as a program, the scan that repeats it, and what to say when it leads nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.algorithms import forward_dynamics, forward_dynamics_by_factors
from torsor.compile import Argument, Program, Scan, replay, trace
from torsor.compile.scan import NotFinite
from torsor.errors import ArgumentError, SingularError, TorsorError
from torsor.kernels.checks import check_configuration, is_numeric
from torsor.kernels.losses import losses_of
from torsor.kernels.quantity import FEW
from torsor.model.regrouping import regrouped
from torsor.simulate.field import Field
from torsor.simulate.recorded import Controller, row
from torsor.simulate.steps import Step
from torsor.simulate.varied import Key, label, varied

if TYPE_CHECKING:
    from torsor.robot import Robot


class Feed(NamedTuple):
    """An input of the kernel besides the state: its values, and whether they are new at each step."""

    argument: Argument
    values: np.ndarray
    stepped: bool = False


def wrench_argument(frame: str) -> Argument:
    """The wrench on a frame, an input of the kernel."""
    return Argument(f"wrenches[{frame!r}]", (6,))


class Repeated:
    """(q, v) → (q⁺, v⁺), over whatever scalars it is called with."""

    def __init__(
        self,
        robot: Robot,
        step: Step,
        controller: Controller | None,
        feeds: Sequence[Feed],
        vary: Sequence[Key] = (),
        frames: Sequence[str] = (),
        *,
        damping: bool = False,
        friction: bool | None = None,
    ):
        self.robot, self.step, self.controller, self.feeds, self.vary = robot, step, controller, feeds, vary
        self.frames = frames
        self.losses = losses_of(robot.model, damping, friction)

    @cached_property
    def inputs(self) -> list[Argument]:
        return [Argument("q0", (self.robot.nq,)), Argument("v0", (self.robot.nv,)), *(f.argument for f in self.feeds)]

    @property
    def key(self) -> tuple:
        """What the kernel depends on.  A controller counts with what it records now: it may read what has changed since."""
        law: Any = self.controller
        if law is not None and not law.unchanging:
            law = self.recorded_control()
        return self.step, tuple((f.argument, f.stepped) for f in self.feeds), self.losses, law

    def recorded_control(self) -> tuple:
        """The controller's program.  It is recorded twice: one draw of random numbers would count for all robots and steps."""
        assert self.controller is not None
        first, second = (trace(lambda *x: {"tau": self.control(*x)}, self.inputs) for _ in range(2))
        if (first.code, first.results) != (second.code, second.results):
            raise ArgumentError(
                f"controller {self.controller.name} gave other joint forces when recorded a second time: it reads random "
                "numbers, a clock or a counter, whose first value would count for all robots and steps; draw the noise "
                "beforehand, one row per robot and step, and give it as parameters={'noise': per_robot_and_step(values)}"
            )
        return first.code, first.results

    # -- one step --------------------------------------------------------------------------------------------

    def control(self, q: Sequence[Any], v: Sequence[Any], *fed: Sequence[Any]) -> list[Any]:
        """τ (nv): the controller's, the controls, or nothing."""
        given = {f.argument.name: row(x, f.argument.shape) for f, x in zip(self.feeds, fed, strict=True)}
        u = given.get("controls")
        if self.controller is None:
            return [0] * self.robot.nv if u is None else list(u)
        known = {"q": row(q), "v": row(v), "t": given.get("t"), "u": u}
        return self.controller(known | {p: given[f"parameters[{p!r}]"] for p in self.controller.takes if p not in known})

    def advanced(self, q: Sequence[Any], v: Sequence[Any], *fed: Sequence[Any], alternative: bool = False) -> dict[str, Any]:
        """The state a step later."""
        given = {f.argument.name: x for f, x in zip(self.feeds, fed, strict=True)}
        model = varied(self.robot, regrouped(self.robot.model), [(key, given[label(key)]) for key in self.vary])
        solve = forward_dynamics_by_factors if alternative else forward_dynamics
        wrenches = {frame: given[wrench_argument(frame).name] for frame in self.frames} or None
        clock = next((k for k, f in enumerate(self.feeds) if f.argument.name == "t"), None)

        def acceleration(q: Sequence[Any], v: Sequence[Any], t: Any) -> list[Any]:
            now = fed if clock is None else (*fed[:clock], [t], *fed[clock + 1 :])
            tau = self.control(q, v, *now)
            if any(self.losses):
                tau = [x - lost for x, lost in zip(tau, self.losses.force(model, v, tau), strict=True)]
            return solve(model, q, v, tau, wrenches)

        start = 0 if clock is None else fed[clock][0]
        q, v = self.step(Field(model, acceleration), q, v, start, given["dt"][0])
        return {"q": q, "v": v}

    def program(self) -> Program:
        """By whichever algorithm takes fewer operations."""
        if not is_numeric(self.robot.model):
            raise ArgumentError(f"robot {self.robot.name!r} has symbols where a rollout needs numbers")
        program = trace(self.advanced, self.inputs)
        if self.robot.nv <= FEW and self.robot.model.local:
            other = trace(lambda *x: self.advanced(*x, alternative=True), self.inputs)
            program = min(program, other, key=lambda p: p.operations)
        return program

    def scan(self) -> Scan:
        """All steps, for all robots."""
        if self.controller is not None and self.controller.unchanging:
            self.recorded_control()  # a promise is checked once, when the kernel is made
        fixed = [f.argument.name for f in self.feeds if not f.stepped]
        name = f"{self.robot.name}.rollout"
        return Scan(self.program(), carry={"q0": "q", "v0": "v"}, fixed=fixed, name=name)

    # -- what went wrong -------------------------------------------------------------------------------------

    def explained(self, scan: Scan, q: np.ndarray, v: np.ndarray, dt: float, error: NotFinite) -> TorsorError:
        """The robot, step, time and joint of a state that is not finite; that robot alone is run again up to there."""
        at, k = error.state, error.step
        axes = [1, 1, *(len(f.argument.shape) + f.stepped for f in self.feeds)]
        q, v, *values = (_of_robot(x, at, n) for x, n in zip((q, v, *(f.values for f in self.feeds)), axes, strict=True))
        if k:
            before = (x[:k] if f.stepped else x for f, x in zip(self.feeds, values, strict=True))
            q, v = (x[-1] for x in scan(q, v, *before, steps=k, every=k))
        else:
            check_configuration(self.robot.model, f"q0[{', '.join(map(str, at))}]" if at else "q0", q.tolist())
        fed = [x[k] if f.stepped else x for f, x in zip(self.feeds, values, strict=True)]
        self._singular(q, v, fed)
        with np.errstate(all="ignore"):
            _, after = replay(scan.program, [q, v, *fed])
        joint, speed = self._fastest(np.asarray(v), ~np.isfinite(after))
        robot = f"robot {at[0] if len(at) == 1 else at} of {scan.name}" if at else scan.name
        return NotFinite(
            f"{robot} is not finite after step {k} (t = {(k + 1) * dt:.6g} s): joint {joint!r}, whose speed was {speed:.3g} "
            "just before; a smaller dt, more damping or weaker gains may keep it finite",
            at, k, joint,
        )  # fmt: skip

    def _fastest(self, v: np.ndarray, lost: np.ndarray) -> tuple[str, float]:
        """The joint that was fastest, of those whose velocity was lost."""
        m = self.robot.model
        rows = {i: slice(m.v_start[i], m.v_start[i] + m.joint[i].nv) for i, _ in m.outward() if m.coupling[i] is None}
        speed = {i: float(np.abs(v[row]).max()) for i, row in rows.items() if lost[row].any() or not lost.any()}
        fastest = max(speed, key=speed.__getitem__)
        return m.joint_names[fastest], speed[fastest]

    def _singular(self, q: np.ndarray, v: np.ndarray, fed: list[np.ndarray]) -> None:
        """Over floats, a vanishing pivot has a name."""
        try:
            self.advanced(*(np.ravel(x).tolist() for x in (q, v, *fed)))
        except SingularError:
            raise
        except (ArithmeticError, ValueError):  # the floats overflow too
            return


def _of_robot(x: np.ndarray, at: tuple[int, ...], own: int) -> np.ndarray:
    """One robot's part of an array whose leading axes broadcast."""
    lead = x.shape[: x.ndim - own]
    return x[tuple(0 if n == 1 else k for n, k in zip(lead, at[len(at) - len(lead) :], strict=True))]
