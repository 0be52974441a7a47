import site
import time
import numpy as np
import pinocchio as pin
from pinocchio.visualize import MeshcatVisualizer

share = site.getsitepackages()[0] + "/cmeel.prefix/share/"
urdf = share + "example-robot-data/robots/panda_description/urdf/panda.urdf"
model, collision, visual = pin.buildModelsFromUrdf(urdf, [share])
viewer = MeshcatVisualizer(model, collision, visual)
viewer.initViewer(open=False)
viewer.loadViewerModel()
print(viewer.viewer.url(), flush=True)
data, q, v, tau = model.createData(), pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
while True:
    for _ in range(20):
        v = v + 1e-3 * pin.aba(model, data, q, v, tau)
        q = pin.integrate(model, q, 1e-3 * v)
    viewer.display(q)
    time.sleep(0.02)
