"""Equality constraints: welds and connects close loops, joint equalities are mimic joints; others give a warning."""

from __future__ import annotations

from typing import Any

from torsor.io.mjcf.actuators import Drive
from torsor.io.mjcf.poses import pose, rotation, translation, vector
from torsor.io.mjcf.selection import EQUALITY, SITE, Selection, name_of
from torsor.model.description import WORLD, Loop, Mimic
from torsor.model.joints import Fixed, JointType, Spherical
from torsor.model.polynomials import compose
from torsor.spatial import Transform
from torsor.support.text import unused_name

#: MuJoCo's mjtEq
CONNECT, WELD, JOINTS = 0, 1, 2
_OTHERS = {3: "tendon", 4: "flex", 5: "flexvert", 6: "flexstrain", 7: "distance"}


def read_mimics(chosen: Selection, drives: dict[int, Drive]) -> dict[int, Mimic]:
    """q₁ − q₁₀ = a₀ + a₁(q₂ − q₂₀) + … + a₄(q₂ − q₂₀)⁴ as a polynomial in q₂.

    A joint that follows by a curve has no armature or damping in torsor: with those it stays independent, with a warning.
    """
    m, out = chosen.m, dict[int, Mimic]()
    number = {name: k for k, name in chosen.joints.items()}
    for e in range(m.neq):
        if m.eq_type[e] != JOINTS or not m.eq_active0[e]:
            continue
        follower, leader = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        a = [float(x) for x in m.eq_data[e][:5]]
        name = _name(chosen, e)
        if follower not in chosen.joints or (leader >= 0 and leader not in chosen.joints):
            chosen.notes.note("equality between joints that are not read", name)
            continue
        q1, q2 = (float(m.qpos0[m.jnt_qposadr[k]]) if k >= 0 else 0.0 for k in (follower, leader))
        b, *rest = compose(a, (-q2, 1.0))
        mimic = Mimic.of_polynomial(chosen.joints.get(leader, ""), (q1 + b, *rest))
        if leader < 0 or not any(a[1:]):
            chosen.leave_out("equality that fixes a joint at a constant (use robot.lock)", name)
        elif follower in out:
            chosen.leave_out("equality between joints that other equalities determine", name)
        elif leader == follower or follower in _chain(out, number, leader):
            chosen.notes.note("equality between joints ignored, because other equalities determine them", name)
        else:
            out[follower] = mimic
    curved = set[int]()
    for k in sorted(out, key=lambda k: len(_chain(out, number, k))):  # leaders first
        if out[k].higher or curved.intersection(_chain(out, number, k)):
            if _resists(chosen, k, drives[k]):
                x = out.pop(k)
                call = f"torsor.constraints.coupling({chosen.joints[k]!r}, {x.joint!r}, polynomial={x.coefficients})"
                chosen.leave_out("polynomial equality of a joint with armature or damping, to be added as", call)
            else:
                curved.add(k)
    return out


def _chain(mimics: dict[int, Mimic], number: dict[str, int], k: int) -> list[int]:
    """The joints that a joint follows, one after another."""
    out = []
    while k in mimics:
        k = number[mimics[k].joint]
        out.append(k)
    return out


def _resists(chosen: Selection, k: int, drive: Drive) -> bool:
    """Whether a joint has armature or damping."""
    m, at = chosen.m, int(chosen.m.jnt_dofadr[k])
    return bool(m.dof_armature[at] or m.dof_damping[at] or drive.armature or drive.damping)


def read_loops(chosen: Selection) -> tuple[Loop, ...]:
    """<connect> as a spherical loop, <weld> as a fixed one; those without effect or with a mocap body are reported."""
    m, out = chosen.m, []
    for e in range(m.neq):
        kind, name = int(m.eq_type[e]), _name(chosen, e)
        if kind == JOINTS and m.eq_active0[e]:
            continue
        if not m.eq_active0[e]:
            chosen.notes.note("equality that starts inactive ignored", name)
        elif kind not in (CONNECT, WELD):
            chosen.leave_out(f"<{_OTHERS.get(kind, kind)}> equality", name)
        else:
            loop = _loop(chosen, e, unused_name(name, chosen.taken_joints))
            out += [loop] if loop is not None else []
    return tuple(out)


def _loop(chosen: Selection, e: int, name: str) -> Loop | None:
    m = chosen.m
    bodies = _bodies(m, e)
    if any(m.body_mocapid[m.body_weldid[b]] >= 0 for b in bodies):
        chosen.notes.note("equality with a mocap body ignored: it is not a loop", name)
        return None
    for b in bodies:
        if b not in chosen.links and m.body_weldid[b]:
            chosen.notes.note("equality with a body that is not read", name)
            return None
    if m.body_weldid[bodies[0]] == m.body_weldid[bodies[1]]:
        chosen.notes.note("equality between bodies without relative motion ignored", name)
        return None
    kind, X, Y = _frames(m, e)
    (parent, origin), (child, child_origin) = chosen.end(bodies[0], X), chosen.end(bodies[1], Y)
    if child == WORLD:  # the parent of a torsor loop is the fixed side
        parent, origin, child, child_origin = child, child_origin, parent, origin
    return Loop(name, kind, parent, child, origin, child_origin)


def _bodies(m: Any, e: int) -> tuple[int, int]:
    ends = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    if m.eq_objtype[e] == SITE:
        return int(m.site_bodyid[ends[0]]), int(m.site_bodyid[ends[1]])
    return ends


def _frames(m: Any, e: int) -> tuple[JointType, Transform, Transform]:
    """The kind of loop and the frames that meet, each on its body.

    <connect>: the points data[0:3] and data[3:6].  <weld>: body 1's frame with position data[3:6] and quaternion data[6:10],
    and the point data[0:3] of body 2 in its own axes; without a torque scale (data[10]) it holds the points alone.
    """
    data = m.eq_data[e]
    weld = m.eq_type[e] == WELD
    kind = Fixed() if weld and data[10] else Spherical()
    if m.eq_objtype[e] == SITE:
        X, Y = (pose(m.site_pos[s], m.site_quat[s]) for s in (m.eq_obj1id[e], m.eq_obj2id[e]))
        return kind, X, Y
    if not weld:
        return kind, translation(vector(data[0:3])), translation(vector(data[3:6]))
    return kind, Transform.of_pose(rotation(data[6:10]), vector(data[3:6])), translation(vector(data[0:3]))


def _name(chosen: Selection, e: int) -> str:
    return name_of(chosen.m, EQUALITY, e) or f"equality{e}"
