"""User functions in a simulation get their own arrays, and their results are checked and copied."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError
from torsor.simulate import Event, SampledController, SimulationStopped

GOAL = np.array([0.5, 0.8])


@pytest.fixture(scope="module")
def arm():
    return ts.robots.two_link()


def law_without_writing(t, q, v):
    return -60 * (q - GOAL) - 12 * v


def law_that_writes(t, q, v):
    """The same joint forces as ``law_without_writing``, computed in place."""
    q -= GOAL
    q *= -60
    v *= 12
    q -= v
    return q


def motion(run):
    return np.hstack([run.t[:, None], run.q, run.v, run.tau])


def run_of(arm, law, q=(0, 0), duration=0.1, stops=None, **words):
    """The motion under a law; ``stops`` is the restitution at the limits, None for no stops."""
    return (arm if stops is None else arm.with_stops(stops)).simulate(list(q), [0, 0], duration, law, **words)


WAYS = {
    "rk4": {},
    "midpoint": {"integrator": "midpoint"},
    "dop853": {"integrator": "dop853"},
    "stops": {"stops": 0.5},
    "wrench": {"wrenches": {"tip": [0, 0, 0, 1.0, 0, 0]}},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rate", [None, 100])
def test_controller_that_writes_into_its_arguments_does_not_move_the_robot(arm, way, rate):
    """The motion equals that of a controller that does not write, bit for bit."""
    laws = [f if rate is None else SampledController(f, rate) for f in (law_without_writing, law_that_writes)]
    runs = [run_of(arm, law, duration=0.05, **WAYS[way]) for law in laws]
    np.testing.assert_array_equal(*map(motion, runs))


def test_event_and_wrench_functions_that_write_do_not_move_the_robot(arm):
    def zeroed(t, q, v):
        q[:] = v[:] = 0.0
        return 1.0 + t

    def pushing(t, q, v):
        q[:] = v[:] = 7.0
        return [0, 0, 0, 1.0, 0, 0]

    written = arm.simulate([0, 0], [0, 0], 0.05, wrenches={"tip": pushing}, events=zeroed)
    clean = arm.simulate([0, 0], [0, 0], 0.05, wrenches={"tip": [0, 0, 0, 1.0, 0, 0]}, events=lambda t, q, v: 1.0 + t)
    np.testing.assert_array_equal(motion(written), motion(clean))


@pytest.mark.parametrize("words", [{}, {"integrator": "dop853"}, {"stops": 0.0}])
def test_arrays_that_a_controller_keeps_stay_as_they_were(arm, words):
    kept, seen = [], []

    def law(t, q, v):
        kept.append(q)
        seen.append(q.tolist())
        return -q

    run_of(arm, law, [0.3, 0.2], 0.02, **words)
    assert [q.tolist() for q in kept] == seen
    assert len(set(map(tuple, seen))) > 10


@pytest.mark.parametrize("rate", [None, 200])
def test_controller_that_reuses_its_result_array_is_recorded_call_by_call(arm, rate):
    buffer = np.zeros(2)

    def law(t, q, v):
        buffer[:] = t, -t
        return buffer

    run = arm.simulate([0, 0], [0, 0], 0.02, law if rate is None else SampledController(law, rate))
    held = run.t if rate is None else np.floor(run.t * rate + 1e-6) / rate
    held[-1] = run.t[-1] if rate is None else held[-2]  # the last row repeats the forces held until then
    np.testing.assert_allclose(run.tau, np.stack([held, -held], axis=1), atol=1e-12)


def test_internal_state_of_a_sampled_controller_is_reset_for_each_run(arm):
    start = np.zeros(2)

    def law(t, q, v, total):
        total += q
        return -total, total

    runs = [arm.simulate([0.1, 0.2], [0, 0], 0.05, SampledController(law, 100, start)) for _ in range(2)]
    np.testing.assert_array_equal(motion(runs[0]), motion(runs[1]))
    assert not start.any()


def test_rollout_controller_that_writes_into_its_arguments_gives_the_same_motion(arm):
    def law(q, v):
        q -= GOAL
        q *= -60
        return q - 12 * v

    ends = [
        arm.rollout([0, 0], [0, 0], dt=1e-3, steps=5, controller=f).q for f in (law, lambda q, v: -60 * (q - GOAL) - 12 * v)
    ]
    np.testing.assert_array_equal(*ends)


def test_sweep_gives_each_point_arrays_of_its_own():
    goal = np.ones(2)

    def study(goal, gain):
        goal *= gain
        return float(goal.sum())

    values = ts.sweep(study, {"goal": [goal], "gain": [2.0, 3.0]}, workers=0).array()
    assert sorted(values.ravel()) == [4.0, 6.0]
    assert goal.tolist() == [1.0, 1.0]


def test_constraint_function_that_writes_into_q_constrains_the_same():
    """With two rows, the first must not change the q of the second."""

    def law_that_writes(q):
        q[0] = q[0] * q[0] - 0.2 * q[1]
        return q[0]

    arm, other = ts.robots.two_link(), ts.constraints.holonomic(lambda q: q[0] + q[1] - 0.3, name="sum")
    ways = [ts.constraints.holonomic(f, name="curve") for f in (law_that_writes, lambda q: q[0] * q[0] - 0.2 * q[1])]
    systems = [arm.constrained(way, other) for way in ways]
    np.testing.assert_array_equal(*(s.residual([0.1, 0.2]) for s in systems))
    np.testing.assert_allclose(systems[0].jacobian([0.1, 0.2]), [[0.2, -0.2], [1.0, 1.0]], atol=1e-15)


# -- results of the wrong kind -----------------------------------------------------------------------------------

NONSENSE = {
    "text": ("push", r"'push' \(str\)"),
    "complex": (np.array([1j, 0]), r"complex128 with shape \(2,\)"),
    "None": (None, r"None \(NoneType\)"),
    "column": (np.zeros((2, 1)), r"float64 with shape \(2, 1\)"),
    "one number": (1.0, r"1.0 \(float\)"),
    "objects": (np.array([object(), 1], object), "object with shape"),
    "ragged": ([[1.0], [1.0, 2.0]], r"\(list\)"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), "masked array"),
    "dict": ({"joint1": 1.0}, r"\(dict\)"),
}


@pytest.mark.parametrize("what", NONSENSE)
@pytest.mark.parametrize("words", [{}, {"integrator": "rk45"}, {"stops": 0.0}])
def test_controller_with_result_of_the_wrong_kind_is_named(arm, what, words):
    value, shown = NONSENSE[what]

    def lazy(t, q, v):
        return value

    for law in (lazy, SampledController(lazy, 100), SampledController(lambda t, q, v, s: (value, s), 100, 0)):
        with pytest.raises(ArgumentError, match=rf"the controller.* returned .*{shown}.*; it must return joint forces.*\(2,\)"):
            run_of(arm, law, **words)


def test_invalid_callback_result_keeps_the_partial_result(arm):
    with pytest.raises(SimulationStopped, match="the controller returned None") as caught:
        arm.simulate([0, 0], [0, 0], 0.1, lambda t, q, v: np.zeros(2) if t < 0.05 else None)
    assert 0.04 < caught.value.result.t[-1] < 0.051
    assert isinstance(caught.value.__cause__, ArgumentError)


def test_wrench_function_with_result_of_the_wrong_kind_is_named(arm):
    for value in ("push", 1j * np.ones(6), None, np.zeros(3)):
        with pytest.raises(ArgumentError, match=r"wrenches\['tip'\] returned .*; it must return a moment .*\(6,\)"):
            arm.simulate([0, 0], [0, 0], 0.1, wrenches={"tip": lambda t, q, v, value=value: value})
        with pytest.raises(ArgumentError, match=r"wrenches\['tip'\] is .*; it must be a moment .*\(6,\)"):
            arm.simulate([0, 0], [0, 0], 0.1, wrenches={"tip": value if value is not None else [None] * 6})
    with pytest.raises(ArgumentError, match="not finite"):
        arm.simulate([0, 0], [0, 0], 0.1, wrenches={"tip": [np.nan] * 6})


@pytest.mark.parametrize("value", [np.zeros(1), [1.0], "high", 1j, None, True, np.nan, np.inf])
def test_event_with_result_of_the_wrong_kind_is_named(arm, value):
    event = Event(lambda t, q, v: value, name="high")
    with pytest.raises(ArgumentError, match=r"event 'high' returned .*; it must return"):
        arm.simulate([0, 0], [0, 0], 0.1, events=event)


def test_event_may_return_any_real_scalar(arm):
    for kind in (np.float32, np.asarray, int):
        run = arm.simulate([0, 0], [0, 0], 0.1, events=lambda t, q, v, kind=kind: kind(100 * t - 5.0))
        assert [round(e.t, 3) for e in run.events] == pytest.approx([0.05], abs=0.011)


def test_sampled_arguments_out_of_range_are_refused(arm):
    with pytest.raises(ArgumentError, match=r"SampledController at 1e\+12 Hz: 1e\+12 calls in 1 s; at most 1e\+07"):
        arm.simulate([0, 0], [0, 0], 1.0, SampledController(law_without_writing, 1e12))
    for rate in ("fast", None, -1.0, np.inf, 1j):
        with pytest.raises(ArgumentError, match="sample rate must be positive"):
            SampledController(law_without_writing, rate)
    with pytest.raises(ArgumentError, match=r"must return the pair \(joint forces, next state\)"):
        arm.simulate([0, 0], [0, 0], 1.0, SampledController(lambda t, q, v, s: None, 100, 0))
    with pytest.raises(ArgumentError, match="control must be real numbers or a function; <U2 is not a type of real numbers"):
        arm.simulate([0, 0], [0, 0], 1.0, "pd")
