"""Parameter studies that outgrow a loop: over the processes of one machine or a Dask cluster, kept as they come."""

from torsor.simulate.studies.sweep import Failure, Outcome, Sweep, sweep

__all__ = ["Failure", "Outcome", "Sweep", "sweep"]
