"""Drawings and tables: scenes, joint forces by cause, the replay page, the browser viewer.

May import every folder up to mechanics and symbolic.
"""
