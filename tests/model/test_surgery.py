"""Model editing, checked by physics: locked, attached and rebased robots have the expected motion."""

import math

import numpy as np
import pytest

from torsor import robots
from torsor.algorithms.aba import aba
from torsor.algorithms.crba import crba
from torsor.algorithms.kinematics import from_world, joints, velocities
from torsor.algorithms.rnea import rnea
from torsor.errors import ModelError, UnknownName
from torsor.model.assembly import assemble
from torsor.model.joints import Universal
from torsor.model.surgery import attach, lock, payload, rebase, subtree, with_base, with_gravity, without_couplings
from torsor.robot.builder import Builder
from torsor.spatial import Vec

RNG = np.random.default_rng(3)


def body(b, name):
    S = RNG.normal(size=(3, 3))
    return b.link(name, RNG.uniform(0.5, 2), com=RNG.normal(size=3), inertia=S @ S.T)


def add_joint(b, name, type, parent, child, **extra):
    """A joint at a random position with random axes, with its child link."""
    if type not in ("fixed", "spherical", "floating"):
        extra.setdefault("axis", RNG.normal(size=3))
    extra |= {"helical": {"pitch": 0.3}, "universal": {"second_axis": RNG.normal(size=3)}}.get(type, {})
    return body(b, child).joint(name, type, parent, child, xyz=RNG.normal(size=3), rpy=RNG.normal(size=3), **extra)


def chain(*types):
    """base -type0-> l0 -type1-> l1 ..., with a side branch on l0."""
    b = body(Builder("chain"), "base")
    for i, type in enumerate(types):
        add_joint(b, f"j{i}", type, f"l{i - 1}" if i else "base", f"l{i}")
    return add_joint(b, "side", "revolute", "l0", "branch").frame(
        "tool", f"l{len(types) - 1}", xyz=(0.1, 0.2, 0.3), rpy=(1, 2, 3)
    )


def random_state(model):
    q = []
    for i, _ in model.outward():
        if model.coupling[i] is None:
            n = model.joint[i].nq
            q += model.joint[i].random(RNG, [-3.0] * n, [3.0] * n)
    return q, RNG.normal(size=model.nv).tolist(), RNG.normal(size=model.nv).tolist()


def motion(model, q, v):
    """Pose and twist of every link and frame, by name."""
    X, S = joints(model, q)
    X0, V = from_world(model, X), velocities(model, X, S, v)
    return {name: (f.X @ X0[f.body], f.X @ V[f.body]) for name, f in model.frames.items()}


def flat(x):
    return np.array([float(a) for part in x for row in part for a in (row if isinstance(row, tuple) else (row,))])


def columns(model, name):
    i = model.joint_names.index(name)
    return [model.v_start[i] + k for k in range(model.joint[i].nv)], [model.q_start[i] + k for k in range(model.joint[i].nq)]


def mass(model, q):
    return np.array(crba(model, q), float)


# -- lock ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", ["revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar"])
def test_lock_removes_the_rows_of_the_joint_and_keeps_the_rest(type):
    d = chain("revolute", type, "revolute").description()
    model = assemble(d)
    q, v, a = random_state(model)
    gone_v, gone_q = columns(model, "j1")
    for i in gone_v:
        v[i] = a[i] = 0.0
    held = lock(d, {"j1": [q[i] for i in gone_q]})
    locked = assemble(held)
    keep = [columns(model, name)[0][0] for name in locked.joint_names[1:]]  # all remaining joints have one degree of freedom
    short = [q[columns(model, name)[1][0]] for name in locked.joint_names[1:]]
    assert np.allclose(mass(locked, short), mass(model, q)[np.ix_(keep, keep)], atol=1e-10)
    ours = rnea(locked, short, [v[i] for i in keep], [a[i] for i in keep])
    assert np.allclose(ours, np.array(rnea(model, q, v, a))[keep], atol=1e-9)
    before, after = motion(model, q, v), motion(locked, short, [v[i] for i in keep])
    for name in before:
        assert np.allclose(flat(before[name][0]), flat(after[name][0]), atol=1e-10)
    assert held.report[-1].startswith("locked j1 at")
    assert d.report == (), "the original is as it was"


def test_lock_of_a_leader_locks_its_chain_of_mimic_joints():
    b = add_joint(body(Builder("r"), "base"), "lead", "revolute", "base", "x")
    add_joint(b, "far", "prismatic", "x", "z", mimic=("mid", 0.5, 0.2))  # listed before its leader
    d = add_joint(b, "mid", "revolute", "z", "y", mimic=("lead", -2.0, 0.1)).description()
    model, locked = assemble(d), assemble(lock(d, {"lead": 0.7}))
    assert (model.nv, locked.nv) == (1, 0)
    before, after = motion(model, [0.7], [0.0]), motion(locked, [], [])
    assert all(np.allclose(flat(before[n][0]), flat(after[n][0]), atol=1e-12) for n in before)
    with pytest.raises(ModelError, match=r"joint 'far' is a mimic joint of 'mid'.*lock the leader"):
        lock(d, {"far": 0.0})
    free = assemble(without_couplings(d))
    assert free.nv == 3


def test_lock_refuses_invalid_joints_and_values():
    d = chain("revolute", "spherical", "fixed").description()
    with pytest.raises(UnknownName, match="j0, j1, j2"):
        lock(d, {"elbow": 0.0})
    with pytest.raises(ModelError, match="joint 'j2' is fixed already"):
        lock(d, {"j2": ()})
    with pytest.raises(ModelError, match="joint 'j1': q needs 4 numbers, 1 given"):
        lock(d, {"j1": 0.0})
    with pytest.raises(ModelError, match="joint 'j0': q must be finite"):
        lock(d, {"j0": math.inf})
    with pytest.raises(ModelError, match=r"the quaternion .* is zero"):
        lock(d, {"j1": (0, 0, 0, 0)})


# -- subtree, attach, payload --------------------------------------------------------------------------------


def arm(b, prefix=""):
    return (
        b.link(f"{prefix}upper", 2.0, com=(0.3, 0, 0.1), inertia=(0.1, 0.2, 0.3))
        .link(f"{prefix}lower", 1.0, com=(0.2, 0.1, 0), inertia=(0.02, 0.03, 0.04))
        .joint(f"{prefix}elbow", "revolute", f"{prefix}upper", f"{prefix}lower", xyz=(0.5, 0, 0), axis=(0, 1, 0))
        .frame(f"{prefix}wrist", f"{prefix}lower", xyz=(0.4, 0, 0), rpy=(0, 0.5, 0))
    )


def gripper(b, prefix=""):
    return (
        b.link(f"{prefix}palm", 0.5, com=(0, 0, 0.05), inertia=(0.001, 0.002, 0.003))
        .link(f"{prefix}left", 0.1, com=(0, 0.01, 0.02))
        .link(f"{prefix}right", 0.1, com=(0, -0.01, 0.02))
        .joint(f"{prefix}grip", "prismatic", f"{prefix}palm", f"{prefix}left", xyz=(0, 0, 0.1), axis=(0, 1, 0))
        .joint(
            f"{prefix}grip2", "prismatic", f"{prefix}palm", f"{prefix}right", xyz=(0, 0, 0.1), axis=(0, 1, 0),
            mimic=(f"{prefix}grip", -1.0, 0.0),
        )
        .frame(f"{prefix}grasp", f"{prefix}palm", xyz=(0, 0, 0.12))
    )  # fmt: skip


def test_attach_and_payload_equal_building_in_one_step():
    hand = gripper(Builder("hand")).description()
    parts = attach(arm(Builder("arm")).description(), hand, "wrist", (0, 0, 0.1), (0, 0, 0.3), "g_")
    parts = payload(parts, "g_grasp", 0.7, (0.01, 0, 0.02), (1e-3, 2e-3, 2.5e-3))
    whole = (
        gripper(arm(Builder("whole")), "g_")
        .link("flange")
        .joint("flange", "fixed", "lower", "flange", xyz=(0.4, 0, 0), rpy=(0, 0.5, 0))
        .joint("mount", "fixed", "flange", "g_palm", xyz=(0, 0, 0.1), rpy=(0, 0, 0.3))
        .link("load", 0.7, com=(0.01, 0, 0.02), inertia=(1e-3, 2e-3, 2.5e-3))
        .joint("hold", "fixed", "g_palm", "load", xyz=(0, 0, 0.12))
        .description()
    )
    A, B = assemble(parts), assemble(whole)
    assert A.joint_names == B.joint_names == ("", "elbow", "g_grip", "g_grip2")
    q, v, a = random_state(A)
    assert np.allclose(rnea(A, q, v, a), rnea(B, q, v, a), atol=1e-12)
    assert np.allclose(mass(A, q), mass(B, q), atol=1e-13)
    before, after = motion(A, q, v), motion(B, q, v)
    assert all(np.allclose(flat(before[n][0]), flat(after[n][0]), atol=1e-13) for n in before)
    assert [line.split()[0] for line in parts.report] == ["attached", "added"]


def test_attach_needs_a_prefix_for_duplicate_names():
    d = arm(Builder("arm")).description()
    with pytest.raises(ModelError, match=r"link or frame named 'upper', 'lower', 'wrist'; distinguish.*attach.*prefix"):
        attach(d, d, "wrist")
    with pytest.raises(ModelError, match="both robots have a joint named 'elbow'"):
        attach(d, Builder("r").link("a").link("b").joint("elbow", "revolute", "a", "b").description(), "wrist")
    assert assemble(attach(d, d, "wrist", prefix="second_")).nv == 2
    with pytest.raises(UnknownName, match="lower, upper, wrist"):
        attach(d, d, "hand", prefix="x")


def test_attach_welds_a_floating_base():
    d = attach(arm(Builder("arm")).description(), gripper(Builder("hand")).description(base="floating"), "lower")
    assert d.base == "fixed"
    assert "floating base is welded" in d.report[-1]


def test_subtree_has_the_dynamics_of_the_branch():
    d = attach(arm(Builder("arm")).description(), gripper(Builder("hand")).description(), "wrist", prefix="g_")
    A, B = assemble(subtree(d, "g_palm")), assemble(gripper(Builder("hand"), "g_").description())
    q, v, a = random_state(A)
    assert np.allclose(rnea(A, q, v, a), rnea(B, q, v, a), atol=1e-14)
    assert set(A.frames) == {"world", "g_palm", "g_left", "g_right", "g_grasp"}
    with pytest.raises(UnknownName, match="no link named 'palm'"):
        subtree(d, "palm")


def test_mimic_joint_without_its_leader_becomes_independent_and_is_reported():
    b = Builder("r").link("a").link("b", 1.0).link("c", 1.0).link("d", 1.0)
    b.joint("j", "revolute", "a", "b").joint("k", "revolute", "b", "c").joint("l", "revolute", "c", "d", mimic="j")
    d = subtree(b.description(), "c")
    assert d.joints[0].mimic is None
    assert "no longer coupled, as the joint followed is outside: l" in d.report[-1]


def test_payload_refuses_impossible_inertias():
    d = arm(Builder("arm")).description()
    with pytest.raises(ModelError, match="payload: mass -1 kg is negative"):
        payload(d, "wrist", -1)
    with pytest.raises(UnknownName):
        payload(d, "nowhere", 1)


# -- rebase --------------------------------------------------------------------------------------------------


def rebased_state(old, new, q, v, root):
    """q, v of the rebased floating robot in the same motion: pose and twist of the new root, then the joints by name."""
    X, V = motion(old, q, v)[root]
    R, p = X.pose
    m = np.array([list(row) for row in R])
    w = math.sqrt(max(0.0, 1 + np.trace(m))) / 2
    xyz = np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / (4 * w)
    q2, v2 = [0.0] * new.nq, [0.0] * new.nv
    q2[:7], v2[:6] = [*p, *xyz, w], [*V.w, *V.v]
    for name in new.joint_names[2:]:
        (av, aq), (bv, bq) = columns(old, name), columns(new, name)
        for i, k in zip(aq, bq, strict=True):
            q2[k] = q[i]
        for i, k in zip(av, bv, strict=True):
            v2[k] = v[i]
    return q2, v2


ALL = ["revolute", "continuous", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar", "floating", "fixed"]


@pytest.mark.parametrize("type", ALL)
def test_a_rebased_robot_is_the_same_mechanism(type):
    """Same poses, twists and kinetic energy in the same motion, and the same joint accelerations under the same forces."""
    d = chain("revolute", type, "prismatic").description(base="floating")
    turned = rebase(d, "l2")
    assert turned.root == "l2"
    old, new = assemble(d), assemble(turned)
    q, v, tau = random_state(old)
    q2, v2 = rebased_state(old, new, q, v, "l2")
    before, after = motion(old, q, v), motion(new, q2, v2)
    for name in before:
        assert np.allclose(flat(before[name][0]), flat(after[name][0]), atol=1e-9), name
        assert np.allclose(flat(before[name][1]), flat(after[name][1]), atol=1e-9), name
    energy, energy2 = np.array(v) @ mass(old, q) @ v, np.array(v2) @ mass(new, q2) @ v2
    assert energy2 == pytest.approx(energy, rel=1e-10)
    tau[:6] = [0.0] * 6  # no force acts on either base
    tau2 = [0.0] * new.nv
    for name in new.joint_names[2:]:
        for i, k in zip(columns(old, name)[0], columns(new, name)[0], strict=True):
            tau2[k] = tau[i]
    a, a2 = aba(old, q, v, tau), aba(new, q2, v2, tau2)
    for name in new.joint_names[2:]:
        for i, k in zip(columns(old, name)[0], columns(new, name)[0], strict=True):
            assert a2[k] == pytest.approx(a[i], rel=1e-7, abs=1e-8), name


def test_mass_matrices_of_two_bases_are_related_by_the_change_of_base():
    """v₂ = P v is linear in the base twist and the joint velocities, so M = Pᵀ M₂ P."""
    d = chain("revolute", "helical", "spherical").description(base="floating")
    old, new = assemble(d), assemble(rebase(d, "l1"))
    q, v, _ = random_state(old)
    q2, _ = rebased_state(old, new, q, v, "l1")
    P = np.array([rebased_state(old, new, q, list(e), "l1")[1] for e in np.eye(old.nv)]).T
    assert np.allclose(mass(old, q), P.T @ mass(new, q2) @ P, atol=1e-9)


def test_rebase_and_back_gives_the_same_motion():
    d = chain("revolute", "universal", "helical").description(base="floating")
    old, new = assemble(d), assemble(rebase(rebase(d, "l2"), "base"))
    assert set(old.joint_names) == set(new.joint_names)
    assert any(isinstance(k, Universal) for k in new.joint), "a joint reversed twice is the joint"
    q, v, _ = random_state(old)
    q2, v2 = rebased_state(old, new, q, v, "base")
    before, after = motion(old, q, v), motion(new, q2, v2)
    assert all(np.allclose(flat(before[n][1]), flat(after[n][1]), atol=1e-9) for n in before)


def test_rebase_keeps_limits_drives_and_couplings():
    d = rebase(robots.description("panda"), "panda_leftfinger")
    old = {j.name: j for j in robots.description("panda").joints}
    for j in d.joints:
        if j.name in old and j.kind.nv:
            same = old[j.name]
            assert (j.lower, j.upper, j.effort_limit, j.damping, j.mimic) == (
                same.lower, same.upper, same.effort_limit, same.damping, same.mimic,
            )  # fmt: skip
    assert assemble(d).nv == 8
    assert d.report[-1].startswith("moved the base from 'panda_link0' to 'panda_leftfinger', reversing panda_finger_joint1")


def test_rebase_to_the_root_changes_nothing_and_unknown_links_are_errors():
    d = arm(Builder("arm")).description()
    assert rebase(d, "upper") is d
    with pytest.raises(UnknownName, match="lower, upper"):
        rebase(d, "wrist")


def test_rebase_gives_inserted_links_unused_names():
    b = Builder("r").link("a").link("b", 1.0).link("j_axis", 1.0).joint("j", "revolute", "a", "b", xyz=(1, 0, 0))
    d = rebase(b.joint("k", "fixed", "a", "j_axis").description(), "b")
    assert "j_axis_" in [link.name for link in d.links]


# -- base, gravity -------------------------------------------------------------------------------------------


def test_with_base_and_with_gravity_change_the_description_or_refuse():
    d = arm(Builder("arm")).description()
    assert with_base(d, "fixed") is d
    free = with_base(d, "floating")
    assert (free.base, free.report[-1]) == ("floating", "base: fixed → floating")
    assert assemble(free).nv == 7
    moon = with_gravity(d, (0, 0, -1.62))
    assert moon.gravity == Vec(0, 0, -1.62)
    q = [0.4]
    g, g_moon = rnea(assemble(d), q, [0.0], [0.0]), rnea(assemble(moon), q, [0.0], [0.0])
    assert g_moon[0] == pytest.approx(g[0] * 1.62 / 9.81, rel=1e-13)
    with pytest.raises(ModelError, match="base must be"):
        with_base(d, "loose")
    with pytest.raises(ModelError, match="gravity must be 3 numbers"):
        with_gravity(d, 9.81)
    clash = Builder("r").link("a").link("b", 1).joint("floating_base", "revolute", "a", "b").description()
    with pytest.raises(ModelError, match="'floating_base' already"):
        with_base(clash, "floating")


def test_without_couplings_frees_mimic_joints_only():
    d = gripper(Builder("hand")).description()
    assert without_couplings(d).report[-1] == "no longer coupled: grip2"
    assert assemble(without_couplings(d)).nv == 2
    plain = arm(Builder("arm")).description()
    assert without_couplings(plain) is plain
