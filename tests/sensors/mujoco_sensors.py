"""Models with MuJoCo's sensors at a site on every body, and their readings at a random state."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import torsor as ts
from torsor.bridges import states

GYMNASIUM = find_spec("gymnasium")
ASSETS = Path(GYMNASIUM.origin).parent / "envs" / "mujoco" / "assets" if GYMNASIUM and GYMNASIUM.origin else Path()
#: welds inside a body, a joint behind a weld, a slider, an armature, gravity that is not along z
WELDED = """
<mujoco><option gravity="0.3 -0.2 -9.81"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
<body name="base" pos="0 0 1">FREE<geom size=".1 .2 .3" type="box" pos=".01 .02 .03"/>
  <body name="arm" pos=".1 0 .2" euler="30 0 10"><joint name="j1" axis="0 1 0" armature="0.3"/>
    <geom size=".05 .1" type="capsule"/>
    <body name="flange" pos=".1 .2 0" euler="0 40 0"><geom size=".1"/>
      <body name="camera" pos=".1 0 0"><geom size=".05" pos=".1 0 0"/></body>
      <body name="finger" pos="0 .3 0"><joint name="j2" axis="1 0 1"/><geom size=".05 .1" type="capsule" pos="0 .1 0"/></body>
    </body>
    <body name="tray" pos="0 -.3 0"><joint name="j3" type="slide" axis="1 0 1"/>
      <geom size=".05 .1" type="capsule" pos="0 .1 0"/></body>
  </body>
</body></worldbody></mujoco>"""
KINDS = {"gyro": "mjSENS_GYRO", "accelerometer": "mjSENS_ACCELEROMETER", "force": "mjSENS_FORCE", "torque": "mjSENS_TORQUE"}


def with_sensors(spec: Any) -> Any:
    """The compiled model with a turned site on every body, and the four sensors of each."""
    rng, bodies = np.random.default_rng(1), list(spec.bodies)[1:]
    for k, body in enumerate(bodies):
        body.add_site(name=f"site{k}", pos=rng.normal(scale=0.1, size=3), quat=rng.normal(size=4))
        for kind in KINDS.values():
            sensor = spec.add_sensor(name=f"{kind}{k}", type=getattr(mujoco.mjtSensor, kind))
            sensor.objtype, sensor.objname = mujoco.mjtObj.mjOBJ_SITE, f"site{k}"
    m = spec.compile()
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    return m


def models() -> dict[str, Any]:
    """Makers of the models, by name; those of Gymnasium if it is installed."""
    made = {
        "welded, fixed": lambda: mujoco.MjSpec.from_string(WELDED.replace("FREE", "")),
        "welded, floating": lambda: mujoco.MjSpec.from_string(WELDED.replace("FREE", "<freejoint/>")),
    }
    for name in ("pusher", "ant", "humanoid"):
        path = ASSETS / f"{name}.xml"
        if path.exists():
            made[name] = lambda path=path: mujoco.MjSpec.from_file(str(path))
    return made


class Twin:
    """A robot and MuJoCo's model of it at a random state: q, v and a here, the readings there."""

    def __init__(self, m: Any, seed: int = 0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ts.ModelWarning)  # springs and fluids are in MuJoCo's qacc alone
            self.robot = ts.from_mujoco(m)
        self.m, self.d, rng = m, mujoco.MjData(m), np.random.default_rng(seed)
        convention = states.mujoco(self.robot, m)
        self.q, self.v = self.robot.random_configuration(rng), rng.normal(size=self.robot.nv)
        self.d.qpos[:], self.d.qvel[:] = convention.q(self.q), convention.v(self.q, self.v)
        self.d.qfrc_applied[:] = rng.normal(size=m.nv)
        mujoco.mj_forward(m, self.d)
        self.a = convention.back.a(self.d.qpos, self.d.qvel, self.d.qacc)

    def reading(self, kind: str, k: int) -> np.ndarray:
        return self.d.sensor(f"{KINDS[kind]}{k}").data
