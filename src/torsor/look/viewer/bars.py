"""Stacked bars as HTML: joint forces by kind, and one joint's force by cause.  Every name is escaped: it may be anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, inf, log10

import numpy as np

from torsor.look.explain import TorqueTerm
from torsor.support.user_arrays import Array

#: colours of the kinds, those of torsor's plots
COLORS = {
    "inertia": "#0072B2",
    "velocity": "#56B4E9",
    "centrifugal": "#56B4E9",
    "Coriolis": "#56B4E9",
    "gravity": "#E69F00",
    "external": "#CC79A7",
    "rotor": "#666666",
    "damping": "#666666",
    "friction": "#8C564B",
}
#: colour of the other terms of a robot, such as beams
OF_TERMS = "#009E73"
#: causes shown of one joint's force
MOST = 8

_ROW = "display:flex;align-items:center;gap:6px;height:17px"
_NAME = "flex:0 0 37%;overflow:hidden;text-overflow:ellipsis;white-space:nowrap"
_BAR = "position:relative;flex:1;height:11px;background:rgba(125,135,150,.12);border-radius:2px;overflow:hidden"
_NUMBER = "flex:0 0 62px;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"
_STYLE = "font-size:11.5px;line-height:1.35;padding:2px 12px 8px"


def by_kind(names: Sequence[str], units: Sequence[str], torque: Mapping[str, Array], limits: Sequence[float]) -> str:
    """One row per coordinate: its force, stacked by kind about zero; red where it exceeds the joint's limit."""
    total = np.sum(list(torque.values()), axis=0)
    rows = []
    for unit in dict.fromkeys(units):
        mine = [i for i, u in enumerate(units) if u == unit]
        up = sum(np.maximum(x[mine], 0) for x in torque.values())
        down = sum(np.maximum(-x[mine], 0) for x in torque.values())
        scale = round_up_scale(max(float(np.max(up, initial=0)), float(np.max(down, initial=0))))
        rows.append(f'<div style="opacity:.6;margin-top:4px">−{_number(scale)} {unit} to {_number(scale)} {unit}</div>')
        for i in mine:
            pieces = [(kind, float(x[i]) / scale) for kind, x in torque.items()]
            beyond = abs(total[i]) > limits[i]
            rows.append(_row(names[i], pieces, float(total[i]), unit, beyond, f"limit {limits[i]:g} {unit}" if beyond else ""))
    shown = [kind for kind, x in torque.items() if np.any(np.abs(x) > 1e-12)]
    legend = "".join(f'<span style="white-space:nowrap">{_dot(kind)} {kind}</span> ' for kind in shown)
    return f'<div style="{_STYLE}"><div style="display:flex;gap:10px;flex-wrap:wrap">{legend}</div>{"".join(rows)}</div>'


def by_cause(name: str, unit: str, index: int, parts: Sequence[TorqueTerm]) -> str:
    """One joint's force, the largest causes first."""
    if not parts:
        text = "too many pairs of joints to separate during motion: pause at a state of rest"
        return f'<div style="{_STYLE};opacity:.6">{text}</div>'
    forces = [(f"{p.kind} {p.cause}", p.kind, float(p.tau[index])) for p in parts]
    found = sorted(forces, key=lambda part: -abs(part[2]))
    kept = [part for part in found[:MOST] if abs(part[2]) > 1e-9]
    scale = round_up_scale(max((abs(x) for _, _, x in kept), default=0.0))
    rest = sum(x for _, _, x in found[len(kept) :])
    kept += [("the rest", "damping", rest)] if abs(rest) > 1e-9 else []
    rows = [_row(name, [(kind, x / scale)], x, unit, False, "") for name, kind, x in kept]
    total = sum(x for _, _, x in forces)
    head = f'<div style="margin-bottom:2px">{escape(name)}: <b>{_number(total)} {unit}</b></div>'
    return f'<div style="{_STYLE}">{head}{"".join(rows)}</div>'


def round_up_scale(x: float) -> float:
    """1, 2 or 5 times a power of ten, not below x: a scale that does not change with small changes of x.

    >>> round_up_scale(29.4), round_up_scale(0.0), round_up_scale(5.0)
    (50.0, 1.0, 5.0)
    """
    if not 1e-9 < x < inf:
        return 1.0
    power = 10.0 ** floor(log10(x))
    return next(float(f"{k * power:.6g}") for k in (1, 2, 5, 10) if x <= k * power * (1 + 1e-9))


def _row(name: str, pieces: Sequence[tuple[str, float]], value: float, unit: str, alarm: bool, hint: str) -> str:
    up = down = 0.0
    bars = []
    for kind, part in pieces:
        width = 50 * min(abs(part), 1.0)
        if width < 0.05:
            continue
        left = 50 + up if part > 0 else 50 - down - width
        up, down = (up + width, down) if part > 0 else (up, down + width)
        place = f"left:{left:.2f}%;width:{width:.2f}%;background:{COLORS.get(kind, OF_TERMS)}"
        bars.append(f'<div style="position:absolute;top:0;bottom:0;{place}"></div>')
    zero = '<div style="position:absolute;left:50%;top:0;bottom:0;width:1px;background:rgba(60,70,85,.55)"></div>'
    red = ";color:#C0392B;font-weight:600" if alarm else ""
    label = escape(name)
    return (
        f'<div style="{_ROW}"><div style="{_NAME}" title="{label}">{label}</div><div style="{_BAR}">{"".join(bars)}{zero}</div>'
        f'<div style="{_NUMBER}{red}" title="{escape(hint)}">{_number(value)} {unit}</div></div>'
    )


def _dot(kind: str) -> str:
    color = COLORS.get(kind, OF_TERMS)
    return f'<span style="display:inline-block;width:9px;height:9px;border-radius:2px;background:{color}"></span>'


def _number(x: float) -> str:
    """Three significant digits without an exponent, and a true minus."""
    if abs(x) < 5e-4:
        return "0"
    digits = max(0, 2 - floor(log10(abs(x))))
    return f"{x:.{min(digits, 3)}f}".replace("-", "−")
