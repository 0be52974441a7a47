"""Beam: parameters of a flexible link and its mode shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, TypedDict, TypeVar, Unpack

from torsor.errors import ArgumentError, require_known
from torsor.model.beams.shapes import FAMILIES, gauss
from torsor.model.joints.deflection import Deflection
from torsor.spatial import Inertia, Sym, Transform, Vec
from torsor.spatial import arguments as read
from torsor.spatial.vector import IDENTITY, ZERO
from torsor.support.locks import cached_property

#: larger beams are more than their equations can be solved for
MOST_MODES, MOST_SLICES = 60, 1000


@dataclass(frozen=True, kw_only=True)
class Beam:
    """A uniform Euler–Bernoulli beam along x̂ from its root, with assumed modes.  Made by :func:`beam`, :func:`tube` ...

    ``modes`` counts the shapes of bending along ŷ, of bending along ẑ and of torsion about x̂, in the order of η.
    A coordinate of bending is in metres, one of torsion in radians: its shape has the mean square 1 along the beam.
    """

    length: float
    mass_per_length: float
    EI_y: float
    EI_z: float
    GJ: float
    polar_per_length: float
    rotary_per_length: tuple[float, float] = (0, 0)
    modes: tuple[int, int, int] = (2, 2, 1)
    shapes: str = "polynomial"
    damping: float = 0
    foreshortening: bool = True
    slices: int | None = None
    origin: Transform = field(default_factory=Transform.identity)

    def __post_init__(self) -> None:
        require_known("shapes=", self.shapes, FAMILIES)
        if len(self.modes) != 3 or any(not isinstance(n, int) or n < 0 for n in self.modes) or not any(self.modes):
            raise ArgumentError(f"modes must be three counts (along y, along z, torsion), not all zero, not {self.modes}")
        if self.slices is not None and not (isinstance(self.slices, int) and 0 < self.slices <= MOST_SLICES):
            raise ArgumentError(f"a beam's slices must be a whole number from 1 to {MOST_SLICES}, not {self.slices!r}")
        if sum(self.modes) > MOST_MODES:
            raise ArgumentError(f"a beam has at most {MOST_MODES} modes, not {sum(self.modes)}")
        y, z, t = self.modes
        needed = {"length": 1, "mass_per_length": 1, "EI_y": z, "EI_z": y, "GJ": t, "polar_per_length": t}
        for name, count in needed.items():
            value = getattr(self, name)
            if not (math.isfinite(value) and (value > 0 if count else value >= 0)):
                raise ArgumentError(f"a beam's {name} must be finite and positive, not {value!r}")
        if not (math.isfinite(self.damping) and self.damping >= 0):
            raise ArgumentError(f"a beam's damping [s] must be finite and not negative, not {self.damping!r}")

    @property
    def mass(self) -> float:
        """ρ A L [kg]."""
        return self.mass_per_length * self.length

    @property
    def count(self) -> int:
        """The number of coordinates η."""
        return sum(self.modes)

    @property
    def names(self) -> tuple[str, ...]:
        """One name per coordinate, for example bend y1, bend y2, bend z1, bend z2, twist x1."""
        kinds = zip(("bend y", "bend z", "twist x"), self.modes, strict=True)
        return tuple(f"{kind}{k + 1}" for kind, n in kinds for k in range(n))

    @cached_property
    def stiffness(self) -> tuple[tuple[float, ...], ...]:
        """K = diag(∫ EI φ''φ''ᵀ dx, ∫ EI ψ''ψ''ᵀ dx, ∫ GJ χ'χ'ᵀ dx), exact by Gauss's quadrature."""
        L, (bending, torsion) = self.length, self._functions
        K = [[0.0] * self.count for _ in range(self.count)]
        ends = [0, self.modes[0], self.modes[0] + self.modes[1], self.count]
        kinds = ((self.EI_z / L**3, bending, 2), (self.EI_y / L**3, bending, 2), (self.GJ / L, torsion, 1))
        for x, w in zip(*gauss(self._points), strict=True):
            for b, (EI, shape, order) in enumerate(kinds):
                bent = [shape(k, x)[order] for k in range(self.modes[b])]
                for i, s in enumerate(bent, start=ends[b]):
                    for j, t in enumerate(bent, start=ends[b]):
                        K[i][j] += w * EI * s * t
        return tuple(map(tuple, K))

    def section(self, x: float, turns: str = "all") -> Deflection:
        """Displacement and rotation of the section at x [m] as functions of η.

        ``turns``: ``"all"``, with the slopes and the twist; ``"twist"``, about x̂ alone, enough for a disc whose inertia is
        polar; ``"none"``, enough for a point mass.
        """
        L, (bending, torsion) = self.length, self._functions
        y, z, t = self.modes
        bent, twisted = [bending(k, x / L) for k in range(max(y, z))], [torsion(k, x / L) for k in range(t)]
        d = [*(Vec(0, s.value, 0) for s in bent[:y]), *(Vec(0, 0, s.value) for s in bent[:z]), *[ZERO] * t]
        r = [*(Vec(0, 0, s.slope / L) for s in bent[:y]), *(Vec(0, -s.slope / L, 0) for s in bent[:z])]
        r = [ZERO] * len(r) if turns == "twist" else r
        r += [Vec(s.value, 0, 0) for s in twisted]
        return Deflection(tuple(d), () if turns == "none" else tuple(r), self._shortening(x) if self.foreshortening else ())

    def discs(self) -> list[tuple[Deflection, float, Inertia]]:
        """(motion, x, inertia) of the slices that represent the beam: discs of dm = ρ A L w at the Gauss points."""
        Iy, Iz = self.rotary_per_length
        polar = self.polar_per_length if self.modes[2] or Iy or Iz else 0
        turns = "all" if Iy or Iz else "twist" if polar else "none"
        out = []
        for x, w in zip(*gauss(self._points), strict=True):
            at, dx = x * self.length, w * self.length
            disc = Sym(polar * dx or 0, 0, 0, Iy * dx or 0, 0, Iz * dx or 0)
            out.append((self.section(at, turns), at, Inertia.of(self.mass_per_length * dx, ZERO, disc)))
        return out

    def section_transform(self, x: float) -> Transform:
        """From the link's frame to the section at x, at rest."""
        return Transform.of_pose(IDENTITY, Vec(x, 0, 0)) @ self.origin

    @property
    def _functions(self) -> tuple[Any, Any]:
        family = FAMILIES[self.shapes]
        return family.bending, family.torsion

    @property
    def _points(self) -> int:
        return self.slices or FAMILIES[self.shapes].points(max(self.modes))

    def _shortening(self, x: float) -> tuple[tuple[float, ...], ...]:
        """H(x) = ∫₀ˣ φ'φ'ᵀ dx, of each plane."""
        y, z, t = self.modes
        H = [[0.0] * self.count for _ in range(self.count)]
        for s, w in zip(*gauss(2 * self._points), strict=True):
            slope = [self._functions[0](k, s * x / self.length).slope / self.length for k in range(max(y, z))]
            for start, n in ((0, y), (y, z)):
                for i in range(n):
                    for j in range(n):
                        H[start + i][start + j] += w * x * slope[i] * slope[j]
        return tuple(tuple(h or 0 for h in row) for row in H)


def beam(
    length: float,
    *,
    mass_per_length: float,
    EI_y: float = 0,
    EI_z: float = 0,
    GJ: float = 0,
    polar_per_length: float = 0,
    rotary_per_length: Sequence[float] = (0, 0),
    modes: Sequence[int] = (2, 2, 1),
    shapes: str = "polynomial",
    damping: float = 0,
    foreshortening: bool = True,
    slices: int | None = None,
    xyz: Sequence[float] = (0, 0, 0),
    rpy: Sequence[float] = (0, 0, 0),
) -> Beam:
    """A beam along x̂ of its own frame, which is at (xyz [m], rpy [rad]) in the frame of its link.

    ``length`` L [m], ``mass_per_length`` ρA [kg/m]; bending stiffness [N·m²] ``EI_z`` about ẑ, which resists deflection along
    ŷ, and ``EI_y`` about ŷ, which resists deflection along ẑ; torsional stiffness ``GJ`` [N·m²/rad].  ``polar_per_length`` ρI_p
    [kg·m] is about x̂, and ``rotary_per_length`` (ρI_y, ρI_z) [kg·m] Rayleigh's terms, by default zero (Euler–Bernoulli).
    ``modes`` (along ŷ, along ẑ, torsion); a stiffness without modes is not needed.  ``shapes`` is "polynomial" or
    "cantilever", see :mod:`torsor.model.beams.shapes`.  ``damping`` β [s] is the material's, D = β K.
    ``foreshortening`` keeps the second-order shortening of a bent beam, which makes it stiffer when it spins and softer
    under its own weight.  ``slices`` is the number of Gauss points along the beam.

    >>> beam(1.0, mass_per_length=0.5, EI_z=20.0, modes=(2, 0, 0)).stiffness[0][0]  # ∫ EI (2 √5)² dx
    400.0
    """
    origin = read.pose(xyz, rpy, "beam")
    Iy, Iz = rotary_per_length
    counts: tuple[int, int, int] = tuple(modes)  # type: ignore[assignment]
    return Beam(
        length=length, mass_per_length=mass_per_length, EI_y=EI_y, EI_z=EI_z, GJ=GJ, polar_per_length=polar_per_length,
        rotary_per_length=(Iy, Iz), modes=counts, shapes=shapes, damping=damping, foreshortening=foreshortening, slices=slices,
        origin=origin,
    )  # fmt: skip


Maker = TypeVar("Maker", bound=Callable[..., Beam])


class BeamOptions(TypedDict, total=False):
    """Options of every function that makes a beam, as :func:`beam` has them."""

    rotary_per_length: Sequence[float]
    modes: Sequence[int]
    shapes: str
    damping: float
    foreshortening: bool
    slices: int | None
    xyz: Sequence[float]
    rpy: Sequence[float]


def _with_options_of_beam(make: Maker) -> Maker:
    """The function with the options of :func:`beam` in its signature, so that help() shows them."""
    own, given = signature(make), signature(beam).parameters
    names = [*list(own.parameters.values())[:-1], *(given[name] for name in BeamOptions.__annotations__)]
    make.__signature__ = own.replace(parameters=names)  # type: ignore[attr-defined]  # as inspect reads it
    return make


@_with_options_of_beam
def tube(
    length: float,
    radius: float,
    thickness: float,
    *,
    E: float,
    G: float,
    density: float,
    **options: Unpack[BeamOptions],
) -> Beam:
    """A round tube: outer ``radius`` and ``thickness`` of the wall [m], moduli E and G [Pa], ``density`` [kg/m³].

    The other options as for :func:`beam`.

    >>> round(tube(1.0, 0.02, 0.002, E=70e9, G=26e9, density=2700.0).mass, 4)
    0.6447
    """
    if not 0 < thickness <= radius:
        raise ArgumentError(f"a tube's thickness must be positive and at most its radius {radius!r}, not {thickness!r}")
    inner = radius - thickness
    A, I = math.pi * (radius**2 - inner**2), math.pi / 4 * (radius**4 - inner**4)
    return beam(length, **_section(A, I, I, 2 * I, E, G, density), **options)


@_with_options_of_beam
def rod(
    length: float,
    radius: float,
    *,
    E: float,
    G: float,
    density: float,
    **options: Unpack[BeamOptions],
) -> Beam:
    """A solid round bar, as :func:`tube`."""
    return tube(length, radius, radius, E=E, G=G, density=density, **options)


@_with_options_of_beam
def box(
    length: float,
    width: float,
    height: float,
    *,
    E: float,
    G: float,
    density: float,
    **options: Unpack[BeamOptions],
) -> Beam:
    """A solid rectangular bar, ``width`` along ŷ and ``height`` along ẑ [m]; Saint-Venant's torsion constant."""
    a, b = max(width, height), min(width, height)
    if b <= 0:
        raise ArgumentError(f"a box's width and height must be positive, not {width!r} and {height!r}")
    series = sum(math.tanh(n * math.pi * a / (2 * b)) / n**5 for n in range(1, 30, 2))
    J = a * b**3 * (1 / 3 - 64 / math.pi**5 * (b / a) * series)
    return beam(length, **_section(width * height, width * height**3 / 12, height * width**3 / 12, J, E, G, density), **options)


def _section(A: float, Iy: float, Iz: float, J: float, E: float, G: float, density: float) -> dict[str, Any]:
    """ρA, EI, GJ and ρI_p of a section: area A, second moments I_y and I_z, torsion constant J."""
    return {
        "mass_per_length": density * A,
        "EI_y": E * Iy,
        "EI_z": E * Iz,
        "GJ": G * J,
        "polar_per_length": density * (Iy + Iz),
    }
