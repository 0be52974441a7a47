"""A robot under constraints: closed loops, contacts, Pfaffian constraints of one's own (MR §8.7, F&O §3.4)."""

from torsor.constrained.mobility import Mobility
from torsor.constrained.system import Constrained, ConstrainedMotion, Impact, Stabilization

__all__ = ["Constrained", "ConstrainedMotion", "Impact", "Mobility", "Stabilization"]
