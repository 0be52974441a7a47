"""Task space: the dynamics of a robot at its frames (MR §8.6; Khatib 1987)."""

from torsor.mechanics.task.report import TaskReport
from torsor.mechanics.task.task import Task, TaskForce, TaskMotion

__all__ = ["Task", "TaskForce", "TaskMotion", "TaskReport"]
