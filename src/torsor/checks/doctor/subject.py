"""The subject of a check: links and joints as given, their lines and shapes, and the dynamics if the file loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np

from torsor.checks.doctor.codes import CODES
from torsor.checks.doctor.dynamics import Change, Dynamics
from torsor.checks.doctor.finding import Edit, Finding, ProposedRepair
from torsor.checks.doctor.records import JointRecord, LinkRecord, Record
from torsor.checks.doctor.shape import Shape, Shapes
from torsor.errors import FileError
from torsor.io.shared.document import Defect
from torsor.io.shared.start_tags import Tag
from torsor.look.scene.upright import turns_meshes_upright
from torsor.model.description import Description, Geometry
from torsor.scalar import is_constant
from torsor.spatial import Inertia
from torsor.spatial.vector import flat
from torsor.support.locks import cached_property


@dataclass(eq=False)
class Examination:
    """One robot under examination.

    ``description`` is the loaded robot, or None if the file does not load; ``refusals`` are the reasons.  Links and joints are
    also present, as far as they can be read.  ``defects`` are those that the reader tolerates, by element.
    """

    name: str
    file: str
    links: Sequence[LinkRecord]
    joints: Sequence[JointRecord]
    description: Description | None
    shapes: Shapes
    _: KW_ONLY
    refusals: Sequence[FileError] = ()
    tags: Mapping[Any, Tag] = field(default_factory=dict)
    defects: Mapping[Any, Defect] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.link = {link.name: link for link in self.links}
        self.joint = {j.name: j for j in self.joints}
        self.records: list[Record] = [*self.links, *self.joints]

    @property
    def massive(self) -> Iterator[LinkRecord]:
        """The links that have a mass."""
        return (link for link in self.links if link.massive)

    @cached_property
    def dynamics(self) -> Dynamics | None:
        """The mass matrix at a few configurations; None where the robot does not load or is made of symbols."""
        d = self.description
        if d is None or not d.joints:
            return None
        if not all(is_constant(x) for link in d.links for x in flat(link.inertia)):
            return None
        return Dynamics(d)

    def moves(self, link: LinkRecord) -> bool:
        """Whether a joint moves the link; False without a mass matrix."""
        return self.dynamics is not None and self.dynamics.moves(link.name)

    def change(self, link: LinkRecord, G: Inertia) -> Change | None:
        """The largest relative change of M_jj if G is added to the link; None without a mass matrix."""
        return None if self.dynamics is None else self.dynamics.change({link.name: G})

    @cached_property
    def reach(self) -> float:
        """The longest path from the root to a tip along the joint origins [m]: an upper bound of the robot's size."""
        if self.description is None:
            return 0.0
        far, todo = {self.description.root: 0.0}, [self.description.root]
        while todo:
            parent = todo.pop()
            for j in self.description.joints_from(parent):
                far[j.child] = far[parent] + float(np.linalg.norm([float(x) for x in j.origin.r]))
                todo.append(j.child)
        return max(far.values())

    @cached_property
    def turns_meshes_upright(self) -> bool:
        """Whether to turn COLLADA meshes with y up: masses and joints fit them better so (:mod:`torsor.look.scene.upright`)."""
        if self.description is None or not self.shapes.meshes:
            return False
        return turns_meshes_upright(self.description, self.shapes.places)

    def shape(self, geometry: Sequence[Geometry]) -> Shape | None:
        """The shape of these geometries, or None if it cannot be read."""
        return self.shapes.of(geometry, upright=self.turns_meshes_upright) if geometry else None

    # -- where things are -------------------------------------------------------------------------------------------

    def line(self, record: Record, *path: str) -> int | None:
        """The line of an element below a link or joint, or of the nearest one above it that is there."""
        return None if record.element is None else self._line_of(descend(record.element, path)[0])

    def _line_of(self, element: Any) -> int | None:
        tag = self.tags.get(element)
        return element.sourceline if tag is None else tag.line

    def welded_links(self, name: str) -> list[str]:
        """The links welded to a link by fixed joints, including itself."""
        fixed = [j for j in self.joints if j.type == "fixed"]
        group, todo = [name], [name]
        while todo:
            at = todo.pop()
            near = [j.child for j in fixed if j.parent == at] + [j.parent for j in fixed if j.child == at]
            fresh = [n for n in near if n not in group]
            group += fresh
            todo += fresh
        return group

    # -- findings ---------------------------------------------------------------------------------------------------

    def finding(
        self,
        code: str,
        record: Record | None,
        what: str,
        means: str,
        *,
        path: Sequence[str] = (),
        severity: str = "",
        fix: str = "",
        at: Any = None,
        also: Sequence[Record] = (),
        proposal: ProposedRepair | None = None,
    ) -> Finding:
        usual = CODES[code]
        others = tuple(self.names_of(other, *path) for other in also)
        line = None if record is None else self.line(record, *path)
        line = line if at is None else self._line_of(at)  # of an element that the path does not lead to
        element = f"robot {self.name!r}" if record is None else f"{record.kind} {record.name!r}"
        severity = severity or usual.severity
        return Finding(code, severity, element, what, means, fix or usual.fix, self.file, line, others, proposal)

    def group(self, code: str, records: Sequence[Record], what: str, means: str, **how: Any) -> Iterator[Finding]:
        """One finding for all records with the same problem; none without records."""
        if records:
            yield self.finding(code, records[0], what, means, also=records[1:], **how)

    def names_of(self, record: Record, *path: str) -> str:
        line = self.line(record, *path)
        return f"{record.name}" if line is None else f"{record.name} (line {line})"


def local_name(element: Any) -> str:
    """The name of an XML element without its name space."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child_of(element: Any, name: str) -> Any:
    """The first child of that name, or None."""
    return next((child for child in element if local_name(child) == name), None)


def descend(element: Any, path: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """The element at a path of names below another one, or the last that exists on the way, and the rest of the path."""
    for k, name in enumerate(path):
        below = child_of(element, name)
        if below is None:
            return element, path[k:]
        element = below
    return element, ()


def rewrite(element: Any, path: tuple[str, ...], **values: str) -> tuple[Edit, ...]:
    """The edits that give attributes of the element at a path below a link or joint other values; none without a file."""
    if element is None:
        return ()
    at, lacking = descend(element, path)
    return tuple(Edit(at, lacking, attribute, value) for attribute, value in values.items())
