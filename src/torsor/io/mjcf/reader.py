"""Reading MJCF: MuJoCo compiles the file, and the compiled model is translated body by body.

So defaults, includes, frames, inertias from geoms and other features of MJCF have MuJoCo's meaning.
q, v and the joint order are MuJoCo's own, except quaternions (x, y, z, w) and the twist of a free body, which
:mod:`torsor.bridges.states` converts.

* Bodies are links, sites named frames, geoms shapes (groups 0-2 are drawn, contype or conaffinity collide).
* Joints: hinge, slide, ball, free, several on a body in series with massless links between; ``pos``, ``axis``, ``ref``.
* One free body that is the root of all moving bodies is the floating base.  Otherwise the root is ``world``, unless the world
  has only one body welded to its origin; other free bodies are attached to ``world`` by Floating joints.
* <connect> and <weld> are loops, an <equality joint> a mimic, also by a polynomial.  MuJoCo's are springs, torsor's are exact.
* ``gravcomp`` is a force element, :class:`torsor.model.forces.GravityCompensation`.
* Springs of hinges and sliders (``stiffness``, ``springref``) and of tendons (fixed ones, and those along sites) are terms of
  the robot with ``terms=["spring"]``; otherwise they are left off, with a ModelWarning.
* Polynomial springs and damping, other tendons, fluids and flexes push on the joints, other equalities hold them,
  and are **not** read: one ModelWarning names them,
  ``strict=True`` refuses them.  Mass matrix and bias force are those of
  the bodies alone.
* Actuators give effort limits (force range times gear, or a plain motor's control range), armature and damping.  Motors,
  position and velocity servos and PIDs give the joint's ``actuator`` (``robot.actuators``) too.
* Keyframes are named configurations, by their ``qpos``; their velocities and controls are not read.
* Sensors that torsor has too (gyro, accelerometer, force, torque, jointpos, jointvel, jointactuatorfrc) are ``robot.sensors``.
* Shapes of the world are ``Description.ground``, for ``robot.with_ground()``; contype, conaffinity, friction, priority and
  <exclude> of the world count there.
* Contact pairs, other sensors, cameras and plugins are counted in the report.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torsor.errors import FileError, ModelError, ModelWarning
from torsor.io.mjcf.actuators import read_drives
from torsor.io.mjcf.compiling import Source, compile_model
from torsor.io.mjcf.control_laws import read_laws
from torsor.io.mjcf.equalities import read_loops, read_mimics
from torsor.io.mjcf.geoms import MeshFrames, count_left_out, read_geoms, read_ground, read_sites
from torsor.io.mjcf.joints import read_joints
from torsor.io.mjcf.keyframes import read_keyframes
from torsor.io.mjcf.poses import inertia, vector
from torsor.io.mjcf.selection import TEXT, Selection, name_of, select
from torsor.io.mjcf.sensors import read_sensors
from torsor.io.mjcf.springs import NO_DAMPERS, read_springs
from torsor.io.mjcf.unused import NO_GRAVITY, constraints_left_out, count_unused, forces_left_out
from torsor.io.shared.document import OWN
from torsor.io.shared.notes import Notes, short_list
from torsor.model.description import Description, Link
from torsor.model.forces import GravityCompensation
from torsor.model.physical import callers_level, warn_or_refuse
from torsor.spatial import Inertia
from torsor.spatial.vector import ZERO

#: MuJoCo's name for a model without a name
_NAMELESS = "MuJoCo Model"
#: MuJoCo's mjtSameFrame: an inertial frame that is the body's, and one along its axes
SAME_FRAME, SAME_AXES = 1, 3


def read_mjcf(
    source: Source,
    *,
    strict: bool = False,
    mimic: bool = True,
    body: str | None = None,
    roots: Sequence[str | os.PathLike[str]] = (),
    terms: Sequence[str] = (),
) -> Description:
    """The robot of an MJCF file: a path, text that starts with ``<``, or bytes.

    ``body`` reads that body with its descendants and ancestors.  ``mimic=False`` gives joints tied to another by a
    joint equality coordinates of their own, as they have in MuJoCo; ``strict=True`` refuses a file with forces that are not
    read, and with empty colours.  With "spring" in ``terms`` springs act.  Includes and meshes are opened in the file's own
    package and in ``roots``, nowhere else.
    Needs the extra ``mujoco``.  Raises :class:`FileError` with file, line, element and MuJoCo's message.

    >>> d = read_mjcf('<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')
    >>> d.root, d.base, round(d.link("ball").inertia.m, 6)
    ('ball', 'floating', 4.18879)
    """
    found = compile_model(source, roots)
    if strict and found.defects:
        raise found.defects[0][1]
    name = Path(found.file).stem if found.file else ""
    try:
        d = translate(found.model, body=body, mimic=mimic, strict=strict, name=name, mesh_frames=found.mesh_frames,
                       heard=found.warnings, source=found.file, terms=terms, own_line=found.own_line)  # fmt: skip
    except FileError:
        raise
    except ModelError as error:
        raise FileError(str(error), file=found.file) from error
    defects = tuple(dict.fromkeys(said for said, _ in found.defects))
    if defects:
        warnings.warn(f"robot {d.name!r}: {'; '.join(defects)}", ModelWarning, stacklevel=callers_level())
    return d.with_note(*defects, *found.notes_on_tiny_numbers)


def translate(
    m: Any,
    *,
    body: str | None = None,
    mimic: bool = True,
    strict: bool = False,
    name: str = "",
    mesh_frames: MeshFrames | None = None,
    heard: tuple[str, ...] = (),
    source: str = "",
    terms: Sequence[str] = (),
    own_line: int | None = None,
) -> Description:
    """The description of a compiled MjModel; arguments as for :func:`read_mjcf`."""
    notes = Notes()
    chosen = select(m, body, notes)
    drives = read_drives(chosen)
    mimics = read_mimics(chosen, drives) if mimic else {}
    for k, laws in read_laws(chosen, mimics).items():
        drives[k].laws = laws
    links, joints = list[Link](), []
    for i in chosen.kept:
        if i != chosen.kept[0]:
            between, carrying = read_joints(chosen, i, mimics, drives)
            links += between
            joints += carrying
        links.append(Link(chosen.links[i], _inertia(m, i), read_geoms(chosen, i, mesh_frames or {})))
    loops, frames, named = read_loops(chosen), read_sites(chosen), read_keyframes(chosen, mimics)
    sensors = read_sensors(chosen, mimics)
    lifted = [i for i in chosen.kept if i and m.body_gravcomp[i] and m.body_mass[i]]
    forces = tuple((chosen.links[i], GravityCompensation(float(m.body_gravcomp[i]))) for i in lifted)
    _note_joint_differences(chosen, mimic)
    count_left_out(chosen)
    ground = read_ground(chosen)
    springs = read_springs(chosen, mimics)
    count_unused(chosen, springs)
    d = Description(
        _name(m, name), tuple(links), tuple(joints), frames, loops=loops, configurations=named, sensors=sensors, forces=forces,
        ground=ground,
        terms=springs.terms if "spring" in terms else (),
        base="fixed" if chosen.floating is None else "floating",
        gravity=ZERO if m.opt.disableflags & NO_GRAVITY else vector(m.opt.gravity),
        report=(*(f"MuJoCo: {line}" for line in heard), *notes.lines()), source=source,
    )  # fmt: skip
    text = _own_text(m)
    if text and body is None:
        from torsor.io.shared.own_element import with_own_element

        d = with_own_element(d, text, source, own_line)
    elif text:
        d = d.with_note(f"torsor's own element is not read, as body={body!r} is a part of the robot")
    odd = warn_or_refuse(d, strict=strict)
    if odd:
        d = d.with_note(f"physically impossible inertia, used as given: {short_list([f'link {n!r}' for n in odd])}")
    d = _warn_or_refuse(d, "forces", forces_left_out(chosen, springs), strict)
    d = _warn_or_refuse(d, "constraints", constraints_left_out(chosen), strict)
    off = [term.name for term in springs.terms if term.name not in {own.name for own in d.terms}]
    return _warn_or_refuse(d, "springs", [f"springs: {short_list(off)}"] if off else [], strict)


def _own_text(m: Any) -> str:
    """The text of torsor's own element, "" without one."""
    for k in range(m.ntext):
        if name_of(m, TEXT, k) == OWN:
            start = int(m.text_adr[k])
            return bytes(m.text_data[start : start + int(m.text_size[k])]).partition(b"\0")[0].decode("utf-8", "replace")
    return ""


def _inertia(m: Any, i: int) -> Inertia:
    """The inertia that MuJoCo uses: an inertial frame near the body frame counts as that frame (mjtSameFrame)."""
    same = int(m.body_sameframe[i])
    com = (0, 0, 0) if same == SAME_FRAME else m.body_ipos[i]
    axes = (1, 0, 0, 0) if same in (SAME_FRAME, SAME_AXES) else m.body_iquat[i]
    return inertia(float(m.body_mass[i]), com, axes, m.body_inertia[i])


def _name(m: Any, otherwise: str) -> str:
    given = bytes(m.names).partition(b"\0")[0].decode("utf-8", "replace")
    return given if given and given != _NAMELESS else otherwise or "robot"


def _note_joint_differences(chosen: Selection, mimic: bool) -> None:
    m = chosen.m
    if m.opt.disableflags & NO_GRAVITY:
        chosen.notes.note("gravity is switched off by a flag, so", "zero")
    if m.opt.disableflags & NO_DAMPERS and any(m.dof_damping):
        chosen.notes.note("damping is switched off by a flag in MuJoCo; here it acts with", "robot.with_damping(True)")
    if chosen.floating is not None:
        chosen.notes.note("the free joint is the floating base", chosen.joints[int(m.body_jntadr[chosen.floating])])
    if not mimic and any(m.eq_type == 2):
        chosen.notes.note("equalities between joints ignored (mimic=False), so", "independent")


#: what the dynamics are without forces or constraints that are not read, and what to do
_WITHOUT = {
    "springs": 'load with terms=["spring"], or terms="all", and they act',
    "forces": "mass matrix and bias force are those of the bodies alone; add other forces to tau",
    "constraints": "the joints move as if these were not there; add them with robot.constrained(...)",
}


def _warn_or_refuse(d: Description, kind: str, left_out: list[str], strict: bool) -> Description:
    """Forces and constraints that are not read, as a warning and in the report, or refused."""
    if not left_out:
        return d
    why = "are left off" if kind == "springs" else "torsor does not support"
    what = f"robot {d.name!r} has {kind} that {why}: {'; '.join(left_out).removeprefix('springs: ')}"
    if strict:
        remedy = _WITHOUT[kind] if kind == "springs" else "remove them from the file, or load with strict=False"
        raise ModelError(f"{what}; {remedy}")
    warnings.warn(f"{what}; {_WITHOUT[kind]}", ModelWarning, stacklevel=callers_level())
    return d.with_note(*(f"NOT in the dynamics: {line}" for line in left_out))
