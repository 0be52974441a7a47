"""Errors added to real robots are found on the right link with the right code, and repaired to the original values."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.doctor.urdf import inertia
from torsor.checks.doctor import check, repair
from torsor.io.urdf import read_urdf

PREFIX = next(p for p in Path(find_spec("pinocchio").origin).parents if p.name == "cmeel.prefix")
SHARE = PREFIX / "share"
ROBOTS = SHARE / "example-robot-data" / "robots"
XARM = (ROBOTS / "xarm_description" / "urdf" / "xarm7.urdf").read_text()
G1 = (ROBOTS / "g1_description" / "urdf" / "g1_29dof_rev_1_0.urdf").read_text()
PANDA = (ROBOTS / "panda_description" / "urdf" / "panda.urdf").read_text()
UR5 = (ROBOTS / "ur_description" / "urdf" / "ur5_robot.urdf").read_text()


def numbers(text, link):
    """Mass, centre of mass and inertia about it, in the axes of the file's <inertial> origin."""
    G = next(x for x in read_urdf(text).links if x.name == link).inertia
    return float(G.m), np.array(G.com, float), np.array(G.about_com.rows, float)


def with_inertial(text, link, *, I=None, mass=None, com=None):
    """The text with another <inertia>, <mass> or <origin> in that link's <inertial>."""
    start = text.index(f'<link name="{link}"')
    end = text.index("</inertial>", start)
    block = text[start:end]
    if I is not None:
        block = re.sub(r"<inertia\s.*?/>", inertia(I), block, flags=re.DOTALL)
    if mass is not None:
        block = re.sub(r'<mass\s+value="[^"]*"\s*/>', f'<mass value="{mass}"/>', block)
    if com is not None:
        block = re.sub(r'(<origin[^>]*xyz=)"[^"]*"', rf'\1"{" ".join(map(str, com))}"', block, count=1)
    return text[:start] + block + text[end:]


def found(text, code, **options):
    return [f.element for f in check(text, roots=[SHARE], **options).findings if f.code == code]


def exchange_axes(I):
    P = np.eye(3)[[2, 1, 0]]
    return P @ I @ P.T


def flip_products(I):
    return 2 * np.diag(np.diag(I)) - I


def steiner(m, c):
    return m * (c @ c * np.eye(3) - np.outer(c, c))


#: links of the xArm, each with a change of its (m, c, I); the changes of one row are made at the same time
FAULTS = {
    "g·mm²": {"link3": (lambda m, c, I: 1e9 * I, "inertia-units", "inertia-to-si")},
    "kg·mm²": {"link4": (lambda m, c, I: 1e6 * I, "inertia-units", "inertia-to-si")},
    "g·m²": {"link5": (lambda m, c, I: 1e3 * I, "inertia-units", "inertia-to-si")},
    "frames": {
        "link1": (lambda m, c, I: exchange_axes(I), "inertia-axes-swapped", "inertia-axes"),
        "link2": (lambda m, c, I: I + steiner(m, c), "inertia-about-wrong-frame", "inertia-about-com"),
        "link3": (lambda m, c, I: flip_products(I), "inertia-products-sign", "flip-products"),
        "link4": (lambda m, c, I: flip_products(I), "inertia-products-sign", "flip-products"),  # which is also impossible
        "link6": (lambda m, c, I: exchange_axes(I), "inertia-axes-swapped", "inertia-axes"),
    },
}


@pytest.mark.parametrize("row", FAULTS)
def test_wrong_inertias_of_the_xarm_are_found_and_repaired(row):
    text = XARM
    for link, (make, _, _) in FAULTS[row].items():
        text = with_inertial(text, link, I=make(*numbers(XARM, link)))
    made = {r.element: r for r in repair(text, None, roots=[SHARE])}
    assert set(made) == {f"link {link!r}" for link in FAULTS[row]}
    for link, (_, code, name) in FAULTS[row].items():
        mended, I = made[f"link {link!r}"], numbers(XARM, link)[2]
        assert (mended.name, mended.code) == (name, code)
        assert mended.change > 0.005
        new = [float(x) for _, _, x in mended.edits]
        np.testing.assert_allclose(new, I[np.triu_indices(3)], atol=1e-9 * np.abs(I).max())


def test_original_xarm_needs_no_repair():
    assert repair(XARM, None, roots=[SHARE]) == []


def test_wrong_inertia_units_are_found_without_meshes():
    for text, link in ((G1, "left_knee_link"), (PANDA, "panda_link4"), (UR5, "forearm_link")):
        _, _, I = numbers(text, link)
        assert found(with_inertial(text, link, I=1e6 * I), "inertia-units", meshes=False) == [f"link {link!r}"]
        assert found(text, "inertia-units", meshes=False) == []


@pytest.mark.parametrize(("text", "link"), [(UR5, "forearm_link"), (PANDA, "panda_link5")])
def test_impossible_inertias_are_found(text, link):
    _, _, I = numbers(text, link)
    values, axes = np.linalg.eigh(I)
    broken = with_inertial(text, link, I=axes @ np.diag([values[0], values[1], 2 * (values[0] + values[1])]) @ axes.T)
    assert f"link {link!r}" in found(broken, "triangle-inequality", meshes=False)
    negative = with_inertial(text, link, I=axes @ np.diag([-values[2], values[1], values[2]]) @ axes.T)
    assert f"link {link!r}" in found(negative, "inertia-not-positive", meshes=False)


@pytest.mark.parametrize(("text", "link"), [(UR5, "forearm_link"), (PANDA, "panda_link5")])
def test_negative_mass_is_found_in_a_file_that_does_not_load(text, link):
    checkup = check(with_inertial(text, link, mass=-1.5), meshes=False)
    (first,) = [f for f in checkup.findings if f.severity == "error"]
    assert (first.code, first.element) == ("mass-negative", f"link {link!r}")
    assert checkup.skipped == ("the file does not load, so the mass matrix was not checked",)


def test_different_mass_on_one_side_is_found():
    m, _, _ = numbers(G1, "left_knee_link")
    text = with_inertial(G1, "left_knee_link", mass=1.3 * m)
    assert found(text, "left-right-asymmetry", meshes=False) == ["link 'left_knee_link'"]
    assert found(G1, "left-right-asymmetry", meshes=False) == []


def test_centre_of_mass_in_millimetres_is_found_and_repaired():
    _, c, _ = numbers(XARM, "link4")
    text = with_inertial(XARM, "link4", com=1000 * c)
    assert found(text, "com-units") == ["link 'link4'"]
    (made,) = repair(text, None, roots=[SHARE], only=["millimetres-to-metres"])
    np.testing.assert_allclose([float(x) for x in made.edits[0][2].split()], c, rtol=1e-9)


def test_wrist_inertias_of_the_ur5_are_found():
    """The wrists of the UR5, listed in docs/findings.md, have the inertias of bodies ten times as large."""
    assert {"link 'wrist_1_link'", "link 'wrist_2_link'"} <= set(found(UR5, "inertia-far-from-mesh"))


TEN = [
    "alex_description/urdf/alex_nub_hands.urdf", "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "kinova_description/robots/kinova.urdf", "panda_description/urdf/panda.urdf", "so_arm_description/urdf/so101.urdf",
    "solo_description/robots/solo12.urdf", "talos_data/robots/talos_reduced.urdf", "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf", "z1_description/urdf/z1.urdf",
]  # fmt: skip


def plant_faults_everywhere():
    """(fault, code expected, codes found by the shape, by the other side) for every link of ten robots and every fault that
    changes its inertia by a third."""
    from torsor.checks.doctor import cad, symmetry
    from torsor.checks.doctor.geometry import links_with_shape
    from torsor.checks.doctor.reading import subject_of

    for file in TEN:
        subject = subject_of(ROBOTS / file, [SHARE], True, "fixed")
        twins = {link.name: others for link, others in symmetry.pairs(subject)}
        twins |= {other.name: [link] for link, others in symmetry.pairs(subject) for other in others}
        for link, own, body in (row for row in links_with_shape(subject) if cad.has_intended_inertia(row[0])):
            m, c, I = link.mass, link.com, link.inertia
            faults = [("none", I, None), ("origin", I + steiner(m, c), "inertia-about-wrong-frame")]
            faults += [(f"{k:g}", k * I, "inertia-units") for k in (1e3, 1e6, 1e9)]
            turns = [np.eye(3)[order] for order in ([1, 0, 2], [2, 1, 0], [0, 2, 1])]
            faults += [("axes", P @ I @ P.T, "inertia-axes-swapped") for P in turns]
            faults += [("signs", flip_products(I), "inertia-products-sign")]
            for name, J, code in faults:
                if code is None or np.linalg.norm(J - I) > np.linalg.norm(I) / 3:
                    wrong, others = replace(link, inertia=J), twins.get(link.name)
                    by_pair = list(symmetry.compare_mirrored(subject, wrong, others)) if others else []
                    yield (
                        name,
                        code,
                        [f.code for f in cad.compare_with_shape(subject, wrong, own, body)],
                        [f.code for f in by_pair],
                    )


@pytest.mark.night
def test_detection_counts_match_the_findings_page():
    """The numbers in the table of docs/findings.md."""
    tried, found, named, paired, either = (Counter() for _ in range(5))
    for fault, code, by_shape, by_pair in plant_faults_everywhere():
        tried[fault] += 1
        found[fault] += bool(by_shape)
        named[fault] += by_shape == [code]
        paired[fault] += bool(by_pair)
        either[fault] += bool(by_shape or by_pair)
    told = {fault: (tried[fault], found[fault], named[fault], paired[fault], either[fault]) for fault in tried}
    print(told)
    page = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")
    for fault, (n, some, right, pair, both) in told.items():
        assert f"| {fault} | {n} | {some} | {right if fault != 'none' else ''} | {pair} | {both} |" in page
