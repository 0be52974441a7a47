"""The table of capabilities: what a part of a robot cannot do yet, with the reason.

Errors, and the table of the page "Composing a machine", are made from it.  A part that is not in the table, and a capability
that is not in its row, is supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torsor.errors import Unsupported
from torsor.model.forces import Drag
from torsor.model.model import Model

#: capability → the words of errors
CAPABILITIES = {
    "derivatives": "a derivative",
    "step": "a step of fixed length in a kernel",
    "energies": "an energy",
    "statics": "an equilibrium and modes",
    "symbols": "symbolic equations",
    "lagrange": "Lagrange's equations",
    "kane": "Kane's equations",
    "stacked": "the stacked form (MR 8.58–8.72)",
    "operators": "the operator form (F&O 23–29)",
    "large": "a large tree",
    "copy": "a copy in another library",
    "without time": "a result that does not depend on time",
    "reach": "inverse kinematics",
    "hybrid": "hybrid dynamics",
    "motors": "motor torques from a motion alone",
    "payload": "a payload capacity",
    "manipulability": "a manipulability",
    "sensors": "a force sensor in a kernel",
    "recursion": "a derivative by recursion in a kernel",
    "task": "a task's kernel",
    "time optimal": "a time-optimal motion along a path",
}

_FORCE = {
    "kane": "they are made from masses and poses alone; use robot.symbolic(), or give it as forces=",
    "copy": "models of other libraries have no place for it",
    "large": "a large tree has bodies and joints alone",
}
_ROWS = {
    "lagrange": "its rows are not in L = K − P; robot.symbolic() has them as A and Ȧv, beside the tree's M, c and g",
    "kane": "its rows are not in Kane's equations of the tree; robot.symbolic() has them as A and Ȧv",
    "copy": "models of other libraries are trees",
    "large": "a large tree has no rows",
    "hybrid": "a prescribed acceleration is one more constraint; use "
    "robot.constrained(torsor.constraints.prescribed(...)).forward_dynamics(q, v, tau)",
    "motors": "they depend on the joints that are driven; use robot.inverse_dynamics(q, v, a)",
    "payload": "it depends on the joints that are driven; use robot.inverse_dynamics(q, v, a, wrenches)",
    "manipulability": "its motion is not every v; robot.velocity_ellipsoid(q, frame) has that of all v that it allows",
    "sensors": "it transmits wrenches beside the joints; use robot.constrained().reactions(q, v, tau)",
    "recursion": "use robot.inverse_dynamics_derivatives or robot.forward_dynamics_derivatives, which solve with its rows",
    "task": "Λ follows from the robot's own forward dynamics; use the methods of robot.task(...)",
}
_ELEMENT = {"stacked": "its wrenches are those of bodies and tips", **_FORCE}
_NO_ENERGY = {"lagrange": "it has no potential energy; use robot.symbolic(), or give it as forces="}
#: part of a robot → {capability: reason}
TABLE: dict[str, dict[str, str]] = {
    "dry friction": {
        "derivatives": "its force jumps at v = 0; use law.smooth(width)",
        "large": _FORCE["large"],
    },
    "friction": {"large": _FORCE["large"]},
    "damping": {"large": _FORCE["large"]},
    "spring": _FORCE,
    "spring without energy": {"energies": "its law does not give the energy; use SpringLaw(torque, stored=...)", **_FORCE},
    "field": {**_NO_ENERGY, **_FORCE},
    "term of one's own": {**_NO_ENERGY, **_FORCE},
    "term of one's own with energy": _FORCE,
    "beam": {
        **dict.fromkeys(("symbols", "lagrange", "kane"), "the sections of a beam make them too large to read"),
        "copy": "its sections share their coordinates, which joints of other libraries do not",
        "large": "its sections share their coordinates",
    },
    "constraint": _ROWS,
    "constraint of time": {
        **_ROWS,
        "statics": "a constraint that moves leaves no equilibrium",
        "without time": "its rows depend on it",
        "reach": "its rows depend on time",
        "time optimal": "its rows depend on time, not on the place on the path",
    },
    "stabilization": {},
    "stop": {},
    "contact": {
        "large": _FORCE["large"],
        "copy": _FORCE["copy"],
        "statics": "which contacts carry depends on the motion before",
        "lagrange": "its forces are not in L = K − P",
        "kane": _FORCE["kane"],
    },
    "actuator": {},
    "actuator with delay": {
        "step": "its delay is a number of steps, known where dt is one number; use robot.rollout or robot.simulate"
    },
    "drive": {},
    "base motion": {
        "statics": "a base that moves leaves no equilibrium",
        "reach": "targets are seen from a base at rest",
        "time optimal": "its forces depend on time, not on the place on the path",
        "lagrange": "its energies are those of a base at rest; torsor.lagrange takes energies that depend on time",
        **_FORCE,
    },
    "rotor": {
        **_FORCE,
        "kane": "they are made from the poses of links, and a rotor spins in its link",
        "stacked": "it has one twist per link, and a rotor spins in its link",
        "operators": "it has one body per joint, and a rotor is geared to a joint from another body",
    },
    "force element": _ELEMENT,
    "drag": {**_NO_ENERGY, **_ELEMENT},
    "mimic joint": {"large": "all joints of a large tree have coordinates of their own"},
}


def refuse(model: Model, capability: str) -> None:
    """Raise Unsupported if a part of the model lacks a capability, with the reason and what to do."""
    terms = ((t.name, t.cannot(model), f"robot.without_terms({t.name!r}) leaves it out") for t in model.terms)
    for name, cannot, remedy in (*terms, *_parts_of_tree(model)):
        if why := cannot.get(capability):
            text = f"{name} of robot {model.name!r} does not have {CAPABILITIES[capability]}: {why}; {remedy}"
            raise Unsupported(text)


def _parts_of_tree(model: Model) -> Iterator[tuple[str, Mapping[str, str], str]]:
    """The parts that are not terms: name, row of the table, remedy."""
    for rotor in model.rotors:
        remedy = "robot.rotors_as_armature() keeps its mass and its apparent inertia, without its gyroscopic coupling"
        yield rotor.name, TABLE["rotor"], remedy
    for force in model.forces:
        row = "drag" if isinstance(force.element, Drag) else "force element"
        yield f"{type(force.element).__name__} at {force.name}", TABLE[row], "robot.with_forces(None) leaves it out"
    for i, coupling in enumerate(model.coupling):
        if coupling is not None:
            yield model.joint_names[i], TABLE["mimic joint"], "robot.lock makes it fixed"
