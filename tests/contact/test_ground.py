"""Robots on the ground by the collision shapes of their files, and the list of their contacts."""

from __future__ import annotations

import numpy as np
import pytest

import torsor as ts
from torsor.errors import ArgumentError, ModelError, UnknownName
from torsor.io.shared.losses import losses

SHAPES = {
    "ball": '<sphere radius="0.1"/>',
    "pill": '<capsule radius="0.1" length="0.4"/>',
    "block": '<box size="0.2 0.4 0.6"/>',
    "drum": '<cylinder radius="0.1" length="0.4"/>',
    "lump": '<mesh filename="lump.stl"/>',
}
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
ORIGIN = '<origin xyz="0.5 0 0" rpy="1.5707963267948966 0 0"/>'  # z of the shape is −y of the link


def urdf(*links: str, base: str = "floating") -> ts.Robot:
    """A trunk without shape, with one link of each shape."""
    text = [f'<link name="trunk">{INERTIAL}</link>']
    for name in links:
        text.append(f'<link name="{name}">{INERTIAL}<collision>{ORIGIN}<geometry>{SHAPES[name]}</geometry></collision></link>')
        text.append(f'<joint name="to_{name}" type="continuous"><parent link="trunk"/><child link="{name}"/></joint>')
    return ts.load(f'<robot name="r">{"".join(text)}</robot>', base=base)


def mjcf(links: str, world: str = "", contact: str = "") -> ts.Robot:
    pytest.importorskip("mujoco")
    trunk = f'<body name="trunk" pos="0 0 1"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/>{links}</body>'
    return ts.load(f"<mujoco><worldbody>{world}{trunk}</worldbody><contact>{contact}</contact></mujoco>")


def foot(geom: str, name: str = "foot") -> str:
    return f'<body name="{name}"><joint/><geom size="0.1" {geom}/></body>'


FLOOR = '<geom name="floor" type="plane" size="1 1 0.1"/>'


def standing(robot: ts.Robot, kp: float, kd: float, seconds: float = 0.5):
    """A rollout in which position servos hold the standing configuration."""
    q = robot.configuration("standing")
    names = [name for name in robot.joints if name != "floating_base"]
    robot = robot.with_armature(dict.fromkeys(names, kd / 50))  # of the drives, which the files do not have
    held = robot.with_actuators({name: ts.actuators.PositionServo(kp, kd) for name in names})
    u = np.concatenate([np.zeros(6), q[7:]])
    steps = round(seconds / 1e-3)
    return held.rollout(q, np.zeros(robot.nv), np.tile(u, (steps, 1)), dt=1e-3, record="last"), q


@pytest.mark.parametrize(("name", "kp", "kd", "points"), [("quadruped", 5.0, 0.1, 4), ("humanoid", 300.0, 10.0, 8)])
def test_bundled_legged_robots_stand_on_their_feet(name, kp, kd, points):
    robot = getattr(ts.robots, name)().with_ground()
    assert len(robot.contacts) == points
    assert all("foot" in c.frame.lower() or "ankle_roll" in c.frame for c in robot.contacts.values())
    run, q = standing(robot, kp, kd)
    assert abs(run.q[-1, 2] - q[2]) < 0.02
    assert abs(run.contact_forces[-1, :, 2].sum() / (robot.mass * 9.81) - 1) < 0.1
    assert run.contact_gap[-1].min() > -1e-3


def test_shapes_of_a_urdf_touch_at_their_lowest_points():
    """Each shape in the axes of its origin: half its length along the link's y, its radius along z."""
    robot = urdf("ball", "pill", "block", "drum").with_ground(0.5)
    counts = {frame: sum(c.frame == frame for c in robot.contacts.values()) for frame in ("ball", "pill", "block", "drum")}
    assert counts == {"ball": 1, "pill": 2, "block": 8, "drum": 16}
    q = robot.neutral()
    q[2] = 1.0
    gaps = dict(zip(robot.contacts, robot.contact_gap(q), strict=True))
    lowest = {frame: min(gap for name, gap in gaps.items() if name.startswith(frame)) for frame in counts}
    assert lowest == pytest.approx({"ball": 0.9, "pill": 0.9, "block": 0.8, "drum": 0.9}, abs=1e-12)
    shapes = robot.description.terms[0].shapes
    assert max(abs(s.start.y) for s in shapes if s.frame == "drum") == pytest.approx(0.2)
    assert {s.start.x for s in shapes if s.frame in ("ball", "pill")} == {0.5}


def test_meshes_are_left_out_and_reported():
    robot = urdf("ball", "lump").with_ground()
    assert [c.frame for c in robot.contacts.values()] == ["ball"]
    assert "ground: NOT in contact, mesh of lump" in robot.report
    assert robot.contacts["ball"].friction == 0.8
    with pytest.raises(ArgumentError, match="no collision shape that can touch the ground; not taken: mesh of lump"):
        urdf("lump").with_ground()
    with pytest.raises(ArgumentError, match="'lump' has no collision shape"):
        urdf("ball", "lump").with_ground(frames=["ball", "lump"])
    with pytest.raises(ArgumentError, match="no collision shape"):
        ts.robots.two_link().with_ground()


def test_frames_select_links():
    robot = urdf("ball", "block").with_ground(frames=["ball"], friction=0.3, name="floor", restitution=0.5)
    assert robot.contacts == {"ball": ("ball", "sphere", "world", "plane", 0.3, 0.5, None, None, "floor")}


def test_feet_are_the_last_shapes_of_the_branches_that_end_lowest():
    """A trunk, two legs of two links with a welded foot each, and an arm as long as a thigh; all with balls."""
    names = {"trunk": None, "arm": ("trunk", 0.3, "continuous")}
    for side in "lr":
        names |= {f"{side} thigh": ("trunk", 0.3, "continuous"), f"{side} shin": (f"{side} thigh", 0.3, "continuous")}
        names |= {f"{side} foot": (f"{side} shin", 0.3, "fixed"), f"{side} sole": (f"{side} foot", 0.02, "fixed")}
    collision = f"<collision><geometry>{SHAPES['ball']}</geometry></collision>"
    text = "".join(f'<link name="{n}">{INERTIAL}{"" if "sole" in n else collision}</link>' for n in names)
    for name, joint in names.items():
        if joint:
            ends = f'<parent link="{joint[0]}"/><child link="{name}"/><origin xyz="0 0 {-joint[1]}"/>'
            text += f'<joint name="to {name}" type="{joint[2]}">{ends}</joint>'
    robot = ts.load(f'<robot name="r">{text}</robot>', base="floating")
    assert list(robot.with_ground().contacts) == ["l foot", "r foot"]
    assert list(robot.with_gravity((0, 0, 9.81)).with_ground().contacts) == [
        "trunk",
        "arm",
        *(f"{side} {part}" for side in "lr" for part in ("thigh", "shin", "foot")),
    ]  # no branch ends above the trunk
    assert len(robot.with_ground(frames="all").contacts) == 8
    assert len(robot.with_base("fixed").with_ground().contacts) == 7  # all but the trunk


def test_many_shapes_are_a_warning():
    block = f"<collision><geometry>{SHAPES['block']}</geometry></collision>"
    links = "".join(f'<link name="w{k}">{INERTIAL}{block}</link>' for k in range(9))
    ends = "".join(f'<joint name="j{k}" type="continuous"><parent link="trunk"/><child link="w{k}"/></joint>' for k in range(9))
    robot = ts.load(f'<robot name="r"><link name="trunk">{INERTIAL}</link>{links}{ends}</robot>', base="floating")
    with pytest.warns(ts.errors.ModelWarning, match="72 contact shapes, of 9 links, which is slow"):
        robot.with_ground()


def test_links_that_stand_still_are_left_out():
    fixed = urdf("ball", base="fixed")
    trunk = fixed.with_base("fixed").with_ground()
    assert [c.frame for c in trunk.contacts.values()] == ["ball"]
    with pytest.raises(ArgumentError, match="nothing moves 'trunk'"):
        fixed.with_ground(frames=["trunk"])


def test_ground_of_ones_own_is_the_surface():
    ground = ts.contacts.grid(np.full((3, 3), 0.2), 10.0, at=(-10, -10, 0))
    robot = urdf("ball").with_ground(0.5, [ground, ts.contacts.ball(0.1, (5, 0, 0))])
    assert [c.surface for c in robot.contacts.values()] == ["grid", "sphere"]
    q = robot.neutral()
    q[2] = 1.0
    assert robot.contact_gap(q)[0] == pytest.approx(0.7)


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ({"friction": -0.1}, ArgumentError, "friction must not be negative"),
    ({"friction": float("nan")}, ModelError, "friction must be finite"),
    ({"restitution": 1.5}, ArgumentError, "restitution must be at most 1"),
    ({"frames": "ball"}, ArgumentError, "frames is a list of links or 'all'"),
    ({"frames": []}, ArgumentError, "frames is empty"),
    ({"frames": ["paw"]}, UnknownName, "paw"),
    ({"surface": "floor"}, ArgumentError, "surface must be made by torsor.contacts"),
])  # fmt: skip
def test_invalid_ground_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        urdf("ball").with_ground(**arguments)


# -- MJCF ------------------------------------------------------------------------------------------------------------------


def test_floor_of_mjcf_is_the_ground():
    tilted = '<geom type="plane" size="1 1 0.1" pos="0 0 0.25" euler="0 30 0"/>'
    robot = mjcf(foot(""), tilted).with_ground()
    (surface,) = robot.description.terms[0].surfaces
    np.testing.assert_allclose(surface.normal, [0.5, 0, np.sqrt(0.75)], atol=1e-12)
    q = robot.neutral()
    assert robot.contact_gap(q) == pytest.approx([(q[2] - 0.25) * np.sqrt(0.75) - 0.1])


def test_static_shapes_of_the_world_are_ground():
    step = '<body pos="1 0 0"><geom type="box" size="0.1 0.2 0.3"/></body>'
    robot = mjcf(foot(""), FLOOR + step + '<geom type="capsule" size="0.1 0.3" pos="0 0 -1"/>').with_ground(0.5)
    assert [c.surface for c in robot.contacts.values()] == ["plane", "capsule", "box"]
    assert robot.description.terms[0].surfaces[2].half == (0.1, 0.2, 0.3)
    q = robot.neutral()
    q[:3] = 1.0, 0.0, 0.75
    assert robot.contact_gap(q)[[0, 2]] == pytest.approx([0.65, 0.35])


@pytest.mark.parametrize(("geom", "floor", "touches"), [
    ('contype="2"', "", True),  # the floor's bit is in the foot's conaffinity
    ('contype="2" conaffinity="2"', "", False),
    ('contype="2" conaffinity="0"', 'conaffinity="3"', True),
    ('contype="0" conaffinity="4"', 'contype="5"', True),
])  # fmt: skip
def test_masks_of_mjcf_decide_which_geoms_touch_the_ground(geom, floor, touches):
    robot = mjcf(foot(geom) + foot("", "other"), FLOOR.replace("/>", f" {floor}/>")).with_ground()
    assert {c.frame for c in robot.contacts.values()} == ({"foot", "other"} if touches else {"other"})


def test_excluded_bodies_do_not_touch_the_ground():
    exclude = '<exclude body1="world" body2="knee"/><exclude body1="foot" body2="knee"/>'
    robot = mjcf(foot("") + foot("", "knee"), FLOOR, exclude).with_ground()
    assert [c.frame for c in robot.contacts.values()] == ["foot"]
    assert "ground: NOT in contact, sphere that the file keeps off the ground of knee" in robot.report


@pytest.mark.parametrize(("geom", "mu"), [
    ("", 0.7), ('friction="0.9"', 1.0), ('friction="0.6" priority="1"', 0.6), ('friction="1.5"', 1.5),
])  # fmt: skip
def test_friction_of_mjcf_is_the_larger_one_or_that_of_the_higher_priority(geom, mu):
    """As MuJoCo has it at its contact."""
    floor = f'<geom type="plane" size="1 1 0.1" friction="{1.0 if geom else 0.7}"/>'
    robot = mjcf(foot(geom or 'friction="0.2"'), floor)
    assert robot.with_ground().contacts["foot"].friction == mu
    assert robot.with_ground(0.4).contacts["foot"].friction == 0.4
    assert mjcf(foot('friction="0.3"')).with_ground().contacts["foot"].friction == 0.3  # no floor in the file


def test_gaps_and_frictions_are_those_of_mujoco():
    """Spheres and capsules over a tilted plane, a sphere and a box; a margin makes MuJoCo list all contacts."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(0)
    geoms = ('size="0.1" friction="0.7"', 'type="capsule" size="0.05 0.2" friction="0.3" priority="1" euler="20 50 0"',
             'size="0.2" contype="2" conaffinity="2"', 'size="0.03" contype="4" conaffinity="0" friction="1.4"')  # fmt: skip
    bodies = "".join(
        f'<body name="b{k}" pos="{0.3 * k} 0.1 0"><joint axis="0 1 0"/><geom margin="10" pos="0 0 -0.2" {geom}/></body>'
        for k, geom in enumerate(geoms)
    )
    world = FLOOR.replace("/>", ' euler="10 20 0" pos="0 0 0.1" friction="0.6" conaffinity="5"/>')
    world += '<geom size="0.3" pos="2 0 0" friction="0.4"/>'
    trunk = f'<body name="trunk" pos="0 0 1"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/>{bodies}</body>'
    exclude = '<exclude body1="world" body2="b4"/>'
    trunk = trunk.replace("</body></body>", '</body><body name="b4"><joint/><geom size="0.1" margin="10"/></body></body>')
    text = f"<mujoco><worldbody>{world}{trunk}</worldbody><contact>{exclude}</contact></mujoco>"
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    robot = ts.load(text).with_ground(frames="all")
    for _ in range(5):
        q = robot.random_configuration(rng)
        q[:3] = rng.uniform((-0.5, -0.5, 1), (0.5, 0.5, 2))
        d.qpos[:] = np.concatenate([q[:3], q[[6, 3, 4, 5]], q[7:]])
        mujoco.mj_forward(m, d)
        found = []
        for c in d.contact:
            one, other = (int(m.geom_bodyid[g]) for g in c.geom)
            if one == 0 or other == 0:  # not of two links
                found.append((mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, one + other), c.dist, c.friction[0]))
        gaps = zip(robot.contacts.values(), robot.contact_gap(q), strict=True)
        expected = sorted((c.frame, gap, c.friction) for c, gap in gaps)
        assert [x[0] for x in sorted(found)] == [x[0] for x in expected] == ["b0", "b0", "b1", "b1", "b1", "b3"]
        np.testing.assert_allclose([x[1:] for x in sorted(found)], [x[1:] for x in expected], atol=1e-9)


def test_contacts_of_several_frictions_are_several_terms():
    robot = mjcf(foot('friction="1.2"') + foot('friction="1.4"', "other"), FLOOR).with_ground()
    assert [(c.frame, c.friction, c.term) for c in robot.contacts.values()] == [
        ("foot", 1.2, "ground"),
        ("other", 1.4, "ground2"),
    ]


def test_height_fields_and_other_shapes_of_the_world_are_a_warning():
    pytest.importorskip("mujoco")
    asset = '<asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset>'
    world = '<geom type="hfield" hfield="hills" name="hills"/><geom type="cylinder" size="1 1"/>'
    body = '<body name="b"><freejoint/><geom size="0.1"/></body>'
    robot = ts.load(f"<mujoco>{asset}<worldbody>{world}{body}</worldbody></mujoco>")
    with pytest.warns(ts.errors.ModelWarning, match=r"not taken as ground: hills \(hfield\), a shape \(cylinder\)"):
        standing = robot.with_ground()
    assert [c.surface for c in standing.contacts.values()] == ["plane"]
    assert robot.with_ground(surface=ts.contacts.plane()).contacts == standing.contacts  # without a warning


@pytest.mark.parametrize("fixed", [False, True])
def test_touching_geoms_and_ground_are_written_and_read_back(tmp_path, fixed):
    geom = 'contype="2" conaffinity="5" friction="0.6" priority="1"'
    world = (
        FLOOR.replace("/>", ' euler="0 30 0" pos="0 0 0.1" friction="0.7"/>')
        + '<geom type="box" size="0.1 0.2 0.3" pos="1 0 0"/>'
    )
    robot = mjcf(foot(geom), world)
    if fixed:
        body = '<body name="base"/>' + foot(geom)
        robot = ts.load(f"<mujoco><worldbody>{world}{body}</worldbody></mujoco>")
    ts.save(robot, tmp_path / "r.xml", format="mjcf")
    again = ts.load(tmp_path / "r.xml")
    assert [g.touching for g in again.link("foot").geometry] == [g.touching for g in robot.link("foot").geometry]
    assert {tuple(g.touching) for g in again.link("foot").geometry if g.touching} == {(0.6, 2, 5, 1)}
    numbers = [sorted((g.shape, g.touching) for g in r.description.ground) for r in (again, robot)]
    assert numbers[0] == numbers[1]
    assert [shape for shape, _ in numbers[0]] == ["box", "plane"]
    assert "shapes of the world, left out: floor, box" in losses(robot.description, "urdf")
    q = robot.neutral()
    gaps = [np.sort(r.with_ground().contact_gap(q)) for r in (again, robot)]
    np.testing.assert_allclose(gaps[0], gaps[1], atol=1e-12)


# -- the list --------------------------------------------------------------------------------------------------------------


def test_contacts_are_in_the_order_of_gaps_and_forces():
    robot = urdf("ball", "pill").with_ground(0.5)
    robot = robot.with_contacts(ts.contacts.sphere("ball", radius=0.2), ts.contacts.plane((0, 1, 0)), friction=0.1)
    assert list(robot.contacts) == ["ground: ball", "pill 1", "pill 2", "contact: ball"]
    assert len(robot.contact_gap(robot.neutral())) == len(robot.contacts)
    assert robot.contacts["contact: ball"].friction == 0.1
    assert ts.robots.two_link().contacts == {}
