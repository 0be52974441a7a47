"""Every public method × every argument × unusual and invalid arrays (RELIABILITY D1, D2, D4)."""

from __future__ import annotations

import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest

import torsor as ts
from torsor.kernels import quantities
from torsor.robot import Robot

#: a two-link arm with effort limits, which payload_capacity needs
ARM = ts.robots.two_link().description
ROBOT = Robot(replace(ARM, joints=tuple(replace(j, effort_limit=(100.0,) * j.kind.nv) for j in ARM.joints)))
LINK = ROBOT.links[-1]
WORDS = {"frame": LINK, "at": LINK, "frames": None, "expressed_in": "world", "measure": "asada", "rows": ("vx", "vy")}
WORDS |= {"below": "link2", "moving": True, "links": None, "relative_to": None, "kind": None, "rotation": "rpy", "method": None}
#: numbers, whose shape is a batch, and arrays of other sizes than q
NUMBERS, SIZES = {"dt": 0.1, "s": 0.1, "height": -10.0}, {"wrench": 6}
METHODS = [name for name, row in quantities.QUANTITIES.items() if hasattr(Robot, name) and not row.outputs]


def arguments(name):
    rng = np.random.default_rng(0)
    inputs = quantities.QUANTITIES[name].inputs
    return {x: np.array(NUMBERS[x]) if x in NUMBERS else rng.normal(size=SIZES.get(x, 2)) for x in inputs}


def call(name, values, **options):
    words = {k: WORDS[k] for k in quantities.QUANTITIES[name].words}
    return getattr(ROBOT, name)(*values, **words, **options)


CASES = [(name, k) for name in METHODS for k in range(len(quantities.QUANTITIES[name].inputs))]
SAME = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()) if x.ndim else x.item(),
    "strided": lambda x: np.repeat(x, 2)[::2] if x.ndim else x,
    "reversed twice": lambda x: x[::-1].copy()[::-1] if x.ndim else x,
    "fortran": lambda x: np.asfortranarray(x),
    "read-only": lambda x: _read_only_copy(x),
    "big-endian": lambda x: x.astype(">f8"),
    "subclass": lambda x: x.view(_Sub),
    "unaligned": lambda x: _unaligned_copy(x),
}
WRONG = {
    "short": lambda x: x[:-1],
    "long": lambda x: np.append(x, 0.0),
    "column": lambda x: x[:, None],
    "empty": lambda x: x[:0],
    "0-d": lambda x: x[0],
}
REFUSED = {
    "object": lambda x: x.astype(object),
    "complex": lambda x: x.astype(complex),
    "bool": lambda x: x > 0,
    "text": lambda x: x.astype(str),
    "none": lambda x: None,
    "ragged": lambda x: [[1.0], [1.0, 2.0]],
}


class _Sub(np.ndarray):
    pass


def _read_only_copy(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def _unaligned_copy(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    view = raw[1:].view(x.dtype).reshape(x.shape) if x.ndim else x
    if x.ndim:
        view[...] = x
    return view


@pytest.mark.parametrize(("name", "k"), CASES)
def test_strided_and_converted_arrays_give_the_same_result(name, k):
    good = list(arguments(name).values())
    expected = np.asarray(call(name, good))
    for label, change in SAME.items():
        values = [change(x) if i == k else x for i, x in enumerate(good)]
        before = [np.copy(v) for v in values]
        got = np.asarray(call(name, values))
        assert got.tobytes() == expected.tobytes(), label
        assert all(np.array_equal(b, v) for b, v in zip(before, values, strict=True)), f"{label}: an input was changed"
        assert not any(np.shares_memory(got, v) for v in values if isinstance(v, np.ndarray))


@pytest.mark.parametrize(("name", "k"), CASES)
def test_float32_and_integers_are_converted(name, k):
    good = [np.round(x * 3) + 0.0 for x in arguments(name).values()]  # integers have no −0
    expected = np.asarray(call(name, good))
    for dtype in (np.float32, np.int64, np.int8, np.float16):
        values = [x.astype(dtype) if i == k else x for i, x in enumerate(good)]
        assert np.asarray(call(name, values)).tobytes() == expected.tobytes(), dtype


@pytest.mark.parametrize(("name", "k"), CASES)
def test_wrong_shape_error_names_argument_and_expected_shape(name, k):
    good = arguments(name)
    argument = list(good)[k]
    if argument in NUMBERS:
        pytest.skip("a number: any shape is a batch")
    for label, change in WRONG.items():
        values = [change(x) if i == k else x for i, x in enumerate(good.values())]
        with pytest.raises(ts.ArgumentError) as error:
            call(name, values)
        text = str(error.value)
        assert text.startswith(f"{argument} has shape {np.shape(values[k])}, expected (..., {SIZES.get(argument, 2)})"), (
            label,
            text,
        )


@pytest.mark.parametrize(("name", "k"), CASES)
def test_arguments_that_are_not_real_numbers_are_refused_by_name(name, k):
    good = arguments(name)
    argument = list(good)[k]
    for change in REFUSED.values():
        values = [change(np.atleast_1d(x)) if i == k else x for i, x in enumerate(good.values())]
        with pytest.raises(ts.ArgumentError, match=f"^{argument} "):
            call(name, values)


@pytest.mark.parametrize(("name", "k"), CASES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_or_infinity_error_names_argument_and_index(name, k, bad):
    good = arguments(name)
    argument = list(good)[k]
    values = [np.copy(x) for x in good.values()]
    values[k][... if argument in NUMBERS else 1] = bad
    place = "" if argument in NUMBERS else r"\[.*\]"
    with pytest.raises(ts.ArgumentError, match=rf"^{argument}{place} is -?(nan|inf)"):
        call(name, values)
    batch = [np.stack([x] * 5) for x in good.values()]
    batch[k][3, ...] = bad
    with pytest.raises(ts.ArgumentError, match=rf"^{argument}\[3.*\] is -?(nan|inf)"):
        call(name, batch)


@pytest.mark.parametrize("name", METHODS)
def test_leading_axes_of_arguments_broadcast(name):
    good = list(arguments(name).values())
    expected = np.asarray(call(name, good))
    rng = np.random.default_rng(1)
    leads = [(3, 1)] + [(4,)] * (len(good) - 1)
    many = [x + rng.normal(size=(*lead, *x.shape)) * 0.1 for lead, x in zip(leads, good, strict=True)]
    got = call(name, many)
    lead = (3, 4) if len(good) > 1 else (3, 1)
    assert got.shape == (*lead, *expected.shape)
    one = call(name, [many[0][2, 0]] + [x[1] for x in many[1:]])
    assert np.asarray(one).tobytes() == got[2, 1 if len(good) > 1 else 0].tobytes()
    empty = [np.zeros((0, *x.shape)) for x in good]
    assert call(name, empty).shape == (0, *expected.shape)
    if len(good) > 1:
        with pytest.raises(ts.ArgumentError, match="batch axes do not match"):
            call(name, [np.zeros((2, *good[0].shape)), np.zeros((3, *good[1].shape)), *good[2:]])


@pytest.mark.parametrize("name", METHODS)
def test_invalid_out_arrays_are_refused(name):
    good = list(arguments(name).values())
    batch = [np.stack([x, x * 0.5, x * 2]) for x in good]
    expected = np.asarray(call(name, batch))
    out = np.empty_like(expected)
    assert call(name, batch, out=out) is out
    assert out.tobytes() == expected.tobytes()
    for wrong in (np.empty(expected.shape, np.float32), np.empty((4, *expected.shape[1:])), _read_only_copy(out), [1.0]):
        with pytest.raises(ts.ArgumentError, match="out for"):
            call(name, batch, out=wrong)
    gaps = np.empty((*expected.shape, 2))[..., 0]
    call(name, batch, out=gaps)
    assert np.array_equal(gaps, expected)


def test_out_may_overlap_an_input():
    q, v, a = (np.random.default_rng(k).normal(size=(50, 2)) for k in range(3))
    expected = ROBOT.inverse_dynamics(q, v, a)
    ROBOT.inverse_dynamics(q, v, a, out=a)
    assert (a == expected).all()
    shared = np.zeros((51, 2))
    shared[:50] = q
    expected = ROBOT.gravity_force(q)
    ROBOT.gravity_force(shared[:50], out=shared[1:])
    assert (shared[1:] == expected).all()


def test_unknown_name_error_lists_valid_names():
    q = np.zeros(2)
    for wrong in (lambda: ROBOT.pose(q, "hand"), lambda: ROBOT.jacobian(q, "hand"), lambda: ROBOT.frame("hand"),
                  lambda: ROBOT.inverse_dynamics(q, q, q, {"hand": np.zeros(6)})):  # fmt: skip
        with pytest.raises(ts.UnknownName, match=f"'hand'.*valid names: .*{LINK}"):
            wrong()
    with pytest.raises(ts.UnknownName, match="world"):
        ROBOT.jacobian(q, LINK, expressed_in="local")
    with pytest.raises(ts.UnknownName, match="no moving joint"):
        ROBOT.joint("hip")
    with pytest.raises(ts.UnknownName, match="no link"):
        ROBOT.link("hip")
    with pytest.raises(ts.UnknownName, match="no quantity named 'torque'"):
        ROBOT.kernel("torque")
    with pytest.raises(ts.ArgumentError, match="needs a frame"):
        ROBOT.kernel("pose")
    with pytest.raises(ts.ArgumentError, match="too many parts"):
        ROBOT.kernel("mass_matrix:x")
    with pytest.raises(ts.ArgumentError, match="one or more quantities"):
        ROBOT.kernel()
    with pytest.raises(ts.ArgumentError, match='"float64" or "float32"'):
        ROBOT.kernel("mass_matrix", dtype=np.int64)


def test_wrong_number_or_kind_of_arguments_is_refused():
    q = np.zeros(2)
    with pytest.raises(TypeError):
        ROBOT.inverse_dynamics(q, q)
    with pytest.raises(TypeError):
        ROBOT.inverse_dynamics(q, q, q, None, q)
    with pytest.raises(TypeError):
        ROBOT.mass_matrix(q, speed=3)
    with pytest.raises(ts.ArgumentError, match="takes 1 arrays"):
        ROBOT.kernel("mass_matrix")(q, q)
    with pytest.raises(ts.ArgumentError, match="wrenches must be a dict"):
        ROBOT.inverse_dynamics(q, q, q, np.zeros(6))
    with pytest.raises(ts.ArgumentError, match=r"wrenches\['.*'\] has shape \(3,\)"):
        ROBOT.inverse_dynamics(q, q, q, {LINK: np.zeros(3)})


def test_robot_is_immutable_and_can_be_pickled():
    with pytest.raises(AttributeError, match="is immutable"):
        ROBOT.gravity = (0, 0, 0)
    copy = pickle.loads(pickle.dumps(ROBOT))
    assert copy == ROBOT
    assert hash(copy) == hash(ROBOT)
    assert (copy.mass_matrix([0.1, 0.2]) == ROBOT.mass_matrix([0.1, 0.2])).all()


def test_forward_dynamics_names_a_massless_joint_and_other_methods_work():
    """RELIABILITY B1: loads; kinematics and inverse dynamics work; forward dynamics names the joint; no NaN."""
    b = ts.Builder("light").link("base").link("arm", mass=1, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)).link("hair")
    b.joint("shoulder", "revolute", "base", "arm", axis=(0, 0, 1))
    b.joint("wisp", "revolute", "arm", "hair", xyz=(1, 0, 0), axis=(0, 0, 1))
    robot = b.build()
    q = np.array([0.3, 0.4])
    assert np.isfinite(robot.pose(q, "hair")).all()
    assert robot.inverse_dynamics(q, q, q)[1] == 0
    for call_it in (lambda: robot.forward_dynamics(q, q, q), lambda: robot.mass_matrix_inverse(q)):
        with pytest.raises(ts.SingularError, match="'wisp' moves no mass"):
            call_it()


def test_forward_dynamics_names_a_joint_that_moves_no_mass_at_one_configuration():
    """A point mass on the axis: singular at this state only; detected at run time, in a batch too."""
    b = ts.Builder("gimbal").link("base").link("slide").link("bob", mass=1.0, inertia=(0, 0, 0))
    b.joint("turn", "revolute", "base", "slide", axis=(0, 0, 1)).joint("reach", "prismatic", "slide", "bob", axis=(1, 0, 0))
    robot = b.build(gravity=(0, 0, 0))
    away, on_axis = np.array([0.0, 0.5]), np.array([0.0, 0.0])
    v = np.array([0.1, 0.1])
    assert np.isfinite(robot.forward_dynamics(away, v, v)).all()
    with pytest.raises(ts.SingularError, match="'turn' moves no mass"):
        robot.forward_dynamics(on_axis, v, v)
    with pytest.raises(ts.SingularError, match="'turn' moves no mass"):
        robot.forward_dynamics(np.stack([away] * 9 + [on_axis]), v, v)


def test_zero_quaternion_is_refused_and_any_other_is_normalised():
    robot = ts.robots.quadruped()
    rng = np.random.default_rng(0)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    scaled = q.copy()
    scaled[3:7] *= 3.0
    np.testing.assert_allclose(robot.bias_force(scaled, v), robot.bias_force(q, v), rtol=1e-12, atol=1e-12)
    q[3:7] = 0
    with pytest.raises(ts.TorsorError, match="quaternion"):
        robot.bias_force(q, v)


def test_eight_threads_give_the_same_bits_as_one():
    """RELIABILITY E1, with kernels that no thread has built yet."""
    robot = Robot(ts.robots.ur5().with_gravity((0.1, 0.2, -9.0)).description)
    rng = np.random.default_rng(0)
    states = rng.normal(size=(200, 3, 6))
    results: dict[int, list] = {}
    gate = threading.Barrier(8)

    def work(k):
        gate.wait()
        results[k] = [(robot.inverse_dynamics(*s), robot.mass_matrix(s[0]), robot.forward_dynamics(*s)) for s in states]

    workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    serial = [(robot.inverse_dynamics(*s), robot.mass_matrix(s[0]), robot.forward_dynamics(*s)) for s in states]
    for k in range(8):
        assert all((x == y).all() for a, b in zip(results[k], serial, strict=True) for x, y in zip(a, b, strict=True))


def test_nan_in_an_input_that_no_result_depends_on_is_refused():
    """q[0] of an arm turns it about gravity's axis: no torque depends on it, but NaN is refused anyway."""
    robot = ts.robots.ur5()
    q = np.zeros(6)
    q[0] = np.nan
    for wrong in (lambda: robot.gravity_force(q), lambda: robot.mass_matrix(q), lambda: robot.mass_matrix(np.stack([q] * 3))):
        with pytest.raises(ts.ArgumentError, match=r"^q\[.*0\] is nan"):
            wrong()


def test_link_and_joint_names_may_contain_any_characters():
    b = ts.Builder("odd").link("base").link("ns:arm/é <b>", mass=1.0, inertia=(0.1, 0.1, 0.1))
    robot = b.joint("ns:j", "revolute", "base", "ns:arm/é <b>").build()
    assert robot.pose([0.3], "ns:arm/é <b>").shape == (4, 4)
    assert robot.jacobian([0.3], "ns:arm/é <b>", "body").shape == (6, 1)
    assert robot.kernel(("pose", "ns:arm/é <b>"))([0.3]).shape == (4, 4)
    assert robot.inverse_dynamics([0.3], [0.0], [0.0], {"ns:arm/é <b>": np.ones(6)}).shape == (1,)


def test_robot_methods_can_be_pickled():
    for method in (ROBOT.inverse_dynamics, ROBOT.mass_matrix, ROBOT.pose):
        copy = pickle.loads(pickle.dumps(method))
        assert copy.__name__ == method.__name__
    assert (pickle.loads(pickle.dumps(ROBOT.mass_matrix))([0.1, 0.2]) == ROBOT.mass_matrix([0.1, 0.2])).all()


def test_kernel_takes_keywords_and_refuses_repeated_quantities():
    kernel = ROBOT.kernel("mass_matrix", "bias_force")
    q, v = [0.1, 0.2], [0.3, 0.4]
    for x, y in zip(kernel(v=v, q=q), kernel(q, v), strict=True):
        assert (x == y).all()
    with pytest.raises(ts.ArgumentError, match=r"takes q, v; check tau"):
        kernel(q, v=v, tau=v)
    with pytest.raises(ts.ArgumentError, match="names one twice"):
        ROBOT.kernel("mass_matrix", "mass_matrix")


def test_robot_with_symbols_is_printed_but_not_compiled():
    import sympy

    robot = ts.robots.two_link(m1=sympy.Symbol("m1"))
    assert "m1" in repr(robot)
    assert "m1" in str(robot)
    assert robot.link(robot.links[1]).mass == sympy.Symbol("m1")
    with pytest.raises(ts.ArgumentError, match="has symbols where a kernel needs numbers"):
        robot.mass_matrix([0.0, 0.0])


def test_forward_dynamics_of_a_massless_robot_fails_only_when_called():
    b = ts.Builder("light").link("base").link("hair").joint("wisp", "revolute", "base", "hair")
    robot = b.build()
    assert hasattr(robot, "forward_dynamics")
    with pytest.raises(ts.SingularError, match="wisp"):
        robot.forward_dynamics([0.0], [0.0], [0.0])


def test_base_velocity_is_refused_for_a_floating_base():
    robot = ts.robots.quadruped()
    zero = np.zeros(robot.nv)
    with pytest.raises(ts.ArgumentError, match="base_velocity needs a fixed base"):
        robot.inverse_dynamics(robot.neutral(), zero, zero, base_velocity=np.zeros(6))


def test_link_called_world_is_reported_for_a_floating_base_only():
    assert not any("world" in line for line in ts.robots.ur5().report if "hides the fixed world frame" in line)
    assert any("hides the fixed world frame" in line for line in ts.robots.ur5().with_base("floating").report)


def test_random_configuration_has_the_given_size_and_unit_quaternions():
    robot = ts.robots.quadruped()
    q = robot.random_configuration(0, size=(4, 5))
    assert q.shape == (4, 5, robot.nq)
    np.testing.assert_allclose(np.linalg.norm(q[..., 3:7], axis=-1), 1)
    assert robot.random_configuration(0, size=3).shape == (3, robot.nq)
    assert robot.random_configuration(0).shape == (robot.nq,)


@pytest.mark.parametrize(
    "call",
    [
        lambda q: ROBOT.mass_matrix(q),
        lambda q: ROBOT.inverse_dynamics([0.0, 0.0], q, [0.0, 0.0]),
        lambda q: ROBOT.pose(np.array(q), "tip"),
        lambda q: ROBOT.task("tip", ("vx", "vy")).mass_matrix(q),
        lambda q: ROBOT.simulate(q, [0.0, 0.0], 0.1),
    ],
)
def test_symbols_given_to_a_method_are_refused_with_the_call_that_takes_them(call):
    import sympy

    with pytest.raises(ts.ArgumentError, match=r"not of symbols; robot\.symbolic\(\) has the equations"):
        call(sympy.symbols("q1 q2"))


def test_objects_that_are_not_symbols_are_named_as_before():
    with pytest.raises(ts.ArgumentError, match=r"real numbers of shape .* not of object"):
        ROBOT.mass_matrix([None, "a"])
