"""Plausibility checks of a robot's numbers, their effect on the dynamics, and named repairs (``torsor check``)."""

from torsor.checks.doctor.checkup import Checkup, check
from torsor.checks.doctor.codes import CODES
from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.repairs import REPAIRS, Repair, repair

__all__ = ["CODES", "REPAIRS", "Checkup", "Finding", "Repair", "check", "repair"]
