"""The doctor: what is the matter with a robot's numbers, what it does to the dynamics, and repairs by name."""

from torsor.checks.doctor.checkup import Checkup, check
from torsor.checks.doctor.codes import CODES
from torsor.checks.doctor.finding import Finding
from torsor.checks.doctor.repairs import REPAIRS, Repair, repair

__all__ = ["CODES", "REPAIRS", "Checkup", "Finding", "Repair", "check", "repair"]
