"""Joint torques by cause: inertia by joint, velocity products by pair, gravity by link, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from torsor.algorithms.terms import torque_terms
from torsor.errors import printable, require_known
from torsor.kernels.checks import with_their_axes, wrenches_at
from torsor.kernels.one_state import one_state, one_wrench_each
from torsor.kernels.options import Wrenches
from torsor.kernels.replaced import name_replacements
from torsor.model.names import coordinate_names
from torsor.model.terms.attaching import KINDS as TERM_KINDS
from torsor.support.plotting import COLORS, drawing, legend_beside
from torsor.support.text import columns, count, vector

if TYPE_CHECKING:
    from torsor.robot import Robot

#: terms of a joint force, in the order of the equation
KINDS = ("inertia", "centrifugal", "Coriolis", "gravity", "rotor", "external")

#: largest number of parts that print shows in full
MANY = 100

#: parts smaller than this, relative to the largest part, are shown as zero
ROUNDING = 1e-13


class TorqueTerm(NamedTuple):
    """One term of the torque: its kind, its cause (a joint, a pair of joints, a link, a frame), and ``tau`` (nv)."""

    kind: str
    cause: str
    tau: np.ndarray


@dataclass(frozen=True, eq=False)
class Explanation:
    """τ = Σ parts [N·m; N for prismatic joints].  ``print`` it, or see ``table``, ``plot``, ``by_kind`` and ``of``."""

    robot: str
    coordinates: tuple[str, ...]
    parts: tuple[TorqueTerm, ...]

    @property
    def tau(self) -> np.ndarray:
        """The sum of all parts, ``(nv,)``: inverse dynamics."""
        return np.sum([p.tau for p in self.parts], axis=0) if self.parts else np.zeros(len(self.coordinates))

    def by_kind(self) -> dict[str, np.ndarray]:
        """The torque by kind: inertia, centrifugal, Coriolis, gravity, rotor, external, then the kinds of the robot's terms."""
        zero, kinds = np.zeros(len(self.coordinates)), dict.fromkeys((*KINDS, *(p.kind for p in self.parts)))
        return {kind: sum((p.tau for p in self.parts if p.kind == kind), start=zero) for kind in kinds}

    def of(self, kind: str, cause: str = "") -> np.ndarray:
        """One part, ``(nv,)``: ``of("gravity", "link2")``; all of a kind without a cause."""
        kinds = {**dict.fromkeys(TERM_KINDS, np.zeros(len(self.coordinates))), **self.by_kind()}
        require_known("kind of torque", kind, kinds)
        if not cause:
            return kinds[kind]
        found = {p.cause: p.tau for p in self.parts if p.kind == kind}
        require_known(f"cause of {kind} torque", cause, found)
        return found[cause]

    def table(self, joint: str | None = None, *, by: str = "part", digits: int = 4, zeros: bool = False) -> str:
        """The parts as text: one column per joint, or with ``joint`` only the parts of its torque, the largest first.

        ``by="kind"`` sums the parts of a kind.  ``digits`` significant; parts that are zero are left out unless ``zeros``.
        """
        require_known("by=", by, ("part", "kind"))
        small = ROUNDING * max((float(np.abs(p.tau).max(initial=0)) for p in self.parts), default=0)
        parts = self.parts if by == "part" else [TorqueTerm(kind, "", tau) for kind, tau in self.by_kind().items()]
        chosen = list(range(len(self.coordinates)))
        if joint is not None:
            chosen = [self._index(joint)]
            parts = sorted(parts, key=lambda p: -abs(p.tau[chosen[0]]))
        shown = [p for p in parts if zeros or (np.abs(p.tau[chosen]) > small).any()]
        named = [(f"{p.kind:11}  {p.cause}".rstrip(), p.tau) for p in shown] + [("τ", self.tau)]
        rows = [[name, *(_number(tau[i], digits, small) for i in chosen)] for name, tau in named]
        head = ["", *(self.coordinates[i] for i in chosen)]
        return f"{printable(self.robot)}: joint forces [N·m, N]\n" + columns(head, rows, total=True)

    def plot(self, joints: Sequence[str] | None = None, *, ax: Any = None) -> Any:
        """Bars by joint, stacked by kind, with a dash at the sum; returns matplotlib's axes.  Needs the extra ``plot``."""
        chosen = [self._index(name) for name in (self.coordinates if joints is None else joints)]
        up, down, x = np.zeros(len(chosen)), np.zeros(len(chosen)), np.arange(len(chosen))
        own, wide = ax is None, max(7.0, 0.32 * len(chosen))
        with drawing(ax, figsize=(wide, 3.4)) as ax:
            for k, (kind, tau) in enumerate(self.by_kind().items()):
                y = tau[chosen]
                if np.any(y):
                    ax.bar(x, y, 0.7, bottom=np.where(y > 0, up, down), label=kind, color=COLORS[k])
                    up, down = up + np.maximum(y, 0), down + np.minimum(y, 0)
            ax.hlines(self.tau[chosen], x - 0.35, x + 0.35, color="black", linewidth=2, label="τ")
            ax.axhline(0, color="black", linewidth=0.8)
            tilt = {"rotation": 45, "ha": "right"} if len(chosen) > 4 else {}
            ax.set_xticks(x, [self.coordinates[i] for i in chosen], **tilt)
            ax.set_ylabel("joint force [N·m, N]")
            if own:
                legend_beside(ax)
            else:
                ax.legend()
        return ax

    def _index(self, name: str) -> int:
        require_known("coordinate", name, self.coordinates)
        return self.coordinates.index(name)

    def _repr_html_(self) -> str:
        from torsor.look.explain.html import of_explanation

        return of_explanation(self)

    def __repr__(self) -> str:
        parts = f"{count(len(self.parts), 'part')}; print() shows them"
        return f"<Explanation of {self.robot!r}: τ = {vector(self.tau)} [N·m, N] in {parts}>"

    def __str__(self) -> str:
        if len(self.parts) <= MANY:
            return self.table()
        return f"{self.table(by='kind')}\n{len(self.parts)} parts: table() has them all, table(joint) those of one joint"


@name_replacements
def explain(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    expressed_in: str = "body",
    time: float | None = None,
) -> Explanation:
    """τ_i = Σ_j M_ij a_j + Σ_{j≤k} (Γ_ijk + Γ_ikj) v_j v_k + Σ_link g_i^link + … at one state, part by part (MR 8.16).

    * ``inertia`` by joint j: M_ij a_j, reflected inertia for j = i and interaction torque for j ≠ i (ASADA 7.1.15);
    * ``centrifugal`` by joint j: Γ_ijj v_j² (ASADA 7.1.17);
    * ``Coriolis`` by pair j < k: 2 Γ_ijk v_j v_k (ASADA 7.1.19);
    * ``gravity`` by link, separately for links that are welded together;
    * ``rotor``: armature × acceleration of its own joint, and the terms of geared rotors;
    * the kind of each term of the robot: ``friction`` τ_fric of the joints' laws (MR §8.9.4), ``damping`` D v, ...;
    * ``external`` by frame: −Jᵀf of ``wrenches``, which act on the robot.

    * ``base motion``: the difference that a moving base makes.

    The parts sum to ``robot.inverse_dynamics`` with the same arguments.  [N·m; N for prismatic joints.]

    >>> import torsor as ts
    >>> e = explain(ts.robots.two_link(), [0.0, 0.0], [0.0, 0.0], [0.0, 1.0])
    >>> print(e)
    two_link: joint forces [N·m, N]
                         joint1  joint2
    inertia      joint2       2       1
    gravity      link1     9.81       0
    gravity      link2    19.62    9.81
    -----------------------------------
    τ                     31.43   10.81
    """
    qs, vs, acc = one_state(robot, q=q, v=v, a=a)
    wrenches, expressed_in = with_their_axes(wrenches, expressed_in)
    on = wrenches_at(robot.model, wrenches, time)
    loads = one_wrench_each(robot, on, qs, expressed_in, time)
    multipliers = _multipliers(robot, qs, vs, acc, on, expressed_in, time)
    t = torque_terms(robot.model, qs, vs, acc, robot.description.complete.bodies, loads, multipliers, time)
    names = coordinate_names(robot.model)
    parts = [("inertia", names[j], tau) for j, tau in enumerate(t.inertia)]
    parts += [("centrifugal", f"{names[j]}²", tau) for (j, k), tau in t.velocity.items() if j == k]
    parts += [("Coriolis", f"{names[j]}·{names[k]}", tau) for (j, k), tau in t.velocity.items() if j < k]
    parts += [("gravity", link, tau) for link, tau in t.gravity.items() if robot.model.frame(link).body > 0]
    parts += [("rotor", "", t.rotor), *(("external", frame, tau) for frame, tau in t.external.items())]
    parts += [(kind, name, tau) for (kind, name), tau in t.own.items()]
    made = tuple(TorqueTerm(kind, cause, np.array(tau, float)) for kind, cause, tau in parts)
    return Explanation(robot.name, names, made)


def _multipliers(
    robot: Robot, q: Any, v: Any, a: Any, wrenches: Mapping[str, ArrayLike], expressed_in: str, time: float | None
) -> list[float]:
    """λ of the robot's constraints, under the forces at its drives."""
    if not robot.model.has_rows:
        return []
    kernel = robot.kernel("multipliers_of_motion", wrenches=tuple(wrenches), expressed_in=expressed_in)
    clock = (time,) if robot.model.depends_on_time else ()
    found: list[float] = kernel(q, v, a, *clock, *wrenches.values()).tolist()
    return found


def _number(x: float, digits: int, small: float) -> str:
    return "0" if abs(x) <= small else f"{x:.{digits}g}"
