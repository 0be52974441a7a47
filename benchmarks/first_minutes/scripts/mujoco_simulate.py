import sys
import mujoco

model = mujoco.MjModel.from_xml_path(sys.argv[1])
model.opt.timestep = 1e-3
data = mujoco.MjData(model)
for _ in range(5000):
    mujoco.mj_step(model, data)
print(data.qpos)
