"""Instruments on a robot: quantities, columns of a simulation, sensors of MJCF."""
