"""The command line, ``torsor``: each command parses its arguments, calls the library, and prints the result.

It contains no dynamics and no file format.  May import every folder.  Only typer is imported before a command
runs, so that ``torsor --help`` comes at once.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit: 0 success, 1 findings or failure, 2 wrong usage, 130 interrupted."""
    import sys

    from torsor.cli.outcome import run

    sys.exit(run(sys.argv[1:]))
