"""check, verify: is the file sound, is the arithmetic right.  Exit code 1 if not, for scripts and CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from torsor.cli.option_values import Json, MeshRoots, Seed
from torsor.cli.robots import Base, Name, Xacro, on_robot, xacro_arguments

if TYPE_CHECKING:
    from torsor.checks.certify import Certificate
    from torsor.checks.doctor import Checkup
    from torsor.robot import Robot

FailOn = Annotated[
    Literal["error", "warning", "note"], typer.Option(help="Exit with code 1 for findings of this severity or worse.")
]
Repair = Annotated[str | None, typer.Option(metavar="OUT", help="Write a repaired copy to OUT.")]
Only = Annotated[list[str] | None, typer.Option("--only", metavar="REPAIR", help="Make only the named repairs.")]
Density = Annotated[float | None, typer.Option(metavar="KG/M3", help="Density for --only mass-from-density [kg/m³].")]
Thorough = Annotated[bool, typer.Option("--thorough", help="Compare every quantity in every state with fifty digits.")]
Peers = Annotated[bool, typer.Option("--peers/--no-peers", help="Compare with Pinocchio and MuJoCo, if installed.")]
Samples = Annotated[int, typer.Option(metavar="N", min=1, help="Number of random states.")]


def check(
    robot: Name, fail_on: FailOn = "error", repair: Repair = None, only: Only = None, density: Density = None,
    mesh_root: MeshRoots = None, base: Base = None, xacro: Xacro = None, json: Json = False,
) -> None:  # fmt: skip
    """Check a file: inertias, units, axes, limits, meshes."""
    from torsor.checks import doctor
    from torsor.checks.doctor.finding import SEVERITIES
    from torsor.cli.out import emit, listing
    from torsor.cli.outcome import FOUND, UsageError
    from torsor.cli.robots import bundled_robots, source

    if only and repair is None:
        raise UsageError("--only needs --repair OUT")
    if density is not None and repair is None:
        raise UsageError("--density needs --repair OUT --only mass-from-density")
    if repair is not None and robot in bundled_robots():
        raise UsageError(f"--repair needs a file; {robot} is a bundled robot")
    subject: Any = bundled_robots()[robot]() if robot in bundled_robots() else source(robot)
    how: Any = {"roots": tuple(mesh_root or ()), "base": base}
    if repair is not None and xacro is not None:
        raise UsageError("--repair works on URDF, not on xacro programs; correct the numbers in the xacro file")
    found = doctor.check(subject, **how, xacro_args=None if xacro is None else xacro_arguments(xacro))
    document, parts = found.to_dict(), _findings(found)
    if repair is not None:
        made = doctor.repair(subject, repair, only, **how, density=density)
        document["repair"] = {"file": repair, "made": [x.to_dict() for x in made]}
        parts.append(listing(f"wrote {repair}:", [str(x) for x in made] or ["nothing could be repaired"]))
    emit(json, document, *parts)
    if any(SEVERITIES.index(f.severity) <= SEVERITIES.index(fail_on) for f in found.findings):
        raise typer.Exit(FOUND)


def _findings(found: Checkup) -> list[Any]:
    """The findings as text; on a terminal in colours and in its width."""
    from torsor.checks.doctor.text import entry, group_findings, headline
    from torsor.cli.cli_terms import in_cli_terms
    from torsor.cli.out import listing, prose, stdout

    if not stdout().is_terminal:
        return [in_cli_terms(str(found))]
    from rich.console import Group
    from rich.padding import Padding

    colors = {"error": "bold red", "warning": "yellow", "note": "dim"}
    parts: list[Any] = [headline(found)]
    for f in group_findings(found.findings):
        name, texts = entry(f, len(f.also))
        lines = [prose(in_cli_terms(text), "green" if text.startswith("fix: ") else "") for text in texts]
        head = prose(f"{f.severity}  ", colors[f.severity]) + prose(name, "bold")
        parts.append(Group(head, Padding(Group(*lines), (0, 0, 0, 4))))
    return [*parts, *([listing("not examined:", found.skipped)] if found.skipped else [])]


@on_robot
def verify(
    robot: Robot, samples: Samples = 16, seed: Seed = 0, thorough: Thorough = False, peers: Peers = True, json: Json = False
) -> None:
    """Cross-check the dynamics on this machine by different methods."""
    from torsor.checks.certify import verify as certified
    from torsor.cli.out import emit
    from torsor.cli.outcome import FOUND

    certificate = certified(robot, samples, seed, thorough=thorough, peers=peers)
    emit(json, certificate.to_dict(), certificate.summary, _rows(certificate), *_reasons(certificate))
    if not certificate.passed:
        raise typer.Exit(FOUND)


def _rows(certificate: Certificate) -> Any:
    """The checks as a table, in colours; on a narrow terminal without equations and places."""
    from torsor.checks.certify.certificate import COLUMNS
    from torsor.cli.out import stdout, table

    left_out = () if stdout().width >= 120 else ("compared", "worst at")
    heads = [head or "verdict" for head, _, _ in COLUMNS]
    made = table(*(head for head in heads if head not in left_out))
    for column in made.columns:
        column.justify = "right" if str(column.header) in ("error", "allowed", "s") else "left"
    colors = {"fail": "bold red", "skipped": "dim"}
    for row in certificate.rows:
        cells = [cell for head, cell in zip(heads, row.cells, strict=True) if head not in left_out]
        made.add_row(*cells, style=colors.get(row.verdict))
    return made


def _reasons(certificate: Certificate) -> list[Any]:
    """Why rows were skipped or failed, a reason once."""
    from torsor.cli.out import listing

    rows: dict[str, list[str]] = {}
    for row in certificate.rows:
        if row.reason and row.verdict != "pass":
            rows.setdefault(row.reason, []).append(row.name)
    lines = [f"{', '.join(names)}: {reason}" for reason, names in rows.items()]
    return [listing("Why not:", lines)] if lines else []
