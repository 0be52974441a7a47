"""Output in Jupyter: the same numbers as print, every name as text, and a replay page in a sandboxed frame."""

from __future__ import annotations

import html
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from tests.replay.conftest import EVIL, evil_run
from torsor.support.html import element, table


class Reader(HTMLParser):
    """The text, the tags, the cells of every row; fails on tags that do not close."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.open, self.text, self.rows = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open += [tag] if tag != "img" else []
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def test_strings_are_escaped_and_markup_is_not():
    assert element("b", "<i>", element("i", "&"), title='"') == '<b title="&quot;">&lt;i&gt;<i>&amp;</i></b>'
    assert Reader(table(["<a>"], [["<b>"]], total=True)).rows == [["<a>"], ["<b>"]]


@pytest.mark.parametrize("name", ["ur5", "panda", "humanoid", "two_link"])
def test_robot_has_a_row_for_each_joint(name):
    robot = getattr(ts.robots, name)()
    rows = Reader(robot._repr_html_()).rows[1 : 1 + len(robot.joints)]
    assert tuple(row[0] for row in rows) == robot.joints
    assert rows[-1][8] == f"{robot.link(robot.joint(robot.joints[-1]).child).mass:.4g}"


def test_html_of_a_robot_lists_its_loops():
    read = Reader(ts.mechanisms.four_bar()._repr_html_())
    assert ["pin", "revolute", "coupler ⇄ rocker"] in read.rows
    assert "1 loop" in read.text


def test_html_of_a_robot_with_symbols_has_the_symbols():
    sympy = pytest.importorskip("sympy")
    assert "m_1" in ts.robots.two_link(m1=sympy.Symbol("m_1"))._repr_html_()


def test_html_contains_names_as_text_and_not_as_markup():
    run = evil_run()
    robot = run.robot
    state = run.q[5], run.v[5]
    shown = [
        robot._repr_html_(),
        robot.explain(*state, [0.0])._repr_html_(),
        robot.newton_euler_table(*state, [0.0])._repr_html_(),
        run._repr_html_(),
    ]
    for text in shown:
        read = Reader(text)
        assert not {"img", "script"} & set(read.tags)
        assert EVIL.rstrip("\u2028") in "".join(read.text)  # repr writes U+2028 as \\u2028


def test_result_is_a_page_in_a_sandbox():
    run = ts.robots.two_link().simulate([0.5, 0.0], [0.0, 0.0], 0.1)
    text = run._repr_html_()
    assert 'sandbox="allow-scripts"' in text
    assert html.unescape(text.partition('srcdoc="')[2].partition('" sandbox')[0]) == ts.replay.html(run)
    run.robot = None
    assert "iframe" not in run._repr_html_()


def test_large_result_is_not_kept_in_the_notebook(monkeypatch):
    monkeypatch.setattr("torsor.simulate.html.LARGEST_PAGE", 1000)
    text = ts.robots.two_link().simulate([0.5, 0.0], [0.0, 0.0], 0.1)._repr_html_()
    assert "iframe" not in text
    assert "result.replay(path)" in text


def test_explanation_has_bars_and_numbers():
    arm = ts.robots.ur5()
    q, v, a = np.full(6, 0.3), np.arange(6) / 6, np.ones(6)
    read = Reader(arm.explain(q, v, a)._repr_html_())
    assert [float(x) for x in read.rows[-1][1:]] == pytest.approx(arm.inverse_dynamics(q, v, a), rel=1e-3)
    kinds = len(read.rows) - 2
    assert read.tags.count("rect") == 6 * kinds + kinds  # and the legend


def test_bars_have_lengths_in_proportion_to_their_parts():
    explained = ts.robots.two_link().explain([0.0, 0.0], [0.0, 0.0], [0.0, 1.0])
    widths = [float(x.partition('"')[0]) for x in explained._repr_html_().split(' width="')[1:] if "." in x[:6]][:4]
    inertia, gravity = explained.of("inertia"), explained.of("gravity")
    expected = np.array([inertia[0], gravity[0], inertia[1], gravity[1]])
    np.testing.assert_allclose(np.array(widths) / widths[1], expected / expected[1], atol=0.01)


def test_ellipsoid_and_trace_are_tables():
    arm = ts.robots.two_link()
    ellipsoid = arm.torque_ellipsoid([0.0, 1.0])
    rows = Reader(ellipsoid._repr_html_()).rows
    assert [float(row[1]) for row in rows[1:]] == pytest.approx(ellipsoid.lengths, rel=1e-3)
    trace = Reader(arm.newton_euler_table([0.0, 0.0], [1.0, 0.0], [0.0, 0.0])._repr_html_())
    assert "29.43" in trace.text
    assert "Body 2: joint2, link2, on body 1" in trace.text


def test_equations_of_motion_have_latex_output():
    sympy = pytest.importorskip("sympy")
    q, v = sympy.symbols("q v")
    made = ts.lagrange(v**2 / 2, 10 * q, [(q, v)])
    assert made._repr_latex_().startswith("$$")
    assert r"\ddot{q}" in made.quantity("tau")._repr_latex_()


def shown_values():
    """Values that a cell or the REPL may show, by name."""
    arm = ts.robots.ur5()
    state = arm.random_configuration(0), np.ones(6), np.ones(6)
    run = arm.simulate(state[0], np.zeros(6), 0.02)
    return {
        "explain": arm.explain(*state),
        "newton_euler_table": arm.newton_euler_table(*state),
        "torque_ellipsoid": arm.torque_ellipsoid(state[0]),
        "audit": run.audit(),
        "poses": run.poses(),
        "rollout": arm.rollout(np.zeros((1000, 6)), np.zeros(6), dt=1e-3, steps=20),
        "simulate": run,
    }


def test_results_have_a_short_text_form_and_an_html_form():
    for name, value in shown_values().items():
        assert len(repr(value)) < 250, name
        assert repr(value).startswith("<"), name
        assert Reader(value._repr_html_()).text, name
    assert len(repr(ts.robots.two_link().stacked_equations([0.0, 0.5]))) < 100


def test_checks_graphs_operators_and_constrained_robots_have_a_short_text_form():
    arm, bars = ts.robots.ur5(), ts.mechanisms.four_bar()
    values = {
        "<Checkup of ur5: 6 warnings, 1 note; print() shows them>": ts.check(arm),
        "<Graph of 'four_bar': 4 links, 4 joints; print() shows it for Graphviz>": bars.graph(),
        "<ConstrainedRobot of 'four_bar': 5 rows; constraints: pin>": bars.constrained(),
    }
    for text, value in values.items():
        assert repr(value) == text
    certificate = repr(ts.robots.two_link().verify(samples=2, thorough=False, peers=False))
    assert certificate.startswith("<Certificate of two_link: verified, 2")
    assert certificate.endswith(" s; print() shows its rows>")


def test_operators_have_a_short_text_form():
    pytest.importorskip("scipy")
    from torsor.operators import operators

    assert repr(operators(ts.robots.two_link(), [0.0, 0.5])) == "<Operators: 12 rows, nv=2, frame='body'>"


def test_replay_returns_a_path_that_is_shown_as_the_page(tmp_path):
    run = ts.robots.two_link().simulate([0.5, 0.0], [0.0, 0.0], 0.1)
    page = run.replay(tmp_path / "fall.html")
    assert page == tmp_path / "fall.html"
    assert repr(page) == f"<Replay page {(tmp_path / 'fall.html').as_uri()}>"
    assert str(page) == str(tmp_path / "fall.html")
    assert 'sandbox="allow-scripts"' in page._repr_html_()
    assert repr(page.parent) == repr(type(tmp_path)(page.parent)).replace(type(tmp_path).__name__, type(page.parent).__name__)
    page.unlink()
    assert page._repr_html_() is None


def test_viewer_is_shown_as_its_page_until_it_is_closed():
    pytest.importorskip("viser")
    with ts.robots.two_link().view(open=False) as viewer:
        text = viewer._repr_html_()
        assert f'<iframe src="{viewer.url}"' in text
        assert f'href="{viewer.url}"' in text
    assert "iframe" not in viewer._repr_html_()


@pytest.mark.night
def test_notebook_cells_have_html_pictures_latex_or_markdown(tmp_path, monkeypatch):
    """With a real Jupyter kernel: the last value of every cell is shown as HTML, picture, LaTeX or Markdown."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = [
        "import torsor as ts; robot = ts.robots.ur5(); robot",
        "robot.simulate(robot.neutral(), [0.0] * 6, 0.1)",
        "robot.explain(robot.neutral(), [0.0] * 6, [1.0] * 6)",
        "run = robot.simulate(robot.neutral(), [0.0] * 6, 0.1); run.audit()",
        "run.poses()",
        "run.replay('motion.html')",
        "robot.rollout([[0.0] * 6] * 10, [0.0] * 6, dt=1e-3, steps=10)",
        "viewer = robot.view(open=False); viewer",
        "viewer.close(); robot.newton_euler_table(robot.neutral(), [0.0] * 6, [0.0] * 6)",
        "run.plot();",
        "run.plot();",
        "robot.explain(robot.neutral(), [0.0] * 6, [1.0] * 6).plot();",
        "ts.robots.two_link().symbolic()",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    monkeypatch.setenv("PYTHONPATH", str(Path(ts.__file__).parents[1]))
    here = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=here).execute()
    forms = {"text/html", "image/png", "text/latex", "text/markdown"}
    found = [set(cell.outputs[-1].data) & forms for cell in notebook.cells]
    assert found == [{"text/html"}] * 9 + [{"image/png"}] * 3 + [{"text/latex", "text/markdown"}]
    assert [len(cell.outputs) for cell in notebook.cells] == [1] * len(cells)
    assert max(len(cell.outputs[-1].data["text/plain"]) for cell in notebook.cells[:-1]) < 250
