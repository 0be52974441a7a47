"""Kernel cache with damaged files and folders: no crash, no wrong result, one warning (RELIABILITY F)."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import torsor as ts
from torsor.compile import Argument, Kernel, build, cache, entry, record
from torsor.compile.llvm import native

X = np.random.default_rng(0).normal(size=(9, 2))
EXPECTED = np.stack([X[:, 0] * X[:, 1], X[:, 0] - X[:, 1]], axis=1)


def new_kernel(**options) -> Kernel:
    """A kernel whose machine code is not loaded in this process."""
    build._libraries.clear()  # equal kernels share their machine code
    return Kernel(record(lambda x: {"y": [x[0] * x[1], x[0] - x[1]]}, [Argument("x", (2,))]), **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    entry.machine_code()  # compiled once per process; not counted here
    path = tmp_path / "cache"
    monkeypatch.setenv("TORSOR_CACHE", str(path))
    monkeypatch.setattr(cache, "_warned", set())
    return path


def files(folder):
    return sorted(folder.glob("*.o"))


def count_compilations(monkeypatch) -> list[int]:
    """A list that grows with every compilation."""
    count: list[int] = []
    original = native.compile_ir

    def counting(ir):
        count.append(1)
        return original(ir)

    monkeypatch.setattr(native, "compile_ir", counting)
    return count


def test_equal_kernel_is_loaded_from_the_cache_and_not_compiled(folder, monkeypatch):
    count = count_compilations(monkeypatch)
    assert (new_kernel()(X) == EXPECTED).all()
    assert (new_kernel()(X) == EXPECTED).all()
    assert len(count) == 1
    (file,) = files(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600


def damaged_versions(data: bytes):
    rng = np.random.default_rng(1)
    for _ in range(50):
        flipped = bytearray(data)
        flipped[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
        yield bytes(flipped)
    for percent in range(0, 100, 5):
        yield data[: len(data) * percent // 100]
    yield data + b"more"
    yield rng.bytes(len(data))
    yield cache.MAGIC


def test_damaged_cache_file_is_replaced_with_a_warning(folder):
    assert (new_kernel()(X) == EXPECTED).all()
    (file,) = files(folder)
    whole = file.read_bytes()
    for data in damaged_versions(whole):
        file.write_bytes(data)
        cache._warned.clear()
        with pytest.warns(ts.CacheWarning, match="is damaged"):
            assert (new_kernel()(X) == EXPECTED).all()
        assert file.read_bytes() == whole


def plant_pipe(path, whole):
    os.mkfifo(path, 0o600)


def plant_link(path, whole):
    kept = path.with_name("kept")
    kept.write_bytes(whole)
    kept.chmod(0o600)
    path.symlink_to(kept)


def plant_directory(path, whole):
    path.mkdir()


def plant_file_of_another_user(path, whole):
    path.write_bytes(whole)
    os.chown(path, 12345, -1)


def plant_file_writable_by_others(path, whole):
    path.write_bytes(whole)
    path.chmod(0o666)


def plant_huge_file(path, whole):
    path.write_bytes(whole)
    os.truncate(path, cache.LARGEST + 1)  # sparse


PLANTED = {
    plant_pipe: "not a regular file",
    plant_link: "symbolic link",
    plant_directory: "not a regular file|[Dd]irectory",
    plant_file_of_another_user: "belongs to another user",
    plant_file_writable_by_others: "others can write it",
    plant_huge_file: "larger than 256 MB",
}


@pytest.mark.parametrize("plant", PLANTED)
def test_cache_loads_only_regular_files_owned_by_the_user(folder, plant, monkeypatch):
    if plant is plant_file_of_another_user and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    assert (new_kernel()(X) == EXPECTED).all()
    (file,) = files(folder)
    whole = file.read_bytes()
    file.unlink()
    plant(file, whole)
    count = count_compilations(monkeypatch)
    with pytest.warns(ts.CacheWarning, match=PLANTED[plant]):
        assert (new_kernel()(X) == EXPECTED).all()
    assert len(count) == 1  # compiled, not loaded
    if plant is not plant_directory:
        assert file.read_bytes() == whole  # the planted file is replaced
        assert file.stat().st_uid == os.geteuid()
        assert file.stat().st_mode & 0o777 == 0o600


def test_cache_file_with_code_of_another_kernel_is_not_run(folder):
    other = Kernel(record(lambda x: {"y": [x[0] + 1, x[1] + 2]}, [Argument("x", (2,))]))
    other(X)
    (theirs,) = files(folder)
    new_kernel()(X)
    ours = next(f for f in files(folder) if f != theirs)
    ours.write_bytes(theirs.read_bytes())
    with pytest.warns(ts.CacheWarning, match="is damaged"):
        assert (new_kernel()(X) == EXPECTED).all()


def test_cache_key_depends_on_everything_that_changes_the_code(folder, monkeypatch):
    """RELIABILITY F3: a change of program, precision, form, torsor, CPU, features, width, FMA or LLVM gives a new file."""
    count = count_compilations(monkeypatch)
    new_kernel()(X)
    h = native.host()
    same = (h.triple, h.cpu, h.features, h.width, h.fma, h.llvm)
    changes = {
        "precision": lambda: new_kernel(dtype=np.float32),
        "program": lambda: Kernel(record(lambda x: {"y": [x[0] * x[1], x[0] - 2 * x[1]]}, [Argument("x", (2,))])),
    }
    hosts = {
        "features": (*same[:2], h.features + ",+sse2", *same[3:]),
        "width": (*same[:3], 2, *same[4:]),
        "fma": (*same[:4], not h.fma, *same[5:]),
        "llvm": (*same[:5], (0, 0, 1)),
    }
    for k, make in enumerate(changes.values(), start=2):
        make()(X)
        assert len(files(folder)) == k
    monkeypatch.setattr(native, "compile_ir", lambda ir: b"")  # only the file name matters here
    names = set()
    monkeypatch.setattr(cache, "load", lambda name: names.add(name))
    monkeypatch.setattr(cache, "store", lambda name, image: None)
    for changed in (same, *hosts.values(), (h.triple, "another-cpu", *same[2:])):
        monkeypatch.setattr(native, "host", lambda changed=changed: native.Host(*changed))
        with pytest.raises(ts.CompileError):
            new_kernel()(X)
    assert len(names) == 6
    assert len(count) == 3


def expect_memory_only(message):
    with pytest.warns(ts.CacheWarning, match=message) as caught:
        results = [new_kernel()(X), new_kernel()(X)]
    assert all((y == EXPECTED).all() for y in results)
    assert len([w for w in caught if issubclass(w.category, ts.CacheWarning)]) == 1


def test_cache_folder_writable_by_others_is_not_used(folder):
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    expect_memory_only("can be written by others")
    assert not files(folder)


def test_link_or_file_in_place_of_the_cache_folder_is_not_used(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    expect_memory_only("not a folder")
    folder.unlink()
    folder.write_text("")
    cache._warned.clear()
    expect_memory_only("not a folder")


def test_cache_folder_of_another_user_is_not_used(folder, monkeypatch):
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(folder).st_uid + 1)
    expect_memory_only("belongs to another user")


def test_full_disk_gives_one_cache_warning_and_correct_results(folder, monkeypatch):
    import tempfile

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    expect_memory_only("No space left")


def test_disk_full_while_writing_leaves_no_partial_cache_file(folder):
    """A process with a file size limit of 100 bytes leaves no partial file."""
    code = (
        "import resource, signal, sys, warnings, numpy as np\n"
        "sys.dont_write_bytecode = True\n"  # or Python would leave truncated .pyc files of torsor
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "import torsor as ts\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    M = ts.robots.two_link().mass_matrix(np.zeros(2))\n"
        "print(M.shape, [w.category.__name__ for w in caught])\n"
    )
    command = [sys.executable, "-B", "-c", code]  # -B: truncated bytecode of torsor would break later processes
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "(2, 2) ['CacheWarning']"
    assert not list(folder.iterdir())


def test_cache_is_off_without_home_folder_or_with_torsor_cache_off(folder, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setenv("TORSOR_CACHE", "off")
        assert cache.directory() is None
        assert (new_kernel()(X) == EXPECTED).all()
        monkeypatch.delenv("TORSOR_CACHE")
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
        assert cache.directory() is None
        assert (new_kernel()(X) == EXPECTED).all()
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(cache.directory()) == "/somewhere/torsor"


def test_cache_folder_deleted_between_calls_is_made_again(folder):
    new_kernel()(X)
    for f in files(folder):
        f.unlink()
    folder.rmdir()
    assert (new_kernel()(X) == EXPECTED).all()
    assert len(files(folder)) == 1


def test_cache_removes_old_files_above_its_capacity(folder, monkeypatch):
    monkeypatch.setattr(cache, "CAPACITY", 4)
    monkeypatch.setattr(cache, "PRUNING", 0)
    for k in range(9):
        Kernel(record(lambda x, k=k: {"y": [x[0] + k]}, [Argument("x", (2,))]))(X)
    assert len(files(folder)) <= 4


def test_concurrent_removal_of_cache_files_is_tolerated(folder, monkeypatch):
    monkeypatch.setattr(cache, "CAPACITY", 4)
    for k in range(6):
        cache.store(f"{k + 1:064x}"[::-1], b"code")  # names that do not begin with 0: nothing is removed
    (gone,) = (f for f in files(folder) if f.name.startswith("1"))
    written = cache._write_time

    def removed_meanwhile(path):
        gone.unlink(missing_ok=True)
        return written(path)

    monkeypatch.setattr(cache, "_write_time", removed_meanwhile)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.store("0" * 64, b"code")
    assert not gone.exists()
    assert len(files(folder)) <= 4


@pytest.mark.parametrize("rounds", [1, pytest.param(50, marks=pytest.mark.night)])
def test_sixteen_processes_with_an_empty_cache_agree_and_leave_no_partial_file(tmp_path, rounds):
    """RELIABILITY F2: none fails, all agree, no partial file is left; the processes are forked to run simultaneously."""
    code = (
        "import os, sys, warnings, numpy as np, torsor as ts\n"
        "warnings.simplefilter('error')\n"
        "q = np.linspace(0, 1, 2)\n"
        "ts.robots.two_link().mass_matrix(q)\n"  # imports the compiler once for all processes
        "for folder in sys.argv[1:]:\n"
        "    os.environ['TORSOR_CACHE'] = folder\n"
        "    children = []\n"
        "    for _ in range(16):\n"
        "        children.append(os.fork())\n"
        "        if not children[-1]:\n"
        "            r = ts.robots.furuta()\n"
        "            found = r.mass_matrix(q).tobytes().hex() + r.inverse_dynamics(q, q, q).tobytes().hex()\n"
        "            os.write(1, found.encode() + b'\\n')\n"
        "            os._exit(0)\n"
        "    assert all(os.waitpid(child, 0)[1] == 0 for child in children)\n"
    )
    folders = [tmp_path / str(k) for k in range(rounds)]
    command = [sys.executable, "-c", code, *map(str, folders)]
    alone = {**os.environ, "TORSOR_CACHE": "off", "OPENBLAS_NUM_THREADS": "1"}  # forking is unsafe with threads
    answers = subprocess.run(command, capture_output=True, text=True, check=True, env=alone).stdout.splitlines()
    assert len(answers) == 16 * rounds
    assert len(set(answers)) == 1
    for folder in folders:
        assert all(f.suffix == ".o" for f in folder.iterdir())
        assert len(files(folder)) == 6  # two kernels with three files each: facts, name of the code, code
