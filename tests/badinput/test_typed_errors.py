"""Invalid calls that used to raise errors of other libraries raise a TorsorError that names the allowed values."""

import pytest

import torsor as ts
from torsor import export
from torsor.compile import Kernel
from torsor.compile.scan import Scan
from torsor.joints import Planar, Revolute, Vec

ARM = ts.robots.two_link()
DTYPE = 'dtype must be "float64" or "float32", not '
SPEC = "a quantity must be a name such as 'mass_matrix' or 'pose:tool0'"
ONLY = "only a Robot can be exported, not a Task"
TYPES = "joint must be a joint type such as"

REFUSED = {
    "kernel dtype": (lambda: ARM.kernel("mass_matrix", dtype="zz"), DTYPE + "'zz'"),
    "kernel dtype object": (lambda: ARM.kernel("mass_matrix", dtype=object()), DTYPE),
    "kernel dtype int": (lambda: ARM.kernel("mass_matrix", dtype=int), DTYPE),
    "program of a Kernel": (lambda: Kernel(ARM.program("mass_matrix"), dtype="zz"), DTYPE),
    "program of a Scan": (lambda: Scan(ARM.program("mass_matrix"), dtype="zz"), DTYPE),
    "kernel of a number": (lambda: ARM.kernel(3), SPEC),
    "kernel of None": (lambda: ARM.kernel(None), SPEC),
    "kernel of a list": (lambda: ARM.kernel(["pose", "tip"]), SPEC),
    "kernel of a tuple with a number": (lambda: ARM.kernel(("pose", 3)), SPEC),
    "program of a number": (lambda: ARM.program(3), SPEC),
    "export_c of a task": (lambda: export.export_c(ARM.task("tip"), "x", "Lambda"), ONLY),
    "export_c of a task as a quantity": (lambda: ARM.export_c("x", ARM.task("tip")), SPEC),
    "export_python of a task": (lambda: export.export_python(ARM.task("tip"), "x", "Lambda"), ONLY),
    "chain of a number": (lambda: ts.large.chain(10, 3), TYPES),
    "chain of numbers": (lambda: ts.large.chain(10, [3]), TYPES),
    "chain of nothing": (lambda: ts.large.chain(10, []), TYPES),
    "axis of letters": (lambda: Revolute("abc"), "Revolute: axis must be 3 numbers"),
    "axis of two": (lambda: Revolute((0, 1)), "Revolute: axis must be 3 numbers, 2 given"),
    "axis of zeros": (lambda: Planar((0, 0, 0)), "Planar: normal is zero; an axis needs a direction"),
}


@pytest.mark.parametrize("call", REFUSED)
def test_invalid_call_raises_a_typed_error(call):
    function, message = REFUSED[call]
    with pytest.raises((ts.ArgumentError, ts.ModelError), match=message):
        function()


def test_joint_types_take_a_plain_tuple_as_axis():
    assert ts.large.chain(10, Revolute((0, 1, 0))).types == (Revolute(Vec(0, 1, 0)),)
    assert Revolute([0, 0, 3.0]) == Revolute(Vec(0, 0, 1))
