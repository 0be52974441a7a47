"""Damaged files of numbers: each raises a typed error or loads exactly the original numbers, whatever byte was changed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import torsor as ts
from torsor import logs
from torsor.errors import FileError, TorsorError
from torsor.simulate.events import Event
from torsor.simulate.files import load_result
from torsor.simulate.rollout_files import load_rollout
from torsor.simulate.studies.record import decode, encode
from torsor.simulate.studies.store import Folder
from torsor.support.digests import MARK


class Kind(NamedTuple):
    """The functions that write a file of one kind and read it as plain numbers and names."""

    path: str
    write: Callable[[Path], None]
    read: Callable[[Path], Any]


def as_bits(x: Any) -> Any:
    """Numbers as bits, so that -0.0 differs from 0.0 and equal NaNs compare equal."""
    if isinstance(x, dict):
        return {k: as_bits(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [as_bits(v) for v in x]
    if isinstance(x, np.ndarray):
        return x.dtype.str, x.shape, x.tobytes()
    return np.float64(x).tobytes() if isinstance(x, float) else x


def run() -> Any:
    arm = ts.robots.two_link()
    low = Event(lambda t, q, v: q[0] + 0.1, name="low")
    push = {"tip": lambda t, q, v: [0, 0, 0, 0, np.sin(9 * t), 0]}
    return arm.simulate([-0.09, 0.2], [0, 0], 0.03, lambda t, q, v: -v, wrenches=push, events=low)


def of_result(path: Path) -> Any:
    x = load_result(path)
    events = [(e.name, e.t, e.q, e.v) for e in x.events]
    return as_bits([x.t, x.q, x.v, x.tau, x.energies, x.residual, dict(x.wrenches), dict(x.states), x.info, events])


def make_rollout() -> Any:
    return ts.robots.two_link().rollout(np.zeros((3, 2)), np.zeros(2), dt=1e-2, steps=4, dtype="float32")


def of_rollout(path: Path) -> Any:
    x = load_rollout(path)
    return as_bits([x.t, x.q, x.v, x.tau, x.info])


def log() -> logs.Log:
    t = np.arange(40) / 10
    q = np.c_[np.sin(t), np.cos(t)]
    return logs.Log(t=t, q=q, v=q, names={"q": ("a", "b"), "v": ("a", "b")}, start=1_700_000_000_123_456_789)


def of_log(path: Path) -> Any:
    x = logs.read(path)
    return as_bits([x.t, x.q, x.v, x.a, x.tau, dict(x.names), x.start])


def of_point(path: Path) -> Any:
    record = Folder(path.parents[1]).get("ab12")
    return as_bits(None if record is None else decode(record))


POINT = {"gain": 2.5, "path": (1, np.linspace(0, 1, 20)), "none": None, "few": np.arange(3), "nan": float("nan")}
KINDS = {
    **{f"result {e}": Kind(f"run.{e}", lambda path: run().save(path), of_result) for e in ("csv", "parquet", "npz")},
    **{
        f"rollout {e}": Kind(f"roll.{e}", lambda path: make_rollout().save(path), of_rollout) for e in ("csv", "parquet", "npz")
    },
    **{f"log {e}": Kind(f"log.{e}", lambda path: log().write(path), of_log) for e in ("csv", "parquet", "npz", "mcap")},
    **{
        f"sweep {e}": Kind(f"ab/ab12.{e}", lambda path: Folder(path.parents[1]).put("ab12", encode(POINT)), of_point)
        for e in ("json", "npz")
    },
}


def damages(data: bytes, count: int, seed: str) -> list[tuple[int, int]]:
    """(position, new byte): half of them with one bit flipped, half with a random byte."""
    rng = random.Random(seed)
    places = [rng.randrange(len(data)) for _ in range(count)]
    return [(at, data[at] ^ (1 << rng.randrange(8) if n % 2 else rng.randrange(1, 256))) for n, at in enumerate(places)]


def loads(kind: Kind, path: Path, data: bytes) -> Any:
    path.write_bytes(data)
    try:
        return kind.read(path)
    except TorsorError:
        return None


def check_damaged(name: str, path: Path, tries: Callable[[bytes], list[tuple[int, int]]]) -> None:
    kind = KINDS[name]
    path = path / kind.path
    path.parent.mkdir(exist_ok=True)
    kind.write(path)
    data, original = path.read_bytes(), kind.read(path)
    outcomes = []
    for at, byte in tries(data):
        found = loads(kind, path, data[:at] + bytes([byte]) + data[at + 1 :])
        assert found is None or found == original, f"byte {at} of {len(data)} from {data[at]} to {byte} loads other numbers"
        outcomes.append(found is None)
    assert any(outcomes)


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_loads_its_original_numbers_or_raises_a_typed_error(tmp_path, name):
    check_damaged(name, tmp_path, lambda data: damages(data, 40, name))


@pytest.mark.night
@pytest.mark.parametrize("name", KINDS)
def test_1200_damaged_files_load_their_original_numbers_or_raise_a_typed_error(tmp_path, name):
    check_damaged(name, tmp_path, lambda data: damages(data, 1200, f"{name} night"))


@pytest.mark.night
@pytest.mark.parametrize("name", ["log parquet", "log npz"])
def test_every_bit_flip_of_the_directory_loads_the_original_numbers_or_raises_a_typed_error(tmp_path, name):
    """These files end with a directory of their parts: one wrong bit there can hide the digest and some of the numbers."""
    check_damaged(
        name, tmp_path, lambda data: [(at, data[at] ^ 1 << n) for at in range(len(data) - 300, len(data)) for n in range(8)]
    )


def test_npz_whose_directory_hides_the_digest_is_refused(tmp_path):
    """One changed byte, the length of the comment, turns all directory entries after the first into comment text."""
    log().write(tmp_path / "log.npz")
    data = bytearray((tmp_path / "log.npz").read_bytes())
    data[data.index(b"PK\x01\x02") + 33] = 1
    (tmp_path / "log.npz").write_bytes(data)
    with pytest.raises(FileError):
        logs.read(tmp_path / "log.npz")


@pytest.mark.parametrize("name", [n for n in KINDS if "csv" in n or "parquet" in n or "json" in n])
def test_a_file_cut_off_anywhere_raises_a_typed_error(tmp_path, name):
    kind = KINDS[name]
    path = tmp_path / kind.path
    path.parent.mkdir(exist_ok=True)
    kind.write(path)
    data = path.read_bytes()
    for size in random.Random(name).sample(range(1, len(data) - 1), 15):
        path.write_bytes(data[:size])
        with pytest.raises(FileError):
            kind.read(path)


def test_csv_edited_by_hand_is_refused_with_the_way_to_load_it(tmp_path):
    log().write(tmp_path / "log.csv")
    lines = (tmp_path / "log.csv").read_text().splitlines(keepends=True)
    assert lines[0].startswith(f"# {MARK} ")
    lines[-1] = "9.5" + lines[-1][lines[-1].index(",") :]
    (tmp_path / "log.csv").write_text("".join(lines))
    with pytest.raises(FileError, match=rf"log\.csv: is damaged, or was changed .* delete its first line \(# {MARK} \.\.\.\)"):
        logs.read(tmp_path / "log.csv")
    (tmp_path / "log.csv").write_text("".join(lines[1:]))
    assert logs.read(tmp_path / "log.csv").t[-1] == 9.5


def test_csv_with_other_digits_of_the_same_numbers_loads(tmp_path):
    """The digest depends on the numbers, not on their text: 0.1 and 1.0e-01 are the same double."""
    log().write(tmp_path / "log.csv")
    before, text = of_log(tmp_path / "log.csv"), (tmp_path / "log.csv").read_text()
    assert "\n0.1," in text
    (tmp_path / "log.csv").write_text(text.replace("\n0.1,", "\n1.00e-01,").replace("\n", "\r\n"))
    assert of_log(tmp_path / "log.csv") == before


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_a_file_with_the_wrong_digest_is_refused_also_when_read_in_pieces(tmp_path, ending):
    """With the digest of other numbers, reading in pieces raises the error at the last piece."""
    log().write(tmp_path / f"log.{ending}")
    other = logs.Log(t=log().t, q=-log().q, v=log().v, names=log().names, start=log().start)
    other.write(tmp_path / f"other.{ending}")
    path = tmp_path / f"log.{ending}"
    swapped = path.read_bytes().replace(digest_in(path), digest_in(tmp_path / f"other.{ending}"))
    if ending == "npz":
        with np.load(path) as stored, np.load(tmp_path / "other.npz") as theirs:
            np.savez(path, **{k: (theirs if k == MARK else stored)[k] for k in stored.files})
    else:
        path.write_bytes(swapped)
    with pytest.raises(FileError, match="do not match its digest"):
        for _ in logs.read_chunks(path, rows=7):
            pass


def digest_in(path: Path) -> bytes:
    if path.suffix == ".csv":
        return path.read_bytes().split()[2]
    if path.suffix == ".npz":
        return str(np.load(path)[MARK]).encode()
    import pyarrow.parquet

    return pyarrow.parquet.read_metadata(path).metadata[MARK.encode()]


def test_files_without_a_digest_load(tmp_path):
    """Such files come from other programs and from versions of torsor that wrote no digests."""
    (tmp_path / "log.csv").write_text("t,q[a]\n0,1\n")
    np.savez(tmp_path / "log.npz", t=np.zeros(1), q=np.ones((1, 1)))
    for ending in ("csv", "npz"):
        assert logs.read(tmp_path / f"log.{ending}").q == [[1.0]]
    path = tmp_path / "ab" / "ab12.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"x": [1.5]}))
    assert decode(Folder(tmp_path).get("ab12")) == {"x": [1.5]}


def test_a_point_of_a_sweep_under_another_key_is_refused(tmp_path):
    Folder(tmp_path).put("ab12", encode({"x": 1.5}))
    (tmp_path / "ab/ab12.json").rename(tmp_path / "ab/ab13.json")
    with pytest.raises(FileError, match=r"do not match its digest.*delete it"):
        Folder(tmp_path).get("ab13")
