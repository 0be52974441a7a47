"""python -m tools.mutants [--sample 600] [--seed 11] [--workers 2] [--limit 120]: mutants of three folders against the tests.

Everything is kept in .mutants/: a snapshot of src and tests, the reach of every test, and a line per mutant in results.jsonl.
A second call goes on where the first stopped; other sources or tests start anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tools.mutants import pool, running
from tools.mutants.places import Place, all_places
from tools.mutants.report import summary

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".mutants"

#: the folders of tests with an oracle of their own for these three; the rest of the tests holds kernels against this source
TESTED = (
    "relations", "operators", "task", "constraints", "textbook", "model", "large", "mechanisms", "compat", "references",
    "certify", "derivatives", "forces", "sensors", "simulate/test_integrators.py",
)  # fmt: skip

BUCKETS = (0.02, 0.1, 0.5, 2.0, 8.0)  # [s] quick tests first, and tests of one file together: they share fixtures


def main() -> None:
    parse = argparse.ArgumentParser(prog="python -m tools.mutants")
    parse.add_argument(
        "--sample", type=int, default=600, help="number of mutants; a smaller sample is the start of a larger one"
    )
    parse.add_argument("--seed", type=int, default=11)
    parse.add_argument("--workers", type=int, default=2)
    parse.add_argument(
        "--limit", type=float, default=120.0, help="seconds of tests per mutant; one that lives as long survives"
    )
    parse.add_argument("--tests", nargs="*", default=TESTED, help="folders or files below tests/")
    parse.add_argument("--only", default="", help="mutants whose file:line:column starts with this, instead of a sample")
    options = parse.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    snapshot = _snapshot(options.tests)
    pool.preload()
    reach = _reach(snapshot, options.tests, options.workers)
    [(_, drift)] = pool.results(["control"], partial(_control, snapshot=snapshot, reach=reach), 1, 600)
    if drift:
        sys.exit(f"the probe differs without a change: {drift}")
    places = all_places(snapshot / "src/torsor")
    total = len(places)
    random.Random(options.seed).shuffle(places)
    places = [p for p in places if p.key.startswith(options.only)] if options.only else places[: options.sample]
    done = {row["key"]: row for row in _rows(HOME / "results.jsonl")}
    todo = [p for p in places if p.key not in done]
    work = partial(_judge, snapshot=snapshot, reach=reach, limit=options.limit)
    started = time.monotonic()
    for n, (place, row) in enumerate(pool.results(todo, work, options.workers, 2 * options.limit + 120), start=1):
        row = {"key": place.key} | (row or {"status": "killed", "by": "the process died or hung"})
        _append(HOME / "results.jsonl", row)
        done[place.key] = row
        print(
            f"{n}/{len(todo)} {time.monotonic() - started:5.0f} s  {row['status']:9} {place.key}  {row.get('by', '')}",
            flush=True,
        )
    print(summary([done[p.key] for p in places], total, time.monotonic() - started))


def _snapshot(tests: Sequence[str]) -> Path:
    """Sources and tests as they are now, so that nobody's editing gets into a run; results of other sources are put aside."""
    sources = [ROOT / "src", ROOT / "tools/mutants", *(ROOT / "tests" / x for x in tests)]
    files = sorted(p for x in sources for p in (x.rglob("*.py") if x.is_dir() else [x]) if p != Path(__file__))
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()
    snapshot = HOME / "snapshot"
    if not (HOME / digest).exists():
        for old in (snapshot, HOME / "results.jsonl", HOME / "reach.jsonl", *HOME.glob("?" * 64)):
            shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
        for folder in ("src", "tests"):
            shutil.copytree(ROOT / folder, snapshot / folder, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", snapshot)
        (HOME / digest).touch()
    return snapshot


def _reach(snapshot: Path, tests: Sequence[str], workers: int) -> list[dict[str, Any]]:
    """Of every test: its time, and the functions it reaches. Made once, a file of tests at a time, and kept."""
    kept = HOME / "reach.jsonl"
    known = {row["file"]: row for row in _rows(kept)}
    found = [p for x in tests for p in sorted((snapshot / "tests").glob(f"{x}/test_*.py" if "." not in x else x))]
    files = [str(p.relative_to(snapshot)) for p in found]
    todo = [f for f in ("probe", *files) if f not in known]
    for file, rows in pool.results(todo, partial(_record_reach, snapshot=snapshot), workers, 600):
        known[file] = {"file": file, "tests": rows or []}
        _append(kept, known[file])
        print(f"reach of {file}: {len(rows or [])} tests", flush=True)
    return list(known.values())


def _record_reach(file: str, snapshot: Path) -> list[dict[str, Any]]:
    running.prepare(snapshot)
    if file == "probe":
        return [_baseline(snapshot)]
    recorder = running.Recorder(snapshot)
    running.run([file], recorder)
    return recorder.rows


def _baseline(snapshot: Path) -> dict[str, Any]:
    from tools.mutants.probe import GROUPS, probe

    with running.Reached(snapshot) as reached:
        numbers = dict(probe())
    if broken := [g.__name__ for g in GROUPS if g.__name__ in numbers]:
        raise RuntimeError(f"the probe raises {numbers[broken[0]]} in {broken[0]}: mend tools/mutants/probe.py first")
    return {"test": "probe", "numbers": numbers, "functions": reached.functions()}


def _control(_: str, snapshot: Path, reach: list[dict[str, Any]]) -> str | None:
    """The unchanged source, in a process of its own: what the probe finds there would make every mutant count."""
    from tools.mutants.probe import difference

    running.prepare(snapshot)
    return difference(_baseline_row(reach)["numbers"])


def _baseline_row(reach: list[dict[str, Any]]) -> dict[str, Any]:
    return next(row["tests"][0] for row in reach if row["file"] == "probe")


def _judge(place: Place, snapshot: Path, reach: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    """Does the probe differ; if so, which test fails first."""
    from tools.mutants.probe import difference

    started = time.monotonic()
    baseline = _baseline_row(reach)
    if not _runs(baseline["functions"], place):
        return {"status": "unreached"}
    running.prepare(snapshot, place)
    try:
        running.set_time_limit(60)
        differs = difference(baseline["numbers"])
    except Exception as error:
        differs = type(error).__name__
    running.set_time_limit(0)
    row: dict[str, Any] = {"status": "same", "probe": differs, "seconds": round(time.monotonic() - started, 2)}
    if differs is None:
        return row
    tests = _order(place, reach)
    chosen = running.Chosen(tests, started + limit)
    for part in _stages(tests):
        chosen.part = part
        running.run(sorted({t.split("::")[0] for t in part}), chosen, "-x")
        if chosen.killer or chosen.late:
            break
    running.set_time_limit(0)
    status = "killed" if chosen.killer else "limit" if chosen.late else "survived"
    times = {"seconds": round(time.monotonic() - started, 2), "processor": round(time.process_time(), 2)}
    return row | times | {"status": status, "by": chosen.killer, "tests": len(tests), "passed": chosen.passed}


def _order(place: Place, reach: list[dict[str, Any]]) -> dict[str, float]:
    """The tests that reach the function of the place, with their times: quick ones first, those of one file together."""
    rows = [x for row in reach if row["file"] != "probe" for x in row["tests"] if _runs(x["functions"], place)]

    def rank(row: dict[str, Any]) -> tuple[int, str, float]:
        return sum(row["seconds"] > b for b in BUCKETS), row["test"].split("::")[0], row["seconds"]

    return {row["test"]: row["seconds"] for row in sorted(rows, key=rank)}


def _stages(tests: dict[str, float]) -> list[list[str]]:
    """A first few seconds of tests, then the others: collecting fewer files is quicker, and most mutants die at once."""
    quick, spent = [], 0.0
    for test, seconds in tests.items():
        spent += seconds
        if spent > 4:
            break
        quick.append(test)
    return [part for part in (quick, [t for t in tests if t not in set(quick)]) if part]


def _runs(functions: list[Any], place: Place) -> bool:
    first, last = place.lines
    return any(f == place.file and (last == 0 or first <= n <= last) for f, n in functions)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _append(path: Path, row: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    sys.exit(main())
