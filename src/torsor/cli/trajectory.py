"""trajectory: a motion from one configuration to another, with its peaks and the limits that it keeps or breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from torsor.cli.motion import Plot, Replay
from torsor.cli.option_values import Json, MeshRoots
from torsor.cli.robots import on_robot
from torsor.cli.showing import Open

if TYPE_CHECKING:
    from torsor.mechanics.trajectories import LimitCheck, Trajectory
    from torsor.robot import Robot
    from torsor.support.user_arrays import Array

#: times [s] in which default accelerations reach the velocity limits, and default jerks these accelerations
RAMP, RISE = 0.5, 0.1
#: a smaller joint force, relative to the largest peak, is a rounding error of zero
ROUNDING = 1e-12
Goal = Annotated[
    str,
    typer.Option("--to", metavar="NUMBERS|NAME", help="Goal: 0,0,1, joint=1,... or a named one; joints not given stay."),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="NUMBERS|NAME", help="Start, as --to (default: neutral, within the limits)."),
]
Shape = Annotated[
    Literal["trapezoid", "s-curve", "quintic", "cubic"], typer.Option(help="Speed over time: see docs/trajectories.md.")
]
Duration = Annotated[
    float | None, typer.Option("--duration", metavar="SECONDS", help="Time that it takes (default: the shortest).")
]
Velocity = Annotated[
    str | None, typer.Option("--velocity", metavar="NUMBERS", help="Velocity limits [rad/s, m/s] (default: the robot's).")
]
Acceleration = Annotated[
    str | None,
    typer.Option(
        "--acceleration", metavar="NUMBERS", help=f"Acceleration limits (default: the velocity limits in {RAMP:g} s)."
    ),
]
Jerk = Annotated[
    str | None,
    typer.Option(
        "--jerk", metavar="NUMBERS", help=f"Jerk limits of s-curve and quintic (s-curve: accelerations in {RISE:g} s)."
    ),
]
Step = Annotated[float, typer.Option("--dt", metavar="SECONDS", help="Time between the rows of --out.")]
Out = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE", help="Write t, q, v, a: .csv, .npz, .parquet or .mcap.")
]


@on_robot
def trajectory(
    robot: Robot, made_by: str, goal: Goal, start: From = None, profile: Shape = "trapezoid", duration: Duration = None,
    velocity: Velocity = None, acceleration: Acceleration = None, jerk: Jerk = None, dt: Step = 0.01, plot: Plot = None,
    out: Out = None, replay: Replay = None, open: Open = False, mesh_root: MeshRoots = None, json: Json = False,
) -> None:  # fmt: skip
    """Move from one configuration to another within limits."""
    from torsor.cli.out import emit, prose
    from torsor.cli.showing import FIGURE_SUFFIXES, PAGES, check_file_kind
    from torsor.io.logs.writing import FORMATS
    from torsor.mechanics.trajectories import point_to_point

    check_file_kind("--plot", plot, FIGURE_SUFFIXES)
    check_file_kind("--out", out, [f".{kind}" for kind in FORMATS])
    check_file_kind("--replay", replay, PAGES)
    first = _configuration(robot, "--from", start, robot.clip(robot.neutral()))
    last = _configuration(robot, "--to", goal, first.q)
    limits, said = _limits(robot, profile, {"velocity": velocity, "acceleration": acceleration, "jerk": jerk})
    if duration is not None:
        limits["duration"] = duration
    motion = point_to_point(robot, first.q, last.q, profile, **limits)
    found = motion.check(acceleration=limits.get("acceleration"))
    files = _write_files(motion, dt, out, plot, replay, open, tuple(mesh_root or ()))
    words = [repr(first.q.tolist()), repr(last.q.tolist()), repr(profile)]
    words += [
        f"{name}={x.tolist() if hasattr(x, 'tolist') else x!r}".replace("inf", "float('inf')") for name, x in limits.items()
    ]
    call = f"import torsor as ts; robot = {made_by}; motion = ts.trajectories.point_to_point(robot, {', '.join(words)})"
    lines = [f"{robot.name}: {motion.duration:.4g} s, {profile}", *said, *first.notes, *last.notes, found.message]
    document = {
        "call": call,
        "robot": robot.name,
        "profile": profile,
        "duration": motion.duration,
        **_document(found),
        "files": files,
    }
    emit(json, document, call, prose("\n".join(lines)), _table(found), *(prose(f"wrote {path}") for path in files.values()))


class Given(NamedTuple):
    """A configuration as typed, and what was not typed."""

    q: Array
    notes: list[str]


def _configuration(robot: Robot, option: str, text: str | None, rest: Array) -> Given:
    """q of an option; the joints after the numbers given stay as they are."""
    from torsor.cli import option_values

    names = option_values.state_names(robot)["q"]
    if text is None:
        return Given(rest, [])
    given = text.replace(",", " ").split()
    if not option_values.NUMBERS.fullmatch(text) or not 1 < len(given) < len(names):
        return Given(option_values.configuration(robot, option, text, rest), [])
    q = rest.copy()
    q[: len(given)] = option_values.numbers(option, text)
    return Given(q, [f"{option} has {len(given)} of {len(names)} numbers: {', '.join(names[len(given) :])} not moved."])


def _limits(robot: Robot, profile: str, typed: dict[str, str | None]) -> tuple[dict[str, Any], list[str]]:
    """Limits by name, and what was chosen where none was given."""
    from torsor.cli import option_values

    names, said = option_values.state_names(robot)["v"], []
    limits: dict[str, Any] = {
        name: option_values.state(f"--{name}", text, names, robot.velocity_limit)
        for name, text in typed.items()
        if text is not None
    }
    speeds = limits.get("velocity", robot.velocity_limit)
    if "acceleration" not in limits and min(speeds) < float("inf"):
        limits["acceleration"] = speeds / RAMP
        said.append(f"Accelerations that reach the velocity limits in {RAMP:g} s; --acceleration chooses others.")
    if profile == "s-curve" and "jerk" not in limits and "acceleration" in limits:
        limits["jerk"] = limits["acceleration"] / RISE
        said.append(f"Jerks that reach the accelerations in {RISE:g} s; --jerk chooses others.")
    return limits, said


def _write_files(
    motion: Trajectory, dt: float, out: str | None, plot: str | None, page: str | None, open: bool, roots: tuple[str, ...]
) -> dict[str, str]:
    """The requested files."""
    from torsor.cli.showing import save_figure, show_page
    from torsor.simulate import motion_of

    files = {}
    if out is not None:
        motion.save(out, dt)
        files["out"] = out
    if plot is not None:
        save_figure(motion.plot()[0].figure, plot)
        files["plot"] = plot
    if page is not None or open:
        files["replay"] = show_page(motion_of(motion, dt), page, open, roots)
    return files


def _table(found: LimitCheck) -> Any:
    """One row per degree of freedom: peaks of velocity, acceleration and joint force with their shares of the limits."""
    from torsor.cli.out import short, table

    made = table("joint", "velocity", "of limit", "acceleration", "joint force", "of limit", numbers=5, title="Peaks")
    by_joint: dict[str, list[Any]] = {}
    for peak in found.peaks:
        by_joint.setdefault(peak.joint, []).append(peak)
    rounding = ROUNDING * max((peak.value for peak in found.peaks), default=0)
    share = lambda peak: f"{round(100 * peak.share, 4):.3g} %" if peak.limit < float("inf") else "–"  # noqa: E731
    for joint, (v, a, tau) in by_joint.items():
        cells = (
            f"{short(v.value, 4)} {v.unit}",
            share(v),
            f"{short(a.value, 4)} {a.unit}",
            f"{short(tau.value, 4)} {tau.unit}" if tau.value > rounding else "0",
        )
        made.add_row(joint, *cells, share(tau))
    return made


def _document(found: LimitCheck) -> dict[str, Any]:
    return {
        "passed": found.passed,
        "peaks": [{**peak._asdict(), "share": peak.share} for peak in found.peaks],
        "findings": [{**finding._asdict(), "message": str(finding)} for finding in found.findings],
    }
