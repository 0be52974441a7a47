"""Friction at the joints (MR §8.9.4): laws as plain data, over any scalar.

>>> law = Stribeck(b_static=3.0, b_kinetic=2.0, b_viscous=0.5, v_stribeck=0.1)
>>> law.force(1.0), law.breakaway().forward
(2.5, 3.0)
"""

from torsor.model.friction.directions import Directional, LoadDependent
from torsor.model.friction.law import Friction, Levels
from torsor.model.friction.laws import Coulomb, StaticKinetic, StaticKineticViscous, StaticViscous, Stribeck, Viscous
from torsor.model.friction.lugre import LuGre
from torsor.model.friction.smooth import SIGMOIDS, Smooth

#: every law by name: the six of MR Fig. 8.15 in its order, then those made of others
LAWS: dict[str, type] = {
    "viscous": Viscous,
    "coulomb": Coulomb,
    "static+viscous": StaticViscous,
    "static+kinetic": StaticKinetic,
    "static+kinetic+viscous": StaticKineticViscous,
    "stribeck": Stribeck,
    "directional": Directional,
    "load-dependent": LoadDependent,
    "lugre": LuGre,
    "smooth": Smooth,
}

__all__ = [
    "LAWS",
    "SIGMOIDS",
    "Coulomb",
    "Directional",
    "Friction",
    "Levels",
    "LoadDependent",
    "LuGre",
    "Smooth",
    "StaticKinetic",
    "StaticKineticViscous",
    "StaticViscous",
    "Stribeck",
    "Viscous",
]
