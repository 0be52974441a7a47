"""Work and losses are summed over all steps: the audit does not depend on the recorded rows."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.actuators import Drive, Gearbox, Lag, Motor, PositionServo
from torsor.flexible import SeriesSpring
from torsor.model.friction import Coulomb, LuGre, StaticKinetic, Viscous
from torsor.scalar import sin
from torsor.simulate import Event, SampledController, record
from torsor.simulate.energy_flows import FlowSum

ARM = ts.robots.two_link()
ELASTIC = ARM.with_springs(SeriesSpring(800.0, 2.0, rotor_inertia=0.1))
CART = ts.robots.cart_pole()
LINKAGE = ts.mechanisms.four_bar()
LUGRE = LuGre(Coulomb(2.0), stiffness=500.0, damping=1.0, fading=True)
CARRIED = ts.constraints.prescribed(
    ts.constraints.point_on_plane("tip", normal=(0, 1, 0), through=(0, 0, 0)), lambda t: [0.3 * sin(2 * t)]
)


SERVO = [PositionServo(40.0, 3.0), Lag(0.01)]


def pull_back(t, q, v):
    return 20 * (0.5 - q) - 5 * v


def pull_back_by_motors(t, q, v):
    return np.r_[0, 0, pull_back(t, q[:2], v[:2])]


def push(t, q, v):
    return [0, 0, 0, np.cos(5 * t), 0, 0]


def drive_cart(t, q, v):
    return np.array([8 * np.sin(2 * t), 0.0])


def carried_start():
    held = ARM.constrained(CARRIED)
    q = held.project(np.array([-0.6, 1.2]), time=0.0)
    return q, held.project_velocity(q, np.zeros(2), time=0.0)


#: case → (robot, initial state, options of simulate)
CASES = {
    "constant": (ARM, ([0.1, 0.1], [0, 0]), {"control": [1.0, -0.5]}),
    "rows": (ARM, ([0.1, 0.1], [0, 0]), {"control": np.linspace(-1, 1, 100).reshape(50, 2)}),
    "controller": (ARM, ([0.1, 0.1], [0, 0]), {"control": pull_back}),
    "sampled": (ARM, ([0.1, 0.1], [0, 0]), {"control": SampledController(pull_back, 130)}),
    "wrench and damping": (ARM.with_damping({"joint1": 0.3}), ([0.1, 0.1], [0, 0]), {"wrenches": {"tip": push}}),
    "event": (ARM, ([0.1, 0.1], [0, 0]), {"control": pull_back, "events": Event(lambda t, q, v: q[0] - 0.2)}),
    "friction": (
        ARM.with_friction({"joint1": StaticKinetic(5.0, 3.0), "joint2": Viscous(0.5)}),
        ([0.1, 0.1], [0, 0]),
        {"control": pull_back},
    ),
    "bristles": (ARM.with_friction({"joint1": LUGRE}), ([0.1, 0.1], [0, 0]), {"control": pull_back}),
    "stops": (CART.with_stops(0.6), ([2.2, 0.3], [1.0, 0.0]), {"control": drive_cart}),
    "springs": (ELASTIC, ELASTIC.state([0.1, 0.1])[:2], {"control": pull_back_by_motors}),
    "moving constraint": (ARM.with_constraints(CARRIED), carried_start(), {}),
    "actuators": (
        ARM.with_actuators(dict.fromkeys(ARM.joints, SERVO)),
        ([0.1, 0.1], [0, 0]),
        {"control": [0.3, 0.2]},
    ),
    "drive": (
        ARM.with_drives({"joint1": Drive(Motor(torque_constant=0.05, resistance=0.5, max_voltage=24.0), Gearbox(50))}),
        ([0.1, 0.1], [0, 0]),
        {"control": pull_back},
    ),
}
ADAPTIVE = ("controller", "sampled", "stops", "friction", "springs", "moving constraint")


def audits(name, every, duration=0.8, **more):
    robot, (q, v), words = CASES[name]
    return robot.simulate(q, v, duration, dt=2e-3, record=every, **words, **more).audit()


def assert_same_at_common_times(few, all_steps):
    """At equal times (an impact) the last row is compared."""
    there = np.searchsorted(all_steps.t, few.t, side="right") - 1
    before = np.searchsorted(all_steps.t, few.t)
    for field in ("work", "dissipated", "energy", "discrepancy"):
        x, y = getattr(few, field), getattr(all_steps, field)
        scale = 1e-12 * (1 + np.abs(y).max())
        assert (np.minimum(np.abs(x - y[there]), np.abs(x - y[before])) <= scale).all(), field
    assert few.impacts == pytest.approx(all_steps.impacts, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("every", [2, 7, "last"])
@pytest.mark.parametrize("name", CASES)
def test_audit_is_the_same_whichever_steps_are_recorded(name, every):
    all_steps, few = audits(name, "all"), audits(name, every)
    assert len(few.t) < len(all_steps.t)
    assert few.t[-1] == all_steps.t[-1]
    assert_same_at_common_times(few, all_steps)


@pytest.mark.parametrize("name", ADAPTIVE)
def test_audit_of_adaptive_steps_has_the_same_final_sums_for_all_records(name):
    """Regular records lie between steps; the sums at the end and at impacts include all steps."""
    all_steps = audits(name, "all", integrator="dop853")
    for every in (3, 40, "last"):
        few = audits(name, every, integrator="dop853")
        assert few.work[-1] == pytest.approx(all_steps.work[-1], rel=1e-12, abs=1e-13)
        assert few.dissipated[-1] == pytest.approx(all_steps.dissipated[-1], rel=1e-12, abs=1e-13)
        assert few.impacts == pytest.approx(all_steps.impacts, rel=1e-12, abs=1e-14)
        assert few.worst < 3 * all_steps.worst + 1e-7  # between steps the sums have the same accuracy


def test_regular_records_of_an_adaptive_run_are_complete():
    """Every 10 ms, also where a record coincides with a sample of the controller."""
    run = ARM.simulate([0.1, 0.1], [0, 0], 0.3, SampledController(pull_back, 100), integrator="dop853", record=10)
    np.testing.assert_allclose(run.t, np.arange(31) * 0.01, atol=1e-12)


@pytest.mark.parametrize("name", ["controller", "stops", "bristles", "actuators"])
def test_blocks_of_steps_give_the_sums_of_one_block(name, monkeypatch):
    """The sum of an interval uses neighbouring rows that may be in another block."""
    whole = audits(name, "last", 0.4)
    for size in (1, 2, 5, 17):
        monkeypatch.setattr(record, "BLOCK", size)
        blocks = audits(name, "last", 0.4)
        np.testing.assert_allclose(blocks.work, whole.work, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(blocks.dissipated, whole.dissipated, rtol=1e-13, atol=1e-15)


def test_work_of_a_force_along_a_line():
    """2 N on 2 kg from rest for 3 s: x = 4.5 m, 9 J; recorded at the ends alone."""
    build = ts.Builder("slider").link("ground").link("body", mass=2.0)
    body = build.joint("rail", "prismatic", "ground", "body", axis=(1, 0, 0)).build()
    for control in ([2.0], lambda t, q, v: [2.0], SampledController(lambda t, q, v: [2.0], 7)):
        audit = body.simulate([0.0], [0.0], 3.0, control, record="last").audit()
        assert len(audit.t) == 2
        assert audit.work[-1] == pytest.approx(9.0, rel=1e-12)
        assert audit.worst < 1e-11


def test_saved_results_keep_the_sums_of_the_audit(tmp_path):
    """With springs, whose dampers lose energy."""
    robot, (q, v), words = CASES["springs"]
    for every in ("all", 50):
        run = robot.simulate(q, v, 0.3, record=every, **words)
        run.save(tmp_path / "run.npz")
        again = ts.simulate.load_result(tmp_path / "run.npz", robot=robot).audit()
        np.testing.assert_array_equal(again.dissipated, run.audit().dissipated)
        assert again.worst == run.audit().worst


def test_audit_of_a_stopped_run_covers_the_recorded_time():
    def fails(t, q, v):
        return [np.nan, 0.0] if t > 0.2 else pull_back(t, q, v)

    with pytest.raises(ts.simulate.SimulationStopped) as caught:
        ARM.simulate([0.1, 0.1], [0, 0], 1.0, fails, record=50)
    audit = caught.value.result.audit()
    assert len(audit.t) == len(audit.work) == 5
    assert audit.worst < 1e-8


def test_flow_sum_returns_rows_only_after_their_neighbours():
    """FlowSum returns a row only when the rows after it are known."""
    robot, (q, v), words = CASES["controller"]
    run = robot.simulate(q, v, 0.02, **words)
    columns = [run.t, run.q, run.v, run.tau]
    yes, rows = np.ones(1, bool), len(run.t)

    def part(block):
        t, q, v, tau = block
        return ts.simulate.Result(t, q, v, tau, info=run.info, robot=robot)

    sums, out = FlowSum(part), []
    for k in range(rows):
        sums.waiting, block = sums.after([c[k : k + 1] for c in columns], yes, False)
        out.append(block)
    assert not any(out[:4])
    out.append(sums.after([], yes[:0], True)[1])
    joined = [np.concatenate(x) for x in zip(*(o for o in out if o), strict=True)]
    np.testing.assert_array_equal(joined[0], run.t)
    np.testing.assert_allclose(joined[-2], run.audit().work, rtol=1e-13, atol=1e-16)
