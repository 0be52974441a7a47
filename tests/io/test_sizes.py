"""Night tests: memory needed for very large robots, and readers under other locales."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import torsor
from tests.badinput.test_urdf import UNIT, locale_environment, robot

#: shape of the tree → (number of links, parent of link i)
LARGE = {"chain": (10_000, lambda i: i - 1), "star": (100_000, lambda i: 0)}
LOADED = """
import resource, sys
from torsor.io.urdf import read_urdf
from torsor.model.assembly import assemble
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
d = read_urdf(sys.argv[1])
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert assemble(d).nv == len(d.joints)
print(len(d.links), after - before)
"""


def run(script: str, *words: str, **environment: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(Path(torsor.__file__).parents[1]), **environment}
    ended = subprocess.run([sys.executable, "-c", script, *words], env=env, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.night
@pytest.mark.parametrize("shape", LARGE)
def test_load_of_a_large_urdf_needs_less_than_60_times_its_size_in_memory(shape, tmp_path):
    count, parent = LARGE[shape]
    body = f'<inertial><mass value="1"/><inertia {UNIT}/></inertial>'
    rows = [f'<link name="l{i}">{body}</link>' for i in range(count)]
    ends = '<parent link="l{}"/><child link="l{}"/><axis xyz="0 0 1"/>'
    rows += [f'<joint name="j{i}" type="continuous">{ends.format(parent(i), i)}</joint>' for i in range(1, count)]
    path = tmp_path / "large.urdf"
    path.write_text(robot("\n".join(rows)))
    links, grown = map(int, run(LOADED, str(path)).split())
    assert links == count
    assert grown * 1024 < 60 * path.stat().st_size  # RELIABILITY.md C4 states 40; these links have very short XML


LOCALE = """
import io, locale, sys
locale.setlocale(locale.LC_ALL, "")
from torsor.io.dh.files import read_dh
from torsor.io.mjcf import read_mjcf, write_mjcf
from torsor.logs import read
body = '<body name="\\u0130\\u0131" pos="0.5 1.5 2.25"><joint damping="1.5"/><geom size="0.125"/></body>'
d = read_mjcf(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
dh = read_dh("# convention: modified\\na, mass\\n1.5, 2.25\\n")
log = read(io.BytesIO(b"t,q[a]\\n0.5,1.5\\n"), format="csv")
print(ascii((d.links, d.joints, write_mjcf(d), dh.links, dh.joints, log.t.tolist(), log.q.tolist())))
print(locale.localeconv()["decimal_point"])
"""


@pytest.mark.night
@pytest.mark.parametrize("name", ["de_DE.UTF-8", "tr_TR.UTF-8"])
def test_readers_give_the_same_results_under_locales_with_decimal_commas(name, tmp_path):
    *plain, point = run(LOCALE, LC_ALL="C").splitlines()
    *there, comma = run(LOCALE, **locale_environment(name, tmp_path)).splitlines()
    assert (point, comma) == (".", ",")
    assert plain == there
