"""The bundled robots: all are listed, and those from files have the numbers of the original files."""

import pickle
import sysconfig
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from torsor.algorithms.crba import crba
from torsor.io.urdf import read_urdf
from torsor.model.assembly import assemble
from torsor.model.surgery import with_base

FREEDOMS = {
    "acrobot": 2, "cart_pole": 2, "cartesian": 3, "furuta": 2, "humanoid": 35, "panda": 8, "pendulum": 1,
    "puma560": 6, "quadruped": 18, "rp_arm": 2, "scara": 4, "stanford_arm": 6, "two_link": 2, "ur5": 6,
}  # fmt: skip
FILES = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "quadruped": "solo_description/robots/solo12.urdf",
    "humanoid": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
}


def test_robots_names_lists_all_bundled_robots():
    assert ts.robots.names() == sorted(FREEDOMS)
    with pytest.raises(ts.UnknownName, match="ur5"):
        ts.robots.description("ur6")


def test_robots_module_lists_the_names_for_an_unknown_one():
    with pytest.raises(ts.UnknownName, match=r"no bundled robot named 'pendulums'; valid names: acrobot, .*ur5; did you mean"):
        ts.robots.pendulums()
    with pytest.raises(AttributeError):
        ts.robots.nothing_like_it()
    assert not hasattr(ts.robots, "pandas")
    with pytest.raises(ts.UnknownName) as caught:
        ts.robots.description("ur55")
    assert str(pickle.loads(pickle.dumps(caught.value))).endswith("did you mean 'ur5'?")


def test_pendulum_follows_its_equation():
    """τ = (m L² + I) θ̈ + m g L sin θ, for a point mass and for a uniform rod."""
    for m, L, I in ((1.0, 1.0, 0.0), (2.0, 0.7, 2.0 * 1.4**2 / 12)):
        robot = ts.robots.pendulum(m=m, L=L, I=I, g=9.8)
        for q, v, a in np.random.default_rng(0).normal(size=(5, 3)):
            tau = (m * L**2 + I) * a + m * 9.8 * L * np.sin(q)
            assert robot.inverse_dynamics([q], [v], [a])[0] == pytest.approx(tau, rel=1e-14)
        assert robot.potential_energy([np.pi]) - robot.potential_energy([0.0]) == pytest.approx(2 * m * 9.8 * L)


@pytest.mark.parametrize("name", sorted(FREEDOMS))
def test_every_bundled_robot_has_a_positive_definite_mass_matrix(name):
    robot = getattr(ts.robots, name)()
    assert isinstance(robot, ts.Robot)
    assert robot.nv == FREEDOMS[name]
    M = np.array(crba(robot.model, robot.random_configuration(1).tolist()), float)
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("name", sorted(FILES))
def test_bundled_files_equal_the_original_files_except_shapes(name):
    folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    if not folder.is_dir():
        pytest.skip("example-robot-data is not installed")
    ours = ts.robots.description(name)
    theirs = with_base(read_urdf(folder / FILES[name]), ours.base)
    assert [(x.name, x.inertia) for x in ours.links] == [(x.name, x.inertia) for x in theirs.links]
    assert ours.joints == theirs.joints


def test_zero_configurations_of_acrobot_and_cart_pole_match_their_papers():
    assert assemble(ts.robots.description("acrobot")).frame("tip").X.r.x == 2.0
    cart_pole = ts.robots.cart_pole()
    assert np.allclose(cart_pole.gravity_force([0.0, 0.0]), 0)
    # M₁₁ = m_c + m_p, M₁₂ = m_p l cos θ, M₂₂ = 4/3 m_p l², with l the half length (Barto, Sutton & Anderson)
    assert np.allclose(cart_pole.mass_matrix([0.3, 0.5]), [[1.1, 0.05 * np.cos(0.5)], [0.05 * np.cos(0.5), 0.1 / 3]])
    assert cart_pole.gravity_force([0.0, 0.5])[1] == pytest.approx(-0.1 * 9.8 * 0.5 * np.sin(0.5))


def test_scara_tip_is_below_its_arm():
    pose = ts.robots.scara().pose([0.0, 0.0, 0.1, 0.0], "tip")
    assert np.allclose(pose[:3, 3], [0.7, 0, 0.4 - 0.1 - 0.3])


def test_bundled_robots_are_annotated_to_return_robot():
    import inspect

    signature = inspect.signature(import_module("torsor.robots").two_link)
    assert signature.return_annotation == "Robot"
    assert list(signature.parameters) == ["m1", "m2", "L1", "L2", "lc1", "lc2", "I1", "I2", "g"]
