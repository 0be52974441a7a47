"""Friction laws: formulas of MR Fig. 8.15, every scalar type, passivity, error bounds of smoothed laws."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from torsor.compile import Argument, Kernel, record
from torsor.errors import ModelError, UnknownName
from torsor.model import friction as fr
from torsor.scalar import Dual

#: the six laws of the figure, each with its force at v ≠ 0 as printed in the figure
FIGURE = {
    "a": (fr.Viscous(0.5), lambda v: 0.5 * v),
    "b": (fr.Coulomb(3.0), lambda v: 3.0 * np.sign(v)),
    "c": (fr.StaticViscous(3.0, 0.5), lambda v: 3.0 * np.sign(v) + 0.5 * v),
    "d": (fr.StaticKinetic(3.0, 2.0), lambda v: 2.0 * np.sign(v)),
    "e": (fr.StaticKineticViscous(3.0, 2.0, 0.5), lambda v: 2.0 * np.sign(v) + 0.5 * v),
    "f": (fr.Stribeck(3.0, 2.0, 0.5, 0.1), lambda v: np.sign(v) * (2 + np.exp(-((v / 0.1) ** 2))) + 0.5 * v),
}
DIRECTIONAL = fr.Directional(fr.StaticViscous(3.0, 0.5), fr.LoadDependent(fr.Stribeck(2.0, 1.0, 0.25, 0.2, n=1), 0.1))
#: every law without internal state
EVERY = [law for law, _ in FIGURE.values()] + [
    fr.Stribeck(3.0, 2.0, 0.5, 0.1, n=3),
    DIRECTIONAL,
    fr.LoadDependent(fr.StaticKinetic(3.0, 2.0), 0.1),
    fr.Coulomb(3.0).smooth(0.02),
    DIRECTIONAL.smooth(0.02, "root"),
]
LUGRE = fr.LuGre(fr.Stribeck(1.5, 1.0, 0.4, 0.05), stiffness=1e3, damping=5.0)
speeds = st.floats(-20, 20, allow_nan=False)
constants = st.floats(0, 10)


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_every_friction_law_is_immutable_hashable_and_can_be_pickled(law):
    assert law == pickle.loads(pickle.dumps(law))
    assert hash(law) == hash(pickle.loads(pickle.dumps(law)))
    with pytest.raises(AttributeError):
        law.width = 1.0
    assert type(law) in fr.LAWS.values()
    assert law.numeric
    assert law.describe().startswith(type(law).__name__)
    assert law.formula in law.describe()


def test_table_of_friction_laws_has_every_subclass():
    found = fr.Friction.__subclasses__()
    for law in found:
        found += law.__subclasses__()
    own = {law for law in found if law.__module__.startswith("torsor.") and law.formula}  # tests have laws too
    assert set(fr.LAWS.values()) == {*own, fr.LuGre}


@pytest.mark.parametrize("letter", FIGURE)
def test_friction_laws_match_mr_figure_8_15(letter):
    law, printed = FIGURE[letter]
    assert law.figure.endswith(letter)
    for v in (-7.0, -0.3, -0.05, 1e-9, 0.02, 0.1, 4.0):
        assert law.force(v) == pytest.approx(printed(np.float64(v)), rel=1e-14)
        assert law.power(v) == pytest.approx(printed(np.float64(v)) * v, rel=1e-14)
    assert law.force(0.0) == 0
    static = {"a": 0.0}.get(letter, 3.0)
    assert law.breakaway() == (static, static)
    sliding = {"a": 0.0, "d": 2.0, "e": 2.0}.get(letter, 3.0)
    assert law.kinetic(0.0) == (sliding, sliding)


def test_directional_law_uses_the_load_in_one_direction_only():
    assert DIRECTIONAL.force(2.0, load=50.0) == pytest.approx(3 + 0.5 * 2, rel=1e-15)
    expected = -(1 + math.exp(-2 / 0.2) + 0.1 * 50) - 0.25 * 2
    assert DIRECTIONAL.force(-2.0, load=-50.0) == pytest.approx(expected, rel=1e-14)
    assert DIRECTIONAL.breakaway(10.0) == (3.0, 3.0)
    assert DIRECTIONAL.breakaway() == (2.0, 3.0)


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_friction_laws_agree_over_floats_kernels_and_sympy(law):
    """The recorded and compiled law, and the law over SymPy, agree with floats."""
    inputs = [Argument("v", ()), Argument("load", ())]
    kernel = Kernel(record(lambda v, load: {"f": law.force(v[0], load=load[0])}, inputs))
    v, load = sp.symbols("v load", real=True)
    formula = sp.sympify(law.force(v, load=load))
    for x in (-3.0, -0.04, 0.0, 0.01, 2.0):
        expected = law.force(x, load=20.0)
        assert kernel(x, 20.0) == pytest.approx(expected, rel=1e-14, abs=1e-15)
        assert float(formula.subs({v: x, load: 20.0})) == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_stribeck_law_accepts_symbols_as_constants():
    s, k, b, vs, v = sp.symbols("b_s b_k b v_s v", positive=True)
    law = fr.Stribeck(s, k, b, vs)
    assert sp.simplify(law.force(v) - (k + (s - k) * sp.exp(-((v / vs) ** 2)) + b * v)) == 0
    assert not law.numeric
    assert not law.smooth(0.1).numeric


@settings(max_examples=200, deadline=None)
@given(st.lists(constants, min_size=6, max_size=6), speeds, st.floats(-50, 50))
def test_friction_laws_are_passive(c, v, load):
    """τ v ≥ 0 for every law, with any constants, at any velocity and load (passivity)."""
    low, high = sorted(c[:2])
    stribeck = fr.Stribeck(high, low, c[2], 0.01 + c[3])
    laws = [
        fr.StaticKineticViscous(high, low, c[2]),
        stribeck,
        fr.Directional(stribeck, fr.LoadDependent(fr.StaticViscous(c[4], c[5]), c[3] / (1 + c[3]))),
    ]
    for law in laws:
        for one in (law, law.smooth(0.01), law.smooth(0.3, "root")):
            assert one.power(v, load=load) >= 0


@pytest.mark.parametrize("kind", fr.SIGMOIDS)
@pytest.mark.parametrize("law", [EVERY[1], EVERY[5], DIRECTIONAL, fr.Directional(fr.Coulomb(0.0), fr.Coulomb(4.0))], ids=repr)
def test_smooth_law_stays_within_its_error_bound(law, kind):
    """Within error(v) of the discontinuous law; the bound is tight to a factor of three somewhere."""
    width = 0.03
    smooth = law.smooth(width, kind)
    ratio = 0.0
    for k in np.geomspace(0.5, 12, 60).tolist():
        for v in (k * width, -k * width):
            deviation, bound = abs(smooth.force(v) - law.force(v)), smooth.error(v)
            level = max(law.kinetic(v))
            assert bound <= 1.5 * level * {"tanh": 2 * math.exp(-2 * k), "root": 0.5 / k**2}[kind] * (1 + 1e-12)
            assert deviation <= bound + 1e-14 * level
            ratio = max(ratio, deviation / bound)
    assert ratio > 1 / 3
    assert smooth.force(0.0) == 0
    assert smooth.breakaway() == (0, 0)


@pytest.mark.parametrize("kind", fr.SIGMOIDS)
def test_smooth_law_has_the_same_slope_on_both_sides_of_zero_velocity(kind):
    """dτ/dv at 0 = level/width + b, equal from both sides even for unequal levels; the discontinuous law has no slope."""
    for law in (fr.StaticViscous(3.0, 0.5), fr.Directional(fr.StaticViscous(5.0, 0.5), fr.StaticViscous(1.0, 0.5))):
        smooth = law.smooth(0.1, kind)
        assert smooth.force(Dual(0.0, 1.0)).rate == pytest.approx(3.0 / 0.1 + 0.5, rel=1e-14)
        for h in (1e-7, -1e-7):
            assert smooth.force(h) / h == pytest.approx(30.5, rel=1e-5)  # one-sided difference of first order in h/width


@pytest.mark.parametrize("law", EVERY, ids=repr)
def test_force_of_a_law_equals_its_kinetic_level_plus_drag(law):
    """kinetic() and force() of every law agree for both signs of v."""
    for v in (0.004, 0.1, 3.0):
        back, ahead = law.kinetic(v, 7.0)
        assert law.force(v, load=7.0) == pytest.approx(ahead + law.drag(v), rel=1e-14)
        assert law.force(-v, load=7.0) == pytest.approx(-back + law.drag(-v), rel=1e-14)


# -- LuGre ---------------------------------------------------------------------------------------------------


def test_lugre_steady_state_lies_on_its_curve():
    for v in (-2.0, -0.03, 0.01, 0.5):
        z = LUGRE.steady_state(v)
        assert abs(LUGRE.state_rate(z, v)) < 1e-14 * abs(v)
        assert LUGRE.force(z, v) == pytest.approx(LUGRE.curve.force(v), rel=1e-12)
        assert LUGRE.steady(v) == LUGRE.curve.force(v)
        assert LUGRE.step(0.0, v, 10.0) == pytest.approx(z, rel=1e-12)
    assert LUGRE.force(1e-4, 0.0) == pytest.approx(0.1)
    assert LUGRE.state_rate(1e-4, 0.0) == 0
    assert LUGRE.breakaway() == (1.5, 1.5)
    assert "Stribeck" in LUGRE.describe()
    assert LUGRE.states == 1
    assert LUGRE.numeric


def test_lugre_step_is_exact_at_constant_velocity():
    for v, z0, dt in ((0.02, 0.0, 0.01), (-0.1, 1e-3, 0.02), (1.0, -1e-3, 1e-4), (0.0, 5e-4, 1.0)):
        sol = solve_ivp(lambda t, z, v=v: [LUGRE.state_rate(z[0], v)], (0, dt), [z0], method="Radau", rtol=1e-11, atol=1e-15)
        assert LUGRE.step(z0, v, dt) == pytest.approx(sol.y[0, -1], rel=1e-8, abs=1e-13)  # tolerance of Radau


@settings(max_examples=300, deadline=None)
@given(st.floats(-1, 1), speeds, st.floats(0.01, 1e3), st.floats(0, 50), st.floats(0.1, 3), st.floats(0, 2), st.booleans())
def test_lugre_is_passive(bend, v, stiffness, damping, kinetic, viscous, fading):
    """Heat ≥ 0 for |σ₀z| up to the static level: always with fading damping, else while σ₁²|v| ≤ 4 g(v) (σ₁ + b)."""
    law = fr.LuGre(fr.Stribeck(1.5 * kinetic, kinetic, viscous, 0.05), stiffness, damping, fading)
    z = bend * 1.5 * kinetic / stiffness
    g = law.kinetic(v).forward
    if fading or damping**2 * abs(v) <= 4 * g * (damping + viscous):
        terms = (abs(law.power(z, v)), abs(stiffness * z * law.state_rate(z, v)))
        assert law.dissipation(z, v) >= -1e-12 * max(terms)


def test_lugre_with_constant_damping_is_not_passive_beyond_the_condition():
    """Beyond the condition some deflection makes constant damping release energy; fading damping does not."""
    curve = fr.Stribeck(1.0, 1.0, 0.0, 0.05)
    sharp, fading = fr.LuGre(curve, 1.0, 2.0), fr.LuGre(curve, 1.0, 2.0, fading=True)
    v = 2.2  # the condition ends at 4 g/σ₁ = 2
    bends = np.linspace(-4, 4, 801)
    assert min(sharp.dissipation(z, v) for z in bends) < 0
    assert min(fading.dissipation(z, v) for z in bends) >= 0


def test_lugre_closed_cycle_loses_energy_and_has_a_loop():
    """Over a pre-sliding cycle the bristle energy is recovered; the rest is the area of the loop, ≥ 0."""
    dt, z, work, heat = 1e-4, 0.0, 0.0, 0.0
    begin = end = 0.0
    for k in range(40_000):
        v = 0.002 * math.cos(2 * math.pi * k * dt)
        if k == 30_000:
            begin, work, heat = z, 0.0, 0.0
        middle = LUGRE.step(z, v, dt / 2)
        work, heat, z = work + LUGRE.power(middle, v) * dt, heat + LUGRE.dissipation(middle, v) * dt, LUGRE.step(z, v, dt)
    end = z
    assert heat > 0
    stored = 0.5 * LUGRE.stiffness * (end**2 - begin**2)
    assert work - stored == pytest.approx(heat, rel=1e-3)  # error of the midpoint rule


# -- errors and plots ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: fr.Viscous(-1.0), "Viscous: b_viscous must be finite and not negative, not -1.0"),
        (lambda: fr.Coulomb(math.nan), "Coulomb: b_static must be finite"),
        (lambda: fr.Coulomb(np.float32(-1)), "Coulomb: b_static must be finite and not negative, not -1.0"),
        (lambda: fr.StaticKinetic(np.int64(1), np.int64(2)), r"b_static \(1\) must be at least b_kinetic \(2\)"),
        (lambda: fr.Viscous([1.0, 2.0]), "Viscous: b_viscous must be a number"),
        (lambda: fr.Viscous(1j), "Viscous: b_viscous must be a number"),
        (lambda: fr.StaticKinetic(1.0, 2.0), r"b_static \(1.0\) must be at least b_kinetic \(2.0\)"),
        (lambda: fr.Stribeck(2.0, 1.0, 0.0, 0.0), "v_stribeck must be finite and positive"),
        (lambda: fr.Stribeck(2.0, 1.0, 0.0, 0.1, n=1.5), "n must be a positive whole number"),
        (lambda: fr.Coulomb(1.0).smooth(0.0), "width must be finite and positive"),
        (lambda: fr.LuGre(fr.Viscous(1.0), 1e3), "needs dry friction"),
        (lambda: fr.LuGre(fr.Coulomb(1.0), math.inf), "stiffness must be finite and positive"),
    ],
)
def test_friction_laws_reject_invalid_constants(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_smooth_rejects_an_unknown_sigmoid():
    with pytest.raises(UnknownName, match="root, tanh"):
        fr.Coulomb(1.0).smooth(0.1, "arctan")


@pytest.mark.parametrize("law", [*EVERY, LUGRE], ids=repr)
def test_friction_laws_can_be_plotted(law):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    ax = law.plot(load=5.0, color="k")
    v, tau = (np.asarray(x, float) for x in ax.lines[0].get_data())
    curve = getattr(law, "curve", law)
    at_rest = tau[v == 0]
    assert max(at_rest.max(), 0) == max(*curve.breakaway(5.0)[1:], curve.kinetic(0.0, 5.0).forward)
    assert min(at_rest.min(), 0) == -max(curve.breakaway(5.0).backward, curve.kinetic(0.0, 5.0).backward)
    assert (np.diff(v) >= 0).all()
    assert tau[-1] == curve.force(float(v[-1]), load=5.0)
    assert law.plot(0.5, ax=ax) is ax
    assert "velocity" in ax.get_xlabel()
    plt.close(ax.figure)
