"""torque, accel, mass: inverse dynamics, forward dynamics, mass matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from torsor.cli.option_values import A, Damping, Json, Q, Tau, V, Wrench
from torsor.cli.robots import on_robot

if TYPE_CHECKING:
    from torsor.robot import Robot

Rows = Annotated[
    str | None,
    typer.Argument(
        metavar="STATES", show_default=False,
        help="A table: .csv, .parquet, .npz, .mcap, or - for CSV on stdin. Columns are q[joint] or q1, q2, ..., and v, a, "
        "tau likewise; give missing variables by options.",
    ),
]  # fmt: skip
Out = Annotated[
    str | None,
    typer.Option("--out", "-o", metavar="FILE", help="Output file for a table of states: .csv, .parquet, .npz or .json."),
]
Topic = Annotated[
    str | None, typer.Option("--topic", metavar="NAME", help="Topic of an MCAP file with joint states on several topics.")
]
#: a smaller force, relative to the largest, is a rounding error of zero
ROUNDING = 2.0**-52
Cutoff = Annotated[
    float | None,
    typer.Option(
        "--cutoff", metavar="HZ", show_default=False,
        help="Cutoff of the zero-phase filter by which a table without a is differentiated (default: chosen for each joint).",
    ),
]  # fmt: skip


@on_robot
def torque(
    robot: Robot, states: Rows = None, q: Q = None, v: V = None, a: A = None, wrench: Wrench = None,
    damping: Damping = False, cutoff: Cutoff = None, out: Out = None, topic: Topic = None, json: Json = False,
) -> None:  # fmt: skip
    """Joint forces τ of a motion q, v, a: inverse dynamics, in N·m, N."""
    from torsor.cli import option_values
    from torsor.cli.jobs import FileJob, Job, run, state_from_flags
    from torsor.cli.writing import Column

    robot, loads = robot.with_damping(True) if damping else robot, option_values.wrenches(robot, wrench)
    names = option_values.state_names(robot)["tau"]
    job = Job(
        ("q", "v", "a"),
        [Column(x, [f"{x}[{n}]" for n in names]) for x in ("tau", "residual")],  # the residual where the table has tau
        lambda q, v, a: {"tau": robot.inverse_dynamics(q, v, a, loads)},
    )
    run(robot, job, state_from_flags(robot, q=q, v=v, a=a), FileJob(states, out, topic, cutoff), json, _tables)


@on_robot
def accel(
    robot: Robot, states: Rows = None, q: Q = None, v: V = None, tau: Tau = None, wrench: Wrench = None,
    damping: Damping = False, out: Out = None, topic: Topic = None, json: Json = False,
) -> None:  # fmt: skip
    """Accelerations a under joint forces τ at q, v: forward dynamics."""
    from torsor.cli import option_values
    from torsor.cli.jobs import FileJob, Job, run, state_from_flags
    from torsor.cli.writing import Column

    robot, loads = robot.with_damping(True) if damping else robot, option_values.wrenches(robot, wrench)
    names = option_values.state_names(robot)["a"]
    job = Job(
        ("q", "v", "tau"),
        [Column("a", [f"a[{n}]" for n in names])],
        lambda q, v, tau: {"a": robot.forward_dynamics(q, v, tau, loads)},
    )
    run(robot, job, state_from_flags(robot, q=q, v=v, tau=tau), FileJob(states, out, topic), json, _tables)


@on_robot
def mass(robot: Robot, states: Rows = None, q: Q = None, out: Out = None, topic: Topic = None, json: Json = False) -> None:
    """Mass matrix M at q, in kg·m², kg·m and kg."""
    from torsor.cli import option_values
    from torsor.cli.jobs import FileJob, Job, run, state_from_flags
    from torsor.cli.writing import Column

    names = option_values.state_names(robot)["v"]
    entries = [f"M[{i}][{j}]" for i in names for j in names]
    job = Job(("q",), [Column("M", entries)], lambda q: {"M": robot.mass_matrix(q)})
    run(robot, job, state_from_flags(robot, q=q), FileJob(states, out, topic), json, _tables)


def _tables(robot: Robot, state: dict[str, Any], results: dict[str, Any]) -> list[Any]:
    """One state and its results as a table: one row per joint, or the matrix."""
    from torsor.cli.option_values import state_names
    from torsor.cli.out import short, table, tables

    names = state_names(robot)["v"]
    if "M" in results:
        rows = [(name, [short(x) for x in row]) for name, row in zip(names, results["M"], strict=True)]
        return tables("M", names, rows)
    if not names:
        return []
    columns = {x: values for x, values in {**state, **results}.items() if len(values) == len(names)}
    made = table("joint", *columns, numbers=len(columns))
    small = {x: ROUNDING * abs(values).max(initial=0) if x == "tau" else 0 for x, values in columns.items()}
    for k, name in enumerate(names):
        made.add_row(name, *(short(x[k]) if abs(x[k]) > small[c] else "0" for c, x in columns.items()))
    return [made]
