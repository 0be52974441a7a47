"""torsor against its peers: agreement first, then time, interleaved in one run.  ``python -m benchmarks``."""
