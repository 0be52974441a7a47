"""What a call costs: every way of calling UR5, and every quantity of every robot, against Pinocchio called from Python.

The ways are measured in calls of ``robot.inverse_dynamics(q, v, a)`` with float64 arrays by position, in the same run: that is
the fastest way in, and the others are to cost a small multiple of it.  Quantities are measured for one call, and in batches of
1024 with ``out=`` against a Python loop over Pinocchio that does not keep its results.  Results of more than 300 numbers are
limited by memory; they are measured against a copy of the result too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin

import torsor as ts
from benchmarks import constrained
from benchmarks.goals import LARGE
from benchmarks.robots import Case
from benchmarks.states import SWAP, Translation, random_states
from benchmarks.timing import AGREEMENT, Contest, Disagreement, Effort, time_interleaved
from torsor.model.friction import StaticViscous

#: states of a batch
BATCH = 1024
#: the call that the others are measured in
BASE = "robot.inverse_dynamics(q, v, a)"
RNEA = "pin.rnea(model, data, qp, vp, ap)"


@dataclass(frozen=True)
class Way:
    """One row of the table: a statement of torsor's, and the equal one of Pinocchio where there is one.

    ``group`` names the goal.  ``answer`` is Pinocchio's result in torsor's order, as an expression after its statement, which
    names its value ``r``; ``ours_as`` is torsor's result to compare with it, where it is not the value of the statement.
    ``needs`` is what a robot must have for the statement to exist.
    """

    name: str
    group: str
    ours: str
    theirs: str = ""
    answer: str = "vector_back(r)"
    ours_as: str = "{}"
    needs: Callable[[], bool] = field(default=lambda: True)


def _has_step() -> bool:
    return hasattr(ts.Robot, "step")


def _has_axes_of_wrenches() -> bool:
    return "expressed_in" in inspect.signature(ts.Robot.inverse_dynamics).parameters


FRAME_VELOCITY = "pin.forwardKinematics(model, data, qp, vp); r = pin.getFrameVelocity(model, data, frame_id, axes)"
FRAME_ACCELERATION = (
    "pin.forwardKinematics(model, data, qp, vp, ap); r = pin.getFrameClassicalAcceleration(model, data, frame_id, axes)"
)
FRAME_RATE = (
    "pin.computeJointJacobiansTimeVariation(model, data, qp, vp); "
    "r = pin.getFrameJacobianTimeVariation(model, data, frame_id, axes)"
)
FRAME_POSE = "pin.forwardKinematics(model, data, qp); r = pin.updateFramePlacement(model, data, frame_id)"
TASK = (
    "J = pin.computeFrameJacobian(model, data, qp, frame_id, axes); "
    "r = np.linalg.inv(J @ pin.computeMinverse(model, data, qp) @ J.T)"
)
ALL_POSES = "pin.framesForwardKinematics(model, data, qp); r = data.oMf"

WAYS = (
    Way("inverse_dynamics", "positional", BASE, f"r = {RNEA}"),
    Way("forward_dynamics", "positional", "robot.forward_dynamics(q, v, a)", "r = pin.aba(model, data, qp, vp, ap)"),
    Way("mass_matrix", "positional", "robot.mass_matrix(q)", "r = pin.crba(model, data, qp)", "matrix_back(r)"),
    Way("bias_force", "positional", "robot.bias_force(q, v)", "r = pin.nonLinearEffects(model, data, qp, vp)"),
    Way("velocity_force", "positional", "robot.velocity_force(q, v)"),
    Way("gravity_force", "positional", "robot.gravity_force(q)", "r = pin.computeGeneralizedGravity(model, data, qp)"),
    Way("mass_matrix_rate", "positional", "robot.mass_matrix_rate(q, v)"),
    Way("christoffel_symbols", "positional", "robot.christoffel_symbols(q)"),
    Way("damping_force", "positional", "robot.damping_force(v)"),
    Way("friction_force", "positional", "rubbing.friction_force(v)"),
    Way("friction laws", "positional", "rubbing.inverse_dynamics(q, v, a)"),
    Way("out=", "keywords", "robot.inverse_dynamics(q, v, a, out=tau)", f"r = {RNEA}"),
    Way("keywords", "keywords", "robot.inverse_dynamics(q=q, v=v, a=a)", f"r = {RNEA}"),
    Way("one keyword", "keywords", "robot.inverse_dynamics(q, v, a=a)", f"r = {RNEA}"),
    Way("kernel", "keywords", "kernel(q, v, a)", f"r = {RNEA}"),
    Way("kernel, keywords", "keywords", "kernel(q=q, v=v, a=a)", f"r = {RNEA}"),
    Way(
        "kernel of M and h, out=", "keywords", "both(q, v, out=(M, h))",
        "M_ = pin.crba(model, data, qp); r = pin.nonLinearEffects(model, data, qp, vp)", ours_as="{}[1]",
    ),
    Way(
        "kernel of M, g and J, out=", "keywords", "three(q, out=(M, h, J))",
        "M_ = pin.crba(model, data, qp); g_ = pin.computeGeneralizedGravity(model, data, qp); "
        "r = pin.computeFrameJacobian(model, data, qp, frame_id, axes)", "jacobian_back(r)", "{}[2]",
    ),
    Way(
        "gravity_force, out=", "keywords", "robot.gravity_force(q, out=tau)",
        "r = pin.computeGeneralizedGravity(model, data, qp)",
    ),
    Way(
        "mass_matrix_product", "positional", "robot.mass_matrix_product(q, a)", "r = pin.crba(model, data, qp) @ ap",
    ),
    Way("mass_matrix_solve", "positional", "robot.mass_matrix_solve(q, a)", "r = pin.computeMinverse(model, data, qp) @ ap"),
    Way(
        "jacobian_transpose_product", "frames", "robot.jacobian_transpose_product(q, F, frame)",
        "r = pin.computeFrameJacobian(model, data, qp, frame_id, axes).T @ F",
    ),
    Way("integrate", "short", "robot.integrate(q, v, 1.0)", "r = pin.integrate(model, qp, vp)", "r", "configuration({})"),
    Way("difference", "short", "robot.difference(q, q1)", "r = pin.difference(model, qp, q1p)"),
    Way("configuration_rate", "short", "robot.configuration_rate(q, v)"),
    Way("step", "short", "robot.step(q, v, a, 1e-3)", needs=_has_step),
    Way(
        "reaction_wrenches", "short", "robot.reaction_wrenches(q, v, a)", f"{RNEA}; r = data.f",
        "np.array([r[i].vector[SWAP] for i in joint_ids])",
    ),
    Way("damping", "positional", "damped.inverse_dynamics(q, v, a)"),
    Way("pose", "frames", "robot.pose(q, frame)", FRAME_POSE, "r.homogeneous"),
    Way(
        "jacobian", "frames", "robot.jacobian(q, frame)", "r = pin.computeFrameJacobian(model, data, qp, frame_id, axes)",
        "jacobian_back(r)",
    ),
    Way("jacobian_rate", "frames", "robot.jacobian_rate(q, v, frame)", FRAME_RATE, "jacobian_back(r)"),
    Way("twist", "frames", "robot.twist(q, v, frame)", FRAME_VELOCITY, "r.vector[SWAP]"),
    Way("acceleration", "frames", "robot.acceleration(q, v, a, frame)", FRAME_ACCELERATION, "r.vector[SWAP]"),
    Way("jacobian, at=", "frames", "robot.jacobian(q, frame, at=point)"),
    Way("pose, at=", "frames", "robot.pose(q, frame, at=point)"),
    Way("center_of_mass, links=", "short", "robot.center_of_mass(q, links=[one, other])"),
    Way("poses of two frames", "short", "robot.poses(q, [one, other])"),
    Way("base_acceleration=", "short", "robot.inverse_dynamics(q, v, a, base_acceleration=F)"),
    Way("within_limits", "short", "robot.within_limits(q)"),
    Way(
        "clip", "short", "robot.clip(q)", "r = np.clip(qp, model.lowerPositionLimit, model.upperPositionLimit)", "r",
        "configuration({})",
    ),
    Way("linearize", "wrenches", "robot.linearize(q, v, a)"),
    Way("linearize, dt=", "wrenches", "robot.linearize(q, v, a, dt=1e-3)"),
    Way("task Λ", "solved", "task.mass_matrix(q)", TASK, "r[SWAP][:, SWAP]"),
    Way("task inverse dynamics", "solved", "task.inverse_dynamics(q, v, F)"),
    Way(
        "four-bar forward dynamics", "solved", "bars.forward_dynamics(bq, bv, bt)",
        "r = solve(bmodel, bdata, bqp, bvp, btp, contacts, memory, settings)", "r", "{}.a",
    ),
    Way(
        "wrenches=", "wrenches", "robot.inverse_dynamics(q, v, a, wrenches={frame: F})",
        "r = pin.rnea(model, data, qp, vp, ap, pushes)",
    ),
    Way(
        "wrenches= in world axes", "wrenches",
        'robot.inverse_dynamics(q, v, a, wrenches={frame: F}, expressed_in="world")', needs=_has_axes_of_wrenches,
    ),
    Way("hybrid_dynamics", "wrenches", "robot.hybrid_dynamics(q, v, a, a, prescribed)"),
    Way("hybrid_dynamics, prescribed an array", "wrenches", "robot.hybrid_dynamics(q, v, a, a, first)"),
    Way(
        "poses of all frames", "wrenches", "robot.poses(q)", ALL_POSES, "np.array([r[i].homogeneous for i in frame_ids])",
    ),
    Way("lists", "converted", "robot.inverse_dynamics(ql, vl, al)", f"r = {RNEA}"),
    Way("float32", "converted", "robot.inverse_dynamics(q32, v32, a32)", f"r = {RNEA}"),
    Way("strided", "converted", "robot.inverse_dynamics(qs, vs, as_)", f"r = {RNEA}"),
    Way("rows of Fortran-ordered arrays", "converted", "robot.inverse_dynamics(qf, vf, af)", f"r = {RNEA}"),
    Way("rollout of one step", "rollout", "robot.rollout(q, v, a, dt=1e-3, steps=1)"),
)  # fmt: skip


def ways(case: Case, effort: Effort) -> list[dict[str, Any]]:
    """The record of each way: nanoseconds of the call, of the base call and of Pinocchio's, the three timed in turn."""
    names, records = _one_state(case), []
    for way in WAYS:
        record = {"call": way.name, "group": way.group, "ours": way.ours, "theirs": way.theirs}
        if not way.needs():
            records.append(record | {"absent": f"torsor has no {way.name} yet"})
            continue
        try:
            error = _disagreement(way, names)
        except Exception as problem:  # one broken row must not hide the others
            records.append(record | {"problem": f"{type(problem).__name__}: {problem}"})
            continue
        statements = [BASE, way.ours] + ([way.theirs] if way.theirs else [])
        base, ours, *theirs = (1e9 * t for t in time_interleaved(statements, names, effort))
        record |= {"error": error, "base_ns": base, "ours_ns": ours, "cost": ours / base}
        records.append(record | ({"theirs_ns": theirs[0], "ratio": theirs[0] / ours} if theirs else {}))
    return records


def bound_before(case: Case, effort: Effort) -> dict[str, float]:
    """Nanoseconds of a method that was taken from its robot before the first call, and of one taken after it."""
    robot = ts.Robot(case.robot.description)
    early = robot.inverse_dynamics
    names = _one_state(case) | {"early": early}
    eval("early(q, v, a)", names)
    names["late"] = robot.inverse_dynamics
    before, after = (1e9 * t for t in time_interleaved(["early(q, v, a)", "late(q, v, a)"], names, effort))
    return {"before_ns": before, "after_ns": after}


def _disagreement(way: Way, names: dict[str, Any]) -> float:
    """The relative error between the two answers; 0 for a way without a rival, which must run."""
    ours = eval(way.ours, names)
    if not way.theirs:
        return 0.0
    ours = np.asarray(eval(way.ours_as.format("ours"), names | {"ours": ours}))
    scope = dict(names)
    exec(way.theirs, scope)
    theirs = np.asarray(eval(way.answer, scope))
    error = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    if not error <= AGREEMENT:
        raise Disagreement(f"relative error {error:.1e} > {AGREEMENT:.0e}")
    return error


def _one_state(case: Case) -> dict[str, Any]:
    """Everything that the statements name.  The state has numbers that float32 can hold, so that all ways have the same one."""
    robot, frame = case.robot, case.source.frame
    translation = Translation.between(robot, case.model)
    q, v, a = (x[0].astype(np.float32).astype(float) for x in random_states(robot, 1))
    names = _peer(case, translation) | {"robot": robot, "frame": frame, "q": q, "v": v, "a": a, "np": np}
    names |= {"q32": q.astype(np.float32), "v32": v.astype(np.float32), "a32": a.astype(np.float32)}
    names |= {"ql": q.tolist(), "vl": v.tolist(), "al": a.tolist()}
    names |= {"qs": np.repeat(q, 2)[::2], "vs": np.repeat(v, 2)[::2], "as_": np.repeat(a, 2)[::2]}
    for key, x in (("qf", q), ("vf", v), ("af", a)):
        names[key] = np.asfortranarray(np.stack([x] * 3))[1]
    names |= {"qp": translation.configuration(q), "vp": translation.velocity(v), "ap": translation.velocity(a)}
    names["q1"] = robot.integrate(q, v, 1.0)
    names["q1p"] = translation.configuration(names["q1"])
    names |= {"tau": np.empty(robot.nv), "M": np.empty((robot.nv, robot.nv)), "h": np.empty(robot.nv)}
    names |= {"kernel": robot.kernel("inverse_dynamics"), "both": robot.kernel("mass_matrix", "bias_force")}
    names |= {"three": robot.kernel("mass_matrix", "gravity_force", f"jacobian:{frame}"), "J": np.empty((6, robot.nv))}
    names["damped"] = robot.with_damping(True)
    names["rubbing"] = robot.with_friction({joint: StaticViscous(0.3, 0.1) for joint in robot.joints})
    names |= {"task": robot.task(frame), "prescribed": [robot.joints[0]], "first": np.eye(robot.nv)[0], "F": np.ones(6)}
    names |= {"point": np.array([0.1, 0.2, 0.3]), "one": robot.links[2], "other": robot.links[3]}
    names["pushes"] = _pushes(case.model, frame, names["F"])
    return names | _four_bar()


def _peer(case: Case, translation: Translation) -> dict[str, Any]:
    """Pinocchio's model and the translations of its results."""
    robot, model = case.robot, case.model
    ids = [1 if robot.joint(j).type == "floating" else model.getJointId(j) for j in robot.joints]
    back = ("vector_back", "matrix_back", "jacobian_back", "configuration")
    return {
        "pin": pin, "np": np, "model": model, "data": model.createData(), "SWAP": SWAP,
        "frame_id": model.getFrameId(case.source.frame), "axes": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
        "joint_ids": ids, "frame_ids": [_frame_id(model, frame) for frame in robot.frames], "about_origin": about_origin,
        **{name: getattr(translation, name) for name in back},
    }  # fmt: skip


def _frame_id(model: Any, frame: str) -> int:
    """Pinocchio's number of a frame; the world, where no link is called that, is its first."""
    return model.getFrameId(frame) if model.existFrame(frame) else 0


def about_origin(h: Any, com: np.ndarray) -> np.ndarray:
    """Pinocchio's centroidal momentum as torsor's (L, p) about the origin of the world: L = L_c + c × p."""
    return np.concatenate([h.angular + np.cross(com, h.linear), h.linear])


def _pushes(model: Any, frame: str, F: np.ndarray) -> Any:
    """A wrench (m, f) in a frame's axes, as Pinocchio's list of forces in joint frames."""
    pushes = pin.StdVec_Force()
    pushes.extend(pin.Force.Zero() for _ in range(model.njoints))
    at = model.frames[model.getFrameId(frame)]
    pushes[at.parentJoint] = at.placement.act(pin.Force(F[3:], F[:3]))
    return pushes


def _four_bar() -> dict[str, Any]:
    """A four-bar in both libraries, and one state that closes its loop."""
    held = constrained.four_bar()
    state = held.translate_state(*(x[0].copy() for x in held.states))
    names = constrained.solver_inputs(held, "constraintDynamics", 1e-8)
    kept = {"bars": held.system, "bmodel": names["model"], "bdata": names["data"]}
    kept |= {k: names[k] for k in ("solve", "contacts", "memory", "settings")}
    return kept | {
        f"b{k}": state[x] for k, x in (("q", "q"), ("v", "v"), ("t", "tau"), ("qp", "qp"), ("vp", "vp"), ("tp", "taup"))
    }


# -- every quantity of every robot -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """A quantity: torsor's call, Pinocchio's statement over x = q, y = v, z = a and w = q1, its result in torsor's order."""

    name: str
    ours: str
    theirs: str
    answer: str
    ours_as: str = "{}"


MEASURES = (
    Measure("mass_matrix", "robot.mass_matrix(q{out})", "r = pin.crba(model, data, x)", "matrix_back(r)"),
    Measure(
        "mass_matrix_inverse", "robot.mass_matrix_inverse(q{out})", "r = pin.computeMinverse(model, data, x)", "matrix_back(r)"
    ),
    Measure("bias_force", "robot.bias_force(q, v{out})", "r = pin.nonLinearEffects(model, data, x, y)", "vector_back(r)"),
    Measure(
        "gravity_force", "robot.gravity_force(q{out})", "r = pin.computeGeneralizedGravity(model, data, x)", "vector_back(r)"
    ),
    Measure(
        "coriolis_matrix", "robot.coriolis_matrix(q, v{out})", "r = pin.computeCoriolisMatrix(model, data, x, y)",
        "matrix_back(r)",
    ),
    Measure("kinetic_energy", "robot.kinetic_energy(q, v{out})", "r = pin.computeKineticEnergy(model, data, x, y)", "r"),
    Measure("potential_energy", "robot.potential_energy(q{out})", "r = pin.computePotentialEnergy(model, data, x)", "r"),
    Measure("center_of_mass", "robot.center_of_mass(q, moving=True{out})", "r = pin.centerOfMass(model, data, x)", "r.copy()"),
    Measure(
        "momentum", "robot.momentum(q, v{out})", "r = pin.computeCentroidalMomentum(model, data, x, y)",
        "about_origin(r, data.com[0])",
    ),
    Measure(
        "pose", "robot.pose(q, frame{out})",
        "pin.forwardKinematics(model, data, x); r = pin.updateFramePlacement(model, data, frame_id)", "r.homogeneous",
    ),
    Measure(
        "jacobian", "robot.jacobian(q, frame{out})", "r = pin.computeFrameJacobian(model, data, x, frame_id, axes)",
        "jacobian_back(r)",
    ),
    Measure(
        "jacobian_rate", "robot.jacobian_rate(q, v, frame{out})",
        "pin.computeJointJacobiansTimeVariation(model, data, x, y); "
        "r = pin.getFrameJacobianTimeVariation(model, data, frame_id, axes)", "jacobian_back(r)",
    ),
    Measure(
        "twist", "robot.twist(q, v, frame{out})",
        "pin.forwardKinematics(model, data, x, y); r = pin.getFrameVelocity(model, data, frame_id, axes)", "r.vector[SWAP]",
    ),
    Measure(
        "reaction_wrenches", "robot.reaction_wrenches(q, v, a{out})", "pin.rnea(model, data, x, y, z); r = data.f",
        "np.array([r[i].vector[SWAP] for i in joint_ids])",
    ),
    Measure(
        "poses of all frames", "robot.poses(q{out})", "pin.framesForwardKinematics(model, data, x); r = data.oMf",
        "np.array([r[i].homogeneous for i in frame_ids])",
    ),
    Measure("integrate", "robot.integrate(q, v, 1.0{out})", "r = pin.integrate(model, x, y)", "r", "configuration({})"),
    Measure("difference", "robot.difference(q, q1{out})", "r = pin.difference(model, x, w)", "vector_back(r)"),
)  # fmt: skip


def contests(case: Case, samples: int = 10) -> Iterator[Contest]:
    """Every quantity for one call, and in a batch with ``out=``."""
    translation = Translation.between(case.robot, case.model)
    names = _peer(case, translation) | {"robot": case.robot, "frame": case.source.frame}
    many = _states(case.robot, translation, BATCH)
    ones = [{k: x[n].copy() for k, x in many.items()} for n in range(samples)]
    for m in MEASURES:
        yield _one_call(case, m, names, ones)
        yield from _batches(case, m, names, many, ones[0])


def _states(robot: ts.Robot, translation: Translation, count: int) -> dict[str, np.ndarray]:
    """States of both libraries by the names of the statements; q1 is where v leads in a second."""
    q, v, a = random_states(robot, count)
    q1 = robot.integrate(q, v, 1.0)
    theirs = {"x": translation.configuration(q), "y": translation.velocity(v), "z": translation.velocity(a)}
    return {"q": q, "v": v, "a": a, "q1": q1, **theirs, "w": translation.configuration(q1)}


def _value(m: Measure, names: dict[str, Any]) -> Callable[..., Any]:
    """Pinocchio's statement, the one that is timed, as a function with its result in torsor's order."""
    scope = dict(names)
    exec(f"def value(x, y, z, w):\n    {m.theirs}\n    return {m.answer}", scope)
    return scope["value"]


def _one_call(case: Case, m: Measure, names: dict[str, Any], states: list[dict[str, Any]]) -> Contest:
    ours = m.ours.format(out="")
    names = names | {"value": _value(m, names), **states[0]}
    return Contest(
        "call", m.name, case.name, "Pinocchio", ours, m.theirs, names, states,
        our_answer=m.ours_as.format(f"({ours})"), answer="value(x, y, z, w)",
    )  # fmt: skip


def _batches(case: Case, m: Measure, names: dict[str, Any], many: dict[str, Any], one: dict[str, Any]) -> Iterator[Contest]:
    """A batch against a loop of Pinocchio's statement, and a large result against a copy of it."""
    result = eval(m.ours.format(out=""), names | one)
    several = isinstance(result, tuple)
    out: Any = tuple(np.empty((BATCH, *x.shape)) for x in result) if several else np.empty((BATCH, *np.shape(result)))
    numbers = sum(map(np.size, result)) if several else np.size(result)
    rows = list(zip(*(many[k] for k in ("x", "y", "z", "w")), strict=True))
    names = names | many | {"value": _value(m, names), "rows": rows, "out": out}
    ours, extra = m.ours.format(out=", out=out"), {"numbers": numbers, "bytes_written": 8 * numbers}
    yield Contest(
        "batch of 1024", m.name, case.name, "Pinocchio loop", ours, f"for x, y, z, w in rows: {m.theirs}", names, states=BATCH,
        our_answer=m.ours_as.format("out"), answer="np.array([value(*row) for row in rows])", extra=extra,
    )  # fmt: skip
    if numbers > LARGE:
        eval(ours, names)
        names["kept"] = tuple(x.copy() for x in out) if several else out.copy()
        copy = "for old, new in zip(kept, out): np.copyto(new, old)" if several else "np.copyto(out, kept)"
        answer = f"np.array({m.ours_as.format('out')})"  # of its own: the copy writes to the same memory
        yield Contest(
            "batch of 1024", m.name, case.name, "a copy", ours, copy, names, states=BATCH, our_answer=answer, answer=answer,
            extra=extra,
        )  # fmt: skip
