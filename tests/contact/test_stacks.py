"""Bodies on bodies: stacks of ten, unequal masses, redundant points, and contacts in another order."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.simulate import per_robot

from . import bodies

G = bodies.G


@pytest.mark.parametrize(
    "masses", [[1.0] * 10, [1.0, 1000.0, 1.0], [1000.0, 1.0, 1000.0]], ids=["ten", "1:1000:1", "1000:1:1000"]
)
def test_each_ball_of_a_stack_carries_all_above_it(masses):
    """λ_k/Δt = g Σ_{i ≥ k} m_i, to 1e-6, and nothing moves."""
    stack, q = bodies.stack(masses, friction=0.5)
    run = stack.rollout(q, np.zeros(len(masses)), dt=1e-3, steps=1000, record=500)
    carried = G * np.cumsum(masses[::-1])[::-1]
    np.testing.assert_allclose(run.contact_forces[-1, :, 2], carried, rtol=1e-6)
    assert abs(run.q[-1] - q).max() < 1e-9


def test_dropped_stack_of_ten_comes_to_rest():
    """Gaps of 1 cm close from below, without restitution: all touch at the end, no ball is ever inside another."""
    stack, q = bodies.stack([1.0] * 10, friction=0.5)
    run = stack.rollout(q + 0.01 * np.arange(1, 11), np.zeros(10), dt=1e-3, steps=1500)
    assert abs(run.q[-1] - q).max() < 1e-9
    assert run.contact_gap.min() > -1e-9
    assert np.diff(bodies.energy(stack, run)).max() < 1e-8  # of 98 J, by the regularisation of G


@pytest.mark.parametrize("gap", [0.0, 0.01], ids=["stands", "dropped"])
@pytest.mark.parametrize("count", [2, pytest.param(3, marks=pytest.mark.night)])
def test_tower_of_boxes_stands(count, gap):
    """Each box on four points of the one below: at rest after a second, and the ground carries 3 m g, the others 2 and 1."""
    robot, q = bodies.tower(count, friction=0.5)
    start = q.copy()
    start[2::7] += gap * np.arange(1, count + 1)
    run = robot.rollout(start, np.zeros(robot.nv), dt=1e-3, steps=1000, record=500)
    assert abs(run.q[-1] - q).max() < 1e-6
    assert abs(run.v[-1]).max() < 1e-6
    carried = run.contact_forces[-1, :, 2].reshape(count, 4).sum(axis=1)
    np.testing.assert_allclose(carried, G * np.arange(count, 0, -1), rtol=1e-6)


@pytest.mark.night
def test_sliding_does_not_depend_on_the_number_of_points():
    """4 corners, 8, the same 4 three times over, or a rim of 16 points: x(t) = v₀ t − μ g t²/2 of the one body."""
    size, mu, dt, steps = (0.2, 0.2, 0.2), 0.3, 1e-3, 100
    four = ts.contacts.corners("box", size, side="-z")
    sets = {"four": four, "eight": ts.contacts.corners("box", size), "three times": four * 3,
            "rim": ts.contacts.rim("box", 0.1, at=(0, 0, -0.1), count=16)}  # fmt: skip
    for name, shapes in sets.items():
        box = bodies.body("box", 1.0, [1 / 150] * 3).with_contacts(shapes, ts.contacts.plane(), friction=mu)
        run = box.rollout(bodies.at_height(box, 0.1), np.array([0, 0, 0, 1.0, 0, 0]), dt=dt, steps=steps, record="last")
        v = 1 - mu * G * steps * dt
        assert abs(run.v[-1, 3] - v) < 1e-5, name  # of the first step, whose impulses have no guess
        assert abs(run.v[-1, [0, 1, 2, 4, 5]]).max() < 1e-5, name
        assert run.contact_residual.max() < 1e-6, name


@pytest.mark.night
def test_permuted_feet_give_the_same_velocities():
    """One step of quadrupeds that slip and stick, their feet in three orders: velocities differ by the solver's residual."""
    bare, rng, n = ts.robots.quadruped(), np.random.default_rng(4), 64
    _, stance, _ = bodies.quadruped()
    q, v = np.tile(stance, (n, 1)), rng.normal(scale=0.3, size=(n, bare.nv))
    feet = [ts.contacts.sphere(f, radius=0.016) for f in bare.frames if f.endswith("FOOT")]
    ends = []
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]):
        robot = bare.with_contacts([feet[k] for k in order], ts.contacts.plane(), friction=0.5)
        ends.append(robot.rollout(q, v, dt=1e-3, steps=1, record="last"))
    assert (ends[0].contact_forces[:, 0, :, 2] > 0).any(axis=-1).sum() > 30
    for other in ends[1:]:
        left = np.maximum(other.contact_residual, ends[0].contact_residual)
        apart = abs(other.v - ends[0].v).max(axis=-1)
        assert (apart <= 20 * left + 1e-9).all()  # a foot's velocity times the leverage of its leg's joints


# -- friction from none to very much -------------------------------------------------------------------------------------


def test_ball_without_friction_slides_and_does_not_turn():
    ball = bodies.ball(friction=0.0)
    run = ball.rollout(bodies.at_height(ball, 0.1), np.array([0, 0, 0, 1.0, 0, 0]), dt=1e-3, steps=200)
    np.testing.assert_array_equal(run.v[:, :5], np.tile([0, 0, 0, 1.0, 0], (200, 1)))
    assert abs(run.q[:, 2] - 0.1).max() < 1e-12


@pytest.mark.parametrize(("mu", "slope"), [(0.0, 0.3), (2.0, 1.9), (2.0, 2.2)])
def test_flat_box_on_a_steep_incline(mu, slope):
    """It rests up to tan θ = μ, and slides with g (sin θ − μ cos θ) beyond; it would tip from tan θ = w/h = 4 on only."""
    theta, seconds, dt = np.arctan(slope), 0.5, 1e-3
    surface, q = bodies.incline(theta, half=0.05)
    box = bodies.box((0.4, 0.4, 0.1), friction=mu, surface=surface)
    run = box.rollout(q, np.zeros(6), dt=dt, steps=round(seconds / dt))
    down = np.array([-np.cos(theta), 0, -np.sin(theta)])
    speed = max(G * (np.sin(theta) - mu * np.cos(theta)), 0) * seconds
    assert abs(bodies.world_velocity(run)[-1] @ down - speed) < 1e-4
    if speed == 0:
        assert np.linalg.norm(run.q[-1, :3] - q[:3]) < 1e-5
    assert abs(run.q[:, 3:] - q[3:]).max() < 1e-5


def test_box_of_a_microgram_and_of_a_million_tonnes_slide_alike():
    """x(t) does not depend on m, and the force is m g: ε is relative to G, and no threshold is in newtons."""
    mu, dt, factors = 0.5, 1e-3, np.array([1e-9, 1e-3, 1.0, 1e3, 1e9])
    box = bodies.box(friction=mu)
    run = box.rollout(np.stack([bodies.at_height(box, 0.1)] * 5), np.array([0, 0, 0, 1.0, 0, 0]), dt=dt, steps=400,
                      vary={"mass": {"box": per_robot(factors)}})  # fmt: skip
    way = 1 / (2 * mu * G) - dt / 2
    assert abs(run.q[:, -1, 0] - way).max() < mu * G * dt**2
    assert abs(run.q[:, :, 2] - 0.1).max() < 1e-11
    np.testing.assert_allclose(run.contact_forces[:, -1, :, 2].sum(axis=1), factors * G, rtol=1e-6)
