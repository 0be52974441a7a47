"""Global analysis (F&O §3.5): all bodies of a tree as one sparse system, and M factored into operators applied in O(N)."""

from torsor.mechanics.operators.equations import Equation, Equations
from torsor.mechanics.operators.innovations import Innovations, innovations
from torsor.mechanics.operators.operators import Operators, operators

__all__ = ["Equation", "Equations", "Innovations", "Operators", "innovations", "operators"]
