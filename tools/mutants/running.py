"""Inside a child: torsor from a snapshot of the source, changed at one place in memory, and pytest on a choice of tests."""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
import time
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

from tools.mutants.places import FOLDERS, Place, mutate

LONGEST = 30.0  # [s] a test that takes longer, traced and without kernel caches, is not used
MEMORY = 6 << 30  # [bytes] of address space: a mutant that allocates without end dies alone


class Mutated(importlib.machinery.SourceFileLoader):
    """A loader that compiles a changed tree instead of the file; nothing is written, so no cache can keep it."""

    tree: ast.Module

    def get_code(self, fullname: str) -> Any:
        return compile(self.tree, self.path, "exec", dont_inherit=True)


class Finder:
    """Finds one module, and leaves the others to Python."""

    def __init__(self, module: str, path: Path, tree: ast.Module):
        self.module, self.path, self.tree = module, path, tree

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.module:
            return None
        loader = Mutated(name, str(self.path))
        loader.tree = self.tree
        return importlib.util.spec_from_file_location(name, self.path, loader=loader)


def prepare(snapshot: Path, place: Place | None = None) -> None:
    """torsor and tests from the snapshot, kernel caches off, and the change, if there is one."""
    os.chdir(snapshot)
    os.environ["TORSOR_CACHE"] = "off"
    sys.path[:] = [str(snapshot / "src"), str(snapshot), *(x for x in sys.path if "torsor" not in x)]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if place is not None:
        path = snapshot / "src/torsor" / place.file
        module = "torsor." + place.file.removesuffix(".py").replace("/", ".")
        sys.meta_path.insert(0, Finder(module, path, mutate(path, place.index)))  # type: ignore[arg-type]


class TooLong(Exception):
    """A computation that ran into its limit."""


def set_time_limit(seconds: float) -> None:
    """Raise :class:`TooLong` after this many seconds of processor time; 0 for no limit."""

    def stop(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)


class Reached:
    """Which functions of the three folders run, by (file, first line)."""

    def __init__(self, snapshot: Path):
        self.prefix = str(snapshot / "src/torsor") + os.sep
        self.codes: set[Any] = set()

    def __enter__(self) -> Reached:
        self.codes = set()
        add = self.codes.add
        sys.settrace(lambda frame, event, argument: add(frame.f_code))  # calls alone: no lines are traced
        return self

    def __exit__(self, *_: Any) -> None:
        sys.settrace(None)

    def functions(self) -> list[tuple[str, int]]:
        files = ((c.co_filename.removeprefix(self.prefix), c.co_firstlineno) for c in self.codes)
        return sorted({(f, n) for f, n in files if f.split(os.sep)[0] in FOLDERS})


def forget() -> None:
    """Empty the caches of torsor's functions: the second test that needs a kernel would not reach what it is recorded from."""
    modules = [m for name, m in sys.modules.items() if name.startswith("torsor.") and not name.startswith("torsor.compile")]
    for function in {x for m in modules for x in vars(m).values() if isinstance(x, _lru_cache_wrapper)}:
        function.cache_clear()


class Recorder:
    """A pytest plugin: of each test that passes, how long it took and which functions it reached, at import or when called."""

    def __init__(self, snapshot: Path):
        self.reached, self.rows, self.started = Reached(snapshot), [], 0.0
        self.imported: list[tuple[str, int]] = []

    def pytest_collection(self) -> None:
        self.reached.__enter__()

    def pytest_collection_finish(self) -> None:
        self.reached.__exit__()
        self.imported = self.reached.functions()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        forget()
        set_time_limit(LONGEST)
        self.started = time.process_time()  # what else the machine does is not counted
        self.reached.__enter__()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.passed:
            self.reached.__exit__()
            seconds = time.process_time() - self.started
            functions = sorted({*self.imported, *self.reached.functions()})
            self.rows.append({"test": report.nodeid, "seconds": round(seconds, 4), "functions": functions})


class Chosen:
    """A pytest plugin: one part of the tests alone, in its order, each with a limit of time; the first failure is kept."""

    def __init__(self, seconds: dict[str, float], deadline: float):
        self.seconds, self.deadline = seconds, deadline
        self.part: list[str] = []
        self.killer, self.passed, self.late = "", 0, False

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        order = {test: k for k, test in enumerate(self.part)}
        items[:] = sorted((x for x in items if x.nodeid in order), key=lambda x: order[x.nodeid])

    def pytest_runtest_protocol(self, item: Any) -> None:
        set_time_limit(20 + 10 * self.seconds[item.nodeid])
        if time.monotonic() > self.deadline:
            self.late, item.session.shouldstop = True, "out of time"

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.killer:
            self.killer = report.nodeid
        self.passed += report.when == "call" and report.passed

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.killer:
            self.killer = report.nodeid  # a module that cannot be imported


def run(files: list[str], plugin: Any, *options: str) -> int:
    """pytest on these files with a plugin; Hypothesis does not shrink: the first counterexample will do."""
    import hypothesis
    import pytest

    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile("mutants", max_examples=15, deadline=None, derandomize=True, phases=phases)
    options = ("-q", "--assert=plain", "-p", "no:cacheprovider", "--hypothesis-profile", "mutants", *options)
    return int(pytest.main([*options, *files], plugins=[plugin]))
