"""The rigid body (MR §8.2): shapes and their inertia, frames, consistency; twists and wrenches as arrays; one body's dynamics.

>>> from torsor import rigid
>>> ball, bar = rigid.sphere(0.1).inertia(density=7500), rigid.cylinder(0.02, 0.2).inertia(density=7500)
>>> ends = [rigid.transform_inertia(ball, xyz=(0, 0, z)) for z in (0.2, -0.2)]
>>> dumbbell = rigid.sum_inertias([bar, *ends])
>>> rigid.principal_axes(dumbbell).moments.round(3)  # MR Exercise 8.2
array([0.252, 2.771, 2.771])
"""

from torsor.spatial import Inertia
from torsor.spatial.rigid.body import (
    euler_principal,
    forward_dynamics,
    from_com,
    from_matrix,
    inverse_dynamics,
    kinetic_energy,
    momentum,
    newton_euler,
    to_matrix,
)
from torsor.spatial.rigid.consistency import (
    Correction,
    from_pseudo_inertia,
    inertia_problems,
    is_consistent,
    nearest_consistent,
    pseudo_inertia,
)
from torsor.spatial.rigid.frames import (
    Principal,
    parallel_axis,
    principal_axes,
    rotate_inertia,
    steiner,
    sum_inertias,
    transform_inertia,
)
from torsor.spatial.rigid.meshes import from_mesh, mesh, read_mesh
from torsor.spatial.rigid.motion_jacobians import exp3_jacobian, exp6_jacobian, log3_jacobian, log6_jacobian
from torsor.spatial.rigid.motions import exp3, exp6, from_quaternion, interpolate_pose, log3, log6, slerp, to_quaternion
from torsor.spatial.rigid.rpy import from_rpy, rpy_jacobian, rpy_jacobian_inverse, rpy_jacobian_rate, to_rpy
from torsor.spatial.rigid.screws import ad, ad_transpose, adjoint, inverse_pose, lie_bracket, pose, skew, twist_matrix, unskew
from torsor.spatial.shapes import Solid, box, capsule, cone, cylinder, ellipsoid, from_points, rod, sphere

__all__ = [
    "Correction",
    "Inertia",
    "Principal",
    "Solid",
    "ad",
    "ad_transpose",
    "adjoint",
    "box",
    "capsule",
    "sum_inertias",
    "cone",
    "cylinder",
    "ellipsoid",
    "euler_principal",
    "exp3",
    "exp3_jacobian",
    "exp6",
    "exp6_jacobian",
    "forward_dynamics",
    "from_com",
    "from_matrix",
    "from_mesh",
    "from_points",
    "from_pseudo_inertia",
    "from_quaternion",
    "from_rpy",
    "inverse_dynamics",
    "inverse_pose",
    "is_consistent",
    "kinetic_energy",
    "lie_bracket",
    "log3",
    "log3_jacobian",
    "log6",
    "log6_jacobian",
    "mesh",
    "momentum",
    "nearest_consistent",
    "newton_euler",
    "parallel_axis",
    "transform_inertia",
    "pose",
    "principal_axes",
    "inertia_problems",
    "interpolate_pose",
    "pseudo_inertia",
    "read_mesh",
    "rod",
    "rotate_inertia",
    "rpy_jacobian",
    "rpy_jacobian_inverse",
    "rpy_jacobian_rate",
    "skew",
    "slerp",
    "sphere",
    "steiner",
    "to_matrix",
    "to_quaternion",
    "to_rpy",
    "twist_matrix",
    "unskew",
]
