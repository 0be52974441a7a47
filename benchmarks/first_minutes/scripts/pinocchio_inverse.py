import numpy as np
import pinocchio as pin
import site

urdf = site.getsitepackages()[0] + "/cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf"
model = pin.buildModelFromUrdf(urdf)
data, zero = model.createData(), np.zeros(model.nv)
print(pin.rnea(model, data, pin.neutral(model), zero, zero))
