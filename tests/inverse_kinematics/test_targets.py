"""Each kind of target by its own formula, levels, closed loops and floating bases."""

import numpy as np
import pytest

import torsor as ts
from torsor.mechanics.inverse_kinematics.targets import KINDS
from torsor.model.terms.numbers import take_numbers

FRAME = "panda_hand_tcp"


@pytest.fixture(scope="module")
def panda():
    return ts.robots.panda()


@pytest.fixture(scope="module")
def there(panda):
    return panda.pose(panda.random_configuration(np.random.default_rng(8)), FRAME)


def test_each_target_is_met_by_its_own_formula(panda, there):
    p, R = there[:3, 3], there[:3, :3]
    n = np.array([1.0, 2.0, -2.0]) / 3
    checks = {
        ts.targets.position(p): lambda T: T[:3, 3] - p,
        ts.targets.orientation(R): lambda T: T[:3, :3] - R,
        ts.targets.direction([0, 0, 1], n): lambda T: T[:3, 2] - n,
        ts.targets.on_plane(n, p): lambda T: [(T[:3, 3] - p) @ n],
        ts.targets.on_line(n, p): lambda T: np.cross(T[:3, 3] - p, n),
        ts.targets.distance("panda_link0", 0.6): lambda T: [np.linalg.norm(T[:3, 3]) - 0.6],
    }
    for target, off in checks.items():
        found = panda.inverse_kinematics(target, FRAME)
        assert found.success, target.what
        assert np.abs(off(panda.pose(found.q, FRAME))).max() < 3e-6, target.what


def test_numbers_of_a_target_are_in_the_order_of_its_constraint():
    given = [
        ts.targets.pose(np.eye(4)), ts.targets.orientation(np.eye(3)), ts.targets.position([1, 2, 3]),
        ts.targets.on_plane([0, 0, 1]), ts.targets.on_line([0, 0, 1]), ts.targets.direction([0, 0, 1], [1, 0, 0]),
        ts.targets.distance("x", 1.0), ts.targets.center_of_mass([0, 0, 0]), ts.targets.posture(np.zeros(4)),
        ts.targets.twist(np.zeros(6)), ts.targets.velocity(np.zeros(3)), ts.targets.angular_velocity(np.zeros(3)),
    ]  # fmt: skip
    assert {t.what for t in given} == set(KINDS)
    for target in given:
        (_,), numbers = take_numbers([target.structure("tool").constraint()])
        assert len(numbers) == target.numbers.shape[-1], target.what


def test_target_relative_to_another_frame(panda):
    q = panda.random_configuration(np.random.default_rng(2))
    seen = np.linalg.inv(panda.pose(q, "panda_link3")) @ panda.pose(q, FRAME)
    found = panda.inverse_kinematics(ts.targets.pose(seen, relative_to="panda_link3"), FRAME)
    assert found.success
    now = np.linalg.inv(panda.pose(found.q, "panda_link3")) @ panda.pose(found.q, FRAME)
    assert np.abs(now - seen).max() < 3e-6


def test_posture_does_not_disturb_the_pose_and_stays_near(panda):
    ready = panda.configuration("ready")
    T = panda.pose(ready + 0.15 * np.sin(np.arange(panda.nq)), FRAME)
    near = panda.inverse_kinematics({FRAME: T, "posture": ts.targets.posture(ready)})
    assert near.success
    assert near.position_error <= 1e-6
    # of all configurations with this pose: moving along the null space does not come nearer
    J = panda.jacobian(near.q, FRAME)[:, :7]
    null = np.linalg.svd(J)[2][-1]
    assert abs(null @ (near.q - ready)[:7]) < 1e-4 * np.linalg.norm(near.q - ready)


def test_second_level_yields_to_the_first(panda, there):
    low = ts.targets.position(there[:3, 3] + [0, 0, 3.0]).with_weight(level=2)
    found = panda.inverse_kinematics({FRAME: ts.targets.position(there[:3, 3]), "panda_link5": low})
    assert found.success
    assert np.abs(panda.pose(found.q, FRAME)[:3, 3] - there[:3, 3]).max() < 2e-6


def test_batches_of_targets_and_guesses_broadcast(panda):
    q = panda.random_configuration(np.random.default_rng(4), (2, 3))
    found = panda.inverse_kinematics({FRAME: ts.targets.position(panda.pose(q, FRAME)[..., :3, 3])}, q0=q[0])
    assert found.q.shape == (2, 3, panda.nq)
    assert found.success.shape == (2, 3)
    assert found.at_limit.shape == (2, 3, panda.nq)


def test_platform_of_a_closed_mechanism_reaches_a_pose_with_closed_loops():
    robot = ts.mechanisms.stewart_platform()
    q = robot.assemble(robot.neutral())
    T = robot.pose(q, "plate")
    T[:3, 3] += [0.02, 0.01, 0.05]
    found = robot.inverse_kinematics(T, "plate", q)
    assert found.success
    assert np.abs(robot.constrained().residual(found.q)).max() < 1e-9
    assert np.abs(robot.pose(found.q, "plate") - T).max() < 3e-6


def test_a_pose_that_would_open_the_loops_is_no_success():
    robot = ts.mechanisms.four_bar()
    q = robot.assemble([1.0, 0.0, 0.0], fixed=["crank"])
    there = robot.without_loops().pose(q + np.array([0.0, 0.3, 0.0]), robot.links[-2])  # of the open tree
    assert not robot.inverse_kinematics(there, robot.links[-2], q, attempts=4).success
    open_loop = q + np.array([0.0, 0.3, 0.0])  # within wide tolerances of the pose from the beginning
    rough = robot.inverse_kinematics(there, robot.links[-2], open_loop, position_tolerance=1.0, angle_tolerance=3.0)
    assert rough.success == (np.abs(robot.constrained().residual(rough.q)).max() < 1e-9)


def test_mimic_joints_stay_within_their_own_limits():
    def finger(builder, name, **options):
        builder.link(name).joint(f"{name}_slide", "prismatic", "palm", name, axis=(0, 1, 0), **options)

    builder = ts.Builder("gripper").link("palm")
    finger(builder, "left", lower=-1.0, upper=1.0)
    finger(builder, "right", lower=-0.04, upper=0.0, mimic=("left_slide", -1.0))
    robot = builder.build()
    far = robot.inverse_kinematics(ts.targets.position([0, 0.5, 0]), "left", attempts=3)
    assert not far.success
    assert robot.within_limits(far.q, 1e-12)
    assert far.q[0] == pytest.approx(0.04)


def test_parts_that_depend_on_time_are_refused():
    moving = ts.robots.two_link().with_base_motion(lambda t: [0.1 * t, 0, 0])
    with pytest.raises(ts.Unsupported, match="inverse kinematics"):
        moving.inverse_kinematics(np.eye(4), moving.links[-1])


def test_targets_of_the_second_level_alone_are_refused(panda):
    with pytest.raises(ts.ArgumentError, match="at least one of the first"):
        panda.inverse_kinematics({"p": ts.targets.posture(panda.configuration("ready"))})


def test_floating_robot_puts_its_feet_and_its_centre_of_mass():
    robot = ts.robots.quadruped()
    q = robot.neutral()
    feet = [name for name in robot.frames if "foot" in name.lower()][:4] or list(robot.links)[-4:]
    places = {foot: robot.pose(q, foot)[:3, 3] + [0.01 * k, 0, 0] for k, foot in enumerate(feet)}
    c = robot.center_of_mass(q) + np.array([0.01, 0.0, -0.02])
    targets = {foot: ts.targets.position(p) for foot, p in places.items()} | {"c": ts.targets.center_of_mass(c)}
    found = robot.inverse_kinematics(targets, q0=q, limits=False)
    assert found.success, found
    assert np.abs(robot.center_of_mass(found.q) - c).max() < 2e-6
    for foot, p in places.items():
        assert np.abs(robot.pose(found.q, foot)[:3, 3] - p).max() < 2e-6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ts.targets.position([0, 0]), r"shape \(..., 3\) expected"),
        (lambda: ts.targets.position([0, 0, np.inf]), "finite numbers"),
        (lambda: ts.targets.direction([0, 0, 0], [0, 0, 1]), "zero vector"),
        (lambda: ts.targets.distance("x", -1.0), "positive"),
        (lambda: ts.targets.orientation(np.ones((3, 3))), "not a rotation"),
        (lambda: ts.targets.posture(np.nan), "finite numbers"),
        (lambda: ts.targets.posture(0.5), "configuration"),
        (lambda: ts.targets.position([0, 0, 0]).with_weight(0.0), "weight"),
        (lambda: ts.targets.position([0, 0, 0]).with_weight(level=3), "level"),
    ],
)
def test_bad_targets_are_refused(make, message):
    with pytest.raises(ts.ArgumentError, match=message):
        make()


def test_posture_of_another_robot_is_refused(panda):
    with pytest.raises(ts.ArgumentError, match="numbers, not 3"):
        panda.inverse_kinematics({FRAME: np.eye(4), "posture": ts.targets.posture([0, 0, 0])})


def test_batches_that_do_not_fit_are_refused(panda):
    with pytest.raises(ts.ArgumentError, match="do not fit"):
        panda.inverse_kinematics({FRAME: ts.targets.position(np.zeros((3, 3)))}, q0=np.zeros((2, panda.nq)))
