"""Files, tables of numbers, plain-text and HTML tables, plots, progress, locks, lazy imports; independent of robots.

Imports no other package of torsor.
"""
