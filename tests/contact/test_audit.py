"""The energy audit of simulations through contact: dE = work − dissipated + contact, and contact against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts

from . import bodies

G = bodies.G
REST = np.zeros(6)


def servo(q, v):
    return [0] * 6 + [20 * (r - a) - 0.5 * b for r, a, b in zip(bodies.STANCE, q[7:], v[6:], strict=True)]


def test_contact_takes_the_energy_of_a_box_that_slides_to_rest():
    """½ m v² = 0.5 J by friction; the ground carries the box without work."""
    box = bodies.box(friction=0.5)
    audit = box.simulate(bodies.at_height(box, 0.1), [0, 0, 0, 1.0, 0, 0], 0.5).audit()
    assert abs(audit.contact[-1] + 0.5) < 1e-10
    assert (np.diff(audit.contact) < 1e-12).all()
    assert audit.worst < 1e-9
    assert not audit.dissipated.any()


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_impact_of_a_ball_takes_the_share_that_its_restitution_says(e):
    """(1 − e²) m v²/2 at the first impact, within m g v dt; the errors of balance are of first order in dt."""
    ball = bodies.ball(mass=2.0, friction=0.5, restitution=e)
    for dt in (1e-3, 2.5e-4):
        audit = ball.simulate(bodies.at_height(ball, 0.3), REST, 0.25, dt=dt).audit()
        near = 2 * G * np.sqrt(2 * G * 0.2) * dt
        assert abs(audit.contact[-1] + (1 - e**2) * 2 * G * 0.2) < 2 * near
        assert audit.worst < 2 * near


def test_contact_does_no_work_on_a_quadruped_that_stands():
    """Once the servos have settled: no work of the ground, however long it stands."""
    robot, q, _ = bodies.quadruped()
    audit = robot.simulate(q, np.zeros(18), 2.0, ts.Controller(servo), record=100).audit()
    settled = audit.t > 1.5
    assert np.ptp(audit.contact[settled]) < 1e-7
    assert audit.worst < 1e-2


def test_ground_that_pushes_a_box_out_gives_its_weight_times_the_way():
    """A box 1 cm inside is moved out by positions: 0.0981 J."""
    box = bodies.box(friction=0.5)
    audit = box.simulate(bodies.at_height(box, 0.09), REST, 0.5).audit()
    assert abs(audit.contact[-1] - 0.01 * G) < 1e-3
    assert audit.worst < 1e-3


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit"])
def test_contact_work_is_force_times_mean_velocity_of_the_contact(integrator):
    """Independent of the step: Σ f·(u⁻ + u⁺) dt/2 with the forces at the records and J of the feet by robot.jacobian."""
    robot, q, _ = bodies.quadruped(height=0.02)
    dt = 1e-3
    run = robot.simulate(q, np.zeros(18), 0.2, ts.Controller(servo), dt=dt, integrator=integrator)
    frames = [contact.frame for contact in robot.contacts.values()]
    work = np.zeros(len(run.t) - 1)
    turn = np.einsum("kji,kjl->kil", bodies.rotations(run.q[:-1]), bodies.rotations(run.q[1:]))
    after = run.v[1:].copy()  # in the axes at the beginning of the step, as impulses are added
    after[:, 3:6] = np.einsum("kij,kj->ki", turn, run.v[1:, 3:6])
    for k, frame in enumerate(frames):
        J = robot.jacobian(run.q[:-1], frame, "world")
        turned = J[:, :3]
        J = J[:, 3:] - 0.016 * np.stack([turned[:, 1], -turned[:, 0], 0 * turned[:, 0]], axis=1)  # ω × (0, 0, −r)
        work += dt * np.einsum("ti,tij,tj->t", run.contact_forces[1:, k], J, (run.v[:-1] + after) / 2)
    audit = run.audit()
    assert audit.contact[-1] < -0.01
    np.testing.assert_allclose(np.diff(audit.contact), work, atol=1e-9)


def test_dry_friction_and_stops_of_joints_count_as_contact():
    """A pendulum with 0.3 N·m of dry friction that swings into a stop, beside a foot that never touches."""
    b = ts.Builder("swing").link("base").link("bob", mass=1.0, com=(0, 0, -0.5), inertia=[0.01] * 3)
    b.joint("hinge", "revolute", "base", "bob", axis=(0, 1, 0), lower=-0.3, upper=2.0)
    robot = b.build().with_stops(0.0).with_friction({"hinge": ts.actuators.friction.Coulomb(0.3)})
    robot = robot.with_contacts(ts.contacts.point("bob", at=(0, 0, -1)), ts.contacts.plane(through=(0, 0, -5)), friction=0.5)
    run = robot.simulate([1.0], [0.0], 3.0, dt=1e-4)
    audit = run.audit()
    assert abs(run.v[-1, 0]) < 1e-9
    np.testing.assert_allclose(audit.contact[-1], run.energy[-1] - run.energy[0], atol=2e-3)
    assert not audit.dissipated.any()
    alone = robot.without_terms("contact").simulate([1.0], [0.0], 3.0, dt=1e-4)  # located in time, of fourth order
    before = np.searchsorted(run.t, 0.3)
    there = np.searchsorted(alone.t, run.t[before])
    assert abs(audit.contact[before] + alone.audit().dissipated[there]) < 1e-3


def test_audit_does_not_depend_on_the_records():
    box = bodies.box((0.2, 0.15, 0.1), friction=0.7)
    v = [3.0, 7.0, 1.0, 1.0, 0, 0]
    full, part = (box.simulate(bodies.at_height(box, 0.2), v, 0.5, record=record).audit() for record in ("all", 7))
    np.testing.assert_allclose(part.contact, full.contact[np.searchsorted(full.t, part.t - 1e-9)], atol=1e-12)
    assert part.worst < 0.02 < abs(part.contact[-1])


def test_audit_names_contact_only_where_there_is_some():
    ball, arm = bodies.ball(friction=0.5), ts.robots.two_link()
    touching, free = ball.simulate(bodies.at_height(ball, 0.1), REST, 0.01), arm.simulate([0, 0], [0, 0], 0.01)
    assert "contact" in str(touching.audit())
    assert "contacts" in touching.audit()._repr_html_()
    assert free.audit().contact is None
    assert "contact" not in str(free.audit()) + free.audit()._repr_html_()


def test_contact_of_a_robot_on_a_moving_base_works_on_the_motion_relative_to_it():
    """A leg on a lift: its foot stays on the ground, and moves relative to the base, whose energy is not counted."""
    from .test_moving_base import lift

    worst = []
    for dt in (1e-3, 2.5e-4):
        audit = lift(0.5).simulate([-0.2], [-1.0], 0.3, dt=dt).audit()
        worst.append(audit.worst)
    assert np.ptp(audit.contact) > 0.3
    assert worst[1] < 0.3 * worst[0] < 0.3 * 0.1
