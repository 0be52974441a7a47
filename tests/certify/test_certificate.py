"""The certificate document: contents, JSON and pickle, escaping of names in HTML."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import torsor as ts
from torsor.checks.certify import Certificate, CertificateRow, verify
from torsor.checks.certify.certificate import WIDTH
from torsor.checks.certify.machine import digest, machine
from torsor.checks.certify.verify import CHECKS, LOOPS, PEERS


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return verify(ts.robots.two_link(), samples=3)


def test_certificate_has_rows_with_equation_verdict_and_error(certificate):
    assert certificate.passed
    assert certificate.failures == ()
    assert certificate.options == {"samples": 3, "seed": 0, "thorough": False, "peers": True}
    row = certificate["RNEA = CRBA"]
    assert row.equation == "τ = M a + h"
    assert row.verdict == "pass"
    assert 0 <= row.error <= row.allowed < 1e-12
    assert row.place.startswith("sample ")
    with pytest.raises(ts.UnknownName, match="RNEA = ABA"):
        certificate["no such check"]


def test_names_of_certificate_rows_are_unique():
    names = [check.name for check in (*CHECKS, *LOOPS, *PEERS)]
    assert len(set(names)) == len(names)


def test_verify_with_the_same_seed_gives_the_same_errors():
    one, two, other = (verify(ts.robots.two_link(), samples=2, seed=k, peers=False) for k in (1, 1, 2))
    errors = [[row.error for row in c.rows] for c in (one, two, other)]
    assert errors[0] == errors[1] != errors[2]


def test_certificate_text_fits_its_width_and_has_all_parts(certificate):
    text = str(certificate)
    assert max(map(len, text.splitlines())) <= WIDTH <= 120
    for word in ("two_link: verified", "RNEA = Lagrange", "sha256:", "LLVM", "numpy", "with: ", "python 3", "#"):
        assert word in text


def test_certificate_text_cuts_long_names_and_wraps_reasons():
    row = CertificateRow("x" * 200, "y" * 200, "skipped", place="z" * 200, reason="because " * 60)
    lines = str(Certificate("robot", "sha256:0", (row, row), {}, {})).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert any("as above" in line for line in lines)


def test_certificate_can_be_saved_as_json_and_pickled(certificate, tmp_path):
    data = certificate.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    certificate.save(tmp_path / "arm.json")
    assert json.loads((tmp_path / "arm.json").read_text(encoding="utf-8")) == data
    assert pickle.loads(pickle.dumps(certificate)) == certificate
    odd = Certificate("r", "m", (CertificateRow("n", "e", "fail", float("nan"), float("inf")),), {}, {}).to_dict()["rows"][0]
    assert (odd["error"], odd["allowed"]) == (None, None)


def test_certificate_html_escapes_names_and_reasons():
    row = CertificateRow("<img src=x onerror=alert(1)>", "<b>", "fail", place="<script>", reason="<script>alert(1)</script>")
    text = Certificate("<script>robot</script>", "m", (row,), {"<i>": "<i>"}, {"<u>": "<u>", "processor": "<u>"})._repr_html_()
    for tag in ("<img", "<script", "<i> =", "<u>"):
        assert tag not in text
    assert "&lt;script&gt;robot" in text


def test_certificate_without_passed_rows_is_not_passed():
    assert not Certificate("r", "m", (CertificateRow("n", "e", "skipped"),), {}, {}).passed
    assert not Certificate("r", "m", (), {}, {}).passed


def test_digest_depends_on_every_number_of_the_model():
    """The digest is the same in another process, and different for another mass."""
    arm = ts.robots.two_link()
    code = "import torsor as ts; from torsor.checks.certify.machine import digest; print(digest(ts.robots.two_link().model))"
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert digest(arm.model) == there
    assert digest(arm.model) != digest(ts.robots.two_link(m1=1.0 + 1e-15).model)
    assert digest(pickle.loads(pickle.dumps(arm)).model) == there


def test_certificate_has_machine_and_versions():
    facts = machine()
    assert facts["numpy"] == np.__version__
    assert facts["python"] == sys.version.split()[0]
    assert all(isinstance(x, str) and x for x in facts.values())
    assert "lanes" in facts["simd"]


def test_verify_without_mpmath_skips_rows_and_names_the_extra(monkeypatch):
    """Rows that need mpmath are skipped and name the extra; test_peers.py tests other libraries."""
    from torsor.checks.certify import references

    monkeypatch.setattr(references, "find_spec", lambda name: None)
    row = verify(ts.robots.two_link(), samples=1, peers=False)["kernel: mass_matrix"]
    assert (row.verdict, row.reason) == (
        "skipped",
        "mpmath is not installed; in a checkout of torsor: pip install '.[symbolic]'",
    )
