"""``python -m benchmarks.contact``: rollouts through contact against MuJoCo, interleaved in one process, on one core.

Quadruped and humanoid, their feet alone, stand and trot under position servos.  MuJoCo runs with its defaults, and with
elliptic cones and a tolerance of 1e-6; each by ``mj_step`` in C (``mujoco.rollout`` without threads) and by ``mujoco.batch``.
Its ground is soft: before anything is timed the bases must end within ``AGREEMENT`` of each other with ``solref`` 2 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import torsor as ts
from benchmarks import translated
from torsor.scalar import Scalar
from torsor.spatial import Vec

#: robots, steps, seconds of a step, rounds
ROBOTS, STEPS, DT, ROUNDS = 64, 200, 1e-3, 7
#: distance of the bases after the motion, the median over the robots [m]
AGREEMENT = 2e-3
FRICTION = 0.8
#: radius of a point in MuJoCo [m]
SMALL = 1e-4
#: corners of a G1's foot, in its ankle's frame [m]
CORNERS = [(x, y, -0.035) for x in (-0.05, 0.12) for y in (-0.03, 0.03)]
#: options of MuJoCo that are compared
OPTIONS = {"defaults": {}, "elliptic, 1e-6": {"cone": "mjCONE_ELLIPTIC", "tolerance": 1e-6}}


class Walker(NamedTuple):
    """A robot with feet, its gains, and targets of its joints, (steps, joints)."""

    name: str
    bare: ts.Robot
    feet: list[tuple[str, tuple[float, float, float], float]]  #: frame, place, radius
    kp: float
    kd: float
    integrator: str
    start: np.ndarray
    targets: np.ndarray

    @property
    def robot(self) -> ts.Robot:
        shapes = [ts.contacts.sphere(f, r, at) if r else ts.contacts.point(f, at) for f, at, r in self.feet]
        return self.bare.with_contacts(shapes, ts.contacts.plane(), friction=FRICTION)


def quadruped(trots: bool) -> Walker:
    bare, rest = ts.robots.quadruped(), np.array([0, 0.8, -1.6] * 4)
    feet = [(f, (0.0, 0.0, 0.0), 0.016) for f in bare.frames if f.endswith("FOOT")]
    start = np.concatenate([[0, 0, 0.235, 0, 0, 0, 1], rest])
    phase = np.repeat([0, np.pi, np.pi, 0], 3)
    swing = np.tile([0, 0.4, -0.6], 4) * np.sin(2 * np.pi * 2.5 * DT * np.arange(STEPS)[:, None] + phase)
    return Walker(
        "Solo12 " + ("trots" if trots else "stands"), bare, feet, 5.0, 0.1, "semi_implicit", start, rest + trots * swing
    )


def humanoid() -> Walker:
    bare = ts.robots.humanoid()
    feet = [(f"{side}_ankle_roll_link", at, 0.0) for side in ("left", "right") for at in CORNERS]
    start = bare.neutral()
    start[2] += 0.035 - bare.pose(start, "left_ankle_roll_link")[2, 3]
    return Walker("G1 stands", bare, feet, 100.0, 3.0, "implicit", start, np.zeros((STEPS, bare.nv - 6)))


def states(w: Walker) -> tuple[np.ndarray, np.ndarray]:
    rng, n = np.random.default_rng(0), w.bare.nv - 6
    q = np.tile(w.start, (ROBOTS, 1))
    q[:, 7:] += rng.uniform(-0.05, 0.05, (ROBOTS, n))
    q[:, 2] -= w.robot.contact_gap(q).min(axis=1)  # the lowest foot touches the ground
    return q, rng.uniform(-0.1, 0.1, (ROBOTS, w.bare.nv))


def servo(w: Walker) -> ts.Controller:
    def law(q: Any, v: Any, u: Any) -> list[Scalar]:
        return [0] * 6 + [w.kp * (r - a) - w.kd * b for r, a, b in zip(u, q[7:], v[6:], strict=True)]

    return ts.Controller(law)


# -- MuJoCo ----------------------------------------------------------------------------------------------------------


def mujoco_model(w: Walker, solref: float | None = None, cone: str = "mjCONE_PYRAMIDAL", tolerance: float = 1e-8) -> Any:
    """The same bodies, feet, ground and servos."""
    import mujoco

    model, soft = w.bare.model, f' solref="{solref} 1"' if solref else ""
    geom = f'<geom friction="{FRICTION} 0 0" condim="3"{soft} mass="0" type='
    xml = translated.mujoco_xml(model, ())
    for frame, at, radius in w.feet:
        body, X = model.frame(frame)
        x, y, z = X.r + X.E.T @ Vec(*at)
        size, z = radius or SMALL, z + (0 if radius else SMALL)
        foot = f'{geom}"sphere" size="{size}" pos="{x} {y} {z}" contype="1" conaffinity="2"/>'
        xml, count = re.subn(rf'(<body name="body{body}"[^>]*>)', rf"\1{foot}", xml)
        assert count == 1, frame
    xml = xml.replace("<worldbody>", f'<worldbody>{geom}"plane" size="0 0 1" contype="2" conaffinity="1"/>')
    names = [model.joint_names[i] for i, _ in model.outward() if model.joint[i].nv == 1]
    servos = "".join(f'<position joint="{name}" kp="{w.kp}" kv="{w.kd}"/>' for name in names)
    m = mujoco.MjModel.from_xml_string(xml.replace("</mujoco>", f"<actuator>{servos}</actuator></mujoco>"))
    m.opt.timestep, m.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    m.opt.cone, m.opt.tolerance = getattr(mujoco.mjtCone, cone), tolerance
    return m


class Peers:
    """MuJoCo's two ways through the same motions."""

    def __init__(self, w: Walker, q: np.ndarray, v: np.ndarray):
        import mujoco
        import mujoco.batch
        import mujoco.rollout

        self.w, self.mujoco, rows = (
            w,
            mujoco,
            [translated.mujoco_state(w.bare.model, a, b, 0 * b) for a, b in zip(q, v, strict=True)],
        )
        self.starts = np.array([np.concatenate([[0.0], x["qm"], x["vm"]]) for x in rows])
        self.controls = np.ascontiguousarray(np.broadcast_to(w.targets, (ROBOTS, *w.targets.shape)))
        self.loop = mujoco.rollout.Rollout(nthread=0)

    def steps(self, m: Any) -> np.ndarray:
        """``mj_step`` in a loop in C."""
        found, _ = self.loop.rollout(m, self.mujoco.MjData(m), self.starts, self.controls)
        return found[:, -1, 1 : m.nq + 1]

    def batch(self, m: Any) -> Callable[[], np.ndarray]:
        """``mujoco.batch`` with one thread."""
        many = self.mujoco.batch.Batch(m, ROBOTS, nthread=1)
        qpos, qvel = many.bind("qpos"), many.bind("qvel")

        def run() -> np.ndarray:
            many.reset()
            qpos[:], qvel[:] = self.starts[:, 1 : m.nq + 1], self.starts[:, m.nq + 1 :]
            return many.rollout(STEPS, self.controls)["qpos"][:, -1]

        return run


def compare(w: Walker) -> dict[str, Any]:
    """Processor times of a step [ns] on one core, the residual of torsor, and how far the bases are apart."""
    q, v = states(w)
    robot, control = w.robot, servo(w)

    def ours(of: ts.Robot = robot) -> Any:
        return of.rollout(q, v, w.targets, dt=DT, controller=control, integrator=w.integrator, record="last")

    kept = robot.rollout(q, v, w.targets, dt=DT, controller=control, integrator=w.integrator)
    residual, peers = kept.x[..., -1], Peers(w, q, v)
    apart = np.median(np.linalg.norm(peers.steps(mujoco_model(w, 0.002))[:, :3] - kept.q[:, -1, :3], axis=1))
    assert apart < AGREEMENT, f"the bases end {apart:.2g} m apart"
    calls: dict[str, Callable[[], object]] = {"torsor": ours, "torsor, no contact": lambda: ours(w.bare)}
    for name, options in OPTIONS.items():
        m = mujoco_model(w, **options)
        calls |= {f"mj_step, {name}": lambda m=m: peers.steps(m), f"mujoco.batch, {name}": peers.batch(m)}
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return {
        "robot": w.name, "ns": {name: 1e9 * t / (ROBOTS * STEPS) for name, t in best.items()}, "apart": float(apart),
        "residual": dict(zip(("50 %", "99 %", "max"), np.percentile(residual, [50, 99, 100]).tolist(), strict=True)),
        "closed": float((kept.contact_forces[..., 2] > 0).sum(axis=-1).mean()),
    }  # fmt: skip


def main() -> None:
    """One block of lines per robot."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", help="write the results to this file")
    path = options.parse_args().json
    os.sched_setaffinity(0, {0})
    with ts.threads(1):
        results = [compare(w) for w in (quadruped(False), quadruped(True), humanoid())]
    for r in results:
        ns = r["ns"]
        residual = ", ".join(f"{name} {x:.1e}" for name, x in r["residual"].items())
        print(f"{r['robot']}: {r['closed']:.1f} contacts; residual {residual} m/s")
        print(f"  bases {1e3 * r['apart']:.2g} mm from MuJoCo's with solref 2 ms")
        for name, t in ns.items():
            print(f"  {name}: {t:.0f} ns a step, {t / ns['torsor']:.1f} × torsor's")
    if path:
        Path(path).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
