"""Exit codes and one-line errors; pipes, interrupts and signals; imports of the help."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import torsor as ts

FILES = {
    "broken.urdf": "<robot name='x'><link name='a'></robot>",
    "empty.csv": "",
    "numbers.csv": "0,1\n",
    "short.csv": "q1,q2\n0,1\n2\n",
    "words.csv": "q1,q2\n0,one\n",
    "other.csv": "q[joint1],q[elbow]\n0,1\n",
    "nothing.csv": "x,y\n0,1\n",
    "nan.csv": "t,q1,q2\n0,0,0\n1,0,nan\n",
    "states.csv": "q1,q2\n0,1\n",
    "fake.npz": "no zip",
    "fake.parquet": "no parquet",
}
VALID = "base, link1, link2, tip, world"
#: words → exit code and the line on stderr
BAD = {
    "torque ur55": (2, "there is no robot or file named 'ur55'; did you mean ur5?"),
    "torque UR5": (2, "there is no robot or file named 'UR5'; did you mean ur5?"),
    "torque arm.urdf": (2, "there is no file arm.urdf"),
    "torque data/ur5.urdf": (2, "there is no file data/ur5.urdf; ur5 is a bundled robot"),
    "torque http://a.b/arm.urdf": (2, "http://a.b/arm.urdf is not a file, and nothing is downloaded; give the path of a file"),
    "torque two_link --q": (2, "option '--q' requires an argument; see torsor torque --help"),
    "mass two_link states.csv --out states.csv": (2, "--out states.csv is also the input file; give another name"),
    "torque two_link --wrench tip=1,2,3,4,5,6 --wrench tip=0,0,0,0,0,0": (2, "--wrench tip is given twice; give their sum"),
    "convert two_link arm.urdf --to mjcf": (2, "arm.urdf has the extension of URDF, but --to is mjcf"),
    "export two_link --to urdf --out arm.mjcf": (2, "arm.mjcf has the extension of MJCF, but --to is urdf"),
    "mass - --xacro run": (2, "--xacro needs a file path, not stdin: xacro includes files relative to it"),
    "mass broken.urdf --xacro run --as urdf": (2, "--xacro contradicts --as urdf; omit one of them"),
    "mass two_link --as urdf": (2, "--as needs a file; two_link is a bundled robot"),
    "simulate two_link --seed -1": (
        2, "invalid value for '--seed': it must be 0 or more; see torsor simulate --help"),
    "torque two_link --base flying": (
        2, "invalid value for '--base': 'flying' is not one of 'fixed', 'floating', 'floating_rpy'; see torsor torque --help"),
    "torque two_link --gravity 1,2": (2, "--gravity takes 3 numbers, 2 given"),
    "torque two_link --loops auto": (2, "--loops needs a file; two_link is a bundled robot"),
    "torque two_link --q 1,2,3": (2, "--q takes 2 numbers, 3 given: joint1, joint2"),
    "torque two_link --q one,2": (2, "--q: 'one' is not a number"),
    "torque two_link --q joint3=1": (2, "--q: there is no 'joint3'; the names are joint1, joint2"),
    "torque two_link --q up": (2, "--q: there is no configuration named 'up'; the names are home"),
    "torque two_link --srdf auto": (2, "--srdf needs a file; two_link is a bundled robot"),
    "torque two_link --q nan": (2, "--q: every number must be finite, not nan"),
    "torque two_link --wrench tip": (2, "--wrench tip: write it as frame=mx,my,mz,fx,fy,fz"),
    "torque two_link --wrench tip=1": (2, "--wrench tip takes 6 numbers, 1 given"),
    "torque two_link --wrench hand=1,2,3,4,5,6": (2, f"there is no frame or link named 'hand'; valid names: {VALID}"),
    "pose two_link --frame hand": (2, f"there is no frame or link named 'hand'; valid names: {VALID}"),
    "jacobian panda": (
        2, "--frame is needed: robot 'panda' has 3 tips (panda_hand_tcp, panda_leftfinger, panda_rightfinger)"),
    "torque two_link states.txt": (2, "states.txt: states are read from .csv, .parquet, .npz, .mcap or from - (CSV on stdin)"),
    "torque two_link none.csv": (2, "there is no file none.csv"),
    "torque two_link states.csv --q 0 --v 0 --a 0": (
        2, "the options give all of q, v, a; nothing remains to be read from states.csv"),
    "mass two_link states.csv --out m.txt": (
        2, "--out m.txt: the extension must be one of .csv, .json, .parquet, .npz"),
    "mass two_link states.csv --out none/m.csv": (1, "none/m.csv: cannot be written: No such file or directory"),
    "trque two_link": (2, "no such command 'trque'. Did you mean 'torque'?; see torsor --help"),
    "torque": (2, "missing argument 'ROBOT'; see torsor torque --help"),
    "torque two_link --fast": (2, "no such option: --fast (Possible options: --a, --as, --base); see torsor torque --help"),
    "simulate two_link --plot a.doc --seconds 0.01": (2, "--plot a.doc: the extension must be one of .svg, .pdf, .png"),
    "simulate two_link --out a.doc --seconds 0.01": (2, "--out a.doc: the extension must be one of .npz, .csv, .parquet"),
    "mass a.xacro": (2, "a.xacro is xacro, a program that generates URDF; if you trust it, give --xacro run"),
    "mass two_link --xacro run": (2, "--xacro needs a file; two_link is a bundled robot"),
    "simulate two_link --target 0": (2, "--target needs --control pd"),
    "simulate two_link --replay page.txt": (2, "--replay page.txt: the extension must be one of .html, .htm"),
    "demo --replay page.txt": (2, "--replay page.txt: the extension must be one of .html, .htm"),
    "mass two_link --q joint1=1,2": (2, "--q: write '2' as name=number"),
    "simulate two_link --seconds 0": (2, "--seconds must be a positive number, not 0.0"),
    "explain two_link --joint elbow": (2, "--joint: there is no 'elbow'; the names are joint1, joint2"),
    "equations two_link --only K": (2, "--only is one of tau, M, c, g, forces, h, C, Gamma, M_rate, not 'K'"),
    "export two_link --to mr --quantity mass_matrix": (2, "--quantity is for code; --to mr writes the robot itself"),
    "export two_link --to mr --out lists.txt": (2, "--out lists.txt: the extension must be one of .npz, .json"),
    "mass broken.urdf": (1, None),
    "torque two_link states.csv": (
        1, "states.csv: has no v (velocity); name its columns v[joint1] ... or v1 ..., or hold it with --v 0"),
    "mass two_link empty.csv": (1, "empty.csv:1: is empty; a line with the names of the columns was expected"),
    "mass two_link short.csv": (1, "short.csv:3: has 1 cells in this line and 2 columns"),
    "mass two_link words.csv": (1, "words.csv:2: column 'q2' contains 'one', which is not a number"),
    "mass two_link other.csv": (1, "other.csv: has no q of 'joint2'; it has 'joint1', 'elbow'"),
    "mass two_link nan.csv": (1, "nan.csv: q of 'joint2' is nan in row 2 (t = 1 s)"),
    "mass two_link fake.npz": (1, None),
    "mass two_link fake.parquet": (1, None),
    "mass two_link nothing.csv": (1, None),
    "mass two_link numbers.csv": (1, None),
}  # fmt: skip


@pytest.mark.parametrize("words", BAD)
def test_invalid_input_gives_its_exit_code_and_one_error_line(torsor, words):
    for name, text in FILES.items():
        with open(name, "w") as stream:
            stream.write(text)
    code, line = BAD[words]
    ended = torsor(*words.split())
    assert ended.code == code
    assert ended.out == ""
    assert ended.err.startswith("torsor: ")
    assert ended.err.endswith("\n")
    assert ended.err.count("\n") == 1
    assert "bug in torsor" not in ended.err
    if line is not None:
        assert ended.err == f"torsor: {line}\n"
    assert sorted(os.listdir()) == sorted(FILES)  # nothing was written


def test_debug_option_raises_the_error(torsor):
    with pytest.raises(ts.TorsorError, match="did you mean ur5"):
        torsor("torque", "ur55", "--debug")


def test_unexpected_errors_are_reported_as_bugs(torsor, monkeypatch):
    monkeypatch.setattr(ts.Robot, "mass_matrix", lambda *_: 1 / 0)
    ended = torsor("mass", "two_link")
    assert ended.code == 1
    assert ended.err == "torsor: ZeroDivisionError: division by zero; this is a bug in torsor; --debug shows the traceback\n"


def test_missing_library_gives_one_line_with_the_extra(torsor, monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    ended = torsor("equations", "two_link")
    assert ended.code == 1
    assert ended.err.endswith("in a checkout of torsor: pip install '.[symbolic]'\n")
    assert ended.err.count("\n") == 1


def test_warning_is_printed_as_one_line(torsor):
    heavy = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='9' ixy='0' ixz='0' iyz='0'/></inertial>"
    joint = "<joint name='j' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint>"
    with open("odd.urdf", "w") as stream:
        stream.write(f"<robot name='odd'><link name='a'/><link name='b'>{heavy}</link>{joint}</robot>")
    ended = torsor("mass", "odd.urdf", "--json")
    assert ended.code == 0
    assert ended.json["M"] == [[9.0]]
    assert ended.err.startswith("torsor: warning: ")
    assert ended.err.count("\n") == 1


COMMANDS = (
    "info", "check", "view", "demo", "torque", "accel", "mass", "pose", "jacobian", "equations", "explain", "simulate",
    "export", "convert", "verify", "bench", "trajectory",
)  # fmt: skip


def test_version_and_help_are_printed(torsor):
    assert torsor("--version").out == f"torsor {ts.__version__}\n"
    ended = torsor("--help")
    assert ended.code == 0
    for command in COMMANDS:
        assert f" {command} " in ended.out
        assert "--json" in torsor(command, "--help").out


# -- other processes -----------------------------------------------------------------------------------------------

TORSOR = [sys.executable, "-m", "torsor"]
ENV = os.environ | {"PYTHONPATH": str(Path(ts.__file__).parents[1])}


HEADER, ROW = "q1,q2,v1,v2,a1,a2\n", "0.1,0.2,0.3,0.4,0.5,0.6\n"


def states(path, rows: int) -> None:
    path.write_text(HEADER + ROW * rows)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.night)])
def test_interrupted_job_leaves_no_partial_file(tmp_path, sent, code):
    """The job reads from an endless stream, so it cannot finish before the signal.

    A shell without job control starts background jobs that ignore SIGINT, and child processes inherit that.
    """
    (tmp_path / "out.csv").write_text("as it was\n")
    command = [*TORSOR, "torque", "two_link", "-", "--out", "out.csv"]
    job = subprocess.Popen(
        command, cwd=tmp_path, env=ENV, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(sent, signal.SIG_DFL),
    )  # fmt: skip
    job.stdin.write(HEADER + ROW * 150_000)
    job.stdin.flush()
    for _ in range(1000):  # until the job has begun to write
        if any(p.stat().st_size for p in tmp_path.glob("out.csv.*.tmp")):
            break
        time.sleep(0.02)
    job.send_signal(sent)
    _, said = job.communicate(timeout=60)
    assert job.returncode == code
    assert said == "torsor: interrupted; no partial files were left\n"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "as it was\n"


def test_interrupted_simulation_writes_what_was_simulated(torsor, tmp_path, monkeypatch):
    """SIGINT is raised when 0.2 s of the motion are computed, as by Ctrl-C in a terminal."""
    monkeypatch.setattr(
        "torsor.support.progress.Progress.__call__", lambda self, t: t >= 0.2 and signal.raise_signal(signal.SIGINT)
    )
    ended = torsor("simulate", "cart_pole", "--seconds", "100", "--dt", "0.01", "--out", "m.csv", "--plot", "m.svg")
    assert ended.code == 130
    assert re.fullmatch(
        r"torsor: the simulation of 'cart_pole' was interrupted at t = 0\.2\d* of 100 s, step \d+; wrote m.csv, wrote m.svg: "
        r"\d+ records until then\n",
        ended.err,
    )
    kept = ts.simulate.load_result(tmp_path / "m.csv", robot=ts.robots.cart_pole())
    assert 0.2 <= kept.t[-1] < 0.25
    assert len(kept.t) > 20
    assert torsor("simulate", "cart_pole", "--seconds", "100", "--dt", "0.01").err.endswith(" records until then\n")


def test_closed_pipe_is_not_an_error(tmp_path):
    states(tmp_path / "states.csv", 30_000)
    job = subprocess.Popen(
        [*TORSOR, "torque", "two_link", "states.csv"], cwd=tmp_path, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert job.stdout is not None
    assert job.stdout.readline() == b"tau[joint1],tau[joint2]\n"
    job.stdout.close()
    assert job.stderr is not None
    said = job.stderr.read()
    job.stderr.close()
    assert (job.wait(timeout=60), said) == (0, b"")


#: commands whose output goes to a full disk or a closed pipe
STREAMS = ("info two_link", "mass two_link --json", "torque two_link states.csv --a 0", "--version", "torque --help")


@pytest.mark.parametrize("words", STREAMS)
def test_full_disk_is_not_reported_as_a_bug(torsor, monkeypatch, words):
    Path("states.csv").write_text("q1,q2,v1,v2\n0,0,0,0\n")
    with suppress(OSError), open("/dev/full", "w") as full:  # the rest of the buffer cannot be written at close
        monkeypatch.setattr(sys, "stdout", full)
        ended = torsor(*words.split())
    assert ended.code == 1
    assert ended.err.startswith("torsor: ")
    assert ended.err.endswith("No space left on device\n")
    assert ended.err.count("\n") == 1
    assert "states.csv" not in ended.err


@pytest.mark.parametrize("words", STREAMS)
def test_pipe_closed_before_writing_is_not_an_error(torsor, monkeypatch, words):
    Path("states.csv").write_text("q1,q2,v1,v2\n0,0,0,0\n")
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        ended = torsor(*words.split())
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "stream", "code"),
    [("mass two_link", "stdout", 0), ("mass ur55", "stderr", 2), ("mass -", "stdin", 1), ("mass two_link -", "stdin", 1)],
)
def test_closed_standard_stream_is_not_reported_as_a_bug(torsor, monkeypatch, words, stream, code):
    given = {"stdin": None} if stream == "stdin" else {}
    if not given:
        monkeypatch.setattr(sys, stream, None)  # as in Python after torsor ... >&-
    ended = torsor(*words.split(), **given)
    getattr(sys, stream).close()  # close the replacement
    assert ended.code == code
    assert "bug in torsor" not in ended.err


def test_no_python_messages_at_exit(tmp_path):
    """Python flushes closed and full streams again at exit, so this needs real processes."""
    typed = ("info two_link >/dev/full", "mass two_link >&-", "info two_link | head -1")
    jobs = [subprocess.Popen(f"{shlex.join(TORSOR)} {x}", shell=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True, cwd=tmp_path, env=ENV) for x in typed]  # fmt: skip
    full, closed, piped = (job.communicate(timeout=100) for job in jobs)
    assert [job.returncode for job in jobs] == [1, 0, 0]
    assert full[1].endswith("No space left on device\n")
    assert full[1].count("\n") == 1
    assert closed[1] == piped[1] == ""
    assert piped[0].startswith("two_link: 3 links")


def test_terminal_without_unicode_gets_ascii():
    env = ENV | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*TORSOR, "info", "two_link"], env=env, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"joint1: revolute" in done.stdout


def test_commands_import_no_heavy_packages():
    """Otherwise ``torsor --help`` would be slow."""
    code = "import sys, torsor; before = set(sys.modules); import torsor.cli.app; print(*sorted(set(sys.modules) - before))"
    new = subprocess.run([sys.executable, "-c", code], env=ENV, capture_output=True, text=True, check=True).stdout.split()
    ours = {name for name in new if name.startswith("torsor.") and not name.startswith("torsor.cli")}
    assert ours <= {"torsor.errors", "torsor.version"}
    assert not {"numpy", "rich", "scipy", "sympy", "pyarrow"} & set(new)
