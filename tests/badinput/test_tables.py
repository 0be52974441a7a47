"""Arrays with masks, labelled columns or gradients: none of these is dropped silently."""

import numpy as np
import pyarrow as pa
import pytest

import torsor as ts
from torsor.bridges import modern_robotics as mr
from torsor.errors import ArgumentError
from torsor.large import LargeTree
from torsor.simulate import Event, SampledController
from torsor.support.user_arrays import as_array

ARM = ts.robots.two_link()
NAMES = list(ARM.joints)
Q = np.array([0.3, -0.7])
MASKED = np.ma.array([0.3, -0.7], mask=[False, True])
BATCH = np.ma.array(np.tile(Q, (4, 1)), mask=np.eye(4, 2, dtype=bool))


class Frame:
    """A table with ``columns`` and ``__array__``, as in pandas and polars."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, np.asarray(rows)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype)


class Series:
    """One labelled row, as in pandas."""

    def __init__(self, index, row):
        self.index, self.row = index, np.asarray(row)
        self.dtype = self.row.dtype

    def __array__(self, dtype=None, copy=None):
        return np.array(self.row, dtype)


class Labelled:
    """An array with labelled axes, as in xarray."""

    class Axis:
        def __init__(self, values):
            self.values = np.array(values)

    def __init__(self, joints, rows):
        self.dims, self.coords, self.rows = ("time", "joint"), {"joint": self.Axis(joints)}, np.asarray(rows)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.rows, dtype)


class Tensor:
    """Raises in ``__array__`` as a torch tensor with requires_grad does."""

    requires_grad = True

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


CALLS = {
    "one state": lambda x: ARM.mass_matrix(x),
    "second argument": lambda x: ARM.bias_force(Q, x),
    "rows in a list": lambda x: ARM.mass_matrix([x, x]),
    "kernel": lambda x: ARM.kernel("mass_matrix")(x),
    "integrate": lambda x: ARM.integrate(Q, x, 0.1),
    "simulate": lambda x: ARM.simulate(x, Q, 0.01, dt=0.01),
    "rollout": lambda x: ARM.rollout(x, Q, dt=0.01, steps=1),
    "table of torques": lambda x: ARM.simulate(Q, Q, 0.01, [x, x], dt=0.01, integrator="rk45"),
    "held torque": lambda x: ARM.simulate(Q, Q, 0.01, x, dt=0.01),
    "constrained": lambda x: ARM.constrained().forward_dynamics(x, Q, Q),
    "task": lambda x: ARM.task("tip").inverse_mass_matrix(x),
    "explain": lambda x: ARM.explain(x, Q, Q),
    "large tree": lambda x: LargeTree.of(ARM).inverse_dynamics(x, Q, Q),
    "rigid": lambda x: ts.rigid.exp3([*x, 0] if isinstance(x, np.ndarray) else x),
    "compat": lambda x: mr.FKinSpace(np.eye(4), np.eye(6)[:, :2], x),
}


@pytest.mark.parametrize("call", [c for c in CALLS if c != "rigid"])
def test_masked_entries_are_refused(call):
    with pytest.raises(ts.ArgumentError, match="masked"):
        CALLS[call](MASKED)
    CALLS[call](np.ma.array(Q))  # no entry is masked: nothing is lost


def test_masked_batch_and_masked_model_constants_are_refused():
    with pytest.raises(ts.ArgumentError, match="q is a masked array with 2 masked entries"):
        ARM.mass_matrix(BATCH)
    with pytest.raises(ts.ArgumentError, match="MaskedArray"):
        ts.rigid.exp3(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
    with pytest.raises(ts.ModelError, match="link 'a': com must be a number, not None"):
        ts.Builder("r").link("a", 1.0, com=np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
    with pytest.raises(ts.ModelError, match="link 'a': mass must be a number, not masked"):
        ts.Builder("r").link("a", np.ma.masked)
    pose = np.ma.array(np.eye(4), mask=np.zeros((4, 4)))
    pose[0, 3] = np.ma.masked
    with pytest.raises(ts.ModelError, match=r"Mlist\[0\] must be a 4×4 matrix of finite numbers"):
        ts.from_mr([pose, np.eye(4)], [np.eye(6)], np.array([[0, 0, 1, 0, 0, 0.0]]).T)


def tables(names, rows):
    rows = np.asarray(rows)
    made = [Frame(names, rows), Labelled(names, rows), pa.table({n: rows[:, k] for k, n in enumerate(names)})]
    return [*made, Frame(np.array(names, dtype=object), rows)]


def test_labelled_columns_are_assigned_by_name_in_any_order():
    rows = np.random.default_rng(0).normal(size=(5, 2))
    expected = ARM.inverse_dynamics(rows, rows, rows)
    for table in (*tables(NAMES, rows), *tables(NAMES[::-1], rows[:, ::-1])):
        assert (ARM.inverse_dynamics(table, table, table) == expected).all()
        assert (ARM.rollout(table, table, dt=0.01, steps=2).q == ARM.rollout(rows, rows, dt=0.01, steps=2).q).all()
    series = Series(NAMES[::-1], rows[0, ::-1])
    assert (ARM.mass_matrix(series) == ARM.mass_matrix(rows[0])).all()
    held = ARM.constrained().forward_dynamics
    assert (held(series, series, series).a == held(rows[0], rows[0], rows[0]).a).all()


def test_controllers_may_return_labelled_joint_forces_in_any_order():
    series = Series(NAMES[::-1], [2.0, 1.0])
    laws = {"function": lambda t, q, v: series, "sampled": SampledController(lambda t, q, v: series, 100)}
    laws["with a state"] = SampledController(lambda t, q, v, x: (series, x), 100, state=0)
    for law in laws.values():
        assert ARM.simulate(Q, Q, 0.01, law).tau[0].tolist() == [1.0, 2.0]
    with pytest.raises(ts.ArgumentError, match="the result of the controller has columns labelled 'a', 'b'"):
        ARM.simulate(Q, Q, 0.01, lambda t, q, v: Series(["a", "b"], [1.0, 2.0]))
    with pytest.raises(ts.ArgumentError, match=r"wrenches\['tip'\] has columns labelled"):
        ARM.simulate(Q, Q, 0.01, wrenches={"tip": lambda t, q, v: Series(list("abcdef"), np.ones(6))})


def test_callbacks_that_return_tensors_with_gradients_are_refused():
    with pytest.raises(ts.ArgumentError, match=r"the controller returned .*Tensor"):
        ARM.simulate(Q, Q, 0.01, lambda t, q, v: Tensor())
    with pytest.raises(ts.ArgumentError, match=r"event 0 returned .*Tensor"):
        ARM.simulate(Q, Q, 0.01, events=[Event(lambda t, q, v: Tensor())])


@pytest.mark.parametrize("names", [["shoulder", "elbow"], [NAMES[0], "elbow"], [NAMES[0], NAMES[0]]])
def test_columns_with_other_names_are_refused(names):
    with pytest.raises(ts.ArgumentError, match=f"q has columns labelled .*; the names of its entries are {', '.join(NAMES)}"):
        ARM.mass_matrix(Frame(names, [Q]))


def test_unlabelled_and_numbered_columns_are_assigned_by_position():
    for table in (Frame(range(2), [Q]), Frame(np.arange(2), [Q]), Labelled([10, 20], [Q]), Series(range(2), Q)):
        assert (ARM.mass_matrix(table) == ARM.mass_matrix(Q)).all()


def test_column_labels_of_a_spherical_joint_are_numbered():
    ball = (
        ts.Builder("b")
        .link("a")
        .link("c", 1, com=(0, 0, 0.3), inertia=(0.1, 0.2, 0.25))
        .joint("s", "spherical", "a", "c")
        .build()
    )
    q = ball.random_configuration(0)
    names = [f"s[{k}]" for k in range(4)]
    assert (ball.pose(Frame(names[::-1], [q[::-1]]), "c") == ball.pose(q[None], "c")).all()


@pytest.mark.parametrize("call", [c for c in CALLS if c not in ("rows in a list", "table of torques")])
def test_tensor_with_gradients_is_an_argument_error(call):
    with pytest.raises(ts.ArgumentError):
        CALLS[call](Tensor())
    with pytest.raises(ts.ArgumentError, match="detach"):
        ARM.mass_matrix(Tensor())


@pytest.mark.parametrize("value", [np.array([1j, 2.0]), ["1.0", "2.0"]], ids=["complex", "text"])
def test_as_array_refuses_complex_numbers_and_text(value):
    """NumPy itself would drop imaginary parts with a warning and parse numbers in text."""
    with pytest.raises(ArgumentError, match=r"q must be .* not a type of real numbers"):
        as_array("q", value, dtype=float)
