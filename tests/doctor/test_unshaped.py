"""Links without a shape: wrong units found by reach and mass; long thin bodies give no finding."""

from __future__ import annotations

import numpy as np
import pytest

from tests.doctor.urdf import box_inertia, joint, link, robot
from torsor.checks.doctor import check, repair
from torsor.checks.doctor.links_without_shape import ball_radius, gyration, likely_decades

UNITS = {"g·m²": 1e3, "kg·mm²": 1e6, "g·mm²": 1e9}
BOX = box_inertia()


def chain(I, mass=2.0, com=(0, 0, 0.2), links=3) -> str:
    """Links without shapes in a row; the last has this inertia."""
    parts = [link("base", looks="")]
    for n in range(1, links + 1):
        last = n == links
        given = {"mass": mass, "com": com, "I": I} if last else {"com": (0, 0, 0.2)}
        xyz = "0 0 0.5" if n > 1 else "0 0 0"
        parts += [
            link(f"link{n}", looks="", **given),
            joint(f"joint{n}", "base" if n == 1 else f"link{n - 1}", f"link{n}", xyz=xyz, axis="0 1 0"),
        ]
    return robot(*parts)


def rod(mass, length, thickness):
    """Inertia of a rod along z about its centre."""
    across, along = mass * (3 * (thickness / 2) ** 2 + length**2) / 12, mass * (thickness / 2) ** 2 / 2
    return np.diag([across, across, along])


def units(text) -> list:
    return [f for f in check(text).findings if f.code in ("inertia-units", "com-units")]


@pytest.mark.parametrize(("unit", "links"), [*((unit, 3) for unit in UNITS), ("kg·mm²", 1), ("g·mm²", 1)])
def test_inertia_in_other_units_is_found_and_repaired(unit, links):
    """A single link has no reach, so its mass decides; 2 kg with k = 3.4 m (g·m²) could be a mast and is not tested."""
    (found,) = units(chain(UNITS[unit] * BOX, links=links))
    severity = "warning" if unit == "g·m²" else "error"
    assert (found.element, found.severity, found.repair) == (f"link 'link{links}'", severity, "inertia-to-si")
    assert f"as {unit} it is 0.11 m" in found.what
    (made,) = repair(chain(UNITS[unit] * BOX, links=links), None, only=["inertia-to-si"])
    new = [float(x) for _, _, x in made.edits]
    np.testing.assert_allclose(new, BOX[np.triu_indices(3)], rtol=1e-9, atol=1e-12)


def test_inertia_units_finding_names_radius_of_gyration_and_reach():
    """1500 kg·m² on 0.8 kg: a radius of gyration of 53 m, much larger than the robot."""
    (found,) = units(chain(np.diag([1500.0, 1400, 1600]), mass=0.8))
    assert found.what == "its radius of gyration is 53 m, the robot's reach 1 m; as kg·mm² it is 0.053 m"
    assert found.means.startswith("its contribution to M is wrong: corrected, M_jj of joint 'joint3' changes by")


@pytest.mark.parametrize(("I", "mass", "com"), [
    (BOX, 2.0, (0, 0, 0.2)),
    (rod(0.1, 3.0, 0.005), 0.1, (0, 0, 1.5)),  # an antenna three times as long as the robot
    (rod(1.0, 4.0, 0.01), 1.0, (0, 0, 0)),  # a mast
    (np.diag([0.05, 0.05, 0.1]), 5.0, (0, 0, 0)),  # a balanced wheel
    (1e-4 * BOX, 2.0, (0, 0, 0.2)),
])  # fmt: skip
@pytest.mark.parametrize("links", [1, 3])
def test_plausible_bodies_without_shape_give_no_finding(I, mass, com, links):
    assert units(chain(I, mass, com, links)) == []


def test_ten_metre_mast_gives_a_finding_on_a_one_metre_robot_only():
    mast = rod(1.0, 10.0, 0.01)  # k = 2.9 m
    assert units(chain(mast, 1.0, (0, 0, 0), links=1)) == []
    assert [f.code for f in units(chain(mast, 1.0, (0, 0, 0), links=3))] == ["inertia-units"]  # on a robot of one metre
    assert units(chain(mast, 1.0, (0, 0, 0), links=6)) == []


def test_inertia_that_does_not_affect_m_gives_no_finding():
    base = link("base", looks="", I=1e6 * BOX)
    text = robot(base, link("arm", looks="", com=(0, 0, 0.2)), joint("turn", "base", "arm"))
    assert units(text) == []
    assert [f.element for f in check(text, base="floating").findings if f.code == "inertia-units"] == ["link 'base'"]


def test_centre_of_mass_in_millimetres_is_found_without_shapes():
    (found,) = units(chain(BOX, com=(0, 0, 200.0)))
    assert (found.code, found.element) == ("com-units", "link 'link3'")
    (found,) = units(chain(np.zeros((3, 3)), com=(0, 0, 200.0)))  # also for a point mass
    assert found.code == "com-units"


def test_at_most_one_unit_fits():
    for mass in (1e-3, 1.0, 1e3):
        for k in np.geomspace(1e-4, 1e6, 200):
            fits = [d for d in (3, 6, 9) if 0.5 < k * 10 ** (-d / 2) / (np.sqrt(0.6) * ball_radius(mass, 1000.0)) < 10]
            assert len(fits) <= 1
            assert likely_decades(mass, k) in (0, *fits)


def test_gyration_of_a_shell_is_its_radius():
    """A shell of radius R has tr Σ = m R²."""
    from torsor.checks.doctor.records import LinkRecord

    shell = LinkRecord("shell", mass=3.0, inertia=2 / 3 * 3.0 * 0.25**2 * np.eye(3))
    assert gyration(shell) == pytest.approx(0.25, rel=1e-14)
    assert ball_radius(4 / 3 * np.pi * 1000, 1000.0) == pytest.approx(1.0, rel=1e-14)
