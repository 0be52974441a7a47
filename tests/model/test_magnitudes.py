"""Constants whose products overflow or underflow are refused when a model is built, for every format."""

import numpy as np
import pytest

import torsor as ts
from torsor import Builder, FileError, ModelError
from torsor.model.friction import Coulomb
from torsor.model.joints import Helical, Revolute
from torsor.model.magnitudes import LARGEST, SMALLEST_MASS
from torsor.spatial import Vec

HUGE = 1e308


def chain(n=2, mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1), **joint):
    b = Builder("chain").link("l0")
    for k in range(1, n + 1):
        b.link(f"l{k}", mass, com=com, inertia=inertia)
        b.joint(f"j{k}", "revolute", f"l{k - 1}", f"l{k}", **({"axis": (0, 1, 0)} | joint))
    return b


def mimics(ratio, offset=0.0, n=4):
    b = chain(1)
    for k in range(2, n + 1):
        b.link(f"l{k}", 1.0).joint(
            f"j{k}", "revolute", f"l{k - 1}", f"l{k}", axis=(0, 1, 0), mimic=(f"j{k - 1}", ratio, offset)
        )
    return b.build()


def welds(n, length):
    b = chain(1)
    for k in range(2, n + 1):
        b.link(f"l{k}", 1.0).joint(f"w{k}", "fixed", f"l{k - 1}", f"l{k}", xyz=(length, 0, 0))
    return b.build()


def urdf(mass="1", xyz="0 0 0"):
    return f"""<robot name="r"><link name="a"/>
<link name="b"><inertial><mass value="{mass}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="{xyz}"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def mr_lists(scale):
    M = np.eye(4)
    M[0, 3] = scale
    return ts.from_mr([M, np.eye(4)], [np.eye(6)], np.array([[0, 0, 1, 0, 0, 0.0]]).T)


TWO_LINK = ts.robots.two_link()
WAYS = {
    "offsets": (lambda: chain(xyz=(HUGE, 0, 0)).build(), "joint 'j1': origin"),
    "masses": (lambda: chain(4, mass=HUGE, com=(0, 0, 0)).build(), "link 'l1': mass"),
    "centre of mass": (lambda: chain(com=(1e100, 0, 0)).build(), "link 'l1': mass × centre of mass"),
    "inertia": (lambda: chain(inertia=(HUGE, HUGE, HUGE)).build(), "link 'l1': inertia"),
    "mimic of mimic": (lambda: mimics(HUGE), "joint 'j2': mimic multiplier"),
    "product of mimics": (lambda: mimics(1e30), "joint 'j3': q / q\\(j1\\), the product of the mimic multipliers"),
    "sum of mimic offsets": (lambda: mimics(1e15, 1e30), "joint 'j3': q where q\\(j1\\) = 0"),
    "sum of welds": (lambda: welds(3, 0.9 * LARGEST), "link 'l3': its pose on the body"),
    "sum of welded masses": (lambda: welds(2, 0.0).with_payload("l2", LARGEST).with_payload("l1", LARGEST), "joint 'j1'"),
    "pitch": (lambda: chain(1).link("t").joint("h", Helical(Vec(0, 0, 1), HUGE), "l1", "t").build(), "joint 'h': pitch"),
    "armature": (lambda: chain(armature=HUGE).build(), "joint 'j1': armature"),
    "damping": (lambda: chain(damping=HUGE).build(), "joint 'j1': damping"),
    "frame": (lambda: chain().frame("tip", "l1", xyz=(0, HUGE, 0)).build(), "frame 'tip': origin"),
    "whole number": (lambda: chain(mass=10**400).build(), "link 'l1': mass is a whole number too large"),
    "DH": (lambda: ts.from_dh([{"d": 1e155}, {"a": 1.0}], convention="standard"), "joint .*: origin is 1e\\+155"),
    "screws": (lambda: mr_lists(1e155), "Mlist\\[0\\] is 1e\\+155"),
    "URDF mass": (lambda: ts.load(urdf(mass="1e308")), ":2: <link>: link 'b': mass is 1e\\+308"),
    "URDF origin": (lambda: ts.load(urdf(xyz="1e300 0 0")), ":3: <joint>: joint 'j': origin is 1e\\+300"),
    "payload": (lambda: TWO_LINK.with_payload("tip", HUGE), "mass"),
    "attach": (lambda: TWO_LINK.attach(TWO_LINK, "tip", xyz=(1e200, 0, 0), prefix="b_"), "origin"),
    "gravity": (lambda: TWO_LINK.with_gravity((0, 0, -HUGE)), "gravity"),
    "rotor ratio": (
        lambda: TWO_LINK.with_rotors({TWO_LINK.joints[0]: {"inertia": (1, 1, 1), "ratio": HUGE}}), "rotor .*: ratio"
    ),
    "friction law": (lambda: TWO_LINK.with_friction({TWO_LINK.joints[0]: Coulomb(HUGE)}), "friction Coulomb: b_"),
    "lock": (
        lambda: Builder("s").link("a").link("b", 1).joint("s", "prismatic", "a", "b", axis=(1, 0, 0)).build().lock({"s": HUGE}),
        "joint 's': origin",
    ),
    "large tree": (lambda: ts.large.chain(3, length=1e200), "length is 1e\\+200"),
    "large tree, mass": (lambda: ts.large.chain(3, mass=HUGE), "mass is 1e\\+308"),
    "tiny mass": (lambda: chain(mass=1e-310).build(), "link 'l1': mass 1e-310 kg must be 0 or at least 1e-200 kg"),
    "tiny mass in a file": (lambda: ts.load(urdf(mass="1e-310")), "link 'b': mass 1e-310 kg must be 0 or at least"),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_model_with_overflowing_constants_is_refused_by_element_name(way):
    build, named = WAYS[way]
    with pytest.raises((ModelError, FileError), match=named):
        build()


@pytest.mark.parametrize("scale", [LARGEST, 1e-50, SMALLEST_MASS])
def test_masses_within_the_bounds_give_the_scaled_mass_matrix(scale):
    """M is linear in the masses, which gives the expected value at every scale."""
    one = chain(3, mass=1.0, inertia=None).build()
    scaled = chain(3, mass=scale, inertia=None).build()
    q = np.array([0.3, -0.5, 0.7])
    np.testing.assert_allclose(scaled.mass_matrix(q) / scale, one.mass_matrix(q), rtol=1e-13)
    np.testing.assert_allclose(scaled.mass_matrix_inverse(q) * scale, one.mass_matrix_inverse(q), rtol=1e-12)
    assert np.isclose(scaled.mass / scale, 3)


def test_lengths_at_the_bound_give_finite_dynamics():
    """All lengths × s with point masses: M × s² and potential energy × s."""
    s = LARGEST
    one, large = (chain(3, com=(0.1 * k, 0, 0), inertia=None, xyz=(0.5 * k, 0, 0)).build() for k in (1.0, s))
    q = np.array([0.3, -0.5, 0.7])
    np.testing.assert_allclose(large.mass_matrix(q) / s**2, one.mass_matrix(q), rtol=1e-13)
    np.testing.assert_allclose(large.mass_matrix_inverse(q) * s * s, one.mass_matrix_inverse(q), rtol=1e-11)
    assert np.isclose(large.potential_energy(q) / s, one.potential_energy(q), rtol=1e-13)


def test_infinite_and_huge_joint_limits_are_still_allowed():
    robot = chain(lower=-HUGE, upper=HUGE, effort_limit=HUGE, velocity_limit=np.inf).build()
    assert np.isfinite(robot.mass_matrix(robot.random_configuration(0))).all()


def test_revolute_joint_type_with_a_huge_axis_is_refused():
    with pytest.raises(ModelError, match="Revolute: axis must be a unit vector"):
        Builder("r").link("a").link("b", 1).joint("j", Revolute(Vec(0, 0, HUGE)), "a", "b").build()
