"""Beams: links that bend and twist, with assumed modes (Euler–Bernoulli; F&O §2)."""

from torsor.model.beams.beam import Beam, beam, box, rod, tube

__all__ = ["Beam", "beam", "box", "rod", "tube"]
