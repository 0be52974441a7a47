"""MJCF files with every supported feature, against MuJoCo: dynamics, poses, loops, limits, names and the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tests.mjcf.twin import Twin, random_state
from torsor.algorithms import pose
from torsor.errors import FileError, ModelError, ModelWarning
from torsor.io.mjcf import read_mjcf
from torsor.io.mjcf.compiling import compile_model
from torsor.model import Description
from torsor.model.assembly import assemble

HERE = Path(__file__).parent
FILES = sorted(path.name for path in HERE.glob("*.xml"))
LOUD = "passive.xml"
#: constraints that torsor does not read
UNHELD = "loops.xml"


def read(name: str, **options) -> Description:
    if name not in (LOUD, UNHELD):
        return read_mjcf(HERE / name, **options)
    with pytest.warns(ModelWarning):
        return read_mjcf(HERE / name, **options)


def bare_twin(name: str) -> tuple[Twin, Description]:
    """The tree without loops and mimic joints, with MuJoCo's model of the same file."""
    d = replace(read(name, mimic=False), loops=())
    return Twin(assemble(d), compile_model(HERE / name).model), d


@pytest.mark.parametrize("name", FILES)
def test_mjcf_dynamics_agree_with_mujoco(name):
    twin, _ = bare_twin(name)
    assert (twin.model.nq, twin.model.nv) == (twin.m.nq, twin.m.nv)
    assert max(twin.errors(count=5)) < 1e-12


@pytest.mark.parametrize("name", FILES)
def test_poses_of_links_and_sites_agree_with_mujoco(name):
    twin, d = bare_twin(name)
    q, v, a = random_state(twin.model, np.random.default_rng(1))
    twin.theirs(q, v, a)
    m, data = twin.m, twin.d
    places = {m.body(i).name or f"body{i}": (data.xpos[i], data.xmat[i]) for i in range(m.nbody)}
    places |= {
        f.name: (data.site(f.name.removesuffix("_site")).xpos, data.site(f.name.removesuffix("_site")).xmat) for f in d.frames
    }
    named = [x.name for x in (*d.links, *d.frames) if x.name in places]
    assert len(named) >= twin.m.nbody - 3  # world, step and handle of the walker are not read
    for frame in named:
        T = np.array(pose(twin.model, [float(x) for x in q], frame), float)
        np.testing.assert_allclose(T[:3, 3], places[frame][0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(T[:3, :3].ravel(), places[frame][1], rtol=0, atol=1e-14)


def test_total_mass_of_mjcf_files_equals_mujoco():
    for name in FILES:
        total = sum(link.inertia.m for link in read(name).links)
        m = compile_model(HERE / name).model
        moved = [i for i in range(1, m.nbody) if name != "walker.xml" or m.body(i).name not in ("step", "handle")]
        assert total == pytest.approx(m.body_mass[moved].sum(), rel=1e-15)


# -- loops and mimics ----------------------------------------------------------------------------------------------------


def closure_errors(d: Description, q) -> dict[str, tuple[float, float]]:
    """Per loop: distance of its frames [m], and the sine of half the angle between them."""
    model, out = assemble(d), {}
    for loop in model.loops:
        ends = []
        for end in (loop.predecessor, loop.successor):
            name = next(n for n, f in model.frames.items() if f.body == end.body)
            body = model.frames[name].X.inverse  # from that frame back to the body's
            T = np.array(pose(model, q, name), float) @ _matrix(body) @ _matrix(end.X)
            ends.append(T)
        A, B = ends
        trace = np.trace(A[:3, :3].T @ B[:3, :3])
        out[loop.name] = np.linalg.norm(A[:3, 3] - B[:3, 3]), np.sqrt(max(3 - trace, 0)) / 2
    return out


def _matrix(X) -> np.ndarray:
    R, p = X.pose
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.array(R, float), np.array(p, float)
    return T


@pytest.mark.parametrize("name", ["loops.xml", "walker.xml"])
def test_closure_errors_of_loops_agree_with_mujoco(name):
    d = read(name, mimic=False)
    twin = Twin(assemble(replace(d, loops=())), compile_model(HERE / name).model)
    m, data = twin.m, twin.d
    m.opt.disableflags = 0
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    q, _, _ = random_state(twin.model, np.random.default_rng(2))
    data.qpos[:] = twin.qpos(q)
    mujoco.mj_forward(m, data)
    found = closure_errors(d, [float(x) for x in q])
    assert [loop.kind.name for loop in d.loops] == (
        ["spherical", "fixed", "fixed", "spherical", "spherical", "fixed", "spherical"]
        if name == "loops.xml"
        else ["spherical"]
    )
    for loop, (apart, turned) in found.items():
        e = next(e for e in range(m.neq) if (m.eq(e).name or f"equality{e}") == loop)
        rows = (data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (data.efc_id == e)
        theirs = data.efc_pos[rows]
        assert apart == pytest.approx(np.linalg.norm(theirs[:3]), rel=1e-12)
        if d.loops[list(found).index(loop)].kind.name == "fixed":
            assert turned == pytest.approx(np.linalg.norm(theirs[3:]), rel=1e-7)  # √(3 − trace) loses half the digits


def test_linear_joint_equality_is_read_as_a_mimic_joint():
    d = read("loops.xml")
    follower = next(j for j in d.joints if j.name == "pinion")
    assert (follower.mimic.joint, follower.mimic.multiplier) == ("gear", -2)
    m = compile_model(HERE / "loops.xml").model
    data = mujoco.MjData(m)
    data.joint("gear").qpos[:] = 0.7
    data.joint("pinion").qpos[:] = follower.mimic.multiplier * 0.7 + follower.mimic.offset
    mujoco.mj_forward(m, data)
    e = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_EQUALITY, "mesh")
    assert data.efc_pos[(data.efc_type == 0) & (data.efc_id == e)] == pytest.approx(0, abs=1e-15)
    twin = Twin(assemble(replace(d, loops=())), m)
    assert twin.model.nv == m.nv - 2  # the cam follows too
    assert max(twin.errors()) < 1e-12


def test_polynomial_joint_equality_is_a_mimic_with_mujocos_dynamics():
    d = read("loops.xml")
    cam = next(j for j in d.joints if j.name == "cam")
    assert cam.mimic.joint == "gear"
    assert len(cam.mimic.coefficients) == 3
    m = compile_model(HERE / "loops.xml").model
    data = mujoco.MjData(m)
    e = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_EQUALITY, "lift")
    for x in (-0.4, 0.3, 1.1):
        data.joint("gear").qpos[:], data.joint("cam").qpos[:] = x, cam.mimic.at(x)
        mujoco.mj_forward(m, data)
        assert data.efc_pos[(data.efc_type == 0) & (data.efc_id == e)] == pytest.approx(0, abs=1e-15)
    model = assemble(replace(d, loops=()))
    assert model.joint[model.joint_names.index("cam")].name == "follower"
    assert max(Twin(model, m).errors(count=5)) < 1e-12


def test_equalities_that_are_not_read_are_a_warning():
    with pytest.warns(ModelWarning, match="constraints that torsor does not support") as told:
        report = "\n".join(read_mjcf(HERE / "loops.xml").report)
    for line in ("equality that fixes a joint at a constant (use robot.lock): jam", "<tendon> equality: tension"):
        assert line in report
        assert line in str(told[0].message)
    assert "starts inactive ignored: off" in report
    with pytest.raises(ModelError, match="tension"):
        read_mjcf(HERE / "loops.xml", strict=True)
    assert "equality with a mocap body ignored: it is not a loop: grip" in read("walker.xml").report


# -- joints, limits, drives, names ---------------------------------------------------------------------------------------


def test_joints_have_their_limits_and_losses():
    joints = {j.name: j for j in read("joints.xml").joints}
    shoulder, extend, roll, socket = (joints[name] for name in ("shoulder", "extend", "roll", "socket"))
    np.testing.assert_allclose(np.degrees([*shoulder.lower, *shoulder.upper]), [-90, 120], rtol=1e-15)
    assert (shoulder.armature, shoulder.friction, shoulder.damping) == ((0.05,), (0.2,), (0.3,))
    assert (extend.lower, extend.upper) == ((-0.1,), (0.2,))
    assert extend.armature == pytest.approx((0.4 + 20**2 * 0.001,), rel=1e-15)  # the motor's rotor through its gear
    assert extend.damping == pytest.approx((0.3 + 20**2 * 0.002,), rel=1e-15)
    assert [j.effort_limit for j in (shoulder, extend, roll, joints["yaw"])] == [(40.0,), (30.0,), (7.0,), ()]
    assert (socket.armature, socket.lower) == ((0.01,) * 3, ())
    assert joints["yaw"].lower == ()


def test_unnamed_elements_get_names_and_are_reported():
    d = read("joints.xml")
    names = [j.name for j in d.joints]
    assert {"body6_joint1", "body6_joint3", "body7_joint", "post_fixed", "shoulder_axis_weld"} <= set(names)
    assert "body without a name, named: body6, body7" in d.report
    assert {"body6", "body7", "yaw_link", "socket_axis"} <= {link.name for link in d.links}
    assert [f.name for f in read("walker.xml").frames] == ["imu", "trunk_site"]


def test_base_of_a_model_is_fixed_or_floating():
    walker, free, loops = (read(name) for name in ("walker.xml", "free_bodies.xml", "loops.xml"))
    assert (walker.base, walker.root, walker.name) == ("floating", "trunk", "walker")
    assert "the base is floating, so a fixed body is omitted: step, handle" in walker.report
    assert (free.base, free.root, free.name) == ("fixed", "world", "free bodies")
    assert [j.kind.name for j in free.joints] == [
        "revolute", "floating", "floating", "revolute", "prismatic", "prismatic", "prismatic", "spherical"]  # fmt: skip
    assert loops.root == "world"
    welded = '<mujoco><worldbody><body name="base"><body><joint/><geom size=".1"/></body></body></worldbody></mujoco>'
    assert read_mjcf(welded).root == "base"


def test_body_option_selects_one_of_several_robots():
    d = read("free_bodies.xml", body="leaf")
    assert [link.name for link in d.links] == ["world", "leaf", "stem"]
    assert read("free_bodies.xml", body="cube").base == "floating"
    with pytest.raises(LookupError, match="there is no body named 'tree'; valid names: arm, cube, drone"):
        read("free_bodies.xml", body="tree")


def test_gravity_is_read_and_is_zero_if_disabled():
    assert tuple(read("joints.xml").gravity) == (1, -2, -9.5)
    off = '<option><flag gravity="disable"/></option><worldbody><body><joint/><geom size=".1"/></body></worldbody>'
    assert tuple(read_mjcf(f"<mujoco>{off}</mujoco>").gravity) == (0, 0, 0)


# -- forces that are not read --------------------------------------------------------------------------------------------


def test_unsupported_forces_warn_or_are_refused_if_strict():
    with (
        pytest.warns(ModelWarning, match="has springs that are left off: sprung spring, cord"),
        pytest.warns(ModelWarning, match="has forces that torsor does not support: damping") as heard,
    ):
        d = read_mjcf(HERE / LOUD)
    assert heard[0].filename == __file__
    told = [line for line in d.report if line.startswith("NOT in the dynamics")]
    assert [line.split(": ")[1] for line in told] == [
        "damping beyond b v", "tendon springs, dampers or armature", "forces of a fluid (density, viscosity)",
        "springs"]  # fmt: skip
    with pytest.raises(FileError, match=r"passive.xml: robot 'passive' has forces that torsor does not support.*strict=False"):
        read_mjcf(HERE / LOUD, strict=True)


def test_report_counts_elements_that_are_ignored():
    report = "\n".join(read("joints.xml").report)
    for line in (
        "2 actuators ignored: on a joint with several actuators",
        "limit on the angle of a ball joint ignored: socket",
    ):
        assert line in report
