"""Equations beyond the rigid tree: constraints and loops, elastic joints and links, task space, operators, large chains.

May import support, scalar, spatial, compile, model, algorithms and kernels.
"""
