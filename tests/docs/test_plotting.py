"""One style for all pictures: there while torsor draws, gone afterwards, and never forced on axes of the user's own."""

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
    """Every kind of picture torsor makes, as a function of the axes to draw into."""
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
def _closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", pictures())
def test_new_axes_have_the_style_and_nothing_else_changes(name):
    before = dict(matplotlib.rcParams)
    ax = pictures()[name](None)
    assert dict(matplotlib.rcParams) == before
    assert not ax.spines["top"].get_visible()
    assert ax.xaxis.get_gridlines()[0].get_visible()
    assert ax.xaxis.label.get_size() == plotting.STYLE["axes.labelsize"]


@pytest.mark.parametrize("name", pictures())
def test_axes_of_the_user_keep_theirs(name):
    _, mine = plt.subplots()
    ax = pictures()[name](mine)
    assert ax is mine
    assert ax.spines["top"].get_visible()


def test_a_result_is_drawn_in_colours_that_can_be_told_apart():
    axes = ARM.simulate([0.0, 0.0], [0.0, 0.0], 0.05).plot()
    assert [line.get_color() for line in axes[0].get_lines()] == list(plotting.COLORS[:2])
    assert len(set(plotting.COLORS)) == len(plotting.COLORS)


def test_a_picture_is_vector_graphics(tmp_path):
    with plotting.style():
        figure, ax = plt.subplots()
        ax.plot([0, 1], [0, 1], label="θ̈, τ, Λ")
        ax.legend()
        figure.savefig(tmp_path / "picture")
    text = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert "<svg" in text
    assert "<image" not in text


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ts.TorsorError, match=r"torsor\[plot\]"), plotting.style():
        pass
