"""``python -m torsor``: the command line."""

from torsor.cli import main

main()
