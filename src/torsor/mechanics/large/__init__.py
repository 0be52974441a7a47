"""Chains and trees of up to a million bodies, as arrays: O(N) and O(log N) dynamics through compiled loops."""

from torsor.mechanics.large.chains import chain, random_tree
from torsor.mechanics.large.steps import depth
from torsor.mechanics.large.tree import LargeTree

__all__ = ["LargeTree", "chain", "depth", "random_tree"]
