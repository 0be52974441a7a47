"""Left and right with the same principal moments: mirror images, copies and other cases."""

from __future__ import annotations

import numpy as np
import pytest

from tests.doctor.test_codes import pair, turn_inertia
from tests.doctor.urdf import box_inertia, link, shape
from torsor.checks.doctor import check

MIRROR = np.diag([1.0, -1.0, 1.0])
#: a slanted box: no product of inertia is zero
SLANTED = turn_inertia(box_inertia(), (0.4, 0.3, 0.5))
SWAP = np.eye(3)[[1, 0, 2]]
CENTRE = np.array([0.05, 0.02, 0.1])


def found(right, com=MIRROR @ CENTRE):
    """Findings for hands with mirrored frames; the left hand has the slanted inertia."""
    looks = [shape((0.2, 0.3, 0.4), (0.05, 0, 0.1)), shape((0.2001, 0.3, 0.4), (0.05, 0, 0.1))]  # two different parts
    left = link("left_hand", com=CENTRE, I=SLANTED, looks=looks[0])
    text = pair(left, link("right_hand", com=com, I=right, looks=looks[1]))
    return [f for f in check(text).findings if f.code == "left-right-unmirrored"]


def test_mirrored_inertia_gives_no_finding():
    assert found(MIRROR @ SLANTED @ MIRROR) == []


@pytest.mark.parametrize("wrong", [SWAP @ SLANTED @ SWAP, SWAP @ MIRROR @ SLANTED @ MIRROR @ SWAP])
def test_exchanged_axes_on_one_side_are_found(wrong):
    (told,) = found(wrong)
    assert told.element == "link 'left_hand'"
    assert "about other axes" in told.what
    assert "right_hand" in told.what


def test_copied_products_of_inertia_are_found():
    (told,) = found(SLANTED)
    assert "the same products" in told.what


def test_copied_inertia_and_centre_of_mass_give_one_finding():
    (told,) = found(SLANTED, com=CENTRE)
    assert "centre of mass" in told.what


def test_copied_inertia_is_accepted_where_the_centre_is_symmetric():
    """A centre of mass in the mirror plane is its own image: a copied part cannot be told from a mirror image."""
    looks = shape((0.2, 0.3, 0.4), (0.05, 0, 0.1))
    hands = [link(f"{side}_hand", com=(0.05, 0, 0.1), I=SLANTED, looks=looks) for side in ("left", "right")]
    assert "left-right-unmirrored" not in {f.code for f in check(pair(*hands)).findings}
