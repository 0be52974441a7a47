"""Every URDF of example-robot-data that Pinocchio loads, fixed and floating: τ, M, forward dynamics, poses, Jacobians.

The fast suite runs the source over floats on all files, every second one floating, and the kernels on a dozen of them; the
night suite runs all kernels.
"""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests.references.pinocchio_states import ROBOTS, Twin, urdf_files
from tests.tolerance import assert_close
from torsor import algorithms as alg

EPS = np.finfo(float).eps
#: arms, hands and carts have a fixed base; robots that walk or fly have a floating base
STANDING = (
    "ur_description/urdf/ur5_gripper.urdf", "panda_description/urdf/panda.urdf", "kinova_description/robots/kinova.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf", "finger_edu_description/robots/finger_edu.urdf",
    "allegro_hand_description/urdf/allegro_left_hand.urdf", "baxter_description/urdf/baxter.urdf",
)  # fmt: skip
FLOATING = (
    "solo_description/robots/solo12.urdf", "iris_description/robots/iris_simple.urdf",
    "hextilt_description/urdf/hextilt_flying_arm_5.urdf", "simple_humanoid_description/urdf/simple_humanoid.urdf",
)  # fmt: skip


def twin(path, floating: bool) -> Twin:
    """The robot in both libraries, or a skip with the reason."""
    try:
        model = pin.buildModelFromUrdf(str(path))
    except Exception as error:
        pytest.skip(f"Pinocchio does not load it: {error}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ts.ModelWarning)  # physically impossible inertias: both libraries use them unchanged
        robot = ts.load(path, base="floating" if floating else "fixed", mimic=False)
    if robot.nv == 0:
        pytest.skip("nothing moves")
    assert robot.nv == model.nv + 6 * floating
    return Twin(robot, path, floating)


def compare(t: Twin, evaluate) -> None:
    robot, rng = t.robot, np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    pq, pv, pa = t.q(q), t.v(v), t.v(a)
    tau = t.back(pin.rnea(t.model, t.data, pq, pv, pa))
    assert_close(evaluate("inverse_dynamics", q, v, a), tau, floor=1e-9)
    M = t.back_matrix(pin.crba(t.model, t.data, pq))
    assert_close(evaluate("mass_matrix", q), M, floor=1e-9)
    kappa = np.linalg.cond(M)
    theirs = t.back(pin.aba(t.model, t.data, pq, pv, t.v(tau)))
    if np.isfinite(theirs).all() and kappa < 1e14:
        assert_close(evaluate("forward_dynamics", q, v, tau), a, max(1e-11, 100 * EPS * kappa), floor=1e-9)
    pin.forwardKinematics(t.model, t.data, pq, pv, pa)
    pin.computeJointJacobians(t.model, t.data, pq)
    pin.updateFramePlacements(t.model, t.data)
    links = list(robot.links)
    for link in {links[-1], links[len(links) // 2]}:
        frame = t.model.getFrameId(link, pin.FrameType.BODY)
        pose = t.data.oMf[frame].homogeneous
        assert_close(evaluate(f"pose:{link}", q), pose, floor=1e-9)
        modes = {"world": pin.LOCAL_WORLD_ALIGNED, "body": pin.LOCAL, "space": pin.WORLD}
        for word, mode in modes.items():
            J = pin.getFrameJacobian(t.model, t.data, frame, mode)
            ours = np.empty((6, robot.nv))
            ours[:, t.v_index] = np.vstack([J[3:], J[:3]])
            still = np.abs(ours).max() < 1e-12  # a link that does not move: only rounding errors
            assert_close(evaluate(f"jacobian:{link}:{word}", q), ours, floor=1 if still else 1e-9)


def by_source(robot):
    """The algorithms over plain floats."""
    functions = {"inverse_dynamics": alg.rnea, "forward_dynamics": alg.forward_dynamics, "mass_matrix": alg.crba}

    def evaluate(spec, *state):
        name, *words = spec.split(":")
        function = functions.get(name) or getattr(alg, name)
        return np.array(function(robot.model, *(x.tolist() for x in state), *words), float)

    return evaluate


def by_kernel(robot):
    return lambda spec, *state: robot.kernel(spec)(*state)


def ids(path):
    return str(path.relative_to(ROBOTS))


def fixed_and_floating():
    for k, path in enumerate(urdf_files()):
        for floating in (False, True):
            marks = [pytest.mark.night] * (floating != k % 2)
            yield pytest.param(path, floating, id=f"{ids(path)}-{'floating' if floating else 'fixed'}", marks=marks)


@pytest.mark.parametrize(("path", "floating"), list(fixed_and_floating()))
def test_python_source_agrees_with_pinocchio(path, floating):
    t = twin(path, floating)
    compare(t, by_source(t.robot))


@pytest.mark.parametrize("name", [*STANDING, *FLOATING])
def test_kernels_agree_with_pinocchio(name):
    t = twin(ROBOTS / name, name in FLOATING)
    compare(t, by_kernel(t.robot))


@pytest.mark.night
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("path", urdf_files(), ids=ids)
def test_all_kernels_agree_with_pinocchio(path, floating):
    t = twin(path, floating)
    compare(t, by_kernel(t.robot))
