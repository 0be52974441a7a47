"""The software of *Modern Robotics* (Lynch & Park 2017; ch. 8: MR §8.11) by its own names, computed by torsor.

``import torsor.bridges.modern_robotics as mr`` replaces ``import modern_robotics as mr``: same functions, arguments,
order and results.  The lists of a robot (``Mlist``, ``Glist``, ``Slist``) are read once and kept; a function that is called
often becomes machine code of that robot; a trajectory is one call.

>>> import numpy as np, torsor.bridges.modern_robotics as mr
>>> M, G, S = [np.eye(4)] * 2, [np.diag([0.1, 0.1, 0.1, 2, 2, 2])], np.array([[0, 0, 1, 0, -0.5, 0]]).T
>>> mr.MassMatrix([0.3], M, G, S)
array([[0.6]])
"""

import numpy as np  # the book's package exports it in ``from modern_robotics import *``

from torsor.bridges.modern_robotics.control import ComputedTorque, SimulateControl
from torsor.bridges.modern_robotics.dynamics import (
    EndEffectorForces,
    EulerStep,
    ForwardDynamics,
    GravityForces,
    InverseDynamics,
    MassMatrix,
    VelQuadraticForces,
    ad,
)
from torsor.bridges.modern_robotics.kinematics import FKinBody, FKinSpace, IKinBody, IKinSpace, JacobianBody, JacobianSpace
from torsor.bridges.modern_robotics.motions import (
    Adjoint,
    AxisAng3,
    AxisAng6,
    MatrixExp3,
    MatrixExp6,
    MatrixLog3,
    MatrixLog6,
    NearZero,
    Normalize,
    RotInv,
    RpToTrans,
    ScrewToAxis,
    TransInv,
    TransToRp,
    VecTose3,
    VecToso3,
    se3ToVec,
    so3ToVec,
)
from torsor.bridges.modern_robotics.projections import (
    DistanceToSE3,
    DistanceToSO3,
    ProjectToSE3,
    ProjectToSO3,
    TestIfSE3,
    TestIfSO3,
)
from torsor.bridges.modern_robotics.simulation import ForwardDynamicsTrajectory, InverseDynamicsTrajectory
from torsor.bridges.modern_robotics.trajectories import (
    CartesianTrajectory,
    CubicTimeScaling,
    JointTrajectory,
    QuinticTimeScaling,
    ScrewTrajectory,
)

__all__ = [
    "Adjoint",
    "AxisAng3",
    "AxisAng6",
    "CartesianTrajectory",
    "ComputedTorque",
    "CubicTimeScaling",
    "DistanceToSE3",
    "DistanceToSO3",
    "EndEffectorForces",
    "EulerStep",
    "FKinBody",
    "FKinSpace",
    "ForwardDynamics",
    "ForwardDynamicsTrajectory",
    "GravityForces",
    "IKinBody",
    "IKinSpace",
    "InverseDynamics",
    "InverseDynamicsTrajectory",
    "JacobianBody",
    "JacobianSpace",
    "JointTrajectory",
    "MassMatrix",
    "MatrixExp3",
    "MatrixExp6",
    "MatrixLog3",
    "MatrixLog6",
    "NearZero",
    "Normalize",
    "ProjectToSE3",
    "ProjectToSO3",
    "QuinticTimeScaling",
    "RotInv",
    "RpToTrans",
    "ScrewToAxis",
    "ScrewTrajectory",
    "SimulateControl",
    "TestIfSE3",
    "TestIfSO3",
    "TransInv",
    "TransToRp",
    "VecTose3",
    "VecToso3",
    "VelQuadraticForces",
    "ad",
    "np",
    "se3ToVec",
    "so3ToVec",
]
