"""Contests against Pinocchio: every quantity for one call, and batches against its batched functions with one thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.robots import Case
from benchmarks.states import Translation, random_states
from benchmarks.timing import Contest, Effort

#: quantity, torsor's statement, Pinocchio's, which kind of result it is
ONE_CALL = (
    ("inverse_dynamics", "robot.inverse_dynamics(q, v, a)", "pin.rnea(model, data, qp, vp, ap)", "vector"),
    ("forward_dynamics", "robot.forward_dynamics(q, v, a)", "pin.aba(model, data, qp, vp, ap)", "vector"),
    ("mass_matrix", "robot.mass_matrix(q)", "pin.crba(model, data, qp)", "matrix"),
    ("mass_matrix_inverse", "robot.mass_matrix_inverse(q)", "pin.computeMinverse(model, data, qp)", "matrix"),
    ("coriolis_matrix", "robot.coriolis_matrix(q, v)", "pin.computeCoriolisMatrix(model, data, qp, vp)", "matrix"),
    ("jacobian", "robot.jacobian(q, frame)", "pin.computeFrameJacobian(model, data, qp, frame_id, axes)", "jacobian"),
)

#: the same for batches: once into arrays that exist, once into new ones.  τ is any force, so a serves as one
BATCH = (
    ("inverse_dynamics", "robot.inverse_dynamics(q, v, a{out})", "pin.rneaInParallel(1, pool, qp, vp, ap{theirs})"),
    ("forward_dynamics", "robot.forward_dynamics(q, v, a{out})", "pin.abaInParallel(1, pool, qp, vp, ap{theirs})"),
)

#: bytes of matrices that stay in the cache
CACHE = 1_000_000


def one_call(case: Case, samples: int = 10) -> Iterator[Contest]:
    """One state, from Python, as a user writes it."""
    robot, model = case.robot, case.model
    translation = Translation.between(robot, model)
    frame = case.source.frame
    names = {"robot": robot, "pin": pin, "model": model, "data": model.createData(), "frame": frame}
    names |= {"frame_id": model.getFrameId(frame), "axes": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED}
    states = [_translate_state(translation, *(x.copy() for x in s)) for s in zip(*random_states(robot, samples), strict=True)]
    for quantity, ours, theirs, kind in ONE_CALL:
        back = getattr(translation, f"{kind}_back")
        extra = {"operations": _operations(robot, quantity, frame)}
        yield Contest(
            "one call", quantity, case.name, "Pinocchio", ours, theirs, {**names, **states[0]}, states, back=back, extra=extra
        )


def batches(case: Case, effort: Effort) -> Iterator[Contest]:
    """Batches on one thread: Pinocchio gets a column per state in Fortran order, the layout it reads without a copy."""
    robot, model = case.robot, case.model
    translation = Translation.between(robot, model)
    pool = pin.ModelPool(model, 1)
    for section, count, into in (
        ("batch", effort.small, True),
        ("batch, new arrays", effort.small, False),
        ("large batch", effort.large, True),
        ("tiny batch", effort.tiny, False),
    ):
        state = _translate_state(translation, *random_states(robot, count))
        state |= {k: state[k].T for k in ("qp", "vp", "ap")}
        names = {"robot": robot, "pin": pin, "pool": pool, **state}
        names |= {"out": np.empty((count, robot.nv)), "result": np.empty((model.nv, count), order="F")}
        for quantity, ours, theirs in BATCH:
            yield Contest(
                section, quantity, case.name, "Pinocchio",
                ours.format(out=", out=out" if into else ""), theirs.format(theirs=", result" if into else ""),
                names, states=count, answer="result" if into else "",
                back=lambda x: translation.vector_back(x.T), extra={"operations": _operations(robot, quantity)},
            )  # fmt: skip


def mass_matrices(case: Case, effort: Effort) -> Iterator[Contest]:
    """Batches of M against a Python loop of crba, which has no batched form; the loop does not even keep its results."""
    robot, model = case.robot, case.model
    translation = Translation.between(robot, model)
    size = 8 * robot.nv**2
    fits = CACHE // size // 16 * 16
    sections = [("batch", effort.small)] + ([("cached batch", fits)] if fits < effort.small / 2 else [])
    for section, count in sections:
        q = random_states(robot, count)[0]
        names = {"robot": robot, "crba": pin.crba, "model": model, "data": model.createData(), "q": q, "np": np}
        names |= {"rows": list(translation.configuration(q)), "out": np.empty((count, robot.nv, robot.nv))}
        yield Contest(
            section, "mass_matrix", case.name, "Pinocchio loop",
            "robot.mass_matrix(q, out=out)", "for x in rows: crba(model, data, x)", names, states=count,
            answer="np.array([crba(model, data, x) for x in rows])", back=translation.matrix_back,
            extra={"operations": _operations(robot, "mass_matrix"), "bytes_written": size},
        )  # fmt: skip


def _translate_state(translation: Translation, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    ours = {"q": q, "v": v, "a": a}
    theirs = {"qp": translation.configuration(q), "vp": translation.velocity(v), "ap": translation.velocity(a)}
    return ours | theirs


def _operations(robot: Any, quantity: str, frame: str = "") -> int:
    return robot.program(f"jacobian:{frame}:world" if quantity == "jacobian" else quantity).operations
