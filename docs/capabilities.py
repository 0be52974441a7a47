"""Writes the tables of docs/composing.md: what a part of a robot cannot do yet, and the cells of tests/composition.

``python docs/capabilities.py`` makes them from ``torsor.model.terms.capabilities`` and ``tests/composition/refused.txt``; a
test compares.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

from torsor.model.terms.capabilities import CAPABILITIES, TABLE

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "composing.md"
#: the name of a table between the comments around it
BLOCK = re.compile(r"(<!-- made: ([\w-]+) -->)\n.*?(<!-- end of made -->)", re.DOTALL)


def capabilities() -> str:
    """Parts that lack something by capability, ✓ where they have it, and the reasons below."""
    lacking = {part: row for part, row in TABLE.items() if row}
    lines = ["|  | " + " | ".join(CAPABILITIES) + " |", "|---|" + ":-:|" * len(CAPABILITIES)]
    for part, row in lacking.items():
        lines.append(f"| {part} | " + " | ".join("no" if name in row else "✓" for name in CAPABILITIES) + " |")
    full = ", ".join(part for part, row in TABLE.items() if not row)
    lines += ["", f"Nothing is missing for: {full}, and other parts of a robot. The reasons:", ""]
    lines += ["| without | of | because |", "|---|---|---|"]
    for name, words in CAPABILITIES.items():
        reasons: dict[str, list[str]] = defaultdict(list)
        for part, row in lacking.items():
            if name in row:
                reasons[row[name]].append(part)
        lines += [f"| {words} ({name}) | {', '.join(parts)} | {_code(reason)} |" for reason, parts in reasons.items()]
    return "\n".join(lines)


def composition() -> str:
    """The shares of the cells of tests/composition that work, and the single cells that are refused, with the reason."""
    sys.path.insert(0, str(ROOT))
    from tests.composition.cells import cells, reason
    from tests.composition.survey import refused_cells

    refused, lines = refused_cells(), []
    for size, words in ((1, "one feature and one method"), (2, "two features and one of seven methods")):
        every, shut = len(list(cells(size))), sum(len(features) == size for features, _ in refused)
        lines.append(f"* {words}: {every - shut:,} of {every:,} cells work, {1 - shut / every:.1%}")
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for features, method in cells(1):
        if (features, method) in refused:
            rows[features[0], reason(features[0], method)].append(method)
    lines += ["", "| feature | refused | because |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {f} | {', '.join(methods)} | {_code(why)} |" for (f, why), methods in rows.items())])


def fill(text: str) -> str:
    """The page with its tables made again."""
    makers = {"capabilities": capabilities, "composition": composition}
    return BLOCK.sub(lambda m: f"{m[1]}\n\n{makers[m[2]]()}\n\n{m[3]}", text)


#: a call, with calls among its arguments and after it
CALL = re.compile(r"(?:robot|torsor|law|SpringLaw)[\w.]*(?:\((?:[^()]|\([^()]*\))*\)[\w.]*)*|forces=")


def _code(reason: str) -> str:
    """Calls as code."""
    return CALL.sub(lambda m: f"`{m[0]}`" if m[0] not in ("robot", "torsor", "law") else m[0], reason)


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
