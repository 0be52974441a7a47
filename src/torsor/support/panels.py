"""Plots of motions over time: one panel per quantity, the legend beside its curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.support.plotting import ENTRIES, drawing, legend_beside
from torsor.support.user_arrays import Array

#: size of a panel, with the legend beside it [inch]
WIDE, HIGH = 8.0, 2.0
#: units of motions saved before their units were
ANY_UNITS = {"q": "rad, m", "v": "rad/s, m/s", "tau": "N·m, N"}
#: batches of at most this many motions are drawn as single curves
FEW = 8


class Panel(NamedTuple):
    """One quantity over time: its label with the unit, the names of its columns, ``y`` (..., T, n), limits (k, n) to draw."""

    label: str
    names: Sequence[str]
    y: Array
    limits: Sequence[Array] = ()


def motion_panels(info: Mapping[str, Any], q: Array, v: Array, tau: Array) -> list[Panel]:
    """The panels of q, v and τ; ``info`` has the names and units of their columns."""
    units, of_v = {**ANY_UNITS, **info.get("units", {})}, info["coordinates"]
    rows = (("q", "q", info["configuration"], q), ("v", "v", of_v, v), ("τ", "tau", of_v, tau))
    return [Panel(f"{letter} [{units[key]}]", names, y) for letter, key, names, y in rows]


def plot_panels(t: Array, panels: Sequence[Panel], axes: Any = None) -> Any:
    """One panel below the other, over time; in new axes in torsor's style, or in ``axes``.  Returns the axes.

    A name has the same colour in all panels, and the first panel with it has the legend.  A large batch of motions is drawn as
    a line at the median and a band from the smallest to the largest value.
    """
    own = axes is None
    with drawing(axes, len(panels), 1, sharex=True, squeeze=False, figsize=(WIDE, HIGH * len(panels))) as axes:
        axes = np.ravel(np.asarray(axes, dtype=object))
        looks: dict[str, dict[str, Any]] = {}
        for ax, panel in zip(axes, panels, strict=False):
            known = set(panel.names) <= set(looks)
            looks = looks if known else {"total": {"color": "black"}}
            _draw(ax, t, panel, looks)
            ax.set_ylabel(panel.label)
            if not known or (len(panel.names) > ENTRIES and np.ptp(panel.y)):  # of many, each panel names its largest
                (legend_beside if own else _legend_inside)(ax)
        axes[len(panels) - 1].set_xlabel("t [s]")
        if own:
            axes[0].figure.align_ylabels(list(axes))
    return axes


def _draw(ax: Any, t: Array, panel: Panel, looks: dict[str, dict[str, Any]]) -> None:
    motions = panel.y.reshape(-1, *panel.y.shape[-2:])
    for k, name in enumerate(panel.names):
        y = np.ma.masked_invalid(motions[..., k])  # robots that failed
        many = len(y) > FEW
        line = ax.plot(t, np.ma.median(y, axis=0) if many else y[0], label=name, **looks.get(name, {}))[0]
        looks[name] = {"color": line.get_color(), "linestyle": line.get_linestyle()}
        for level in {float(x[k]) for x in panel.limits if np.isfinite(x[k])}:
            ax.axhline(level, color=line.get_color(), linestyle=":", linewidth=0.8)
        if many:
            ax.fill_between(t, y.min(axis=0), y.max(axis=0), color=line.get_color(), alpha=0.15, linewidth=0)
        for further in y[1:] if not many else ():
            ax.plot(t, further, alpha=0.6, **looks[name])


def _legend_inside(ax: Any) -> None:
    """In axes of the user, whose surroundings are not torsor's."""
    if len(ax.get_legend_handles_labels()[1]) <= 8:
        ax.legend(ncols=4, loc="best")
