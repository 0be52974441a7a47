import sys
import mujoco

model = mujoco.MjModel.from_xml_path(sys.argv[1])
data = mujoco.MjData(model)
mujoco.mj_inverse(model, data)
print(data.qfrc_inverse)
