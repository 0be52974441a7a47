"""exp and log of twists against SciPy's exponential of 4×4 matrices, for angles above and below the limit of their series."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from tests.tolerance import assert_close
from torsor.spatial import Motion, Vec
from torsor.spatial.exponential import exp, log


def se3(w, v):
    x, y, z = w
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]])


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.03, 0.0999, 0.1001, 1.0, 3.0])
def test_motion_of_a_constant_twist_and_back(angle):
    rng = np.random.default_rng(int(1e6 * angle))
    for _ in range(20):
        w, v = rng.normal(size=3), rng.normal(size=3)
        w *= angle / np.linalg.norm(w)
        R, p = exp(Motion(Vec(*w.tolist()), Vec(*v.tolist())))
        T = scipy.linalg.expm(se3(w, v))
        assert_close(np.array(R.matrix, float), T[:3, :3], 1e-14)
        assert_close([*p], T[:3, 3], 1e-14)
        back = log(R, p)
        assert_close([*back.w, *back.v], [*w, *v], 1e-14)
