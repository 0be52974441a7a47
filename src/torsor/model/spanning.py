"""Another spanning tree of the same mechanism: which joints carry the links, and which close loops (F&O §3.4).

Joints and loops are the edges of one graph whose nodes are the links.  Any tree of edges that reaches every link is valid:
its joints get coordinates, the others are cut, and become constraints.  The choice changes q, never the mechanism.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from torsor.errors import ModelError, require_known
from torsor.model.description import FLOATING_BASE, WORLD, Description, Joint, Link, Loop
from torsor.model.joints import Floating
from torsor.model.reversal import ReversedJoint, reverse
from torsor.model.seat import move_axis_to_frame
from torsor.model.sensor import Sensor
from torsor.support.text import unused_name


def spanning_tree(d: Description, cut: str | Sequence[str] = "auto") -> Description:
    """The same mechanism with other joints cut: ``cut`` names all loop joints, the others form the tree.

    ``cut="auto"`` cuts the joints with the most degrees of freedom, which give the fewest constraint rows, Σ (6 − d) over the
    cut ones, and leave the fewest coordinates, Σ d over the others (one and the same choice: a minimum spanning tree with
    weight d). Between equals the tree grows in breadth from the root, so paths are short.  Mimic joints and their
    leaders, and custom joint types that cannot close a loop, are never cut.

    Link frames, inertias and named frames stay as they are.  Limits, armature, damping and friction of a joint that is cut
    are dropped for a loop joint and listed in the report.  A loop that holds a floating robot to the world stays one.

    >>> from torsor.robot.builder import Builder
    >>> b = Builder("four-bar").link("ground").link("crank").link("coupler").link("rocker")
    >>> b = b.joint("A", "revolute", "ground", "crank").joint("B", "revolute", "crank", "coupler", xyz=(1, 0, 0))
    >>> b = b.joint("C", "revolute", "coupler", "rocker", xyz=(3, 0, 0))
    >>> d = b.loop("D", "revolute", "rocker", "ground", xyz=(2, 0, 0), child_xyz=(4, 0, 0)).description()
    >>> recut = spanning_tree(d, ["C"])
    >>> [j.name for j in recut.joints if j.kind.nv], [loop.name for loop in recut.loops]
    (['A', 'B', 'D'], ['C'])
    """
    edges, held = _graph(d)
    chosen = (
        _automatic(d, edges) if cut == "auto" else _chosen_tree(d, edges, [cut] if isinstance(cut, str) else list(cut), held)
    )
    before = {j.name: j for j in d.joints}
    if {e.name for e in edges} - set(before) == chosen:
        return d
    inner = _tree(d, [e for e in edges if e.name not in chosen])
    links, joints = list(d.links), list[Joint]()
    taken = {*(link.name for link in d.links), *(f.name for f in d.frames)}
    for e in edges:
        if e.name not in chosen:
            extra, turned = _as_tree_joint(e, before.get(e.name), inner[e.name], taken)
            links += extra
            joints += turned
    loops = [loop for e in edges if e.name in chosen for loop in _as_loop(e)]
    notes = [note for e in edges if e.name in chosen for note in _dropped_properties(before.get(e.name))]
    freed = [e.name for e in edges if e.name not in before and e.name not in chosen]
    newly = [e.name for e in edges if e.name in before and e.name in chosen]
    notes.insert(0, f"spanning tree: {', '.join(newly)} cut, {', '.join(freed) or 'nothing'} in the tree instead")
    if d.configurations:  # a joint that comes into the tree has no value in them
        names = _list_names([c.name for c in d.configurations])
        notes.append(f"named configurations dropped, as other joints have coordinates: {names}")
    sensors, crossed = without_crossed_sensors(d, joints)
    return replace(
        d,
        links=tuple(links),
        joints=tuple(joints),
        loops=(*loops, *held),
        configurations=(),
        sensors=sensors,
        report=(*d.report, *notes, *crossed),
    )


def without_crossed_sensors(d: Description, joints: Sequence[Joint]) -> tuple[tuple[tuple[str, Sensor], ...], list[str]]:
    """The sensors, without those of the wrench through a cut whose links are carried by others among the new joints; notes."""
    before, after = ({j.child: j.name for j in row} for row in (d.joints, joints))
    link = {FLOATING_BASE: d.root} | {j.name: j.child for j in d.joints}  # a link or frame of that name comes first
    link |= {f.name: f.link for f in d.frames} | {x.name: x.name for x in d.links}
    cuts = [(name, link.get(s.at, s.at)) for name, s in d.sensors if s.reads == "cut"]
    lost = [name for name, at in cuts if before.get(at) != after.get(at)]
    notes = [f"sensors removed, as other joints carry their links now: {', '.join(lost)}"] if lost else []
    return tuple((name, s) for name, s in d.sensors if name not in lost), notes


def _graph(d: Description) -> tuple[list[Loop], tuple[Loop, ...]]:
    """Every joint as an edge, as if it closed a loop, in file order; and the loops between a floating robot and the world.

    The root of a fixed base is in the world frame, so there the two are one node.
    """
    links = {link.name for link in d.links}
    loops = ground_loops(d)
    held = tuple(x for x in loops if WORLD in (x.parent, x.child) and WORLD not in links)
    edges = [Loop(j.name, j.kind, j.parent, j.child, j.origin) for j in d.joints]
    return edges + [x for x in loops if x not in held], held


def _far_end(e: Loop, link: str) -> str:
    return e.child if link == e.parent else e.parent


def ground_loops(d: Description) -> tuple[Loop, ...]:
    """The loops with the root in place of the world, where the base is fixed and the two are one."""
    at = ground(d)
    return tuple(replace(x, parent=at.get(x.parent, x.parent), child=at.get(x.child, x.child)) for x in d.loops)


def ground(d: Description) -> dict[str, str]:
    """{world: root} where the base is fixed and the two are one, else empty."""
    return {} if d.base != "fixed" or any(link.name == WORLD for link in d.links) else {WORLD: d.root}


# -- which edges to cut --------------------------------------------------------------------------------------------------


def _automatic(d: Description, edges: list[Loop]) -> set[str]:
    """Prim's tree from the root: fewest degrees of freedom first, then nearest to the root, then file order."""
    coupled = _coupled_joints(d)
    weight = {e.name: e.kind.nv if e.name not in coupled and e.kind.closes_loops else -1 for e in edges}
    at = _incidence(edges)
    reached, kept, depth = {d.root}, set[str](), {d.root: 0}
    order = {e.name: n for n, e in enumerate(edges)}
    todo: list[tuple[int, int, int, str]] = []

    def offer(link: str) -> None:
        for e in at.get(link, ()):
            if _far_end(e, link) not in reached:
                heapq.heappush(todo, (weight[e.name], depth[link], order[e.name], link))

    offer(d.root)
    while todo:
        _, _, n, link = heapq.heappop(todo)
        e = edges[n]
        end = _far_end(e, link)
        if end in reached:
            continue
        reached.add(end)
        kept.add(e.name)
        depth[end] = depth[link] + 1
        offer(end)
    cut = {e.name for e in edges} - kept
    stuck = sorted(name for name in cut if weight[name] < 0)
    if stuck:
        raise ModelError(
            f"robot {d.name!r}: {', '.join(map(repr, stuck))} would have to be cut: {_reason_not_in_tree(d, edges, stuck[0])}"
        )
    return cut


def _chosen_tree(d: Description, edges: list[Loop], cut: list[str], held: tuple[Loop, ...]) -> set[str]:
    """The user's choice, checked."""
    known, coupled, to_world = {e.name: e for e in edges}, _coupled_joints(d), {loop.name for loop in held}
    for name in cut:
        require_known("joint or loop", name, [*known, *to_world])
        if name in known and (not known[name].kind.closes_loops or name in coupled):
            raise ModelError(f"joint {name!r} cannot be cut: {_reason_not_in_tree(d, edges, name)}")
    chosen = {name for name in cut if name in known}
    _tree(d, [e for e in edges if e.name not in chosen])
    return chosen


def _coupled_joints(d: Description) -> set[str]:
    """Mimic joints and their leaders."""
    return {name for j in d.joints if j.mimic is not None for name in (j.name, j.mimic.joint)}


def _reason_not_in_tree(d: Description, edges: list[Loop], name: str) -> str:
    if name in _coupled_joints(d):
        return "it is a mimic joint or a leader, and a loop joint has no coordinate; use without_couplings()"
    kind = next(e.kind for e in edges if e.name == name)
    return f"its type {kind.name!r} does not define complement(q) and coordinates(X)"


def _incidence(edges: Iterable[Loop]) -> dict[str, list[Loop]]:
    at: dict[str, list[Loop]] = {}
    for e in edges:
        at.setdefault(e.parent, []).append(e)
        at.setdefault(e.child, []).append(e)
    return at


def _tree(d: Description, kept: list[Loop]) -> dict[str, str]:
    """The inner link of each edge, seen from the root; raises if the edges are not a tree that reaches every link."""
    at = _incidence(kept)
    reached, inner, todo = {d.root}, dict[str, str](), [d.root]
    while todo:
        link = todo.pop()
        for e in at.get(link, ()):
            end = _far_end(e, link)
            if end not in reached:
                reached.add(end)
                inner[e.name] = link
                todo.append(end)
    lost = [link.name for link in d.links if link.name not in reached]
    if lost:
        raise ModelError(
            f"robot {d.name!r} is disconnected: with these joints cut, no joint connects {_list_names(lost)} to the root "
            f"{d.root!r}; cut fewer, or others"
        )
    if len(inner) < len(kept):
        raise ModelError(f"robot {d.name!r} still has a cycle: cut one of {_list_names(_cyclic(kept))} too")
    return inner


def _cyclic(kept: list[Loop]) -> list[str]:
    """The edges left after removing dangling edges repeatedly: the cycles, and the paths between them."""
    at = {link: {e.name for e in edges} for link, edges in _incidence(kept).items()}
    ends = {e.name: e for e in kept}
    loose = [link for link, names in at.items() if len(names) == 1]
    while loose:
        link = loose.pop()
        for name in at[link]:
            far = _far_end(ends[name], link)
            at[far].discard(name)
            if len(at[far]) == 1:
                loose.append(far)
        at[link] = set()
    left = set().union(*at.values())
    return [e.name for e in kept if e.name in left]


def _list_names(names: Collection[str]) -> str:
    shown = ", ".join(map(repr, list(names)[:8]))
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")


# -- edges as joints and as loops ----------------------------------------------------------------------------------------


def _as_tree_joint(e: Loop, j: Joint | None, inner: str, taken: set[str]) -> tuple[list[Link], list[Joint]]:
    """The edge as a joint of the tree (j: it is one now), with a link between where the far link's frame is off its axis."""
    outward = inner == e.parent
    if outward and j is not None:
        return [], [j]
    between, fields = unused_name(f"{e.name}_axis", taken), joint_fields(j) if j is not None else {}
    if outward:  # X_child = child_origin⁻¹ · X_J · origin · X_parent
        seat = e.child_origin.inverse
        return move_axis_to_frame(e.name, e.kind, e.parent, e.child, e.origin, seat, between=between, **fields)
    # X_parent = origin⁻¹ · X_J⁻¹ · child_origin · X_child
    seat = e.origin.inverse
    return move_axis_to_frame(e.name, reverse(e.kind), e.child, e.parent, e.child_origin, seat, between=between, **fields)


def _as_loop(e: Loop) -> list[Loop]:
    """The edge as a loop; empty for a floating joint, which has no constraint.  A reversed joint swaps parent and child."""
    if isinstance(e.kind, Floating):
        return []
    if isinstance(e.kind, ReversedJoint):
        return [Loop(e.name, e.kind.kind, e.child, e.parent, e.child_origin, e.origin)]
    return [e]


def _dropped_properties(j: Joint | None) -> list[str]:
    """Data that a joint of the tree loses when it becomes a loop joint."""
    if j is None:
        return []
    if isinstance(j.kind, Floating):
        return [f"joint {j.name!r} is floating and constrains nothing: it is removed"]
    lost = [label for label, value in joint_fields(j).items() if value and any(value)]
    return [f"joint {j.name!r} is cut; a loop joint has no {', '.join(lost)}, which is dropped"] if lost else []


def joint_fields(j: Joint) -> dict[str, Any]:
    """Properties of a joint besides its pose: limits, losses, coupling."""
    return {k: v for k, v in vars(j).items() if k not in ("name", "kind", "parent", "child", "origin")}
