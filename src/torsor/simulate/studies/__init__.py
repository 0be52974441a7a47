"""Parameter studies over the processes of one machine or a Dask cluster; outcomes are saved as they arrive."""

from torsor.simulate.studies.sweep import Failure, Outcome, Sweep, sweep

__all__ = ["Failure", "Outcome", "Sweep", "sweep"]
