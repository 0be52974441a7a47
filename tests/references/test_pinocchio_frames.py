"""Motion of frames, points of frames, and frames relative to others, against Pinocchio; exp, log and rpy too."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests.references.pinocchio_states import ROBOTS, Twin
from tests.tolerance import assert_close
from torsor import rigid

MODES = {"world": pin.LOCAL_WORLD_ALIGNED, "body": pin.LOCAL, "space": pin.WORLD}
#: file, floating, two links on different branches or one after the other, and a link at the origin of its joint
FILES = {
    "panda": ("panda_description/urdf/panda.urdf", False, "panda_leftfinger", "panda_link3"),
    "baxter": ("baxter_description/urdf/baxter.urdf", False, "left_gripper", "right_wrist"),
    "solo12": ("solo_description/robots/solo12.urdf", True, "HR_FOOT", "FL_LOWER_LEG"),
}


class Moving:
    """A robot in both libraries at a random state, with a point of the first link as a frame of Pinocchio's."""

    def __init__(self, name: str):
        file, floating, self.frame, self.other = FILES[name]
        rng = np.random.default_rng(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ts.ModelWarning)
            robot = ts.load(ROBOTS / file, base="floating" if floating else "fixed", mimic=False)
        self.robot, self.twin = robot, Twin(robot, ROBOTS / file, floating)
        self.q, self.v, self.a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        self.at = rng.normal(size=3)
        m = self.twin.model
        link = m.frames[m.getFrameId(self.frame, pin.FrameType.BODY)]
        placement = link.placement * pin.SE3(np.eye(3), self.at)
        self.point = m.addFrame(pin.Frame("point", link.parentJoint, link.parentFrame, placement, pin.FrameType.OP_FRAME))
        self.reference = m.getFrameId(self.other, pin.FrameType.BODY)
        self.data = m.createData()
        self.state = [self.twin.q(self.q), self.twin.v(self.v), self.twin.v(self.a)]
        pin.forwardKinematics(m, self.data, *self.state)
        pin.computeJointJacobiansTimeVariation(m, self.data, *self.state[:2])
        pin.updateFramePlacements(m, self.data)

    def six(self, V) -> np.ndarray:
        """Angular part first."""
        return np.concatenate([V.angular, V.linear])

    def columns(self, J: np.ndarray) -> np.ndarray:
        ours = np.empty_like(J)
        ours[:, self.twin.v_index] = np.vstack([J[3:], J[:3]])
        return ours

    def of_frame(self, function, frame, mode):
        return function(self.twin.model, self.data, frame, mode)


@pytest.fixture(scope="module", params=FILES)
def moving(request):
    return Moving(request.param)


@pytest.mark.parametrize("word", MODES)
def test_motion_of_a_point_equals_that_of_a_frame_of_pinocchio(moving, word):
    c, mode = moving, MODES[word]
    r, words = c.robot, {"expressed_in": word, "at": c.at}
    assert_close(r.pose(c.q, c.frame, at=c.at), c.data.oMf[c.point].homogeneous)
    assert_close(r.jacobian(c.q, c.frame, **words), c.columns(c.of_frame(pin.getFrameJacobian, c.point, mode)))
    rate = c.columns(c.of_frame(pin.getFrameJacobianTimeVariation, c.point, mode))
    assert_close(r.jacobian_rate(c.q, c.v, c.frame, **words), rate)
    assert_close(r.twist(c.q, c.v, c.frame, **words), c.six(c.of_frame(pin.getFrameVelocity, c.point, mode)))
    kinds = {"spatial": pin.getFrameAcceleration, "classical": pin.getFrameClassicalAcceleration}
    for kind, function in kinds.items():
        expected = c.six(c.of_frame(function, c.point, mode))
        assert_close(r.acceleration(c.q, c.v, c.a, c.frame, kind=kind, **words), expected)
    default = kinds["classical" if word == "world" else "spatial"]
    assert_close(r.acceleration(c.q, c.v, c.a, c.frame, **words), c.six(c.of_frame(default, c.point, mode)))


def test_relative_motion_equals_that_composed_from_pinocchio(moving):
    """V_F − X V_B and its rate A_F − X A_B + V_F × X V_B, in the frame's axes; then as B sees it."""
    c, r = moving, moving.robot
    T = c.data.oMf[c.reference].actInv(c.data.oMf[c.point])
    X = rigid.adjoint(T.inverse().homogeneous)
    J, JB = (c.columns(c.of_frame(pin.getFrameJacobian, f, pin.LOCAL)) for f in (c.point, c.reference))
    dJ, dJB = (c.columns(c.of_frame(pin.getFrameJacobianTimeVariation, f, pin.LOCAL)) for f in (c.point, c.reference))
    V, VB = (c.six(c.of_frame(pin.getFrameVelocity, f, pin.LOCAL)) for f in (c.point, c.reference))
    A, AB = (c.six(c.of_frame(pin.getFrameAcceleration, f, pin.LOCAL)) for f in (c.point, c.reference))
    relative = V - X @ VB
    rate = dJ - X @ dJB + rigid.ad(relative) @ X @ JB
    acceleration = A - X @ AB + rigid.ad(V) @ X @ VB
    size, fast = np.abs(J).max() + np.abs(X @ JB).max(), np.abs(V).max() + np.abs(X @ VB).max()
    words = {"relative_to": c.other, "at": c.at}
    assert_close(r.pose(c.q, c.frame, **words), T.homogeneous, scale=np.abs(c.data.oMf[c.point].homogeneous).max())
    assert_close(r.jacobian(c.q, c.frame, "body", **words), J - X @ JB, scale=size)
    assert_close(r.jacobian_rate(c.q, c.v, c.frame, "body", **words), rate, scale=size * fast)
    assert_close(r.twist(c.q, c.v, c.frame, "body", **words), relative, scale=fast)
    scale = np.abs(A).max() + np.abs(X @ AB).max() + fast * fast
    assert_close(r.acceleration(c.q, c.v, c.a, c.frame, "body", **words), acceleration, scale=scale)
    space, turned = rigid.adjoint(T.homogeneous), np.kron(np.eye(2), T.rotation)
    assert_close(r.acceleration(c.q, c.v, c.a, c.frame, "space", **words), space @ acceleration, scale=scale)
    classical = acceleration + np.r_[0, 0, 0, np.cross(relative[:3], relative[3:])]
    assert_close(r.acceleration(c.q, c.v, c.a, c.frame, **words), turned @ classical, scale=scale)


@pytest.mark.parametrize("word", MODES)
def test_jacobian_derivative_equals_the_kinematic_hessian_of_pinocchio(moving, word):
    c, m = moving, moving.twin.model
    link = m.frames[c.reference]
    data = m.createData()
    pin.computeJointJacobians(m, data, c.state[0])
    pin.computeJointKinematicHessians(m, data)
    H = np.array(pin.getJointKinematicHessian(m, data, link.parentJoint, MODES[word]))
    H = H.ravel().reshape(H.shape, order="F")  # Eigen's memory, columns first, which its Python binding reads as rows first
    assert link.placement.isIdentity()
    ours = np.empty_like(H)
    ours[np.ix_(range(6), c.twin.v_index, c.twin.v_index)] = np.concatenate([H[3:], H[:3]])
    assert_close(c.robot.jacobian_derivative(c.q, c.other, word), ours)


# -- torsor.rigid ----------------------------------------------------------------------------------------------------

ANGLES = [0.0, 1e-9, 1e-4, 0.2, 1.0, 3.0, np.pi - 1e-6]


def linear_first(J: np.ndarray) -> np.ndarray:
    order = np.r_[3:6, 0:3]
    return J[np.ix_(order, order)]


@pytest.mark.parametrize("angle", ANGLES)
def test_exponentials_logarithms_and_their_jacobians_equal_those_of_pinocchio(angle):
    rng = np.random.default_rng(4)
    w, v = rng.normal(size=3), rng.normal(size=3)
    w *= angle / np.linalg.norm(w)
    M, T = pin.Motion(v, w), pin.exp6(pin.Motion(v, w))
    near_pi = 1e-8 if angle > 3.1 else 1e-12  # where Pinocchio's log loses digits
    assert_close(rigid.exp3(w), pin.exp3(w))
    assert_close(rigid.log3(pin.exp3(w)), pin.log3(pin.exp3(w)), near_pi)
    assert_close(rigid.exp6(np.r_[w, v]), T.homogeneous)
    theirs = pin.log6(T)
    assert_close(rigid.log6(T.homogeneous), np.r_[theirs.angular, theirs.linear], near_pi)
    assert_close(rigid.exp3_jacobian(w), pin.Jexp3(w))
    assert_close(rigid.log3_jacobian(T.rotation), pin.Jlog3(T.rotation), near_pi)
    # between 1e-4 and 0.2 rad Pinocchio's cancels: 3e-8 at 1e-3; ours is held against 50 digits in tests/relations
    assert_close(linear_first(rigid.exp6_jacobian(np.r_[w, v])), pin.Jexp6(M), 1e-12)
    assert_close(linear_first(rigid.log6_jacobian(T.homogeneous)), pin.Jlog6(T), near_pi)


@pytest.mark.parametrize(("word", "mode"), [("world", pin.LOCAL_WORLD_ALIGNED), ("body", pin.LOCAL)])
def test_roll_pitch_yaw_equal_those_of_pinocchio(word, mode):
    rng = np.random.default_rng(5)
    for angles in rng.uniform(-1.5, 1.5, size=(20, 3)):
        rates = rng.normal(size=3)
        assert_close(rigid.from_rpy(angles), pin.rpy.rpyToMatrix(*angles))
        assert_close(rigid.to_rpy(rigid.from_rpy(angles)), pin.rpy.matrixToRpy(pin.rpy.rpyToMatrix(*angles)))
        assert_close(rigid.rpy_jacobian(angles, word), pin.rpy.computeRpyJacobian(angles, mode))
        assert_close(rigid.rpy_jacobian_inverse(angles, word), pin.rpy.computeRpyJacobianInverse(angles, mode))
        expected = pin.rpy.computeRpyJacobianTimeDerivative(angles, rates, mode)
        assert_close(rigid.rpy_jacobian_rate(angles, rates, word), expected, floor=1)


def test_interpolation_equals_that_of_pinocchio():
    rng = np.random.default_rng(6)
    for _ in range(10):
        a, b, s = pin.SE3.Random(), pin.SE3.Random(), rng.uniform()
        assert_close(rigid.interpolate_pose(a.homogeneous, b.homogeneous, s), pin.SE3.Interpolate(a, b, s).homogeneous)
        q = pin.Quaternion(a.rotation).slerp(s, pin.Quaternion(b.rotation))
        assert_close(rigid.slerp(a.rotation, b.rotation, s), q.matrix())
