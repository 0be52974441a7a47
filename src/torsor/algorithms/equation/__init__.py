"""The equation of motion, composed of a model and its terms, over any scalar: M a + h = τ + Σ f + Aᵀλ, A a = −(Ȧv − ḃ).

Users call it ``torsor.terms``: a term of one's own is a subclass of :class:`Term`.
"""

from torsor.algorithms.equation.at import At
from torsor.algorithms.equation.equation import EquationOfMotion
from torsor.model.terms.fields import ForceField
from torsor.model.terms.joint_losses import Damping, JointFriction
from torsor.model.terms.springs import JointSpring, SeriesSpring, Spring, SpringLaw, curve
from torsor.model.terms.tendons import FixedTendon, SpringBetween
from torsor.model.terms.term import Effort, States, Term

__all__ = [
    "At",
    "Damping",
    "Effort",
    "EquationOfMotion",
    "FixedTendon",
    "ForceField",
    "JointFriction",
    "JointSpring",
    "SeriesSpring",
    "Spring",
    "SpringBetween",
    "SpringLaw",
    "States",
    "Term",
    "curve",
]
