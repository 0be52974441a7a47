"""The equation of motion, composed of a model and its terms, over any scalar: M a + h = τ + Σ f + Aᵀλ, A a = −(Ȧv − ḃ)."""

from torsor.algorithms.equation.at import At
from torsor.algorithms.equation.equation import EquationOfMotion

__all__ = ["At", "EquationOfMotion"]
