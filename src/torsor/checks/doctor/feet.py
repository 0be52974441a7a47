"""Feet whose only collision shapes are meshes: robot.with_ground cannot take them."""

from __future__ import annotations

from collections.abc import Iterable

from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.subject import Examination
from torsor.io.shared.notes import short_list
from torsor.model.contact.feet import feet_of
from torsor.model.description import WORLD
from torsor.model.surgery import link_and_pose
from torsor.model.terms.attaching import place_names
from torsor.model.terms.contacts import Contacts


def feet_of_meshes(subject: Examination) -> Iterable[Finding]:
    """foot-of-meshes: of a robot with a floating base, unless the foot has contacts already."""
    d = subject.description
    if d is None or not d.floats:
        return
    terms = (t for t in d.terms if isinstance(t, Contacts))
    in_contact = {link_and_pose(d, name)[0] for t in terms for name in place_names(t) if name != WORLD}
    feet = [subject.link[name] for name in feet_of(d) if name in subject.link and name not in in_contact]
    feet = [link for link in feet if {g.shape for g in link.geometry if g.role == "collision"} == {"mesh"}]
    yield from subject.group(
        "foot-of-meshes", feet, f"meshes are the only collision shapes of {short_list([link.name for link in feet])}",
        "the method with_ground leaves them out, so the robot would fall through the ground", path=("collision",),
    )  # fmt: skip
