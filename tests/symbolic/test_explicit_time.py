"""Energies, positions and coordinates that depend on time explicitly, against SymPy's LagrangesMethod."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import torsor as ts
from torsor.symbolic import KaneBody, change_coordinates, coordinate_symbols, is_identical, kane, lagrange, virtual_work

m, l, A, W, g = sp.symbols("m l A Omega g", positive=True)
t = dynamicsymbols._t

#: position of a particle with generalized coordinates q(t), and P: moving supports, rotating frames
CASES = {
    "moved support": lambda th: ([A * sp.sin(W * t) + l * sp.sin(th), -l * sp.cos(th)], -m * g * l * sp.cos(th)),
    "pivot moved up and down": lambda th: ([l * sp.sin(th), A * sp.cos(W * t) - l * sp.cos(th)], -m * g * l * sp.cos(th)),
    "bead on a turning wire": lambda r: ([r * sp.cos(W * t), r * sp.sin(W * t)], 0),
    "rope that is reeled in": lambda th: (
        [(l - A * t) * sp.sin(th), (A * t - l) * sp.cos(th)], m * g * (A * t - l) * sp.cos(th)
    ),
    "time in P alone": lambda x: ([x, sp.Integer(0)], A * x * sp.sin(W * t)),
}  # fmt: skip


def energies(case):
    q = dynamicsymbols("q")
    r, P = CASES[case](q)
    K = m * sum(x.diff(t) ** 2 for x in r) / 2
    return q, sp.Matrix(r), K, sp.sympify(P)


def with_symbols(e, q, pair):
    (x, v) = pair
    return e.subs({q.diff(t): v}).subs({q: x})


def sympys(q, K, P, eom):
    """SymPy's equation, τ = d/dt ∂L/∂q̇ − ∂L/∂q, in torsor's symbols."""
    left = LagrangesMethod(K - P, [q]).form_lagranges_equations()[0]
    return left.subs({q.diff(t, 2): eom.a[0]}).subs({q.diff(t): eom.v[0]}).subs({q: eom.q[0]})


@pytest.mark.parametrize("case", CASES)
def test_lagrange_with_explicit_time_equals_sympys_lagranges_method(case):
    q, r, K, P = energies(case)
    by_functions = lagrange(K, P, [q], simplify=False)
    assert is_identical(by_functions.tau[0], sympys(q, K, P, by_functions))
    [pair] = pairs = coordinate_symbols("q")
    by_pairs = lagrange(with_symbols(K, q, pair), with_symbols(P, q, pair), pairs, time=t, simplify=False)
    assert is_identical(by_pairs.tau[0], by_functions.tau[0])
    by_kane = kane(
        [KaneBody(m, [*(with_symbols(x, q, pair) for x in r), 0])],
        pairs,
        forces=[-with_symbols(P, q, pair).diff(pair[0])],
        time=t,
        simplify=False,
    )
    assert is_identical(by_kane.tau[0], by_functions.tau[0])
    for eom in (by_functions, by_pairs, by_kane):
        assert is_identical(eom.M_rate[0, 0], sp.diff(eom.M[0, 0], eom.q[0]) * eom.v[0] + sp.diff(eom.M[0, 0], t))
        assert is_identical(eom.c[0].subs(eom.v[0], 0), 0)


def test_pendulum_on_a_moving_support_has_the_explicit_time_term():
    q, _, K, P = energies("moved support")
    eom = lagrange(K, P, [q])
    th, _, a = eom.q[0], eom.v[0], eom.a[0]
    assert is_identical(eom.tau[0], m * l**2 * a + m * g * l * sp.sin(th) - m * l * A * W**2 * sp.sin(W * t) * sp.cos(th))


@pytest.mark.night
def test_two_coordinates_with_explicit_time_equal_sympys():
    x, th = dynamicsymbols("x theta")
    r = sp.Matrix([x * sp.cos(W * t) + l * sp.sin(th), x * sp.sin(W * t) + A * t**2 - l * sp.cos(th)])
    K, P = m * (r.diff(t).T * r.diff(t))[0] / 2, m * g * r[1]
    eom = lagrange(K, P, [x, th], simplify=False)
    left = LagrangesMethod(K - P, [x, th]).form_lagranges_equations()
    table = [(f.diff(t, 2), a) for f, a in zip((x, th), eom.a, strict=True)]
    table += [(f.diff(t), v) for f, v in zip((x, th), eom.v, strict=True)] + list(zip((x, th), eom.q, strict=True))
    for ours, theirs in zip(eom.tau, left, strict=True):
        assert is_identical(ours, theirs.subs(table))


def test_change_to_rotating_coordinates_gives_centrifugal_and_coriolis_forces():
    """A free particle in a frame that rotates at Ω: ẍ' − Ω²x' − 2Ωẏ', ÿ' − Ω²y' + 2Ωẋ'."""
    (x, vx), (y, vy) = still = coordinate_symbols("x y")
    free = lagrange(m * (vx**2 + vy**2) / 2, 0, still)
    (u, vu), (w, vw) = turned = coordinate_symbols("u w")
    c, s = sp.cos(W * t), sp.sin(W * t)
    eom = change_coordinates(free, {x: c * u - s * w, y: s * u + c * w}, turned, time=t)
    assert is_identical(eom.tau[0], m * (eom.a[0] - W**2 * u - 2 * W * vw))
    assert is_identical(eom.tau[1], m * (eom.a[1] - W**2 * w + 2 * W * vu))
    assert [is_identical(e, 0) for e in eom.M_rate] == [True] * 4


def test_changed_coordinates_keep_an_explicit_rate_of_the_mass_matrix():
    [(x, v)] = coordinates = coordinate_symbols("x")
    eom = lagrange(m * (1 + A * t) * v**2 / 2, 0, coordinates, time=t)
    assert is_identical(eom.tau[0], m * (1 + A * t) * eom.a[0] + m * A * v)
    [(y, _)] = new = coordinate_symbols("y")
    assert is_identical(change_coordinates(eom, {x: 2 * y}, new).M_rate[0, 0], 4 * m * A)
    assert is_identical(eom.with_values({t: 3}).M_rate[0, 0], m * A)


def test_explicit_time_compiles_once_it_has_a_value():
    q, _, K, P = energies("moved support")
    eom = lagrange(K, P, [q]).with_values({m: 2, l: 1.5, A: 0.1, W: 3, g: 9.81})
    th, w, a, now = 0.4, -0.2, 0.7, 0.3
    expected = 2 * 1.5**2 * a + 2 * 9.81 * 1.5 * np.sin(th) - 2 * 1.5 * 0.1 * 9 * np.sin(3 * now) * np.cos(th)
    assert np.allclose(eom.with_values({t: now}).inverse_dynamics([th], [w], [a]), expected, rtol=1e-13)


def test_symbol_t_without_time_is_refused():
    [(th, w)] = coordinates = coordinate_symbols("theta")
    with pytest.raises(ts.ArgumentError, match="kinetic depends on t: give time=t if that is time, else rename"):
        lagrange(m * l**2 * w**2 / 2 + m * l * W * sp.cos(W * t) * w, 0, coordinates)
    with pytest.raises(ts.ArgumentError, match=r"bodies\[0\].position depends on t"):
        kane([KaneBody(m, (t, th, 0))], coordinates)
    eom = lagrange(m * w**2 / 2, 0, coordinates)
    with pytest.raises(ts.ArgumentError, match=r"old\[theta\] depends on t"):
        change_coordinates(eom, {th: sp.Symbol("y") + t}, coordinate_symbols("y"))
    with pytest.raises(ts.ArgumentError, match="time must be a SymPy symbol"):
        lagrange(m * w**2 / 2, 0, coordinates, time=th)


def test_virtual_work_is_taken_at_fixed_time():
    [(th, _)] = coordinates = coordinate_symbols("theta")
    (Q,) = virtual_work((A * sp.sin(W * t) + l * sp.sin(th),), (g,), coordinates)
    assert is_identical(Q, g * l * sp.cos(th))
