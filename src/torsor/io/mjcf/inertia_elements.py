"""<inertial>: mass, centre of mass, and the inertia about it, as MuJoCo takes it.

MuJoCo needs principal moments of at least 1e-15 kg·m² and A + B ≥ C to the last bit.  Point masses, thin rods and flat plates
are at that bound: their inertias are written as principal moments, raised as little as possible.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from lxml import etree
from lxml.etree import _Element as Element

from torsor.errors import ModelError
from torsor.io.mjcf.attribute_values import quaternion
from torsor.io.shared.xml_text import number, numbers
from torsor.spatial import Inertia, Mat, Sym, Vec
from torsor.spatial.rigid.physical import inertia_problems
from torsor.spatial.vector import ZERO

#: the least mass [kg] and principal moment [kg·m²] MuJoCo takes
SMALLEST = 1e-15
#: rounding, relative
EPSILON = 2.0**-52
#: distance from the bound, relative to the largest moment, at which MuJoCo's own diagonalisation is safe
SAFE = 1e-12


def inertial(link: str, G: Inertia) -> Element:
    """The element of a link's inertia."""
    who = f"link {link!r}"
    wrong = inertia_problems(G)
    if wrong:
        raise ModelError(
            f"{who}: MuJoCo refuses its inertia, because {wrong[0]}; correct it "
            "(ts.check explains it, ts.repair corrects files)"
        )
    m = number(who, G.m)
    c = Vec(*(short_decimal(number(who, x) / m, max(map(abs, G.h)) / m) for x in G.h)) if m else ZERO
    size = max(abs(number(who, x)) for x in G.I)
    about = Sym(*(short_decimal(x, size) for x in G.I - Inertia.of(m, c, Sym.zero()).I))  # as the reader will add it again
    out = etree.Element("inertial", pos=numbers(who, c), mass=numbers(who, (max(m, SMALLEST),)))
    moments, axes = np.linalg.eigh(np.array([[number(who, x) for x in row] for row in about.rows]))
    a, b, c_ = (float(x) for x in moments)
    if a > SAFE * c_ + 1e-13 and a + b - c_ > SAFE * c_:
        out.set("fullinertia", numbers(who, (about.xx, about.yy, about.zz, about.xy, about.xz, about.yz)))
        return out
    if any((about.xy, about.xz, about.yz)):
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        out.set("quat", quaternion(who, Mat(*(Vec(*map(float, row)) for row in axes))))
        out.set("diaginertia", numbers(who, _satisfy_triangle(a, b, c_)))
    else:
        diagonal = [float(about.xx), float(about.yy), float(about.zz)]
        order = sorted(range(3), key=lambda k: diagonal[k])
        raised = dict(zip(order, _satisfy_triangle(*(diagonal[k] for k in order)), strict=True))
        out.set("diaginertia", numbers(who, (raised[k] for k in range(3))))
    return out


def _satisfy_triangle(a: float, b: float, c: float) -> tuple[float, float, float]:
    """Principal moments a ≤ b ≤ c, the smallest raised until a + b ≥ c in floating point."""
    a, b, c = (max(x, SMALLEST) for x in (a, b, c))
    a = max(a, c - b)
    while a + b < c:
        a = math.nextafter(a, math.inf)
    return a, b, c


def short_decimal(x: Any, scale: Any) -> Any:
    """The number with twelve digits, where that changes it by no more than the rounding it has from numbers of that scale.

    >>> short_decimal(0.020000000000000004, 1.0), short_decimal(1 / 3, 1.0)
    (0.02, 0.3333333333333333)
    """
    short = float(f"{x:.12g}")
    return short if abs(short - x) <= EPSILON * scale else x
