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
    with pytest.raises(ts.TorsorError, match=r"\[plot\]"), plotting.style():
        pass


def test_style_keeps_the_interactive_mode_that_a_backend_sets():
    """Jupyter's inline backend turns it on when the first figure is made, within the style."""
    before = matplotlib.is_interactive()
    try:
        matplotlib.interactive(False)
        with plotting.style():
            matplotlib.interactive(True)
        assert matplotlib.is_interactive()
    finally:
        matplotlib.interactive(before)


def test_result_plot_has_units_and_its_legends_beside_the_curves():
    axes = ts.robots.rp_arm().simulate([0.0, 0.5], [0.0, 0.0], 0.05).plot()
    assert [ax.get_ylabel() for ax in axes] == ["q [rad, m]", "v [rad/s, m/s]", "τ [N·m, N]", "energy [J]"]
    figure = axes[0].figure
    figure.canvas.draw()
    for ax in (axes[0], axes[3]):
        assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
    assert axes[1].get_legend() is None  # the same names in the same colours
    assert [a.get_color() for a in axes[0].get_lines()] == [b.get_color() for b in axes[2].get_lines()]


@pytest.mark.parametrize("what", ["mass_ellipsoid", "velocity_ellipsoid", "force_ellipsoid"])
def test_labels_of_a_spatial_ellipsoid_are_inside_of_its_figure(what):
    figure = getattr(ts.robots.ur5(), what)(np.full(6, 0.4), "tool0").plot().figure
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= 0


def test_ellipsoids_are_plotted_with_units():
    arm = ts.robots.ur5()
    labels = {
        arm.mass_ellipsoid(np.ones(6), "tool0").plot().get_zlabel(),
        arm.mass_ellipsoid(np.ones(6), "tool0", "angular").plot().get_xlabel(),
        arm.velocity_ellipsoid(np.ones(6), "tool0").plot().get_xlabel(),
        ARM.torque_ellipsoid(Q).plot().get_ylabel(),
        ARM.torque_ellipsoid(Q).inverse.plot().get_ylabel(),
    }
    assert labels == {
        "force, vz [N]", "force, wx [N·m]", "velocity, vx [m/s]", "torque, joint2 [N·m, N]",
        "acceleration, joint2 [rad/s², m/s²]",
    }  # fmt: skip


def test_result_plot_of_a_humanoid_distinguishes_all_curves_and_names_the_largest():
    robot = ts.robots.humanoid()
    axes = robot.simulate(robot.neutral(), np.zeros(robot.nv), 2e-3).plot()
    looks = {(line.get_color(), line.get_linestyle()) for line in axes[1].get_lines() if len(line.get_xdata())}
    assert len(looks) == robot.nv
    named = [text.get_text() for text in axes[1].get_legend().get_texts()]
    assert "floating_base[5]" in named
    assert named[-1] == f"and {robot.nv - len(named) + 1} more"
