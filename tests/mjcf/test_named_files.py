"""Files that an MJCF file refers to: torsor reads those in declared folders; neither torsor nor MuJoCo opens any other."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import mujoco
import numpy as np
import pytest

from torsor.errors import FileError
from torsor.io.mjcf import read_mjcf
from torsor.io.mjcf.model_files import DEEPEST, FILE_ATTRIBUTES

pytestmark = pytest.mark.filterwarnings("ignore:robot .* has forces that torsor does not support")
BODY = '<body name="{}"><joint/><geom size=".1"/></body>'


def stl(size: float = 1.0, count: int | None = None) -> bytes:
    """A tetrahedron; ``count`` is the number of triangles in its header."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) * size
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces) if count is None else count) + rows


def part(name: str) -> str:
    return f"<mujocoinclude><worldbody>{BODY.format(name)}</worldbody></mujocoinclude>"


#: element → (MJCF text that refers to a file, ending, bytes of such a file)
WAYS = {
    "include": ('<include file="{}"/>', ".xml", part("inner").encode()),
    "mesh": ('<asset><mesh name="m" file="{}"/></asset>', ".stl", stl()),
    "model": ('<asset><model name="m" file="{}"/></asset>', ".xml", b"<mujoco><worldbody><body/></worldbody></mujoco>"),
    "hfield": ('<asset><hfield name="m" file="{}" size="1 1 1 1"/></asset>', ".bin", struct.pack("<ii4f", 2, 2, 0, 0, 0, 0)),
    "skin": ('<asset><skin file="{}"/></asset>', ".skn", struct.pack("<4i", 0, 0, 0, 0)),
    "flexcomp": ('<worldbody><body name="f"><geom size="1"/><flexcomp name="x" type="mesh" dim="2" mass="1" file="{}"/></body>'
                 "</worldbody>", ".stl", stl()),
}  # fmt: skip


@pytest.fixture
def world(tmp_path) -> Path:
    """The folder of a robot with one file of each kind, and the same files outside its package, which must not be opened."""
    for place in ("ws/robot/mjcf", "ws/robot/mjcf/inner", "ws/robot/assets", "outside"):
        (tmp_path / place).mkdir(parents=True)
        for _, ending, data in WAYS.values():
            (tmp_path / place / f"file{ending}").write_bytes(data)
    for _, ending, _ in WAYS.values():
        link = tmp_path / "ws/robot/mjcf" / f"link{ending}"
        if not link.exists():
            link.symlink_to(tmp_path / "outside" / f"file{ending}")
    return tmp_path


def robot(world: Path, inside: str, name: str = "robot.xml") -> Path:
    path = world / "ws/robot/mjcf" / name
    path.write_text(f"<mujoco>\n{inside}\n<worldbody>{BODY.format('b')}</worldbody></mujoco>")
    return path


@contextmanager
def watch_opened_files(folder: Path) -> Iterator[list[str]]:
    """List the files of a folder that are opened meanwhile, by Python or C code (Linux inotify)."""
    libc, heard = ctypes.CDLL(None, use_errno=True), list[str]()
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0
    try:
        assert libc.inotify_add_watch(watch, os.fsencode(folder), 0x20) >= 0  # IN_OPEN
        yield heard
        try:
            data = os.read(watch, 65536)
        except BlockingIOError:
            data = b""
        while data:
            (size,) = struct.unpack("I", data[12:16])
            heard.append(data[16 : 16 + size].rstrip(b"\0").decode())
            data = data[16 + size :]
    finally:
        os.close(watch)


def test_audit_detects_files_opened_by_c_code(world):
    with watch_opened_files(world / "outside") as heard:
        mujoco.MjSpec.from_file(str(robot(world, '<include file="../../../outside/file.xml"/>')))
    assert heard == ["file.xml"]


def test_all_mjcf_elements_with_a_file_attribute_are_handled():
    """MuJoCo's schema against torsor's table of elements with files; texture files are never read."""
    found, name = set(), ""
    for line in mujoco.mj_printSchema(False, False).splitlines():
        word, _, attributes = line.partition(")") if line[:30].strip() else ("", "", line)
        name = word.partition("(")[0].strip() or name
        if any(a.startswith("file") for a in attributes.split()):
            found.add(name)
    assert found == set(FILE_ATTRIBUTES) - {"include"} | {"texture"}


def is_read_completely(source, **options) -> bool:
    """Whether a file is read to its end; the skin file has no bones, which MuJoCo reports after reading it."""
    try:
        return bool(read_mjcf(source, **options).links)
    except FileError as error:
        return "Missing data in skin" in str(error)


@pytest.mark.parametrize("kind", WAYS)
def test_mjcf_assets_below_the_package_and_in_roots_are_read(world, kind):
    way, ending, _ = WAYS[kind]
    inside = (f"file{ending}", f"inner/file{ending}", f"../assets/file{ending}", f"{world}/ws/robot/assets/file{ending}")
    for name in inside:
        assert is_read_completely(robot(world, way.format(name)))
    assert is_read_completely(robot(world, way.format(f"{world}/outside/file{ending}")), roots=[world / "outside"])


HOSTILE = (
    "../../../outside/file{}", "{}/outside/file", "file://{}/outside/file", "link{}", "inner/../../../../outside/file{}",
    "/dev/zero", "/dev/zero{}", "/etc/passwd", "http://127.0.0.1:9/x{}", "https://127.0.0.1:9/x{}", "..", ".",
    "package://../../outside/file{}",
    "..\\..\\..\\outside\\file{}", "//{}/outside/file", "~/file{}", "$HOME/file{}", "file{}/../../../../outside/file{}",
    "x" * 5000 + "{}", "%2e%2e/%2e%2e/%2e%2e/outside/file{}", "robot.xml/../../../../outside/file{}",
)  # fmt: skip


@pytest.mark.parametrize("kind", WAYS)
def test_files_outside_declared_folders_are_refused_and_not_opened(world, kind):
    way, ending, _ = WAYS[kind]
    with watch_opened_files(world / "outside") as heard:
        for name in HOSTILE:
            absolute = "{}/outside/file" in name
            uri = name.format(world) + ending if absolute else name.replace("{}", ending)
            with pytest.raises(FileError) as caught:
                read_mjcf(robot(world, way.format(uri)))
            assert caught.value.line == 2, name
            assert caught.value.element == kind, name
        out = f"{world}/outside"
        for setting in (f'meshdir="{out}"', 'meshdir="../../../outside"', f'assetdir="{out}" strippath="true"'):
            if kind in ("mesh", "hfield", "skin", "flexcomp"):
                with pytest.raises(FileError, match="outside"):
                    read_mjcf(robot(world, f"<compiler {setting}/>{way.format('file' + ending)}"))
    assert heard == []


def test_mjcf_text_with_file_names_needs_roots(world, monkeypatch):
    monkeypatch.chdir(world / "outside")
    for way, ending, _ in WAYS.values():
        text = f"<mujoco>\n{way.format('file' + ending)}\n</mujoco>"
        with pytest.raises(FileError, match="give roots="):
            read_mjcf(text)
        assert is_read_completely(text, roots=[world / "outside"])


def test_texture_files_outside_the_folder_are_not_opened(world):
    with watch_opened_files(world / "outside") as heard:
        for way, type in product(("file", "fileright"), ("2d", "cube", "skybox")):
            read_mjcf(robot(world, f'<asset><texture name="t" type="{type}" {way}="{world}/outside/file.png"/></asset>'))
    assert heard == []


def test_path_settings_have_the_meaning_of_mujoco(world):
    """If two files have the same name, the one that MuJoCo would read is read."""
    folder = world / "ws/robot/mjcf"
    (folder / "inner/file.stl").write_bytes(stl(2.0))
    (world / "ws/robot/assets/file.stl").write_bytes(stl(3.0))
    use = '<asset><mesh name="m" file="{}"/></asset><worldbody><body name="x"><geom type="mesh" mesh="m"/></body></worldbody>'
    for settings, file in product(
        (("",), ('meshdir="inner"',), ('meshdir="../assets"', 'angle="radian"'), ('assetdir="inner" meshdir="../assets"',),
         ('meshdir="inner"', 'assetdir="../assets"'), (f'meshdir="{folder}/inner" strippath="true"',),
         ('strippath="true"', 'strippath="false"')),
        ("file.stl", f"{folder}/file.stl"),
    ):  # fmt: skip
        path = robot(world, "".join(f"<compiler {said}/>" for said in settings) + use.format(file))
        theirs = mujoco.MjModel.from_xml_path(str(path))
        assert read_mjcf(path).link("x").inertia.m == theirs.body("x").mass[0]


def test_errors_in_an_included_file_name_that_file(world):
    (world / "ws/robot/mjcf/inner/first.xml").write_text('<mujocoinclude>\n<include file="second.xml"/></mujocoinclude>')
    (world / "ws/robot/mjcf/second.xml").write_text(part("right"))
    (world / "ws/robot/mjcf/inner/second.xml").write_text(part("wrong"))
    d = read_mjcf(robot(world, '<include file="inner/first.xml"/>', "robot.mjcf"))
    assert {"right", "b"} <= {x.name for x in d.links}
    (world / "ws/robot/mjcf/second.xml").write_text("<mujoco>\n<worldbody>\n\n<body><joint/></body></worldbody></mujoco>")
    with pytest.raises(FileError, match=r"second.xml:4: <body>: MuJoCo: Error: mass and inertia"):
        read_mjcf(robot(world, '<include file="inner/first.xml"/>'))


def beside(*files: str) -> str:
    return "".join(f'<include file="{file}"/>' for file in files)


#: files → the robot's links in MuJoCo; each main file includes inner/first.xml
NESTED = {
    "beside the including file": {"inner/first.xml": beside("second.xml"), "inner/second.xml": part("inner")},
    "main file before including file": {
        "inner/first.xml": beside("second.xml"), "inner/second.xml": part("inner"), "second.xml": part("outer"),
    },
    "from the main file": {"inner/first.xml": beside("inner/second.xml"), "inner/second.xml": part("inner")},
    "three levels": {
        "inner/first.xml": beside("deep/second.xml"), "inner/deep/second.xml": beside("third.xml"),
        "inner/deep/third.xml": part("deep"),
    },
    "not from the file above": {
        "inner/first.xml": beside("deep/second.xml"), "inner/deep/second.xml": beside("third.xml"),
        "inner/third.xml": part("inner"),
    },
}  # fmt: skip


@pytest.mark.parametrize("case", NESTED)
def test_nested_includes_are_found_where_mujoco_finds_them(tmp_path, case):
    for name, text in NESTED[case].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text if text.startswith("<mujoco") else f"<mujocoinclude>{text}</mujocoinclude>")
    main = tmp_path / "main.xml"
    main.write_text(f"<mujoco>{beside('inner/first.xml')}</mujoco>")
    try:
        theirs = mujoco.MjModel.from_xml_path(str(main))
    except ValueError:
        with pytest.raises(FileError, match=r"second.xml:1: <include>: names 'third.xml': there is no such file"):
            read_mjcf(main)
        return
    names = {theirs.body(i).name for i in range(1, theirs.nbody)}
    assert names <= {link.name for link in read_mjcf(main).links}


@pytest.mark.parametrize(("meshdir", "found"), [("", True), ("meshes", True), ("other", True)])
def test_mesh_of_an_included_file_is_found_where_mujoco_finds_it(tmp_path, meshdir, found):
    """From the main file with meshdir, else beside the included file without meshdir."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes/m.stl").write_bytes(stl(2.0))
    (tmp_path / "inner/m.stl").write_bytes(stl(1.0))
    inside = '<asset><mesh name="m" file="m.stl"/></asset><worldbody><body name="x"><joint/><geom type="mesh" mesh="m"/></body>'
    (tmp_path / "inner/arm.xml").write_text(f"<mujoco>{inside}</worldbody></mujoco>")
    main = tmp_path / "main.xml"
    main.write_text(f'<mujoco><compiler meshdir="{meshdir}"/>{beside("inner/arm.xml")}</mujoco>')
    theirs = mujoco.MjModel.from_xml_path(str(main))
    assert read_mjcf(main).link("x").inertia.m == theirs.body("x").mass[0]


def test_include_outside_the_folders_is_refused_even_if_another_is_beside_the_including_file(world):
    (world / "ws/robot/mjcf/inner/first.xml").write_text('<mujocoinclude><include file="link.xml"/></mujocoinclude>')
    (world / "ws/robot/mjcf/inner/link.xml").write_text(part("inner"))
    with pytest.raises(FileError, match="outside the allowed folders"):
        read_mjcf(robot(world, '<include file="inner/first.xml"/>'))
    (world / "ws/robot/mjcf/link.xml").unlink()
    assert "inner" in {x.name for x in read_mjcf(robot(world, '<include file="inner/first.xml"/>')).links}
    (world / "ws/robot/mjcf/inner/link.xml").unlink()
    (world / "ws/robot/mjcf/inner/link.xml").symlink_to(world / "outside/file.xml")
    with pytest.raises(FileError, match="outside the allowed folders"):
        read_mjcf(robot(world, '<include file="inner/first.xml"/>'))


ARM = """<mujoco><compiler meshdir="inner"/><asset><mesh name="m" file="file.stl"/></asset>
<worldbody><body name="arm"><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
ATTACHED = """<asset><model name="arm" file="arm.xml"/></asset>
<worldbody><body name="c"><attach model="arm" body="arm" prefix="p_"/></body></worldbody>"""


def test_attached_model_reads_its_own_files(world):
    arm = world / "ws/robot/mjcf/arm.xml"
    arm.write_text(ARM)
    assert "p_arm" in {x.name for x in read_mjcf(robot(world, ATTACHED)).links}
    for text, words in (
        ('<mujoco><asset><model name="arm" file="arm.xml"/></asset></mujoco>', "a model that this one is part of"),
        (ARM.replace("file.stl", "../../../../outside/file.stl"), "arm.xml:1: <mesh>: names .* outside the allowed folders"),
        ('<robot name="r"/>', "arm.xml:1: <robot>: is not MJCF: this is a URDF"),
        (ARM.replace("<joint/>", '<joint type="gear"/>'), r"robot.xml:2: <model>: .*invalid keyword: 'gear'"),
    ):
        arm.write_text(text)
        with pytest.raises(FileError, match=words):
            read_mjcf(robot(world, ATTACHED))


#: cyclic or deeply nested includes: id → (number of files, the file that each includes, words of the error)
WINDING = {
    "itself": (1, lambda n: 0, "0.xml:2: <include>: '0.xml' is included more than once"),
    "in a circle": (3, lambda n: (n + 1) % 3, "0.xml:2: <include>: '1.xml' is included more than once"),
    "deep": (1000, lambda n: n + 1, f"{DEEPEST}.xml:2: <include>: is inside 50 nested includes"),
}


@pytest.mark.parametrize("case", WINDING)
def test_cyclic_and_deeply_nested_includes_are_refused(tmp_path, case):
    count, following, words = WINDING[case]
    for n in range(min(count, DEEPEST + 5)):
        (tmp_path / f"{n}.xml").write_text(f'<mujoco>\n<include file="{following(n)}.xml"/></mujoco>')
    with pytest.raises(FileError, match=words):
        read_mjcf(tmp_path / "0.xml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<include file="file.xml"/><include file="file.xml"/>', "is included more than once"),
        ('<include file="file.xml"><body/></include>', "an include must be empty"),
        ("<include/>", 'has no file="..."'),
        ('<include file=""/>', "is empty"),
        ('<include file="empty.xml"/>', "is empty"),
        ('<include file="none.xml"/>', "there is no such file"),
        ('<include file="file.stl"/>', "not a file of this kind"),
        ('<asset><mesh file="robot.xml"/></asset>', "not a file of this kind"),
    ],
)
def test_invalid_includes_are_refused(world, text, words):
    (world / "ws/robot/mjcf/empty.xml").write_text("<mujoco/>")
    with pytest.raises(FileError, match=words):
        read_mjcf(robot(world, text))


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\0\0\0\0" + bytes(20)


NAN = struct.pack("<f", float("nan"))
#: damaged meshes and height fields: id → (ending, bytes, words)
DAMAGED = {
    "nothing": (".stl", b"", "MuJoCo"),
    "cut off": (".stl", stl()[:-20], "MuJoCo"),
    "a head alone": (".stl", stl()[:84], "MuJoCo"),
    "announces four billion": (".stl", stl(count=0xFFFFFFFF), "MuJoCo"),
    "announces two billion": (".stl", stl(count=0x7FFFFFFF), "MuJoCo"),
    "announces none": (".stl", stl(count=0), "MuJoCo"),
    "nan": (".stl", stl()[:96] + NAN + stl()[100:], "not finite|MuJoCo"),
    "in words": (".stl", b"solid x\nendsolid x\n", "MuJoCo"),
    "noise": (".obj", bytes(range(256)) * 4, "MuJoCo"),
    "face of nothing": (".obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 9\n", "MuJoCo"),
    "face far away": (".obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 2147483647\nf 1 2 -2147483648\n", "MuJoCo"),
    "nan in words": (
        ".obj",
        b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n",
        "not finite|MuJoCo",
    ),
    "its own format": (".msh", struct.pack("<4i", 2**31 - 1, 2**31 - 1, 0, 2**31 - 1), "MuJoCo"),
    "negative counts": (".msh", struct.pack("<4i", -1, -1, -1, -1), "MuJoCo"),
    "a picture as a field": (".png", png(60000, 60000), "60000 by 60000 pixels"),
    "a picture cut off": (".png", png(4, 4), "MuJoCo"),
    "a field of two billion": (".bin", struct.pack("<ii", 2**31 - 1, 2**31 - 1), "MuJoCo"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_meshes_and_height_fields_are_file_errors_with_line(world, case):
    ending, data, words = DAMAGED[case]
    (world / f"ws/robot/mjcf/bad{ending}").write_bytes(data)
    kind, size = ("hfield", 'size="1 1 1 1"') if ending in (".png", ".bin") else ("mesh", "")
    asset = f'<asset><{kind} name="m" file="bad{ending}" {size}/></asset>'
    with pytest.raises(FileError, match=words) as caught:
        read_mjcf(robot(world, f'{asset}<worldbody><body><joint/><geom type="{kind}" {kind}="m"/></body></worldbody>'))
    assert caught.value.line == 2


TRACED = """
import sys
sys.path[:0] = sys.argv[1:2]
from torsor.errors import TorsorError
from torsor.io.mjcf import read_mjcf
read_mjcf('<mujoco><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>')
open(sys.argv[2]).close()
for path in sys.argv[3:]:
    try:
        read_mjcf(path)
    except TorsorError:
        pass
"""
#: a successful system call in the log of strace, and its path
CALL = re.compile(r'\d+ +(?:open|openat|connect)\((?:AT_FDCWD, )?(?:"(?P<path>[^"]*)")?')


def calls_outside(trace: str, start: Path, declared: Path) -> tuple[int, list[str]]:
    """(number of calls after ``start`` was opened, those that open a file or a connection outside the declared folder).

    Folders that are only listed and libraries that Python imports on first use are not counted.
    """
    lines = [line for line in trace.partition(f'"{start}"')[2].splitlines()[1:] if "O_DIRECTORY" not in line]
    calls = [(line, Path(match["path"] or "")) for line in lines if (match := CALL.match(line))]
    return len(calls), [line for line, path in calls if not (path.is_relative_to(declared) or "lib" in path.parts)]


def test_outside_lists_opens_and_connections_outside_the_declared_folder(tmp_path):
    """Independent of the names of the folders: pytest-xdist runs tests below .../popen-gw0/..."""
    here = tmp_path / "popen-gw0"
    lines = [
        '7 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3', f'7 openat(AT_FDCWD, "{here}/begin", O_RDONLY|O_CLOEXEC) = 3',
        f'7 openat(AT_FDCWD, "{here}/ws/robot/a.xml", O_RDONLY) = 3', '7 openat(AT_FDCWD, "/etc", O_RDONLY|O_DIRECTORY) = 3',
        '7 openat(AT_FDCWD, "/usr/lib/x.so", O_RDONLY) = 3', '7 openat(AT_FDCWD, "/etc/shadow", O_RDONLY) = 3',
        f'8 open("{here}/outside/file.stl", O_RDONLY) = 3', "8 connect(3, {sa_family=AF_INET, sin_port=htons(9)}, 16) = 0",
        "8 +++ exited with 0 +++",
    ]  # fmt: skip
    assert calls_outside("\n".join(lines), here / "begin", here / "ws/robot") == (5, lines[-4:-1])


@pytest.mark.night
def test_strace_shows_no_opened_file_outside_the_declared_folder(world):
    """strace sees files in all folders, unlike inotify; -z lists only successful calls, one per line."""
    paths = []
    for kind, (way, ending, _) in WAYS.items():
        for n, name in enumerate(HOSTILE[:12]):
            uri = name.format(world) + ending if "{}/outside" in name else name.replace("{}", ending)
            paths.append(str(robot(world, way.format(uri), f"{kind}{n}.xml")))
    log, start = world / "trace", world / "start"
    start.touch()
    import torsor

    source = str(Path(torsor.__file__).parents[1])
    traced = ["strace", "-f", "-z", "-e", "trace=openat,open,connect", "-o", str(log)]
    try:
        run = subprocess.run(
            [*traced, sys.executable, "-c", TRACED, source, str(start), *paths], capture_output=True, text=True, timeout=300
        )
    except FileNotFoundError:
        pytest.skip("there is no strace on this machine")
    if "ptrace" in run.stderr.lower():
        pytest.skip("strace may not trace here")
    assert run.returncode == 0, run.stderr
    count, found = calls_outside(log.read_text(), start, world / "ws/robot/mjcf")
    assert count >= len(paths)  # each of the MJCF files is read
    assert found == []
