"""Writing URDF: every joint type, every rotation, and files that are written completely or not at all."""

from __future__ import annotations

import math
import os
import random
import stat
from dataclasses import dataclass, replace

import numpy as np
import pytest

from torsor.algorithms.crba import crba
from torsor.algorithms.rnea import rnea
from torsor.errors import ArgumentError, FileError, ModelError
from torsor.io.urdf import read_urdf
from torsor.io.urdf.writer import write_urdf
from torsor.model.assembly import assemble
from torsor.model.description import INF, Description, Geometry, Joint, Link, Mimic, NamedFrame
from torsor.model.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    Floating,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)  # fmt: skip
from torsor.scalar import Graph
from torsor.spatial import Inertia, Quaternion, Sym, Transform, Vec, from_rpy
from torsor.spatial.rigid.physical import inertia_problems
from torsor.spatial.vector import flat

SKEW = Vec(0.6, 0.0, 0.8)
KINDS = [
    Revolute(Vec(0, 0, 1)), Revolute(SKEW), Continuous(Vec(0, -1, 0)), Prismatic(Vec(1, 0, 0)), Helical(SKEW, 0.02),
    Cylindrical(Vec(0, 1, 0)), Universal(Vec(1, 0, 0), SKEW), Spherical(), Planar(Vec(0, 0, 1)), Floating(), Fixed(),
]  # fmt: skip


def body(rng: random.Random) -> Inertia:
    """Three point masses, so that the inertia is physically possible."""
    total = Inertia.zero()
    for _ in range(3):
        total = total + Inertia.of(rng.uniform(0.1, 2), Vec(*(rng.uniform(-1, 1) for _ in range(3))), Sym.zero())
    return total


def pose(rng: random.Random) -> Transform:
    R = Quaternion(*(rng.gauss(0, 1) for _ in range(4))).normalized.matrix
    return Transform.of_pose(R, Vec(*(rng.uniform(-1, 1) for _ in range(3))))


def every_kind() -> Description:
    rng = random.Random(3)
    links = [Link(f"l{i}", body(rng)) for i in range(len(KINDS) + 1)]
    joints = []
    for i, kind in enumerate(KINDS):
        nv = tuple(float(k + 1) for k in range(kind.nv))
        free = isinstance(kind, Continuous)
        joints.append(
            Joint(
                f"j{i}", kind, f"l{i}", f"l{i + 1}", pose(rng), armature=nv, damping=nv, friction=nv, effort_limit=nv,
                velocity_limit=nv, lower=() if free else (-1.5,) * kind.nq, upper=() if free else (2.5,) * kind.nq,
            )
        )  # fmt: skip
    return Description("all", tuple(links), tuple(joints))


def dynamics(d: Description) -> tuple[np.ndarray, np.ndarray]:
    model, rng = assemble(d), random.Random(7)
    q, v, a = ([rng.uniform(-1, 1) for _ in range(n)] for n in (model.nq, model.nv, model.nv))
    return np.array(crba(model, q), dtype=float), np.array(rnea(model, q, v, a), dtype=float)


def test_urdf_writer_keeps_every_joint_type():
    first = every_kind()
    second = read_urdf(write_urdf(first))
    for a, b in zip(first.joints, second.joints, strict=True):
        assert replace(a, origin=b.origin) == b
    assert second.report == ()
    for x, y in zip(dynamics(first), dynamics(second), strict=True):
        assert np.abs(x - y).max() <= 2e-15 * np.abs(x).max()


def test_ten_round_trips_do_not_change_numbers():
    first = last = every_kind()
    for _ in range(10):
        last = read_urdf(write_urdf(last))
    for x, y in zip(dynamics(first), dynamics(last), strict=True):
        assert np.abs(x - y).max() <= 4e-15 * np.abs(x).max()


def rotations():
    rng = random.Random(11)
    for _ in range(300):
        yield pose(rng).pose[0]
    for k in range(17):  # near gimbal lock, where roll and yaw are about the same axis
        for sign in (1, -1):
            yield from_rpy(rng.uniform(-3, 3), sign * (math.pi / 2 - 10.0**-k), rng.uniform(-3, 3))
    yield from_rpy(0.3, math.pi / 2, 0.4)
    yield from_rpy(0, 1.570796327, 1.2)
    yield from_rpy(math.pi, 0, math.pi)


def test_urdf_writer_keeps_every_rotation_also_near_gimbal_lock():
    for R in rotations():
        d = Description("r", (Link("a"), Link("b")), (Joint("j", Fixed(), "a", "b", Transform.of_pose(R, Vec(0, 0, 0))),))
        back = read_urdf(write_urdf(d)).joints[0].origin.pose[0]
        assert max(abs(x - y) for x, y in zip(flat(R), flat(back), strict=True)) < 1.5e-15


def test_urdf_writer_omits_infinite_limits():
    d = Description(
        "r",
        (Link("a"), Link("b"), Link("c")),
        (
            Joint("i", Revolute(Vec(0, 0, 1)), "a", "b"),
            Joint(
                "j", Prismatic(Vec(0, 0, 1)), "b", "c", lower=(-INF,), upper=(1.0,), effort_limit=(INF,), velocity_limit=(2.0,)
            ),
        ),
    )
    text = write_urdf(d)
    assert "inf" not in text
    i, j = read_urdf(text).joints
    assert (i.lower, i.upper, i.effort_limit, i.velocity_limit) == ((), (), (), ())
    assert (j.lower, j.upper, j.effort_limit, j.velocity_limit) == ((), (1.0,), (), (2.0,))


def test_urdf_writer_writes_frames_as_massless_links():
    d = Description(
        "r",
        (Link("a"), Link("b")),
        (Joint("tip_joint", Fixed(), "a", "b"),),
        frames=(NamedFrame("tip", "b", Transform.of_pose(from_rpy(0.1, 0, 0), Vec(1, 2, 3))),),
    )
    text = write_urdf(d)
    back = read_urdf(text)
    assert back.frames[0].name == "tip"
    assert back.links == d.links
    assert back.joints == d.joints
    assert assemble(back).frame("tip").X.r == assemble(d).frame("tip").X.r
    back = read_urdf(text[: text.index("<torsor>")] + "</robot>")  # as other readers have it
    assert back.joints[1].name == "tip_joint_"
    assert back.link("tip").inertia == Inertia.zero()
    assert assemble(back).frame("tip").X.r == assemble(d).frame("tip").X.r


def test_base_and_gravity_are_written_as_own_elements():
    d = replace(every_kind(), base="floating", gravity=Vec(0, 0, -1.62))
    text = write_urdf(d)
    assert "<!-- free base, written as torsor's own elements, which other readers ignore: " in text
    assert "<!-- gravity, written as torsor's own elements, which other readers ignore: (0, 0, -1.62) m/s2 -->" in text
    back = read_urdf(text)
    assert (back.base, back.gravity) == (d.base, d.gravity)
    assert read_urdf(text, base="fixed").base == "fixed"
    assert "gravity" not in write_urdf(every_kind())


def test_urdf_writer_keeps_shapes_and_mimic_joints():
    shapes = (
        Geometry("visual", "mesh", uri="package://a & b/x.stl", scale=(1.0, -1.0, 0.001), name='a "quoted" name'),
        Geometry("collision", "box", (1.0, 2.0, 3.0)),
        Geometry("collision", "cylinder", (0.1, 0.2)),
        Geometry("collision", "capsule", (0.1, 0.2)),
        Geometry("collision", "sphere", (0.1,)),
    )
    d = Description(
        "<r>",
        (Link("ä\n", geometry=shapes), Link("b"), Link("c")),
        (
            Joint("i", Continuous(Vec(0, 0, 1)), "ä\n", "b"),
            Joint("j", Continuous(Vec(0, 0, 1)), "b", "c", mimic=Mimic("i", -0.1, 1 / 3)),
        ),
    )
    back = read_urdf(write_urdf(d))
    assert (back.name, back.links, back.joints) == (d.name, d.links, d.joints)


# -- robots that cannot be written -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mine(Revolute):
    name = "revolute"  # even if its name is that of a URDF joint type


def one_joint(kind=Fixed(), link: Link = Link("b"), name: str = "r", **options) -> Description:  # noqa: B008
    return Description(name, (Link("a"), link), (Joint("j", kind, "a", "b", **options),))


def test_urdf_writer_refuses_unsupported_robots():
    x = Graph().input(0)
    refused = {
        "joint 'j': URDF cannot express Mine, only fixed, revolute": one_joint(Mine(Vec(0, 0, 1))),
        "joint 'j': URDF gives a continuous joint no lower and upper limit": one_joint(Continuous(Vec(0, 0, 1)), lower=(-1.0,)),
        "link 'b': it has a first moment of mass and no mass, which URDF cannot express": one_joint(
            link=Link("b", Inertia(0, Vec(1, 0, 0), Sym.zero()))
        ),
        "is not a finite number": one_joint(link=Link("b", Inertia(x, Vec(0, 0, 0), Sym.zero()))),
        "link 'b': URDF has no visual of shape 'egg'": one_joint(link=Link("b", geometry=(Geometry("visual", "egg"),))),
        "robot 'a\\x00b' cannot be written as XML: ": one_joint(name="a\0b"),
    }  # fmt: skip
    for message, d in refused.items():
        with pytest.raises(ModelError) as caught:
            write_urdf(d)
        assert message in str(caught.value)


def test_inertia_problems_ignores_inertias_that_are_not_numeric():
    assert inertia_problems(Inertia(object(), Vec(0, 0, 0), Sym.zero())) == []
    assert inertia_problems(Inertia(0, Vec(1, 0, 0), Sym.zero())) == ["it has a first moment of mass and no mass"]


# -- files -------------------------------------------------------------------------------------------------------------------


def test_urdf_writer_leaves_the_old_file_unchanged_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "r.urdf"
    text = write_urdf(one_joint(), path)
    assert path.read_text(encoding="utf-8") == text
    os.chmod(path, 0o640)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(FileError, match=r"r.urdf: cannot be written: No space left on device$"):
            write_urdf(every_kind(), path)
    assert path.read_text(encoding="utf-8") == text
    assert os.listdir(tmp_path) == ["r.urdf"]
    write_urdf(every_kind(), path)
    assert read_urdf(path).name == "all"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_urdf_writer_keeps_symbolic_links(tmp_path):
    (tmp_path / "link.urdf").symlink_to(tmp_path / "real.urdf")
    write_urdf(one_joint(), tmp_path / "link.urdf")
    assert (tmp_path / "link.urdf").is_symlink()
    assert read_urdf(tmp_path / "real.urdf").root == "a"


def test_urdf_writer_refuses_paths_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match="is a directory or a device and cannot be replaced by a file"):
        write_urdf(one_joint(), tmp_path)
    with pytest.raises(FileError, match="is a directory or a device and cannot be replaced by a file"):
        write_urdf(one_joint(), "/dev/full")
    with pytest.raises(FileError, match=r"cannot be written: No such file or directory"):
        write_urdf(one_joint(), tmp_path / "no" / "r.urdf")
    with pytest.raises(FileError, match=r"cannot be written: embedded null byte|is no path"):
        write_urdf(one_joint(), "a\0b")
    with pytest.raises(ArgumentError, match="path must be a path, not int"):
        write_urdf(one_joint(), 1)  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []
