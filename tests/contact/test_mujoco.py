"""A quadruped that stands, and that lands from 5 cm, against MuJoCo, whose soft contact tends to the hard one."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from benchmarks import translated
from benchmarks.contact import mujoco_model, quadruped, servo

DT, SECONDS = 2.5e-4, 0.5


def mujoco_base(w, q, solref: float) -> np.ndarray:
    """Where MuJoCo's base is at the end [m].

    ``solref`` is that of both geoms, as MuJoCo takes their mean.  Elliptic cones with ``impratio`` 100: with the default of 1
    feet that stick creep by 0.2 mm in half a second, however hard the ground is.
    """
    m = mujoco_model(w, solref, cone="mjCONE_ELLIPTIC", tolerance=1e-12)
    m.opt.timestep, m.opt.impratio, m.opt.iterations = DT, 100.0, 200
    d, x = mujoco.MjData(m), translated.mujoco_state(w.bare.model, q, *np.zeros((2, w.bare.nv)))
    d.qpos[:], d.qvel[:], d.ctrl[:] = x["qm"], x["vm"], w.targets[0]
    for _ in range(round(SECONDS / DT)):
        mujoco.mj_step(m, d)
    return d.qpos[:3].copy()


@pytest.mark.parametrize("drop", [0.0, 0.05])
def test_base_of_a_quadruped_is_where_the_hard_limit_of_mujoco_is(drop):
    """Solo12 under PD servos: within 0.1 mm after 0.5 s with solref 2 ms, and nearer than with 4 ms."""
    w = quadruped(trots=False)._replace(kp=20.0, kd=0.5)
    robot, q = w.robot, w.start.copy()
    q[2] += drop - robot.contact_gap(q).min()
    run = robot.rollout(q, np.zeros(robot.nv), w.targets[0], dt=DT, steps=round(SECONDS / DT), controller=servo(w), record=100)
    off = {solref: np.linalg.norm(mujoco_base(w, q, solref) - run.q[-1, :3]) for solref in (0.02, 0.004, 0.002)}
    assert off[0.002] < 1e-4
    assert off[0.02] > 3 * off[0.004] > 6 * off[0.002]
    assert (run.contact_forces[-1, :, 2] > 0).all()
