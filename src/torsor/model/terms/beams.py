"""Links that are beams: sections on joints that share their coordinates η, and the modal stiffness K η + D η̇ (Book 1984).

Each section of a beam is a body of the tree, on a joint whose coordinates are the modes of the link.  One of these joints has
the coordinates, the others follow it with k = 1 and b = 0, as mimic joints do, so that no algorithm knows of beams.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from torsor.errors import ArgumentError, ModelError, require_known
from torsor.model.beams import Beam
from torsor.model.description import Description, Joint, Link, Mimic
from torsor.model.joints.deflection import Deflection
from torsor.model.seat import snap_rounding
from torsor.model.terms.attaching import with_terms
from torsor.model.terms.term import Effort, Term
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Inertia
from torsor.spatial.linear import dot

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.model import Model

#: distance from the root, relative to the length, up to which an attachment counts as fixed to the root
AT_ROOT = 1e-9


@dataclass(frozen=True)
class BeamLink(Term):
    """−(K η + D η̇) on the modes η of a link, D = β K.  The beam takes the place of the link's own inertia.

    Joints, welded links, frames, rotors and loops on the link are attached to the nearest section along the beam's x̂.
    """

    link: str
    beam: Beam
    kind: ClassVar[str] = "beam"
    places: ClassVar[tuple[str, ...]] = ("link",)

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"{self.link} beam"

    @property
    def joint(self) -> str:
        """The joint that has the coordinates η."""
        return f"{self.link}/modes"

    @property
    def added(self) -> tuple[str, ...]:
        """The joint that has the coordinates."""
        return (self.joint,)

    passive = added  # nothing drives a mode

    def describe(self, model: Model) -> str:
        """The modes of the beam."""
        return f"beam with modes {', '.join(self.beam.names)}"

    def coordinates(self, description: Description) -> Description:
        """The description with the link cut into its root, its slices, its tip and the sections that carry something."""
        d, link, beam = description, self.link, self.beam
        if any(j.name == self.joint for j in d.joints):
            return d
        d.link(link)  # an error if there is none
        if not isinstance(beam, Beam):
            raise ArgumentError(f"link {link!r} needs a Beam, not {beam!r}")
        _refuse_force_elements(d, link)
        sections: dict[float, str] = {beam.length: f"{link}/tip"}

        def carry(x: Any, on: str, origin: str) -> Any:
            """What is on the link, a joint, frame, rotor or end of a loop, on the section nearest to it."""
            if getattr(x, on) != link:
                return x
            X = getattr(x, origin)
            along = float(min((X @ beam.origin.inverse).r.x, beam.length))
            if along <= AT_ROOT * beam.length:
                return x
            if beam.length - along <= AT_ROOT * beam.length:
                along = beam.length
            section = sections.setdefault(along, f"{link}/at{along:g}")
            return replace(x, **{on: section, origin: snap_rounding(X @ beam.section_transform(along).inverse)})

        joints = [carry(j, "parent", "origin") for j in d.joints]
        frames = [carry(f, "link", "origin") for f in d.frames]
        rotors = [carry(r, "link", "origin") for r in d.rotors]
        loops = [carry(carry(x, "parent", "origin"), "child", "child_origin") for x in d.loops]
        links = [replace(x, inertia=Inertia.zero()) if x.name == link else x for x in d.links]
        cuts = [(name, beam.section(x), x, Inertia.zero()) for x, name in sections.items()]
        cuts += [(f"{link}/slice{i + 1}", *cut) for i, cut in enumerate(beam.discs())]
        for k, (name, motion, x, I) in enumerate(cuts):  # the tip first: its joint has the coordinates
            links.append(Link(name, I))
            joint, mimic = (name, Mimic(self.joint)) if k else (self.joint, None)
            motion = motion if k else replace(motion, labels=tuple(f"{link}/{mode}" for mode in beam.names))
            joints.append(Joint(joint, motion, link, name, beam.section_transform(x), mimic=mimic))
        return replace(
            d, links=tuple(links), joints=tuple(joints), frames=tuple(frames), rotors=tuple(rotors), loops=tuple(loops)
        )

    def force(self, at: At) -> Effort:
        """−K (η + β η̇)."""
        i = at.body_of(self.joint)
        strain = [x + dx * self.beam.damping for x, dx in zip(at.qs[i], at.vs[i], strict=True)]
        return Effort({i: [-dot(row, strain) for row in self.beam.stiffness]})

    def energy(self, at: At) -> Scalar:
        """½ ηᵀK η."""
        return self._product(at.qs[at.body_of(self.joint)]) / 2

    def heat(self, at: At) -> Scalar:
        """η̇ᵀD η̇."""
        return self._product(at.vs[at.body_of(self.joint)]) * self.beam.damping

    def _product(self, x: Scalars) -> Scalar:
        return dot(x, [dot(row, x) for row in self.beam.stiffness])


def with_beams(d: Description, beams: Mapping[str, Beam | None]) -> Description:
    """The robot with beams for the named links, in place of those there; None makes a link rigid again."""
    if not beams:
        raise ArgumentError("give at least one link with its beam: with_beams({'link': beam(...)})")
    for link in beams:
        require_known("link", link, [x.name for x in d.links])
    made = [BeamLink(x.name, beam) for x in d.links if (beam := beams.get(x.name)) is not None]
    kept = tuple(term for term in d.terms if not (isinstance(term, BeamLink) and term.link in beams))
    return with_terms(replace(d, terms=kept), made)


def beams_of(d: Description) -> list[BeamLink]:
    """The links that are beams, in the order of their modes."""
    return [term for term in d.terms if isinstance(term, BeamLink)]


def with_roots_of_beams(before: Description, after: Description) -> Description:
    """The edited description; ModelError if another joint than before carries a beam, which then is not at its root."""
    movers = [{j.child: j.name for j in d.joints} for d in (before, after)]
    for term in beams_of(after):
        was, now = (mover.get(term.link) for mover in movers)
        if now not in (was, None):
            raise ModelError(
                f"link {term.link!r} is a beam, which joint {was!r} carries at its root and {now!r} would carry elsewhere; "
                f"make it rigid first: robot.without_terms({term.name!r})"
            )
    return after


def rigid_joints(model: Model) -> list[str]:
    """The joints with coordinates other than the modes of beams."""
    return [model.joint_names[i] for i in model.own_joints if not isinstance(model.joint[i], Deflection)]


def _refuse_force_elements(d: Description, link: str) -> None:
    """A beam's sections share its mass, so elements that act on the link as one body have no place."""
    on_link = {link, *(f.name for f in d.frames if f.link == link)}
    found = [name for name, _ in d.forces if name in on_link]
    if found:
        raise ModelError(
            f"link {link!r} is a beam, and {found[0]!r} on it has a force element, which acts on rigid links; "
            "attach the element to a link that the beam carries"
        )
