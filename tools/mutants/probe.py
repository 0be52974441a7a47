"""The numbers a mutant is judged by: every algorithm and constraint over floats, on 20 seeded random trees.

:func:`probe` returns named lists of numbers. A mutant counts if one of them differs by more than 1e-9 from the unchanged source
(relative to the largest of its list, or to 1), or if a computation raises or stops raising.
"""

# ruff: noqa: B023, B008  each computation is made and called before its loop goes on

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

TREES = 20
TOLERANCE = 1e-9
STACKED = ("V", "dV", "F", "tau", "J_rate", "mass_matrix", "mass_matrix_rate", "velocity_force", "gravity_force", "tip_force")
LAMBDA = (0.7, -0.4, 1.1, 0.2, 0.9, -0.3)

Numbers = dict[str, "list[float] | str"]


def probe() -> Iterator[tuple[str, list[float] | str]]:
    """Every computation by name: its numbers, or the name of the exception that it raised."""
    for group in GROUPS:
        try:
            for number, (name, compute) in enumerate(group()):
                yield f"{group.__name__} {number} {name}", _numbers(compute)
        except Exception as error:  # what is computed with could not be made
            yield group.__name__, type(error).__name__


def difference(baseline: Numbers) -> str | None:
    """The first computation whose result differs from the unchanged source's, or None."""
    missing = dict(baseline)
    for name, numbers in probe():
        if name not in missing or not _same(missing.pop(name), numbers):
            return name
    return next(iter(missing), None)


def _same(x: list[float] | str, y: list[float] | str) -> bool:
    if isinstance(x, str) or isinstance(y, str) or len(x) != len(y):
        return x == y
    size = TOLERANCE * max([1.0, *map(abs, x)])
    return all(abs(a - b) <= size for a, b in zip(x, y, strict=True))


def _numbers(compute: Callable[[], Any]) -> list[float] | str:
    try:
        return [x if math.isfinite(x) else math.copysign(1e300, x) for x in _flat(compute())]
    except Exception as error:
        return type(error).__name__


def _flat(x: Any) -> Iterator[float]:
    if isinstance(x, dict):
        x = list(x.values())
    if hasattr(x, "tolist"):
        x = x.tolist()
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from _flat(item)
    elif x is not None and not isinstance(x, str):
        yield float(x)


def _trees() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every quantity, task space and innovations, on trees with every joint type, couplings, armatures and rotors."""
    from tests.trees import random_tree, state
    from torsor.algorithms import innovations, inverse_mass, task_space, terms
    from torsor.algorithms.equation import EquationOfMotion
    from torsor.algorithms.equation.at import Inputs
    from torsor.algorithms.jacobian_derivative import jacobian_derivative
    from torsor.algorithms.stacked import stacked_equations
    from torsor.kernels.quantities import QUANTITIES
    from torsor.robot import Robot

    for seed in range(TREES):
        robot = Robot(random_tree(seed, bodies=4 + seed % 2))
        if seed % 4 == 3:
            robot = _with_rotors(robot)
        m = robot.model
        q, v, a = (x.tolist() for x in state(robot, seed))
        word = ("world", "body", "space")[seed % 3]
        e = EquationOfMotion(m)
        wrench = {"frame2": [0.3, -0.2, 0.5, 1.0, -2.0, 0.7]}
        led = [float(k % 2) for k in range(m.nv)]
        known = {"q": q, "q0": q, "v": v, "a": a, "tau": a[::-1], "led": led, "dt": 0.3}
        known |= {"y": a, "u": a, "jerk": v[::-1], "snap": v, "height": -10.0, "wrench": wrench["frame2"], "prescribed": led}
        known |= {"q1": robot.random_configuration(seed).tolist(), "s": 0.3}
        known |= {name: robot.configuration_rate(q, x).tolist() for name, x in (("qdot", v), ("qddot", a))}
        for name, quantity in QUANTITIES.items():
            if name == "christoffel_symbols" and seed > 4:
                continue
            options = {word: "frame3" for word in ("frame", "at") if word in quantity.words}
            options |= {"expressed_in": word} if "expressed_in" in quantity.words else {}
            options |= {"integrator": "rk4"} if "integrator" in quantity.words else {}
            args = [known[x] for x in quantity.inputs]
            subject = e if quantity.follows_terms else m
            for function in (quantity.function, *quantity.alternatives):
                yield (
                    f"{name} {seed}",
                    lambda f=function, x=subject, args=args, o=options: f(x, *args, **o),
                )
        yield f"rnea loaded {seed}", lambda: QUANTITIES["inverse_dynamics"].function(e, q, v, a, Inputs(wrenches=wrench))
        yield f"reactions loaded {seed}", lambda: QUANTITIES["reaction_wrenches"].function(e, q, v, a, Inputs(wrenches=wrench))
        yield f"jacobian derivative {seed}", lambda: jacobian_derivative(m, q, "frame3", ("space", "body")[seed % 2])
        links = {x.name: x.inertia for x in robot.description.links}
        if seed < 8:
            made = terms.torque_terms(m, q, v, a, links, wrench)
            yield f"terms {seed}", lambda made=made: [made.total(), *vars(made).values()]
            yield f"by link {seed}", lambda: terms.mass_matrix_by_link(m, q, links)
        for name in ("half_times", "half_transpose_times", "half_solve", "half_transpose_solve"):
            yield f"{name} {seed}", lambda f=getattr(innovations, name): f(m, q, v)
        yield f"log determinant {seed}", lambda: innovations.log_determinant(m, q)
        yield f"inverse mass {seed}", lambda: inverse_mass.by_factors(m, q).solve(v)
        yield f"inertia {seed}", lambda: inverse_mass.by_articulated_bodies(m, q).inverse_inertia([v, a])
        if seed < 3:
            s = stacked_equations(m, q, v, a, wrench)
            for name in STACKED:
                yield f"stacked {name} {seed}", lambda name=name, s=s: getattr(s, name)
        if seed < 12:
            yield from ((f"{name} {seed}", f) for name, f in _task(task_space, m, q, v, a, word, seed))


def _configuration(x: Any, at: Any) -> list[float]:
    """The coordinates of a joint that closes a loop."""
    from torsor.model.terms.frames import relative_motion

    return x.joint_type.coordinates(relative_motion(at, *x.frames(at.model)).X)


def _task(task: Any, m: Any, q: list, v: list, a: list, word: str, seed: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    targets = [task.Target("frame2", ("vx", "wy", "vz"), word), task.Target("frame4", task.row_names("linear")[:2])]
    route = sorted(task.ROUTES)[seed % 3]
    made = _attempt(lambda: task.exact_mass(m, targets, q, route))
    if isinstance(made, str):
        yield "task", lambda: task.exact_mass(m, targets, q, route)  # raises again: fewer degrees of freedom than rows
        return
    mass, magnified = made
    F = [0.3, -1.0, 2.0, 0.5, 0.1]
    yield "task magnified", lambda: magnified
    yield "task jacobian rate", lambda: [task.jacobian_rate(m, targets, q, v), task.twist(m, targets, q, v)]
    yield "task mass", lambda: task.mass_matrix(m, targets, q, mass, route)
    yield "task null space", lambda: task.null_space(m, targets, q, mass, route)
    motion, given = (task.motion_of(targets, x, route) for x in (mass, task.given_mass([F] * 5)))
    yield "task forces", lambda: [f(motion, m, targets, q, v) for f in (task.bias_force, task.velocity_force)]
    yield "task gravity", lambda: task.gravity_force(motion, m, targets, q)
    yield "task velocity", lambda: task.velocity(motion, m, targets, q, F)
    yield "task inverse", lambda: task.inverse_dynamics(motion, m, targets, q, v, F)
    yield "task with null space", lambda: task.inverse_dynamics_with_null_space_force(given, m, targets, q, v, F, a)


def _mechanisms() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Rows, wrenches and forward dynamics of every kind of constraint, and of loops closed by every joint that may."""
    import numpy as np

    from tests.constraints.mechanisms import LOOP_JOINTS, closed_mechanism, two_frames
    from torsor import constraints as C
    from torsor.algorithms import closed_loops, inverse_mass
    from torsor.algorithms.equation import At
    from torsor.algorithms.equation.equation import stack_rows
    from torsor.algorithms.reactions import joint_forces_of_wrenches
    from torsor.scalar import cos, sin

    kinds = list(LOOP_JOINTS)
    for seed in range(TREES // 2):
        robot, q, closing = closed_mechanism(seed, (kinds[seed % len(kinds)],), bodies=5)
        rng, m = np.random.default_rng(seed), robot.model
        v, (n, c, k) = rng.normal(size=m.nv).tolist(), rng.normal(size=(3, 3)).tolist()
        one, two = two_frames(robot, rng)
        singles = [x for i, x in enumerate(m.joint_names) if i and m.joint[i].nv == 1 and m.coupling[i] is None][:2]
        points = [
            C.point_on_plane(one, n, through=c, relative_to=two), C.point_on_line(one, k, through=c, relative_to=two),
            C.point_at(one, c, relative_to=two),
            C.distance(one, two, 0.7),
            C.rolling(one, 0.3, normal=n, through=c, relative_to=two), C.rolling(one, 0.3, k, normal=c, relative_to=two),
            C.rolling(one, 0.2), C.fixed_pose(one, xyz=c, rpy=k, relative_to=two),
            C.joint("universal", one, two, xyz=c, child_rpy=k, axis=n, second_axis=c),
            C.prescribed(C.point_on_plane(one, n), lambda t: [0.1 * sin(2 * t)]),
            C.pfaffian(lambda q, t: [[sin(x * q[0]) + t for x in v]], right=lambda q, t: [cos(q[0]) * t], timed=True),
            C.pfaffian(lambda q: [sin(x + q[-1]) for x in v]),
            C.holonomic(lambda q: [q[0] * q[0] + sin(q[-1]), q[0] * q[-1]], 2),
            C.holonomic(lambda q, t: cos(q[0] * t) - t * t * q[-1], timed=True),
            *([C.coupling(*singles, 0.7, offset=0.2)] if len(singles) > 1 else []),
        ]  # fmt: skip
        for x in (*closing, *points):
            for place, here in {"closed": q.tolist(), "open": robot.random_configuration(seed).tolist()}.items():
                if place == "open" and seed % 3:
                    continue
                state = At(m, here, v, 0.4)
                yield f"{seed} {x.name} {place}", lambda x=x, state=state: [*x.rows(state), x.labels and x.size, x.holonomic]
                forces = _attempt(lambda x=x, state=state: x.wrenches(state, LAMBDA[: x.size]))
                yield f"{seed} {x.name} forces {place}", lambda forces=forces: forces
                yield (
                    f"{seed} {x.name} felt {place}",
                    lambda f=forces, state=state: joint_forces_of_wrenches(m, *state.kinematics, f or {}),
                )
        for x in closing:
            state = At(m, q.tolist(), v)
            yield f"{seed} {x.name} joint", lambda x=x, state=state: [_configuration(x, state), x.velocity(state)]
            if x.joint_type.nv:
                yield (
                    f"{seed} {x.name} drive",
                    lambda x=x, state=state: x.on_bodies(state, x.drive_wrench(state, [0.3] * x.joint_type.nv)),
                )
        A = _attempt(lambda: stack_rows(closing[:1], At(m, q.tolist(), v)).A[:3])
        if not isinstance(A, str) and len(A):
            f, g, inverse = v[::-1], [0.1 * i for i in range(len(A))], inverse_mass.by_factors(m, q.tolist())
            yield f"{seed} direct", lambda A=A, f=f, g=g: closed_loops.solve_direct(m, q.tolist(), A, f, g)[:3]
            yield f"{seed} multipliers", lambda A=A, f=f, g=g: closed_loops.solve_by_multipliers(inverse, A, f, g)[:3]


def _chains() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Segments of chains joined in both orders, constraint forces, and motions that compose (O(log N) forward dynamics)."""
    import numpy as np

    from tests.trees import random_tree
    from torsor.algorithms import constraint_force, joining
    from torsor.algorithms.relative import RelativeMotion
    from torsor.algorithms.stacked import Vector
    from torsor.robot import Robot
    from torsor.spatial import Acceleration, Force, Motion, Vec

    for seed in range(6):
        m, rng = Robot(random_tree(seed, bodies=5, base="fixed", couplings=False)).model, np.random.default_rng(seed)
        draw = lambda *shape: rng.normal(size=shape).tolist()  # noqa: E731
        parts = []
        for i, _ in m.outward():
            kind = m.joint[i]
            qi = [float(x) for x in kind.random(rng, (-1.0,) * kind.nq, (1.0,) * kind.nq)]
            joint = joining.OpenJoint(kind.transform(qi) @ m.offset[i], kind.subspace(qi), [0.1] * kind.nv, draw(kind.nv))
            parts.append((joint, joining.to_matrix(joining.ArticulatedInertia.of(m.inertia[i])), Vector(draw(6)), m.inertia[i]))
        whole = joining.EMPTY
        for joint, J, P, _ in reversed(parts):
            whole, gains = joining.join_to_joint(joint, J, P, whole)
            yield f"{seed} inward", lambda s=whole, g=gains: [*s, g.acceleration(Motion.of(P), Force.of(P[::-1]))]
        first, _ = joining.join_to_joint(*parts[0][:3])
        for joint, J, P, _ in parts[1:]:
            first, held = joining.join_to_segment(first, J, P, joining.join_to_joint(joint, J, P)[0])
            yield f"{seed} outward", lambda s=first, h=held: [*s, *h]
        (above, _, _, Iu), (joint, J, P, I) = parts[:2]
        Zu, Z = (constraint_force.force_basis(x.S, x.m) for x in (above, joint))
        e, w = [1.0] * len(joint.S) + [0.0] * (6 - len(joint.S)), Force.of(P)
        yield f"{seed} basis", lambda Z=Z, Zu=Zu: [Z, Zu, constraint_force.complement(joint.S)]
        made = constraint_force.equation(joint.X, I, Z, w, (Iu, Zu, w), 1, e)
        yield f"{seed} equation", lambda made=made: made
        yield f"{seed} eliminate", lambda made=made: constraint_force.eliminate(made[0], made[2], made[1], made[1])
        yield f"{seed} recover", lambda made=made: constraint_force.recover(made[0], made[2])
        steps = [RelativeMotion.of(x[0].X, Motion.of(draw(6)), Motion.of(draw(6))) for x in parts[:2]]
        A = Acceleration.of(Motion.of(draw(6)), Motion.of(draw(6)), Vec(0, 0, -9.81))
        yield f"{seed} relative", lambda steps=steps, A=A: [*(steps[1] @ steps[0]), (steps[1] @ steps[0]).acceleration_past(A)]
        yield f"{seed} matrices", lambda J=J, P=P: [J - J.T @ J, P - (J + J) @ P]


def _geometry() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Rotations, exponentials, logarithms, transforms, inertias and shapes."""
    import numpy as np

    from torsor.scalar import Dual, value
    from torsor.spatial import Force, Inertia, Mat, Motion, Quaternion, Sym, Transform, Vec, about, from_rpy, shapes, to_rpy
    from torsor.spatial.exponential import exp, log
    from torsor.spatial.linear import factor, lower_times, upper_times
    from torsor.spatial.recovery import angle_about, quaternion_of

    rng = np.random.default_rng(0)
    for k in range(8):
        (u, p), six = (Vec(*x) for x in rng.normal(size=(2, 3)).tolist()), rng.normal(size=6).tolist()
        small = 10.0 ** (-k / 2)  # both sides of the limits where series take over
        R, Q = from_rpy(*u), Quaternion(*rng.normal(size=4).tolist()).normalized
        V, turned = Motion.of([x * small for x in six]), Quaternion.exp(u * small)
        yield f"{k} rpy", lambda u=u, R=R: [R, to_rpy(R), to_rpy(R.T)]
        axes = [Vec(1, 0, 0), Vec(0, 1, 0), Vec(0, 0, -1), Vec(0, -1, 0), u * (1 / math.sqrt(u.dot(u)))]
        yield f"{k} about", lambda axes=axes: [[about(d, 0.7), angle_about(d, about(d, -1.2))] for d in axes]
        yield f"{k} turned", lambda Q=Q, t=turned: [t, t.log, (Q @ t).matrix, (Q @ t).log, t.conjugate]
        yield f"{k} quaternion", lambda Q=Q: [Q.matrix, quaternion_of(Q.matrix)]
        halves = [Quaternion(*(float(i == j) for j in range(4))).matrix for i in range(4)]
        yield f"{k} half turns", lambda h=halves: [quaternion_of(R) for R in h]
        yield f"{k} exponential", lambda V=V, p=p, Q=Q: [*exp(V), log(*exp(V)), log(Q, p)]
        X, F, G = Transform.of_pose(R, p), Force.of(six), Inertia.of(1.3, u, Sym(0.3, 0.02, -0.01, 0.5, 0.03, 0.6))
        yield f"{k} transform", lambda X=X, V=V, F=F: [X @ V, X.T @ F, X.inverse @ V, X.pose, (X @ X.inverse).pose]
        yield f"{k} motions", lambda V=V, F=F: [-V, V - V * 3, 2 * V, V.cross(F), V.cross(V + X @ V), V.dot(F)]
        yield f"{k} forces", lambda V=V, F=F, u=u, p=p: [-F, 2 * F - F * 3, F.dot(V), u.skew(), -u, 2 * u - p]
        yield f"{k} inertia", lambda G=G, X=X, V=V: [X.T @ G, G.com, G.about_com, G @ V, G.kinetic_energy(V), G - X.T @ G]
        yield f"{k} matrices", lambda R=R, G=G: [R - R @ R, G.I - G.I.rotated(R), G.I.T, Mat(*(G.I @ R)), G.I + G.I]
        hinged = about(Vec(1, 0, 0), 0.7)
        other = [Mat(*(Vec(*(Dual(x) if isinstance(x, float) else x for x in row)) for row in A)) for A in (R, hinged)]
        yield f"{k} other scalars", lambda G=G, other=other: [[value(x) for x in G.I.rotated(A)] for A in other]
        S = factor([[2.0, 0.3, 0.1], [0.3, 3.0, 0.0], [0.1, 0.0, 1.5]])
        yield f"{k} factors", lambda S=S, u=u: [lower_times(S, [*u]), upper_times(S, [*u])]
    for name, size in (("box", (0.3, 0.4, 0.7)), ("cylinder", (0.3, 0.7)), ("ellipsoid", (0.3, 0.4, 0.7)), ("sphere", (0.3,)),
                       ("cone", (0.3, 0.7)), ("capsule", (0.3, 0.7)), ("rod", (0.7,))):  # fmt: skip
        yield name, lambda name=name, size=size: getattr(shapes, name)(*size).inertia(mass=1.7)
        yield f"{name} dense", lambda name=name, size=size: [*getattr(shapes, name)(*size)]
    yield "points", lambda: shapes.from_points([0.3, 0.4, 0.5], rng.normal(size=(3, 3)).tolist())


def _with_rotors(robot: Any) -> Any:
    """Geared rotors on every joint that can have one."""
    rotor = {"mass": 0.3, "inertia": (1e-2, 1e-2, 2e-2), "ratio": 5}
    for name in robot.joints:
        made = _attempt(lambda name=name: robot.with_rotors({name: rotor}))
        robot = robot if isinstance(made, str) else made
    return robot


def _attempt(compute: Callable[[], Any]) -> Any:
    """The result, or the name of the exception."""
    try:
        return compute()
    except Exception as error:
        return type(error).__name__


GROUPS = (_geometry, _trees, _chains, _mechanisms)
