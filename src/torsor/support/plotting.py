"""Plot style of torsor: for its own plots and for yours.

Colours can be distinguished by the colour-blind (Okabe and Ito 2008), lines are thin, the grid stays in the background, and a
file is vector graphics unless its extension selects another format.  Needs the extra ``plot``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torsor.errors import MissingExtra

#: blue, vermilion, green, purple, orange, sky blue, grey
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#8C564B")

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

    settings: Any = {**STYLE, "axes.prop_cycle": cycler(color=COLORS)}
    with matplotlib.rc_context(settings):
        yield


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


def pyplot() -> Any:
    """matplotlib.pyplot, imported when a plot is first made."""
    try:
        import matplotlib.pyplot
    except ImportError:
        raise MissingExtra("matplotlib", "plot", "a picture") from None
    return matplotlib.pyplot
