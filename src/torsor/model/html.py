"""HTML representation of a robot for notebooks: a summary line and a table of joints."""

from __future__ import annotations

from torsor.model.mechanism import Mechanism
from torsor.model.part_views import JointView
from torsor.model.printing import loop_count
from torsor.scalar import Scalars
from torsor.support.html import Markup, collapsible, concat, element, table
from torsor.support.text import count, short

#: joints up to which the table is open
FEW = 12


def of_robot(robot: Mechanism) -> Markup:
    d, joints = robot.description, [robot.joint(name) for name in robot.joints]
    parts = f"{count(len(robot.links), 'link')}, {count(len(joints), 'joint')}{loop_count(d)}"
    about = f"{parts}, nq = {robot.nq}, nv = {robot.nv}, {short(robot.mass)} kg"
    head = ["joint", "type", "q", "moves", "from", "to", "speed", "force", "mass [kg]"]
    rows = [
        [
            j.name, j.type, _place(j), f"{j.parent} → {j.child}", _numbers(j.lower), _numbers(j.upper),
            _numbers(j.velocity_limit), _numbers(j.effort_limit), short(robot.link(j.child).mass),
        ]
        for j in joints
    ]  # fmt: skip
    lines = [element("p", element("b", robot.name), f": {about}, {d.base} base")]
    lines.append(collapsible(count(len(joints), "joint"), table(head, rows), open_=len(joints) <= FEW))
    loops = [[x.name, x.kind.name, f"{x.parent} ⇄ {x.child}"] for x in d.loops]
    terms = [[t.name, t.kind, t.describe(robot.model)] for t in robot.model.terms if t.name not in {x.name for x in d.loops}]
    for word, heads, found in (("loop", ["type", "closes"], loops), ("term", ["kind", "adds"], terms)):
        if found:
            lines.append(collapsible(count(len(found), word), table([word, *heads], found), open_=len(found) <= FEW))
    if robot.report:
        lines.append(
            collapsible(
                f"{count(len(robot.report), 'note')} from loading", element("ul", *(element("li", x) for x in robot.report))
            )
        )
    return element("div", concat(lines))


def _place(joint: JointView) -> str:
    if joint.mimic is not None:
        return f"follows {joint.mimic.joint}"
    first, end = joint.q_slice.start, joint.q_slice.stop
    return str(first) if end == first + 1 else f"{first}:{end}"


def _numbers(values: Scalars) -> str:
    """One number, or several for a joint with several coordinates; empty without a limit."""
    infinite = all(isinstance(x, (int, float)) and abs(x) == float("inf") for x in values)
    return "" if infinite else ", ".join(short(x) for x in values)
