import numpy as np
import pinocchio as pin
import site

urdf = site.getsitepackages()[0] + "/cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf"
model = pin.buildModelFromUrdf(urdf)
data, q, v, tau = model.createData(), pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
for _ in range(5000):
    v = v + 1e-3 * pin.aba(model, data, q, v, tau)
    q = pin.integrate(model, q, 1e-3 * v)
print(q)
