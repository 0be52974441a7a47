"""The configuration manifold, limits and named configurations against Pinocchio, on real robots, fixed and floating."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import torsor as ts
from tests.references.pinocchio_states import ROBOTS, Twin
from tests.tolerance import assert_close

#: arms with limits, with continuous joints, a dog and a man
MODELS = (
    ("panda_description/urdf/panda.urdf", False), ("kinova_description/robots/kinova.urdf", False),
    ("solo_description/robots/solo12.urdf", True), ("talos_data/robots/talos_reduced.urdf", True),
    ("ur_description/urdf/ur5_robot.urdf", True),
)  # fmt: skip
PLUS, MINUS = np.finfo(float).max, np.finfo(float).min


@cache
def twin(path: str, floating: bool, srdf: str = "") -> Twin:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ts.ModelWarning)
        robot = ts.load(
            ROBOTS / path, base="floating" if floating else "fixed", mimic=False, srdf=ROBOTS / srdf if srdf else None
        )
    return Twin(robot, ROBOTS / path, floating)


@pytest.mark.parametrize(("path", "floating"), MODELS)
def test_difference_distance_interpolate_and_integrate_are_pinocchios(path, floating):
    t, rng = twin(path, floating), np.random.default_rng(1)
    robot = t.robot
    q0, q1 = robot.random_configuration(rng), robot.random_configuration(rng)
    v = rng.normal(size=robot.nv)
    p0, p1 = t.q(q0), t.q(q1)
    assert_close(t.v(robot.difference(q0, q1)), pin.difference(t.model, p0, p1))
    assert_close(robot.distance(q0, q1), pin.distance(t.model, p0, p1))
    assert_close(
        _with_positive_w(t.q(robot.integrate(q0, v)), floating), _with_positive_w(pin.integrate(t.model, p0, t.v(v)), floating)
    )
    for s in (0.0, 0.3, 1.0, 1.4):
        ours, theirs = t.q(robot.interpolate(q0, q1, s)), pin.interpolate(t.model, p0, p1, s)
        assert_close(_with_positive_w(ours, floating), _with_positive_w(theirs, floating))
    assert_close(t.q(robot.neutral()), pin.neutral(t.model))


def _with_positive_w(q, floating):
    """A quaternion and its negative are one rotation."""
    q = np.array(q)
    if floating:
        q[3:7] *= np.sign(q[6])
    return q


@pytest.mark.parametrize(("path", "floating"), MODELS)
def test_velocity_from_rate_is_the_velocity_of_pinocchios_motion(path, floating):
    """q̇ by differences of Pinocchio's integrate, as torsor has the coordinates."""
    t, rng = twin(path, floating), np.random.default_rng(2)
    robot, h = t.robot, 1e-6
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    p = t.q(q)
    if len(p) != robot.nq:
        pytest.skip("Pinocchio has two numbers for an angle")
    rate = (pin.integrate(t.model, p, h * t.v(v)) - pin.integrate(t.model, p, -h * t.v(v))) / (2 * h)
    ours = np.empty(robot.nq)
    ours[t.q(np.arange(robot.nq, dtype=float)).astype(int)] = rate  # in torsor's order of joints
    assert_close(robot.velocity_from_rate(q, ours), v, 1e-8)  # central differences have half the digits


@pytest.mark.parametrize(("path", "floating"), MODELS)
def test_limits_are_pinocchios(path, floating):
    t = twin(path, floating)
    robot = t.robot
    for name, joint in zip(list(t.model.names)[1:], list(t.model.joints)[1:], strict=True):
        ours = robot.joint("floating_base" if name == "root_joint" else name)
        if joint.nq == joint.nv:
            for mine, theirs in ((robot.lower, t.model.lowerPositionLimit), (robot.upper, t.model.upperPositionLimit)):
                assert mine[ours.q_slice].tolist() == _infinite_limits(theirs[joint.idx_q : joint.idx_q + joint.nq])
        if name == "root_joint":
            assert np.isinf(robot.velocity_limit[ours.v_slice]).all()
            continue
        for mine, theirs in (
            (robot.velocity_limit, t.model.upperVelocityLimit),
            (robot.effort_limit, t.model.upperEffortLimit),
        ):
            assert mine[ours.v_slice].tolist() == _infinite_limits(theirs[joint.idx_v : joint.idx_v + joint.nv])


def _infinite_limits(values):
    """Pinocchio has the largest double where there is no limit."""
    return [np.inf if x == PLUS else -np.inf if x == MINUS else float(x) for x in values]


def pairs():
    """Every SRDF with states, and a URDF of the same name, or the first of its folder."""
    for srdf in sorted(ROBOTS.rglob("*.srdf")):
        urdfs = sorted(srdf.parent.parent.rglob("*.urdf"))
        same = [p for p in urdfs if p.stem == srdf.stem] or [p for p in urdfs if p.stem.startswith(srdf.stem)] or urdfs
        if "group_state" in srdf.read_text() and same:
            yield pytest.param(
                str(same[0].relative_to(ROBOTS)), str(srdf.relative_to(ROBOTS)), id=f"{srdf.stem}-{same[0].stem}"
            )


@pytest.mark.parametrize(("path", "srdf"), list(pairs()))
def test_group_states_are_pinocchios_reference_configurations(path, srdf):
    if srdf.endswith("baxter_manipulation.srdf"):
        with pytest.raises(ts.errors.FileError, match="has no joint 'baxter/head_pan', nor any other"):
            twin(path, False, srdf)  # Pinocchio takes it, and has the neutral configuration
        return
    for floating in (False, True):
        t = twin(path, floating, srdf)
        pin.loadReferenceConfigurations(t.model, str(ROBOTS / srdf), False)
        theirs = {item.key(): item.data() for item in t.model.referenceConfigurations}
        assert set(theirs) == set(t.robot.configurations)
        for name, q in theirs.items():
            assert_close(t.q(t.robot.configuration(name)), q, 1e-15)


def test_pinocchio_reads_written_srdf(tmp_path):
    t = twin("solo_description/robots/solo12.urdf", True)
    robot = t.robot.with_configuration("here", t.robot.random_configuration(0))
    ts.save_srdf(robot, tmp_path / "solo.srdf")
    pin.loadReferenceConfigurations(t.model, str(tmp_path / "solo.srdf"), False)
    found = {item.key(): item.data() for item in t.model.referenceConfigurations}
    assert_close(found["here"], t.q(robot.configuration("here")), 1e-15)
