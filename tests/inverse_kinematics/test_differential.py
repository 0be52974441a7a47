"""Velocities within limits: the same optimum as an independent program, limits that hold, and errors."""

import pickle
import subprocess
import threading

import numpy as np
import pytest

import torsor as ts
from tests.inverse_kinematics.least_distance import solve_program
from tests.machine_code import without_machine_code

TCP = "panda_hand_tcp"
DT = 0.01


@pytest.fixture(scope="module")
def panda():
    return ts.robots.panda()


@pytest.fixture(scope="module")
def other_panda():
    """For tests without machine code, whose kernels stay without it."""
    return ts.robots.panda()


def gripper():
    builder = ts.Builder("gripper").link("palm")
    for name, options in {
        "left": {"lower": -1.0, "upper": 1.0, "velocity_limit": 3.0},
        "right": {"lower": -0.04, "upper": 0.0, "velocity_limit": 0.5, "mimic": ("left_slide", -2.0)},
    }.items():
        builder.link(name).joint(f"{name}_slide", "prismatic", "palm", name, axis=(0, 1, 0), **options)
    return builder.build()


def expected(robot, q, J, y, second, E, f, v, speed, a, damping=1e-6, gain=10.0, G=None, h=None):
    """v and s by the formulas of torsor.algorithms.velocity_within_limits, from matrices made by other methods."""
    n = robot.nv
    d = solve_program(J.T @ J + damping * np.eye(n), -J.T @ y, np.full(n, -1e9), np.full(n, 1e9), E=E, f=f)
    H = J.T @ J + 1e-6 * np.eye(n)
    if second is not None:
        S = np.vstack([J, *([E] if E is not None else [])])
        zero = np.zeros(len(S))
        far = np.full(n, 1e9)
        d = d + solve_program((1 + 1e-6) * np.eye(n), -(second - d), -far, far, E=S, f=zero)
        H = H + 1e-6 * np.eye(n)
    low, up = np.full(n, -1e9), np.full(n, 1e9)
    for joint in map(robot.joint, robot.joints):
        if joint.mimic is None and joint.q_slice.stop - joint.q_slice.start == joint.v_slice.stop - joint.v_slice.start:
            for i, k in zip(range(robot.nq)[joint.q_slice], range(n)[joint.v_slice], strict=True):
                root = [
                    np.sqrt((a * DT) ** 2 + 2 * a * max(x, 0)) - a * DT for x in (q[i] - robot.lower[i], robot.upper[i] - q[i])
                ]
                low[k], up[k] = -min(root[0], 1e9), min(root[1], 1e9)
    low, up = np.maximum(low, -speed), np.minimum(up, speed)
    if v is not None:
        low, up = np.clip(v - a * DT, low, up), np.clip(v + a * DT, low, up)
    Hd = H @ d
    kappa = 1e-5 * d @ Hd + 1e-11
    big = np.block([[H, -Hd[:, None]], [-Hd[None], np.array([[d @ Hd + kappa]])]])
    wide = lambda A: None if A is None else np.hstack([A, np.zeros((len(A), 1))])  # noqa: E731
    scale = np.trace(H)  # the oracle's numbers near 1
    x = solve_program(
        big / scale, np.append(np.zeros(n), -2 * kappa) / scale, np.append(low, 0), np.append(up, 1),
        wide(G), h, wide(E), f,
    )  # fmt: skip
    return x[:-1], x[-1]


WEIGHTS = np.array([0.3, 0.3, 0.3, 1, 1, 1])


@pytest.mark.parametrize("name", ["panda", "ur5", "quadruped"])
@pytest.mark.parametrize("present", [False, True])
@without_machine_code
def test_velocity_is_the_optimum_of_an_independent_program(name, present, request):
    robot = getattr(ts.robots, name)()
    frame = {"panda": TCP, "ur5": "tool0"}.get(name, robot.links[-1])
    rng = np.random.default_rng([present, len(name)])
    q = robot.random_configuration(rng, 6)
    v = 0.2 * robot.random_velocity(rng, 6) if present else None
    V = rng.normal(size=(6, 6)) * np.array([0.3, 1, 4])[np.arange(6) % 3, None]
    found = robot.differential_inverse_kinematics(q, {frame: V}, DT, v=v, acceleration=8.0)
    assert found.success.all()
    scales = []
    for k in range(6):
        J = WEIGHTS[:, None] * robot.jacobian(q[k], frame)
        x, s = expected(
            robot, q[k], J, WEIGHTS * V[k], None, None, None, None if v is None else v[k], robot.velocity_limit, 8.0
        )
        assert np.abs(found.v[k] - x).max() < 1e-8 * max(1, np.abs(x).max())
        assert abs(found.scale[k] - s) < 1e-8
        scales.append(s)
    assert min(scales) < 1


@without_machine_code
def test_posture_is_followed_in_the_null_space_as_an_independent_program_says(other_panda):
    panda = other_panda
    rng = np.random.default_rng(3)
    q, ready = panda.random_configuration(rng, 8), panda.configuration("ready")
    V = rng.normal(size=(8, 6)) * 0.3
    q[:, 7] = ready[7]  # the fingers do not move the frame, so the posture does not count for them
    found = panda.differential_inverse_kinematics(q, {TCP: V}, DT, acceleration=8.0, posture=ready, gain=2.0)
    for k in range(8):
        J = WEIGHTS[:, None] * panda.jacobian(q[k], TCP)
        y = WEIGHTS * V[k]
        x, s = expected(panda, q[k], J, y, 2.0 * (ready - q[k]), None, None, None, panda.velocity_limit, 8.0)
        assert np.abs(found.v[k] - x).max() < 1e-8 * max(1, np.abs(x).max())
        assert abs(found.scale[k] - s) < 1e-8
    free, alone = (panda.differential_inverse_kinematics(q, {TCP: V}, DT, posture=p, limits=False) for p in (ready, None))
    assert (free.scale == 1).all()
    assert np.abs(free.v - alone.v).max() > 0.1
    assert np.abs(np.einsum("kij,kj->ki", panda.jacobian(q, TCP), free.v - alone.v)).max() < 1e-8


@without_machine_code
def test_loops_are_equations_of_an_independent_program():
    robot = ts.mechanisms.four_bar()
    rng = np.random.default_rng(1)
    q = np.array([robot.assemble([x, 0.0, 0.0], fixed=["crank"]) for x in (0.7, 1.0, 1.4)])
    frame, V = robot.links[-1], 3 * rng.normal(size=(3, 6))
    found = robot.differential_inverse_kinematics(q, {frame: V}, DT, velocity=1.0, acceleration=20.0)
    assert found.success.all()
    for k in range(3):
        E = robot.constrained().jacobian(q[k])
        J = WEIGHTS[:, None] * robot.without_loops().jacobian(q[k], frame)
        x, s = expected(robot, q[k], J, WEIGHTS * V[k], None, E, np.zeros(len(E)), None, np.ones(robot.nv), 20.0)
        assert np.abs(found.v[k] - x).max() < 1e-8
        assert abs(found.scale[k] - s) < 1e-8
        assert np.abs(E @ found.v[k]).max() < 1e-9


@without_machine_code
def test_inequalities_hold_and_are_those_of_an_independent_program(other_panda):
    panda = other_panda
    rng = np.random.default_rng(7)
    q = panda.random_configuration(rng, 5)
    V = np.tile([0.0, 0, 0, 0.1, 0.1, 0], (5, 1))
    G, h = panda.jacobian(q, TCP)[:, 3:5], np.array([0.03, 1.0])
    found = panda.differential_inverse_kinematics(q, {TCP: V}, DT, acceleration=8.0, inequalities=(G, h))
    assert found.success.all()
    for k in range(5):
        J = WEIGHTS[:, None] * panda.jacobian(q[k], TCP)
        args = None, None, None, None, panda.velocity_limit, 8.0
        x, s = expected(panda, q[k], J, WEIGHTS * V[k], *args, G=G[k], h=h)
        assert np.abs(found.v[k] - x).max() < 1e-8
        assert (G[k] @ found.v[k] <= h + 1e-12).all()


@without_machine_code
def test_mimic_joints_keep_their_limits_of_position_and_velocity():
    robot = gripper()
    found = robot.differential_inverse_kinematics([0.0], {"left": ts.targets.velocity([0, 2.0, 0])}, 0.001)
    assert found.v[0] == pytest.approx(0.25)  # the right finger at 0.5 m/s
    assert found.scale == pytest.approx(0.125, abs=1e-4)
    near = robot.differential_inverse_kinematics([0.01999], {"left": ts.targets.velocity([0, 2.0, 0])}, 0.001)
    assert near.v[0] == pytest.approx(0.01)  # the right finger is at its limit after this step


def circle(robot, q, count, **options):
    """Follow a circle of 0.4 m beyond the workspace; the largest violations by position, speed and change; the least scale."""
    v, worst, least = np.zeros_like(q), np.zeros(3), 1.0
    centre, V = robot.pose(q, TCP)[..., :3, 3], np.zeros((*q.shape[:-1], 6))
    for k in range(count):
        angle = 2 * np.pi * k * DT / 3
        there = centre + 0.4 * np.array([np.cos(angle) - 1, np.sin(angle), 0.0])
        V[..., 3:] = 10 * (there - robot.pose(q, TCP)[..., :3, 3])
        found = robot.differential_inverse_kinematics(q, {TCP: V}, DT, v=v, acceleration=10.0, **options)
        assert found.success.all()
        worst[2] = max(worst[2], np.abs(found.v - v).max() - 10.0 * DT)
        q, v = q + DT * found.v, found.v
        worst[0] = max(worst[0], (robot.lower - q).max(), (q - robot.upper).max())
        worst[1] = max(worst[1], (np.abs(v) - robot.velocity_limit).max())
        least = min(least, np.min(found.scale))
    return worst, least


def test_a_circle_beyond_the_limits_keeps_them_at_every_step(panda):
    q = panda.clip(panda.configuration("ready") + 0.1 * np.random.default_rng(0).normal(size=(20, panda.nq)))
    worst, least = circle(panda, q, 150)
    assert worst.max() < 1e-12
    assert least < 0.95


@pytest.mark.night
def test_ten_thousand_steps_into_the_limits_keep_them(panda):
    worst, least = circle(panda, panda.configuration("ready"), 10_000)
    assert worst.max() < 1e-12
    assert least < 0.5


@without_machine_code
def test_direction_of_the_twist_is_kept_where_limits_bind():
    ur5 = ts.robots.ur5()
    rng = np.random.default_rng(0)
    q, V = ur5.random_configuration(rng, 200), 3 * rng.normal(size=(200, 6))
    found = ur5.differential_inverse_kinematics(q, {"tool0": V}, DT)
    reached = np.einsum("kij,kj->ki", ur5.jacobian(q, "tool0"), found.v)
    regular = np.linalg.svd(ur5.jacobian(q, "tool0"))[1][:, -1] > 0.05
    slow = regular & (found.scale < 0.9) & (found.scale > 0.1)
    assert slow.sum() > 20
    cosine = (reached * V).sum(1) / np.linalg.norm(reached, axis=1) / np.linalg.norm(V, axis=1)
    assert cosine[slow].min() > 1 - 1e-4
    full = ur5.differential_inverse_kinematics(q, {"tool0": V}, DT, slow_down=False)
    assert (full.scale == 1).all()
    assert (np.abs(full.v) <= ur5.velocity_limit).all()


def test_a_state_has_the_same_velocity_alone_in_a_batch_and_in_threads(panda):
    rng = np.random.default_rng(2)
    q, V = panda.random_configuration(rng, (3, 30)), rng.normal(size=(30, 6)) * np.linspace(0.1, 3, 30)[:, None]
    many = panda.differential_inverse_kinematics(q, {TCP: V}, DT, acceleration=20.0)
    assert many.v.shape == (3, 30, panda.nv)
    assert 0 < (many.scale < 1).mean() < 1
    results = []

    def work():
        results.append(
            [panda.differential_inverse_kinematics(q[1, k], {TCP: V[k]}, DT, acceleration=20.0) for k in range(0, 30, 3)]
        )

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in results:
        for k, found in zip(range(0, 30, 3), one, strict=True):
            assert np.array_equal(found.v, many.v[1, k])
            assert found.scale == many.scale[1, k]


@without_machine_code
def test_a_later_call_is_as_careful_as_the_first(panda):
    q, V = panda.configuration("ready"), np.array([0, 0, 0, 0.1, 0, 0])
    follow = panda.differential_inverse_kinematics
    first, again = (follow(q, {TCP: V}, DT) for _ in range(2))
    assert np.array_equal(first.v, again.v)
    assert (first.message, first.success) == (again.message, again.success)
    assert all(np.array_equal(*pair) for pair in zip(first.limits, again.limits, strict=True))
    for wrong, message in ((V * 1e12, "above 1e"), (V * np.nan, "finite"), (V[:5], "shape"), (np.eye(3), "shape")):
        with pytest.raises(ts.TorsorError, match=message):
            follow(q, {TCP: wrong}, DT)
    for wrong, message in ((q[:3], "expected"), (q * np.nan, "finite")):
        with pytest.raises(ts.TorsorError, match=message):
            follow(wrong, {TCP: V}, DT)
    with pytest.raises(ts.TorsorError, match="above 1e"):
        follow(q, {TCP: V}, DT, v=np.full(panda.nv, 1e12))
    assert np.array_equal(follow(q.tolist(), {TCP: V.tolist()}, DT).v, first.v)
    assert np.array_equal(follow(q, {TCP: [V, 2 * V]}, DT).v[0], first.v)
    assert np.array_equal(follow(q, {TCP: ts.targets.twist(V)}, DT).v, first.v)


def test_targets_are_approached_and_several_frames_have_weights(other_panda):
    panda = other_panda
    q = panda.configuration("ready")
    T = panda.pose(q, TCP)
    T[:3, 3] += [0.02, -0.05, 0.03]
    for _ in range(60):
        found = panda.differential_inverse_kinematics(q, {TCP: ts.targets.pose(T)}, DT, gain=30.0)
        q = q + DT * found.v
    assert np.abs(panda.pose(q, TCP) - T).max() < 1e-6
    both = {TCP: ts.targets.velocity([0.1, 0, 0]), "panda_link4": ts.targets.angular_velocity([0, 0, 0.2]).with_weight(0.1)}
    found = panda.differential_inverse_kinematics(panda.configuration("ready"), both, DT)
    assert np.abs(panda.jacobian(panda.configuration("ready"), TCP)[3:] @ found.v - [0.1, 0, 0]).max() < 1e-3
    assert found.angular_velocity_error < 0.2


@without_machine_code
def test_joints_that_may_not_move_brake_and_count_for_the_twist(other_panda):
    panda = other_panda
    q, V = panda.configuration("ready"), np.array([0, 0, 0, 0.1, 0, 0])
    names = [f"panda_joint{k}" for k in range(1, 7)]
    v = np.zeros(panda.nv)
    v[6] = 1.0
    found = panda.differential_inverse_kinematics(q, {TCP: V}, DT, v=v, acceleration=10.0, joints=names)
    assert found.v[6] == pytest.approx(0.9)
    free = panda.differential_inverse_kinematics(q, {TCP: V}, DT, joints=names)
    assert free.v[6] == 0
    assert np.abs(panda.jacobian(q, TCP) @ free.v - V).max() < 1e-4


@without_machine_code
def test_floating_robot_moves_its_centre_of_mass_with_its_feet_at_rest():
    robot = ts.robots.quadruped()
    q = robot.neutral()
    q[7:] += 0.3 * np.sin(1 + np.arange(robot.nq - 7))  # knees bent
    feet = [name for name in robot.frames if "foot" in name.lower()][:4]
    c = robot.center_of_mass(q)
    targets = dict.fromkeys(feet, ts.targets.velocity([0, 0, 0])) | {"c": ts.targets.center_of_mass(c - np.array([0, 0, 0.01]))}
    found = robot.differential_inverse_kinematics(q, targets, DT, limits=False, damping=1e-9)
    assert robot.center_of_mass_velocity(q, found.v) == pytest.approx([0, 0, -0.1], abs=1e-3)
    assert max(np.abs(robot.jacobian(q, foot)[3:] @ found.v).max() for foot in feet) < 1e-3


@without_machine_code
def test_contradicting_inequalities_are_no_success(other_panda):
    panda = other_panda
    G = np.eye(panda.nv)[:2] * [[1], [-1]]
    G[1] = -G[0]
    found = panda.differential_inverse_kinematics(
        panda.configuration("ready"), {TCP: np.zeros(6)}, DT, inequalities=(G, [-0.1, -0.1])
    )
    assert not found.success
    assert "no velocity found" in found.message
    assert (np.abs(found.v) <= panda.velocity_limit).all()


def test_result_names_what_limits_it_and_can_be_pickled(panda):
    q = panda.configuration("ready")
    found = panda.differential_inverse_kinematics(q, {TCP: [0, 0, 0, 5.0, 0, 0]}, DT)
    assert "% of the speed, limited by panda_joint" in repr(found)
    assert "finger" not in repr(found)
    assert pickle.loads(pickle.dumps(found)).message == found.message
    many = panda.differential_inverse_kinematics(q, {TCP: [[0, 0, 0, 0.1, 0, 0], [0, 0, 0, 5.0, 0, 0]]}, DT)
    assert many.message == "1 of 2 at full speed, 0 without a solution"
    empty = panda.differential_inverse_kinematics(np.zeros((0, panda.nq)), {TCP: np.zeros(6)}, DT)
    assert empty.v.shape == (0, panda.nv)


@pytest.mark.night
def test_exported_c_has_the_same_numbers(panda, tmp_path):
    found = panda.differential_inverse_kinematics(panda.configuration("ready"), {TCP: [0, 0, 0, 5.0, 0, 0]}, DT)
    panda.export_c(tmp_path / "follow", found.kernel)
    command = ["gcc", "-std=c99", "-O0", "-ffp-contract=off", "follow.c", "follow_test.c", "-o", "check", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run(["./check"], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": [np.nan] * 8}, "finite"),
        ({"q": np.zeros(3)}, r"expected \(..., 8\)"),
        ({"target": {TCP: np.zeros(5)}}, r"twist: an array of floats of shape \(..., 6\)"),
        ({"target": {TCP: np.full(6, np.nan)}}, "finite"),
        ({"target": {TCP: np.full(6, 1e12)}}, "above 1e"),
        ({"target": {"nowhere": np.zeros(6)}}, "nowhere"),
        ({"target": {}}, "at least one"),
        ({"target": {TCP: np.zeros((2, 6)), "panda_link4": np.zeros((3, 6))}}, "do not fit together"),
        ({"q": np.zeros((4, 8)), "target": {TCP: np.zeros((3, 6))}}, "do not fit together"),
        ({"dt": 0.0}, "dt must be positive"),
        ({"dt": np.nan}, "dt"),
        ({"dt": "soon"}, "dt"),
        ({"gain": -1.0}, "gain must be positive"),
        ({"damping": 0.0}, "damping must be positive"),
        ({"v": np.zeros(3)}, r"v: an array of floats of shape \(..., 8\)"),
        ({"v": np.full(8, np.inf)}, "finite"),
        ({"velocity": -1.0}, "velocity must not be negative"),
        ({"velocity": np.ones(3)}, r"velocity has shape \(3,\)"),
        ({"velocity": np.nan}, "velocity"),
        ({"acceleration": 0.0}, "acceleration must not be negative or zero"),
        ({"acceleration": "fast"}, "acceleration must be a number"),
        ({"posture": np.zeros(3)}, "posture of robot 'panda' has 8 numbers"),
        ({"posture": np.zeros(8), "target": {TCP: np.zeros(6), "posture": ts.targets.posture(np.zeros(8))}}, "posture once"),
        ({"inequalities": 3}, r"must be \(G, h\)"),
        ({"inequalities": (np.zeros((1, 3)), [0.0])}, "G of inequalities"),
        ({"inequalities": (np.zeros((2, 8)), [0.0])}, "inequalities have G"),
        ({"joints": "panda_joint1"}, "list of at least one name"),
        ({"joints": ["panda_joint9"]}, "panda_joint9"),
    ],
)
def test_wrong_arguments_are_refused(panda, change, message):
    given = {"q": panda.configuration("ready"), "target": {TCP: np.zeros(6)}, "dt": DT} | change
    with pytest.raises(ts.TorsorError, match=message):
        panda.differential_inverse_kinematics(given.pop("q"), given.pop("target"), given.pop("dt"), **given)


def test_a_twist_is_refused_as_a_target_of_a_configuration(panda):
    with pytest.raises(ts.ArgumentError, match="a twist is a target of differential_inverse_kinematics"):
        panda.inverse_kinematics({TCP: ts.targets.twist(np.zeros(6))})
