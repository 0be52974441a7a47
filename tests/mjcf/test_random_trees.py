"""Random trees with every joint type: written, compiled by MuJoCo, and read back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mjcf.twin import Twin
from tests.trees import Cam, random_tree
from torsor.errors import ModelError
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.io.mjcf.compiling import compile_model
from torsor.model import Description
from torsor.model.assembly import assemble
from torsor.model.joints import Composite, Floating, FunctionJoint, Revolute, Spherical, Universal
from torsor.model.splitting import split_composites
from torsor.spatial import Vec

#: error of M and τ relative to the largest entry: MuJoCo diagonalises inertias, which loses a few digits
CLOSE = 1e-12


def expressible_in_mjcf(d: Description) -> Description:
    """The tree without features missing in MJCF: user-defined joints, and values that differ within a spherical joint."""

    def expressible_joint(j):
        if isinstance(j.kind, (Cam, FunctionJoint)):
            return replace(j, kind=Revolute(Vec(0, 0, 1)) if j.kind.nv == 1 else Universal(Vec(0, 0, 1), Vec(1, 0, 0)))
        if isinstance(j.kind, Composite) and isinstance(j.kind.joints[-1], Spherical):
            return replace(j, armature=j.armature[:1] * j.kind.nv, damping=j.damping[:1] * j.kind.nv)
        if isinstance(j.kind, Floating):
            return replace(j, armature=(), damping=j.damping[:1] * 6)
        if isinstance(j.kind, Spherical):
            return replace(j, armature=j.armature[:1] * 3, damping=j.damping[:1] * 3)
        return j

    return replace(d, joints=tuple(expressible_joint(j) for j in d.joints))


@given(st.integers(0, 10**6))
def test_written_trees_have_the_same_dynamics_in_mujoco(seed):
    d = expressible_in_mjcf(random_tree(seed, bodies=1 + seed % 7))
    assert max(Twin(assemble(split_composites(d)), compile_model(write_mjcf(d)).model).errors(seed, count=1)) < CLOSE


@given(st.integers(0, 10**6))
def test_trees_read_back_have_the_same_dynamics_as_in_mujoco(seed):
    d = expressible_in_mjcf(random_tree(seed, bodies=1 + seed % 7))
    text = write_mjcf(d)
    back = read_mjcf(text)
    assert max(Twin(assemble(back), compile_model(text).model).errors(seed, count=1)) < CLOSE
    assert {f.name for f in back.frames} >= {f.name for f in d.frames}
    assert {x.name for x in back.links} >= {x.name for x in d.links}


def test_write_mjcf_refuses_a_user_defined_joint_by_name():
    d = random_tree(0, bodies=2, kinds=[Cam()])
    with pytest.raises(ModelError, match=r"joint 'joint1': MJCF cannot express Cam"):
        write_mjcf(d)
