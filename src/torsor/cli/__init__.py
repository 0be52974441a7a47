"""The command line, ``torsor``: each command parses what was typed, calls another room, and prints the result.

It contains no dynamics and no file format.  May import every room.  Nothing but typer is imported before a command
runs, so that ``torsor --help`` comes at once.
"""

from __future__ import annotations


def main() -> None:
    """Run what was typed, and leave with its exit code: 0 fine, 1 the answer is no, 2 a typing error, 130 interrupted."""
    import sys

    from torsor.cli.outcome import run

    sys.exit(run(sys.argv[1:]))
