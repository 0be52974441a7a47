"""Writing MJCF that MuJoCo compiles to the same dynamics, and that is read back as the same robot.

Links are bodies, frames sites, shapes geoms without mass (classes ``visual``, ``collision``), effort limits motors, named
configurations keyframes, sensors those of MuJoCo.  Features without an equivalent in MJCF:

* universal, planar, cylindrical: hinges and sliders in a row, exactly (``<joint>_1``, ``_x``, ``_turn``, ...).  helical: a
  hinge and a slider, the second tied to the first by an equality.  Custom joint types are refused.
* A floating joint on a root link called ``world`` is a free joint, whose q is the pose in the world; elsewhere it is three
  sliders and a ball, with the same q.
* Mimics and loops are equalities, enforced by springs in MuJoCo; other loops than fixed, spherical and revolute are listed in a
  comment.
* A massless link between two joints goes into the body after it.  One that is moved and has no mass at all is refused, as
  MuJoCo would; point masses, rods and plates are made rounder by rounding errors (:mod:`torsor.io.mjcf.inertia_elements`).
* Impossible inertias are moved from link to link where the motion stays the same (:mod:`torsor.io.mjcf.inertia_exchange`), and
  refused elsewhere.
* Linear springs are joint springs and tendons, rotors armatures, simple friction laws ``damping`` and ``frictionloss``.  These
  and all other terms, laws, force elements, velocity limits and loops are in torsor's own <text name="torsor"> too
  (:mod:`torsor.io.shared.own_element`), from which torsor reads them.
* Sensors are at sites, new ones where they are at a link or joint; their delay, noise and resolution are in torsor's own text.
* Meshes MuJoCo cannot open (COLLADA, those not found) are left out.

Comments at the top name all that is not kept (:mod:`torsor.io.shared.losses`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lxml import etree
from lxml.etree import _Element as Element

from torsor.errors import ModelError
from torsor.io.mjcf.attribute_values import massless, pose_attributes
from torsor.io.mjcf.body_elements import Body, Tree, names_of_pieces
from torsor.io.mjcf.constraint_elements import equalities, loop_elements, motors
from torsor.io.mjcf.inertia_elements import inertial
from torsor.io.mjcf.inertia_exchange import exchange_inertias
from torsor.io.mjcf.joint_elements import attributes
from torsor.io.mjcf.keyframes import keyframes
from torsor.io.mjcf.sensors import can_be_written, sensor_elements, with_sensor_sites
from torsor.io.mjcf.shape_elements import Assets, geom, written_ground
from torsor.io.mjcf.springs import joint_attributes, tendons
from torsor.io.shared.document import OWN
from torsor.io.shared.losses import LOOP_JOINTS_IN_MUJOCO, is_other_actuator, is_several_in_mujoco, is_spring_of_mujoco, losses
from torsor.io.shared.notes import as_comment, short_list
from torsor.io.shared.own_element import own_text, parts_of, terms_left_out, with_numbers_of_laws
from torsor.io.shared.xml_text import numbers, write_xml
from torsor.model.attachments import rotors_as_armature
from torsor.model.description import FLOATING_BASE, WORLD, Description
from torsor.model.forces import GravityCompensation
from torsor.model.spanning import ground
from torsor.model.splitting import split_composites
from torsor.model.terms.tendons import SpringBetween
from torsor.spatial import Transform
from torsor.support.text import unused_name


def write_mjcf(
    description: Description,
    path: str | os.PathLike[str] | None = None,
    *,
    meshes: bool = True,
    motors: bool = True,
    roots: Sequence[str | os.PathLike[str]] = (),
) -> str:
    """The MJCF text of a description; with a path, also written there, atomically.

    ``meshes=False`` leaves meshes out, ``motors=False`` actuators.  ``roots`` are folders to search for meshes, beside that of
    the file the description came from; their paths are written relative to ``path``, absolute without one.  ModelError names
    a link or joint that MuJoCo could not have.

    >>> from torsor import robots
    >>> 'type="hinge"' in write_mjcf(robots.description("ur5"), meshes=False)
    True
    """
    d, moved = exchange_inertias(rotors_as_armature(description))
    d, borrowed = with_numbers_of_laws(split_composites(d))
    own = own_text({**_own_parts(description), "borrowed": borrowed})
    page = _DocumentWriter(Tree(with_sensor_sites(d)), Assets(d.source, path, roots), meshes, motors, moved, own)
    return write_xml(lambda: page.make_document(description), d.name, path)


@dataclass
class _DocumentWriter:
    """One document being written."""

    tree: Tree
    assets: Assets
    meshes: bool
    motors: bool
    moved: list[str]  # links whose inertia was changed
    own: str  # the text of torsor's own element
    bodies: list[Body] = field(default_factory=list)
    places: dict[str, Element] = field(default_factory=dict)  # the body element of each link
    geoms: set[str] = field(default_factory=set)
    sites: set[str] = field(default_factory=set)
    joints: set[str] = field(default_factory=set)
    renamed: list[str] = field(default_factory=list)

    def make_document(self, described: Description) -> Element:
        d = self.tree.d
        world = etree.Element("worldbody")
        self._links(world)
        ground_shapes = written_ground(described)
        world.extend(x for g in ground_shapes if (x := geom("the world", g, self.assets, self.geoms)) is not None)
        sites = {frame.name: self._site(frame.link, frame.name, frame.origin) for frame in d.frames}
        for name in (name for t in d.terms if isinstance(t, SpringBetween) and is_spring_of_mujoco(t) for name in t.path):
            if name not in sites:
                sites[name] = self._site(ground(d).get(name, name), f"{name}_origin", Transform.identity())
        ends = {}
        for loop in d.loops:
            for word, name, origin, child_origin in loop_elements(loop):
                parent = self._site(loop.parent, f"{name}_parent", origin)
                ends[name] = word, parent, self._site(loop.child, f"{name}_child", child_origin)
        out = etree.Element("mujoco", model=d.name)
        out.extend(etree.Comment(as_comment(line)) for line in self._comments(described))
        etree.SubElement(out, "compiler", angle="radian")
        etree.SubElement(out, "option", gravity=numbers("gravity", d.gravity))
        driven = self.bodies if self.motors else []
        custom = etree.Element("custom")
        if self.own:
            etree.SubElement(custom, "text", name=OWN, data=self.own)
        drawn = any(element.find("geom") is not None for element in (world, *self.places.values()))
        parts = (
            _defaults() if drawn else (), custom, self.assets.element, world, tendons(d, sites), equalities(d, ends),
            motors(driven), sensor_elements(d), keyframes(d, self.bodies),
        )  # fmt: skip
        out.extend(part for part in parts if len(part) or part is world)
        return out

    def _links(self, world: Element) -> None:
        """Bodies inside bodies; a stack and not a recursion, since a rope has more links than Python has frames."""
        d, self.places[WORLD] = self.tree.d, world
        if self.tree.world_is_root:
            self._fill(world, d.root)
        else:
            base = etree.SubElement(world, "body", name=self._name(d.root))
            if d.floats:
                if not self.tree.weighs(d.root):
                    raise ModelError(
                        f"link {d.root!r} is the free base and has no mass, which MuJoCo refuses; give it an inertia"
                    )
                etree.SubElement(base, "freejoint", name=FLOATING_BASE)
            self._fill(base, d.root)
        todo = [(d.root, body) for body in reversed(list(self.tree.children(d.root)))]
        while todo:
            parent, body = todo.pop()
            self.tree.check_weight(body)
            self.bodies.append(body)
            who = f"link {body.link!r}"
            element = etree.SubElement(
                self.places[parent], "body", {"name": self._name(body.link), **pose_attributes(who, body.origin)}
            )
            for step, name in names_of_pieces(body):
                if unused_name(name, self.joints) != name:
                    raise ModelError(
                        f"joint {step.joint.name!r} needs the name {name!r} in MJCF, which another joint has; rename it"
                    )
                words = attributes(step.joint, step.piece, name, step.to_body)
                words |= {} if step.piece.suffix else joint_attributes(d, step.joint.name)
                etree.SubElement(element, "joint", words)
            self._fill(element, body.link)
            todo += [(body.link, below) for below in reversed(list(self.tree.children(body.link)))]

    def _name(self, link: str) -> str:
        """MuJoCo's world has its name to itself."""
        if link != WORLD:
            return link
        self.renamed.append(f"link {WORLD}")
        return unused_name("world_", set(self.tree.links))

    def _fill(self, element: Element, link: str) -> None:
        """Inertia and shapes of a body."""
        self.places[link] = element
        G = self.tree.links[link].inertia
        if not massless(G) and element.tag == "body":
            element.append(inertial(link, G))
        share = sum(x.share for at, x in self.tree.d.forces if at == link and isinstance(x, GravityCompensation))
        if share and element.tag == "body":
            element.set("gravcomp", numbers(f"link {link!r}: gravity compensation", (share,)))
        for g in self.tree.links[link].geometry:
            if g.shape == "mesh" and not self.meshes:
                continue
            shape = geom(f"link {link!r}", g, self.assets, self.geoms)
            if shape is not None:
                element.append(shape)
                self.renamed += [f"shape {g.name}"] if shape.get("name", "") != g.name else []

    def _site(self, link: str, name: str, origin: Transform) -> str:
        called = unused_name(name, self.sites)
        self.renamed += [f"frame {name}"] if called != name else []
        etree.SubElement(self.places[link], "site", {"name": called, **pose_attributes(f"frame {name!r}", origin)})
        return called

    def _comments(self, described: Description) -> list[str]:
        changed = {
            "physically impossible inertias, moved to other links with the same motion": self.moved,
            "massless, merged into the next body": [link for body in self.bodies for link in body.folded],
            "renamed, since the name is in use": self.renamed,
        }
        for what, why in self.assets.left_out.items():
            changed.setdefault(f"left out ({why})", []).append(what)
        lines = [f"{what}: {short_list(names)}" for what, names in changed.items() if names]
        return ["written by torsor; the control of a motor is its joint's force", *losses(described, "mjcf"), *lines]


def _own_parts(d: Description) -> dict[str, Any]:
    """The parts of a robot for torsor's own text: those that MJCF has no place for, and all terms."""
    joints, left_out = {j.name: j for j in d.joints}, terms_left_out(d, is_several_in_mujoco)
    several = {j.name for j in d.joints if is_several_in_mujoco(j)}
    keep: dict[str, Callable[[Any], bool]] = {
        "terms": lambda t: t.name not in left_out,
        "laws": lambda x: x[0] not in several,
        "actuator": lambda x: x[0] not in several and is_other_actuator(joints[x[0]]),
        "velocity_limit": lambda x: x[0] not in several,
        "loops": lambda x: not isinstance(x.kind, LOOP_JOINTS_IN_MUJOCO),
        "forces": lambda x: not isinstance(x[1], GravityCompensation),
        "sensors": lambda x: x[1].at not in several and not (x[1].is_exact and can_be_written(d, x[1])),
        "configurations": lambda x: False,
    }
    parts = parts_of(d, keep)
    return {word: x for word, x in parts.items() if word != "gravity" and (word, x) != ("base", "floating")}


def _defaults() -> Element:
    """Default classes: visual geoms in MuJoCo's group 2, collision geoms in group 3."""
    out = etree.Element("default")
    for name, words in (("visual", {"contype": "0", "conaffinity": "0", "group": "2"}), ("collision", {"group": "3"})):
        etree.SubElement(etree.SubElement(out, "default", {"class": name}), "geom", {**words, "mass": "0"})
    return out
