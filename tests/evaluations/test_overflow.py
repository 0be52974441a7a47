"""Overflow inside a program (constants, divisors, outputs) is an error that names the result, never NaN or 0."""

import numpy as np
import pytest

import torsor
from torsor import scalar as s
from torsor.compile import Argument, Kernel, build, record
from torsor.compile.interpret import interpret_with_check
from torsor.compile.scan import NotFinite, Scan

HUGE = 1e308


def record_function(function, n=1):
    return record(function, [Argument("x", (n,))])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: {"good": x[0], "M": [HUGE * 10]},
        lambda x: {"good": x[0], "M": [x[0] * (HUGE * 10)]},
        lambda x: {"good": x[0], "M": [s.sin(x[0]) + (HUGE * 10 - HUGE * 10)]},
    ],
)
def test_constant_that_overflowed_while_recording_is_refused_by_output_name(function):
    with pytest.raises(torsor.TorsorError, match=r"^M is not finite for any argument"):
        record_function(function)


def test_infinite_limits_and_unused_overflow_are_allowed():
    p = record_function(lambda x: {"y": [s.minimum(x[0], np.inf), s.where(x[0] < np.inf, x[0], np.nan)]})
    assert Kernel(p)([2.0]).tolist() == [2.0, 2.0]


@pytest.fixture(params=["machine code", "NumPy"])
def engine(request, monkeypatch):
    if request.param == "NumPy":
        monkeypatch.setattr("torsor.compile.kernel.available", lambda: None)
        monkeypatch.setattr("torsor.compile.scan.available", lambda: None)
    else:
        assert build.available() is not None


@pytest.mark.usefixtures("engine")
def test_infinite_divisor_is_an_error_and_not_zero():
    """y = 1 + x₁/x₀, written so that the divisor x₀² overflows: the quotient would be 0 whatever x₁ is."""
    k = Kernel(record_function(lambda x: {"y": [1 + x[0] * x[1] / (x[0] * x[0])]}, 2), name="k")
    assert k([2.0, 4.0]) == [3.0]
    with pytest.raises(torsor.TorsorError, match="k: y is not finite although every argument is; the numbers overflow"):
        k([1e200, 1.0])
    with pytest.raises(torsor.TorsorError, match=r"at batch index \(2,\)"):
        k(np.array([[1.0, 1.0], [2.0, 1.0], [1e200, 1.0], [3.0, 1.0]]))


@pytest.mark.usefixtures("engine")
def test_infinite_divisor_stops_a_scan():
    p = record(lambda x, u: {"x": x[0] * 1e100, "y": 1 / x[0]}, [Argument("x", ()), Argument("u", ())])
    with pytest.raises(NotFinite) as caught:
        Scan(p, carry={"x": "x"}, each=["y"])(1.0, np.zeros(9))
    assert caught.value.step == 3  # x = 1, 1e100, 1e200, 1e300, inf: the fourth step makes it infinite


@pytest.mark.usefixtures("engine")
def test_divisor_with_an_exponential_saturates():
    """1/(1 + e⁻ˣ) is 0 to rounding at x = −1000, although e¹⁰⁰⁰ overflows."""
    k = Kernel(record_function(lambda x: {"y": [1 / (1 + s.exp(-x[0]))]}))
    assert k([-1000.0]) == [0.0]
    assert k([1000.0]) == [1.0]


@pytest.mark.usefixtures("engine")
def test_large_constants_are_checked_at_the_outputs():
    """More outputs than inputs and no division: inputs alone are checked, unless a constant can carry them over."""
    k = Kernel(record_function(lambda x: {"y": [x[0] * x[0] * (1e290 * n) for n in range(1, 9)]}))
    assert np.isfinite(k([1e3])).all()
    with pytest.raises(torsor.TorsorError, match="overflow"):
        k([1e10])
    with pytest.raises(torsor.ArgumentError, match="float32 cannot hold; use float64"):
        Kernel(k.program, dtype=np.float32)


def test_checked_replay_finds_the_state_with_an_infinite_divisor():
    p = record_function(lambda x: {"y": [1 / (x[0] * x[0])]})
    results, sound = interpret_with_check(p, [np.array([[1.0], [1e200], [2.0]])])
    assert sound.tolist() == [True, False, True]
    assert results[0].ravel().tolist() == [1.0, 0.0, 0.25]


def test_prismatic_joint_so_far_out_that_its_inertia_overflows_is_an_error():
    """M = I + m q² of a prismatic on a revolute joint overflows at q = 1e160, and M⁻¹ must not be 0."""
    b = torsor.Builder("r").link("base").link("arm", 1.0, inertia=(1, 1, 1)).link("slide", 1.0)
    robot = b.joint("hinge", "revolute", "base", "arm", axis=(0, 0, 1)).joint(
        "slide", "prismatic", "arm", "slide", axis=(1, 0, 0)
    ).build()  # fmt: skip
    for call in (
        lambda q: robot.mass_matrix_inverse(q),
        lambda q: robot.forward_dynamics(q, [0, 0], [1, 1]),
        lambda q: robot.mass_matrix(q),
    ):
        assert np.isfinite(call([0.0, 1e100])).all()
        with pytest.raises(torsor.TorsorError):
            call([0.0, 1e160])
