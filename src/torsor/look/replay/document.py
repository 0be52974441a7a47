"""The HTML document of a replay page: packed data and scripts in one file.

Its policy allows only the scripts whose hashes it lists: no other script runs, whatever a robot's name contains, and no file is
loaded from anywhere.
"""

from __future__ import annotations

import gzip
import html
import json
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from torsor.look.replay.packing import Bytes, curves
from torsor.look.replay.replay_data import LONGEST, ReplayData
from torsor.look.replay.thinning import cluster_corners
from torsor.look.scene import Triangles
from torsor.look.scene.archive import STEPS
from torsor.look.scene.packing import weld_corners
from torsor.version import __version__

#: largest number of triangles in a page; corners are merged until there are fewer
TRIANGLES = 400_000
SCRIPTS = ("unpack.js", "normals.js", "stage.js", "plot.js", "replay.js")


class Assets(NamedTuple):
    """The parts that all pages share."""

    body: str
    css: str
    script: str
    three: str  # gzip, base64
    policy: str


def page(replay: ReplayData) -> str:
    """The document."""
    a, data = assets(), Bytes()
    described = _escape_script(json.dumps(_describe(replay, data), ensure_ascii=False, separators=(",", ":"), allow_nan=False))
    packed = b64encode(gzip.compress(data.concatenate(), 6, mtime=0)).decode()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{a.policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="torsor {__version__}">\n<title>{html.escape(replay.name)}</title>\n'
        f"<style>{a.css}</style>\n</head>\n<body>\n{a.body}"
        f'<script type="application/json" id="film">{described}</script>\n'
        f'<script type="application/gzip" id="data">{packed}</script>\n'
        f'<script type="application/gzip" id="three">{a.three}</script>\n'
        f"<script>{a.script}</script>\n</body>\n</html>\n"
    )


@lru_cache(maxsize=1)
def assets() -> Assets:
    folder = files("torsor.replay") / "assets"
    text = {name: (folder / name).read_text("utf-8") for name in ("body.html", "replay.css", *SCRIPTS)}
    script = "(() => {\n'use strict';\n" + "\n".join(text[name] for name in SCRIPTS) + "})();\n"
    three = (folder / "three.min.js.gz").read_bytes()
    css = text["replay.css"]
    policy = (
        f"default-src 'none'; script-src {_hash(script.encode())} {_hash(gzip.decompress(three))}; "
        f"style-src {_hash(css.encode())}; base-uri 'none'; form-action 'none'"
    )
    return Assets(text["body.html"], css, script, b64encode(three).decode(), policy)


def _hash(code: bytes) -> str:
    return f"'sha256-{b64encode(sha256(code).digest()).decode()}'"


def _escape_script(text: str) -> str:
    """JSON that cannot start or end a script element."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _describe(replay: ReplayData, data: Bytes) -> dict[str, Any]:
    surfaces, notes = _surfaces(replay)
    moving = (np.ptp(replay.poses, axis=0) > 0).any(axis=-1)
    return {
        "name": replay.name,
        "drawnAs": replay.drawn_as,
        "up": replay.up.tolist(),
        "floating": replay.floating,
        "floor": replay.floor,
        "facts": replay.facts,
        "notes": [*replay.notes, *notes],
        "times": data.add("float", replay.times),
        "links": replay.links,
        "still": data.add("float", replay.poses[0]),
        "moving": np.flatnonzero(moving).tolist(),
        "poses": data.add("float", replay.poses[:, moving].transpose(1, 2, 0)),
        "parts": [
            {"link": replay.links.index(link), "color": surface.color, "kind": kind, **_surface(surface, data)}
            for link, kind, surface in surfaces
        ],
        "arrows": [
            {
                "frame": a.frame,
                "kind": a.kind,
                "unit": a.unit,
                "longest": LONGEST,
                "data": data.add("float", np.concatenate((a.at, a.force), axis=1).T),
            }
            for a in replay.arrows
        ],
        "plots": [_plot(p, data) for p in replay.plots],
        "events": [{"t": t, "name": name} for t, name in replay.events],
        "configurations": [{"name": name, "poses": data.add("float", poses)} for name, poses in replay.configurations],
    }


def _surface(surface: Triangles, data: Bytes) -> dict[str, Any]:
    box, corners, faces = weld_corners(surface, STEPS)
    return {"box": box.tolist(), "corners": data.add("steps", corners), "faces": data.add("faces", faces)}


def _plot(plot: Any, data: Bytes) -> dict[str, Any]:
    extent, steps = curves(plot.y)
    return {**plot._asdict(), "range": extent.tolist(), "t": data.add("float", plot.t), "y": data.add("steps", steps)}


def _surfaces(replay: ReplayData) -> tuple[list[tuple[str, str, Triangles]], list[str]]:
    """One surface for each link and colour, with the largest number of triangles that a page may have."""
    found = _merge(replay)
    count = sum(len(s.faces) for _, _, s in found)
    if count <= TRIANGLES:
        return found, []
    cell, thinner, left = 1e-4, found, count
    while left > TRIANGLES:
        cell *= 1.5
        thinner = [(link, kind, cluster_corners(s, cell)) for link, kind, s in found]
        left = sum(len(s.faces) for _, _, s in thinner)
    note = f"meshes simplified from {count:,} to {left:,} triangles: corners closer than {1e3 * cell:.2g} mm merged"
    return [x for x in thinner if len(x[2].faces)], [note]


def _merge(replay: ReplayData) -> list[tuple[str, str, Triangles]]:
    groups: dict[tuple[Any, ...], list[Triangles]] = {}
    for part in replay.parts:
        groups.setdefault((part.link, part.kind, part.surface.color), []).append(part.surface)
    return [(link, kind, _concatenate(surfaces)) for (link, kind, _), surfaces in groups.items()]


def _concatenate(surfaces: list[Triangles]) -> Triangles:
    starts = np.cumsum([0, *(len(s.vertices) for s in surfaces[:-1])])
    return Triangles(
        np.concatenate([s.vertices for s in surfaces]),
        np.concatenate([s.faces + np.uint32(k) for s, k in zip(surfaces, starts, strict=True)]),
        surfaces[0].color,
    )
