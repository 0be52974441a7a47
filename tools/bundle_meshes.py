"""Makes robot/library/data/meshes/*.npz and the <visual> elements of the bundled URDFs from the example-robot-data wheel.

    python tools/bundle_meshes.py [robot ...]

Needs trimesh, pycollada and fast-simplification (the extra ``view``) and example-robot-data.  Meshes are reduced until the
archive of a robot is within LARGEST; colours stay.  In a URDF, old <visual> elements go, all else is left as it is.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import fast_simplification
import numpy as np

import torsor as ts
from torsor.io.shared.places import Places
from torsor.look.scene.archive import pack_surfaces
from torsor.look.scene.packing import weld_corners
from torsor.look.scene.shapes import pose, triangles
from torsor.look.scene.triangles import Triangles
from torsor.model.description import Geometry

#: of an archive [bytes]
LARGEST = 300_000
DATA = Path(__file__).parents[1] / "src" / "torsor" / "robot" / "library" / "data"
ROBOTS = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
}


def upstream() -> Path:
    import pinocchio  # both wheels put their files below one prefix

    return Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"


def name_of(shape: Geometry) -> str:
    return re.sub(r"\W", "_", Path(shape.uri).stem).lower()


def surfaces(shape: Geometry, places: Places) -> list[Triangles]:
    """One surface a colour, in the mesh's own frame."""
    plain = Geometry("visual", "mesh", uri=shape.uri, scale=shape.scale, color=shape.color)
    by_color: dict[tuple, list[Triangles]] = {}
    for s in triangles(plain, places):
        by_color.setdefault(tuple(np.round(s.color, 2)), []).append(s)
    out = []
    for color, found in by_color.items():
        starts = np.cumsum([0, *(len(s.vertices) for s in found)])
        vertices = np.concatenate([s.vertices for s in found])
        out.append(Triangles(vertices, np.concatenate([s.faces + k for s, k in zip(found, starts, strict=False)]), color))
    return out


def simplify_surface(surface: Triangles, kept: float) -> Triangles:
    """Quadric edge collapse of the welded surface; small parts keep more, for their outline's sake."""
    (low, high), corners, faces = weld_corners(surface, 2**16 - 1)
    vertices = (low + corners / np.float64(2**16 - 1) * (high - low)).astype(np.float32)
    share = min(1.0, max(kept, 60 / len(faces)))
    if share < 1:
        vertices, faces = fast_simplification.simplify(vertices, faces.astype(np.int32), 1 - share, agg=4)
    return Triangles(vertices, np.asarray(faces, np.uint32), surface.color)


def archive(meshes: dict[str, list[Triangles]]) -> tuple[bytes, int]:
    """The largest archive within LARGEST, by halving."""
    low, high, best, count = 0.0, 1.0, b"", 0
    for _ in range(9):
        kept = (low + high) / 2 if best or high < 1 else 1.0
        thinner = {name: [simplify_surface(s, kept) for s in found] for name, found in meshes.items()}
        stream = io.BytesIO()
        np.savez_compressed(stream, **pack_surfaces(thinner))
        if len(stream.getvalue()) <= LARGEST:
            low, best, count = kept, stream.getvalue(), sum(len(s.faces) for found in thinner.values() for s in found)
        else:
            high = min(kept, 0.999)
        if low == 1.0:
            break
    return best, count


def visual(robot: str, shape: Geometry) -> str:
    R, p = pose(shape.origin)
    rpy = (np.arctan2(R[2, 1], R[2, 2]), np.arcsin(np.clip(-R[2, 0], -1, 1)), np.arctan2(R[1, 0], R[0, 0]))
    numbers = [" ".join(f"{x:.10g}" for x in values) for values in (np.round(rpy, 10) + 0.0, p + 0.0)]
    return (
        f'    <visual>\n      <origin rpy="{numbers[0]}" xyz="{numbers[1]}"/>\n      <geometry>\n'
        f'        <mesh filename="torsor://{robot}/{name_of(shape)}"/>\n      </geometry>\n    </visual>\n'
    )


def with_visuals(text: str, robot: str, shapes: dict[str, list[Geometry]]) -> str:
    text = re.sub(r"    <visual>.*?</visual>\n", "", text, flags=re.S)
    for link, found in shapes.items():
        tag, added = f'  <link name="{link}"', "".join(visual(robot, shape) for shape in found)
        text = text.replace(f"{tag}/>\n", f"{tag}>\n  </link>\n")  # a link of nothing but its name
        end = text.index("  </link>\n", text.index(f"{tag}>\n"))
        text = text[:end] + added + text[end:]
    return text


def main(names: list[str]) -> None:
    for robot in names or ROBOTS:
        d = ts.load(upstream() / ROBOTS[robot]).description
        places = Places(d.source)
        shapes = {link.name: [g for g in link.geometry if g.role == "visual"] for link in d.links}
        shapes = {link: found for link, found in shapes.items() if found}
        meshes = {name_of(g): surfaces(g, places) for found in shapes.values() for g in found}
        data, count = archive(meshes)
        (DATA / "meshes").mkdir(exist_ok=True)
        (DATA / "meshes" / f"{robot}.npz").write_bytes(data)
        urdf = DATA / f"{robot}.urdf"
        urdf.write_text(with_visuals(urdf.read_text(), robot, shapes))
        before = sum(len(s.faces) for found in meshes.values() for s in found)
        print(f"{robot}: {len(meshes)} meshes, {count} of {before} triangles, {len(data)} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
