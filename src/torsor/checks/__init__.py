"""Checks: plausibility of a model's numbers (doctor), and numerical verification of its dynamics (certificates).

May import every folder except the command line.
"""
