"""info, explain: properties of a robot, and its joint forces by cause."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from torsor.cli.option_values import A, Json, Q, Seed, V, Wrench
from torsor.cli.robots import on_robot

if TYPE_CHECKING:
    from torsor.look.explain import Explanation
    from torsor.look.explain.survey import Condition, Survey
    from torsor.robot import Robot

Samples = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, max=1_000_000, help="Number of random configurations for the condition number and the reach."
    ),
]
Drawing = Annotated[
    str | None, typer.Option("--graph", metavar="FILE", help="Draw links and joints: .svg, or .dot for Graphviz.")
]
Joint = Annotated[str | None, typer.Option(metavar="NAME", help="List the parts of one joint's force, the largest first.")]
Parts = Annotated[bool, typer.Option("--parts", help="Show every part; by default many parts are summed by kind.")]
#: parts up to which a table has a row each
MANY = 12


@on_robot
def info(robot: Robot, samples: Samples = 1000, seed: Seed = 0, graph: Drawing = None, json: Json = False) -> None:
    """Properties of a robot: tree, joints, masses, conditioning, reach."""
    from torsor.cli.out import emit, folded_tree, listing
    from torsor.cli.showing import check_file_kind
    from torsor.look.explain.survey import survey

    check_file_kind("--graph", graph, (".svg", ".dot", ".gv"))
    if graph is not None:
        robot.graph().save(graph)
    found = survey(robot, samples, seed)
    parts = [folded_tree(str(robot)), *([_joints(robot)] if robot.joints else []), _facts(robot, found)]
    if found.reaches:
        parts.append(_reach(found))
    if robot.report:
        parts.append(listing("While loading:", robot.report))
    if graph is not None:
        parts.append(f"wrote {graph}")
    emit(json, _document(robot, found), *parts)


def _joints(robot: Robot) -> Any:
    from torsor.cli.out import short, table

    made = table("joint", "type", "lower", "upper", "velocity", "effort", numbers=4, title="Joints [rad, m; N·m, N]")
    for joint in map(robot.joint, robot.joints):
        kind = joint.type if joint.mimic is None else f"{joint.type} (mimic)"
        limits = (joint.lower, joint.upper, joint.velocity_limit, joint.effort_limit)
        made.add_row(joint.name, kind, *(short(x[0]) if len(set(x)) == 1 else "…" for x in limits))
    return made


def _facts(robot: Robot, found: Survey) -> Any:
    from torsor.cli.out import grid, short

    made = grid()
    rows = [("total mass", f"{short(robot.mass)} kg"), ("gravity", f"({', '.join(short(x) for x in robot.gravity)}) m/s²")]
    if found.neutral and found.worst:
        rows += [
            ("cond M, neutral", _condition(found.neutral)),
            ("cond M, worst", f"{_condition(found.worst)}, of {found.samples} samples"),
        ]
    if robot.configurations:
        rows.append(("configurations", ", ".join(robot.configurations)))
    for row in rows:
        made.add_row(*row)
    return made


def _condition(found: Condition) -> str:
    from torsor.cli.out import short

    if not math.isfinite(found.number):
        return f"M is singular; {found.coordinate} moves no mass"
    return f"{short(found.number, 3)}; {found.coordinate} is easiest to accelerate"


def _reach(found: Survey) -> Any:
    from torsor.cli.out import table

    made = table("tip", "x", "y", "z", "farthest", numbers=4, title=f"Reach from the base, in {found.samples} samples [m]")
    for r in found.reaches:
        box = (f"{round(low, 2) + 0.0:.2f} … {round(high, 2) + 0.0:.2f}" for low, high in zip(r.lower, r.upper, strict=True))
        made.add_row(r.tip, *box, f"{r.farthest:.2f}")
    return made


def _document(robot: Robot, found: Survey) -> dict[str, Any]:
    joints = [
        {
            "name": j.name, "type": j.type, "parent": j.parent, "child": j.child, "q": [j.q_slice.start, j.q_slice.stop],
            "v": [j.v_slice.start, j.v_slice.stop], "lower": j.lower, "upper": j.upper, "velocity": j.velocity_limit,
            "effort": j.effort_limit, "follows": j.mimic and j.mimic.joint,
        }
        for j in map(robot.joint, robot.joints)
    ]  # fmt: skip
    links = [{"name": x.name, "mass": x.mass, "com": x.com, "inertia": x.inertia} for x in map(robot.link, robot.links)]
    return {
        "robot": robot.name, "base": robot.description.base, "nq": robot.nq, "nv": robot.nv, "mass": robot.mass,
        "gravity": robot.gravity, "joints": joints, "links": links, "frames": robot.frames, "loops": robot.loops,
        "configurations": {name: robot.configuration(name) for name in robot.configurations},
        "survey": found.to_dict(), "report": robot.report,
    }  # fmt: skip


@on_robot
def explain(
    robot: Robot, q: Q = None, v: V = None, a: A = None, wrench: Wrench = None, joint: Joint = None, parts: Parts = False,
    json: Json = False,
) -> None:  # fmt: skip
    """Joint forces by their causes: inertia, Coriolis, gravity, ..."""
    from torsor.cli import option_values
    from torsor.cli.jobs import defaults_note, state_from_flags
    from torsor.cli.out import emit

    flags = state_from_flags(robot, q=q, v=v, a=a)
    state = flags.values
    known = option_values.state_names(robot)["v"]
    if joint is not None and joint not in known:
        raise option_values.UsageError(f"--joint: there is no {joint!r}; the names are {', '.join(known)}")
    found = robot.explain(state["q"], state["v"], state["a"], option_values.wrenches(robot, wrench))
    names = found.coordinates if joint is None else (joint,)
    causes = [{"kind": p.kind, "cause": p.cause, "tau": p.tau} for p in found.parts]
    document = {"robot": robot.name, "coordinates": found.coordinates, **state, "parts": causes, "tau": found.tau}
    emit(json, document, *defaults_note(robot, ("q", "v", "a"), flags), *_explanation_rows(found, names, parts))


def _explanation_rows(found: Explanation, names: tuple[str, ...], every: bool) -> list[Any]:
    """Rows by cause, columns by joint; rounding errors are set to zero, and rows of zeros are omitted."""
    from torsor.cli.out import short, tables

    chosen = [found.coordinates.index(name) for name in names]
    parts = [(f"{p.kind} {p.cause}".rstrip(), p.tau) for p in found.parts]
    small = 1e-13 * max((abs(tau).max(initial=0) for _, tau in parts), default=0)
    parts = [(label, tau[chosen]) for label, tau in parts if (abs(tau[chosen]) > small).any()]
    if len(names) == 1:
        parts.sort(key=lambda part: -abs(part[1][0]))
    note = []
    if len(parts) > MANY and len(names) > 1 and not every:
        note = [f"Summed by kind; --parts shows all {len(parts)} parts, --joint NAME those of one joint."]
        parts = [(kind, tau[chosen]) for kind, tau in found.by_kind().items() if (abs(tau[chosen]) > small).any()]
    parts.append(("τ", found.tau[chosen]))
    rows = [(label, [short(x, 4) if abs(x) > small else "0" for x in tau]) for label, tau in parts]
    return [*tables(f"{found.robot} [N·m, N]", list(names), rows), *note]
