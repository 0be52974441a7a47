"""Plot style: active only while torsor plots, and not applied to axes of the user."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import torsor as ts
from torsor.support import plotting

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

ARM = ts.robots.two_link()
Q = np.array([0.3, 0.5])


def pictures():
    """Every kind of plot that torsor makes, as a function of the axes."""
    from torsor.actuators import Motor
    from torsor.model.friction import Coulomb

    motor = Motor(torque_constant=0.05, resistance=0.5, max_voltage=24, max_current=20)
    return {
        "ellipsoid": lambda ax: ARM.torque_ellipsoid(Q).plot(ax=ax),
        "explanation": lambda ax: ARM.explain(Q, Q, Q).plot(ax=ax),
        "region": lambda ax: motor.region.plot(ax=ax),
        "friction": lambda ax: Coulomb(1.0).plot(ax=ax),
    }


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", pictures())
def test_new_axes_have_the_style_and_rcparams_are_restored(name):
    before = dict(matplotlib.rcParams)
    ax = pictures()[name](None)
    assert dict(matplotlib.rcParams) == before
    assert not ax.spines["top"].get_visible()
    assert ax.xaxis.get_gridlines()[0].get_visible()
    assert ax.xaxis.label.get_size() == plotting.STYLE["axes.labelsize"]


@pytest.mark.parametrize("name", pictures())
def test_axes_of_the_user_keep_their_style(name):
    _, mine = plt.subplots()
    ax = pictures()[name](mine)
    assert ax is mine
    assert ax.spines["top"].get_visible()


def test_result_is_plotted_in_distinguishable_colours():
    axes = ARM.simulate([0.0, 0.0], [0.0, 0.0], 0.05).plot()
    assert [line.get_color() for line in axes[0].get_lines()] == list(plotting.COLORS[:2])
    assert len(set(plotting.COLORS)) == len(plotting.COLORS)


def test_figure_is_saved_as_svg_without_images(tmp_path):
    with plotting.style():
        figure, ax = plt.subplots()
        ax.plot([0, 1], [0, 1], label="θ̈, τ, Λ")
        ax.legend()
        figure.savefig(tmp_path / "picture")
    text = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert "<svg" in text
    assert "<image" not in text


def test_plot_without_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ts.TorsorError, match=r"torsor\[plot\]"), plotting.style():
        pass
