"""Comparison with other libraries: the robot converted by :mod:`torsor.bridges`, at the same states, in their coordinates.

Its velocities are V = T v with T(q), so its accelerations are A = T a + Ṫv, and back τ = Tᵀτ', M = TᵀM'T.  A coordinate that
follows another here and is free there is a row of T, and the identities still hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torsor.bridges.convention import Convention
from torsor.checks.certify.comparison import Array, Comparison, Skip, compare, per_sample
from torsor.checks.certify.rounding import EPS
from torsor.checks.certify.subject import Samples
from torsor.errors import MissingExtra
from torsor.model import Description
from torsor.support.locks import cached_property


@dataclass(frozen=True)
class Peer:
    """The robot in another library, and the samples in its coordinates."""

    model: Any
    data: Any
    convention: Convention
    subject: Samples

    @cached_property
    def q(self) -> Array:
        return self.convention.q(self.subject.q)

    @cached_property
    def v(self) -> Array:
        """T v"""
        return self.convention.v(self.subject.q, self.subject.v)

    @cached_property
    def a(self) -> Array:
        """T a + Ṫv"""
        return self.convention.a(self.subject.q, self.subject.v, self.subject.a)

    @cached_property
    def tau(self) -> Array:
        """τ' with Tᵀτ' = τ"""
        return self.convention.tau(self.subject.q, self.subject.tau)

    def force(self, tau: Array) -> Array:
        """τ = Tᵀτ'"""
        return self.convention.back.tau(self.q, tau)

    def mass(self, M: Array) -> Array:
        """M = TᵀM'T"""
        T = self.convention.velocity_matrix(self.subject.q)
        return np.swapaxes(T, 1, 2) @ M @ T

    def acceleration(self, a: Array) -> Array:
        """a with T a + Ṫv = a', where T is square."""
        return self.convention.back.a(self.q, self.v, a)


def without_losses_and_shapes(s: Samples) -> Description:
    """The tree without losses and shapes, which are not compared and not supported by every library."""
    d = s.tree.description
    links = tuple(replace(link, geometry=()) for link in d.links)
    joints = tuple(replace(j, damping=(), friction=(), laws=()) for j in d.joints)
    return replace(d, links=links, joints=joints, frames=())


@contextmanager
def skip_unsupported(library: str) -> Iterator[None]:
    """Skip robots that a library does not support."""
    try:
        yield
    except MissingExtra as error:
        raise Skip(str(error)) from error
    except (ValueError, RuntimeError) as error:  # errors of the other library, and ModelError
        raise Skip(f"{library} does not support it: {' '.join(str(error).splitlines()[:2])}") from error


# -- comparison of results -----------------------------------------------------------------------------------------------


def same_force(s: Samples, tau: Array, accuracy: float) -> Comparison:
    """τ; ``accuracy`` is the error of the other library's representation of the robot, relative to the largest term."""
    size = per_sample(s.force_sizes)
    return compare(s.tau, tau, s.tau_sigma + s.source_sigma + accuracy * size[:, None], s.names, size=size)


def same_mass(s: Samples, M: Array, accuracy: float) -> Comparison:
    """M, as τ."""
    size = per_sample(M)
    sigma = s.M_sigma + (accuracy + EPS * len(s.model.parent)) * size[:, None, None]
    return compare(s.M, M, sigma, s.names, s.names, size=size)


def same_acceleration(s: Samples, a: Array, accuracy: float) -> Comparison:
    """a: the tolerance of τ times |M⁻¹|."""
    size = per_sample(s.force_sizes)
    off = s.tau_sigma + s.source_sigma + accuracy * size[:, None]
    return compare(s.acceleration, a, s.acceleration_sigma(off), s.names)
