"""All codes of findings: usual severity, title and remedy.  docs/check.md explains each."""

from __future__ import annotations

from typing import NamedTuple

#: an inertia that a single link cannot have, while the sums of inertias that move the joints may be right
_IMPOSSIBLE = (
    "compare it with its source: CAD gives the inertia of each link; identification from motions gives only sums over links, "
    "which may be right, and needs physical bounds for each link"
)


class Code(NamedTuple):
    severity: str
    title: str
    fix: str


CODES: dict[str, Code] = {
    # -- the file ------------------------------------------------------------------------------------------------
    "file-refused": Code("error", "torsor cannot load the file", "correct the element"),
    "xml-declaration": Code(
        "warning", "an invalid XML declaration", 'write <?xml version="1.0"?> at the start of the file, or no declaration'
    ),
    "element-twice": Code("warning", "a second element where one belongs", "remove the wrong one"),
    "world-undeclared": Code("warning", "the link 'world' is not declared", 'declare it: <link name="world"/>'),
    "shape-unreadable": Code("warning", "a shape that cannot be read", "correct or remove the <visual> or <collision>"),
    "mesh-scale-numbers": Code("warning", "the scale of a mesh has one or four numbers", "give three numbers"),
    "prefix-undeclared": Code(
        "warning", "a name space prefix is not declared", 'declare it: <robot xmlns:prefix="...">, or remove the elements'
    ),
    "xacro-call": Code("warning", "a call of a xacro macro is left over", "run xacro on its source again, or remove the call"),
    "mesh-unreachable": Code(
        "warning",
        "mesh file not found or not readable",
        "give its parent folder (roots=, --mesh-root), or correct the file name",
    ),
    "mesh-up-axis": Code("note", "meshes with y up", "export them with z up, which all readers interpret in the same way"),
    "mesh-scale": Code("warning", "a mesh is far larger than the robot", 'give the mesh scale="0.001 0.001 0.001"'),
    "shape-size": Code("warning", "a shape is far larger than the robot", "give its size in metres"),
    # -- mass ----------------------------------------------------------------------------------------------------
    "mass-negative": Code("error", "a mass is negative", "give the mass of the link [kg]"),
    "mass-missing-matters": Code(
        "error", "all links moved by a joint are massless", "give the link its mass and inertia, or the joint an armature"
    ),
    "mass-missing-harmless": Code("note", "massless links that do not matter", "nothing to do"),
    "mass-missing-with-shape": Code(
        "note", "links with a shape and no mass", "give their mass, unless it is included in another link"
    ),
    "mass-units": Code("warning", "a mass looks like grams", "divide the mass by 1000"),
    "mass-far-from-mesh": Code("warning", "implausible density", "weigh the link, or correct the mesh's scale"),
    # -- inertia -------------------------------------------------------------------------------------------------
    "inertia-not-positive": Code("warning", "a principal moment is negative", _IMPOSSIBLE),
    "triangle-inequality": Code("warning", "a principal moment exceeds the sum of the others", _IMPOSSIBLE),
    "inertial-incomplete": Code(
        "warning", "mass or inertia is missing in <inertial>", "give the mass and all six entries of the inertia"
    ),
    "moment-without-mass": Code("warning", "an inertia without a mass", "give the mass, or omit <inertial>"),
    "point-mass": Code("note", "a mass without inertia", "give the inertia of the link about its centre of mass"),
    "inertia-too-small": Code("note", "an inertia too small for any material", "give the inertia of the link [kg·m²]"),
    "inertia-placeholder": Code("note", "placeholder inertia", "take mass and inertia from the CAD model"),
    "inertia-copied": Code(
        "note", "same inertia on links of different shapes", "take the inertia of each link from the CAD model"
    ),
    "inertia-units": Code("warning", "an inertia in other units", "write it in kg·m²: 1 kg·mm² = 1e-6, 1 g·mm² = 1e-9"),
    "inertia-about-wrong-frame": Code(
        "warning", "an inertia about the link's origin", "URDF needs it about the centre of mass: subtract m (c·c 1 − c cᵀ)"
    ),
    "inertia-axes-swapped": Code(
        "warning", "an inertia in other axes", "export it in the axes of the <inertial> origin, or give those axes as its rpy"
    ),
    "inertia-products-sign": Code(
        "warning",
        "products of inertia with the other sign",
        "URDF's ixy is −∫ x y dm; SolidWorks' Lxy is +∫ x y dm: change the sign of ixy, ixz and iyz",
    ),
    "inertia-far-from-mesh": Code("warning", "an inertia that does not fit the shape", _IMPOSSIBLE),
    # -- centre of mass ------------------------------------------------------------------------------------------
    "com-units": Code("warning", "a centre of mass in millimetres", "write it in metres"),
    "com-outside-geometry": Code(
        "warning", "a centre of mass outside the body", "give it in the frame of the link [m], not of the CAD model"
    ),
    # -- pairs ---------------------------------------------------------------------------------------------------
    "left-right-asymmetry": Code(
        "warning", "left and right differ", "correct the wrong side, unless the difference is intended"
    ),
    "left-right-unmirrored": Code("warning", "left and right are not mirror images", "mirror one of them"),
    # -- joints --------------------------------------------------------------------------------------------------
    "rpy-degrees": Code("warning", "angles of an <origin> look like degrees", "write them in radians"),
    "axis-not-unit": Code("warning", "an axis is not of length one", "scale it to length one"),
    "axis-missing": Code("note", "a moving joint without axis", 'write <axis xyz="..."/>'),
    "limits-locked": Code("warning", "a joint that cannot move", "give lower and upper, or make the joint fixed"),
    "limits-missing": Code("note", "joints without limits", "give <limit>, or make them continuous"),
    "limits-incomplete": Code(
        "warning", "a <limit> without effort or velocity", "give effort [N·m, N] and velocity [rad/s, m/s]"
    ),
    "limits-reversed": Code("warning", "a lower limit above the upper one", "exchange them"),
    "limits-degrees": Code("warning", "limits that look like degrees", "write them in radians"),
    "limits-millimetres": Code("warning", "limits that look like millimetres", "write them in metres"),
    "limits-huge": Code("note", "limit so large that it means no limit", "omit the attribute, or give the real limit"),
    "limits-exclude-zero": Code("note", "zero is outside the limits", "nothing to do; start from another configuration"),
    "effort-zero": Code("warning", "effort limit is zero", "give the largest force, unless the joint is passive"),
    "velocity-zero": Code("warning", "velocity limit is zero", "give the largest velocity"),
    "mimic-leader-missing": Code("error", "the leader of a mimic joint does not exist", "name a joint of this file"),
    "mimic-cycle": Code("error", "mimic joints form a cycle", "remove the mimic of one of them"),
    "mimic-zero": Code("warning", "a mimic with multiplier zero", "give the multiplier, or make the joint fixed"),
    "mimic-chain": Code("note", "a mimic of a mimic", "nothing to do; some readers do not support chains"),
    "mimic-dropped": Code("note", "a mimic that has no effect", "remove it, or use a moving joint type"),
    "mimic-limits": Code("note", "a mimic joint can leave its limits", "match the limits: lower ≤ k q + b ≤ upper"),
    # -- the whole -----------------------------------------------------------------------------------------------
    "mass-matrix-not-positive": Code("error", "the mass matrix is not positive definite", "correct the named inertias"),
    "joint-moves-no-inertia": Code(
        "error", "a joint that moves no inertia", "give the link an inertia or the joint an armature"
    ),
    "mass-matrix-ill-conditioned": Code(
        "warning", "the mass matrix is nearly singular", "give the links of that joint real inertias, or the joint an armature"
    ),
    "gimbal-lock": Code(
        "warning",
        "gimbal lock within the joint limits",
        "keep the middle joint away from that angle by its limits, or replace them by a spherical joint",
    ),
    "foot-of-meshes": Code(
        "warning",
        "the collision shapes of a foot are meshes",
        "add a <collision> with a sphere, capsule or box, or a contact by the method with_contacts",
    ),
    "joint-too-light": Code(
        "note",
        "effort limit far too large for the moved inertia",
        "give the joint the armature of its drive: rotor inertia × ratio²",
    ),
}
