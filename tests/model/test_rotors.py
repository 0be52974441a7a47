"""Geared rotors (MR §8.9.3) against the same rotors as separate bodies on mimic joints."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from tests.tolerance import assert_close
from tests.trees import Cam, axis, random_tree, rotation, state, transform
from torsor import algorithms as alg
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.model import Description, Joint, Link, Mimic, Rotor
from torsor.model.joints import Continuous, Helical, Prismatic, Revolute
from torsor.spatial import Inertia, Sym, Vec

SEEDS = range(12)
#: fewer seeds, for tests that compile kernels
FEW = [seed if seed < 4 else pytest.param(seed, marks=pytest.mark.night) for seed in SEEDS]


def round_inertia(rng, u: Vec) -> Inertia:
    """A body of revolution about u, with its centre of mass on u."""
    across, along = (float(x) for x in rng.uniform(0.01, 0.02, size=2))
    I = [[across * (i == j) + (along - across) * u[i] * u[j] for j in range(3)] for i in range(3)]
    return Inertia.of(float(rng.uniform(0.1, 1)), u * float(rng.normal(scale=0.2)), Sym.of(I))


def with_random_rotors(d: Description, seed: int, on: str = "anywhere") -> Description:
    """A rotor on every joint that can have one, mounted on the parent link or on any link before it."""
    rng = np.random.default_rng(seed + 100)
    above = {j.child: j.parent for j in d.joints}
    rotors = []
    for j in d.joints:
        if j.kind.nv != 1 or j.mimic is not None:
            continue
        inward = [j.parent]
        while inward[-1] in above:
            inward.append(above[inward[-1]])
        link = j.parent if on == "parent" else str(rng.choice(inward))
        u = axis(rng)
        ratio = float(rng.normal(scale=5))
        rotors.append(Rotor(f"{j.name}_rotor", j.name, link, round_inertia(rng, u), ratio, transform(rng), u))
    return replace(d, rotors=tuple(rotors))


def with_rotors_as_links(d: Description) -> Description:
    """Every rotor as a link on a mimic joint of the joint that it drives."""
    links = [Link(r.name, r.inertia) for r in d.rotors]
    joints = [
        Joint(f"{r.name}_spin", Continuous(r.axis), r.link, r.name, r.origin, mimic=Mimic(r.joint, r.ratio)) for r in d.rotors
    ]
    return replace(d, links=(*d.links, *links), joints=(*d.joints, *joints), rotors=())


def pair(seed: int, **options) -> tuple[ts.Robot, ts.Robot]:
    on = options.pop("on", "anywhere")
    d = with_random_rotors(random_tree(seed, 7, **options), seed, on)
    assert d.rotors
    return ts.Robot(d), ts.Robot(with_rotors_as_links(d))


def run(robot: ts.Robot, name: str, *state, **options) -> np.ndarray:
    """The Python source of an algorithm over floats, without a kernel."""
    return np.array(getattr(alg, name)(robot.model, *(np.asarray(x).tolist() for x in state), **options), float)


@pytest.mark.parametrize("seed", SEEDS)
def test_rotors_have_the_dynamics_of_separate_bodies_on_mimic_joints(seed):
    robot, bodies = pair(seed)
    q, v, a = state(robot, seed)
    tau = run(bodies, "rnea", q, v, a)
    M = run(bodies, "crba", q)
    assert_close(run(robot, "rnea", q, v, a), tau, floor=1)
    assert_close(run(robot, "crba", q), M, floor=1)
    assert_close(run(robot, "forward_dynamics", q, v, tau), a, 1e-14, np.linalg.cond(M), floor=1)
    assert_close(run(robot, "coriolis_matrix", q, v) @ v, run(bodies, "velocity_force", q, v), floor=1)
    assert_close(run(robot, "mass_matrix_rate", q, v), run(bodies, "mass_matrix_rate", q, v), floor=1)
    assert_close(run(robot, "kinetic_energy", q, v), run(bodies, "kinetic_energy", q, v), floor=1)
    assert_close(run(robot, "momentum", q, v), run(bodies, "momentum", q, v), floor=1)
    assert_close(run(robot, "gravity_force", q), run(bodies, "gravity_force", q), floor=1)
    other = robot.random_configuration(seed)
    fall = [run(x, "potential_energy", q) - run(x, "potential_energy", other) for x in (robot, bodies)]
    assert_close(*fall, floor=1)  # the energy of links fixed to the ground is constant
    assert robot.mass == pytest.approx(bodies.mass, rel=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_reaction_wrenches_with_rotors_equal_those_with_separate_bodies(seed):
    robot, bodies = pair(seed)
    q, v, a = state(robot, seed)
    wrenches = {"link3": [0.0, 1, 2, 3, 4, 5]}
    seen = dict(zip(bodies.joints, run(bodies, "reaction_wrenches", q, v, a, wrenches=wrenches), strict=True))
    assert_close(
        run(robot, "reaction_wrenches", q, v, a, wrenches=wrenches), np.array([seen[name] for name in robot.joints]), floor=1
    )


SINGLE = [Revolute(Vec(0, 0, 1)), Prismatic(Vec(1, 0, 0)), Continuous(Vec(0, -1, 0)), Helical(Vec(0, 0, 1), 0.1)]


@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_matrix_with_rotors_equals_christoffel_symbols_times_v(seed):
    """Where velocities are rates of coordinates Γ is unique (MR 8.17), so C and Γ agree entry by entry."""
    robot, bodies = pair(seed, kinds=SINGLE, base="fixed")
    q, v, _ = state(robot, seed)
    assert_close(run(robot, "coriolis_matrix", q, v), run(bodies, "coriolis_matrix", q, v), floor=1)
    assert_close(run(robot, "christoffel_symbols", q), run(bodies, "christoffel_symbols", q), floor=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_rate_minus_2c_with_rotors_is_skew(seed):
    """Ṁ by differences along the motion, independent of C."""
    robot, _ = pair(seed)
    q, v, _ = state(robot, seed)
    h = 1e-5
    before, after = (run(robot, "crba", run(robot, "integrate", q, v, t)) for t in (-h, h))
    rate = (after - before) / (2 * h)
    N = rate - 2 * run(robot, "coriolis_matrix", q, v)
    assert_close(N, -N.T, 1e-7 * np.abs(rate).max(), floor=1)  # differences: h² and rounding over h


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_with_rotors_changes_by_the_power_of_the_joint_forces(seed):
    robot, _ = pair(seed)
    q, v, a = state(robot, seed)
    h = 1e-5

    def energy(t: float) -> float:
        at, rate = run(robot, "integrate", q, v + a * (t / 2), t), v + a * t  # a motion with that v and a at t = 0
        return run(robot, "kinetic_energy", at, rate) + run(robot, "potential_energy", at)

    power = run(robot, "rnea", q, v, a) @ v
    scale = np.abs(run(robot, "rnea", q, v, a)) @ np.abs(v)
    assert (energy(h) - energy(-h)) / (2 * h) == pytest.approx(power, abs=1e-7 * scale)  # differences


@pytest.mark.parametrize("seed", FEW)
def test_forward_dynamics_with_rotors_on_the_parent_uses_the_recursion(seed):
    """ABA, and the articulated-body passes of the innovations."""
    robot, bodies = pair(seed, on="parent", couplings=False)
    assert robot.model.local
    q, v, a = (x.tolist() for x in state(robot, seed))
    M = run(bodies, "crba", q)
    tau = run(bodies, "rnea", q, v, a)
    small = 1e-14 * np.linalg.cond(M)
    assert_close(alg.aba(robot.model, q, v, tau.tolist()), a, small, floor=1)
    factors = robot.innovations(q)
    assert_close(factors.solve(tau), np.linalg.solve(M, tau), small, floor=1)
    assert_close(factors.times(a), M @ a, floor=1)


def chain(n: int) -> ts.Robot:
    b = ts.Builder("chain").link("link0")
    for i in range(1, n + 1):
        b.link(f"link{i}", mass=1, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
        b.joint(f"joint{i}", "revolute", f"link{i - 1}", f"link{i}", xyz=(0.3, 0.1, 0.2), rpy=(0.4, 0.5, 0.6))
        b.rotor(f"rotor{i}", f"joint{i}", f"link{i - 1}", mass=0.1, inertia=(1e-3, 1e-3, 2e-3), ratio=50, rpy=(0.1, 0.2, 0))
    return b.build()


def test_aba_with_rotors_takes_operations_in_proportion_to_the_bodies():
    counts = [chain(n).program("forward_dynamics").operations for n in (24, 36, 48)]
    assert counts[2] - counts[1] == pytest.approx(counts[1] - counts[0], rel=1e-3)


def test_rotor_mounted_before_the_parent_has_correct_forward_dynamics():
    robot = chain(3).with_rotors({"joint3": {"link": "link1", "mass": 0.1, "inertia": (1e-3, 1e-3, 2e-3), "ratio": 50}})
    assert not robot.model.local
    assert robot.with_rotors({"joint3": {"link": "link0", "mass": 0.1, "inertia": (1, 1, 2e-3)}}).model.local  # the ground
    q, v, a = state(robot, 0)
    assert_close(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a, 1e-11, floor=1)


@pytest.mark.parametrize("seed", FEW)
def test_kernels_of_regrouped_inertias_with_rotors_equal_the_source(seed):
    """Regrouping moves inertia to parent links and leaves the spin inertias of the rotors unchanged."""
    robot, _ = pair(seed)
    q, v, a = (x.tolist() for x in state(robot, seed))
    assert_close(robot.mass_matrix(q), alg.crba(robot.model, q), floor=1)
    assert_close(robot.inverse_dynamics(q, v, a), alg.rnea(robot.model, q, v, a), floor=1)
    assert_close(robot.coriolis_matrix(q, v), alg.coriolis_matrix(robot.model, q, v), floor=1)


# -- motors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_motor_and_gear_torques_are_those_of_the_explicit_rotors(seed):
    """τ_gear, and τ_motor by MR 8.112, from the reaction wrenches of the separate bodies."""
    robot, bodies = pair(seed, couplings=False, kinds=[Revolute(Vec(0, 0, 1)), Revolute(Vec(1, 0, 0)), Prismatic(Vec(0, 1, 0))])
    bare = replace(robot.description, joints=tuple(replace(j, armature=()) for j in robot.description.joints))
    robot, bodies = ts.Robot(bare), ts.Robot(with_rotors_as_links(bare))
    q, v, a = state(robot, seed)
    wrenches = {"frame2": [0.0, 1, 2, 3, 4, 5]}
    F = dict(zip(bodies.joints, run(bodies, "reaction_wrenches", q, v, a, wrenches=wrenches), strict=True))
    kinds = {j.name: j.kind for j in bare.joints}
    motor, gear = (run(robot, name, q, v, a, wrenches=wrenches) for name in ("motor_torque", "gear_torque"))
    scale = abs(run(robot, "rnea", q, v, a, wrenches=wrenches)).max()
    for k, r in enumerate(bare.rotors):
        kind = kinds[r.joint]
        through = F[r.joint][3:] if isinstance(kind, Prismatic) else F[r.joint][:3]
        tau_gear = np.dot(kind.axis, through)
        turning = np.dot(r.axis, F[f"{r.name}_spin"][:3])
        assert gear[k] == pytest.approx(tau_gear, abs=1e-12 * scale)  # MR 8.111
        assert motor[k] == pytest.approx(tau_gear / r.ratio + turning, abs=1e-12 * scale / min(1, abs(r.ratio)))  # MR 8.112


def test_motor_torques_accept_a_batch_and_refuse_robots_without_rotors():
    robot = chain(3)
    q, v, a = np.random.default_rng(0).normal(size=(3, 2, 5, 3))
    both = robot.motor_torques(q, v, a)
    assert both.motor.shape == both.gear.shape == (2, 5, 3)
    assert_close(both.motor * 50, robot.inverse_dynamics(q, v, a), floor=1)
    assert robot.rotors == ("rotor1", "rotor2", "rotor3")
    with pytest.raises(ArgumentError, match=r"two_link.*has no rotors; add them with robot\.with_rotors"):
        ts.robots.two_link().motor_torques([0, 0], [0, 0], [0, 0])


# -- a rotor whose mount does not rotate is an armature ------------------------------------------------------------------


@pytest.mark.parametrize("mount", ["ground", "carriage"])
def test_rotor_on_a_mount_that_does_not_rotate_is_an_armature(mount):
    b = ts.Builder("gantry").link("ground").link("carriage", mass=3).link("arm", mass=1, com=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    b.joint("rail", "prismatic", "ground", "carriage", axis=(1, 0, 0), armature=0.3)
    b.joint("hinge", "revolute", "carriage", "arm", axis=(0, 1, 0), armature=0.2)
    b.rotor("motor", "hinge", mount, mass=0.5, inertia=(1e-3, 1e-3, 3e-3), ratio=30, rpy=(0.3, 0.2, 0))
    robot = b.build()
    plain = robot.rotors_as_armature()
    assert plain.rotors == ()
    assert plain.joint("hinge").armature == pytest.approx([0.2 + 900 * 3e-3])
    q, v, a = state(robot, 1)
    for name in ("inverse_dynamics", "forward_dynamics"):
        assert_close(getattr(robot, name)(q, v, a), getattr(plain, name)(q, v, a), 1e-13, floor=1)
    assert_close(robot.mass_matrix(q), plain.mass_matrix(q), 1e-14, floor=1)
    assert_close(robot.coriolis_matrix(q, v), plain.coriolis_matrix(q, v), 1e-14, floor=1)


def test_rotor_on_a_rotating_mount_differs_from_an_armature():
    robot = chain(3)
    q, v, a = state(robot, 1)
    assert np.abs(robot.inverse_dynamics(q, v, a) - robot.rotors_as_armature().inverse_dynamics(q, v, a)).max() > 0.01


def test_gyroscope_torque_has_the_value_and_sign_of_theory():
    """A fast rotor on a gimbal: rotation about y at Ω with spin H along x needs the torque Ω × H along z."""
    b = ts.Builder("gyroscope").link("ground").link("yoke").link("frame", mass=1).link("knob", mass=1e-9)
    b.joint("pan", "revolute", "ground", "yoke").joint("tilt", "revolute", "yoke", "frame", axis=(0, 1, 0))
    b.joint("drive", "revolute", "frame", "knob", axis=(1, 0, 0))
    b.rotor("wheel", "drive", "frame", mass=1, inertia=(0.02, 0.01, 0.01), axis=(1, 0, 0), ratio=1000)
    robot = b.build(gravity=(0, 0, 0))
    tau = robot.inverse_dynamics([0, 0, 0], [0, 0.5, 1], [0, 0, 0])
    np.testing.assert_allclose(tau, [-0.02 * 1000 * 0.5, 0, 0], rtol=1e-14, atol=1e-12)  # Ω ŷ × H x̂ = −Ω H ẑ


# -- the description -----------------------------------------------------------------------------------------------------

ROUND = {"mass": 0.1, "inertia": (1e-3, 1e-3, 2e-3), "ratio": 50}


def test_mass_matrix_with_a_rotor_over_symbols_has_its_terms():
    sp = pytest.importorskip("sympy")
    J, G, t1, t2 = sp.symbols("J G theta1 theta2")
    b = ts.Builder("2R").link("ground").link("one").link("two")
    b.joint("joint1", "revolute", "ground", "one").joint("joint2", "revolute", "one", "two", xyz=(1, 0, 0))
    b.rotor("motor", "joint2", "one", inertia=(J / 2, J / 2, J), ratio=G)
    M = sp.Matrix(alg.crba(ts.model.assemble(b.description()), [t1, t2])).expand()
    assert sp.Matrix([[J, G * J], [G * J, G**2 * J]]) == M  # ½ J (θ̇₁ + G θ̇₂)²


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"joint": "knee"}, "drives joint 'knee', which is not a joint of the tree"),
        ({"joint": "ball"}, "spherical.*one degree of freedom"),
        ({"joint": "follower"}, r"is a mimic joint of 'hinge'; drive the leader instead"),
        ({"link": "arm"}, "mounted on link 'arm', which is not an ancestor of joint 'hinge'; mount it on one of: 'ground'"),
        ({"ratio": 0}, "ratio is zero"),
        ({"ratio": float("nan")}, "ratio must be finite"),
        ({"mass": -1}, "negative"),
        ({"com": (0.1, 0, 0)}, "off its spin axis"),
        ({"inertia": (1e-3, 1.1e-3, 2e-3)}, "not symmetric about its spin axis"),
        ({"inertia": (1e-3, 0, 1e-5, 1e-3, 0, 2e-3)}, "not symmetric about its spin axis"),
        ({"axis": (1, 0, 0)}, "not symmetric about its spin axis"),
        ({"axis": (0, 0, 0)}, "axis is zero"),
    ],
)
def test_invalid_rotors_are_refused(change, words):
    b = ts.Builder("robot").link("ground").link("arm").link("hand").link("finger")
    b.joint("hinge", "revolute", "ground", "arm").joint("ball", "spherical", "arm", "hand")
    b.joint("follower", "revolute", "hand", "finger", mimic="hinge")
    with pytest.raises(ModelError, match=words):
        b.rotor(**{"name": "motor", "joint": "hinge", "link": "ground", **ROUND, **change}).description()


def test_a_joint_has_one_rotor_and_a_rotor_its_own_name():
    robot = chain(2)
    d = robot.description
    with pytest.raises(ModelError, match="'again' and rotor 'rotor1' both drive joint 'joint1'; a joint has one rotor"):
        replace(d, rotors=(*d.rotors, replace(d.rotors[0], name="again")))
    with pytest.raises(ModelError, match="two rotors are named 'rotor1'"):
        replace(d, rotors=(d.rotors[0], replace(d.rotors[1], name="rotor1")))
    with pytest.raises(ModelError, match="unit vector"):
        replace(d, rotors=(replace(d.rotors[0], axis=Vec(0, 0, 2)),))


def test_rotor_axis_is_accepted_within_rounding():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        R = rotation(rng)
        b = ts.Builder("robot").link("ground").link("arm").joint("hinge", "revolute", "ground", "arm")
        G = Inertia.of(0.1, Vec(0, 0, 0.3), Sym(1e-3, 0, 0, 1e-3, 0, 2e-3)).seen_from(R, Vec(0, 0, 0))
        replace(b.description(), rotors=(Rotor("motor", "hinge", "ground", G, 9, axis=R.T.z),))


def test_with_rotors_mounts_replaces_and_removes():
    robot = ts.robots.two_link()
    motors = robot.with_rotors({"joint2": ROUND, "joint1": {**ROUND, "name": "first", "ratio": -3}})
    assert motors.rotors == ("joint2_rotor", "first")
    assert motors.with_rotors({"joint2": None}).rotors == ("first",)
    assert motors.with_rotors({"joint1": None, "joint2": None}) == robot
    assert pickle.loads(pickle.dumps(motors)) == motors != robot
    with pytest.raises(UnknownName, match="elbow"):
        robot.with_rotors({"elbow": ROUND})
    with pytest.raises(ModelError, match="give a dict"):
        robot.with_rotors({"joint1": 0.1})


# -- model editing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", FEW)
def test_locking_a_joint_leaves_its_rotor_standing_on_its_mount(seed):
    robot, bodies = pair(seed, couplings=False)
    name = robot.description.rotors[0].joint
    locked, reference = robot.lock({name: 0.3}), bodies.lock({name: 0.3})
    assert len(locked.rotors) == len(robot.rotors) - 1
    q, v, a = state(locked, seed)
    assert_close(locked.inverse_dynamics(q, v, a), reference.inverse_dynamics(q, v, a), floor=1)


def test_subtree_keeps_its_rotors_and_refuses_rotors_mounted_outside():
    robot = chain(4)
    assert robot.subtree("link2").rotors == ("rotor3", "rotor4")
    far = robot.with_rotors({"joint4": {**ROUND, "link": "link1"}})
    with pytest.raises(ModelError, match="rotor 'joint4_rotor' drives joint 'joint4' from link 'link1', which is outside"):
        far.subtree("link2")


def test_attach_keeps_the_rotors_of_both_robots():
    both = chain(2).attach(chain(1), "link2", prefix="tool_")
    assert both.rotors == ("rotor1", "rotor2", "tool_rotor1")
    assert both.description.rotors[2].link == "tool_link0"
    flat = ts.Robot(with_rotors_as_links(both.description))
    q, v, a = state(both, 3)
    assert_close(both.inverse_dynamics(q, v, a), flat.inverse_dynamics(q, v, a), floor=1)
    same = ts.Builder("x").link("p").link("q").joint("h", "revolute", "p", "q").rotor("rotor1", "h", "p", **ROUND).build()
    with pytest.raises(ModelError, match="both robots have a rotor named 'rotor1'"):
        chain(1).attach(same, "link1")


def fork() -> ts.Robot:
    """A trunk with two branches, so that a rotor of a branch can be mounted on the root or on the trunk."""
    b = ts.Builder("fork").link("root", mass=1, inertia=(0.1, 0.1, 0.1))
    for name, parent in (("trunk", "root"), ("left", "trunk"), ("right", "trunk")):
        b.link(name, mass=1, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
        b.joint(f"to_{name}", "revolute", parent, name, xyz=(0.3, 0.1, 0.2), rpy=(0.4, 0.5, 0.6))
    return b.build(base="floating")


def test_rebasing_keeps_a_rotor_whose_mount_still_comes_first():
    robot = fork().with_rotors({"to_left": ROUND})
    moved, flat = robot.rebase("right"), ts.Robot(with_rotors_as_links(robot.description)).rebase("right")
    assert moved.rotors == ("to_left_rotor",)
    q, v, a = state(moved, 2)
    assert_close(moved.inverse_dynamics(q, v, a), flat.inverse_dynamics(q, v, a), floor=1)


@pytest.mark.parametrize("rotor", [{"to_left": {**ROUND, "link": "root"}}, {"to_right": ROUND}, {"to_trunk": ROUND}])
def test_rebasing_refuses_a_rotor_whose_mount_no_longer_comes_first(rotor):
    with pytest.raises(ModelError, match=r"rebase to link 'right': seen from there, rotor .* is no longer before joint"):
        fork().with_rotors(rotor).rebase("right")


def test_urdf_has_rotor_mass_and_armature_and_lists_the_loss(tmp_path):
    robot = chain(2)
    path = tmp_path / "chain.urdf"
    ts.save_urdf(robot, path)
    text = path.read_text()
    assert "rotors, written as armature and mass, which other readers have, and as torsor's own elements" in text
    read, plain = ts.load(text[: text.index("<torsor>")] + "</robot>"), robot.rotors_as_armature()  # as other readers have it
    assert_close(read.mass_matrix([0.1, 0.2]), plain.mass_matrix([0.1, 0.2]), 1e-14, floor=1)
    own = ts.load(path)
    assert own.description.rotors == robot.description.rotors
    q, v = [0.1, 0.2], [0.3, -0.4]
    assert_close(own.inverse_dynamics(q, v, v), robot.inverse_dynamics(q, v, v), 1e-14, floor=1)


def test_user_defined_joint_may_have_a_rotor():
    d = random_tree(5, kinds=[Cam(), Revolute(Vec(0, 0, 1))])
    robot = ts.Robot(with_random_rotors(d, 5))
    flat = ts.Robot(with_rotors_as_links(robot.description))
    q, v, a = state(robot, 5)
    assert_close(robot.coriolis_matrix(q, v), flat.coriolis_matrix(q, v), floor=1)


def test_position_of_a_massless_rotor_on_its_mount_has_no_effect():
    here, there = (
        ts.robots.two_link().with_rotors({"joint2": {"inertia": (1e-3, 1e-3, 2e-3), "ratio": 9, "xyz": xyz}})
        for xyz in ((0, 0, 0), (1, 2, 3))
    )
    assert_close(here.mass_matrix([0.1, 0.2]), there.mass_matrix([0.1, 0.2]), 1e-15, floor=1)
