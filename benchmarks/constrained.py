"""Contests of constrained forward dynamics: a four-bar, a Stewart platform, a humanoid that stands on both feet.

Pinocchio solves by ``constraintDynamics`` (sparse Cholesky factors of the saddle point) and by ``lcaba``; neither has a batched
form, so its batch is one call after another.  MuJoCo's constraints are soft and leave out Ȧv, so what must agree with torsor is
its motion of the open tree; how far its constrained acceleration is from the exact one, at rest, is only written down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks import robots, translated
from benchmarks.states import SWAP
from benchmarks.timing import Contest, Effort
from torsor import constraints, mechanisms
from torsor.mechanics.constraints import ConstrainedRobot

QUANTITY = "constrained_dynamics"
#: what moves the open tree: the check of MuJoCo's model, whose constraints are another matter
OPEN = "np.linalg.solve(robot.mass_matrix(q), (tau - robot.bias_force(q, v))[..., None])[..., 0]"
#: states that are closed by iteration; a batch repeats them
DISTINCT = 256
#: Pinocchio's solvers: the joint forces each is given, and the fastest μ of its proximal iteration that stays within the
#: tolerance of the contests (lcaba loses digits as μ shrinks, 3e-9 of the four-bar at 1e-6; constraintDynamics does not)
SOLVERS = (("constraintDynamics", "taup", 1e-8), ("lcaba", "rest", 1e-5))
ACCURACY, ITERATIONS = 1e-12, 20


@dataclass(frozen=True)
class Held:
    """A constrained robot, a configuration that closes its loops, and how far its states are from it."""

    name: str
    system: ConstrainedRobot
    home: np.ndarray
    spread: float

    @cached_property
    def model(self) -> Any:
        """Pinocchio's."""
        return translated.pinocchio_model(self.system.robot.model)

    @cached_property
    def states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q that closes the loops, v that keeps them closed, any τ: a row a state."""
        rng, robot = np.random.default_rng(0), self.system.robot
        steps = self.spread * rng.uniform(-1, 1, (DISTINCT, robot.nv))
        q = np.array([self.system.project(robot.integrate(self.home, dv, 1.0)) for dv in steps])
        v = self.system.project_velocity(q, rng.uniform(-1, 1, (DISTINCT, robot.nv)))
        return q, v, rng.uniform(-1, 1, (DISTINCT, robot.nv))

    def batch(self, count: int) -> tuple[np.ndarray, ...]:
        """As many states, the distinct ones repeated."""
        return tuple(np.resize(x, (count, x.shape[1])) for x in self.states)

    @cached_property
    def order(self) -> np.ndarray:
        """Pinocchio's velocity k is torsor's v[order[k]]: a free body's twist has its halves exchanged."""
        order, m = np.arange(self.system.robot.nv), self.system.robot.model
        for i, _ in m.outward():
            if m.joint[i].name == "floating":
                order[m.v_start[i] : m.v_start[i] + 6] = m.v_start[i] + SWAP
        return order

    def translate_state(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> dict[str, np.ndarray]:
        """States of both libraries by name; ``rest`` is τ − g(q)."""
        rates = {"vp": v, "taup": tau, "rest": tau - self.system.tree.gravity_force(q)}
        theirs = {k: np.ascontiguousarray(x[..., self.order]) for k, x in rates.items()}
        return {"q": q, "v": v, "tau": tau, "qp": q, **theirs}


def four_bar() -> Held:
    """Three hinges and a fourth that closes the loop: planar, so three of its five rows are redundant."""
    robot = mechanisms.four_bar()
    return Held("four-bar", robot.constrained(), robot.neutral(), 0.5)


def stewart() -> Held:
    """Six legs, each a universal joint, a slide and a ball; five of the balls close loops."""
    robot = mechanisms.stewart_platform()
    return Held("Stewart", robot.constrained(), robot.neutral(), 0.1)


def humanoid() -> Held:
    """The G1 with both feet welded to the ground where they are in its home configuration, knees bent a little."""
    robot = robots.cases("g1")[0].robot
    home, feet = robot.neutral(), []
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -0.4), ("knee", 0.8), ("ankle_pitch", -0.4)):
            home[robot.joint(f"{side}_{joint}_joint").q_slice] = angle
    for side in ("left", "right"):
        frame = f"{side}_ankle_roll_link"
        T = robot.pose(home, frame)
        feet.append(constraints.fixed_pose(frame, xyz=T[:3, 3], rpy=pin.rpy.matrixToRpy(T[:3, :3])))
    return Held("G1 standing", robot.constrained(*feet), home, 0.1)


MECHANISMS = (four_bar, stewart, humanoid)


def contests(effort: Effort) -> Iterator[list[Contest]]:
    """One list a mechanism."""
    for make in MECHANISMS:
        held = make()
        yield [*pinocchio(held, effort), *mujoco(held, effort)]


def pinocchio(held: Held, effort: Effort, samples: int = 10) -> Iterator[Contest]:
    """One call, and a batch by a loop that does not keep its results."""
    call = "solve(model, data, {}, contacts, memory, settings)"
    each = call.format("x, y, z")
    ours: dict[str, Any] = {"ours": "system.forward_dynamics(q, v, tau)", "our_answer": "system.forward_dynamics(q, v, tau).a"}
    options: dict[str, Any] = {
        "extra": {"operations": held.system.kernel().program.operations},
        "back": lambda a: a[..., np.argsort(held.order)],
    }
    states = [held.translate_state(*(x[k].copy() for x in held.states)) for k in range(samples)]
    many = held.translate_state(*held.batch(effort.small))
    for peer, force, mu in SOLVERS:
        names = solver_inputs(held, peer, mu)
        yield Contest(
            "one call", QUANTITY, held.name, f"Pinocchio {peer}", theirs=call.format(f"qp, vp, {force}"),
            names=names | states[0], samples=states, **ours, **options,
        )  # fmt: skip
        rows = list(zip(many["qp"], many["vp"], many[force], strict=True))
        yield Contest(
            "batch", QUANTITY, held.name, f"Pinocchio {peer} loop", theirs=f"for x, y, z in rows: {each}",
            names=names | many | {"rows": rows}, states=effort.small, answer=f"np.array([{each} for x, y, z in rows])",
            **ours, **options,
        )  # fmt: skip


def solver_inputs(held: Held, peer: str, mu: float) -> dict[str, Any]:
    """What Pinocchio's solver of that name is called with, besides the state.

    lcaba 4.1 lets what is held to the world fall with g, so there gravity is a joint force, τ − g(q), in a model without it.
    """
    model = held.model.copy()
    contacts = translated.pinocchio_constraints(held.system.robot.model, model, held.system.constraints)
    memory, data = pin.StdVec_RigidConstraintData(), model.createData()
    memory.extend(c.createData() for c in contacts)
    if peer == "lcaba":
        model.gravity.linear = np.zeros(3)
        pin.computeJointMinimalOrdering(model, data, contacts)
    else:
        pin.initConstraintDynamics(model, data, contacts, memory)
    names = {"system": held.system, "np": np, "solve": getattr(pin, peer), "model": model, "data": data}
    return names | {"contacts": contacts, "memory": memory, "settings": pin.ProximalSettings(ACCURACY, mu, ITERATIONS)}


def mujoco(held: Held, effort: Effort, samples: int = 10) -> Iterator[Contest]:
    """mj_forward with the state put in by the caller, contacts off: one call, and a batch by a loop."""
    try:
        import mujoco as mj
    except ImportError as error:
        print(f"  MuJoCo is left out: {error}")
        return
    model = held.system.robot.model
    m = mj.MjModel.from_xml_string(translated.mujoco_xml(model, held.system.constraints))
    m.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_SENSOR)
    d = mj.MjData(m)

    def state(k: int) -> dict[str, Any]:
        q, v, tau = (x[k].copy() for x in held.states)
        return {"q": q, "v": v, "tau": tau, **translated.mujoco_state(model, q, v, tau)}

    def smooth(qm: np.ndarray, vm: np.ndarray, taum: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = qm, vm, taum
        mj.mj_forward(m, d)
        return translated.mujoco_back(model, q, v, d.qacc_smooth)

    call = "d.qpos[:] = {}; d.qvel[:] = {}; d.qfrc_applied[:] = {}; mj.mj_forward(m, d)"
    names = {"system": held.system, "robot": held.system.tree, "np": np, "mj": mj, "m": m, "d": d, "smooth": smooth}
    ours: dict[str, Any] = {"ours": "system.forward_dynamics(q, v, tau)", "our_answer": OPEN}
    extra = {"operations": held.system.kernel().program.operations, "softness_at_rest": _softness(held, mj, m, d)}
    yield Contest(
        "one call", QUANTITY, held.name, "MuJoCo mj_forward", theirs=call.format("qm", "vm", "taum"), names=names | state(0),
        samples=[state(k) for k in range(samples)], answer="smooth(qm, vm, taum, q, v)", extra=extra, **ours,
    )  # fmt: skip
    q, v, tau = held.batch(effort.small)
    distinct = [state(k) for k in range(DISTINCT)]
    each = [tuple(distinct[k % DISTINCT][x] for x in ("qm", "vm", "taum", "q", "v")) for k in range(effort.small)]
    many = {"q": q, "v": v, "tau": tau, "each": each, "rows": [x[:3] for x in each]}
    yield Contest(
        "batch", QUANTITY, held.name, "MuJoCo mj_forward loop", theirs=f"for x, y, z in rows: {call.format('x', 'y', 'z')}",
        names=names | many, states=effort.small, answer="np.array([smooth(*x) for x in each])", extra=extra, **ours,
    )  # fmt: skip


def _softness(held: Held, mj: Any, m: Any, d: Any) -> float:
    """How far MuJoCo's constrained acceleration is from the exact one, relative, in a state at rest."""
    model = held.system.robot.model
    q, _, tau = (x[0].copy() for x in held.states)
    still = np.zeros_like(tau)
    theirs = translated.mujoco_state(model, q, still, tau)
    d.qpos[:], d.qvel[:], d.qfrc_applied[:] = theirs["qm"], theirs["vm"], theirs["taum"]
    mj.mj_forward(m, d)
    a = held.system.forward_dynamics(q, still, tau).a
    return float(np.abs(translated.mujoco_back(model, q, still, d.qacc) - a).max() / np.abs(a).max())
