"""Builder: the description has the given numbers, and invalid input is refused with the name of the element."""

import math

import numpy as np
import pytest
import sympy

from torsor.algorithms.crba import crba
from torsor.algorithms.rnea import rnea
from torsor.errors import ModelError, UnknownName
from torsor.model.assembly import assemble
from torsor.model.description import Mimic
from torsor.model.joints import JOINT_TYPES, Revolute
from torsor.robot.builder import Builder
from torsor.spatial import Vec, from_rpy


def one(type="revolute", **joint):
    return Builder("robot").link("a").link("b", mass=1.0, com=(0.1, 0.2, 0.3)).joint("j", type, "a", "b", **joint)


def test_builder_pendulum_has_the_equation_of_a_pendulum():
    m, l, g, q, a = 2.0, 0.7, 9.81, 0.4, 1.3
    d = Builder("p").link("a").link("b", mass=m, com=(0, 0, -l)).joint("j", "revolute", "a", "b", axis=(0, 1, 0)).description()
    (tau,) = rnea(assemble(d), [q], [0.5], [a])
    assert tau == pytest.approx(m * l * l * a + m * g * l * math.sin(q), rel=1e-14)


def test_builder_with_symbols_gives_the_symbolic_pendulum_equation():
    m, l, g, q, a = sympy.symbols("m l g q a", positive=True)
    b = Builder("p").link("a").link("b", mass=m, com=(0, 0, -l)).joint("j", "revolute", "a", "b", axis=(0, 1, 0))
    (tau,) = rnea(assemble(b.description(gravity=(0, 0, -g))), [q], [sympy.Symbol("v")], [a])
    assert sympy.simplify(tau - (m * l**2 * a + m * g * l * sympy.sin(q))) == 0


def test_builder_inertia_as_matrix_six_numbers_or_diagonal_is_the_same():
    full = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    by_matrix = Builder("r").link("a", 1.5, com=(1, 2, 3), inertia=full).description()
    by_lists = Builder("r").link("a", 1.5, com=np.array([1, 2, 3]), inertia=full.tolist()).description()
    by_six = Builder("r").link("a", 1.5, com=[1, 2, 3], inertia=(2.0, 0.1, 0.2, 3.0, 0.3, 4.0)).description()
    assert by_matrix == by_lists == by_six
    diagonal = Builder("r").link("a", 1.5, com=(1, 2, 3), inertia=(2.0, 3.0, 4.0)).description()
    assert diagonal == Builder("r").link("a", 1.5, com=(1, 2, 3), inertia=np.diag([2.0, 3.0, 4.0])).description()
    assert np.allclose([list(row) for row in by_six.links[0].inertia.about_com.rows], full, atol=1e-14)


def test_builder_inertia_with_rpy_is_rotated_to_link_axes():
    rpy = (0.3, -0.5, 1.1)
    G = Builder("r").link("a", 2.0, com=(0.1, 0, 0), inertia=(1.0, 2.0, 2.5), rpy=rpy).description().links[0].inertia
    R = np.array([list(row) for row in from_rpy(*rpy)])
    assert np.allclose([list(row) for row in G.about_com.rows], R @ np.diag([1.0, 2.0, 2.5]) @ R.T, atol=1e-14)


@pytest.mark.parametrize("type", sorted(JOINT_TYPES))
def test_builder_accepts_every_joint_type_by_name(type):
    extra = {"helical": {"pitch": 0.1}, "universal": {"axis": (1, 0, 0), "second_axis": (0, 1, 0)}}.get(type, {})
    d = one(type, **extra).description()
    assert d.joints[0].kind.name == type
    assert assemble(d).nv == JOINT_TYPES[type].nv


def test_builder_normalises_axes_and_makes_right_angles_integers():
    assert one(axis=(0, 0, -5)).description().joints[0].kind.axis == Vec(0, 0, -1)
    assert all(isinstance(x, int) for x in one(axis=np.array([0.0, 2.0, 0.0])).description().joints[0].kind.axis)
    for axis in [(3, 4, 0), (1e-200, 1e-200, 0), (1e200, 1e200, 1e200)]:
        assert math.hypot(*one(axis=axis).description().joints[0].kind.axis) == pytest.approx(1, abs=1e-15)
    origin = one(rpy=(math.pi / 2, 0, math.pi)).description().joints[0].origin
    assert all(isinstance(x, int) for row in origin.E for x in row)
    assert one().description().joints[0].kind.axis == Vec(0, 0, 1), "ẑ unless given"


def test_builder_accepts_a_joint_type_object_without_axis():
    assert one(Revolute(Vec(1, 0, 0))).description().joints[0].kind == Revolute(Vec(1, 0, 0))
    with pytest.raises(ModelError, match="given as an object"):
        one(Revolute(Vec(1, 0, 0)), axis=(0, 1, 0))


def test_builder_stores_limits_armature_damping_and_friction_per_degree_of_freedom():
    given = {"lower": -1, "upper": 2, "velocity_limit": 3.0, "effort_limit": math.inf}
    j = one(**given, armature=0.1, damping=[0.2], friction=0).description().joints[0]
    assert (j.lower, j.upper, j.velocity_limit, j.effort_limit) == ((-1.0,), (2.0,), (3.0,), (math.inf,))
    assert (j.armature, j.damping, j.friction) == ((0.1,), (0.2,), (0.0,))
    assert crba(assemble(one(armature=0.25).description()), [0.0])[0][0] == pytest.approx(0.05 + 0.25)
    j = one("cylindrical", lower=(-1, 0), armature=(0.1, 0.2)).description().joints[0]
    assert (j.lower, j.armature) == ((-1.0, 0.0), (0.1, 0.2))


def test_builder_mimic_joint_follows_its_leader():
    def coupled(mimic):
        return one().link("c").joint("k", "revolute", "b", "c", mimic=mimic).description().joints[1].mimic

    assert coupled("j") == coupled(("j",)) == Mimic("j", 1.0, 0.0)
    assert coupled(("j", -2, 0.5)) == Mimic("j", -2.0, 0.5)
    for bad in (("j", 1, 2, 3), (1.0, "j"), ()):
        with pytest.raises(ModelError, match="joint 'k': mimic"):
            coupled(bad)


def test_builder_stores_frames_base_and_gravity():
    d = one().frame("tool", "b", xyz=(0, 0, 1)).description(base="floating", gravity=(0, 0, -1.62))
    assert (d.base, d.gravity, d.frames[0].name) == ("floating", Vec(0, 0, -1.62), "tool")
    assert assemble(d).nv == 7


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Builder(""), "name"),
        (lambda: Builder("r").link("a", mass=-1), "link 'a': mass -1 kg is negative"),
        (lambda: Builder("r").link("a", mass=math.nan), "link 'a': mass must be finite"),
        (lambda: Builder("r").link("a", mass="heavy"), "link 'a': mass must be a number"),
        (lambda: Builder("r").link("a", mass=None), "link 'a': mass must be a number"),
        (lambda: Builder("r").link("a", mass=np.array([1.0, 2.0])), "link 'a': mass must be a number"),
        (lambda: Builder("r").link("a", com=(0, math.inf, 0)), "link 'a': com must be finite"),
        (lambda: Builder("r").link("a", com=(0, 0)), "link 'a': com must be 3 numbers, 2 given"),
        (lambda: Builder("r").link("a", com=1.0), "link 'a': com must be 3 numbers"),
        (lambda: Builder("r").link("a", inertia=1.0), "link 'a': inertia must be a 3×3"),
        (lambda: Builder("r").link("a", inertia=[1, 2]), "link 'a': inertia must be a 3×3"),
        (lambda: Builder("r").link("a", inertia=np.eye(6)), "link 'a': inertia must be a 3×3"),
        (lambda: Builder("r").link("a", inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "link 'a': inertia is not symmetric"),
        (lambda: Builder("r").link("a", inertia=(1, 1, math.nan)), "link 'a': inertia must be finite"),
        (lambda: one(axis=(0, 0, 0)), "joint 'j': axis is zero"),
        (lambda: one(axis=(0, 0, math.nan)), "joint 'j': axis must be finite"),
        (lambda: one(xyz=(0, 0)), "joint 'j': xyz must be 3 numbers"),
        (lambda: one(rpy="0 0 0"), "joint 'j': rpy must be 3 numbers"),
        (lambda: one("spherical", axis=(0, 0, 1)), "a spherical joint has no axis"),
        (lambda: one(pitch=0.1), "a revolute joint has no pitch"),
        (lambda: one("helical"), "needs pitch"),
        (lambda: one("universal"), "needs second_axis"),
        (lambda: one("universal", second_axis=(0, 0, 2)), "parallel"),
        (lambda: one("cylindrical", lower=0.0), "joint 'j': lower needs 2 numbers, 1 given"),
        (lambda: one(lower=math.nan), "joint 'j': lower must be finite"),
        (lambda: one(upper=sympy.Symbol("x")), "joint 'j': upper must be a number"),
        (lambda: one(lower=1, upper=0).description(), "joint 'j': lower limit 1"),
        (lambda: one(armature=-1).description(), "joint 'j': armature must be finite and not negative"),
        (lambda: one().description(gravity=9.81), "gravity must be 3 numbers"),
        (lambda: one().description(base="loose"), "base must be"),
        (lambda: one().joint("k", "fixed", "b", "c").description(), "refers to link 'c'"),
        (lambda: one().link("b").description(), "two links are named 'b'"),
        (lambda: one().frame("tool", "c").description(), "frame 'tool' is on link 'c'"),
    ],
)
def test_builder_refuses_invalid_descriptions_by_name(make, message):
    with pytest.raises(ModelError, match=message.replace("(", r"\(")):
        make()


def test_builder_error_of_an_unknown_joint_type_lists_the_known_types():
    with pytest.raises(UnknownName, match=r"'hinge'.*continuous, cylindrical, euler, fixed.*universal"):
        one("hinge")
