"""A serial robot as lists of Modern Robotics: Mlist, Glist and Slist (MR §8.11); the inverse of :func:`from_mr`."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np

from torsor.errors import ModelError, ModelWarning
from torsor.model.assembly import assemble
from torsor.model.description import Description
from torsor.model.joints import Helical, Prismatic, Revolute
from torsor.model.model import Model
from torsor.spatial import Transform
from torsor.spatial.rigid.reading import pose_matrix
from torsor.spatial.vector import IDENTITY, flat

#: the frame :func:`torsor.io.screws.from_mr` makes of the last home pose
TIP = "end_effector"


def to_mr(robot: Any, tip: str | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(Mlist, Glist, Slist) of a serial Robot or Description with revolute, prismatic and helical joints (MR Exercise 8.12).

    T_i is the home pose of the child link of joint i, the product of the file's joint origins up to it; m_i, c_i and I_i
    are the mass of that link, its centre, and the inertia about it in the link's axes; a_i is the joint's axis, h_i its pitch::

        M_i = T_i (1, c_i)          M_{i−1,i} = M_{i−1}⁻¹ M_i          G_i = [[I_i, 0], [0, m_i 1]]
        S_i = [Ad_{T_i}] (a_i, h_i a_i), of a prismatic joint [Ad_{T_i}] (0, a_i)

    Links on fixed joints are part of the link they are fixed to; links fixed to the base do not move and are not in
    the lists.  ``tip`` names the frame of the last pose, M_{n,tip}: a link or frame on the last link; if not given it is
    ``"end_effector"``, or else the last link itself.  The shapes are (n+1, 4, 4), (n, 6, 6) and (6, n).

    Gravity and limits are not in the lists.  A rotor's mass is part of its mount; its spin, or its
    armature, has no place there: it is left out with a warning.

    >>> from torsor import robots
    >>> M, G, S = to_mr(robots.description("two_link"), tip="tip")
    >>> M[:, 0, 3], S[:, 1] + 0.0
    (array([1., 1., 0.]), array([ 0.,  0.,  1.,  0., -1.,  0.]))
    """
    d: Description = getattr(robot, "description", robot)
    if d.loops:
        raise ModelError(f"robot {d.name!r} has loops ({d.loops[0].name!r} ...), which Mlist, Glist, Slist cannot express")
    model = assemble(d)
    links = _chain_links(d, model)
    n = len(links)
    home = [Transform.identity()]
    for i, p in model.outward():
        home.append(model.offset[i] @ home[p])
    if tip is None:
        tip = TIP if TIP in model.frames else links[-1]
    at = model.frame(tip)
    if at.body != n:
        raise ModelError(
            f"tip {tip!r} is not on the last link, which is moved by {model.joint_names[n]!r}; M_{{n,tip}} must be fixed"
        )
    poses, inertias, screws = [Transform.identity()], [], []
    for i, link in enumerate(links, start=1):
        X = model.frames[link].X
        G = X.inverse.T @ model.inertia[i]  # in the link's axes, about its origin
        poses.append(Transform.of_pose(IDENTITY, G.com) @ X @ home[i])
        about_com, zero = np.array(G.about_com.rows, dtype=float), np.zeros((3, 3))
        inertias.append(np.block([[about_com, zero], [zero, float(G.m) * np.eye(3)]]))
        (S,) = model.joint[i].subspace(model.joint[i].neutral())
        screws.append([float(x) for x in flat(home[i].inverse @ S)])
    poses.append(at.X @ home[n])
    steps = [pose_matrix(*(X @ before.inverse).pose) for before, X in pairwise(poses)]
    return np.array(steps), np.array(inertias), np.array(screws).T


def _chain_links(d: Description, model: Model) -> list[str]:
    """The child link of each joint, in order; an error where the lists cannot express the robot."""
    what = f"robot {d.name!r} has no Mlist, Glist, Slist"
    if d.floats:
        raise ModelError(f'{what}: its base is floating; the lists need a fixed base (robot.with_base("fixed"))')
    if len(model.parent) == 1:
        raise ModelError(f"{what}: it has no moving joint")
    carried = {j.name: j.child for j in d.joints}
    for i, p in model.outward():
        name, kind = model.joint_names[i], model.joint[i]
        if model.coupling[i] is not None:
            raise ModelError(f"{what}: joint {name!r} is a mimic joint; lock its leader or call robot.without_couplings()")
        if not isinstance(kind, (Revolute, Prismatic, Helical)):
            raise ModelError(f"{what}: joint {name!r} is {kind.name}; a screw axis is revolute, prismatic or helical")
        if p != i - 1:
            before = repr(model.joint_names[i - 1])
            raise ModelError(
                f"{what}: it is not a chain: joint {name!r} is not attached to the link of {before}; lock or remove a branch"
            )
    if not all(isinstance(x, (int, float)) for x in flat(model.offset, model.inertia)):
        raise ModelError(f"{what}: it has symbols, but the lists need numbers")
    geared = {r.joint for r in model.rotors}
    rotors = [model.joint_names[i] for i, _ in model.outward() if any(model.armature[i]) or i in geared]
    if rotors:
        text = f"the lists of robot {d.name!r} leave out the rotors (reflected inertia) of {', '.join(rotors)}"
        warnings.warn(text, ModelWarning, stacklevel=3)
    return [carried[name] for name in model.joint_names[1:]]
