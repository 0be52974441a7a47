"""Writes docs/images/conventions.svg, the drawing of docs/conventions.md.  Run: python docs/drawings.py

Drawn for white paper; pages.css inverts it in the dark theme.  A test checks that the file is up to date.
"""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

FILE = Path(__file__).with_name("images") / "conventions.svg"

WIDTH, HEIGHT = 720, 1010
INK, GREY, LIGHT = "#1f2328", "#6e7781", "#c4ccd4"
AXES = {"x": "#c4342b", "y": "#2f8132", "z": "#1f5fbf"}
WRENCH, TWIST = "#b35900", "#7a3db8"
#: oblique drawing of x (to the lower left), y (right), z (up) [pixels per unit]
WORLD = {"x": (-0.55, 0.42), "y": (0.95, 0.0), "z": (0.0, -1.0)}
Point = tuple[float, float]


def turned_axes(roll: float, pitch: float) -> dict[str, Point]:
    """The axes of a frame turned about x, then about y [degrees], as they appear on paper."""
    a, b = math.radians(roll), math.radians(pitch)
    columns = {
        "x": (math.cos(b), 0.0, -math.sin(b)),
        "y": (math.sin(b) * math.sin(a), math.cos(a), math.cos(b) * math.sin(a)),
        "z": (math.sin(b) * math.cos(a), -math.sin(a), math.cos(b) * math.cos(a)),
    }
    return {
        name: (
            sum(c * WORLD[e][0] for c, e in zip(v, "xyz", strict=True)),
            sum(c * WORLD[e][1] for c, e in zip(v, "xyz", strict=True)),
        )
        for name, v in columns.items()
    }


TURNED = turned_axes(35, 25)


def text(at: Point, words: str, *, size: int = 15, color: str = INK, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{at[0]:g}" y="{at[1]:g}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" fill="{color}"{weight}>{escape(words)}</text>'


def line(a: Point, b: Point, *, color: str = INK, width: float = 2, arrow: bool = False, dashed: bool = False) -> str:
    more = f' marker-end="url(#{color[1:]})"' if arrow else ""
    more += ' stroke-dasharray="5 4"' if dashed else ""
    return f'<line x1="{a[0]:g}" y1="{a[1]:g}" x2="{b[0]:g}" y2="{b[1]:g}" stroke="{color}" stroke-width="{width:g}"{more}/>'


def dot(at: Point, color: str = INK, radius: float = 5) -> str:
    return f'<circle cx="{at[0]:g}" cy="{at[1]:g}" r="{radius:g}" fill="{color}"/>'


def turn(at: Point, radius: float, color: str, start: Point, end: Point) -> str:
    """An arc with an arrow, from and to points relative to the centre, counter-clockwise on paper."""
    a, b = (at[0] + start[0], at[1] + start[1]), (at[0] + end[0], at[1] + end[1])
    path = f"M{a[0]:g} {a[1]:g} A{radius:g} {radius:g} 0 0 0 {b[0]:g} {b[1]:g}"
    return f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2" marker-end="url(#{color[1:]})"/>'


def triad(at: Point, axes: dict[str, Point], length: float, *, faint: bool = False, names: bool = True) -> str:
    """Three axes; faint where they are not the ones that count."""
    out = ""
    for name, (dx, dy) in axes.items():
        end = (at[0] + length * dx, at[1] + length * dy)
        out += line(at, end, color=LIGHT if faint else AXES[name], width=2 if faint else 3, arrow=True)
        if names:
            beyond = (at[0] + (length + 15) * dx, at[1] + (length + 15) * dy + 5)
            out += text(beyond, name, size=14, color=GREY if faint else AXES[name], anchor="middle")
    return out


def heading(y: float, words: str) -> str:
    return text((20, y), words, size=17, bold=True) + line((20, y + 8), (WIDTH - 20, y + 8), color=LIGHT, width=1)


def poses() -> str:
    """World, a two-link arm, its tool; the signs of q, the pose and gravity."""
    origin, elbow, tool = (150.0, 285.0), (300.0, 110.0), (490.0, 180.0)
    out = heading(28, "Poses, joint coordinates and gravity")
    for a, b in ((origin, elbow), (elbow, tool)):
        out += line(a, b, color=LIGHT, width=18)
    out += dot(origin, GREY, 11) + dot(elbow, GREY, 11)
    out += triad(origin, WORLD, 62) + triad(tool, TURNED, 52)
    out += text((128, 262), "world", anchor="end") + text((512, 205), "tool0", size=16, bold=True)
    out += line(origin, (tool[0] - 9, tool[1] + 5), color=INK, width=2, arrow=True, dashed=True) + text((335, 252), "p")
    out += turn(elbow, 40, TWIST, (38, 13), (26, -30)) + text((343, 88), "+q about the joint's axis,", color=TWIST)
    out += text((343, 106), "right-hand rule", color=TWIST)
    out += line((660, 70), (660, 150), color=INK, width=3, arrow=True) + text((648, 105), "gravity", anchor="end")
    out += text((648, 123), "(0, 0, −9.81) m/s²", size=13, color=GREY, anchor="end")
    out += text((265, 284), 'pose(q, "tool0") = T_world_tool0, 4×4,', size=14)
    out += text((265, 302), "takes points of tool0 to the world: the columns of R are", size=14)
    return out + text((265, 320), "the axes of tool0, and p is its origin, in world axes.", size=14)


def expressions() -> str:
    """The three values of expressed_in: which axes, at which point."""
    out = heading(356, "expressed_in: in which axes, at which point")
    columns = {
        "world": ("world axes, at the frame's origin", "v = ṗ, velocity of the origin", "default of twists and Jacobians"),
        "body": ("frame's axes, at its origin", "body twist (MR 5.18)", "default of wrenches"),
        "space": ("world axes, at the world's origin", "spatial twist (MR 5.11)", ""),
    }
    for k, (word, lines) in enumerate(columns.items()):
        left = 20 + 232 * k
        world, frame = (left + 52.0, 545.0), (left + 140.0, 455.0)
        out += f'<ellipse cx="{frame[0]}" cy="{frame[1]}" rx="62" ry="42" fill="{LIGHT}" opacity="0.55"/>'
        out += triad(world, WORLD, 34, faint=word != "space", names=word == "space")
        if word == "world":
            out += triad(frame, TURNED, 34, faint=True, names=False) + triad(frame, WORLD, 40)
        else:
            out += triad(frame, TURNED, 40, faint=word == "space", names=word == "body")
        out += dot(world if word == "space" else frame, INK, 6)
        out += text((left, 392), f'"{word}"', size=16, bold=True)
        for n, words in enumerate(lines):
            out += text((left, 590 + 18 * n), words, size=13, color=INK if n == 0 else GREY)
    return out


def forces() -> str:
    """A wrench on the tool, a twist of it, and the equations that connect both by one Jacobian."""
    out = heading(662, "Twists and wrenches of a frame, and its Jacobian")
    tool = (150.0, 760.0)
    out += line((30, 790), tool, color=LIGHT, width=18) + triad(tool, TURNED, 44, faint=True, names=False) + dot(tool)
    out += line((235, 700), (tool[0] + 8, tool[1] - 6), color=WRENCH, width=3, arrow=True)
    out += text((240, 703), "f and m act on the robot", color=WRENCH)
    out += turn(tool, 30, WRENCH, (29, -8), (-14, -26))
    out += line(tool, (tool[0] + 70, tool[1] + 40), color=TWIST, width=3, arrow=True) + text(
        (228, 812), "motion V", color=TWIST
    )
    rows = (
        ("twist V = (ω, v)", "V = J(q) v,  v of the joints", TWIST),
        ("wrench F = (m, f)", "acts like the joint forces Jᵀ F", WRENCH),
        ("inverse dynamics", "τ = M a + h − Jᵀ F", INK),
        ("power of F", "Vᵀ F, equal in all axes", INK),
    )
    for n, (what, equation, color) in enumerate(rows):
        out += text((320, 735 + 26 * n), what, size=14, color=GREY) + text((465, 735 + 26 * n), equation, color=color)
    return out


def orders() -> str:
    """The entries of vectors, as strips of cells."""
    out = heading(870, "Order of entries: the angular part comes first")
    strips = (
        (20, 890, "twist, rows of J", ("ωx", "ωy", "ωz", "vx", "vy", "vz"), TWIST),
        (20, 950, "wrench", ("mx", "my", "mz", "fx", "fy", "fz"), WRENCH),
        (375, 890, "floating base, q[:7]: position, quaternion", ("x", "y", "z", "qx", "qy", "qz", "qw"), INK),
        (375, 950, "floating base, v[:6]: body twist, in its axes", ("ωx", "ωy", "ωz", "vx", "vy", "vz"), TWIST),
    )
    for left, top, name, cells, color in strips:
        out += text((left, top + 12), name, size=13, color=GREY)
        for k, cell in enumerate(cells):
            x = left + 44 * k
            out += f'<rect x="{x}" y="{top + 18}" width="44" height="26" fill="none" stroke="{GREY}"/>'
            out += text((x + 22, top + 36), cell, size=14, color=color, anchor="middle")
    return out


def drawing() -> str:
    markers = "".join(
        f'<marker id="{color[1:]}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="9" markerHeight="9" orient="auto" '
        f'markerUnits="userSpaceOnUse"><path d="M0 0 L8 4 L0 8 z" fill="{color}"/></marker>'
        for color in (INK, GREY, LIGHT, WRENCH, TWIST, *AXES.values())
    )
    parts = "\n".join((poses(), expressions(), forces(), orders())).replace("><", ">\n<")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>\n<defs>{markers}</defs>\n{parts}\n</svg>\n'
    )


if __name__ == "__main__":
    FILE.write_text(drawing(), encoding="utf-8")
