"""Files, tables of numbers, plain-text and HTML tables, plots, progress, locks, lazy imports: nothing about robots.

Imports no other room.
"""
