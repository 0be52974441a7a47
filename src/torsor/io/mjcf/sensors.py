"""Sensors that torsor has too: gyro, accelerometer, force and torque at a site; jointpos, jointvel and jointactuatorfrc."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from lxml import etree
from lxml.etree import _Element as Element

from torsor.io.mjcf.body_elements import Tree
from torsor.io.mjcf.selection import SENSOR, Selection, name_of
from torsor.model.description import FLOATING_BASE, Description, NamedFrame
from torsor.model.sensor import KINDS, Sensor
from torsor.support.text import unused_name

#: MuJoCo's mjtSensor → the kind of sensor
READ = {
    1: "accelerometer", 3: "gyroscope", 4: "force", 5: "torque", 9: "encoder", 10: "tachometer", 16: "drive_force",
}  # fmt: skip
#: the kind of sensor → elements of MJCF, each with the end of its name
WRITTEN = {
    "accelerometer": {"": "accelerometer"}, "gyroscope": {"": "gyro"}, "force": {"": "force"}, "torque": {"": "torque"},
    "force_torque": {"_force": "force", "_torque": "torque"},
    "encoder": {"": "jointpos"}, "tachometer": {"": "jointvel"}, "drive_force": {"": "jointactuatorfrc"},
}  # fmt: skip


# -- reading -------------------------------------------------------------------------------------------------------------


def read_sensors(chosen: Selection, mimics: Container[int]) -> tuple[tuple[str, Sensor], ...]:
    """The sensors by their names, or by kind and place; noise and cutoff, which MuJoCo's own readings ignore, are reported."""
    m, out, taken = chosen.m, dict[str, Sensor](), set[str]()
    for s in range(m.nsensor):
        kind, k = READ.get(int(m.sensor_type[s]), ""), int(m.sensor_objid[s])
        at = ""
        if kind:
            of_joint = KINDS[kind].at == "joint"
            at = (chosen.joints if of_joint and k not in mimics else {} if of_joint else chosen.sites).get(k, "")
        if not at:
            chosen.notes.note_ignored("sensor", "torsor has no such instrument, or its joint or site is not read")
            continue
        name = unused_name(name_of(m, SENSOR, s) or f"{kind}_{at}", taken)
        out[name] = Sensor(kind, at)
        for what, value in (("noise", m.sensor_noise[s]), ("cutoff", m.sensor_cutoff[s])):
            if value:
                chosen.notes.note(f"{what} of a sensor not applied", f"{name} {float(value):g}")
    return tuple(out.items())


# -- writing -------------------------------------------------------------------------------------------------------------


def can_be_written(d: Description, s: Sensor) -> bool:
    """Whether MuJoCo has the instrument: not behind a joint's gear, at joints that are several there, or on massless links."""
    joints = {j.name: j for j in d.joints}
    if s.kind not in WRITTEN:
        return False
    if s.reads == "joint":
        return s.at in joints and joints[s.at].kind.nv == 1 and joints[s.at].mimic is None
    if any(s.at == f.name for f in d.frames):
        return True
    place = _link(d, s.at)
    return bool(place) and Tree(d).weighs(place)


def _link(d: Description, at: str) -> str:
    """A link, or the one behind a joint; "" for the world."""
    links = {link.name: link.name for link in d.links}
    return ({FLOATING_BASE: d.root} | {j.name: j.child for j in d.joints} | links).get(at, "")


def with_sensor_sites(d: Description) -> Description:
    """The robot with a frame for every sensor at a link or joint, as MuJoCo's sensors are at sites; others are left out."""
    frames, taken = {f.name: f for f in d.frames}, {link.name for link in d.links} | {f.name for f in d.frames}
    made, sensors = dict[str, str](), []
    for name, s in d.sensors:
        if not can_be_written(d, s):
            continue
        if s.reads != "joint" and s.at not in frames:
            link = _link(d, s.at)
            if link not in made:
                made[link] = unused_name(f"{link}_sensor", taken)
                frames[made[link]] = NamedFrame(made[link], link)
            s = replace(s, at=made[link])
        sensors.append((name, s))
    return replace(d, frames=tuple(frames.values()), sensors=tuple(sensors))


def sensor_elements(d: Description) -> Element:
    """The <sensor> section of a robot made by :func:`with_sensor_sites`."""
    out, taken = etree.Element("sensor"), set[str]()
    for name, s in d.sensors:
        for end, word in WRITTEN[s.kind].items():
            place = "joint" if s.reads == "joint" else "site"
            etree.SubElement(out, word, {"name": unused_name(name + end, taken), place: s.at})
    return out
