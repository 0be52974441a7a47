"""The cells that torsor refuses, as a file; ``python -m tests.composition.survey`` writes it again and prints the shares.

The file only shrinks: a cell that works and is in the file is an error of the tests, and so is one that stopped working.
"""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from pathlib import Path

from tests.composition.cells import Features, cells, outcome

REFUSED = Path(__file__).with_name("refused.txt")
#: modules of methods that are tried where they are installed (make test-all installs them)
MODULES = {"torch": "torch", "JAX": "jax"}


def is_installed(method: str) -> bool:
    return method not in MODULES or importlib.util.find_spec(MODULES[method]) is not None


def refused_cells() -> set[tuple[Features, str]]:
    """The cells in the file: a line "loop + damping: inverse, vjp" has two."""
    found = set()
    for line in REFUSED.read_text().splitlines():
        features, _, methods = line.partition(": ")
        found |= {(tuple(features.split(" + ")), method) for method in methods.split("; ")}
    return found


def write(refused: set[tuple[Features, str]]) -> None:
    rows: dict[Features, list[str]] = defaultdict(list)
    for size in (1, 2):
        for features, method in cells(size):
            if (features, method) in refused:
                rows[features].append(method)
    REFUSED.write_text("".join(f"{' + '.join(features)}: {'; '.join(methods)}\n" for features, methods in rows.items()))


def main() -> None:
    before, refused = refused_cells() if REFUSED.exists() else set(), set()
    for size in (1, 2):
        tried = list(cells(size))
        for features, method in tried:
            try:
                known = (features, method) in before if not is_installed(method) else outcome(features, method) != "works"
            except Exception as error:  # a wrong result, or an untyped error: the tests fail here
                print(f"WRONG {' + '.join(features)}: {method}: {error}")
                continue
            refused |= {(features, method)} if known else set()
        open_cells = sum(len(features) == size for features, _ in refused)
        print(f"{size} feature(s): {len(tried) - open_cells} of {len(tried)} cells work, {1 - open_cells / len(tried):.1%}")
    write(refused)


if __name__ == "__main__":
    main()
