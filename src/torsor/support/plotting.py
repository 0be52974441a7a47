"""Plot style of torsor: for its own plots and for yours.

The first colours can be distinguished by the colour-blind (Okabe and Ito 2008), and curves beyond the twelfth are dashed and
dotted.  Lines are thin, the grid stays in the background, and a file is vector graphics unless its extension selects another
format.  Needs the extra ``plot``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from torsor.errors import needs_extra

#: blue, vermilion, green, pink, orange, sky blue, grey, brown, violet, olive, wine, teal
COLORS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#8C564B", "#6A3D9A", "#9A9A00", "#8B1A4B",
    "#00A6A6",
)  # fmt: skip
#: of the first curves as many as there are colours, of the next, and of the next
DASHES = ("-", "--", ":")
#: largest number of entries of a legend beside its axes
ENTRIES = 10

#: matplotlib rcParams
STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#444444",
    "axes.grid": True,
    "axes.labelcolor": "#222222",
    "axes.labelsize": 9.5,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "figure.figsize": (7, 3.4),
    "font.family": "DejaVu Sans",  # comes with matplotlib, and has the book's Greek letters
    "font.size": 9.5,
    "grid.alpha": 0.6,
    "grid.color": "#D5D5D5",
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "savefig.format": "svg",
    "svg.fonttype": "path",  # the same letters everywhere
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}


@contextmanager
def style() -> Iterator[None]:
    """Figures made inside this context use torsor's style; others are not affected.

    >>> import matplotlib.pyplot as plt
    >>> with style():
    ...     figure, ax = plt.subplots()
    >>> plt.close(figure)
    """
    pyplot()
    import matplotlib
    from cycler import cycler

    settings: Any = {**STYLE, "axes.prop_cycle": cycler(linestyle=DASHES) * cycler(color=COLORS)}
    interactive = matplotlib.is_interactive()
    try:
        with matplotlib.rc_context(settings):
            try:
                yield
            finally:
                interactive = matplotlib.is_interactive()
    finally:
        # Jupyter's backend makes itself interactive when the first figure is made; without that, no further figure is shown
        matplotlib.interactive(interactive)


@contextmanager
def drawing(ax: Any, *shape: int, **how: Any) -> Iterator[Any]:
    """``ax`` unchanged, in its owner's style; if None, new axes in torsor's style: ``pyplot.subplots(*shape, **how)``.

    >>> import matplotlib.pyplot as plt
    >>> with drawing(None, 2, 1, sharex=True) as (above, below):
    ...     line = above.plot([0, 1], [0, 1])
    >>> plt.close(above.figure)
    """
    if ax is not None:
        yield ax
        return
    with style():
        yield pyplot().subplots(*shape, **how)[1]


def legend_beside(ax: Any) -> None:
    """The legend to the right of the axes, where it covers no curve; constrained layout makes room for it.

    Of many curves only those with the largest range are named.
    """
    handles, names = ax.get_legend_handles_labels()
    if len(names) > ENTRIES:
        ranges = [-np.ptp(line.get_ydata()) if hasattr(line, "get_ydata") else 0.0 for line in handles]
        chosen = sorted(np.argsort(ranges, kind="stable")[: ENTRIES - 1].tolist())
        more = ax.plot([], [], linestyle="none")[0]
        handles = [*(handles[k] for k in chosen), more]
        names = [*(names[k] for k in chosen), f"and {len(names) - len(chosen)} more"]
    ax.legend(handles, names, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def pyplot() -> Any:
    """matplotlib.pyplot, imported when a plot is first made."""
    with needs_extra("matplotlib", "plot", "a picture"):
        import matplotlib.pyplot
    return matplotlib.pyplot
