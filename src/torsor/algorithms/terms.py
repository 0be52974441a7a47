"""Joint force by cause: the terms of M a + h − Jᵀf (MR 8.16, ASADA §7.1.3).

τ_i = Σ_j M_ij a_j + Σ_{j≤k} (Γ_ijk + Γ_ikj) v_j v_k + Σ_link g_i^link + rotors − Σ_frame (J_fᵀ f)_i + terms

(for j = k, Γ_ijj v_j² once).  Over symbols these are the terms of the closed form, each with its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torsor.algorithms.coriolis import christoffel_symbols
from torsor.algorithms.crba import crba
from torsor.algorithms.equation.at import At
from torsor.algorithms.equation.equation import EquationOfMotion, joint_forces
from torsor.algorithms.forces import element_wrenches
from torsor.algorithms.jacobian import jacobian
from torsor.algorithms.kinematics import from_world, joints
from torsor.algorithms.reactions import joint_forces_of_wrenches
from torsor.algorithms.rnea import rnea
from torsor.model.model import Model
from torsor.model.terms.term import Term
from torsor.scalar import Scalar, Scalars
from torsor.spatial import Force, Inertia, Motion
from torsor.spatial.vector import ZERO


@dataclass(frozen=True)
class Terms:
    """Every part of the joint force, each a list of nv numbers [N·m or N]."""

    inertia: list[list[Scalar]]  #: [j]: M_ij a_j, inertial force of the links due to the acceleration of coordinate j
    velocity: dict[tuple[int, int], list[Scalar]]  #: (j, k), j ≤ k: centrifugal for j = k, Coriolis for j < k
    gravity: dict[str, list[Scalar]]  #: by link
    rotor: list[Scalar]  #: armature × acceleration, and the force that accelerates geared rotors
    external: dict[str, list[Scalar]]  #: by frame: −Jᵀf, of wrenches and force elements
    own: dict[tuple[str, str], list[Scalar]]  #: by kind and name: of the model's terms; friction under the sum of the others

    def total(self) -> list[Scalar]:
        """The sum: inverse dynamics."""
        rows = [
            *self.inertia,
            *self.velocity.values(),
            *self.gravity.values(),
            self.rotor,
            *self.external.values(),
            *self.own.values(),
        ]
        return [sum(column) for column in zip(*rows, strict=True)]


def torque_terms(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    links: Mapping[str, Inertia],
    wrenches: Mapping[str, Scalars] | None = None,
    multipliers: Scalars = (),
    t: Scalar | None = None,
) -> Terms:
    """The terms of τ (MR 8.16).  ``links`` are the inertias by link, ``description.bodies``; λ are the ``multipliers`` of rows.

    >>> import torsor as ts
    >>> robot = ts.robots.two_link()
    >>> terms = torque_terms(robot.model, [0.0, 0.0], [0, 0], [1.0, 0], robot.description.bodies)
    >>> terms.inertia[0], terms.gravity["link2"]
    ([5.0, 2.0], [19.62, 9.81])
    """
    n = model.nv
    bare = replace(model, armature=tuple((0,) * len(row) for row in model.armature), rotors=())
    M = crba(bare, q)
    drives = crba(replace(model, inertia=(Inertia.zero(),) * len(model.parent)), q)  # M is linear in the inertias
    rotor = [sum(drives[i][j] * a[j] for j in range(n)) for i in range(n)]
    terms = Terms(
        inertia=[[M[i][j] * a[j] for i in range(n)] for j in range(n)],
        velocity=velocity_force_by_pair(model, q, v),
        gravity=gravity_force_by_link(model, q, links),
        rotor=rotor,
        external={name: _joint_forces_of_wrench(model, q, name, -F) for name, F in _external(model, q, v, wrenches).items()},
        own={},
    )
    return replace(terms, own=_of_terms(EquationOfMotion(model), q, v, a, terms, multipliers, t)) if model.terms else terms


def _of_terms(
    e: EquationOfMotion, q: Scalars, v: Scalars, a: Scalars, others: Terms, multipliers: Scalars, t: Scalar | None
) -> dict[tuple[str, str], list[Scalar]]:
    """The joint force that each term of a model needs, those with friction under the load of all others: −f, −Aᵀλ, φ."""
    at, own, given = e.at(q, v, t), {}, iter(multipliers)
    for term in e.terms:
        held = [-x for x in force_of_term(e, term, at, a)]
        for row, force in zip(term.rows(at).A, given, strict=False):
            held = [x - a * force for x, a in zip(held, row, strict=True)]
        own[term.kind, term.name] = held
    load = replace(others, own=own).total()
    for term in e.terms:
        lost = e.friction(at, e.loads(load), [term])
        own[term.kind, term.name] = [x + y for x, y in zip(own[term.kind, term.name], lost, strict=True)]
    return own


def force_of_term(e: EquationOfMotion, term: Term, at: At, a: Scalars) -> list[Scalar]:
    """f (nv) of a term without friction and rows; of a moving base, minus the difference its motion makes to M a + h."""
    joints, wrenches = term.force(at)
    pushed = joint_forces_of_wrenches(at.model, *at.kinematics, wrenches)
    force = [x + y for x, y in zip(joint_forces(at.model, [joints]), pushed, strict=True)]
    if term.base(at.t) is None:
        return force
    moved, still = rnea(at.model, at.q, at.v, a), rnea(e.model, at.q, at.v, a)
    return [x - y + z for x, y, z in zip(force, moved, still, strict=True)]


def _external(model: Model, q: Scalars, v: Scalars, wrenches: Mapping[str, Scalars] | None) -> dict[str, Force]:
    """The wrenches at frames, those of force elements among them."""
    out = {name: Force.of(F) for name, F in (wrenches or {}).items()}
    for row, F in element_wrenches(model, *joints(model, q), v) if model.forces else ():
        out[row.name] = out.get(row.name, Force.zero()) + F
    return out


def velocity_force_by_pair(model: Model, q: Scalars, v: Scalars) -> dict[tuple[int, int], list[Scalar]]:
    """c_i = Σ_j Γ_ijj v_j² + Σ_{j<k} (Γ_ijk + Γ_ikj) v_j v_k: centrifugal and Coriolis (MR 8.18, ASADA 7.2.23).

    Γ is MR's (8.17), symmetric in its last two indices where velocities are rates of coordinates.  ASADA's three-index symbol
    C_ijk = ∂H_ij/∂q_k − ½ ∂H_jk/∂q_i (7.2.22) is not: Γ_ijk = ½(C_ijk + C_ikj), so Γ_ijj = C_ijj and the pairs here are equal.

    >>> import torsor as ts
    >>> pairs = velocity_force_by_pair(ts.robots.two_link().model, [0.0, 1.5707963267948966], [1.0, 1.0])
    >>> {pair: [round(x, 9) for x in c] for pair, c in pairs.items()}
    {(0, 0): [0.0, 1.0], (0, 1): [-2.0, 0.0], (1, 1): [-1.0, 0.0]}
    """
    n = model.nv
    G = christoffel_symbols(model, q)
    out = {}
    for j in range(n):
        for k in range(j, n):
            symbol = [G[i][j][k] if j == k else G[i][j][k] + G[i][k][j] for i in range(n)]
            out[j, k] = [x * (v[j] * v[k]) for x in symbol]
    return out


def gravity_force_by_link(model: Model, q: Scalars, links: Mapping[str, Inertia]) -> dict[str, list[Scalar]]:
    """g_link = J_lᵀ 𝒢_l [Ad_T_l0] (0, −g): each link's share of g(q) (MR 8.80); one entry per link, also for welded links.

    The share of a link on a fixed base is zero.

    >>> import torsor as ts
    >>> robot = ts.robots.two_link()
    >>> gravity_force_by_link(robot.model, [0.0, 0.0], {"link1": robot.description.link("link1").inertia})
    {'link1': [9.81, 0.0]}
    """
    X0 = from_world(model, joints(model, q)[0])
    out = {}
    for name, G in links.items():
        body, X = model.frame(name)
        up = (X @ X0[body]) @ Motion(ZERO, -model.gravity)
        out[name] = _joint_forces_of_wrench(model, q, name, G @ up)
    return out


def mass_matrix_by_link(model: Model, q: Scalars, links: Mapping[str, Inertia]) -> dict[str, list[list[Scalar]]]:
    """J_lᵀ 𝒢_l J_l of every link: their sum, with the rotors', is M (MR 8.57).

    :func:`crba` is the efficient form of that sum (MR Exercise 8.13): bodies that move together are added once, as one
    composite body, instead of once for every joint that carries them.

    >>> import torsor as ts
    >>> robot = ts.robots.two_link()
    >>> mass_matrix_by_link(robot.model, [0.0, 0.0], {"link2": robot.description.link("link2").inertia})
    {'link2': [[4.0, 2.0], [2.0, 1]]}
    """
    out = {}
    for name, G in links.items():
        columns = [Motion.of(column) for column in zip(*jacobian(model, q, name, "body"), strict=True)]
        out[name] = [[x.dot(G @ y) for y in columns] for x in columns]
    return out


def _joint_forces_of_wrench(model: Model, q: Scalars, frame: str, F: Force) -> list[Scalar]:
    """JᵀF: the joint forces that balance a wrench at and in a frame."""
    return [Motion.of(column).dot(F) for column in zip(*jacobian(model, q, frame, "body"), strict=True)]
