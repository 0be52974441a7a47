"""Mutation testing: ``make mutants``, or ``python -m tools.mutants --sample 40``; see docs/mutation-testing.md."""
