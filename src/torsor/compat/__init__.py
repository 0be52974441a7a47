"""Other people's names for what torsor computes: :mod:`torsor.compat.modern_robotics`."""
