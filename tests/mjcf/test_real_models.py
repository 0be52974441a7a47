"""Public MJCF models against MuJoCo with constraints off: those of Gymnasium in the fast suite, a given folder at night.

``TORSOR_MJCF_MODELS=folder`` names the folder: MuJoCo Menagerie, dm_control, robosuite, ... Files in it that MuJoCo itself does
not compile are skipped.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.mjcf.twin import Twin
from torsor.errors import FileError, ModelWarning
from torsor.io.mjcf.compiling import compile_model
from torsor.io.mjcf.reader import translate
from torsor.model.assembly import assemble

FOUND = find_spec("gymnasium")
ASSETS = Path(FOUND.origin).parent / "envs" / "mujoco" / "assets" if FOUND and FOUND.origin else None
GYMNASIUM = sorted(p.name for p in ASSETS.glob("*.xml")) if ASSETS else []


def compare(path: Path) -> None:
    found = compile_model(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # springs and fluids, which this test turns off in MuJoCo
        d = translate(found.model, mimic=False, mesh_frames=found.mesh_frames)
    model = assemble(replace(d, loops=()))
    assert (model.nq, model.nv) == (found.model.nq, found.model.nv)
    assert sum(link.inertia.m for link in d.links) <= found.model.body_mass.sum() * (1 + 1e-14)
    assert max(Twin(model, found.model).errors(count=1)) < 1e-10


@pytest.mark.parametrize("name", GYMNASIUM or [pytest.param("", marks=pytest.mark.skip(reason="pip install gymnasium"))])
def test_gymnasium_models_agree_with_mujoco(name):
    assert ASSETS is not None
    compare(ASSETS / name)


@pytest.mark.night
def test_models_of_a_given_folder_agree_with_mujoco():
    folder = os.environ.get("TORSOR_MJCF_MODELS")
    if not folder:
        pytest.skip("TORSOR_MJCF_MODELS names no folder")
    count = 0
    for path in sorted(Path(folder).rglob("*.xml")):
        try:
            compile_model(path)
        except FileError:
            continue
        compare(path)
        count += 1
    assert count
