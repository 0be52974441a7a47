"""Programs as text: C, Python and LaTeX, by one table of forms per language."""
