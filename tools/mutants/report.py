"""The outcome of a run in words."""

from __future__ import annotations

from collections import Counter
from typing import Any


def summary(rows: list[dict[str, Any]], places: int, seconds: float) -> str:
    """Counts by outcome, the share that died of those that count, and the survivors."""
    count = Counter(row["status"] for row in rows)
    counted = count["killed"] + count["survived"] + count["limit"]
    share = 100 * count["killed"] / counted if counted else 100.0
    lines = [
        f"{len(rows)} of {places} places: {count['unreached']} unreached by the probe, {count['same']} without a difference,",
        f"{counted} count, and {share:.1f} % of these died: {count['killed']}; {count['survived']} survived every test that",
        f"reaches them, {count['limit']} the limit of time. {seconds:.0f} s for those judged now.",
    ]
    lines += [f"  survived: {row['key']}  ({row['probe']})" for row in rows if row["status"] in ("survived", "limit")]
    return "\n".join(lines)
