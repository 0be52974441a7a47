"""Is it right?  The doctor examines a model's numbers, certificates examine the arithmetic.

May import every folder except the command line.
"""
