"""The cells that torsor refuses, as a file; ``python -m tests.composition.survey`` writes it again and prints the shares.

The file only shrinks: a cell that works and is in the file is an error of the tests, and so is one that stopped working.
"""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
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


def try_cell(cell: tuple[Features, str]) -> str:
    """The outcome of a cell; "WRONG" and the error for a wrong result, or an untyped error: the tests fail there."""
    try:
        return outcome(*cell)
    except Exception as error:
        return f"WRONG {type(error).__name__}: {error}"


def main() -> None:
    before, refused = refused_cells() if REFUSED.exists() else set(), set()
    with ProcessPoolExecutor(max_tasks_per_child=200, mp_context=get_context("spawn")) as pool:
        for size in (1, 2):
            tried = [cell for cell in cells(size) if is_installed(cell[1])]
            refused |= {cell for cell in cells(size) if not is_installed(cell[1]) and cell in before}
            for cell, found in zip(tried, pool.map(try_cell, tried, chunksize=8), strict=True):
                if found.startswith("WRONG"):
                    print(f"{' + '.join(cell[0])}: {cell[1]}: {found}", flush=True)
                elif found != "works":
                    refused.add(cell)
            every, shut = len(list(cells(size))), sum(len(features) == size for features, _ in refused)
            print(f"{size} feature(s): {every - shut} of {every} cells work, {1 - shut / every:.1%}", flush=True)
    write(refused)


if __name__ == "__main__":
    main()
