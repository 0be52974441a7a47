"""Sensors that torsor has too: gyro, accelerometer, force and torque at a site; jointpos, jointvel and jointactuatorfrc."""

from __future__ import annotations

from collections.abc import Container

from torsor.io.mjcf.selection import SENSOR, Selection, name_of
from torsor.model.sensor import KINDS, Sensor

#: MuJoCo's mjtSensor → the kind of sensor
READ = {
    1: "accelerometer", 3: "gyroscope", 4: "force", 5: "torque", 9: "encoder", 10: "tachometer", 16: "drive_force",
}  # fmt: skip


def read_sensors(chosen: Selection, mimics: Container[int]) -> tuple[tuple[str, Sensor], ...]:
    """The sensors by their names, or by kind and place; noise and cutoff, which MuJoCo's own readings ignore, are reported."""
    m, out = chosen.m, dict[str, Sensor]()
    for s in range(m.nsensor):
        kind, k = READ.get(int(m.sensor_type[s]), ""), int(m.sensor_objid[s])
        at = ""
        if kind:
            of_joint = KINDS[kind].at == "joint"
            at = (chosen.joints if of_joint and k not in mimics else {} if of_joint else chosen.sites).get(k, "")
        if not at:
            chosen.notes.note_ignored("sensor", "torsor has no such instrument, or its joint or site is not read")
            continue
        name = name_of(m, SENSOR, s) or f"{kind}_{at}"
        while name in out:
            name += "_"
        out[name] = Sensor(kind, at)
        for what, value in (("noise", m.sensor_noise[s]), ("cutoff", m.sensor_cutoff[s])):
            if value:
                chosen.notes.note(f"{what} of a sensor not applied", f"{name} {float(value):g}")
    return tuple(out.items())
