"""The tree that print(robot) shows."""

from __future__ import annotations

from torsor.errors import printable
from torsor.model import Description, Joint, Model
from torsor.support.text import count, short


def tree(d: Description, model: Model) -> str:
    """One line per link: its place in the tree, its joint and its mass."""
    links = {link.name: link for link in d.complete.links}
    mass = sum(inertia.m for inertia in d.complete.bodies.values())
    number = {name: i for i, name in enumerate(model.joint_names)}
    moving = sum(j.name in number for j in d.joints)
    what = f"{count(len(d.links), 'link')}, {count(moving, 'moving joint')}{loop_count(d)}"
    counts = f"{what}, nq = {model.nq}, nv = {model.nv}"
    lines = [f"{printable(d.name)}: {counts}, {short(mass)} kg, {d.base} base"]
    todo: list[tuple[str, Joint | None, str, str]] = [(d.root, None, "", "")]
    while todo:
        name, joint, lead, indent = todo.pop()
        text = f"{lead}{printable(name)}"
        if joint is not None:
            text += f"  ({printable(joint.name)}: {printable(_motion(joint, model, number))})"
        m = links[name].inertia.m
        lines.append(text + (f"  {short(m)} kg" if not isinstance(m, (int, float)) or m else ""))
        below = d.joints_from(name)
        for j in reversed(below):
            branch, below_it = ("└─ ", "   ") if j is below[-1] else ("├─ ", "│  ")
            todo.append((j.child, j, indent + branch, indent + below_it))
    rest = [f"rotor: {x.name} on {x.link}  ({x.joint} × {short(x.ratio)})  {short(x.inertia.m)} kg" for x in d.rotors]
    rest += [f"loop: {x.parent} ⇄ {x.child}  ({x.name}: {x.kind.name})" for x in d.loops]
    loops = {x.name for x in d.loops}
    rest += [f"{t.kind}: {t.name}  ({t.describe(model)})" for t in model.terms if t.name not in loops]
    return "\n".join([*lines, *map(printable, rest)])


def loop_count(d: Description) -> str:
    """The number of loops, and of other terms, if there are any."""
    terms = [*(j for j in d.joints if any(law is not None for law in j.laws)), *d.terms]
    return "".join(f", {count(len(parts), word)}" for word, parts in (("loop", d.loops), ("term", terms)) if parts)


def _motion(joint: Joint, model: Model, number: dict[str, int]) -> str:
    if joint.name not in number:
        return joint.kind.name
    i = number[joint.name]
    if joint.mimic is not None:
        return f"{joint.kind.name}, mimics {joint.mimic.joint}{' by a polynomial' if joint.mimic.higher else ''}"
    q, n = model.q_start[i], model.joint[i].nq
    place = f"q[{q}]" if n == 1 else f"q[{q}:{q + n}]"
    return f"{joint.kind.name}, {place}"
