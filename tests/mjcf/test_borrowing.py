"""Physically impossible inertias: made possible by moving inertia between links, with unchanged M and τ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mjcf.twin import random_state
from tests.trees import axis, random_tree
from torsor.algorithms import crba, rnea
from torsor.io.mjcf.inertia_exchange import exchange_inertias
from torsor.io.mjcf.poses import translation
from torsor.model import Description, Joint, Link
from torsor.model.assembly import assemble
from torsor.model.joints import Fixed, Prismatic, Revolute, Spherical
from torsor.model.physical import links_with_impossible_inertia
from torsor.spatial import Inertia, Sym, Vec

#: inertia of a link that was identified from rotations about z only
PLANAR = Inertia.of(1.0, Vec(0.2, 0, 0), Sym(0, 0, 0, 0, 0, 0.1))


def check_same_dynamics(d: Description, e: Description) -> None:
    ours, theirs = assemble(d), assemble(e)
    q, v, a = ([float(x) for x in s] for s in random_state(ours, np.random.default_rng(0)))
    for algorithm, state in ((crba, (q,)), (rnea, (q, v, a))):
        x, y = (np.array(algorithm(model, *state), float) for model in (ours, theirs))
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-13 * np.abs(x).max())


@given(st.integers(0, 10**6))
def test_moved_inertia_does_not_change_the_dynamics(seed):
    rng = np.random.default_rng(seed)
    kinds = [Revolute(Vec(0, 0, 1)), Prismatic(Vec(1, 0, 0)), Fixed(), Revolute(axis(rng))]
    d = random_tree(seed, bodies=5, couplings=False, kinds=kinds)
    flat = {f"link{k}" for k in rng.choice(np.arange(1, 6), size=2, replace=False)}
    d = replace(d, links=tuple(replace(x, inertia=PLANAR) if x.name in flat else x for x in d.links))
    e, moved = exchange_inertias(d)
    assert flat & set(moved)
    check_same_dynamics(d, e)


def test_planar_arm_gets_possible_inertias_through_every_link():
    links = (Link("base"), *(Link(f"link{k}", PLANAR) for k in range(4)))
    kinds = (Revolute(Vec(0, 0, 1)), Revolute(Vec(0, 0, 1)), Prismatic(Vec(1, 0, 0)), Revolute(Vec(0, 0, -1)))
    ends = zip(links, links[1:], kinds, strict=False)
    joints = tuple(Joint(b.name, kind, a.name, b.name, translation(Vec(0.4, 0, 0))) for a, b, kind in ends)
    d = Description("arm", links, joints)
    e, moved = exchange_inertias(d)
    assert not links_with_impossible_inertia(e)
    assert moved == ["link0", "link1", "link2", "link3"]
    check_same_dynamics(d, e)


def test_possible_inertias_are_not_changed():
    d = random_tree(1)
    assert exchange_inertias(d) == (d, [])


def test_no_inertia_is_moved_across_a_spherical_joint():
    d = Description("ball", (Link("base"), Link("bob", PLANAR)), (Joint("socket", Spherical(), "base", "bob"),))
    e, moved = exchange_inertias(d)
    assert (e, moved) == (d, [])
    assert set(links_with_impossible_inertia(e)) == {"bob"}


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_impossible_inertia_is_moved_to_the_welded_link(base):
    trunk = Inertia.of(5.0, Vec(0, 0, 0.1), Sym(0.2, 0, 0, 0.2, 0, 0.2))
    links = (Link("shell", PLANAR), Link("trunk", trunk), Link("arm", trunk))
    joints = (Joint("weld", Fixed(), "shell", "trunk"), Joint("hinge", Revolute(Vec(0, 1, 0)), "trunk", "arm"))
    d = Description("robot", links, joints, base=base)
    e, moved = exchange_inertias(d)
    assert moved == ["shell", "trunk"]
    assert not links_with_impossible_inertia(e)
    check_same_dynamics(d, e)
