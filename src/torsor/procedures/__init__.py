"""Numeric work between kernels, which no recording can do: ranks, null spaces, closing loops.  Ordinary NumPy, in batches."""
