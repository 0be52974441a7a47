"""simulate, view: simulation of a robot, and the browser viewer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from torsor.cli.option_values import Damping, Degrees, Json, MeshRoots, Q, Seed, Wrench
from torsor.cli.robots import on_robot
from torsor.cli.showing import Open

if TYPE_CHECKING:
    from torsor.robot import Robot
    from torsor.simulate import Result
    from torsor.support.user_arrays import Array

Start = Annotated[
    str | None,
    typer.Option(
        "--q",
        metavar="NUMBERS|NAME",
        help="Initial configuration: 0,0,1, joint=1,... or a named one (default: random within the limits).",
    ),
]
Speed = Annotated[str | None, typer.Option("--v", metavar="NUMBERS", help="Initial velocity (default: zero).")]
Seconds = Annotated[float, typer.Option(metavar="SECONDS", help="Simulated time [s].")]
Step = Annotated[float, typer.Option("--dt", metavar="SECONDS", help="Time step [s].")]
Integrator = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="rk4, semi_implicit, midpoint, ... (default: rk4; semi_implicit with contacts, which need it)."
    ),
]
Control = Annotated[
    Literal["none", "gravity", "pd"],
    typer.Option(help="Joint forces: none, gravity compensation g(q), or PD control to --target."),
]
Target = Annotated[
    str | None, typer.Option(metavar="NUMBERS|NAME", help="Target configuration of --control pd (default: neutral).")
]
Stops = Annotated[bool, typer.Option("--stops/--no-stops", help="Joint limits are hard stops.")]
Ground = Annotated[bool, typer.Option("--ground", help="The feet, or all links with shapes, touch the ground.")]
GroundFriction = Annotated[
    float | None, typer.Option(metavar="MU", help="Coefficient of friction of --ground (default: that of the file, else 0.8).")
]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="Write a plot over time: .svg, .pdf or .png.")]
Out = Annotated[str | None, typer.Option("--out", "-o", metavar="FILE", help="Write the motion: .csv, .npz or .parquet.")]
Replay = Annotated[str | None, typer.Option(metavar="FILE", help="Write a replay page for the browser: .html.")]


#: kind of file → option that writes it
HINTS = {"replay": "--open shows it in the browser", "plot": "--plot curves.svg draws it", "out": "--out motion.csv keeps it"}


@on_robot
def simulate(
    robot: Robot, made_by: str, seconds: Seconds = 5.0, dt: Step = 1e-3, integrator: Integrator = None, q: Start = None,
    v: Speed = None, control: Control = "none", target: Target = None, wrench: Wrench = None, stops: Stops = True,
    ground: Ground = False, ground_friction: GroundFriction = None, damping: Damping = False, degrees: Degrees = False,
    seed: Seed = 0, plot: Plot = None, out: Out = None, replay: Replay = None, open: Open = False,
    mesh_root: MeshRoots = None, json: Json = False,
) -> None:  # fmt: skip
    """Simulate a robot: energy audit, plot, file, replay page."""
    from torsor.cli import option_values
    from torsor.cli.out import emit
    from torsor.cli.outcome import InterruptedAfterOutput, UsageError
    from torsor.cli.showing import FIGURE_SUFFIXES, PAGES, check_file_kind
    from torsor.cli.starting import control_of, python_call, start_of
    from torsor.simulate import Interrupted
    from torsor.simulate.files import FORMATS

    if target is not None and control != "pd":
        raise UsageError("--target needs --control pd")
    if ground_friction is not None and not ground:
        raise UsageError("--ground-friction needs --ground")
    if not robot.nv:
        raise UsageError(f"robot {robot.name!r} has no moving joint, so there is nothing to simulate; try --base floating")
    check_file_kind("--plot", plot, FIGURE_SUFFIXES)
    check_file_kind("--out", out, FORMATS)
    check_file_kind("--replay", replay, PAGES)
    if damping:
        robot, made_by = robot.with_damping(True), f"{made_by}.with_damping(True)"
    if stops and not robot.loops:
        robot, made_by = robot.with_stops(), f"{made_by}.with_stops()"
    if ground:
        given = "" if ground_friction is None else f"friction={ground_friction!r}"
        robot, made_by = robot.with_ground(friction=ground_friction), f"{made_by}.with_ground({given})"
    start = start_of(robot, q, v, seed, control, degrees)
    law = control_of(robot, control, target, degrees)
    loads = option_values.wrenches(robot, wrench)
    integrator = integrator or ("semi_implicit" if robot.contacts else "rk4")
    options: dict[str, Any] = {"integrator": integrator, "dt": dt}
    options |= {"wrenches": loads} if loads else {}
    try:
        result = robot.simulate(start.q, start.v, seconds, law.law, **options)
    except Interrupted as stop:
        files = _write_files(stop.result, plot, out, replay, False, tuple(mesh_root or ()))
        wrote = ", ".join(f"wrote {path}" for path in files.values())
        raise InterruptedAfterOutput(
            f"{stop}; {wrote or '--out motion.csv would save it'}: {len(stop.result.t)} records until then"
        ) from None
    files = _write_files(result, plot, out, replay, open, tuple(mesh_root or ()))
    call = python_call(made_by, start, seconds, law, **options)
    units = option_values.angle_units(robot, degrees)
    document = {"call": call, **_document(result, units, files), **option_values.angles_in_json(degrees)}
    emit(json, document, call, *_summary(result, f"{start.says}, {law.says}", units["q"], files))


def _write_files(
    result: Result, plot: str | None, out: str | None, page: str | None, open: bool, roots: tuple[str, ...]
) -> dict[str, str]:
    """The requested files."""
    files = {}
    if out is not None:
        result.save(out)
        files["out"] = out
    if plot is not None:
        from torsor.cli.showing import save_figure

        save_figure(result.plot()[0].figure, plot)
        files["plot"] = plot
    if page is not None or open:
        from torsor.cli.showing import show_page

        files["replay"] = show_page(result, page, open, roots)
    return files


def _summary(result: Result, says: str, units: Array, files: dict[str, str]) -> list[Any]:
    from torsor.cli.cli_terms import in_cli_terms
    from torsor.cli.out import prose, short, table

    info = result.info
    steps = f"{info['steps']} step{'s' if info['steps'] != 1 else ''}"
    lines = [f"{info['robot']}: {result.t[-1]:g} s, {info['integrator']}, {steps}, {says}"]
    if result.robot is not None and result.robot.description.floats and not result.robot.contacts:
        lines.append("The base is floating and there is no ground: the robot falls. --ground adds one.")
    lines += [in_cli_terms(f"{note[0].upper()}{note[1:]}.") for note in result.notes]
    lines.append(str(result.audit()))
    if result.events:
        hit = ", ".join(f"{e.name} at {e.t:.3g} s" for e in result.events[:4])
        lines.append(f"{len(result.events)} impacts at stops: {hit}{' ...' if len(result.events) > 4 else ''}")
    angle = "deg" if (units != 1.0).any() else "rad"
    made = table("coordinate", "start", "end", "least", "most", numbers=4, title=f"Configuration [{angle}, m]")
    for k, name in enumerate(info["configuration"]):
        x = result.q[:, k] / units[k]
        made.add_row(name, *(short(value, 4) for value in (x[0], x[-1], x.min(), x.max())))
    more = "; ".join(text for kind, text in HINTS.items() if kind not in files)
    wrote = [f"wrote {path}" for path in files.values()]
    return [prose("\n".join(lines)), made, prose("\n".join((*wrote, *([f"{more}."] if more else []))))]


def _document(result: Result, units: dict[str, Array], files: dict[str, str]) -> dict[str, Any]:
    audit, info = result.audit(), result.info
    q, v = result.q[[0, -1]] / units["q"], result.v[[0, -1]] / units["v"]
    return {
        "robot": info["robot"], "seconds": result.t[-1], "integrator": info["integrator"], "dt": info["dt"],
        "steps": info["steps"], "configuration": info["configuration"], "coordinates": info["coordinates"],
        "start": {"q": q[0], "v": v[0]}, "end": {"q": q[1], "v": v[1]},
        "energy": {"start": audit.energy[0], "end": audit.energy[-1], "work": audit.work[-1],
                   "dissipated": audit.dissipated[-1], "impacts": audit.impacts, "discrepancy": audit.worst,
                   **({} if audit.contact is None else {"contact": audit.contact[-1]})},
        "events": [{"name": e.name, "t": e.t} for e in result.events], "notes": list(result.notes), "files": files,
    }  # fmt: skip


Port = Annotated[int, typer.Option(metavar="N", help="Port of the page; 0 uses a free port.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")]


@on_robot
def view(
    robot: Robot, q: Q = None, port: Port = 0, no_open: NoOpen = False, mesh_root: MeshRoots = None, json: Json = False
) -> None:
    """Show a robot in the browser viewer until Ctrl-C."""
    from torsor.cli.jobs import state_from_flags
    from torsor.cli.showing import serve_viewer

    at = None if q is None else state_from_flags(robot, q=q).values["q"]
    serve_viewer(robot, at, json, {"robot": robot.name}, port=port, roots=tuple(mesh_root or ()), open=not no_open)
