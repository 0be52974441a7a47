"""Certificate: compared quantities, differences and tolerances, with the machine and the versions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from os import PathLike
from textwrap import wrap
from typing import Any

from torsor.errors import printable
from torsor.support.text import pad_left, pad_right, width

#: the verdicts of a row
PASS, FAIL, SKIPPED = "pass", "fail", "skipped"

#: how a row is printed: (head, columns of text, pad on the left)
COLUMNS = (
    ("", 7, False),
    ("check", 25, False),
    ("compared", 34, False),
    ("error", 7, True),
    ("allowed", 7, True),
    ("worst at", 23, False),
    ("s", 5, True),
)
#: keys of ``machine`` that identify the machine; the others are versions
PLACE = ("processor", "simd", "system")
#: columns of text that a printed certificate takes
WIDTH = sum(size for _, size, _ in COLUMNS) + 2 * (len(COLUMNS) - 1)


@dataclass(frozen=True)
class CertificateRow:
    """One check.  ``error`` and ``allowed`` are relative to the largest entry of the compared quantity.

    ``verdict`` is "pass", "fail" or "skipped"; ``reason`` explains a skipped or failed row.
    """

    name: str
    equation: str
    verdict: str
    error: float | None = None
    allowed: float | None = None
    place: str = ""
    seconds: float = 0.0
    reason: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text, one word per column."""
        return (
            self.verdict,
            self.name,
            self.equation,
            _power(self.error),
            _power(self.allowed),
            self.place.replace("sample ", "#", 1).replace(",", "", 1),
            f"{self.seconds:.2f}",
        )


@dataclass(frozen=True)
class Certificate:
    """The result of :meth:`torsor.Robot.verify`.  ``print`` it, or see ``rows``, ``passed``, ``to_dict`` and ``save``.

    ``options`` are those of the call, ``machine`` describes processor and versions, ``model`` is the digest of the robot's
    numbers.

    >>> import torsor as ts
    >>> from torsor.checks.certify import verify
    >>> certificate = verify(ts.robots.two_link(), samples=4, peers=False)
    >>> certificate.passed, certificate["RNEA = Lagrange"].verdict
    (True, 'pass')
    """

    robot: str
    model: str
    rows: tuple[CertificateRow, ...]
    options: Mapping[str, Any]
    machine: Mapping[str, Any]

    @property
    def passed(self) -> bool:
        """Whether no check failed, and some were made."""
        return not self.failures and any(row.verdict == PASS for row in self.rows)

    @property
    def failures(self) -> tuple[CertificateRow, ...]:
        """The rows that failed."""
        return tuple(row for row in self.rows if row.verdict == FAIL)

    @property
    def seconds(self) -> float:
        """Duration of all checks [s]."""
        return math.fsum(row.seconds for row in self.rows)

    def __getitem__(self, name: str) -> CertificateRow:
        """One row, by the name of its check."""
        from torsor.errors import UnknownName

        for row in self.rows:
            if row.name == name:
                return row
        raise UnknownName("check", name, [row.name for row in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: infinities and NaN become None."""
        return {
            "robot": self.robot,
            "passed": self.passed,
            "model": self.model,
            "options": dict(self.options),
            "machine": dict(self.machine),
            "rows": [{key: _finite(x) for key, x in asdict(row).items()} for row in self.rows],
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate as JSON, atomically."""
        from torsor.support.files import write_text

        write_text(path, json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    # -- to be read ------------------------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        counts = {word: sum(row.verdict == word for row in self.rows) for word in (PASS, FAIL, SKIPPED)}
        counted = ", ".join(
            f"{n} {word}" for word, n in zip(("passed", "failed", "skipped"), counts.values(), strict=True) if n
        )
        return f"{self.robot}: {'verified' if self.passed else 'NOT VERIFIED'}, {counted} in {self.seconds:.1f} s"

    def __repr__(self) -> str:
        return f"<Certificate of {printable(self.summary)}; print() shows its rows>"

    def __str__(self) -> str:
        lines = [self.summary, ""]
        lines.append(_line([head for head, _, _ in COLUMNS]))
        previous = ""
        for row in self.rows:
            lines.append(_line(row.cells))
            reason = "as above" if row.reason and row.reason == previous else row.reason
            lines += [f"{'':9}{text}" for text in wrap(reason, WIDTH - 9)]
            previous = row.reason
        lines.append("")
        for key, value in self._document().items():
            lines += wrap(f"{key}: {value}", WIDTH, subsequent_indent="  ")
        return "\n".join(map(printable, lines))

    def _repr_html_(self) -> str:
        colors = {PASS: "#2e7d32", FAIL: "#c62828", SKIPPED: "#757575"}
        head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name, _, _ in COLUMNS)
        body = []
        for row in self.rows:
            first, *rest = (escape(cell) for cell in row.cells)
            cells = f"<td style='color:{colors[row.verdict]};font-weight:bold'>{first}</td>"
            body.append(f"<tr>{cells}{''.join(f'<td>{cell}</td>' for cell in rest)}</tr>")
            if row.reason:
                body.append(f"<tr><td></td><td colspan='6' style='text-align:left'><i>{escape(row.reason)}</i></td></tr>")
        facts = "<br>".join(f"{escape(key)}: {escape(str(value))}" for key, value in self._document().items())
        return f"<b>{escape(self.summary)}</b><table><tr>{head}</tr>{''.join(body)}</table><small>{facts}</small>"

    def _document(self) -> dict[str, Any]:
        """Machine and options, printed after the rows."""
        versions = {key: value for key, value in self.machine.items() if key not in ("date", *PLACE)}
        return {
            "model": self.model,
            "asked for": ", ".join(f"{key} = {value}" for key, value in self.options.items()),
            "made": self.machine.get("date", ""),
            "on": "; ".join(str(self.machine[key]) for key in PLACE if key in self.machine),
            "with": ", ".join(f"{key} {value}" for key, value in versions.items()),
        }


def _line(cells: Sequence[str]) -> str:
    """Cells side by side, each cut to its column."""
    parts = []
    for text, (_, size, padded) in zip(cells, COLUMNS, strict=True):
        text = text if width(text) <= size else text[: size - 1] + "…"
        parts.append((pad_left if padded else pad_right)(text, size))
    return "  ".join(parts).rstrip()


def _power(x: float | None) -> str:
    return "" if x is None else "0" if x == 0 else f"{x:.0e}"


def _finite(x: Any) -> Any:
    return None if isinstance(x, float) and not math.isfinite(x) else x
