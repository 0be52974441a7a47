"""Topology of a robot: parents, children, paths between links, and the links that a joint moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torsor.errors import ArgumentError, UnknownName, require_known
from torsor.model.description import FLOATING_BASE, Description, Joint
from torsor.support.locks import cached_property

if TYPE_CHECKING:
    from torsor.model.graph import Graph
    from torsor.model.model import Model


class Topology:
    """Questions about the tree of links, answered by names.  Fixed joints and welded links count as any other."""

    _description: Description
    _model: Model

    def parent(self, link: str) -> str | None:
        """The link that carries a link; None for the root.

        >>> import torsor as ts
        >>> ts.robots.two_link().parent("link2")
        'link1'
        """
        joint = self._joint_to.get(self._require_link(link))
        return None if joint is None else joint.parent

    def children(self, link: str) -> tuple[str, ...]:
        """The links that a link carries, in file order.

        >>> import torsor as ts
        >>> ts.robots.panda().children("panda_hand")
        ('panda_hand_tcp', 'panda_leftfinger', 'panda_rightfinger')
        """
        return tuple(j.child for j in self._description.joints_from(self._require_link(link)))

    def path(self, start: str, end: str, of: str = "links") -> tuple[str, ...]:
        """The way from one link to another through the tree: its links, both ends included, or ``of="joints"`` its joints.

        Fixed joints are included; loops are not used.

        >>> import torsor as ts
        >>> robot = ts.robots.panda()
        >>> robot.path("panda_leftfinger", "panda_rightfinger")
        ('panda_leftfinger', 'panda_hand', 'panda_rightfinger')
        >>> robot.path("panda_leftfinger", "panda_rightfinger", of="joints")
        ('panda_finger_joint1', 'panda_finger_joint2')
        """
        require_known("of=", of, ("links", "joints"))
        there, back = list(self._to_root(start)), list(self._to_root(end))
        top = self._meeting(there, back)
        up, down = there[: there.index(top)], back[: back.index(top)][::-1]
        if of == "links":
            return (*up, top, *down)
        return tuple(self._joint_to[link].name for link in (*up, *down))

    def common_ancestor(self, *links: str) -> str:
        """The link farthest from the root that is on the way from the root to each of these links, or one of them.

        >>> import torsor as ts
        >>> ts.robots.panda().common_ancestor("panda_leftfinger", "panda_rightfinger")
        'panda_hand'
        """
        if not links:
            raise ArgumentError("common_ancestor needs at least one link")
        top = self._require_link(links[0])
        for link in links[1:]:
            top = self._meeting(list(self._to_root(top)), list(self._to_root(link)))
        return top

    def moved_by(self, joint: str) -> tuple[str, ...]:
        """The links that a joint moves, in file order: those beyond it, and beyond the joints that mimic it.

        >>> import torsor as ts
        >>> ts.robots.panda().moved_by("panda_finger_joint1")
        ('panda_leftfinger', 'panda_rightfinger')
        """
        moved, joint = set[str](), self._require_moving_joint(joint)
        of_base = joint == FLOATING_BASE and self._description.floats
        for link in [self._description.root] if of_base else [j.child for j in self._joint_and_its_mimics(joint)]:
            if link not in moved:
                moved |= self._description.complete.descendants(link)
        return tuple(link.name for link in self._description.links if link.name in moved)

    def moving_joints(self, link: str) -> tuple[str, ...]:
        """The joints that move a link, in the order of ``q``: those between the root and the link, and their leaders.

        >>> import torsor as ts
        >>> ts.robots.panda().moving_joints("panda_rightfinger")[-2:]
        ('panda_finger_joint1', 'panda_finger_joint2')
        """
        d, at = self._description.complete, self._require_link(link)
        joints, joint_to = {j.name: j for j in d.joints}, {j.child: j for j in d.joints}
        moving = {FLOATING_BASE} if d.floats else set[str]()
        while at in joint_to:
            joint = joint_to[at]
            at = joint.parent
            moving.add(joint.name)
            while joint.mimic is not None:
                joint = joints[joint.mimic.joint]
                moving.add(joint.name)
        return tuple(name for name in self._model.joint_names[1:] if name in moving)

    def graph(self) -> Graph:
        """Links and joints as a drawing: ``.dot`` for Graphviz, ``.svg``, ``.save(path)``; a notebook shows it.

        Mimic joints and loops are dashed, fixed joints grey.

        >>> import torsor as ts
        >>> print(ts.robots.pendulum().graph().dot)
        digraph "pendulum" {
          rankdir=LR;
          node [shape=box, style=rounded];
          "base";
          "bob";
          "base" -> "bob" [label="pivot (revolute)"];
        }
        """
        from torsor.model.graph import Graph

        return Graph(self._description)

    # -- maps, made on first use -----------------------------------------------------------------------------

    @cached_property
    def _joint_to(self) -> dict[str, Joint]:
        return {j.child: j for j in self._description.joints}

    @cached_property
    def _link_names(self) -> frozenset[str]:
        return frozenset(link.name for link in self._description.links)

    def _require_link(self, link: str) -> str:
        require_known("link", link, self._link_names)
        return link

    def _require_moving_joint(self, joint: str) -> str:
        names = self._model.joint_names[1:]
        if joint not in names:
            fixed = any(j.name == joint for j in self._description.joints)
            raise UnknownName("moving joint (it is fixed)" if fixed else "moving joint", joint, names)
        return joint

    def _to_root(self, link: str) -> Iterator[str]:
        """The link, its parent, ... the root."""
        yield self._require_link(link)
        while link in self._joint_to:
            link = self._joint_to[link].parent
            yield link

    @staticmethod
    def _meeting(one: list[str], other: list[str]) -> str:
        """The first link that two ways to the root share."""
        shared = set(other)
        return next(link for link in one if link in shared)

    def _joint_and_its_mimics(self, joint: str) -> list[Joint]:
        """A joint and the joints that mimic it, directly or through others."""
        turned = {joint}
        joints = self._description.complete.joints
        followers = [j for j in joints if j.mimic is not None]
        while more := {j.name for j in followers if j.name not in turned and j.mimic and j.mimic.joint in turned}:
            turned |= more
        return [j for j in joints if j.name in turned]
