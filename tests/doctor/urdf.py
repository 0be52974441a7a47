"""Small URDF texts.  The mark ``<!--@-->`` is on the line that a finding should name."""

from __future__ import annotations

import numpy as np

MARK = "<!--@-->"

#: a body that fits its numbers: 2 kg in a box of 0.1 × 0.2 × 0.3 m
SIZE = (0.1, 0.2, 0.3)
MASS = 2.0


def box_inertia(mass=MASS, size=SIZE):
    x, y, z = size
    return np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * mass / 12


def inertia(I, mark=False) -> str:
    I = np.diag(I) if np.ndim(I) == 1 else np.asarray(I)
    entries = (("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2))
    return "<inertia " + " ".join(f'{e}="{I[i, j]:.17g}"' for e, i, j in entries) + "/>" + (MARK if mark else "")


def shape(size=SIZE, com=(0, 0, 0), rpy=(0, 0, 0), kind="visual") -> str:
    xyz, angles = (" ".join(map(str, x)) for x in (com, rpy))
    box = " ".join(map(str, size))
    return f'<{kind}>\n<origin xyz="{xyz}" rpy="{angles}"/>\n<geometry><box size="{box}"/></geometry>\n</{kind}>'


def link(name, *, mass=MASS, com=(0, 0, 0), I=None, rpy=(0, 0, 0), looks=None, mark="") -> str:
    """A link with an inertial, one element per line; ``mark`` one of "link", "mass", "origin", "inertia", "inertial"."""

    def at(what):
        return MARK if what == mark else ""

    I = box_inertia() if I is None else I
    xyz, angles = (" ".join(format(x, ".17g") for x in v) for v in (com, rpy))
    looks = shape(com=com) if looks is None else looks
    return "\n".join([
        f'<link name="{name}">{at("link")}', f"<inertial>{at('inertial')}",
        f'<origin xyz="{xyz}" rpy="{angles}"/>{at("origin")}', f'<mass value="{mass}"/>{at("mass")}',
        inertia(I, mark == "inertia"), "</inertial>", looks, "</link>",
    ])  # fmt: skip


def joint(
    name, parent, child, *, type="revolute", axis="0 0 1", xyz="0 0 0.5", limit='lower="-1" upper="1" effort="50" velocity="2"',
    more="", mark="",
) -> str:  # fmt: skip
    def at(what):
        return MARK if what == mark else ""

    parts = [
        f'<joint name="{name}" type="{type}">{at("joint")}', f'<parent link="{parent}"/>', f'<child link="{child}"/>',
        f'<origin xyz="{xyz}"/>',
    ]  # fmt: skip
    parts += [f'<axis xyz="{axis}"/>{at("axis")}'] if axis else []
    parts += [f"<limit {limit}/>{at('limit')}"] if limit is not None else []
    parts += [more + at("more")] if more else []
    return "\n".join([*parts, "</joint>"])


def robot(*parts) -> str:
    return "\n".join(['<robot name="sample">', *parts, "</robot>"])


def arm(**changes) -> str:
    """base – shoulder → upper – elbow → lower, all correct; replace parts by upper=..., elbow=..., more=..."""
    parts = {
        "base": link("base"),
        "upper": link("upper", com=(0, 0, 0.2)),
        "lower": link("lower", com=(0, 0, 0.2)),
        "shoulder": joint("shoulder", "base", "upper"),
        "elbow": joint("elbow", "upper", "lower", axis="0 1 0"),
        "more": "",
    } | changes
    return robot(*(part for part in parts.values() if part))


def marked_line(text: str) -> int:
    """The line with the mark."""
    return next(n for n, line in enumerate(text.splitlines(), 1) if MARK in line)
