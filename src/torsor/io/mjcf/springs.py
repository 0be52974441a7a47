"""Springs of joints and tendons: read as terms, and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nextafter
from typing import Any, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from torsor.io.mjcf.selection import HINGE, SLIDE, TENDON, Selection, name_of
from torsor.io.shared.losses import is_spring_of_mujoco
from torsor.io.shared.xml_text import numbers
from torsor.model.description import Description, Mimic
from torsor.model.terms.springs import JointSpring, Spring
from torsor.model.terms.tendons import FixedTendon, SpringBetween
from torsor.model.terms.term import Term

#: MuJoCo's mjtDisableBit and mjtWrap
NO_SPRINGS, NO_DAMPERS = 32, 64
JOINT, SITE = 1, 3


class Springs(NamedTuple):
    """The springs of a file: terms, and the names of joints and tendons whose springs are not read."""

    terms: tuple[Term, ...]
    joints: list[str]
    tendons: list[str]


def read_springs(chosen: Selection, mimics: Mapping[int, Mimic]) -> Springs:
    """Springs of hinges and sliders, of fixed tendons, and of spatial tendons along sites; MuJoCo's flags switch them off."""
    m, terms, joints, tendons = chosen.m, list[Term](), [], []
    stiff, damped = (not m.opt.disableflags & bit for bit in (NO_SPRINGS, NO_DAMPERS))
    for k, name in chosen.joints.items():
        if not stiff or not (m.jnt_stiffness[k] or any(m.jnt_stiffnesspoly[k])):
            continue
        curved = any(m.jnt_stiffnesspoly[k]) or (k in mimics and mimics[k].higher)
        if m.jnt_type[k] not in (HINGE, SLIDE) or curved:
            joints.append(name)
            continue
        terms.append(JointSpring(name, Spring(float(m.jnt_stiffness[k]), rest=float(m.qpos_spring[m.jnt_qposadr[k]]))))
    for t in range(m.ntendon):
        name = name_of(m, TENDON, t) or f"tendon {t}"
        K, D = float(m.tendon_stiffness[t]) * stiff, float(m.tendon_damping[t]) * damped
        if m.tendon_armature[t] or any(m.tendon_stiffnesspoly[t]) or any(m.tendon_dampingpoly[t]):
            tendons.append(name)
        if not (K or D) or any(m.tendon_stiffnesspoly[t]) or any(m.tendon_dampingpoly[t]):
            continue
        low, high = (float(x) for x in m.tendon_lengthspring[t])
        law = Spring(K, D, rest=low if low == high else (low, high))
        if (term := _tendon(chosen, mimics, t, law, name)) is None:
            tendons.append(name)
        else:
            terms.append(term)
    return Springs(tuple(terms), joints, list(dict.fromkeys(tendons)))


def _tendon(chosen: Selection, mimics: Mapping[int, Mimic], t: int, law: Spring, name: str) -> Term | None:
    """The term of a tendon; None where its way is not along joints or sites that are read."""
    m = chosen.m
    way = range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t]))
    ids = [int(m.wrap_objid[w]) for w in way]
    kinds = {int(m.wrap_type[w]) for w in way}
    if kinds == {JOINT} and all(k in chosen.joints and not (k in mimics and mimics[k].higher) for k in ids):
        return FixedTendon({chosen.joints[k]: float(m.wrap_prm[w]) for k, w in zip(ids, way, strict=True)}, law, name=name)
    if kinds == {SITE} and all(s in chosen.sites for s in ids):
        first, *via, last = (chosen.sites[s] for s in ids)
        return SpringBetween(first, last, law, via=tuple(via), name=name)
    return None


# -- writing -------------------------------------------------------------------------------------------------------------


def joint_attributes(d: Description, joint: str) -> dict[str, str]:
    """``stiffness`` and ``springref`` of a joint with a spring that has neither a damper nor a slack range."""
    for t in d.terms:
        if isinstance(t, JointSpring) and t.joint == joint and _is_plain(t) and isinstance(t.law, Spring):
            return {"stiffness": numbers(t.name, (t.law.stiffness,)), "springref": numbers(t.name, _rest(t.law)[:1])}
    return {}


def tendons(d: Description, sites: Mapping[str, str]) -> Element:
    """The other springs as tendons; ``sites`` are those of frames."""
    out = etree.Element("tendon")
    for t in filter(is_spring_of_mujoco, d.terms):
        if isinstance(t, JointSpring) and _is_plain(t):
            continue
        given = {"stiffness": (t.law.stiffness,), "damping": (t.law.damping,), "springlength": _rest(t.law)}  # type: ignore[attr-defined]
        words = {"name": t.name, **{word: numbers(t.name, x) for word, x in given.items()}}
        if isinstance(t, SpringBetween):
            made = etree.SubElement(out, "spatial", words)
            for frame in t.path:
                etree.SubElement(made, "site", site=sites[frame])
            continue
        made = etree.SubElement(out, "fixed", words)
        for joint, c in zip(t.joints, t.coefficients, strict=True) if isinstance(t, FixedTendon) else ((t.joint, 1.0),):  # type: ignore[attr-defined]
            etree.SubElement(made, "joint", joint=joint, coef=numbers(t.name, (c,)))
    return out


def _is_plain(t: Any) -> bool:
    return is_spring_of_mujoco(t) and not t.law.damping and not isinstance(t.law.rest, tuple)


def _rest(law: Spring) -> Sequence[float]:
    """Lower and upper rest length, with the preload: K (rest − L) + preload."""
    if isinstance(law.rest, tuple):
        return law.rest
    rest = law.rest + (law.preload / law.stiffness if law.preload else 0)
    rest = nextafter(rest, -2) if rest == -1 else rest  # "-1 -1" would be the length in the reference configuration
    return rest, rest
