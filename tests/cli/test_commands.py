"""info, explain, equations, simulate, export, bench, verify, check, demo: results equal those of the library."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import torsor as ts
from tests.doctor.urdf import arm, box_inertia, link
from torsor.checks import doctor
from torsor.checks.doctor.finding import Finding
from torsor.cli.robots import bundled_robots
from torsor.look.explain.survey import survey, tips

# -- info --------------------------------------------------------------------------------------------------------


def test_info_prints_tree_joints_masses_and_survey(torsor):
    robot = ts.robots.panda()
    ended, document = torsor("info", "panda"), torsor("info", "panda", "--json").json
    assert str(robot) in ended.out
    assert "While loading:" in ended.out
    assert document["nq"] == robot.nq
    assert document["mass"] == pytest.approx(robot.mass)
    assert [j["name"] for j in document["joints"]] == list(robot.joints)
    assert document["joints"][8]["follows"] == "panda_finger_joint1"
    assert sum(link["mass"] for link in document["links"]) == pytest.approx(robot.mass)
    condition = document["survey"]["condition"]
    assert condition["neutral"]["number"] == pytest.approx(np.linalg.cond(robot.mass_matrix(robot.neutral())), rel=1e-9)
    assert condition["worst"]["number"] == pytest.approx(np.linalg.cond(robot.mass_matrix(condition["worst"]["q"])), rel=1e-9)
    assert condition["worst"]["number"] >= condition["neutral"]["number"]
    assert document["report"] == list(robot.report)


def test_info_prints_missing_limits_as_null_in_json_and_dash_in_tables(torsor):
    assert torsor("info", "two_link", "--json").json["joints"][0]["upper"] == [None]
    assert "joint1   revolute       –       –          –        –" in torsor("info", "two_link").out


def test_survey_reach_of_the_two_link_arm_is_two_metres():
    (reach,) = survey(ts.robots.two_link(), samples=2000).reaches
    assert reach.tip == "tip"
    assert 1.999 < reach.farthest <= 2
    assert np.all(np.abs(reach.lower[:2]) <= 2)
    assert reach.lower[2] == reach.upper[2] == 0


def test_survey_names_the_coordinate_with_the_smallest_mass():
    """Two independent prismatic joints: M is diagonal, its condition number is the ratio of the masses."""
    robot = (
        ts.Builder("sliders")
        .link("base").link("heavy", mass=10.0).link("light", mass=0.001)
        .joint("h", "prismatic", "base", "heavy", axis=(1, 0, 0)).joint("l", "prismatic", "base", "light", axis=(0, 1, 0))
        .build()
    )  # fmt: skip
    found = survey(robot, samples=10)
    assert found.worst is not None
    assert found.worst.number == pytest.approx(1e4)
    assert found.worst.coordinate == "l"


def test_survey_reach_ignores_the_pose_of_a_floating_base():
    robot = ts.robots.two_link().with_base("floating")
    (reach,) = survey(robot, samples=100).reaches
    assert reach.farthest <= 2  # the random position of the base is not added
    assert reach.lower[2] == reach.upper[2] == 0


def test_tips_are_the_ends_of_the_branches():
    assert tips(ts.robots.two_link()) == ["tip"]
    assert tips(ts.robots.panda()) == ["panda_hand_tcp", "panda_leftfinger", "panda_rightfinger"]
    assert tips(ts.mechanisms.stewart_platform()) == ["plate_centre"]
    assert tips(ts.mechanisms.bricard()) == []


@pytest.mark.parametrize("name", sorted(bundled_robots()))
@pytest.mark.night
def test_info_runs_for_every_bundled_robot(torsor, name):
    ended = torsor("info", name, "--samples", 20)
    assert (ended.code, ended.err) == (0, "")


# -- explain and equations -----------------------------------------------------------------------------------------


def test_explain_sums_to_inverse_dynamics(torsor):
    words = ("explain", "stanford_arm", "--q", "0.5", "--v", "0.5", "--a", "1", "--wrench", "end_effector=0,0,0,0,5,10")
    document = torsor(*words, "--json").json
    wrench = {"end_effector": [0, 0, 0, 0, 5, 10]}
    tau = ts.robots.stanford_arm().inverse_dynamics([0.5] * 6, [0.5] * 6, [1.0] * 6, wrench)
    np.testing.assert_allclose(document["tau"], tau, rtol=1e-12)
    np.testing.assert_allclose(np.sum([p["tau"] for p in document["parts"]], axis=0), tau, rtol=1e-10, atol=1e-12)
    assert "Summed by kind; --parts shows all" in torsor(*words).out
    assert "Coriolis joint1·joint2" in torsor(*words, "--parts").out
    column = torsor(*words, "--joint", "joint2").out.splitlines()[2:-1]
    sizes = [abs(float(line.split()[-1])) for line in column]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("format", ["text", "latex", "markdown", "python"])
@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
def test_equations_prints_the_closed_form_of_the_library(torsor, format, parameters):
    ended = torsor("equations", "two_link", "--format", format, "--parameters", parameters)
    assert ended.out == getattr(ts.robots.two_link().symbolic(parameters), format)() + "\n"


def test_equations_out_writes_python_that_runs(torsor):
    ended = torsor("equations", "two_link", "--format", "python", "--only", "g", "--out", "g.py")
    assert ended.out == "wrote g.py\n"
    namespace: dict = {}
    exec(Path("g.py").read_text(), namespace)
    np.testing.assert_allclose(
        namespace["gravity_force"]([0.1, 0.2]), ts.robots.two_link().gravity_force([0.1, 0.2]), rtol=1e-14
    )


@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
def test_equations_in_c_compile(torsor, parameters):
    Path("g.c").write_text(torsor("equations", "two_link", "--format", "c", "--parameters", parameters).out)
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "-c", "g.c"], check=True)
    assert torsor("equations", "two_link", "--format", "c", "--only", "M,tau", "--json").json["quantities"] == ["M", "tau"]


# -- simulate ------------------------------------------------------------------------------------------------------


def test_simulate_gives_the_result_of_the_library(torsor):
    words = ("--seconds", 0.2, "--q", "0.1,0.2", "--v", "1", "--out", "motion.npz", "--json")
    document = torsor("simulate", "two_link", *words).json
    own = ts.robots.two_link().simulate([0.1, 0.2], [1.0, 1.0], 0.2)
    np.testing.assert_array_equal(ts.simulate.load_result("motion.npz").q, own.q)
    assert document["end"]["q"] == own.q[-1].tolist()
    assert document["energy"]["discrepancy"] == own.audit().worst
    assert document["files"] == {"out": "motion.npz"}
    assert set(document) == {
        "call", "robot", "seconds", "integrator", "dt", "steps", "configuration", "coordinates", "start", "end", "energy",
        "events", "notes", "files",
    }  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("panda", "--seconds", 0.4),
        ("ur5", "--base", "floating", "--gravity", "0,0,-1.62", "--control", "pd", "--integrator", "semi_implicit"),
        ("panda", "--no-mimic", "--control", "gravity", "--no-stops", "--damping", "--wrench", "panda_link8=0,0,0,1,2,3"),
        ("four_bar", "--q", "crank=0.4", "--v", "1", "--control", "pd"),
        ("arm.urdf", "--no-mimic", "--strict", "--root", ".", "--gravity", "0,0,-1"),
        ("-", "--as", "urdf", "--dt", "0.002"),
        ("quadruped", "--ground", "--ground-friction", "0.4", "--q", "standing"),
    ],
    ids=["stops", "floating", "wrench", "loop", "file", "stdin", "ground"],
)
def test_first_line_of_simulate_is_the_python_call_of_the_same_result(torsor, monkeypatch, words):
    words = words if "--seconds" in words else (*words, "--seconds", 0.02)
    ts.save(ts.robots.ur5(), "arm.urdf", meshes=False)
    stdin = Path("arm.urdf").read_text()
    ended = torsor("simulate", *words, "--out", "motion.npz", stdin=stdin)
    assert (ended.code, ended.err) == (0, "")
    call = ended.out.splitlines()[0]
    assert call == torsor("simulate", *words, "--json", stdin=stdin).json["call"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    made = {}
    exec(call, made)
    kept = ts.simulate.load_result("motion.npz")
    for name in ("t", "q", "v", "tau"):
        np.testing.assert_array_equal(getattr(made["result"], name), getattr(kept, name))
    assert made["result"].notes == kept.notes


def test_simulate_prints_limits_that_the_motion_leaves(torsor):
    words = ("simulate", "rp_arm", "--seconds", 1, "--q", "0,0.5", "--no-stops")
    assert "\nOutside position limits: joint2 by up to " in torsor(*words).out


def test_simulate_notes_once_that_damping_is_omitted(torsor):
    words = ("simulate", "puma560", "--seconds", 0.004)
    note = "The damping of joint1, joint2, joint3, ... is left out; --damping includes it."
    assert torsor(*words).out.count(note) == 1
    assert torsor(*words, "--damping").out.count("The damping of") == 0
    assert len(torsor(*words, "--json").json["notes"]) == 2


def test_simulate_on_the_ground_starts_where_the_lowest_foot_touches(torsor):
    words = ("simulate", "quadruped", "--ground", "--seconds", 0.01)
    document = torsor(*words, "--json").json
    robot = ts.robots.quadruped().with_ground()
    assert abs(robot.contact_gap(document["start"]["q"]).min()) < 1e-9
    assert document["integrator"] == "semi_implicit"
    assert document["energy"]["contact"] <= 1e-9
    text = torsor(*words).out
    assert "on the ground" in text
    assert "there is no ground" not in text
    assert "+ contact " in text


def test_ground_friction_needs_ground_and_contacts_their_integrator(torsor):
    ended = torsor("simulate", "quadruped", "--ground-friction", "0.4")
    assert (ended.code, "--ground-friction needs --ground" in ended.err) == (2, True)
    ended = torsor("simulate", "quadruped", "--ground", "--integrator", "rk4", "--seconds", 0.01)
    assert ended.code == 2
    assert "contacts act in steps of first order" in ended.err


def test_simulate_default_start_is_within_limits_and_reproducible(torsor):
    first, second, other = (
        torsor("simulate", "scara", "--seconds", 0.01, "--seed", seed, "--json").json["start"]["q"] for seed in (3, 3, 4)
    )
    robot = ts.robots.scara()
    assert first == second != other
    for joint in map(robot.joint, robot.joints):
        assert joint.lower[0] <= first[joint.q_slice.start] <= joint.upper[0]


def test_simulation_stops_at_limits_unless_no_stops(torsor):
    words = ("simulate", "rp_arm", "--seconds", 0.6, "--q", "0,0.9")  # the prismatic joint reaches its limit while it falls
    document = torsor(*words, "--json").json
    assert document["events"]
    assert document["energy"]["impacts"] > 0
    assert not torsor(*words, "--no-stops", "--json").json["events"]


def test_simulate_control_gravity_holds_and_pd_reaches_the_target(torsor):
    words = ("simulate", "two_link", "--json", "--seconds")
    held = torsor(*words, 0.1, "--control", "gravity", "--q", "0.3,0.4").json
    np.testing.assert_allclose(held["end"]["q"], [0.3, 0.4], atol=1e-12)  # gravity compensation at v = 0: the arm stays
    drifting = torsor(*words, 0.1, "--control", "gravity").json
    assert 0 < np.abs(drifting["start"]["v"]).max() <= 0.5
    pulled = torsor(*words, 2, "--control", "pd", "--target", "0.5,-0.5").json
    np.testing.assert_allclose(pulled["end"]["q"], [0.5, -0.5], atol=1e-3)


def test_simulate_floating_base_falls_without_control(torsor):
    ended = torsor("simulate", "ur5", "--base", "floating", "--control", "pd", "--seconds", 0.02, "--out", "fall.npz")
    assert "The base is floating and there is no ground: the robot falls." in ended.out
    fall = ts.simulate.load_result("fall.npz")
    assert not fall.tau[:, :6].any()
    assert fall.tau[:, 6:].any()
    np.testing.assert_allclose(fall.q[0, :7], [0, 0, 0, 0, 0, 0, 1])


def test_simulate_mechanism_starts_at_its_neutral_configuration(torsor):
    document = torsor("simulate", "four_bar", "--seconds", 0.05, "--json").json
    assert document["start"]["q"] == ts.mechanisms.four_bar().neutral().tolist()


def test_simulate_writes_plot_and_replay_page_and_opens_the_page(torsor, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    ended = torsor("simulate", "two_link", "--seconds", 0.1, "--plot", "a.svg", "--replay", "a.html", "--open")
    assert ended.code == 0
    assert "wrote a.svg" in ended.out
    assert Path("a.svg").read_text().startswith("<?xml")
    assert Path("a.html").read_text().startswith("<!doctype html>")
    assert opened == [Path("a.html").absolute().as_uri()]


def test_address_is_printed_without_a_browser(torsor, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    ended = torsor("simulate", "two_link", "--seconds", 0.1, "--open")
    assert ended.code == 0
    assert ended.err.startswith("torsor: no browser was found; open file://")


# -- export ----------------------------------------------------------------------------------------------------------


def test_export_writes_c_files_and_python_that_runs(torsor):
    files = torsor("export", "two_link", "--to", "c", "--quantity", "mass_matrix", "--json").json["files"]
    assert files == ["two_link.h", "two_link.c", "two_link_test.c"]
    assert torsor("export", "two_link", "--to", "python", "--out", "arm.py").out == "wrote arm.py\n"
    namespace: dict = {}
    exec(Path("arm.py").read_text(), namespace)
    M = namespace["two_link_mass_matrix"]([0.1, 0.2])
    np.testing.assert_allclose(M, ts.robots.two_link().mass_matrix([0.1, 0.2]), rtol=1e-14)


def test_export_of_code_obeys_loops_and_refuses_results_that_ignore_them(torsor):
    document = torsor("export", "four_bar", "--to", "python", "--json").json
    assert document["lost"] == []
    for name in ("mass_matrix", "forward_dynamics", "inverse_dynamics"):
        assert f"def four_bar_{name}" in Path("four_bar.py").read_text()
    ended = torsor("export", "four_bar", "--to", "c", "--quantity", "hybrid_force")
    assert ended.err.startswith("torsor: pin of robot 'four_bar' does not have hybrid dynamics: ")


def test_equations_of_a_robot_with_loops_have_its_rows(torsor):
    ended = torsor("equations", "four_bar")
    assert ended.code == 0
    assert "A[3,1] = " in ended.out
    assert "A a + drift = 0" in ended.out


@pytest.mark.parametrize("ending", ["npz", "json"])
def test_export_to_mr_writes_the_lists_of_the_library(torsor, ending):
    assert torsor("export", "ur5", "--to", "mr", "--out", f"lists.{ending}").code == 0
    lists = np.load("lists.npz") if ending == "npz" else json.loads(Path("lists.json").read_text())
    for name, own in zip(("Mlist", "Glist", "Slist"), ts.to_mr(ts.robots.ur5()), strict=True):
        np.testing.assert_array_equal(lists[name], own)


@pytest.mark.parametrize("ending", ["urdf", "mjcf"])
def test_convert_keeps_the_dynamics_and_lists_losses(torsor, ending):
    robot = ts.robots.scara()
    ended = torsor("convert", "scara", f"arm.{ending}", "--json")
    assert ended.code == 0
    assert ended.json["files"] == [f"arm.{ending}"]
    back = torsor("torque", f"arm.{ending}", "--q", "0.1", "--a", "1", "--json").json["tau"]
    np.testing.assert_allclose(back, robot.inverse_dynamics([0.1] * 4, [0.0] * 4, [1.0] * 4), rtol=1e-9)
    assert torsor("convert", "scara", "arm.xml").code == 2
    assert torsor("convert", "scara", "arm.xml", "--to", ending).code == 0


def test_convert_reports_loops_and_gravity(torsor):
    ended = torsor("convert", "four_bar", "bars.urdf")
    assert ended.out.startswith("wrote bars.urdf, bars.loops.yaml; not converted, or converted with changes:\n")
    assert "gravity, written as torsor's own elements, which other readers ignore: (0, -9.81, 0) m/s2" in ended.out
    bars = ts.mechanisms.four_bar()
    for words in ((), ("--loops", "auto", "--gravity", "0,-9.81,0")):
        np.testing.assert_allclose(
            torsor("accel", "bars.urdf", *words, "--json").json["a"],
            bars.forward_dynamics(bars.neutral(), [0.0] * 3, [0.0] * 3),
            rtol=1e-9,
        )


def test_robot_name_is_not_used_as_a_path(torsor):
    robot = ts.Robot(replace(ts.robots.description("ur5"), name="../../etc/x y"))
    ts.save_urdf(robot, "arm.urdf")
    (file,) = torsor("export", "arm.urdf", "--to", "urdf", "--json").json["files"]
    assert "/" not in file
    assert Path(file).exists()


# -- trust -----------------------------------------------------------------------------------------------------------


def test_bench_reports_timings_and_its_note(torsor):
    ended = torsor("bench", "two_link", "--batch", 100, "--no-peers", "--json")
    timings = ended.json["timings"]
    assert [x["quantity"] for x in timings] == ["inverse_dynamics", "forward_dynamics", "mass_matrix"]
    assert all(x["single"] > 0 and x["batch"] > 0 and x["pinocchio"] is None for x in timings)
    assert "make bench" in ended.json["note"]


@pytest.mark.night
def test_bench_compares_results_with_pinocchio(torsor):
    pytest.importorskip("pinocchio")
    timings = torsor("bench", "ur5", "--batch", 100, "--json").json["timings"]
    assert all(x["pinocchio"] > 0 and x["difference"] < 1e-13 for x in timings)
    ended = torsor("bench", "panda", "--batch", 100)
    assert "is a mimic joint of 'panda_finger_joint1', which Pinocchio's aba does not support" in ended.out


def test_verify_exits_with_1_if_a_check_fails(torsor, monkeypatch):
    ended = torsor("verify", "two_link", "--samples", 2, "--no-peers", "--json")
    assert ended.code == 0
    assert ended.json["passed"] is True
    right = ts.Robot.mass_matrix
    from torsor.checks.certify import subject

    kernel = subject.Samples.kernel
    wrong = lambda s, spec, *x: kernel(s, spec, *x) * (1.001 if spec == "mass_matrix" else 1)  # noqa: E731
    monkeypatch.setattr(subject.Samples, "kernel", wrong)
    ended = torsor("verify", "two_link", "--samples", 2, "--no-peers")
    assert ended.code == 1
    assert "NOT VERIFIED" in ended.out
    assert right is ts.Robot.mass_matrix


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
@pytest.mark.parametrize("fail_on", ["error", "warning", "note"])
def test_check_exits_with_1_for_findings_at_the_fail_on_severity(torsor, monkeypatch, severity, fail_on):
    finding = Finding("file-refused", severity, "robot 'x'", "it is odd", "nothing", "mend it", "x.urdf", 3)
    monkeypatch.setattr(doctor, "check", lambda *_, **__: doctor.Checkup("x", "x.urdf", (finding,)))
    order = ("error", "warning", "note")
    ended = torsor("check", "two_link", "--fail-on", fail_on)
    assert ended.code == (order.index(severity) <= order.index(fail_on))
    assert "x.urdf:3: file-refused" in ended.out


def test_check_prints_the_findings_of_the_library(torsor):
    ts.save_urdf(ts.robots.two_link().with_gravity((0, 0, -9.81)), "arm.urdf")
    ended = torsor("check", "arm.urdf", "--json")
    assert ended.json == doctor.check("arm.urdf").to_dict()
    assert torsor("check", "arm.urdf").out == f"{doctor.check('arm.urdf')}\n"
    assert (
        torsor("check", "two_link", "--repair", "x.urdf").err == "torsor: --repair needs a file; two_link is a bundled robot\n"
    )
    assert torsor("check", "arm.urdf", "--only", "x").err == "torsor: --only needs --repair OUT\n"


def test_check_fails_for_an_inertia_in_square_millimetres(torsor):
    Path("arm.urdf").write_text(arm(lower=link("lower", com=(0, 0, 0.2), I=9e5 * box_inertia())))
    ended = torsor("check", "arm.urdf")
    assert ended.code == 1
    assert "sample: 1 error" in ended.out


def test_check_makes_only_the_named_repairs(torsor):
    inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1.1' izz='1.2' ixy='0' ixz='0' iyz='0'/></inertial>"
    joint = "<joint name='j' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 2'/></joint>"
    Path("odd.urdf").write_text(f"<robot name='x'><link name='a'/><link name='b'>{inertial}</link>{joint}</robot>")
    ended = torsor("check", "odd.urdf", "--repair", "good.urdf", "--only", "normalise-axis", "--json")
    (made,) = ended.json["repair"]["made"]
    assert made["name"] == "normalise-axis"
    assert 'xyz="0 0 1"' in Path("good.urdf").read_text()
    assert "wrote good.urdf:" in torsor("check", "odd.urdf", "--repair", "good.urdf").out
    assert torsor("check", "odd.urdf", "--repair", "good.urdf", "--only", "magic").code == 2


# -- the demo --------------------------------------------------------------------------------------------------------


def test_demo_writes_a_replay_page(torsor, monkeypatch):
    from torsor.cli import demo

    monkeypatch.setattr(demo, "main", lambda: print("so much for numbers"))
    ended = torsor("demo", "--replay", "fall.html")
    assert ended.out.startswith("so much for numbers\nwrote fall.html")
    assert Path("fall.html").read_text().startswith("<!doctype html>")
    assert torsor("demo", "--json").json == {"robot": "ur5", "replay": "torsor-demo.html", "seconds": 3.0}


@pytest.mark.night
def test_demo_prints_joint_torques(torsor):
    printed = torsor("demo").out
    assert "Joint torques along a 1 s motion" in printed
    assert "A fall of 3 s in 3000 Runge–Kutta steps" in printed
    assert printed.endswith("replay page of the fall, 3 s\n")  # the same fall


def test_convert_of_a_bundled_robot_writes_its_meshes_beside_the_file(torsor, tmp_path):
    ended = torsor("convert", "ur5", "arm.urdf")
    assert ended.code == 0
    assert f"wrote arm.urdf, arm_meshes{os.sep} (20 mesh files)" in ended.out
    files = torsor("convert", "ur5", "arm.mjcf", "--json").json["files"]
    assert len(files) == 21
    assert files[1] == os.path.join("arm_meshes", "ur5_base_1.obj")
    assert all(os.path.isfile(file) for file in files)
    assert torsor("convert", "ur5", "bare.urdf", "--no-meshes").code == 0
    assert not (tmp_path / "bare_meshes").exists()


def test_info_draws_a_graph_by_extension_and_refuses_others(torsor, tmp_path):
    assert "wrote tree.svg" in torsor("info", "panda", "--samples", "1", "--graph", "tree.svg").out
    assert (tmp_path / "tree.svg").read_text().startswith("<svg ")
    ended = torsor("info", "panda", "--graph", "tree.png")
    assert (ended.code, ended.err) == (2, "torsor: --graph tree.png: the extension must be one of .svg, .dot, .gv\n")
