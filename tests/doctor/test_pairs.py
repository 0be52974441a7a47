"""Left and right with the same principal moments: mirror images, copies, and neither."""

from __future__ import annotations

import numpy as np
import pytest

from tests.doctor.test_codes import pair, turned
from tests.doctor.urdf import box_inertia, link, shape
from torsor.checks.doctor import check

MIRROR = np.diag([1.0, -1.0, 1.0])
#: a slanted box: no product of inertia is zero
SLANTED = turned(box_inertia(), (0.4, 0.3, 0.5))
SWAP = np.eye(3)[[1, 0, 2]]
CENTRE = np.array([0.05, 0.02, 0.1])


def found(right, com=MIRROR @ CENTRE):
    """What is said of hands whose frames are mirror images, the left with the slanted inertia."""
    looks = [shape((0.2, 0.3, 0.4), (0.05, 0, 0.1)), shape((0.2001, 0.3, 0.4), (0.05, 0, 0.1))]  # other parts, not one twice
    left = link("left_hand", com=CENTRE, I=SLANTED, looks=looks[0])
    text = pair(left, link("right_hand", com=com, I=right, looks=looks[1]))
    return [f for f in check(text).findings if f.code == "left-right-unmirrored"]


def test_a_mirror_image_is_right():
    assert found(MIRROR @ SLANTED @ MIRROR) == []


@pytest.mark.parametrize("wrong", [SWAP @ SLANTED @ SWAP, SWAP @ MIRROR @ SLANTED @ MIRROR @ SWAP])
def test_exchanged_axes_on_one_side(wrong):
    (told,) = found(wrong)
    assert told.element == "link 'left_hand'"
    assert "about other axes" in told.what
    assert "right_hand" in told.what


def test_products_that_were_copied():
    (told,) = found(SLANTED)
    assert "the same products" in told.what


def test_a_copy_with_its_centre_is_one_finding():
    (told,) = found(SLANTED, com=CENTRE)
    assert "centre of mass" in told.what


def test_copied_inertia_is_accepted_where_the_centre_is_symmetric():
    """On the mirror's plane a centre of mass is its own image: the same part on both sides, or a mirror image."""
    looks = shape((0.2, 0.3, 0.4), (0.05, 0, 0.1))
    hands = [link(f"{side}_hand", com=(0.05, 0, 0.1), I=SLANTED, looks=looks) for side in ("left", "right")]
    assert "left-right-unmirrored" not in {f.code for f in check(pair(*hands)).findings}
