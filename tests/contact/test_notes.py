"""Notes and representations of motions through contact."""

from __future__ import annotations

import numpy as np

import torsor as ts

from . import bodies

REST = np.zeros(6)


def test_note_names_contacts_that_begin_inside_the_ground():
    robot, q, _ = bodies.quadruped(height=-0.012)
    run = robot.simulate(q, np.zeros(18), 0.01)
    (note,) = run.notes
    assert note.startswith("contacts begin inside their surfaces, and are moved out by positions: ")
    assert "HL_FOOT by 12 mm" in note
    assert "contacts begin inside their surfaces" in repr(run)


def test_note_lists_the_deepest_contacts():
    box = bodies.box(friction=0.5)
    (note,) = box.simulate(bodies.at_height(box, -0.15), REST, 0.01).notes
    assert note.count("mm") == 4
    assert "by 250 mm" in note
    assert note.endswith("and 4 more")


def test_contacts_that_rest_or_sink_into_a_spring_have_no_note():
    box = bodies.box(friction=0.5)
    assert not box.simulate(bodies.at_height(box, 0.1 - 9e-4), REST, 0.01).notes
    soft = bodies.box(friction=0.5, stiffness=1e3, damping=10.0)
    assert not soft.simulate(bodies.at_height(soft, 0.095), REST, 0.01).notes


def test_representations_mention_contacts():
    box, arm = bodies.box(friction=0.5), ts.robots.two_link()
    q = bodies.at_height(box, 0.1)
    assert "11 records, 8 contacts>" in repr(box.simulate(q, REST, 0.01))
    assert repr(box.rollout(q, REST, dt=1e-3, steps=5)).endswith("t, q, v, tau, contact_forces>")
    assert "contact" not in repr(arm.simulate([0, 0], [0, 0], 0.01))
    assert repr(arm.rollout(np.zeros(2), np.zeros(2), dt=1e-3, steps=5)).endswith("t, q, v, tau>")
