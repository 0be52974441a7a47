"""Loading and saving: files and tables to a Robot, a Robot to a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fsdecode
from typing import TYPE_CHECKING, Any

from torsor.errors import ArgumentError, FileError, UnknownName
from torsor.model.attachments import with_friction
from torsor.model.description import BASES, EARTH, Description
from torsor.model.friction.laws import of_numbers
from torsor.model.terms.joint_losses import Damping, notes_on_omitted_losses
from torsor.robot import Robot
from torsor.scalar import Scalars
from torsor.support.text import one_of

if TYPE_CHECKING:
    from torsor.io.dh import DHRow


def load(
    source: str | PathLike[str] | bytes,
    *,
    format: str | None = None,
    base: str | None = None,
    gravity: Sequence[float] | None = None,
    mimic: bool = True,
    strict: bool = False,
    loops: str | PathLike[str] | bytes | bool | None = None,
    srdf: str | PathLike[str] | bytes | bool | None = None,
    roots: Sequence[str | PathLike[str]] = (),
    xacro_args: Mapping[str, Any] | None = None,
    terms: str | Sequence[str] = (),
) -> Robot:
    """The robot of a file, or of its text: URDF, MJCF, xacro, a DH table, or a name of ``robot_descriptions``.

    ``format=`` gives the format; by default it follows from the file name (``.urdf``, ``.dh.csv``, ...), else the XML root.
    ``base="floating"`` gives a floating base, ``"floating_rpy"`` one with roll, pitch and yaw as coordinates; ``mimic=False``
    gives mimic joints their own coordinates; ``strict=True`` turns warnings into errors, for example for a physically
    impossible inertia.  ``loops`` is the file of the joints that close kinematic loops (:mod:`torsor.io.loops_file`),
    ``loops=True`` the file ``robot.loops.yaml`` beside ``robot.urdf``; a URDF saved by torsor has its loops itself, and
    ``loops=False`` leaves them out.  ``srdf`` is an SRDF, whose group states become ``robot.configurations``
    (:mod:`torsor.io.srdf`); ``srdf=True`` is the file ``robot.srdf`` beside ``robot.urdf``.  ``xacro_args`` (a dict, may be
    empty) runs a xacro file, which is a program: use only files you trust; ``roots`` are folders in which it finds its
    packages, and MJCF and SDF the files they include.  ``gravity`` is in world axes [m/s²].

    Terms that :func:`save` wrote as torsor's own element act, as they did in the saved robot; so do its base and its gravity,
    unless they are given here.  Damping, friction and springs of the format's own elements do not, unless ``terms`` names
    them: ``"all"`` or some of ``["damping", "friction", "spring"]``; with ``"actuated"`` among them, only joints with a
    <transmission> (URDF) or an actuator (MJCF) have a drive (:meth:`Robot.with_actuated`).  ``robot.report`` lists both, and
    data that was changed or ignored.

    >>> import torsor as ts
    >>> ts.load('<robot name="stone"><link name="stone"/></robot>', base="floating").nv
    6
    """
    from torsor.io.formats import Options, format_by_name, recognise_format

    if base is not None and base not in BASES:
        raise ArgumentError(f"base must be {one_of(BASES)}, not {base!r}")
    acting = _kinds(terms)
    options = Options(base, mimic, strict, tuple(roots), xacro_args, terms=acting)
    try:
        chosen = recognise_format(source, options) if format is None else format_by_name(format)
    except FileError as error:
        if (hint := _hint(source)) is None:
            raise
        raise FileError(f"{error.reason}; {hint}", file=error.file) from error
    if xacro_args is not None and chosen.name not in ("xacro", "robot_descriptions"):
        raise ArgumentError(f"xacro_args are for a xacro file, and this is {chosen.name}; format='xacro' reads it as one")
    d = chosen.read(source, options)
    if loops is not None:
        d = replace(d, loops=()) if chosen.root == "robot" else d  # those of the file's own element
        if loops is not False:
            from torsor.io.loops_file import loops_path, with_loops

            d = with_loops(d, loops_path(source) if loops is True else loops)
    if srdf is not None and srdf is not False:
        from torsor.io import srdf as named

        d = named.with_srdf(d, named.srdf_path(source) if srdf is True else srdf)
    for kind in acting:
        d = FILE_TERMS[kind](d)
    robot = Robot(replace(d, report=(*notes_on_omitted_losses(d), *d.report)))
    return robot if gravity is None else robot.with_gravity(gravity)


def _with_damping(d: Description) -> Description:
    others = tuple(term for term in d.terms if not isinstance(term, Damping))
    return replace(d, terms=(*others, Damping())) if any(any(j.damping) for j in d.joints) else d


def _with_dry_friction(d: Description) -> Description:
    return with_friction(
        d, {j.name: [of_numbers(c, 0) for c in j.friction] for j in d.joints if any(j.friction) and not any(j.laws)}
    )


def _with_drives(d: Description) -> Description:
    """Drives at the joints that have one in the file; that of a mimic joint drives its leader."""
    driven = dict.fromkeys(j.name if j.mimic is None else j.mimic.joint for j in d.joints if j.driven and j.kind.nv)
    if not driven:
        return d
    report = tuple(line for line in d.report if "<transmission>" not in line)  # which says that they are ignored
    return replace(d, report=report).with_note(f"drives at {', '.join(driven)} alone", actuated=tuple(driven))


#: what a file may have, and how they become terms; springs are terms as they are read
FILE_TERMS: dict[str, Callable[[Description], Description]] = {
    "damping": _with_damping, "friction": _with_dry_friction, "spring": lambda d: d, "actuated": _with_drives
}  # fmt: skip


def _kinds(terms: str | Sequence[str]) -> tuple[str, ...]:
    """The kinds of terms that are asked for."""
    kinds = tuple(FILE_TERMS) if terms == "all" else (terms,) if isinstance(terms, str) else tuple(terms)
    for kind in kinds:
        if kind not in FILE_TERMS:
            raise UnknownName("terms=", kind, ("all", *FILE_TERMS))
    return kinds


def _hint(source: str | PathLike[str] | bytes) -> str | None:
    """A hint with the function of the bundled robot, if the file name is that of one."""
    from torsor.robot.library.robots import names

    name = fsdecode(source)
    return f"torsor has a bundled robot of that name: ts.robots.{name}()" if name in names() else None


def save(robot: Robot, path: str | PathLike[str], *, format: str | None = None, meshes: bool = True) -> None:
    """Write the robot as URDF or MJCF, by its extension (``.urdf``, ``.mjcf``) or ``format=``; completely or not at all.

    Terms, friction laws, rotors, force elements, sensors, loops, base, gravity and all else that the format has no place for
    are written as one element of torsor's own (<torsor> in URDF, <custom><text name="torsor"/> in MJCF), which other readers
    ignore and :func:`load` reads back to the last bit.  Functions in terms are written as the operations that they record.
    What a file cannot contain, a class or a symbol of one's own, is left out: comments at the top of the file name it, and
    one ModelWarning does if the written robot moves differently.
    Loops of URDF are also written to ``robot.loops.yaml``, for ``load(path, loops=True)``; named configurations are keyframes
    in MJCF, and :func:`save_srdf` writes them for other readers of URDF.
    Meshes that come with torsor are written to the folder ``robot_meshes`` beside it; other meshes stay where they are.
    ``meshes=False`` leaves out all of them.

    >>> import tempfile, torsor as ts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(ts.robots.ur5(), f"{folder}/arm.urdf")
    ...     ts.load(f"{folder}/arm.urdf").nq
    6
    """
    import warnings

    from torsor.errors import ModelWarning
    from torsor.io.formats import writer
    from torsor.io.shared.losses import left_out
    from torsor.model.physical import callers_level

    save_files(robot, path, format, meshes)
    if lost := left_out(robot.description, writer(path, format).name):  # torsor convert prints all losses instead
        message = f"robot {robot.name!r} moves differently when it is loaded from {fsdecode(path)}: {'; '.join(lost)}"
        warnings.warn(message, ModelWarning, stacklevel=callers_level())


def save_files(robot: Robot, path: str | PathLike[str], format: str | None = None, meshes: bool = True) -> list[str]:
    """:func:`save`, and the names of the files written besides ``path``."""
    from torsor.io.formats import writer
    from torsor.io.loops_file import loops_path
    from torsor.robot.mesh_files import MeshFiles, without_meshes

    chosen = writer(path, format)
    assert chosen.write is not None
    files = MeshFiles(path)
    d = files.with_mesh_paths(robot.description) if meshes else without_meshes(robot.description)
    try:
        written = files.write()  # first: MuJoCo's names of meshes need their files
        chosen.write(d, path)
    except BaseException:
        files.remove()
        raise
    loops = [str(loops_path(path))] if robot.loops and chosen.name == "urdf" else []
    return loops + [str(file) for file in written]


def save_urdf(robot: Robot, path: str | PathLike[str]) -> None:
    """Write the links and joints as a URDF [m, kg, rad]; :func:`save` with ``format="urdf"``, which names the omitted data."""
    save(robot, path, format="urdf")


def save_loops(robot: Robot, path: str | PathLike[str]) -> None:
    """Write the robot's loops to a YAML file for ``load(..., loops=path)``."""
    from torsor.io.loops_file import write_loops

    write_loops(robot.description, path)


def save_srdf(robot: Robot, path: str | PathLike[str]) -> None:
    """Write the robot's named configurations [rad, m] to an SRDF for ``load(..., srdf=path)``, MoveIt and Pinocchio.

    >>> import tempfile, torsor as ts
    >>> robot = ts.robots.panda()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(robot, f"{folder}/panda.urdf")
    ...     save_srdf(robot, f"{folder}/panda.srdf")
    ...     ts.load(f"{folder}/panda.urdf", srdf=True).configurations
    ('ready',)
    """
    from torsor.io.srdf import write_srdf

    write_srdf(robot.description, path)


def from_mr(Mlist: Any, Glist: Any, Slist: Any, *, name: str = "robot", gravity: Scalars = EARTH) -> Robot:
    """The robot of Modern Robotics' lists (MR §8.11): n+1 home poses M_{i−1,i} [m], n spatial inertias G_i, screw axes S (6×n).

    G_i = diag(I_i, m_i 1) [kg·m², kg] at the centre of mass; S = (ω, v) in the space frame.  The tip is ``"end_effector"``.

    >>> import numpy as np
    >>> M, G, S = [np.eye(4), np.eye(4)], [np.diag([0, 0, 0.1, 1, 1, 1])], np.array([[0, 0, 1, 0, 0, 0.0]]).T
    >>> from_mr(M, G, S).mass_matrix([0.0])
    array([[0.1]])
    """
    from torsor.io.screws import from_mr as read

    return Robot(read(Mlist, Glist, Slist, name=name, gravity=gravity))


def to_mr(robot: Robot, tip: str | None = None) -> tuple[Any, Any, Any]:
    """(Mlist, Glist, Slist) of a serial chain, as Modern Robotics' functions take them [m, kg, kg·m²] (MR Exercise 8.12).

    ``tip`` is the frame of the last pose: ``"end_effector"`` or the last link unless given; :func:`from_mr` is the inverse.

    >>> import torsor as ts
    >>> [x.shape for x in to_mr(ts.robots.ur5(), tip="tool0")]
    [(7, 4, 4), (6, 6, 6), (6, 6)]
    """
    from torsor.io.mr_lists import to_mr as written

    return written(robot.description, tip=tip)


def from_screws(
    screws: Any, poses: Any, inertias: Any, *, tip: Any = None, name: str = "robot", gravity: Scalars = EARTH
) -> Robot:
    """The robot of screw axes S = (ω, v), one per row, and poses of links and ``tip``, all in the space frame at home.

    ``inertias`` are (mass [kg], com [m], inertia about it [kg·m²]) in the link's frame, one per link.

    >>> import numpy as np
    >>> bar = from_screws([(0, 0, 1, 0, 0, 0)], [np.eye(4)], [(2.0, (0.5, 0, 0), (0, 0, 0.1))])
    >>> bar.mass_matrix([0.0])  # I + m c²
    array([[0.6]])
    """
    from torsor.io.screws import from_screws as read

    return Robot(read(screws, poses, inertias, tip=tip, name=name, gravity=gravity))


def from_dh(
    rows: Sequence[DHRow | Mapping[str, Any]],
    *,
    convention: str = "standard",
    name: str = "robot",
    gravity: Scalars = EARTH,
    tool_xyz: Sequence[float] = (0, 0, 0),
    tool_rpy: Sequence[float] = (0, 0, 0),
) -> Robot:
    """The robot of a Denavit–Hartenberg table, ``convention="standard"`` or ``"modified"``, with inertial data.

    A row is a mapping with ``a``, ``d`` [m], ``alpha``, ``theta`` [rad] and the other fields of :class:`torsor.io.dh.DHRow`.

    >>> from_dh([{"a": 0.5, "mass": 2.0}], gravity=(0, -9.81, 0)).gravity_force([0.0]).round(2)  # m g a
    array([9.81])
    """
    from torsor.io.dh import from_dh as read

    return Robot(read(rows, convention=convention, name=name, gravity=gravity, tool_xyz=tool_xyz, tool_rpy=tool_rpy))
