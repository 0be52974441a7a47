"""Constrained dynamics: comparison of the methods with each other, closed forms and other formulations.

Random mechanisms are closed by construction (tests/constraints/mechanisms.py); their kernels are compiled.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import torsor as ts
from tests.constraints.mechanisms import closed_mechanism, four_bar, rows
from tests.machine_code import without_machine_code
from tests.tolerance import assert_close
from torsor import constraints as C
from torsor.model.friction import Coulomb, LuGre

METHODS = ("auto", "direct", "multipliers", "null_space")
G = 9.81


def state(system, q, seed=0):
    """(v, τ) with v consistent with the constraints."""
    rng = np.random.default_rng(seed)
    return system.project_velocity(q, rng.normal(size=system.robot.nv)), rng.normal(size=system.robot.nv)


def residuals(system, q, v, tau, motion, wrench_force=0.0):
    """M a + h − τ − Aᵀλ and A a + Ȧv, from the robot and from the source of the rows."""
    robot, r = system.robot, rows(system.robot, system.constraints, q, v)
    force = robot.mass_matrix(q) @ motion.a + robot.bias_force(q, v) - tau - r.A.T @ motion.multipliers - wrench_force
    return force, r.A @ motion.a + r.drift


# -- random mechanisms ---------------------------------------------------------------------------------------------------

#: (seed, the joints that close loops): small ones in the short suite; any rank and base in the long suite
MECHANISMS = [(24, ("helical",))]
MORE = [
    (145, ("spherical", "universal")),
    (1, ("revolute",)),
    (20, ("spherical", "universal")),
    (5, ("planar", "prismatic")),
    (7, ("helical",)),
]
MORE += [
    (s, k) for s in range(40, 46) for k in (("fixed",), ("cylindrical", "revolute"), ("continuous", "spherical", "planar"))
]


def check_mechanism(seed, kinds, redundant, bodies=5):
    robot, q, loops = closed_mechanism(seed, kinds, bodies=bodies)
    if redundant:
        loops = [*loops, *(type(x)(x.name + " again", *list(x.__dict__.values())[1:]) for x in loops)]
    system = robot.constrained(*loops)
    v, tau = state(system, q, seed)
    assert_close(system.slip(q, v), np.zeros(len(system.rows)), 1e-10, floor=1)
    motions = {m: system.forward_dynamics(q, v, tau, method=m) for m in METHODS}
    A = system.jacobian(q)
    for m, motion in motions.items():
        force, acceleration = residuals(system, q, v, tau, motion)
        size = max(1.0, np.abs(motion.multipliers).max(), np.abs(motion.a).max())
        assert max(np.abs(force).max(), np.abs(acceleration).max()) <= 1e-9 * size, m
        assert_close(motion.a, motions["null_space"].a, 1e-9, floor=1)
        forces = A.T @ motions["null_space"].multipliers  # unique even if λ is not
        assert_close(A.T @ motion.multipliers, forces, 1e-9, floor=1)
        power = (A.T @ motion.multipliers) @ v
        assert abs(power) <= 1e-9 * size * max(1.0, np.abs(v).max()), "constraint forces do no work"
    length = np.sqrt(np.einsum("ki,ij,kj->k", A, robot.mass_matrix_inverse(q), A))  # of each row, in the metric M⁻¹
    shortest = [np.linalg.norm(length * motions[m].multipliers) for m in ("null_space", "auto")]
    if redundant:
        twice = len(loops) // 2
        k = sum(x.size for x in loops[:twice])
        lam = motions["null_space"].multipliers
        assert_close(lam[:k], lam[k:], 1e-9, floor=1)  # two equal loops share the load
        assert shortest[0] <= shortest[1] * (1 + 1e-9)
    return system, q, v, tau, motions


@pytest.mark.parametrize(("seed", "kinds"), MECHANISMS, ids=str)
def test_constrained_dynamics_methods_agree(seed, kinds):
    check_mechanism(seed, kinds, redundant=False, bodies=2 + len(kinds))


def test_constrained_dynamics_methods_agree_on_redundant_loops():
    system, q, *_ = check_mechanism(145, ("spherical", "universal"), redundant=True, bodies=4)
    mobility = system.mobility(q)
    assert mobility.redundancy == 7
    assert len(mobility.redundant) == 7
    assert mobility.rank == 7
    assert mobility.freedom == mobility.generic_freedom == system.robot.nv - 7
    assert not mobility.singular


@pytest.mark.night
@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize(("seed", "kinds"), MORE, ids=str)
@without_machine_code
def test_constrained_dynamics_methods_agree_on_random_mechanisms(seed, kinds, redundant):
    check_mechanism(seed, kinds, redundant)


@pytest.fixture(scope="module")
def mechanism():
    """A tree with a mimic joint and two loops, and a state."""
    robot, q, loops = closed_mechanism(145, ("spherical", "universal"), bodies=4)
    system = robot.constrained(*loops)
    return (system, q, *state(system, q))


def test_constrained_dynamics_of_a_batch_equals_single_calls(mechanism):
    system, q, v, tau = mechanism
    rng = np.random.default_rng(0)
    V, T = v + rng.normal(size=(2, 3, v.size)), rng.normal(size=(3, v.size))
    for m in METHODS:
        batch = system.forward_dynamics(q, V, T, method=m)
        assert batch.a.shape == V.shape
        assert batch.multipliers.shape == (2, 3, 7)
        for i in np.ndindex(2, 3):
            one = system.forward_dynamics(q, V[i], T[i[1]], method=m)
            if m == "null_space":  # uses LAPACK: equal up to rounding
                assert_close(batch.a[i], one.a, 1e-11, floor=1)
            else:
                assert (batch.a[i] == one.a).all()
                assert (batch.multipliers[i] == one.multipliers).all()
    impact = system.impact(q, V, 0.3)
    assert all((impact.v[i] == system.impact(q, V[i], 0.3).v).all() for i in np.ndindex(2, 3))


def test_wrenches_enter_as_joint_forces(mechanism):
    system, q, v, tau = mechanism
    F = np.array([0.3, -0.2, 1.0, 2.0, 0.5, -1.5])
    ours = system.forward_dynamics(q, v, tau, {"frame3": F})
    assert_close(ours.a, system.forward_dynamics(q, v, tau + system.robot.jacobian(q, "frame3", "body").T @ F).a, 1e-9, floor=1)


def test_stabilization_gains_add_the_terms_of_baumgarte(mechanism):
    """A a + Ȧv = −2α(A v − b) − β²φ."""
    system, q, v, tau = mechanism
    q, v = system.robot.integrate(q, 1e-3 * tau), v + 0.1
    for m in METHODS:
        motion = system.forward_dynamics(q, v, tau, stabilization=(3.0, 5.0), method=m)
        left = system.jacobian(q) @ motion.a + system.drift(q, v)
        assert_close(left, -6 * system.slip(q, v) - 25 * system.residual(q), 1e-9, floor=1)


def test_impact_balances_momentum(mechanism):
    """M (v⁺ − v⁻) = Aᵀι and A v⁺ = −e A v⁻; energy never grows, e = 1 keeps it, e = 0 is the projection."""
    system, q, _, _ = mechanism
    robot = system.robot
    v, A, M = np.random.default_rng(4).normal(size=robot.nv), system.jacobian(q), system.robot.mass_matrix(q)
    before = robot.kinetic_energy(q, v)
    energies = []
    for e in (0.0, 0.5, 1.0):
        for m in METHODS:
            after = system.impact(q, v, e, method=m)
            assert_close(M @ (after.v - v), A.T @ after.impulses, 1e-9, floor=1)
            assert_close(A @ after.v, -e * A @ v, 1e-9, floor=1)
        energies.append(robot.kinetic_energy(q, after.v))
    assert energies[0] < energies[1] < energies[2] <= before * (1 + 1e-12)
    assert math.isclose(energies[2], before, rel_tol=1e-10)
    lost = system.impact(q, v, 0.0).v - v
    assert math.isclose(energies[0], before - lost @ M @ lost / 2, rel_tol=1e-10, abs_tol=1e-12 * before)  # Carnot
    assert_close(system.project_velocity(q, v), system.acceleration_projector(q) @ v, 1e-9, floor=1)


def test_constrained_inverse_dynamics_round_trip(mechanism):
    system, q, v, tau = mechanism
    a, lam = system.forward_dynamics(q, v, tau)
    assert_close(system.inverse_dynamics(q, v, a, multipliers=lam), tau, 1e-9, floor=1)
    every = [j for j in system.robot.joints if system.robot.joint(j).mimic is None]
    shortest = system.inverse_dynamics(q, v, a, actuated=every)
    assert_close(system.forward_dynamics(q, v, shortest).a, a, 1e-9, floor=1)
    assert np.linalg.norm(shortest) <= np.linalg.norm(tau) * (1 + 1e-9)


# -- planar loops, singular states ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bar():
    robot = four_bar()
    system = robot.constrained()
    return robot, system, robot.assemble([1.0, -0.5, 2.0])


def test_four_bar_dynamics_agree_with_lagrange(bar):
    """One coordinate: m(θ) θ̈ + ½ m′ θ̇² + P′ = τ_A, with m and P of the closed mechanism by differences."""
    robot, system, q = bar
    v = system.project_velocity(q, [1.0, 0, 0])
    v = v / v[0]
    tau = np.array([0.7, 0, 0])

    def along(s):  # closed mechanism at crank angle + s, its velocity at unit crank speed
        x = system.assemble(q + s * v, fixed=["A"])
        x[0] = q[0] + s
        x = system.assemble(x, fixed=["A"])
        u = system.project_velocity(x, v)
        return 2 * robot.kinetic_energy(x, u / u[0]), robot.potential_energy(x)

    h = 1e-4
    (m1, P1), (m0, _), (m2, P2) = along(h), along(0.0), along(-h)
    dm, dP = (m1 - m2) / (2 * h), (P1 - P2) / (2 * h)
    speed = 1.3
    motion = system.forward_dynamics(q, speed * v, tau)
    assert math.isclose(motion.a[0], (0.7 - dm * speed**2 / 2 - dP) / m0, rel_tol=1e-6)
    assert np.allclose(robot.forward_dynamics(q, speed * v, tau), motion.a, rtol=1e-12)


def test_four_bar_mobility_has_one_degree_of_freedom_and_three_redundant_rows(bar):
    robot, system, q = bar
    m = system.mobility(q)
    assert (m.freedom, m.rank, m.rows, m.redundancy, m.count, m.singular) == (1, 2, 5, 3, -2, False)
    assert set(m.redundant) == {"C: wx", "C: wy", "C: vz"}
    assert m.motions.shape == (1, 3)
    assert np.abs(system.jacobian(q) @ m.motions[0]).max() < 1e-12
    assert math.isclose(m.motions[0] @ robot.mass_matrix(q) @ m.motions[0], 1.0, rel_tol=1e-12)
    assert "1 degree of freedom" in str(m)
    assert "overconstrained by 3" in str(m)


@pytest.fixture(scope="module")
def parallelogram():
    """Equal opposite sides: if all bars lie on one line, the two closure rows are dependent."""
    robot = four_bar(1.0, 2.0, 1.0, 2.0)
    return robot, robot.constrained()


def test_singular_state_in_a_batch_is_named_and_regular_states_keep_their_bits(parallelogram):
    _, system = parallelogram
    usual = system.assemble([1.0, -1.0, 1.0])
    assert_close(usual, [1.0, -1.0, 1.0], 1e-9, floor=1)
    flat = np.zeros(3)
    assert system.mobility(flat).singular
    assert system.mobility(flat).freedom == 2
    assert not system.mobility(usual).singular
    v = np.array([[1.0, -1.0, 1.0], [0, 0, 0], [1.0, -1.0, 1.0]])
    beside = np.array([1e-6, -1e-6, 1e-6])
    q, tau = np.array([usual, beside, flat]), np.array([0.3, 0, 0])
    for method in METHODS:
        with pytest.raises(ts.SingularError, match=r"state \[2\] of the batch: singular configuration"):
            system.forward_dynamics(q[[0, 0, 2]], v, tau, method=method)
    motion = system.forward_dynamics(q[:2], v[:2], tau)
    one = system.forward_dynamics(usual, v[0], tau)
    assert (motion.a[0] == one.a).all()
    assert (motion.multipliers[0] == one.multipliers).all()


def test_rounding_does_not_hide_a_singular_state():
    """Rows that become dependent at a stretched arm: doubt ≥ 1, whatever the sign of the rounding error."""
    arm = ts.robots.ur5().with_gravity((0, 0, 0))
    system = arm.constrained(C.fixed_pose("tool0"))
    rng = np.random.default_rng(1)
    q = rng.uniform(-3, 3, size=(400, 6))
    q[:200, 4] = 0  # the wrist singularity
    q[200:, 2] = 0  # the elbow singularity
    for m in ("auto", "direct"):
        x, _, doubt = system.kernel(m)(q, np.zeros(6), rng.normal(size=(400, 6)))
        assert (~(doubt < 1)).all()
    for k in (0, 1, 200, 201):
        with pytest.raises(ts.SingularError, match="5 of 6 constraint rows are independent here and 6 nearby"):
            system.forward_dynamics(q[k], np.zeros(6), rng.normal(size=6))
        assert not system.forward_dynamics(
            q[k], np.zeros(6), np.zeros(6)
        ).a.any()  # no acceleration at rest without forces, singular or not


def test_another_spanning_tree_gives_the_same_accelerations(bar):
    """Cut at each joint in turn: accelerations by joint, and a drive at C as a loop joint or as a tree joint."""
    robot, system, q = bar
    v = system.project_velocity(q, [1.2, 0, 0])
    drive = 0.9
    expected = dict(zip(robot.joints, system.forward_dynamics(q, v, [0.4, 0, 0], loop_forces={"C": [drive]}).a, strict=True))
    (loop,) = system.constraints
    for cut in ("A", "B", "D"):
        other = robot.with_spanning_tree([cut])
        there = other.constrained()
        assert other.loops == (cut,)
        q2, v2, sign = carried_over(robot, q, v, other)
        assert_close(there.residual(q2), np.zeros(5), floor=1)
        assert_close(there.slip(q2, v2), np.zeros(5), floor=1)
        tau = np.zeros(3)
        tau[other.joint("C").v_slice] = sign["C"] * drive
        loops = {}
        if cut == "A":
            loops = {"loop_forces": {"A": [0.4]}}
        else:
            tau[other.joint("A").v_slice] = 0.4 * sign["A"]
        a = there.forward_dynamics(q2, v2, tau, **loops).a
        for name in set(expected) & set(other.joints):
            assert math.isclose(sign[name] * a[other.joint(name).v_slice][0], expected[name], rel_tol=1e-9, abs_tol=1e-9)


def carried_over(robot, q, v, other):
    """q, v of another spanning tree of a planar mechanism, from the angles of the links; −1 for reversed joints."""
    turn = {link: math.atan2(robot.pose(q, link)[1, 0], robot.pose(q, link)[0, 0]) for link in robot.links}
    spin = {link: robot.twist(q, v, link)[2] for link in robot.links}
    q2, v2, sign = np.zeros(3), np.zeros(3), {}
    described = {**{j.name: (j.parent, j.child) for j in robot.description.joints}, "C": ("coupler", "rocker")}
    zero = {link: other.pose(np.zeros(3), link) for link in other.links if link in turn}
    home = {link: math.atan2(T[1, 0], T[0, 0]) for link, T in zero.items()}
    for j in other.description.joints:
        if j.name not in other.joints:
            continue
        old, new = described[j.name], tuple(x if x in turn else _welded_neighbour(other, x, turn) for x in (j.parent, j.child))
        sign[j.name] = 1.0 if set(old) == set(new) and old == new else -1.0
        at = other.joint(j.name).v_slice
        q2[at] = (turn[new[1]] - turn[new[0]]) - (home[new[1]] - home[new[0]])
        v2[at] = spin[new[1]] - spin[new[0]]
    axis = {j.name: 1.0 for j in other.description.joints}
    for name in other.joints:  # the axis of a reversed joint may have the opposite sign
        J = other.jacobian(np.zeros(3), _child(other, name))[2, other.joint(name).v_slice][0]
        axis[name] = J
        q2[other.joint(name).v_slice] *= J
        v2[other.joint(name).v_slice] *= J
        sign[name] *= J
    return q2, v2, sign


def _child(robot, joint):
    return next(j.child for j in robot.description.joints if j.name == joint)


def _welded_neighbour(robot, link, known):
    """The link that an auxiliary link is welded to."""
    for j in robot.description.joints:
        if j.name not in robot.joints and link in (j.parent, j.child):
            other = j.child if j.parent == link else j.parent
            if other in known:
                return other
    raise AssertionError(link)


def test_inverse_dynamics_with_actuated_joints_gives_the_smallest_drives(bar):
    """inverse_dynamics(actuated=...): passive joints have no force, the motion is the given one, power balances."""
    robot, system, q = bar
    v = system.project_velocity(q, [1.2, 0, 0])
    a = system.forward_dynamics(q, v, [0.4, 0, 0]).a
    by_crank = system.inverse_dynamics(q, v, a, actuated=["A"])
    assert_close(by_crank, [0.4, 0, 0], 1e-9, floor=1)
    by_rocker = system.inverse_dynamics(q, v, a, actuated=["D"])
    assert by_rocker[0] == by_rocker[1] == 0
    assert math.isclose(by_rocker @ v, by_crank @ v, rel_tol=1e-9)  # any drives of one motion need the same power
    both = system.inverse_dynamics(q, v, a, actuated=["A", "D"])
    assert np.linalg.norm(both) < min(np.linalg.norm(by_crank), np.linalg.norm(by_rocker))
    assert_close(system.forward_dynamics(q, v, both).a, a, 1e-9, floor=1)
    batch = system.inverse_dynamics(np.array([q, q]), np.array([v, v]), np.array([a, a]), actuated=["A", "D"])
    assert_close(batch, np.array([both, both]), 1e-9, floor=1)


def test_forward_dynamics_under_constraints_reads_first_order_states():
    """Bristles of LuGre friction, bent by hand: forward ∘ inverse = a, and another x is another motion."""
    robot = ts.mechanisms.four_bar().with_friction({"crank": LuGre(Coulomb(0.6), 50.0)})
    q = robot.assemble([1.0, 0, 0], fixed=["crank"])
    v = robot.constrained().project_velocity(q, [1.0, 0, 0])
    tau, x = np.array([0.3, 0.1, -0.2]), np.array([0.02])
    a = robot.forward_dynamics(q, v, tau, x=x)
    assert np.abs(a - robot.forward_dynamics(q, v, tau)).max() > 0.1
    again = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a, x=x), x=x)
    assert again == pytest.approx(a, abs=1e-11)
