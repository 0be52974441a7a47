"""Fuzzing of the readers: files with flipped bytes, swapped words and moved lines, many thousands of them.

``python -m tests.io.fuzzing mjcf --count 100000 --seed 1`` runs one reader in a process with little memory, and prints each
input that raises an untyped error, takes longer than a second or loads with a number that is not finite.  The tests run fewer.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import io
import itertools
import math
import os
import random
import resource
import shutil
import struct
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import torsor
from tests.io.composed import composed
from torsor.errors import TorsorError
from torsor.io.dh.files import read_dh
from torsor.io.loops_file import read_loops
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.io.srdf import with_srdf
from torsor.io.urdf import read_urdf
from torsor.io.urdf.writer import write_urdf
from torsor.logs import Log, Writer, read
from torsor.model import Description
from torsor.robot.builder import Builder
from torsor.simulate import simulate
from torsor.simulate.files import load_result
from torsor.spatial.vector import flat
from torsor.support.digests import MARK

#: words with a special meaning in at least one of the parsers; the last ones are long
WORDS = [
    b"nan", b"-inf", b"1e999", b"1e-999", b"0", b"-1", b"1e300", b"2147483648", b"4294967295", b"", b'"', b"<", b">", b"/>",
    b"<!DOCTYPE", b"<![CDATA[", b"&#0;", b"&amp;", b"\xff\xfe", b"\0", b"\xef\xbb\xbf", b"xmlns:x='y'", b"x:", b"a", b"b",
    b"<!--", b"-->", b"<?xml", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"[", b"]", b"{", b"}", b": ", b"- ", b"&a", b"*a", b"!!",
    b"|", b",", b";", b"#", b"\t", b"\r", b"\n", b"0 0 0", b"1 0 0", b"0 0 0 0", b"1" * 400, b"9" * 400, b"[" * 3000,
    b"{" * 3000,
]  # fmt: skip
#: four-byte values that replace counts and lengths in binary files
COUNTS = [b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0", b"\0\0\0\x80", b"\x01\0\0\0", b"\0\0\xc0\x7f", b"\0\0\x80\x7f"]


def mutate_text(rng: random.Random, seed: bytes, words: Iterable[bytes]) -> bytes:
    """Return the text with one, two or four random changes."""
    data, choice = bytearray(seed), list(words)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at, end = sorted(rng.choices(range(len(data) + 1), k=2))
        act = rng.randrange(8)
        if act == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif act == 1:
            data[at:at] = rng.choice(choice)
        elif act == 2:
            del data[at : min(end, at + 30)]
        elif act == 3:
            data[at:at] = data[at : min(end, at + 60)]
        elif act in (4, 5):  # replace a value: the structure stays valid, the value changes
            data = _replace_value(rng, data, choice)
        elif act == 6:  # exchange two lines
            lines = bytes(data).split(b"\n")
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            data = bytearray(b"\n".join(lines))
        else:  # repeat a line
            lines = bytes(data).split(b"\n")
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
            data = bytearray(b"\n".join(lines))
    return bytes(data)


def _replace_value(rng: random.Random, data: bytearray, words: list[bytes]) -> bytearray:
    """Replace the text between two quotes (or between two commas or blanks, if there are no quotes) by one of ``words``."""
    mark = 34 if data.count(34) > 1 else rng.choice(b", ")
    marks = np.flatnonzero(np.frombuffer(bytes(data), np.uint8) == mark).tolist()
    if len(marks) < 2:
        return data
    k = rng.randrange(len(marks) // 2) * 2 if mark == 34 else rng.randrange(len(marks) - 1)
    return data[: marks[k] + 1] + rng.choice(words) + data[marks[k + 1] :]


def damage_bytes(rng: random.Random, seed: bytes, words: Iterable[bytes] = COUNTS) -> bytes:
    """Return the bytes with one, two or four random changes: bits flipped, end cut off, counts overwritten, parts repeated."""
    data, counts = bytearray(seed), list(words)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        act = rng.randrange(6)
        if act in (0, 1) and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif act == 2:
            del data[at:]
        elif act in (3, 4):
            data[at : at + 4] = rng.choice(counts)
        else:
            data[at:at] = data[at : at + rng.randrange(1, 64)]
    return bytes(data)


# -- readers -------------------------------------------------------------------------------------------------------------

MJCF = [
    """<mujoco model="m">
<compiler angle="radian" autolimits="true"/>
<option gravity="0 0 -9.8"/>
<default><joint armature="0.1"/>
<default class="c"><geom size="0.1"/></default></default>
<worldbody>
<body name="a" pos="0 0 1" quat="1 0 0 0">
<freejoint name="f"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<body name="b" pos="1 0 0" euler="0 0.5 0">
<joint name="j" type="hinge" axis="0 0 1" range="-1 1" ref="0.2" pos="0 0.1 0" damping="1"/>
<joint name="k" type="slide" axis="1 0 0"/>
<geom type="capsule" fromto="0 0 0 1 0 0" size="0.1" mass="2"/>
<site name="s" pos="0 0 1"/>
</body>
<replicate count="2" offset="1 0 0"><body name="r"><joint type="ball"/><geom class="c" density="10"/></body></replicate>
</body>
</worldbody>
<equality>
<joint joint1="j" joint2="k" polycoef="0 2 0 0 0"/>
<connect body1="a" body2="b" anchor="0 0 1"/>
<weld body1="b" body2="a" active="true"/>
</equality>
<actuator><motor joint="j" gear="3" ctrlrange="-1 1"/>
<position joint="k" kp="1" forcerange="-1 2"/></actuator>
<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
<sensor><jointpos joint="j"/></sensor>
<keyframe><key time="1"/><key name="home" qpos="0 0 1 1 0 0 0 0.1 0.2 1 0 0 0 1 0 0 0" ctrl="0 1"/></keyframe>
</mujoco>""",
    """<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
<hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/>
<texture name="t" type="2d" builtin="flat" width="9" height="9"/><material name="w" texture="t" rgba="1 0 0 1"/></asset>
<worldbody><geom type="hfield" hfield="h"/>
<body><joint/><geom type="mesh" mesh="m" material="w"/></body>
<body name="flex"><geom size="1"/>
<flexcomp name="x" type="grid" dim="3" count="2 2 2" spacing="1 1 1" mass="1"/></body>
</worldbody></mujoco>""",
]
MJCF_WORDS = [
    b"free", b"ball", b"slide", b"hinge", b"world", b"mesh", b"box", b"ellipsoid", b"plane", b"sdf", b"auto", b"degree", b"c",
    b"<joint/>", b"<freejoint/>", b"<body>", b"</body>", b'<include file="a.xml"/>', b"<frame>", b"j", b"k", b"9 9 9", b"true",
]  # fmt: skip
URDF = [
    """<robot name="r">
<link name="a"><inertial><origin xyz="0.1 0 1" rpy="0 1.57 0"/><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
<visual name="v"><origin rpy="1 0 0"/><geometry><box size="1 2 3"/></geometry><material name="m"/></visual></link>
<link name="b"/>
<link name="c"/>
<material name="m"><color rgba="1 0 0 1"/></material>
<joint name="i" type="revolute"><origin xyz="1 2 3"/><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="1" friction="1"/></joint>
<joint name="j" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
<mimic joint="i" multiplier="2"/></joint>
</robot>"""
]
URDF_WORDS = [b"<link/>", b"<joint", b"</robot>", b"c", b"fixed", b"floating", b"universal", b"helical", b"planar", b"mimic"]
DH = [
    """# convention: modified
# gravity: 0 0 -9.8
a [m], alpha [deg], d, theta, type, mass, cx, cy, cz, ixx, iyy, izz, lower, armature
0,     0,           0, 0,   revolute,  4.0,  0.1, 0, 0,  0.01, 0.02, 0.02, -1, 1
0.25,  -90,         0, 0,   prismatic, 2.5,  0.2, 0, 0,  0.01, 0.02, 0.02, , 2
"""
]
DH_YAML = [
    """convention: standard
angles: deg
tool_xyz: [0, 0, 1]
joints:
  - {a: 0, alpha: 0, d: 0, theta: 0, mass: 4.0, com: [0.1, 0, 0], inertia: [0.01, 0.02, 0.02]}
  - {a: 0.25, alpha: -90, mass: 2.5, com: [0.2, 0, 0], type: prismatic, inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
"""
]
LOOPS = [
    """loops:
  - name: close
    type: revolute
    axis: [0, 0, 1]
    parent: {link: rocker, xyz: [0.3, 0, 0], rpy: [0, 0, 0]}
    child: {link: coupler, xyz: [0.5, 0, 0]}
  - {name: screw, type: helical, pitch: 0.1, parent: {link: world}, child: {link: b}}
"""
]
SRDF = [
    """<robot name="arm">
<virtual_joint name="root" type="floating" parent_frame="world" child_link="base"/>
<group name="arm"><joint name="j"/><chain base_link="base" tip_link="end"/></group>
<group_state name="home" group="arm">
<joint name="j" value="1.5"/><joint name="s" value="0 0 0 1"/>
<joint name="root" value="0 0 1 0 0 0 1"/></group_state>
<group_state name="home" group="hand"><joint name="k" value="-2e-3"/></group_state>
<disable_collisions link1="base" link2="end" reason="Never"/>
</robot>"""
]
CSV_LOG = ['# {"start": 5}\nt,q[a],q[b],v[a],note\n0,1,2,3,4\n0.1,1.5,2e-3,-3,nan\n"0.2",1,2,3,inf\n']


class Reader(NamedTuple):
    """The valid files of one kind, the function that damages them, and the function that reads them."""

    seeds: list[bytes]
    change: Callable[[random.Random, bytes, Iterable[bytes]], bytes]
    words: list[bytes]
    read: Callable[[bytes], object]


def _text(seeds: list[str], words: list[bytes], reader: Callable[[bytes], object]) -> Reader:
    return Reader([s.encode() for s in seeds], mutate_text, WORDS + words, reader)


def _log(ending: str) -> Reader:
    t = np.arange(20) / 10
    columns = np.c_[np.sin(t), np.cos(t)]
    log = Log(t=t, q=columns, v=columns, names={"q": ("a", "b"), "v": ("a", "b")}, start=5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"log.{ending}")
        with Writer(path) as out:
            out.append(log)
        seeds = [path.read_bytes()] if ending == "mcap" else with_and_without_digest(path)
    return Reader(seeds, damage_bytes, COUNTS, lambda data: read(io.BytesIO(data), format=ending))


def with_and_without_digest(path: Path) -> list[bytes]:
    """(the file, the same file without its digest): without a digest, damage is not detected at once and reaches later code."""
    data = path.read_bytes()
    if path.suffix == ".csv":
        return [data, data.partition(b"\n")[2]]
    stream = io.BytesIO()
    if path.suffix == ".npz":
        with np.load(path) as stored:
            np.savez_compressed(stream, **{k: stored[k] for k in stored.files if k != MARK})
    else:
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(path)
        kept = {k: x for k, x in table.schema.metadata.items() if k != MARK.encode()}
        pyarrow.parquet.write_table(table.replace_schema_metadata(kept), stream)
    assert MARK.encode() not in stream.getvalue()
    return [data, stream.getvalue()]


def scratch() -> Path:
    """A folder for files that are written many thousand times: in /dev/shm if possible, since a disk needs 2 ms for each."""
    memory = "/dev/shm"
    folder = tempfile.mkdtemp(prefix="torsor_fuzz", dir=memory if os.access(memory, os.W_OK) else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _srdf_reader() -> Callable[[bytes], object]:
    """An SRDF, read for a robot with a spherical joint and a mimic joint, on a floating base."""
    b = Builder("arm").link("base", mass=1.0).link("a", mass=1.0).link("b", mass=1.0).link("end", mass=1.0)
    b = b.joint("j", "revolute", "base", "a").joint("s", "spherical", "a", "b").joint("k", "prismatic", "b", "end")
    d = b.description("floating")
    return lambda data: with_srdf(d, data)


def _csv_log() -> Reader:
    return _text(CSV_LOG, [b"t,", b"q[a]", b"# {", b"1_0", b"\xef\xbc\x91"], lambda data: read(io.BytesIO(data), format="csv"))


def _saved_simulation(ending: str) -> Reader:
    """A saved simulation, read from a file path."""
    robot = torsor.robots.two_link()
    result = simulate(robot, [0.1, 0.2], [0.0, 0.0], 0.05)
    path = scratch() / f"run.{ending}"
    result.save(path)
    seeds = with_and_without_digest(path)

    def reading(data: bytes) -> object:
        path.write_bytes(data)
        return load_result(path)

    text = ending == "csv"
    return Reader(seeds, mutate_text if text else damage_bytes, WORDS if text else COUNTS, reading)


#: assets that MJCF files refer to: ending → bytes
_TRIANGLES = [
    (0, 0, 0, 0, 1, 0, 1, 0, 0),
    (0, 0, 0, 1, 0, 0, 0, 0, 1),
    (0, 0, 0, 0, 0, 1, 0, 1, 0),
    (1, 0, 0, 0, 1, 0, 0, 0, 1),
]
_STL = bytes(80) + struct.pack("<I", 4) + b"".join(struct.pack("<12fH", 0, 0, 0, *t, 0) for t in _TRIANGLES)
_OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nvt 0 0\n" + b"".join(
    b"f %d/1/1 %d/1/1 %d/1/1\n" % face for face in ((1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4))
)
_MSH = struct.pack("<4i12f12i", 4, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3)
_FIELD = struct.pack("<2i4f", 2, 2, 0, 1, 0, 1)
_ASSETS = {".stl": _STL, ".obj": _OBJ, ".msh": _MSH, ".bin": _FIELD}


def _assets() -> Reader:
    """Meshes and height fields, read by MuJoCo's C code; the first byte of an input selects the file type."""
    folder = scratch()
    endings = list(_ASSETS)

    def changed(rng: random.Random, seed: bytes, words: Iterable[bytes]) -> bytes:
        text = endings[seed[0]] == ".obj"
        return seed[:1] + (mutate_text(rng, seed[1:], WORDS) if text else damage_bytes(rng, seed[1:], words))

    def reading(data: bytes) -> object:
        ending = endings[data[0]]
        (folder / f"a{ending}").write_bytes(data[1:])
        kind, size = ("hfield", 'size="1 1 1 1"') if ending == ".bin" else ("mesh", "")
        use = f'<body><joint/><geom size="1"/></body><geom type="{kind}" {kind}="a"/>'
        asset = f'<asset><{kind} name="a" file="a{ending}" {size}/></asset>'
        return read_mjcf(f"<mujoco>{asset}<worldbody>{use}</worldbody></mujoco>", roots=[folder])

    return Reader([bytes([n]) + _ASSETS[e] for n, e in enumerate(endings)], changed, COUNTS, reading)


def _own(write: Callable[[Description], str]) -> Reader:
    """torsor's own element with every term; a robot that loads also describes its terms."""
    text = write(composed().description)
    words = [
        b"Spring",
        b"RecordedFunction",
        b"mul",
        b"null",
        b"true",
        b"1.5",
        b"j1",
        b"tip",
        b"Vec",
        b"{}",
        b"[]",
        b"1e999",
        b"NaN",
    ]

    def read(data: bytes) -> object:
        d = torsor.load(data).description
        return d if torsor.Robot(d).terms is not None else None

    return _text([text], words, read)


READERS: dict[str, Callable[[], Reader]] = {
    "own urdf": lambda: _own(write_urdf),
    "own mjcf": lambda: _own(write_mjcf),
    "urdf": lambda: _text(URDF, URDF_WORDS, read_urdf),
    "mjcf": lambda: _text(MJCF, MJCF_WORDS, read_mjcf),
    "mjcf assets": _assets,
    "dh csv": lambda: _text(DH, [b"a", b"alpha", b"mass", b"revolute", b"# name: x"], read_dh),
    "dh yaml": lambda: _text(DH_YAML, [b"a", b"alpha", b"mass", b"joints:", b"? "], read_dh),
    "loops": lambda: _text(LOOPS, [b"name", b"world", b"planar", b"universal", b"loops:"], read_loops),
    "srdf": lambda: _text(SRDF, [b"j", b"s", b"k", b"root", b"home", b"floating", b"<joint/>", b"0 0 0 1"], _srdf_reader()),
    "csv": _csv_log,
    "npz": lambda: _log("npz"),
    "parquet": lambda: _log("parquet"),
    "mcap": lambda: _log("mcap"),
    "simulation npz": lambda: _saved_simulation("npz"),
    "simulation csv": lambda: _saved_simulation("csv"),
    "simulation parquet": lambda: _saved_simulation("parquet"),
}


# -- findings ------------------------------------------------------------------------------------------------------------


def findings(kind: str, count: int, seed: int = 0, outcomes: Counter[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """(problem, input) of every failure: an error other than TorsorError, more than a second, a robot with a number not finite.

    The first inputs are valid files, which must load.  ``outcomes`` counts how many inputs load and how many are refused.
    """
    reader, rng, counted = READERS[kind](), random.Random(f"{kind} {seed}"), Counter[str]() if outcomes is None else outcomes
    for n in range(-len(reader.seeds), count):
        data = reader.seeds[n] if n < 0 else reader.change(rng, rng.choice(reader.seeds), reader.words)
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = reader.read(data)
        except TorsorError as error:
            counted["refused"] += 1
            if n < 0:
                yield f"a whole file is refused: {error}", data
            if not str(error).strip() or len(str(error)) > 2000 + 2 * len(data):  # messages quote names of the file
                yield f"an error of {len(str(error))} characters", data
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            yield f"{type(error).__name__}: {str(error)[:200]}", data
        else:
            counted["loaded"] += 1
            if isinstance(found, Description) and not finite(found):
                yield "a number that is not finite", data
        if time.perf_counter() - began > 1 and (took := seconds(reader, data)) > 1:
            yield f"{took:.1f} s", data


def seconds(reader: Reader, data: bytes) -> float:
    """Processor time of a read [s], the least of three: on a loaded machine one took twice as long as alone."""
    found = []
    for _ in range(3):
        began = time.process_time()
        with contextlib.suppress(Exception):
            reader.read(data)
        found.append(time.process_time() - began)
    return min(found)


def finite(d: Description) -> bool:
    """Whether all numbers of a robot are finite; limits may be infinite and are not checked."""
    rows = [(x.inertia.m, *x.inertia.h, *x.inertia.I) for x in d.links]
    rows += [(*flat(j.origin), *j.armature, *j.damping, *j.friction, *_axis(j.kind)) for j in d.joints]
    rows += [tuple(flat(f.origin)) for f in d.frames]
    rows += [(*flat(x.origin), *flat(x.child_origin)) for x in d.loops]
    rows += [(*flat(g.origin), *g.size, *g.scale, *(g.color or ())) for x in d.links for g in x.geometry]
    return all(math.isfinite(x) for x in itertools.chain(*rows, d.gravity))


def _axis(kind: object) -> tuple[float, ...]:
    return tuple(getattr(kind, "axis", ()) or ())


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("kind", choices=READERS)
    words.add_argument("--count", type=int, default=10_000)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--memory", type=int, default=2048, help="MB of address space")
    given = words.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (given.memory << 20, given.memory << 20))
    for what, data in findings(given.kind, given.count, given.seed):
        print(what, repr(data), flush=True)


if __name__ == "__main__":
    main()
