"""The machine code against fifty digits: the source itself, called with mpmath's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from math import inf
from typing import Any

import numpy as np

from torsor.algorithms.equation import EquationOfMotion
from torsor.algorithms.task_space import TWIST
from torsor.checks.certify.comparison import FLOOR, Array, Comparison, Skip, broadcast_samples, per_sample
from torsor.checks.certify.rounding import SIGMAS
from torsor.checks.certify.subject import Samples
from torsor.compile.program import flatten
from torsor.errors import install_hint
from torsor.kernels import Quantity
from torsor.kernels.quantities import QUANTITIES
from torsor.model import Model
from torsor.symbolic.rational import map_floats

DIGITS = 50
#: degrees of freedom up to which n³ results are checked
LARGEST_CUBIC = 12
#: states in which the reference is computed: one takes as long as ten thousand kernel calls
REFERENCE_STATES = 2
#: where dt is an input: a step that turns joints by a good part of a radian
STEP = 0.25
#: where a height is an input: of the ground, below any robot [m]
GROUND = -100.0

#: part of the way at which two configurations are interpolated
FRACTION = 0.3


def fifty_digits(spec: str, s: Samples) -> Comparison:
    """kernel(q, ...) = source(q, ...), the latter with 50 digits in every number and every operation.

    Both start from the same doubles.  The tolerance is that of rounding errors: 30 σ of the recorded program
    (:mod:`torsor.checks.certify.rounding`), and four ε of the largest entry.
    """
    if find_spec("mpmath") is None:
        raise Skip(f"mpmath is not installed; {install_hint('symbolic')}")
    if spec in ("motor_torque", "gear_torque") and not s.model.rotors:
        raise Skip("the robot has no rotors")
    if spec == "payload_capacity" and not any(x < inf for row in s.model.effort_limit for x in row):
        raise Skip("no joint has an effort limit")
    if spec == "christoffel_symbols" and s.model.nv > LARGEST_CUBIC:
        raise Skip(f"{s.model.nv}³ entries take minutes to compile")
    row = QUANTITIES[spec]
    frame: dict[str, Any] = {word: s.tip for word in ("frame", "at") if word in row.words}
    n = len(s.q) if s.thorough else min(REFERENCE_STATES, len(s.q))
    key = (spec, *frame.values())
    state = [_value(s, x.name)[:n] for x in s.tree.kernel(key).inputs]
    got, sigma = s.kernel(key, *state), s.sigma(key, *state)
    exact = _reference(partial(_of_model, row, frame), s.model, state)
    error = _differences(got.reshape(n, -1), exact).reshape(got.shape)
    size = per_sample(got)
    return Comparison(error, SIGMAS * sigma + FLOOR * broadcast_samples(size, got), size, _labels(spec, s, got.ndim - 1))


def _labels(name: str, s: Samples, axes: int) -> tuple[Sequence[str], ...]:
    """Names of the entries of a quantity: coordinates in joint space, wx ... vz for twists."""
    if name in ("jacobian", "jacobian_rate"):
        return TWIST, s.names
    if name in ("twist", "acceleration"):
        return (TWIST,)
    return (s.names,) * axes if QUANTITIES[name].joint_space and "torque" not in name else ()


def _value(s: Samples, name: str) -> Array:
    """The samples of a state variable."""
    if name == "q1":  # near q0, so that rounding does not decide which way round is shorter
        return s.kernel("integrate", s.q, s.v, np.full(len(s.q), STEP))
    if name == "qdot":
        return s.kernel("configuration_rate", s.q, s.v)
    if name == "qddot":
        return s.kernel("configuration_rate", s.q, s.a)
    numbers = {"s": FRACTION, "dt": STEP, "height": GROUND}
    if name in numbers:
        return np.full(len(s.q), numbers[name])
    vectors = {"q0": s.q, "y": s.a, "u": s.a, "wrench": np.resize(s.a, (len(s.q), 6))}
    return vectors[name] if name in vectors else getattr(s, name)


def _of_model(row: Quantity, words: dict[str, Any], model: Model, *state: Any) -> Any:
    return row.function(EquationOfMotion(model) if row.follows_terms else model, *state, **words)


def _reference(function: Callable[..., Any], model: Model, state: Sequence[Array]) -> list[list[Any]]:
    """The function of each state, its results concatenated, over numbers of DIGITS digits, also those of the model."""
    import mpmath

    with mpmath.workdps(DIGITS):
        exact, numbers = map_floats(model, mpmath.mpf), np.frompyfunc(mpmath.mpf, 1, 1)
        states = zip(*(numbers(x).tolist() for x in state), strict=True)
        return [flatten(function(exact, *one))[0] for one in states]


def _differences(got: Array, exact: list[list[Any]]) -> Array:
    """|got − exact|, subtracted before anything is rounded."""
    import mpmath

    with mpmath.workdps(DIGITS):
        return np.abs(got.astype(object) - np.array(exact, dtype=object)).astype(float)


def same_bits(s: Samples) -> Comparison:
    """τ(one state) = τ(batch), to the last bit: a result does not depend on the batch it is part of."""
    single = [s.kernel("inverse_dynamics", *state) for state in zip(s.q, s.v, s.a, strict=True)]
    error = np.abs(s.tau - np.array(single))
    return Comparison(error, np.zeros_like(error), per_sample(s.tau), (s.names,))
