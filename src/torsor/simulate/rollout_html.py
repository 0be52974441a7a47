"""A rollout in a notebook: its shapes, and a plot if matplotlib is installed."""

from __future__ import annotations

import base64
import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.errors import ArgumentError, MissingExtra
from torsor.simulate.contact_outputs import contact_panels
from torsor.simulate.rollout_output import SHOWN
from torsor.support.html import Markup, element, facts

if TYPE_CHECKING:
    from torsor.simulate.rollout_output import Rollout


def of_rollout(rollout: Rollout) -> Markup:
    shapes = [(name, str(getattr(rollout, name).shape)) for name in ("q", "v")]
    shown = element("div", element("p", repr(rollout)), facts(shapes))
    try:
        return element("div", shown, *_plot(rollout))
    except (MissingExtra, ArgumentError):  # without matplotlib, or arrays without their inputs
        return shown


def _plot(rollout: Any) -> list[Markup]:
    from torsor.support.panels import FEW, motion_panels, plot_panels
    from torsor.support.plotting import pyplot

    if not rollout.q.size:
        return []
    count = math.prod(rollout.batch)
    most = max(1, SHOWN // (rollout.q.shape[-1] * len(rollout.t)))
    some = np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))
    normal = rollout.contact_normal_force
    given = (rollout.q, rollout.v, rollout.tau, *([] if normal is None else [normal]))
    q, v, tau, *touching = (x.reshape(count, *x.shape[-2:])[some] for x in given)
    panels = [*motion_panels(rollout.info, q, v, tau), *(p for x in touching for p in contact_panels(rollout.info, x))]
    axes = plot_panels(rollout.t, panels)
    figure, data = axes[0].figure, io.BytesIO()
    figure.savefig(data, format="png", dpi=90, facecolor="white")
    pyplot().close(figure)
    text = "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
    picture = element("img", src=text, alt="q, v and tau over time", style="max-width: 100%")
    drawn = f"{len(some)} of the {count} robots" if len(some) < count else f"the {count} robots"
    caption = [element("p", f"Median and range of {drawn}.")] if len(some) > FEW else []
    return [picture, *caption]
