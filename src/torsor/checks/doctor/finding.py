"""Finding: problem, place, effect on the dynamics, remedy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torsor.spatial import Inertia

#: from the worst down
SEVERITIES = ("error", "warning", "note")


class Edit(NamedTuple):
    """One attribute to rewrite in an element of the file; without an attribute, the element is removed.

    ``path`` leads to an element below it that the file lacks and the edit makes, such as ("inertial", "mass").
    """

    element: Any
    path: tuple[str, ...] = ()
    attribute: str = ""
    value: str = ""


@dataclass(frozen=True)
class ProposedRepair:
    """A repair by name: the edits that make it, in words, and the inertias that links have after it.

    ``changes_poses`` is True for edits that turn frames: then the change of M is not computed.
    """

    name: str
    says: str
    edits: tuple[Edit, ...]
    inertias_after: Mapping[str, Inertia] = field(default_factory=dict)
    changes_poses: bool = False


@dataclass(frozen=True)
class Finding:
    """One problem of a robot.

    ``code`` a stable name (:mod:`torsor.checks.doctor.codes`); ``severity`` "error" (the dynamics are wrong or do not exist),
    "warning" (most likely a mistake) or "note" (for information); ``element`` the link or joint; ``what`` with its numbers;
    ``means`` for the dynamics; ``fix`` in words; ``repair`` the name of the repair that :func:`torsor.repair` can make, or
    None; ``also`` other links or joints with the same problem.
    """

    code: str
    severity: str
    element: str
    what: str
    means: str
    fix: str
    file: str = ""
    line: int | None = None
    also: tuple[str, ...] = ()
    proposal: ProposedRepair | None = field(default=None, compare=False, repr=False)

    @property
    def repair(self) -> str | None:
        return self.proposal.name if self.proposal is not None and self.proposal.edits else None

    @property
    def place(self) -> str:
        """``file:line`` for editors; the element's name without a file."""
        if not self.file and self.line is None:
            return self.element
        return (self.file or "<string>") + ("" if self.line is None else f":{self.line}")

    def to_dict(self) -> dict[str, Any]:
        """Plain strings, numbers and lists."""
        names = ("code", "severity", "file", "line", "element", "what", "means", "fix", "repair")
        return {name: getattr(self, name) for name in names} | {"also": list(self.also)}
