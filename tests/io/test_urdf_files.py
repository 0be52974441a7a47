"""Every URDF of example-robot-data: loads or is refused, has Pinocchio's masses, and is the same after write and read."""

from __future__ import annotations

import random
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pinocchio
import pytest

from torsor.algorithms.crba import crba
from torsor.algorithms.rnea import rnea
from torsor.errors import FileError, ModelWarning
from torsor.io.urdf import read_urdf
from torsor.io.urdf.writer import write_urdf
from torsor.model.assembly import assemble
from torsor.model.description import Description
from torsor.spatial.vector import flat

PREFIX = next(p for p in Path(pinocchio.__file__).parents if p.name == "cmeel.prefix")
ROBOTS = PREFIX / "share" / "example-robot-data" / "robots"
FILES = sorted(str(p.relative_to(ROBOTS)) for p in ROBOTS.rglob("*.urdf"))

#: files that are refused → words of the error
REFUSED = {
    "ur_description/urdf/ur3.urdf": ":6: <robot>: robot 'robot' has no links",
}
#: files with physically impossible inertias → number of such links
ODD = {
    "alex_description/urdf/alex_psyonic_hands.urdf": 4,
    "allegro_hand_description/urdf/allegro_left_hand.urdf": 4,
    "allegro_hand_description/urdf/allegro_right_hand.urdf": 4,
    "anymal_b_simple_description/robots/anymal-kinova.urdf": 1,
    "anymal_b_simple_description/robots/anymal.urdf": 1,
    "anymal_c_simple_description/urdf/anymal.urdf": 5,
    "b1_description/urdf/b1-z1.urdf": 1,
    "b1_description/urdf/b1.urdf": 1,
    "go1_description/urdf/go1.urdf": 1,
    "hyq_description/robots/hyq_no_sensors.urdf": 5,
    "pr2_description/urdf/pr2.urdf": 2,
    "romeo_description/urdf/romeo_laas_small.urdf": 5,
    "romeo_description/urdf/romeo_small.urdf": 2,
    "tiago_description/robots/tiago.urdf": 2,
    "tiago_description/robots/tiago_dual.urdf": 2,
    "tiago_description/robots/tiago_no_hand.urdf": 2,
}


def load_with_warnings(source, **options) -> tuple[Description, list[str]]:
    """(description, links with a warning about their inertia)."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        d = read_urdf(source, **options)
    assert all(w.category is ModelWarning for w in warned)
    assert len(warned) <= 1 + ("does not exist" in str(warned[-1].message) if warned else 0)
    names = [link.name for link in d.links if any(f"link {link.name!r}:" in str(w.message) for w in warned)]
    return d, names


def test_example_robot_data_has_the_files_of_this_test():
    assert len(FILES) >= 60
    assert set(REFUSED) | set(ODD) <= set(FILES)


@pytest.mark.parametrize("file", FILES)
def test_outcome_of_loading_public_urdf_files(file):
    if file in REFUSED:
        with pytest.raises(FileError) as caught:
            read_urdf(ROBOTS / file)
        assert str(caught.value) == f"{ROBOTS / file}{REFUSED[file]}"
        return
    d, odd = load_with_warnings(ROBOTS / file)
    assert len(odd) == ODD.get(file, 0)
    assert len(d.links) == len(d.joints) + 1
    if odd:
        with pytest.raises(FileError, match="has a physically impossible inertia"):
            read_urdf(ROBOTS / file, strict=True)


@pytest.mark.parametrize("file", [f for f in FILES if f != "ur_description/urdf/ur3.urdf"])  # also refused by Pinocchio
def test_mass_and_degrees_of_freedom_equal_those_of_pinocchio(file):
    theirs = pinocchio.buildModelFromUrdf(str(ROBOTS / file), pinocchio.JointModelFreeFlyer())
    ours, _ = load_with_warnings(ROBOTS / file, mimic=False)
    mass = sum(link.inertia.m for link in ours.links)
    assert mass == pytest.approx(sum(G.mass for G in theirs.inertias), rel=1e-14, abs=1e-15)
    assert assemble(ours).nv == theirs.nv - 6


def dynamics(d: Description) -> tuple[np.ndarray, np.ndarray]:
    """M and τ at a state that depends only on the number of coordinates."""
    model, rng = assemble(d), random.Random(7)
    q, v, a = ([rng.uniform(-1, 1) for _ in range(n)] for n in (model.nq, model.nv, model.nv))
    return np.array(crba(model, q), dtype=float), np.array(rnea(model, q, v, a), dtype=float)


def loaded_on_bases():
    """The fast suite writes one file of two, with a floating base."""
    for base, (k, file) in product(("fixed", "floating"), enumerate(f for f in FILES if f not in REFUSED)):
        marks = [pytest.mark.night] * (base == "fixed" or k % 2)
        yield pytest.param(base, file, id=f"{base}-{file}", marks=marks)


@pytest.mark.parametrize(("base", "file"), list(loaded_on_bases()))
def test_public_urdf_written_and_read_again_is_the_same_robot(file, base):
    first, odd = load_with_warnings(ROBOTS / file, base=base)
    text = write_urdf(first)
    second, still_odd = load_with_warnings(text, base=base)
    assert still_odd == odd
    assert [link.name for link in second.links] == [link.name for link in first.links]
    for a, b in zip(first.links, second.links, strict=True):
        for g, h in zip(a.geometry, b.geometry, strict=True):
            assert replace(g, origin=h.origin) == h
            assert np.allclose(list(flat(g.origin)), list(flat(h.origin)), rtol=0, atol=1e-15 * max(1, *map(abs, g.origin.r)))
    for a, b in zip(first.joints, second.joints, strict=True):
        assert (a.name, a.kind, a.parent, a.child, a.mimic) == (b.name, b.kind, b.parent, b.child, b.mimic)
        assert (a.lower, a.upper, a.effort_limit, a.velocity_limit) == (b.lower, b.upper, b.effort_limit, b.velocity_limit)
        assert (a.damping, a.friction, a.armature) == (b.damping, b.friction, b.armature)
    for x, y in zip(dynamics(first), dynamics(second), strict=True):
        assert np.abs(x - y).max(initial=0) <= 2e-15 * np.abs(x).max(initial=0)


@pytest.mark.parametrize("file", [f for f in FILES if f not in REFUSED])
def test_pinocchio_reads_the_written_urdf_as_the_same_robot(file):
    before = pinocchio.buildModelFromUrdf(str(ROBOTS / file))
    after = pinocchio.buildModelFromXML(write_urdf(load_with_warnings(ROBOTS / file)[0]))
    assert list(before.names) == list(after.names)
    q = pinocchio.neutral(before)
    x, y = (np.triu(pinocchio.crba(m, m.createData(), q)) for m in (before, after))
    assert np.abs(x - y).max(initial=0) <= 1e-14 * np.abs(x).max(initial=0)
    assert np.array_equal(before.lowerPositionLimit, after.lowerPositionLimit)
    assert np.array_equal(before.upperPositionLimit, after.upperPositionLimit)
    assert np.array_equal(before.upperVelocityLimit, after.upperVelocityLimit)
    assert np.array_equal(before.upperEffortLimit, after.upperEffortLimit)
