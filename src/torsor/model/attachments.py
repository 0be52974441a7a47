"""Parts of a description that belong to its joints and links: rotors, friction laws, force elements, named configurations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import NoneType
from typing import Any

from torsor.errors import ArgumentError, ModelError, UnknownName, require_known
from torsor.model.assembly import assemble
from torsor.model.description import FLOATING_BASE, Description
from torsor.model.forces import Element, GravityCompensation
from torsor.model.named_configurations import make_configuration
from torsor.model.numbers_surgery import moving_joint
from torsor.model.rotor import make_rotor
from torsor.model.sensor import Sensor
from torsor.model.surgery import link_and_pose
from torsor.model.terms.attaching import with_terms
from torsor.model.terms.fields import ForceField
from torsor.support.text import unused_name


def without_lost_sensors(d: Description) -> Description:
    """The robot without sensors whose frame or joint it does not have (any longer), and a line in the report."""
    model = assemble(d) if d.sensors else None
    lost = [name for name, s in d.sensors if model is not None and not s.fits(model)]
    if not lost:
        return d
    note = f"sensors removed, as their frame or the coordinate of their joint is gone: {', '.join(lost)}"
    return d.with_note(note, sensors=tuple((name, s) for name, s in d.sensors if name not in lost))


def with_sensors(d: Description, sensors: Mapping[str, Sensor | None]) -> Description:
    """The robot with sensors by name, in place of those there; None removes one."""
    if not isinstance(sensors, Mapping) or not all(isinstance(s, (Sensor, NoneType)) for s in sensors.values()):
        raise ArgumentError("sensors must be a dict from names to sensors, {'imu': ts.Sensor('accelerometer', 'tip')}, or None")
    model, known = assemble(d), dict(d.sensors)
    for name, s in sensors.items():
        if s is not None:
            s.rows(model)  # an error if it has no place
        elif name not in known:
            raise UnknownName("sensor", name, known)
    made = known | dict(sensors)
    return d.with_note(f"sensors: {', '.join(sensors)}", sensors=tuple((n, s) for n, s in made.items() if s is not None))


def with_rotors(d: Description, rotors: Mapping[str, Any]) -> Description:
    """Replace rotors, by the joint they drive: a dict of the arguments of :meth:`Builder.rotor`, or None to remove it.

    ``link`` is the joint's parent unless given, ``name`` is ``<joint>_rotor``.  The links' inertias are without the rotors'.

    >>> from torsor import robots
    >>> motor = dict(mass=0.1, inertia=(1e-5, 1e-5, 2e-5), ratio=50)
    >>> with_rotors(robots.description("two_link"), {"joint2": motor}).rotors[0].link
    'link1'
    """
    joints = {j.name: j for j in d.joints}
    made = {r.joint: r for r in d.rotors}
    for joint, fields in rotors.items():
        require_known("joint", joint, joints)
        made.pop(joint, None)
        if isinstance(fields, Mapping):
            made[joint] = make_rotor(**{"name": f"{joint}_rotor", "link": joints[joint].parent, **fields, "joint": joint})
        elif fields is not None:
            raise ModelError(f"with_rotors: joint {joint!r}: give a dict(mass=, inertia=, ratio=, ...) or None, not {fields!r}")
    return d.with_note(f"rotors on {', '.join(made) or 'no joint'}", rotors=tuple(made.values()))


def with_actuated(d: Description, joints: Iterable[str] | None) -> Description:
    """Drives at these joints alone; None for drives at all joints."""
    if isinstance(joints, str):
        raise ArgumentError(f"give actuated joints as a list, [{joints!r}], not as a string")
    names, model = None if joints is None else tuple(joints), assemble(d)
    for name in names or ():
        require_known("joint", name, model.joint_names[1:])
        if model.coupling[model.joint_names.index(name)] is not None:
            raise ArgumentError(f"joint {name!r} follows another joint and cannot have a drive of its own")
    return replace(d, actuated=names)


def rotors_as_armature(d: Description) -> Description:
    """Every rotor as an armature of G² J, its mass and standing inertia on its mount: without gyroscopic coupling.

    Exact if no mount rotates.  Most simulators use this model.
    """
    if not d.rotors:
        return d
    own, bodies = {j.name: sum(j.armature) for j in d.joints}, d.bodies
    made = {r.joint: {"armature": (own[r.joint] + r.spin_inertia * (r.ratio * r.ratio),)} for r in d.rotors}
    note = f"as armature, without gyroscopic coupling: rotor {', '.join(r.name for r in d.rotors)}"
    links = tuple(replace(x, inertia=bodies[x.name]) for x in d.links)
    return replace(d, links=links, rotors=()).with_joint_fields(made, note)


def with_friction(d: Description, laws: Mapping[str, Any]) -> Description:
    """The robot with friction laws at the named joints: a law, one per degree of freedom, or None to remove it (MR §8.9.4).

    >>> from torsor import robots
    >>> from torsor.model.friction import Coulomb
    >>> d = with_friction(robots.description("two_link"), {"joint2": Coulomb(0.5)})
    >>> [j.laws for j in d.joints if j.laws]
    [(Coulomb(b_static=0.5),)]
    """
    rows: dict[str, tuple[Any, ...]] = {}
    for name, given in laws.items():
        moving_joint(d, name)
        row = () if given is None else tuple(given) if isinstance(given, (list, tuple)) else (given,)
        for law in row:
            if law is not None and not all(hasattr(law, word) for word in ("steady", "breakaway", "kinetic", "drag", "states")):
                raise ModelError(f"joint {name!r}: {law!r} is not a friction law; see torsor.model.friction.LAWS")
        rows[name] = row if any(law is not None for law in row) else ()
    if not rows:
        return d
    note = "friction: " + ", ".join(f"{name} {_law_names(row)}" for name, row in rows.items())
    return d.with_joint_fields({name: {"laws": row} for name, row in rows.items()}, note)


def _law_names(row: tuple[Any, ...]) -> str:
    return "+".join("none" if law is None else type(law).__name__ for law in row) or "none"


def with_configuration(d: Description, name: str, values: Mapping[str, Any] | None) -> Description:
    """The robot with a named configuration, which replaces one of that name; None removes it."""
    known = [FLOATING_BASE, *(j.name for j in d.joints if j.kind.nq and j.mimic is None)]
    for joint in values if isinstance(values, Mapping) else ():
        if joint not in known and all(joint != j.name for j in d.joints):
            raise UnknownName("joint", joint, known)
    made = [] if values is None else [make_configuration(name, values)]
    return replace(d, configurations=(*(c for c in d.configurations if c.name != name), *made))


def with_forces(d: Description, forces: Mapping[str, Any] | None) -> Description:
    """The robot with force elements at the named links and frames: one, a list, or None to remove those there; None for all.

    >>> from torsor import robots
    >>> from torsor.model.forces import GravityCompensation
    >>> with_forces(robots.description("two_link"), {"link2": GravityCompensation(0.5)}).forces
    (('link2', GravityCompensation(share=0.5)),)
    """
    fields = [term for term in d.terms if isinstance(term, ForceField)]
    others = tuple(term for term in d.terms if term not in fields)
    if forces is None:
        return d.with_note("no force elements", forces=(), terms=others) if d.forces or fields else d
    if not isinstance(forces, Mapping):
        raise ModelError(f"forces must be a dict from links to force elements, not {type(forces).__name__}")
    rows: list[tuple[str, Any]] = []
    kept_fields, fields = [term for term in fields if term.frame not in forces], []
    for at, given in forces.items():
        link, _ = link_and_pose(d, at)
        for element in given if isinstance(given, (list, tuple)) else () if given is None else (given,):
            if isinstance(element, ForceField):
                name = element.name or unused_name(f"{at} field", {term.name for term in fields})
                fields.append(replace(element, frame=at, name=name))
                continue
            if not isinstance(element, Element):
                raise ModelError(f"{at!r}: {element!r} is not a force element; see torsor.forces")
            if isinstance(element, GravityCompensation) and at != link:
                raise ModelError(f"gravity compensation acts on a link; {at!r} is a frame on link {link!r}")
            rows.append((at, element))
    kept = [(at, element) for at, element in d.forces if at not in forces]
    note = "forces: " + (", ".join(f"{at} {type(element).__name__}" for at, element in rows) or "none")
    d = d.with_note(note, forces=(*kept, *rows)) if rows or not fields else replace(d, forces=tuple(kept))
    return with_terms(replace(d, terms=(*others, *kept_fields)), fields)
