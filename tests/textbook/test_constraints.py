"""MR §8.7 and F&O §3.4: every number of MR Example 8.5, every equation as an identity on a random mechanism."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from tests.constraints.mechanisms import closed_mechanism
from tests.tolerance import assert_close
from torsor import constraints as C
from torsor.algorithms import pose

METHODS = ("auto", "direct", "multipliers", "null_space")
Q, V = np.array([-np.pi / 3, 2 * np.pi / 3]), np.array([1.0, 0.0])
PRINTED = 6e-4  # the book prints three decimals
R3 = np.sqrt(3)


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link().with_gravity((0, 0, 0))


@pytest.fixture(scope="module")
def channel(arm):
    """MR Example 8.5: the tip in a frictionless channel at x = 1."""
    return arm.constrained(C.point_on_plane("tip", normal=(1, 0, 0), through=(1, 0, 0)))


class TestExample85:
    """The printed values with three decimals, and the closed forms that they round."""

    def test_example_8_5_state_satisfies_the_constraint(self, arm, channel):
        assert np.allclose(arm.pose(Q, "tip")[:2, 3], [1, 0], atol=1e-15)
        assert np.allclose(arm.twist(Q, V, "tip")[3:5], [0, 1], atol=1e-15)
        assert np.abs(channel.residual(Q)).max() < 1e-15
        assert np.abs(channel.slip(Q, V)).max() < 1e-15

    def test_example_8_5_mass_matrix_and_bias_force(self, arm):
        assert np.allclose(arm.mass_matrix(Q), [[2, 0.5], [0.5, 1]], atol=1e-14)
        h = arm.bias_force(Q, V)
        assert np.allclose(h, [0, 0.866], atol=PRINTED)
        assert np.allclose(h, [0, R3 / 2], atol=1e-14)

    def test_example_8_5_constraint_jacobian_and_its_rate(self, channel):
        A, rate = channel.jacobian(Q), channel.jacobian_rate(Q, V)
        assert A.shape == rate.shape == (1, 2)
        assert np.allclose(A, [[0, -0.866]], atol=PRINTED)
        assert np.allclose(A, [[0, -R3 / 2]], atol=1e-14)
        assert np.allclose(rate, [[-1, -0.5]], atol=1e-14)
        assert np.allclose(channel.drift(Q, V), rate @ V, atol=1e-14)

    def test_example_8_5_closed_forms_hold_at_any_state(self, channel):
        q, v = np.random.default_rng(0).normal(size=(2, 20, 2))
        (s1, c1), (s12, c12) = ((np.sin(x), np.cos(x)) for x in (q[:, 0], q.sum(axis=1)))
        both = v.sum(axis=1)
        assert np.allclose(channel.residual(q)[:, 0], c1 + c12 - 1, atol=1e-14)
        assert np.allclose(channel.jacobian(q)[:, 0], np.stack([-s1 - s12, -s12], -1), atol=1e-14)
        assert np.allclose(
            channel.jacobian_rate(q, v)[:, 0], np.stack([-v[:, 0] * c1 - both * c12, -both * c12], -1), atol=1e-13
        )

    @pytest.mark.parametrize("method", METHODS)
    def test_example_8_5_forward_dynamics(self, channel, method):
        """λ = 0.289 τ₁ − 1.155 τ₂ − 0.167 (MR's sign: torsor's is the opposite), θ̈ = (0.5 τ₁ + 0.289, −1.155)."""
        for t1, t2 in [(0, 0), (1, 0), (0, 1), (-2, 3)]:
            a, multipliers = channel.forward_dynamics(Q, V, [t1, t2], method=method)
            lam = -multipliers[0]  # MR 8.93: force of the robot on the world
            assert np.isclose(lam, 0.289 * t1 - 1.155 * t2 - 0.167, atol=5 * PRINTED)
            assert np.isclose(lam, t1 / (2 * R3) - 2 / R3 * t2 - 1 / 6, atol=1e-13)
            assert np.allclose(a, [0.5 * t1 + 0.289, -1.155], atol=PRINTED)
            assert np.allclose(a, [t1 / 2 + 1 / (2 * R3), -2 / R3], atol=1e-13)

    def test_example_8_5_torques_without_effect_on_force_or_on_motion(self, channel):
        rest = channel.forward_dynamics(Q, V, [0, 0])
        tangent = channel.forward_dynamics(Q, V, [4.0, 1.0])  # 0.289 τ₁ − 1.155 τ₂ = 0
        against = channel.forward_dynamics(Q, V, [0.0, 7.0])  # τ₁ = 0
        assert np.allclose(tangent.multipliers, rest.multipliers, atol=1e-13)
        assert abs(tangent.a - rest.a).max() > 1
        assert np.allclose(against.a, rest.a, atol=1e-13)
        assert abs(against.multipliers - rest.multipliers).max() > 1

    def test_example_8_5_force_at_the_tip(self, arm, channel):
        """f_tip = J⁻ᵀAᵀλ = (λ, 0) with J⁻ᵀ = [[0.577, −1.155], [1, 0]]."""
        J = arm.jacobian(Q, "tip")[3:5]
        assert np.allclose(np.linalg.inv(J).T, [[0.577, -1.155], [1, 0]], atol=PRINTED)
        _, multipliers = channel.forward_dynamics(Q, V, [0, 0])
        on_robot = channel.wrench(Q, multipliers, "tip", rows="linear")
        assert np.allclose(-on_robot, [-0.167, 0, 0], atol=PRINTED)
        assert np.allclose(on_robot, [1 / 6, 0, 0], atol=1e-13)
        whole = channel.wrench(Q, multipliers, "tip")  # a channel without friction has no moment and no force along it
        assert np.allclose(whole, [0, 0, 0, 1 / 6, 0, 0], atol=1e-13)

    def test_example_8_5_multipliers_of_a_force(self, channel):
        """λ = (J⁻ᵀAᵀ)† (f, 0) = f."""
        assert np.allclose(channel.multipliers_of(Q, [2.5, 0, 0], "tip", rows="linear"), [2.5], atol=1e-13)
        lam = channel.multipliers_of(Q, [0, 0, 0, 2.5, 0, 0], "tip")
        assert np.allclose(lam, [2.5], atol=1e-13)

    def test_example_8_5_force_outside_the_column_space(self, arm, channel):
        """MR §8.7: F has to lie in the column space of J⁻ᵀAᵀ; the formula gives λ = 3 for F = (3, 1) all the same."""
        A, J = channel.jacobian(Q), arm.jacobian(Q, "tip")[3:5]
        book = np.linalg.pinv(np.linalg.inv(J).T @ A.T) @ [3, 1]
        assert np.allclose(book, [3], atol=1e-13)
        with pytest.raises(ts.errors.ArgumentError, match=r"cannot apply this wrench at 'tip': .* 0\. 1\. 0\.. of it"):
            channel.multipliers_of(Q, [3, 1, 0], "tip", rows="linear")
        lam = channel.multipliers_of(Q, [3, 1, 0], "tip", rows="linear", nearest=True)
        assert np.allclose(lam, book, atol=1e-13)
        assert np.allclose(channel.wrench(Q, lam, "tip", rows="linear"), [3, 0, 0], atol=1e-13)

    def test_example_8_5_inverse_dynamics(self, channel):
        """τ₁ = 2a − 0.578, τ₂ = 0.5a − 0.866 f − 0.289 for θ̈ = (a, −1.155) and a force f against the channel."""
        for a, f in [(0, 0), (1, 0), (0, 1), (-2, 3)]:
            tau = channel.inverse_dynamics(Q, V, [a, -2 / R3], multipliers=[-f])
            assert np.allclose(tau, [2 * a - 0.578, 0.5 * a - 0.866 * f - 0.289], atol=5 * PRINTED)
            assert np.allclose(tau, [2 * a - 1 / R3, a / 2 - R3 / 2 * f - 2 / R3 + R3 / 2], atol=1e-13)
            back = channel.forward_dynamics(Q, V, tau)
            assert np.allclose(back.a, [a, -2 / R3], atol=1e-12)
            assert np.allclose(back.multipliers, [-f], atol=1e-12)

    def test_example_8_5_projectors(self, channel):
        P = channel.projector(Q)
        assert np.allclose(P, [[1, 0], [0.25, 0]], atol=1e-14)
        assert np.allclose(np.eye(2) - P, [[0, 0], [-0.25, 1]], atol=1e-14)
        assert np.allclose(channel.acceleration_projector(Q), P.T, atol=1e-14)


PEN, FORCE = np.array([0.3, -1.2, 1.4, -0.9, -1.1, 0.4]), np.array([1.0, 2.0, 5.0])


@pytest.fixture(scope="module")
def ur5():
    return ts.robots.ur5()


@pytest.fixture(scope="module", params=["between frames", "by a function"])
def pen(request, ur5):
    height = ur5.pose(PEN, "tool0")[2, 3]
    if request.param == "between frames":
        return ur5.constrained(C.point_on_plane("tool0", (0, 0, 1), through=(0, 0, height)))
    return ur5.constrained(C.holonomic(lambda q: pose(ur5.model, q, "tool0")[2][3] - height))


class TestPenOfUR5:
    """MR §8.7: a pen on paper.  J is square, so the book's J⁻ᵀAᵀ is computed as printed."""

    def test_pen_multipliers_and_wrench_are_those_of_the_book(self, ur5, pen):
        G = np.linalg.inv(ur5.jacobian(PEN, "tool0")).T @ pen.jacobian(PEN).T  # J⁻ᵀAᵀ
        F = np.concatenate([np.zeros(3), FORCE])
        for given, rows in ((F, "all"), (FORCE, "linear")):
            lam = pen.multipliers_of(PEN, given, "tool0", rows, nearest=True)
            assert np.allclose(lam, np.linalg.pinv(G) @ F, atol=1e-12)
            assert np.allclose(lam, [5], atol=1e-12)
        assert np.allclose(pen.wrench(PEN, [5.0], "tool0"), 5 * G[:, 0], atol=1e-12)
        assert np.allclose(pen.multipliers_of(PEN, [0, 0, 5], "tool0", "linear"), [5], atol=1e-12)
        with pytest.raises(ts.errors.ArgumentError, match="nearest=True"):
            pen.multipliers_of(PEN, FORCE, "tool0", "linear")

    def test_pen_wrenches_of_a_batch(self, pen):
        lam = pen.multipliers_of([PEN, PEN], [[0, 0, 5], [0, 0, -2]], "tool0", "linear")
        assert np.allclose(lam, [[5], [-2]], atol=1e-12)
        assert np.allclose(pen.wrench(PEN, lam, "tool0", "linear"), [[0, 0, 5], [0, 0, -2]], atol=1e-12)


class Case:
    """A random mechanism with independent rows, at a state that satisfies its constraints; in MR's notation."""

    def __init__(self, seed: int, kinds, bodies: int):
        self.robot, self.q, loops = closed_mechanism(seed, kinds, bodies=bodies)
        self.system = self.robot.constrained(*loops)
        rng = np.random.default_rng(seed)
        self.v = self.system.project_velocity(self.q, rng.normal(size=self.robot.nv))
        self.tau = rng.normal(size=self.robot.nv)
        self.M, self.h = self.robot.mass_matrix(self.q), self.robot.bias_force(self.q, self.v)
        self.A, self.Adot = self.system.jacobian(self.q), self.system.jacobian_rate(self.q, self.v)
        self.a, self.F_and_O = self.system.forward_dynamics(self.q, self.v, self.tau)
        self.lam = -self.F_and_O  # in MR's sign
        self.W = np.linalg.inv(self.M)
        self.G = self.A @ self.W @ self.A.T
        kappa = np.linalg.cond(self.G) + np.linalg.cond(self.M)
        self.tolerance = max(1e-11, 1e3 * np.finfo(float).eps * kappa)  # these identities invert both

    def same(self, x, y):
        scale = max(1.0, np.abs(self.a).max(), np.abs(self.lam).max(), np.abs(self.h).max()) * max(1.0, np.abs(self.M).max())
        assert_close(x, y, self.tolerance, scale=scale)


CASES = [(96, ("spherical", "universal"), 4), pytest.param((94, ("revolute",), 3), marks=pytest.mark.night)]


@pytest.fixture(scope="module", params=CASES, ids=["two loops", "one loop"])
def c(request):
    case = Case(*request.param)
    assert np.linalg.matrix_rank(case.A) == len(case.A)
    return case


class TestModernRobotics:
    def test_8_92_and_8_94_velocity_satisfies_the_constraints(self, c):
        c.same(c.A @ c.v, np.zeros(len(c.A)))

    def test_constraint_forces_do_no_work(self, c):
        c.same((c.A.T @ c.lam) @ c.v, 0.0)

    def test_8_93_equation_of_motion(self, c):
        c.same(c.M @ c.a + c.h + c.A.T @ c.lam, c.tau)
        c.same(c.system.inverse_dynamics(c.q, c.v, c.a, multipliers=-c.lam), c.tau)

    def test_8_95_rate_of_the_constraints(self, c):
        c.same(c.Adot @ c.v + c.A @ c.a, np.zeros(len(c.A)))

    def test_8_96_accelerations_from_multipliers(self, c):
        c.same(c.a, c.W @ (c.tau - c.h - c.A.T @ c.lam))

    def test_8_97_acceleration_inserted_into_the_constraint_rate(self, c):
        c.same(c.Adot @ c.v + c.A @ c.W @ (c.tau - c.h - c.A.T @ c.lam), np.zeros(len(c.A)))

    def test_8_98_multipliers(self, c):
        c.same(np.linalg.solve(c.G, c.A @ c.W @ (c.tau - c.h) + c.Adot @ c.v), c.lam)

    def test_8_99_projected_dynamics(self, c):
        P = c.system.projector(c.q)
        c.same(P @ c.tau, P @ (c.M @ c.a + c.h))

    def test_8_100_projector(self, c):
        P, n = c.system.projector(c.q), len(c.a)
        c.same(P, np.eye(n) - c.A.T @ np.linalg.solve(c.G, c.A @ c.W))
        c.same(P @ P, P)
        assert np.linalg.matrix_rank(P, tol=1e-8) == n - len(c.A)

    def test_8_101_projected_accelerations(self, c):
        P = c.system.acceleration_projector(c.q)
        c.same(P @ c.a, P @ c.W @ (c.tau - c.h))

    def test_8_102_acceleration_projector(self, c):
        P, Pa, n = c.system.projector(c.q), c.system.acceleration_projector(c.q), len(c.a)
        c.same(Pa, c.W @ P @ c.M)
        c.same(Pa, np.eye(n) - c.W @ c.A.T @ np.linalg.solve(c.G, c.A))
        c.same(Pa, P.T)

    def test_mr_exercise_8_10_gives_8_101_from_8_99(self, c):
        """8.99 times M⁻¹ is M⁻¹P M θ̈ = M⁻¹P (τ − h), and M⁻¹P = (M⁻¹P M) M⁻¹ = P_θ̈ M⁻¹: P is not inverted."""
        P, Pa = c.system.projector(c.q), c.system.acceleration_projector(c.q)
        left, right = c.W @ P @ c.M @ c.a, c.W @ P @ (c.tau - c.h)  # M⁻¹ · (8.99)
        c.same(left, right)
        c.same(left, Pa @ c.a)  # left side of 8.101
        c.same(c.W @ P, Pa @ c.W)  # the step that needs no inverse of P
        c.same(right, Pa @ c.W @ (c.tau - c.h))  # right side of 8.101

    def test_wrench_of_multipliers_at_a_frame_gives_the_constraint_force(self, c):
        """JᵀF_tip = Aᵀλ where the constraint acts at one frame against the world."""
        held = c.robot.constrained(C.point_at("frame2", c.robot.pose(c.q, "frame2")[:3, 3]))
        lam = np.array([1.0, -2.0, 0.5])
        F = held.wrench(c.q, lam, "frame2")
        assert np.allclose(c.robot.jacobian(c.q, "frame2").T @ F, held.jacobian(c.q).T @ lam, atol=1e-9)
        assert np.allclose(held.wrench(c.q, lam, "frame2", rows="linear"), lam, atol=1e-8)  # λ is the force itself
        assert np.allclose(held.multipliers_of(c.q, [0, 0, 0, *lam], "frame2"), lam, atol=1e-8)


class TestFeatherstoneAndOrin:
    def test_15_and_19_equation_of_motion(self, c):
        c.same(c.M @ c.a + c.h, c.tau + c.A.T @ c.F_and_O)

    def test_16_closure(self, c):
        assert np.abs(c.system.residual(c.q)).max() < 1e-12

    def test_17_accelerations(self, c):
        c.same(c.A @ c.a + c.system.drift(c.q, c.v), np.zeros(len(c.A)))
        c.same(c.system.drift(c.q, c.v), c.Adot @ c.v)

    def test_18_independent_rows(self, c):
        """With the first loop repeated, L has as many rows as the rank of φ′."""
        again = [type(x)(x.name + "'", *list(x.__dict__.values())[1:]) for x in c.system.constraints]
        twice = c.robot.constrained(*c.system.constraints, *again)
        L = twice.jacobian(c.q)[list(twice.independent_rows)]
        rank = np.linalg.matrix_rank(twice.jacobian(c.q))
        assert len(L) == rank == np.linalg.matrix_rank(L) == len(c.A)
        c.same(L @ c.a, -twice.drift(c.q, c.v)[list(twice.independent_rows)])

    def test_19_active_loop_joints(self, c):
        """τ_c = Lᵀλ + τ_a, with τ_a from the power of the loop joint: τ_aᵀ v = τᵀ v_J for every v."""
        loop = c.system.constraints[0]
        push = np.arange(1.0, loop.joint_type.nv + 1)
        pushed = c.system.forward_dynamics(c.q, c.v, c.tau, loop_forces={loop.name: push})
        tau_a = c.M @ pushed.a + c.h - c.tau - c.A.T @ pushed.multipliers
        state = lambda v: ts.constraints.At(c.robot.model, c.q.tolist(), v.tolist())  # noqa: E731
        power = [push @ np.array(loop.velocity(state(e)), float) for e in np.eye(len(c.a))]
        keeps = c.system.acceleration_projector(c.q)  # on motions that the loop allows, S v_J is the relative twist itself
        c.same(keeps.T @ tau_a, keeps.T @ np.array(power))

    def test_20_combined_system_gives_accelerations_and_multipliers(self, c):
        n, k = len(c.a), len(c.A)
        K = np.block([[c.M, c.A.T], [c.A, np.zeros((k, k))]])
        x = np.linalg.solve(K, np.concatenate([c.tau - c.h, -c.system.drift(c.q, c.v)]))
        for method in ("direct", "auto"):
            a, lam = c.system.forward_dynamics(c.q, c.v, c.tau, method=method)
            c.same(a, x[:n])
            c.same(lam, -x[n:])

    def test_21_multipliers_method_solves_for_multipliers_first(self, c):
        right = -c.system.drift(c.q, c.v) - c.A @ c.W @ (c.tau - c.h)
        lam = c.system.forward_dynamics(c.q, c.v, c.tau, method="multipliers").multipliers
        c.same(c.G @ lam, right)

    def test_22_null_space_method_solves_for_accelerations_first(self, c):
        """KᵀM K y = Kᵀ(τ − C − M q̈₀), q̈ = K y + q̈₀, with K and q̈₀ from NumPy's SVD."""
        k = len(c.A)
        _, _, Vt = np.linalg.svd(c.A)
        K, a0 = Vt[k:].T, np.linalg.pinv(c.A) @ -c.system.drift(c.q, c.v)
        c.same(c.A @ K, np.zeros((k, len(c.a) - k)))  # L K = 0
        y = np.linalg.solve(K.T @ c.M @ K, K.T @ (c.tau - c.h - c.M @ a0))
        c.same(c.system.forward_dynamics(c.q, c.v, c.tau, method="null_space").a, K @ y + a0)
