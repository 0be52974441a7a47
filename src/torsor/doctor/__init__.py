"""The doctor: what is the matter with a robot's numbers, what it does to the dynamics, and repairs by name."""

from torsor.doctor.checkup import Checkup, check
from torsor.doctor.codes import CODES
from torsor.doctor.finding import Finding
from torsor.doctor.repairs import REPAIRS, Repair, repair

__all__ = ["CODES", "REPAIRS", "Checkup", "Finding", "Repair", "check", "repair"]
