"""Contacts: shapes of links that touch surfaces, with Coulomb friction and restitution; they can only push."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from torsor.errors import ArgumentError
from torsor.model.contact.shapes import Placed, Shape
from torsor.model.contact.surfaces import Surface
from torsor.model.terms.term import Effort, States, Term
from torsor.scalar import Scalar, is_constant
from torsor.spatial import Force, Vec
from torsor.spatial import arguments as read

if TYPE_CHECKING:
    from torsor.algorithms.equation.at import At
    from torsor.model.model import Model


class Touch(NamedTuple):
    """A possible contact at a state: body ``body`` may touch body ``other``, 0 the world, at a point.

    All in the world's axes: n is the unit normal away from the other body, φ the distance.
    """

    body: int
    other: int
    gap: Scalar  #: φ [m], negative inside
    normal: Vec
    at: Vec  #: the point of the shape that is nearest to the surface [m]
    frame: str  #: of the shape, on ``body``
    surface: str  #: the frame of the surface, on ``other``


@dataclass(frozen=True)
class Contacts(Term):
    """0 ≤ λ_n ⊥ φ ≥ 0, |λ_t| ≤ μ λ_n against the slip: pairs of a shape and a surface, ``shapes[k]`` and ``surfaces[k]``.

    ``restitution`` e makes v_n⁺ = −e v_n⁻ at an impact; ``stiffness`` k [N/m] and ``damping`` d [N·s/m] make the surface an
    implicit spring.  Steps of fixed length solve for the impulses; x are the forces of the step before, three per contact in
    the world's axes [N], and the residual of their solution [m/s].  Methods of one instant have the forces that x says.
    """

    shapes: tuple[Shape, ...]
    surfaces: tuple[Surface, ...]
    frames: tuple[str, ...]
    others: tuple[str, ...]
    mu: Scalar = 1.0
    restitution: Scalar = 0.0
    stiffness: Scalar | None = None
    damping: Scalar | None = None
    rise: Scalar = 0.0  #: by which the surfaces are raised along their normals [m]
    name: str = "contact"
    kind = "contact"
    places = ("frames", "others")

    def __post_init__(self) -> None:
        if len({len(self.shapes), len(self.surfaces), len(self.frames), len(self.others)}) > 1 or not self.shapes:
            raise ArgumentError(f"{self.name}: needs one surface, frame and other frame for each shape, and one shape at least")
        shapes = tuple(replace(s, frame=f) for s, f in zip(self.shapes, self.frames, strict=True))  # editing renames frames
        object.__setattr__(self, "shapes", shapes)

    def check(self, model: Model) -> None:
        numbers = {"friction": self.mu, "restitution": self.restitution, "stiffness": self.stiffness, "damping": self.damping}
        for name, value in numbers.items():
            if value is not None and is_constant(read.scalar(value, f"{self.name}: {name}")) and not value >= 0:
                raise ArgumentError(f"{self.name}: {name} must not be negative, not {value!r}")
        if is_constant(self.restitution) and self.restitution > 1:
            raise ArgumentError(f"{self.name}: restitution must be at most 1, not {self.restitution!r}")
        if self.stiffness is None and self.damping is not None:
            raise ArgumentError(f"{self.name}: damping without stiffness has no effect on a hard contact; give stiffness= too")
        if self.stiffness is not None and not self.stiffness > 0:
            raise ArgumentError(f"{self.name}: stiffness must be positive; leave it out for a hard contact")
        if self.stiffness is not None and self.restitution:
            raise ArgumentError(f"{self.name}: restitution is for hard contacts; a soft one has stiffness and damping")
        for frame, other in zip(self.frames, self.others, strict=True):
            (body, _), (against, _) = model.frame(frame), model.frame(other)
            if body == against:
                raise ArgumentError(f"{self.name}: {frame!r} and {other!r} do not move against each other")
            if not model.moves(body) and not model.moves(against):
                raise ArgumentError(f"{self.name}: nothing moves {frame!r} or {other!r}")

    def on_edited(self, model: Model) -> Contacts | None:
        rows = [
            row for row in zip(self.shapes, self.surfaces, self.frames, self.others, strict=True)
            if (a := model.frame(row[2]).body) != (b := model.frame(row[3]).body) and (model.moves(a) or model.moves(b))
        ]  # fmt: skip
        if len(rows) == len(self.shapes):
            return self
        shapes, surfaces, frames, others = zip(*rows, strict=True) if rows else ((), (), (), ())
        return replace(self, shapes=shapes, surfaces=surfaces, frames=frames, others=others) if rows else None

    def describe(self, model: Model) -> str:
        kinds = dict.fromkeys(f"{s.describe()} on {f.describe()}" for s, f in zip(self.shapes, self.surfaces, strict=True))
        n = len(self.points)
        return f"{n} point{'s' if n > 1 else ''}: {', '.join(kinds)}; friction {self.mu}"

    @property
    def points(self) -> tuple[str, ...]:
        """The name of each possible contact: a capsule has two against flat surfaces."""
        counts: dict[str, int] = {}
        names = []
        for shape, surface, frame in zip(self.shapes, self.surfaces, self.frames, strict=True):
            for _ in _centres(shape, surface, shape.start, shape.end):
                counts[frame] = counts.get(frame, 0) + 1
                names.append(f"{frame} {counts[frame]}")
        return tuple(name[: -len(" 1")] if counts[name.rpartition(" ")[0]] == 1 else name for name in names)

    def states(self, model: Model) -> States:
        names = [f"{self.name}: {point} f{axis}" for point in self.points for axis in "xyz"]
        return States((*names, f"{self.name}: residual"), (0.0,) * (len(names) + 1))

    def touches(self, at: At) -> list[Touch]:
        """All possible contacts at a state."""
        found = []
        for shape, surface, frame, other in zip(self.shapes, self.surfaces, self.frames, self.others, strict=True):
            (body, X), (against, Y) = at.model.frame(frame), at.model.frame(other)
            R, p = (X @ at.from_world[body]).pose
            seen = Y @ at.from_world[against]  # from the world to the frame of the surface
            ends = [seen.E @ (R @ end + p - seen.r) for end in (shape.start, shape.end)]
            for c in _centres(shape, surface, *ends):
                size, n = surface.distance(c)
                nearest = c - n * shape.radius
                gap, normal, point = size - shape.radius - self.rise, seen.E.T @ n, seen.E.T @ nearest + seen.r
                found.append(Touch(body, against, gap, normal, point, frame, other))
        return found

    def forces(self, at: At) -> list[Vec]:
        """The force of each contact in the world's axes [N], from x."""
        x = at.x_of(self)
        return [Vec(*x[k : k + 3]) for k in range(0, len(x) - 1, 3)]

    def force(self, at: At) -> Effort:
        on: dict[int, Force] = {}
        forces = self.forces(at)
        for touch, f in zip(self.touches(at), forces, strict=True) if forces else ():
            for body, push in ((touch.body, f), (touch.other, -f)):
                seen = at.from_world[body]
                local = seen.E @ push
                F = Force((seen.E @ (touch.at - seen.r)).cross(local), local)
                on[body] = on[body] + F if body in on else F
        return Effort(wrenches={body: F for body, F in on.items() if body})

    def wrenches_on_frames(self, at: At) -> dict[str, list[Scalar]]:
        """The wrench on each frame (m, f) at its origin, in its axes, from x."""
        on: dict[str, list[Scalar]] = {}
        for touch, f in zip(self.touches(at), self.forces(at), strict=True):
            for frame, push in ((touch.frame, f), (touch.surface, -f)):
                seen = at.pose(frame)
                local = seen.E @ push
                F = [*(seen.E @ (touch.at - seen.r)).cross(local), *local]
                on[frame] = [x + y for x, y in zip(on[frame], F, strict=True)] if frame in on else F
        return on

    def tick(self, begin: At, dt: Scalar) -> list[Scalar]:
        return list(begin.impulses[self.name])

    def readings(self, at: At) -> Mapping[str, Scalar]:
        return dict(zip(self.states(at.model).names, at.x_of(self), strict=False))

    def power(self, at: At) -> Scalar:
        return 0


def contacts(pairs: list[tuple[Shape, Placed]], **numbers: Any) -> Contacts:
    """The term of some pairs."""
    first, second = zip(*pairs, strict=True)
    surfaces, others = tuple(p.surface for p in second), tuple(p.frame for p in second)
    return Contacts(first, surfaces, tuple(s.frame for s in first), others, **numbers)


class Contact(NamedTuple):
    """A possible contact: its frame and the kind of its shape, the frame and the kind of its surface, and its numbers."""

    frame: str
    shape: str
    other: str
    surface: str
    friction: Scalar
    restitution: Scalar
    stiffness: Scalar | None
    damping: Scalar | None
    term: str


def contacts_of(model: Model) -> dict[str, Contact]:
    """All possible contacts by name, in the order of their forces; a name of two terms has the term's before it."""
    terms = [term for term in model.terms if isinstance(term, Contacts)]
    counts = Counter(point for term in terms for point in term.points)
    found: dict[str, Contact] = {}
    for t in terms:
        names = iter(t.points)
        for shape, surface, frame, other in zip(t.shapes, t.surfaces, t.frames, t.others, strict=True):
            words = shape.describe(), other, surface.describe()
            contact = Contact(frame, *words, t.mu, t.restitution, t.stiffness, t.damping, t.name)
            for _ in _centres(shape, surface, shape.start, shape.end):
                point = next(names)
                found[point if counts[point] == 1 else f"{t.name}: {point}"] = contact
    return found


def contact_places(model: Model) -> tuple[list[int], list[int]]:
    """The places in x of the forces of all contacts, three per contact, and of the residuals of their terms."""
    forces: list[int] = []
    residuals: list[int] = []
    first = 0
    for term in model.terms:
        size = term.states(model).size
        if isinstance(term, Contacts):
            forces += range(first, first + size - 1)
            residuals.append(first + size - 1)
        first += size
    return forces, residuals


def _centres(shape: Shape, surface: Surface, a: Vec, b: Vec) -> tuple[Vec, ...]:
    """The centres of the spheres that may touch, of a segment from a to b in the frame of the surface."""
    return (a,) if shape.start == shape.end else surface.nearest_to(a, b)
