"""Unusual names, files and outputs (RELIABILITY G9): exit code, one line with a hint, no partial file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

BYTES = os.fsdecode(b"caf\xe9")  # not valid UTF-8
LONG = "x" * 5000
INERTIAL = "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
URDF = "<robot name='r'><link name='a'/><link name='b'>{}</link>{}</robot>"
JOINT = "<joint name='j' type='prismatic'><parent link='a'/><child link='b'/><axis xyz='0 0 1'/>\
<limit effort='1' velocity='1'/></joint>"
ARM = URDF.format(INERTIAL, JOINT)
STATES = "t,q1\n0,0\n1,0.5\n"
#: name → contents; None is a folder
FILES = {
    "arm.urdf": ARM, "-arm.urdf": ARM, "a b.urdf": ARM, "a\nb.urdf": ARM, f"{BYTES}.urdf": ARM, "ünï.urdf": ARM, "arm": ARM,
    "ur5": ARM, "folder": None, "folder.csv": None, "folder.urdf": None, "empty": "", "empty.urdf": "", "empty.csv": "",
    "empty.npz": "", "empty.parquet": "", "empty.mcap": "", "blank.urdf": " \n", "states.csv": STATES, "-states.csv": STATES,
    "a\nb.csv": STATES, f"{BYTES}.csv": STATES, "bom.csv": f"\ufeff{STATES}", "crlf.csv": STATES.replace("\n", "\r\n"),
    "cut.csv": "t,q1\n0,0\n1,", "quoted.csv": '"t","q[j]"\n0,"0.5"\n', "big.csv": "q1\n1e400\n", "old.csv": "as it was\n",
}  # fmt: skip
TAKEN = "is a directory or a device and cannot be replaced by a file"

#: words → exit code, and a part of what is printed: on stdout if the code is 0, else on stderr
CASES: dict[tuple[str, ...], tuple[int, str]] = {
    # names of robots
    ("mass", "--", "-arm.urdf"): (0, "j   2"),
    ("mass", "./-arm.urdf"): (0, "j   2"),
    ("mass", "-arm.urdf"): (2, "no such option: -a"),
    ("mass", "a b.urdf"): (0, "j   2"),
    ("mass", "a\nb.urdf"): (0, "j   2"),
    ("mass", "a\nc.urdf"): (2, r"there is no file a\nc.urdf"),
    ("mass", f"{BYTES}.urdf"): (0, "j   2"),
    ("mass", f"{BYTES}x.urdf"): (2, r"there is no file caf\udce9x.urdf"),
    ("mass", "ünï.urdf"): (0, "j   2"),
    ("mass", "arm"): (0, "j   2"),
    ("mass", "ur5"): (0, "elbow_joint"),
    ("mass", "./ur5"): (0, "j   2"),
    ("mass", "\x1b[31mred.urdf"): (2, r"there is no file \x1b[31mred.urdf"),
    ("mass", ""): (2, "there is no robot or file named ''; bundled are acrobot"),
    ("mass", LONG): (2, "there is no robot or file named 'xxx"),
    ("mass", f"{LONG}.urdf"): (2, "there is no file xxx"),
    ("mass", "folder"): (1, "folder: is a directory; give the file inside it"),
    ("mass", "folder.urdf"): (1, "folder.urdf: is a directory; give the file inside it"),
    ("mass", "empty"): (1, "empty: is empty; a path or XML was expected"),
    ("mass", "empty.urdf"): (1, "empty.urdf: is empty; a path or XML was expected"),
    ("mass", "blank.urdf"): (1, "blank.urdf: is empty; a path or XML was expected"),
    ("mass", "/dev/null"): (1, "/dev/null: is not a regular file"),
    ("mass", "arm.urdf/inside.urdf"): (2, "there is no file arm.urdf/inside.urdf"),
    ("mass", "arm.urdf", "--loops", "folder"): (1, "folder: is a directory"),
    ("mass", "arm.urdf", "--loops", "none.yaml"): (1, "none.yaml: cannot be read: No such file or directory"),
    ("mass", "arm.urdf", "--gravity", ""): (2, "--gravity takes 3 numbers, 0 given"),
    ("check", "none.urdf"): (2, "there is no file none.urdf"),
    ("check", "folder"): (1, "folder: is a directory"),
    # names of tables
    ("mass", "arm.urdf", "--", "-states.csv"): (0, "1.0,2.0"),
    ("mass", "arm.urdf", "a\nb.csv"): (0, "1.0,2.0"),
    ("mass", "arm.urdf", f"{BYTES}.csv"): (0, "1.0,2.0"),
    ("mass", "arm.urdf", f"{BYTES}x.csv"): (2, r"there is no file caf\udce9x.csv"),
    ("mass", "arm.urdf", "bom.csv"): (0, "1.0,2.0"),
    ("mass", "arm.urdf", "crlf.csv"): (0, "1.0,2.0"),
    ("mass", "arm.urdf", "quoted.csv"): (0, "0.0,2.0"),
    ("mass", "arm.urdf", "cut.csv"): (1, "cut.csv:3: column 'q1' is empty"),
    ("mass", "arm.urdf", "big.csv"): (1, "big.csv:"),
    ("mass", "arm.urdf", "folder.csv"): (2, "folder.csv is a directory; give a file of states"),
    ("mass", "arm.urdf", "folder"): (2, "folder: states are read from .csv"),
    ("mass", "arm.urdf", ""): (2, "STATES: states are read from .csv"),
    ("mass", "arm.urdf", f"{LONG}.csv"): (2, "there is no file xxx"),
    ("mass", "arm.urdf", "empty.csv"): (1, "empty.csv:1: is empty"),
    ("mass", "arm.urdf", "empty.npz"): (1, "empty.npz: is not a readable NPZ file"),
    ("mass", "arm.urdf", "empty.parquet"): (1, "empty.parquet: is not a readable Parquet file"),
    ("mass", "arm.urdf", "empty.mcap"): (1, "empty.mcap: is not a readable MCAP file"),
    # huge arguments
    ("mass", "arm.urdf", "--q", "0," * 100_000): (2, "--q takes 1 numbers, 100000 given: j"),
    ("mass", "arm.urdf", "--q", "z" * 100_000): (2, "is not a number"),
    ("mass", "arm.urdf", "--q", f"{'z' * 100_000}=1"): (2, "the names are j"),
    ("pose", "arm.urdf", "--frame", "z" * 100_000): (2, "valid names: a, b, world"),
    ("mass", "arm.urdf", "--q", "9" * 400): (2, "--q: every number must be finite"),
    # outputs
    ("mass", "arm.urdf", "--out", "old.csv"): (0, "wrote old.csv: 1 row"),
    ("mass", "arm.urdf", "--out", "-new.csv"): (0, "wrote -new.csv: 1 row"),
    ("mass", "arm.urdf", "--out", "a\nnew.csv"): (0, "wrote a\nnew.csv: 1 row"),
    ("mass", "arm.urdf", "--out", f"{BYTES}new.csv"): (0, r"wrote caf\udce9new.csv: 1 row"),
    ("mass", "arm.urdf", "--out", "folder.csv"): (1, f"folder.csv: {TAKEN}"),
    ("mass", "arm.urdf", "--out", "/dev/full"): (2, "--out /dev/full: the extension must be one of .csv"),
    ("mass", "arm.urdf", "--out", "full.csv"): (1, f"full.csv: {TAKEN}"),
    ("mass", "arm.urdf", "--out", "none/new.csv"): (1, "none/new.csv: cannot be written: No such file or directory"),
    ("mass", "arm.urdf", "--out", f"{'x' * 300}.csv"): (1, "cannot be written: File name too long"),
    ("mass", "arm.urdf", "states.csv", "--out", "folder.csv"): (1, f"folder.csv: {TAKEN}"),
    ("mass", "arm.urdf", "cut.csv", "--out", "old.csv"): (1, "cut.csv:3: column 'q1' is empty"),
    ("convert", "arm.urdf", "folder.urdf"): (1, f"folder.urdf: {TAKEN}"),
    ("convert", "arm.urdf", "arm.urdf"): (0, "wrote arm.urdf"),
    ("export", "arm.urdf", "--to", "urdf", "--out", "folder.urdf"): (1, f"folder.urdf: {TAKEN}"),
    ("export", "arm.urdf", "--to", "urdf", "--out", "/dev/full"): (1, f"/dev/full: {TAKEN}"),
    ("simulate", "arm.urdf", "--seconds", "0.01", "--out", "folder.csv"): (1, f"folder.csv: {TAKEN}"),
    ("simulate", "arm.urdf", "--seconds", "0.01", "--replay", "none/page.html"): (1, "none/page.html: cannot be written"),
    ("check", "arm.urdf", "--repair", "folder.urdf"): (1, f"folder.urdf: {TAKEN}"),
}  # fmt: skip


@pytest.fixture
def folder(torsor):
    for name, text in FILES.items():
        if text is None:
            os.mkdir(name)
        else:
            Path(name).write_text(text, newline="")
    os.symlink("/dev/full", "full.csv")
    return torsor


@pytest.mark.parametrize("words", CASES, ids=lambda words: ascii(" ".join(words))[1:60])
def test_awkward_input_gives_one_error_line(folder, words):
    code, part = CASES[words]
    ended = folder(*words)
    assert ended.code == code, ended
    assert part in (ended.err if code else ended.out)
    if code:
        assert ended.err.startswith("torsor: ")
        assert ended.err.count("\n") == 1
        assert len(ended.err) < 2000
        assert ended.err[:-1].isprintable()
    assert "bug in torsor" not in ended.err
    assert not list(Path().rglob("*.tmp"))
    written = {words[words.index(option) + 1] for option in ("--out", "--repair", "--replay") if option in words}
    kept = [name for name in FILES if name not in written or code]
    for name in kept if words[0] != "convert" else ():
        assert Path(name).is_dir() if FILES[name] is None else Path(name).read_bytes() == FILES[name].encode()


def test_out_keeps_file_mode_and_symbolic_link(folder):
    os.chmod("old.csv", 0o640)
    os.symlink("old.csv", "link.csv")
    assert folder("mass", "arm.urdf", "--out", "link.csv").code == 0
    assert os.path.islink("link.csv")
    assert stat.S_IMODE(os.stat("old.csv").st_mode) == 0o640
    assert Path("old.csv").read_text().partition("\n")[2] == "M[j][j]\n2.0\n"  # after the line with the digest


def test_files_without_permission_are_reported(folder):
    os.chmod("arm.urdf", 0)
    if os.access("arm.urdf", os.R_OK):
        pytest.skip("root reads and writes everything")
    assert folder("mass", "arm.urdf").err == "torsor: arm.urdf: cannot be read: Permission denied\n"
    os.chmod("states.csv", 0)
    assert folder("mass", "arm", "states.csv").err == "torsor: states.csv: cannot be read: Permission denied\n"
    os.chmod("folder", 0o500)
    ended = folder("mass", "arm", "--out", "folder/new.csv")
    assert (ended.code, ended.err) == (1, "torsor: folder/new.csv: cannot be written: Permission denied\n")
