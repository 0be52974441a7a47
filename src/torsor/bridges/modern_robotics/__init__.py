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

from torsor.bridges.modern_robotics.control import ComputedTorque as ComputedTorque
from torsor.bridges.modern_robotics.control import SimulateControl as SimulateControl
from torsor.bridges.modern_robotics.dynamics import EndEffectorForces as EndEffectorForces
from torsor.bridges.modern_robotics.dynamics import EulerStep as EulerStep
from torsor.bridges.modern_robotics.dynamics import ForwardDynamics as ForwardDynamics
from torsor.bridges.modern_robotics.dynamics import GravityForces as GravityForces
from torsor.bridges.modern_robotics.dynamics import InverseDynamics as InverseDynamics
from torsor.bridges.modern_robotics.dynamics import MassMatrix as MassMatrix
from torsor.bridges.modern_robotics.dynamics import VelQuadraticForces as VelQuadraticForces
from torsor.bridges.modern_robotics.dynamics import ad as ad
from torsor.bridges.modern_robotics.kinematics import FKinBody as FKinBody
from torsor.bridges.modern_robotics.kinematics import FKinSpace as FKinSpace
from torsor.bridges.modern_robotics.kinematics import IKinBody as IKinBody
from torsor.bridges.modern_robotics.kinematics import IKinSpace as IKinSpace
from torsor.bridges.modern_robotics.kinematics import JacobianBody as JacobianBody
from torsor.bridges.modern_robotics.kinematics import JacobianSpace as JacobianSpace
from torsor.bridges.modern_robotics.motions import Adjoint as Adjoint
from torsor.bridges.modern_robotics.motions import AxisAng3 as AxisAng3
from torsor.bridges.modern_robotics.motions import AxisAng6 as AxisAng6
from torsor.bridges.modern_robotics.motions import MatrixExp3 as MatrixExp3
from torsor.bridges.modern_robotics.motions import MatrixExp6 as MatrixExp6
from torsor.bridges.modern_robotics.motions import MatrixLog3 as MatrixLog3
from torsor.bridges.modern_robotics.motions import MatrixLog6 as MatrixLog6
from torsor.bridges.modern_robotics.motions import NearZero as NearZero
from torsor.bridges.modern_robotics.motions import Normalize as Normalize
from torsor.bridges.modern_robotics.motions import RotInv as RotInv
from torsor.bridges.modern_robotics.motions import RpToTrans as RpToTrans
from torsor.bridges.modern_robotics.motions import ScrewToAxis as ScrewToAxis
from torsor.bridges.modern_robotics.motions import TransInv as TransInv
from torsor.bridges.modern_robotics.motions import TransToRp as TransToRp
from torsor.bridges.modern_robotics.motions import VecTose3 as VecTose3
from torsor.bridges.modern_robotics.motions import VecToso3 as VecToso3
from torsor.bridges.modern_robotics.motions import se3ToVec as se3ToVec
from torsor.bridges.modern_robotics.motions import so3ToVec as so3ToVec
from torsor.bridges.modern_robotics.projections import DistanceToSE3 as DistanceToSE3
from torsor.bridges.modern_robotics.projections import DistanceToSO3 as DistanceToSO3
from torsor.bridges.modern_robotics.projections import ProjectToSE3 as ProjectToSE3
from torsor.bridges.modern_robotics.projections import ProjectToSO3 as ProjectToSO3
from torsor.bridges.modern_robotics.projections import TestIfSE3 as TestIfSE3
from torsor.bridges.modern_robotics.projections import TestIfSO3 as TestIfSO3
from torsor.bridges.modern_robotics.simulation import ForwardDynamicsTrajectory as ForwardDynamicsTrajectory
from torsor.bridges.modern_robotics.simulation import InverseDynamicsTrajectory as InverseDynamicsTrajectory
from torsor.bridges.modern_robotics.trajectories import CartesianTrajectory as CartesianTrajectory
from torsor.bridges.modern_robotics.trajectories import CubicTimeScaling as CubicTimeScaling
from torsor.bridges.modern_robotics.trajectories import JointTrajectory as JointTrajectory
from torsor.bridges.modern_robotics.trajectories import QuinticTimeScaling as QuinticTimeScaling
from torsor.bridges.modern_robotics.trajectories import ScrewTrajectory as ScrewTrajectory

#: every function above
__all__ = ["np", *(name for name, thing in globals().items() if callable(thing))]
