"""``python -m benchmarks.first_minutes [NAME ...]``: the trials, a table, and the record as JSON in benchmarks/results."""

from __future__ import annotations

import json
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.first_minutes.contestants import CONTESTANTS, HERE
from benchmarks.first_minutes.trial import try_contestant

RESULTS = HERE.parent / "results"

#: heading → where its number is in a record
COLUMNS = {
    "install [s]": ("install", "seconds"),
    "megabytes": ("install", "megabytes"),
    "τ: lines": ("inverse", "lines"),
    "τ: first [s]": ("inverse", "first_seconds"),
    "τ: again [s]": ("inverse", "seconds"),
    "5 s of motion: lines": ("simulate", "lines"),
    "[s]": ("simulate", "seconds"),
    "page [s]": ("show", "seconds_to_page"),
    "in the browser, drawn [s]": ("show", "seconds_to_drawn"),
    "moves": ("show", "moving"),
}


def main(names: list[str]) -> None:
    chosen = [c for c in CONTESTANTS if not names or c.name in names]
    records: dict[str, Any] = {}
    for contestant in chosen:
        print(f"{contestant.name} ...", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="first-minutes-") as folder:
            records[contestant.name] = try_contestant(contestant, Path(folder))
            picture = Path(folder) / "picture.png"
            if picture.exists():
                RESULTS.mkdir(exist_ok=True)
                shutil.copy(picture, RESULTS / f"first_minutes_{contestant.name}.png")
    about = {"date": time.strftime("%Y-%m-%d"), "python": platform.python_version(), "machine": platform.machine()}
    print(table(records))
    (RESULTS / "first_minutes.json").write_text(json.dumps({"about": about, "records": records}, indent=1) + "\n")


def table(records: dict[str, Any]) -> str:
    """The records as a Markdown table, and below it what failed and what to know."""
    lines = [f"| | {' | '.join(COLUMNS)} |", "|---|" + "--:|" * len(COLUMNS)]
    for name, record in records.items():
        cells = [record[step].get(key, "-") for step, key in COLUMNS.values()]
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    for name, record in records.items():
        failed = [
            f"{step}: {record[step]['failure']}"
            for step in ("install", "inverse", "simulate", "show")
            if "failure" in record[step]
        ]
        lines += [f"\n{name}: {words}" for words in (*failed, record["remark"]) if words]
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:])
